"""Lines as only bad or unlucky clients send them: cut, doubled, endless, deep, in drops."""

import contextlib
import json
import os
import sys
import tempfile
from pathlib import Path

import pytest
from hostile import MAX_MEMORY_MB, answers_of, call_in_ascii, cancel, most_memory_mb, writing
from processes import ping, request, serving, tool
from test_ends import HANGING_DISK

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="these tests speak of POSIX processes")

MEGABYTE = "止损 gärten " * 80_000  # 1.3 MB
HUGE = [10**400, -(10**4000), 1e308, -0.0, 2**63, 2**64 + 1]
ODD = [
    "\x00",
    "a\x00b",
    "\ud800",
    "\udfff\ud800",
    "\u2028",
    "\x85\x0b\x0c",
    "\ufeff",
    "😀" * 300,
    "../" * 2_000,
    "%00",
    "\\",
]


def cut_everywhere(message):
    return [message[:end] for end in range(1, len(message) - 1)]


class TestMessages:
    def test_that_are_cut_short_anywhere_are_told_so_and_the_next_is_answered(self, server):
        pieces = cut_everywhere(tool(1, "read_note", path="日记/计划"))
        with writing(server, b"\n".join(pieces) + b"\n" + ping("after")):
            found = answers_of(server, len(pieces) + 1)
        assert {answer["error"]["code"] for answer in found[None]} == {-32700}
        assert (len(found[None]), len(found["after"])) == (len(pieces), 1)

    def test_that_are_glued_or_doubled_are_one_broken_line_or_two_answers(self, server):
        message = ping("twin").strip()
        server.send(message + message + b"\n")
        assert server.take()["error"]["code"] == -32700
        server.send(message + b"\n" + message + b"\n")
        twins = answers_of(server, 2)["twin"]
        assert [answer["result"] for answer in twins if "result" in answer] in ([{}], [{}, {}])
        assert {answer["error"]["code"] for answer in twins if "error" in answer} <= {-32600}

    def test_that_come_one_byte_at_a_time_are_answered_as_any(self, server):
        asked = request("你好", "resources/read", uri="notes:///%E6%97%A5%E8%AE%B0/%E8%AE%A1%E5%88%92.md")
        at_once = server.ask(asked)
        for number in range(len(asked)):
            server.send(asked[number : number + 1])
        assert server.answer("你好") == at_once

    def test_that_stop_in_the_middle_at_eof_are_told_so(self, server):
        server.send(ping(1), ping(2)[:-8])
        server.close_input()
        ended = server.ended()
        told = {each["id"]: each.get("error", {}).get("code") for each in ended.lines}
        assert (len(ended.lines), told) == (2, {1: None, None: -32700})
        assert (ended.code, ended.stderr) == (0, "")

    def test_a_stdout_closed_in_the_middle_of_an_answer_ends_the_server(self, start, folder):
        (folder / "Long.md").write_text("long " * 800_000, "utf-8")
        ours, theirs = os.pipe()
        with start(stdout=theirs) as server:
            os.close(theirs)
            server.send(request(1, "resources/read", uri="notes:///Long.md"))
            assert os.read(ours, 100_000).startswith(b'{"jsonrpc":"2.0","id":1')
            os.close(ours)
            ended = server.ended()
        assert (ended.code, ended.stderr) == (0, "")


class TestIds:
    def test_one_used_for_every_request_is_answered_as_often(self, server):
        with writing(server, tool("same", "search_notes", query="plan") * 300):
            answers = answers_of(server, 300)["same"]
        assert len(answers) == 300
        assert {answer["error"]["code"] for answer in answers if "error" in answer} <= {-32600}
        assert any("result" in answer for answer in answers)

    def test_one_of_an_open_stream_is_taken_until_that_is_cancelled(self, server, folder):
        listen = request("s", "subscriptions/listen", notifications={"resourceSubscriptions": ["notes:///Plan.md"]})
        server.send(listen)
        server.notification("notifications/subscriptions/acknowledged")
        server.send(ping("s"))
        assert server.answer("s")["error"]["code"] == -32600
        (folder / "Plan.md").write_text("changed\n", "utf-8")
        assert server.notification("notifications/resources/updated")["uri"] == "notes:///Plan.md"
        server.send(cancel("s"))
        assert server.ask(ping("s"))["result"] == {}


class TestCancellation:
    def test_before_its_request_changes_nothing(self, server):
        server.send(cancel(1), cancel("1"), ping(1))
        assert server.answer(1)["result"] == {}

    def test_after_its_answer_changes_nothing(self, server):
        assert server.ask(ping(1))["result"] == {}
        server.send(cancel(1), ping(1))
        assert server.answer(1)["result"] == {}

    def test_while_it_runs_takes_the_answer_away_and_frees_the_id(self, start, injected):
        with start(env=injected(HANGING_DISK)) as server:
            server.ask(request("ready", "tools/list"))
            server.send(tool("stuck", "read_note", path="Plan.md"))
            server.complaint("hanging")
            server.send(cancel("stuck"))
            assert server.ask(ping("stuck"))["result"] == {}
            server.close_input()
            assert server.ended().lines == []

    def test_at_any_moment_answers_at_most_once_and_everything_else_once(self, server):
        kinds = (("search_notes", {"query": "plan", "mode": "regex"}), ("read_note", {"path": "Plan"}))
        sent, kept = [], set()
        for number in range(600):
            name, arguments = kinds[number % 2]
            sent.append(tool(number, name, **arguments))
            if number % 3:
                kept.add(number)
            else:
                sent.append(cancel(number - number % 9))  # itself, or one that may be answered by now
                kept.discard(number - number % 9)
                kept |= {number} - {number - number % 9}
        server.send(*sent)
        server.close_input()
        seen = [message["id"] for message in server.ended().lines]
        assert len(seen) == len(set(seen))
        assert kept <= set(seen) <= set(range(600))


@pytest.fixture(scope="module")
def steady():
    """One server for all values; it must end well after them."""
    with tempfile.TemporaryDirectory() as scratch, contextlib.ExitStack() as stack:
        folder, home = Path(scratch, "Notes"), Path(scratch, "home")
        folder.mkdir()
        home.mkdir()
        (folder / "Plan.md").write_text("# Plan\n", "utf-8")
        (folder / "list.txt").write_text("milk\n", "utf-8")
        server = stack.enter_context(serving(folder, home=home))
        yield server
        assert most_memory_mb(server) < 3 * MAX_MEMORY_MB
        server.close_input()
        ended = server.ended()
        assert (ended.code, ended.stderr) == (0, "")


class TestValues:
    """Whatever they are, they are refused in words or taken, and never a fault of the server."""

    @pytest.mark.parametrize(
        ("name", "arguments"),
        [
            ("search_notes", {"query": MEGABYTE}),
            ("search_notes", {"query": MEGABYTE, "mode": "exact"}),
            ("search_notes", {"query": f"({MEGABYTE})*", "mode": "regex"}),
            ("read_note", {"path": MEGABYTE}),
            ("read_note", {"path": "Plan", "section": MEGABYTE}),
            ("list_notes", {"glob": MEGABYTE}),
            ("list_tags", {"prefix": MEGABYTE}),
            ("create_note", {"title": MEGABYTE, "dry_run": True}),
            ("create_note", {"title": "Long", "content": MEGABYTE * 2}),
            ("create_note", {"title": "Wide", "properties": {MEGABYTE: MEGABYTE}}),
            ("edit_note", {"path": "Plan", "edits": [{"op": "replace", "old_text": MEGABYTE, "text": "x"}]}),
            ("edit_note", {"path": "Plan", "edits": [{"op": "append", "text": MEGABYTE}] * 3, "dry_run": True}),
            ("set_properties", {"path": "Plan", "set": {"a": MEGABYTE}, "dry_run": True}),
            ("update_tags", {"action": "add", "tags": [MEGABYTE], "paths": ["Plan"], "dry_run": True}),
            ("move_note", {"path": "Plan", "new_path": MEGABYTE}),
            ("add_thoughts", {"thoughts": MEGABYTE, "section": MEGABYTE}),
            ("no such tool" * 100_000, {}),
            ("read_note", {MEGABYTE: 1}),
        ],
        ids=lambda value: value[:20] if isinstance(value, str) else "+".join(value)[:20],
    )
    def test_of_a_megabyte(self, steady, name, arguments):
        answer = steady.ask(tool("big", name, **arguments))
        assert not _is_fault(answer)
        assert len(json.dumps(answer)) < 100_000
        assert steady.ask(ping("after"))["result"] == {}

    @pytest.mark.parametrize("depth", [150, 250, 100_000])
    def test_nested_deeply(self, steady, depth):
        nested = b"[" * depth + b"]" * depth
        asked = tool("deep", "set_properties", path="Plan", set={"a": "HERE"}, dry_run=True)
        steady.send(asked.replace(b'"HERE"', nested))
        answer = steady.take()
        assert answer["id"] == ("deep" if depth < 200 else None)
        assert not _is_fault(answer)
        assert steady.ask(ping("after"))["result"] == {}

    @pytest.mark.parametrize("value", [*HUGE, *ODD], ids=lambda value: ascii(value)[:20])
    def test_of_other_sorts_in_every_place(self, steady, value):
        calls = [
            ("search_notes", {"query": value, "limit": value}),
            ("search_notes", {"query": str(value)[:99], "mode": "regex", "cursor": value}),
            ("read_note", {"path": value}),
            ("read_note", {"path": "Plan", "start_line": value, "max_chars": value}),
            ("read_note", {"path": "Plan", "section": value}),
            ("list_notes", {"folder": value, "glob": value}),
            ("create_note", {"title": value, "content": value, "properties": {"a": value}}),
            ("edit_note", {"path": "Plan", "edits": [{"op": "append", "text": value}]}),
            ("edit_note", {"path": "Plan", "edits": [{"op": "replace", "old_text": value, "text": value}]}),
            ("set_properties", {"path": "Plan", "set": {"a": value, str(value)[:99]: [value, {"b": value}]}}),
            ("update_tags", {"action": "rename", "tags": [value], "new_tag": value}),
            ("move_note", {"path": "list.txt", "new_path": value}),
            ("undo_change", {"change_id": value}),
        ]
        others = [
            ("resources/read", {"uri": value}),
            ("completion/complete", {"ref": {"type": "ref/resource", "uri": value}, "argument": value}),
            ("prompts/get", {"name": "summarize_note", "arguments": {"path": value}}),
            ("subscriptions/listen", {"notifications": {"resourceSubscriptions": value}}),
        ]
        asked = [*(("tools/call", {"name": name, "arguments": arguments}) for name, arguments in calls), *others]
        steady.send(*(call_in_ascii(number, method, **params) for number, (method, params) in enumerate(asked)))
        found = answers_of(steady, len(asked))
        lone = isinstance(value, str) and "\ud800" in value
        assert set(found) == ({None} if lone else set(range(len(asked))))
        assert not any(_is_fault(answer) for answers in found.values() for answer in answers)


def _is_fault(answer):
    return answer.get("error", {}).get("code") == -32603
