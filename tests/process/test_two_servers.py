"""Two servers on one folder, as two clients start them: both see, tell and write the same notes, and none is lost."""

import pytest
from processes import request, tool

LISTEN = {"notifications": {"resourceSubscriptions": ["notes:///Plan.md"], "resourcesListChanged": True}}


@pytest.fixture
def two(start):
    with start() as one, start() as other:
        for server in (one, other):
            server.send(request("stream", "subscriptions/listen", **LISTEN))
            server.notification("notifications/subscriptions/acknowledged")
        yield one, other


def test_hazard_013_what_one_writes_the_other_announces_reads_and_finds(two):
    one, other = two
    one.call("add_thoughts", path="Plan.md", thoughts="ein gemeinsamer Gedanke")
    for server in two:
        assert server.notification("notifications/resources/updated")["uri"] == "notes:///Plan.md"
    assert "ein gemeinsamer Gedanke" in other.call("read_note", path="Plan")["content"][1]["text"]
    found = other.call("search_notes", query="gemeinsamer")["structuredContent"]["hits"]
    assert [hit["path"] for hit in found] == ["Plan.md"]


def test_hazard_013_all_of_20_writes_of_both_to_one_note_survive(two, folder):
    for number in range(10):
        for name, server in zip("ab", two, strict=True):
            server.send(tool(f"{name}{number}", "add_thoughts", path="Plan.md", thoughts=f"thought {name}{number}"))
    for name, server in zip("ab", two, strict=True):
        wanted = {f"{name}{number}" for number in range(10)}
        while wanted:
            message = server.take()
            if message.get("id") in wanted:
                assert message["result"]["isError"] is False, message
                wanted.discard(message["id"])
    text = (folder / "Plan.md").read_text(encoding="utf-8")
    assert [text.count(f"thought {name}{number}\n") for name in "ab" for number in range(10)] == [1] * 20


def test_hazard_013_the_end_of_one_leaves_the_other_at_work(two):
    one, other = two
    one.process.kill()
    one.process.wait()
    made = other.call("create_note", title="After", content="still here\n")
    assert made["structuredContent"]["path"] == "After.md"
    found = other.call("search_notes", query="still here")["structuredContent"]["hits"]
    assert [hit["path"] for hit in found] == ["After.md"]
    other.close_input()
    ended = other.ended()
    assert (ended.code, ended.stderr) == (0, "")


def test_hazard_013_two_that_start_at_once_share_one_new_index(start, folder):
    for number in range(50):
        (folder / f"note {number}.md").write_text(f"word{number}\n", encoding="utf-8")
    with start() as one, start() as other:
        for server in (one, other):
            server.send(tool("search", "search_notes", query="word7"))
        for server in (one, other):
            while (state := server.call("notes_info")["structuredContent"])["index"]["complete"] is False:
                pass
            assert state["folders"][0]["notes"] == 53
            hits = server.call("search_notes", query="word49")["structuredContent"]["hits"]
            assert [hit["path"] for hit in hits] == ["note 49.md"]
            server.close_input()
            assert server.ended().stderr == ""
