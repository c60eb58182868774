"""One process a revision, asked for everything there is and for what there is not; `wire_oracle` judges every line."""

import asyncio

import pytest
from client_cases import PROMPT_VALUES, TOOLS, notes_folder
from live_server import Refused, live, save, subscriber
from wire_schemas import MODERN

from notes_mcp.tools import _catalog

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN)


@pytest.mark.parametrize("revision", REVISIONS)
async def test_everything_that_is_sent_is_valid_in_its_revision(revision, tmp_path):
    folder = notes_folder(tmp_path / "notes")
    (folder / "sentinel.md").write_text("watched to the end\n", "utf-8")
    async with live("--cache-dir", tmp_path / "cache", folder, stderr=tmp_path / "stderr") as server:
        modern = revision == MODERN
        if modern:
            assert revision in (await server.ask("server/discover", modern=True))["supportedVersions"]
        else:
            assert (await server.initialize(revision))["protocolVersion"] == revision
            assert await server.ask("ping") == {}

        await server.until_indexed()

        async def ask(method, params=None):
            return await server.ask(method, params, modern=modern)

        async def refused(method, params, *codes):
            with pytest.raises(Refused) as error:
                await ask(method, params)
            assert error.value.code in codes

        await resources(ask, refused, modern)
        await tools(ask, refused, folder, revision)
        await prompts(ask, refused)
        async with subscriber(
            server, "modern" if modern else "legacy", ["notes:///Ideas.md"], folder / "sentinel.md"
        ) as heard:
            save(folder / "Ideas.md", (folder / "Ideas.md").read_text("utf-8") + "one more\n")
            (folder / "Prompts" / "new.md").write_text("A new one\n", "utf-8")
            await heard.until(("updated", "notes:///Ideas.md"), ("resources",), ("prompts",))
    answered = server.conversation.answered
    assert all(answered[method] for method in ("tools/call", "resources/read", "prompts/get", "completion/complete"))


async def test_everything_may_be_asked_in_the_first_breath(tmp_path):
    """Before the notes are open: what comes early waits, and nothing is refused for it."""
    folder = notes_folder(tmp_path / "notes")
    template = {"type": "ref/resource", "uri": "notes:///{+path}"}
    asked = [
        *(("tools/call", {"name": name, "arguments": TOOLS[name][0]}) for name in _catalog.load("all")),
        ("resources/list", {}),
        ("resources/read", {"uri": "notes:///Projects/Plan.md"}),
        ("prompts/list", {}),
        ("prompts/get", {"name": "summarize_note", "arguments": {"path": "Home.md"}}),
        ("completion/complete", {"ref": template, "argument": {"name": "path", "value": "Plan"}}),
    ]
    async with live("--cache-dir", tmp_path / "cache", folder, stderr=tmp_path / "stderr") as server:
        results = await asyncio.gather(*(server.ask(*each, modern=True) for each in asked))
        refusals = [result["content"][0]["text"] for result in results if result.get("isError")]
        assert all("still being built" in refusal for refusal in refusals), refusals


async def resources(ask, refused, modern):
    uris, cursor = [], {}
    while cursor is not None:
        page = await ask("resources/list", cursor)
        uris += [resource["uri"] for resource in page["resources"]]
        cursor = {"cursor": page["nextCursor"]} if "nextCursor" in page else None
    assert len(uris) > 250
    assert len((await ask("resources/templates/list"))["resourceTemplates"]) == 1
    pictures = "notes:///attachments/tide-clock.png"
    for uri in [*uris[:60], pictures]:
        assert (await ask("resources/read", {"uri": uri}))["contents"][0]["uri"] == uri
    await refused("resources/read", {"uri": "notes:///not there.md"}, -32602 if modern else -32002)
    await refused("resources/read", {}, -32602)
    await refused("resources/read", {"uri": 7}, -32602)
    await refused("resources/list", {"cursor": "made up"}, -32602)
    await refused("no/such/method", {}, -32601)


async def tools(ask, refused, folder, revision):
    listed = (await ask("tools/list"))["tools"]
    assert [tool["name"] for tool in listed] == sorted(_catalog.load("all"))
    assert ("outputSchema" in listed[0]) == (revision >= "2025-06-18")
    for token, tool in enumerate(listed):
        arguments, holds = TOOLS[tool["name"]]
        result = await ask(
            "tools/call", {"name": tool["name"], "arguments": arguments, "_meta": {"progressToken": token}}
        )
        text = "\n".join(block["text"] for block in result["content"])
        assert not result.get("isError"), text
        assert holds(result.get("structuredContent"), text, folder)
        try:
            result = await ask("tools/call", {"name": tool["name"], "arguments": {"no_such_argument": 1}})
        except Refused as error:
            assert error.code == -32602
            assert revision <= "2025-06-18"
        else:
            assert result["isError"]
            assert revision >= "2025-11-25"
    picture = await ask("tools/call", {"name": "read_note", "arguments": {"path": "attachments/tide-clock.png"}})
    assert picture["content"][-1]["type"] == "image"
    missing = await ask("tools/call", {"name": "read_note", "arguments": {"path": "Plann.md"}})
    assert missing["isError"]
    await refused("tools/call", {"name": "no_such_tool"}, -32602)
    await refused("tools/call", {"name": "read_note", "arguments": [1]}, -32602)


async def prompts(ask, refused):
    listed = (await ask("prompts/list"))["prompts"]
    for prompt in listed:
        names = [argument["name"] for argument in prompt.get("arguments", [])]
        values = {name: PROMPT_VALUES.get(name, "some text") for name in names}
        assert (await ask("prompts/get", {"name": prompt["name"], "arguments": values}))["messages"]
        for name in names:
            ref = {"type": "ref/prompt", "name": prompt["name"]}
            await ask("completion/complete", {"ref": ref, "argument": {"name": name, "value": "p"}})
    template = {"type": "ref/resource", "uri": "notes:///{+path}"}
    await ask("completion/complete", {"ref": template, "argument": {"name": "path", "value": "计划"}})
    await refused("prompts/get", {"name": "summarize_note"}, -32602)
    await refused("prompts/get", {"name": "no such prompt"}, -32602)
    await refused("completion/complete", {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {}}, -32602)
