"""Clients that write faster than we can answer, or never read: memory stays bounded, nothing is lost, and it ends."""

import itertools
import os
import random
import signal
import sys

import pytest
from hostile import (
    MAX_MEMORY_MB,
    answers_of,
    flood,
    greet,
    legacy,
    most_memory_mb,
    notice,
    writing,
)
from processes import DEADLINE, END_SECONDS, line, ping, request, tool

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="these tests speak of POSIX processes")


def test_many_thousand_requests_in_one_write_are_each_answered_once(server):
    kinds = (
        ping,
        lambda number: tool(number, "read_note", path="Plan"),
        lambda number: request(number, "resources/read", uri="notes:///list.txt"),
        lambda number: request(number, "no/such/method"),
        lambda number: tool(number, "search_notes", query="止损", colour="red"),
    )
    asked = b"".join(kinds[number % len(kinds)](number) for number in range(4_000))
    with writing(server, asked):
        found = answers_of(server, 4_000)
    assert set(found) == set(range(4_000))
    assert all(len(answers) == 1 for answers in found.values())
    assert all(("error" in answers[0]) == (number % 5 == 3) for number, answers in found.items())
    assert most_memory_mb(server) < MAX_MEMORY_MB


@pytest.mark.parametrize(
    ("asked", "end"),
    [
        (lambda: (request(number, "tools/list") for number in itertools.count()), "EOF"),
        (lambda: (request(number, "tools/list") for number in itertools.count()), "SIGTERM"),
        (lambda: itertools.repeat(b"{\n" * 50), "EOF"),
        (lambda: itertools.repeat(ping([1.5]) * 50), "SIGTERM"),
        (lambda: (request(number, "m" * 10_000) for number in itertools.count()), "EOF"),
    ],
    ids=["large answers, EOF", "large answers, SIGTERM", "nonsense", "no ids", "quoted back"],
)
def test_a_client_that_never_reads_fills_no_memory_and_its_end_is_ours(start, asked, end):
    ours, theirs = os.pipe()
    try:
        with start(stdout=theirs) as server:
            os.close(theirs)
            server.send(ping("there"))
            assert os.read(ours, 100)
            assert flood(server, asked()) < 30_000_000
            assert most_memory_mb(server) < MAX_MEMORY_MB
            if end == "EOF":
                server.close_input()
            else:
                os.kill(server.pid, signal.SIGTERM)
            assert server.ended(END_SECONDS).code == 0
    finally:
        os.close(ours)


def test_notifications_that_mean_nothing_by_the_thousand_are_never_answered(server):
    kinds = (
        lambda number: notice("notifications/unheard_of", number=number),
        lambda number: notice("notifications/cancelled", requestId=number),
        lambda number: notice("notifications/progress", progressToken=number, progress=1),
        lambda number: notice("tools/call", name="create_note", arguments={"title": f"Never {number}"}),
        lambda number: notice("notifications/roots/list_changed"),
        lambda number: line({"jsonrpc": "2.0", "method": "ping", "params": [number]}),
    )
    with writing(server, b"".join(kinds[number % len(kinds)](number) for number in range(20_000)) + ping("after")):
        assert server.take()["id"] == "after"
    assert server.call("list_notes")["structuredContent"]["total"] == 3
    assert most_memory_mb(server) < MAX_MEMORY_MB


def test_answers_to_what_nobody_asked_are_never_answered(server):
    kinds = (
        lambda number: line({"jsonrpc": "2.0", "id": number, "result": {}}),
        lambda number: line({"jsonrpc": "2.0", "id": f"x{number}", "error": {"code": 1, "message": "no"}}),
        lambda number: line({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "what?"}}),
        lambda number: line({"id": number, "result": None}),
    )
    with writing(server, b"".join(kinds[number % len(kinds)](number) for number in range(5_000)) + ping(1)):
        assert server.take()["id"] == 1


def test_a_megabyte_of_random_bytes_is_answered_line_by_line(server):
    data = random.Random(11).randbytes(1_000_000).replace(b"\r", b"")
    lines = [each for each in data.split(b"\n") if each.strip(b" \t")]
    with writing(server, data + b"\n" + ping("after")):
        found = answers_of(server, len(lines) + 1)
    assert set(found) == {None, "after"}
    assert {answer["error"]["code"] for answer in found[None]} <= {-32700, -32600}


class TestSubscriptions:
    """By the thousand. 10,000 are the limit of the server."""

    def test_legacy_ones_are_all_answered_told_once_each_and_bounded(self, server, folder):
        greet(server)
        far = [f"notes:///none/{number}.md" for number in range(9_000)]
        server.send(request("far", "subscriptions/listen", notifications={"resourceSubscriptions": far}))
        server.notification("notifications/subscriptions/acknowledged")
        uris = ["notes:///Plan.md", *(f"notes:///none/{number}.md" for number in range(1_000))]
        asked = b"".join(legacy(number, "resources/subscribe", uri=uri) for number, uri in enumerate(uris))
        with writing(server, asked):
            found = answers_of(server, len(uris))
        assert all(len(answers) == 1 for answers in found.values())
        assert sum("error" in answers[0] for answers in found.values()) == 1
        (folder / "Plan.md").write_text("changed\n", "utf-8")
        assert server.notification("notifications/resources/updated") == {"uri": "notes:///Plan.md"}
        assert most_memory_mb(server) < MAX_MEMORY_MB
        server.close_input()
        assert server.ended().code == 0

    def test_open_streams_are_all_told_and_all_answered_at_the_end(self, server, folder):
        streams = [f"stream {number}" for number in range(1_000)]
        wanted = {"resourceSubscriptions": ["notes:///Plan.md"]}
        with writing(server, b"".join(request(each, "subscriptions/listen", notifications=wanted) for each in streams)):
            opened = {_stream(server.notification("notifications/subscriptions/acknowledged")) for _ in streams}
        assert opened == set(streams)
        fresh = folder / "fresh"
        fresh.write_text("changed\n", "utf-8")
        fresh.replace(folder / "Plan.md")
        told = [_stream(server.notification("notifications/resources/updated")) for _ in streams]
        assert sorted(told) == sorted(streams)
        assert most_memory_mb(server) < MAX_MEMORY_MB
        server.close_input()
        ended = server.ended(DEADLINE)
        assert sorted(message["id"] for message in ended.lines if "id" in message) == sorted(streams)
        assert (ended.code, ended.stderr) == (0, "")


def _stream(params):
    return params["_meta"]["io.modelcontextprotocol/subscriptionId"]
