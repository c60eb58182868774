"""The official client against a real process, in each of its modes: everything it can ask.

One process a mode for the whole module; at its end every line of it is judged by `wire_oracle`.
"""

import base64
from datetime import date

import pytest
from client_cases import PROMPT_VALUES, TOOLS
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference
from official import MODES, pages

from notes_mcp.tools import _catalog

pytestmark = pytest.mark.asyncio(loop_scope="module")


def on_disk(folder):
    """The paths of all visible notes."""
    kinds = {".md", ".markdown", ".txt", ".org", ".rst"}
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.suffix in kinds)
    return {path.as_posix() for path in found if not any(part.startswith(".") for part in path.parts)}


# -- connecting and listing ----------------------------------------------------------------------------


async def test_the_client_connects_with_the_revision_of_its_mode(connection, client):
    assert client.protocol_version == MODES[connection.mode]
    if connection.mode != "2026-07-28":  # that mode asks nothing before its first request
        assert client.server_info.name == "notes-mcp"
        assert client.server_capabilities.resources.subscribe is True
        assert client.server_capabilities.resources.list_changed is True
        assert client.server_capabilities.prompts.list_changed is True
        assert client.server_capabilities.completions is not None
        assert client.instructions


async def test_it_lists_every_tool_with_its_words_and_hints(client):
    tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == sorted(_catalog.load("all"))
    for tool in tools:
        assert tool.title and tool.description
        hints = tool.annotations
        assert None not in (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint)
        assert hints.open_world_hint is False
        assert all(argument["description"] for argument in tool.input_schema["properties"].values())


async def test_it_lists_every_note_to_the_last_page_newest_first(client, folder):
    listed = await pages(client.list_resources, "resources")
    uris = [resource.uri for resource in listed]
    assert len(uris) == len(set(uris)) > 250
    assert {resource.name for resource in listed} == {path.rpartition("/")[2] for path in on_disk(folder)}
    assert len(uris) == len(on_disk(folder))
    moments = [resource.annotations.last_modified for resource in listed]
    assert moments == sorted(moments, reverse=True)


async def test_a_listed_resource_reads_as_the_file_it_stands_for(client, folder):
    for resource in (await client.list_resources()).resources[:20]:
        contents = (await client.read_resource(resource.uri)).contents[0]
        assert (contents.uri, contents.mime_type) == (resource.uri, resource.mime_type)
        assert len(contents.text.encode()) == resource.size or "bad.md" in resource.uri


async def test_it_lists_the_template_and_every_prompt(client, folder):
    templates = await pages(client.list_resource_templates, "resource_templates")
    assert [template.uri_template for template in templates] == ["notes:///{+path}"]
    names = {prompt.name for prompt in await pages(client.list_prompts, "prompts")}
    own = {path.stem for path in (folder / "Prompts").glob("*.md")}
    assert names >= own | {"summarize_note", "daily_review", "weekly_review", "find_connections", "summarize_topic"}


async def test_it_reads_a_note_and_an_attachment_byte_for_byte(client, folder):
    note = (await client.read_resource("notes:///Projects/%E8%AE%A1%E5%88%92.md")).contents[0]
    assert (note.mime_type, note.text) == ("text/markdown", (folder / "Projects" / "计划.md").read_text("utf-8"))
    picture = next((folder / "attachments").iterdir())
    read = (await client.read_resource(f"notes:///attachments/{picture.name}")).contents[0]
    assert base64.b64decode(read.blob) == picture.read_bytes()
    assert read.mime_type.startswith("image/")


async def test_a_resource_that_is_not_there_is_an_error_of_its_era(connection, client):
    for uri in (
        "notes:///not/there.md",
        "notes:///../outside.md",
        "notes:///.obsidian/app.json",
        "https://example.org",
    ):
        with pytest.raises(MCPError) as refused:
            await client.read_resource(uri)
        assert refused.value.code in ((-32602, -32603) if connection.modern else (-32002, -32001)), uri


async def test_a_cursor_that_was_never_given_out_is_refused(client):
    for fetch in (client.list_resources, client.list_prompts, client.list_tools, client.list_resource_templates):
        with pytest.raises(MCPError) as refused:
            await fetch(cursor="made up")
        assert refused.value.code == -32602


# -- tools ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(_catalog.load("all")))
async def test_it_calls_every_tool(client, folder, name):
    assert name in TOOLS, f"{name} is new: give it a case in TOOLS, so that a real client calls it"
    arguments, holds = TOOLS[name]
    result = await client.call_tool(name, arguments)
    text = "\n".join(block.text for block in result.content)
    assert not result.is_error, text
    assert holds(result.structured_content, text, folder)


@pytest.mark.parametrize("name", sorted(_catalog.load("all")))
async def test_an_unknown_argument_is_an_answer_that_a_model_can_act_on(client, name):
    result = await client.call_tool(name, {"no_such_argument": 1})
    assert result.is_error
    assert "no_such_argument" in result.content[0].text


async def test_an_error_of_a_tool_is_a_result_and_an_unknown_tool_is_an_error(client):
    result = await client.call_tool("read_note", {"path": "Projects/Plann.md"})
    assert result.is_error
    assert "Projects/Plan.md" in result.content[0].text
    with pytest.raises(MCPError) as refused:
        await client.call_tool("no_such_tool", {})
    assert refused.value.code == -32602


async def test_a_picture_is_shown_as_one(client, folder):
    picture = next((folder / "attachments").iterdir())
    result = await client.call_tool("read_note", {"path": f"attachments/{picture.name}"})
    assert [block.type for block in result.content][-1] == "image"
    assert base64.b64decode(result.content[-1].data) == picture.read_bytes()


async def test_text_that_is_no_utf_8_still_makes_a_valid_answer(client):
    result = await client.call_tool("read_note", {"path": "bad.md"})
    assert "caf\N{REPLACEMENT CHARACTER}" in result.content[1].text
    assert (await client.read_resource("notes:///bad.md")).contents[0].text == "caf\N{REPLACEMENT CHARACTER}\n"


# -- prompts and completion ----------------------------------------------------------------------------


async def test_it_gets_every_prompt_with_and_without_what_is_optional(client):
    prompts = await pages(client.list_prompts, "prompts")
    for prompt in prompts:
        assert prompt.description
        assert all(argument.description for argument in prompt.arguments or [])
        for least in (True, False):
            wanted = [argument for argument in prompt.arguments or [] if argument.required or not least]
            values = {argument.name: PROMPT_VALUES.get(argument.name, "some text") for argument in wanted}
            got = await client.get_prompt(prompt.name, values)
            assert got.messages
            assert any(message.content.type == "text" for message in got.messages)


async def test_a_prompt_embeds_the_note_it_speaks_of_as_it_is(client, folder):
    got = await client.get_prompt("summarize_note", {"path": "Projects/Plan.md"})
    embedded = [message.content.resource for message in got.messages if message.content.type == "resource"]
    assert [(each.uri, each.text) for each in embedded] == [
        ("notes:///Projects/Plan.md", (folder / "Projects" / "Plan.md").read_text("utf-8"))
    ]


async def test_a_prompt_of_ones_own_is_filled_in(client):
    got = await client.get_prompt("code_review", {"code": "print('{{code}} 好')"})
    assert "print('{{code}} 好')" in got.messages[0].content.text


async def test_a_prompt_without_its_argument_or_without_a_name_we_know_is_refused(client):
    for name, values in (("summarize_note", {}), ("no such prompt", {})):
        with pytest.raises(MCPError) as refused:
            await client.get_prompt(name, values)
        assert refused.value.code == -32602


async def test_it_completes_paths_and_dates(client, folder):
    template = ResourceTemplateReference(uri="notes:///{+path}")
    completed = (await client.complete(template, {"name": "path", "value": "计划"})).completion
    assert completed.values[0] == "Projects/计划.md"
    many = (await client.complete(template, {"name": "path", "value": "Many/"})).completion
    assert (len(many.values), many.has_more) == (100, True)
    assert many.total > 200
    prompt = PromptReference(name="daily_review")
    days = (await client.complete(prompt, {"name": "date", "value": "2026-07"})).completion.values
    assert days
    assert all(date.fromisoformat(day) for day in days)
    with pytest.raises(MCPError) as refused:
        await client.complete(PromptReference(name="no such prompt"), {"name": "x", "value": ""})
    assert refused.value.code == -32602
