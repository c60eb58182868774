"""The official Python client on the other end, in each of its modes; no process and no pipe in between."""

import asyncio
import json
from contextlib import asynccontextmanager

import anyio
import mcp_types
import pytest
from mcp.client.client import Client
from mcp.client.subscriptions import ResourcesListChanged, ResourceUpdated
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.shared.message import SessionMessage

from notes_mcp import events
from notes_mcp.errors import ResourceNotFound


def features(publish):
    async def tools(params, report):
        return {"tools": [{"name": "t", "title": "T", "inputSchema": {"type": "object"}}]}

    async def call(params, report):
        report(1, 2, "half")
        publish(events.ResourceUpdated("notes:///a.md"))
        publish(events.ResourcesChanged())
        return {"content": [{"type": "text", "text": "好"}], "structuredContent": {"n": 1}}

    async def read(params, report):
        raise ResourceNotFound("no such note", {"uri": params["uri"]})

    return {"tools/list": tools, "tools/call": call, "resources/read": read}


@asynccontextmanager
async def transport(desk):
    """The pair of streams a client wants, with the desk behind them."""
    to_client, client_reads = anyio.create_memory_object_stream(0)
    client_writes, from_client = anyio.create_memory_object_stream(0)

    async def up():
        async for message in from_client:
            desk.say(json.loads(message.message.model_dump_json(by_alias=True, exclude_none=True)))

    async def down():
        passed = 0
        while True:
            await desk.until(lambda _: len(desk.frames) > passed)  # noqa: B023
            frame = desk.frames[passed]
            passed += 1
            await to_client.send(SessionMessage(mcp_types.jsonrpc_message_adapter.validate_python(frame)))

    up_task, down_task = asyncio.ensure_future(up()), asyncio.ensure_future(down())
    try:
        yield client_reads, client_writes
    finally:
        for task in (up_task, down_task):
            task.cancel()
        await asyncio.wait({up_task, down_task})
        for stream in (to_client, client_reads, client_writes, from_client):
            await stream.aclose()


@asynccontextmanager
async def opened(connect, mode, **handlers):
    published = []
    async with connect(features(lambda event: published[0](event))) as desk:
        published.append(desk.hub.publish)
        async with Client(transport(desk), mode=mode, **handlers) as client:
            yield client, desk


@pytest.mark.parametrize(
    ("mode", "revision"), [("auto", "2026-07-28"), ("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28")]
)
async def test_each_mode_connects_in_its_era_and_calls(connect, mode, revision):
    told = []

    async def progress(done, total, message):
        told.append((done, total, message))

    async with opened(connect, mode) as (client, desk):
        assert client.protocol_version == revision
        assert [tool.title for tool in (await client.list_tools()).tools] == ["T"]
        result = await client.call_tool("t", {}, progress_callback=progress)
        assert (result.content[0].text, result.structured_content) == ("好", {"n": 1})
        with pytest.raises(MCPError) as failure:
            await client.read_resource("notes:///gone.md")
        assert failure.value.code == (-32602 if revision == "2026-07-28" else -32002)
        methods = [asked for asked, _ in desk.asked.values()]
    assert ("initialize" in methods) == (mode == "legacy")
    assert ("server/discover" in methods) == (mode == "auto")
    assert told == [(1, 2, "half")]


async def test_auto_mode_learns_who_we_are(connect):
    async with opened(connect, "auto") as (client, _):
        assert (client.server_info.name, client.server_info.title) == ("notes-mcp", "Notes 笔记")
        assert client.server_capabilities.resources.subscribe is True
        assert client.instructions == "Search before you read."


@pytest.mark.parametrize("mode", ["auto", "2026-07-28"])
async def test_listening_brings_each_event_and_may_be_ended_and_begun_again(connect, mode):
    async with opened(connect, mode) as (client, _):
        for _ in range(2):
            async with client.listen(resource_subscriptions=["notes:///a.md"], resources_list_changed=True) as stream:
                assert stream.honored.resource_subscriptions == ["notes:///a.md"]
                await client.call_tool("t", {})
                async with asyncio.timeout(20):
                    got = {await anext(stream), await anext(stream)}
                assert got == {ResourceUpdated("notes:///a.md"), ResourcesListChanged()}


async def test_at_the_end_of_the_connection_a_listen_ends_gracefully(connect):
    async with opened(connect, "auto") as (client, desk), client.listen(prompts_list_changed=True) as stream:
        desk.hang_up()
        async with asyncio.timeout(20):
            assert [event async for event in stream] == []


async def test_subscribing_in_legacy_mode_brings_updates(connect):
    got = asyncio.Queue()

    async def handler(message):
        got.put_nowait(message)

    async with opened(connect, "legacy", message_handler=handler) as (client, _):
        with pytest.warns(MCPDeprecationWarning):
            await client.subscribe_resource("notes:///a.md")
        await client.call_tool("t", {})
        async with asyncio.timeout(20):
            while not isinstance(message := await got.get(), mcp_types.ResourceUpdatedNotification):
                pass
    assert message.params.uri == "notes:///a.md"
