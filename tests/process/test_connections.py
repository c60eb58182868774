"""Connections know nothing of each other and nothing of their own past; what one was given, another takes up.

Each connection here has rooms of its own, as processes have, over the same folder. 2026-07-28 basic/index,
"Statelessness".
"""

import asyncio
import itertools
import json

import dialogue
import pytest
import talks

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Asking:
    """Modern requests over one connection."""

    def __init__(self, talk):
        self._talk = talk
        self._ids = itertools.count(1)

    async def ask(self, method, **params):
        """The answer frame; what else comes is passed over."""
        return await self.say(method, **params, _meta=META)

    async def say(self, method, **params):
        request_id = next(self._ids)
        message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
        self._talk.send(json.dumps(message).encode() + b"\n")
        async with asyncio.timeout(dialogue.DEADLINE):
            async for frame in self._talk:
                if frame.get("id") == request_id:
                    return frame
        raise EOFError

    async def result(self, method, **params):
        return (await self.ask(method, **params))["result"]

    async def shown(self, tool, **arguments):
        """The structured content of a call that goes well."""
        result = await self.result("tools/call", name=tool, arguments=arguments)
        assert not result["isError"], result["content"][0]["text"]
        return result["structuredContent"]

    async def lists(self):
        """All that can be listed, but for how recent a note is, which time alone changes."""
        tools = (await self.result("tools/list"))["tools"]
        prompts = (await self.result("prompts/list"))["prompts"]
        resources = (await self.result("resources/list"))["resources"]
        for resource in resources:
            del resource["annotations"]["priority"]
        return tools, prompts, resources, await self.result("resources/templates/list")


@pytest.fixture
async def prepared(tmp_path):
    folder, cache = tmp_path / "Notes", tmp_path / "cache"
    folder.mkdir()
    dialogue.lay_out(folder)
    await talks.build_index(folder, cache)
    return folder, cache


async def test_cursors_etags_and_changes_outlive_the_connection_that_gave_them(prepared):
    folder, cache = prepared
    async with talks.in_memory([], folder, cache) as talk:
        first = await Asking(talk).shown("list_notes", limit=2)
        edits = [{"op": "append", "text": "one more"}]
        edited = await Asking(talk).shown("edit_note", path="Ideas.md", edits=edits)
    async with talks.in_memory([], folder, cache) as talk:
        asking = Asking(talk)
        rest = await asking.shown("list_notes", limit=200, cursor=first["next_cursor"])
        properties = {"path": "Ideas.md", "set": {"a": 1}, "if_match": edited["etag"]}
        assert (await asking.shown("set_properties", **properties, dry_run=True))["properties"] == {"a": 1}
        assert (await asking.shown("undo_change", change_id=edited["change_id"]))["restored"] == ["Ideas.md"]
        everything = await asking.shown("list_notes", limit=200)
    paths = [note["path"] for note in first["notes"] + rest["notes"]]
    assert paths == [note["path"] for note in everything["notes"]]
    assert "one more" not in (folder / "Ideas.md").read_text("utf-8")


async def test_lists_are_the_same_on_every_connection_and_whatever_was_asked_on_it(prepared):
    folder, cache = prepared
    async with talks.in_memory([], folder, cache) as fresh, talks.in_memory([], folder, cache) as used:
        asking = Asking(used)
        hello = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        assert (await asking.say("initialize", **hello))["result"]["protocolVersion"] == "2024-11-05"
        assert (await asking.say("resources/subscribe", uri="notes:///Ideas.md"))["result"] == {}
        await asking.shown("search_notes", query="plan")
        assert (await asking.ask("tools/call", name="no_such_tool"))["error"]["code"] == -32602
        assert (await asking.ask("prompts/get", name="no such prompt"))["error"]["code"] == -32602
        assert await asking.lists() == await Asking(fresh).lists() == await asking.lists()


@pytest.mark.parametrize(
    ("state", "responses"),
    [("forged", {}), ({"admin": True}, {"a": {"action": "accept"}, "b": [1]}), ("", "none"), (None, None)],
)
async def test_input_that_nobody_asked_for_changes_nothing(prepared, state, responses):
    more = {"requestState": state, "inputResponses": responses}
    asked = (
        ("tools/call", {"name": "read_note", "arguments": {"path": "Ideas.md"}}),
        ("prompts/get", {"name": "summarize_note", "arguments": {"path": "Ideas.md"}}),
        ("resources/read", {"uri": "notes:///Ideas.md"}),
        ("resources/read", {"uri": "notes:///nothing.md"}),
    )
    async with talks.in_memory([], *prepared) as talk:
        asking = Asking(talk)
        for method, params in asked:
            plain, loaded = await asking.ask(method, **params), await asking.ask(method, **params, **more)
            assert plain.get("result") == loaded.get("result")
            assert plain.get("error") == loaded.get("error")
