"""Progress of real calls on a real folder, in both eras: it grows, has words, and ends before the answer."""

import json

import pytest
from processes import META, line, serving

COUNT = 300
CALLS = {
    "tags renamed": ("update_tags", {"action": "rename", "tags": ["old"], "new_tag": "new"}),
    "links moved": ("move_note", {"path": "target.md", "new_path": "Moved/there"}),
    "folder moved": ("move_note", {"path": "Many", "new_path": "Much"}),
    "exact": ("search_notes", {"query": "number 7", "mode": "exact"}),
    "regex": ("search_notes", {"query": "number [0-9]+", "mode": "regex"}),
    "mentions": ("get_links", {"kind": "mentions", "path": "Moved/there.md"}),
}


def call(request_id, name, arguments, token, modern):
    meta = {**(META if modern else {}), **({} if token is None else {"progressToken": token})}
    params = {"name": name, "arguments": arguments, "_meta": meta}
    return line({"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params})


@pytest.fixture
def server(tmp_path):
    root = tmp_path / "notes"
    (root / "Many").mkdir(parents=True)
    (root / "target.md").write_text("# target\n")
    for number in range(COUNT):
        (root / "Many" / f"{number}.md").write_text(f"#old [[target]] target, number {number}\n")
    with serving(root, home=tmp_path, cache=tmp_path / "cache") as server:
        server.send(
            line(
                {
                    "jsonrpc": "2.0",
                    "id": "hello",
                    "method": "initialize",
                    "params": {
                        "protocolVersion": "2025-11-25",
                        "capabilities": {},
                        "clientInfo": {"name": "test", "version": "1"},
                    },
                }
            )
        )
        server.answer("hello")
        while not server.call("notes_info")["structuredContent"]["index"]["complete"]:
            pass
        yield server


def followed(server, request_id, token):
    """The progress before the answer, and the answer."""
    told = []
    while (message := server.take()) is not None:
        if message.get("method") == "notifications/progress":
            assert message["params"]["progressToken"] == token
            told.append(message["params"])
        elif message.get("id") == request_id:
            return told, message
    raise AssertionError(server.stderr)


@pytest.mark.parametrize("modern", [True, False], ids=["modern", "legacy"])
def test_long_calls_tell_how_far_they_are(server, modern):
    for number, (what, (name, arguments)) in enumerate(CALLS.items()):
        token = f"token {number}"
        server.send(call(number, name, arguments, token, modern))
        told, answer = followed(server, number, token)
        assert answer["result"]["isError"] is False, (what, answer)
        assert told, what
        steps = [each["progress"] for each in told]
        assert steps == sorted(set(steps)), what
        assert all(each["progress"] <= each["total"] for each in told if "total" in each), (what, told)
        assert all(": " in each["message"] for each in told), what
        server.send(line({"jsonrpc": "2.0", "id": f"after {number}", "method": "ping"}))
        after, _ = followed(server, f"after {number}", None)
        assert after == [], "nothing is told after the answer"
    server.send(call("undo", "undo_change", {}, "undo", modern))
    told, answer = followed(server, "undo", "undo")
    assert answer["result"]["isError"] is False, json.dumps(answer)
    assert told


def test_nothing_is_told_without_a_token(server):
    for number, (name, arguments) in enumerate(CALLS.values()):
        server.send(call(number, name, arguments, None, modern=True))
        told, _ = followed(server, number, None)
        assert told == []
