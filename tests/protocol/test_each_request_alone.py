"""What a request is answered with depends on what it says and on what is declared, on nothing that came before it."""

import asyncio
import logging
from dataclasses import replace

import anyio
import pytest
from conftest import LEGACY, SERVER

from notes_mcp.events import PromptsChanged, ResourcesChanged, ResourceUpdated
from notes_mcp.protocol.values import CLIENT_CAPABILITIES, CLIENT_INFO, PROTOCOL_VERSION

TOOLS = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}
A = ResourceUpdated("notes:///a.md")
NOTHING = replace(SERVER, capabilities={})


async def listing(params, report):
    return TOOLS


async def paging(params, report):
    return {"resources": [], **({} if "cursor" in params else {"nextCursor": "2"})}


async def test_nothing_of_an_earlier_request_is_remembered(connect):
    async with connect({"tools/list": listing}) as desk:
        desk.ask(1, "tools/list")
        assert (await desk.result(1))["tools"]
        desk.call(2, "tools/list")
        desk.call(3, "tools/list", _meta={PROTOCOL_VERSION: "2026-07-28"})
        desk.call(4, "tools/list", _meta={CLIENT_CAPABILITIES: {}})
        assert [await desk.code(number) for number in (2, 3, 4)] == [-32600, -32602, -32602]


async def test_who_the_client_is_and_what_it_can_do_changes_no_answer(connect):
    metas = [
        {CLIENT_INFO: {"name": "Claude", "version": "9"}, CLIENT_CAPABILITIES: {"sampling": {}, "roots": {}}},
        {CLIENT_INFO: {"name": "evil", "version": ""}, CLIENT_CAPABILITIES: {}},
    ]
    async with connect({"tools/list": listing}) as desk:
        for number, meta in enumerate(metas):
            desk.ask(number, "tools/list", meta)
        first, second = [await desk.result(number) for number in range(2)]
    assert first == second


async def test_all_pages_of_a_list_have_the_same_cache_hints(connect):
    async with connect({"resources/list": paging}) as desk:
        desk.ask(1, "resources/list")
        desk.ask(2, "resources/list", cursor="2")
        first, last = await desk.result(1), await desk.result(2)
    assert "nextCursor" in first and "nextCursor" not in last
    assert [(page["ttlMs"], page["cacheScope"]) for page in (first, last)] == [(0, "private")] * 2


async def test_what_is_not_declared_is_not_honoured_by_a_listen(connect):
    wanted = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}
    async with connect(server=NOTHING) as desk:
        desk.ask(1, "subscriptions/listen", notifications={**wanted, "resourceSubscriptions": [A.uri]})
        assert await desk.acknowledged(1) == {}
        for event in (A, ResourcesChanged(), PromptsChanged()):
            desk.hub.publish(event)
        await desk.quiet()
    assert [frame.get("id") for frame in desk.frames] == [None, "quiet", 1]


@pytest.mark.parametrize("revision", LEGACY)
async def test_what_is_not_declared_is_not_sent_and_not_offered_in_a_session(connect, revision):
    async with connect(server=NOTHING) as desk:
        assert (await desk.shake(revision))["capabilities"] == {}
        desk.call(1, "resources/subscribe", uri=A.uri)
        desk.call(2, "resources/unsubscribe", uri=A.uri)
        assert [await desk.code(number) for number in (1, 2)] == [-32601, -32601]
        for event in (A, ResourcesChanged(), PromptsChanged()):
            desk.hub.publish(event)
        await desk.quiet()
    assert all("method" not in frame for frame in desk.frames)


@pytest.mark.parametrize("reason", ["it takes too long", None, {"x": [1]}, "y" * 100_000])
async def test_the_reason_of_a_cancellation_is_in_the_debug_log(connect, caplog, reason):
    caplog.set_level(logging.DEBUG, "notes_mcp")
    async with connect() as desk:
        desk.note("cancelled", requestId="gone", reason=reason)
        desk.note("cancelled", requestId=None, reason=reason)
        await desk.quiet()
    (told,) = [record.getMessage() for record in caplog.records if "cancels" in record.getMessage()]
    assert "'gone'" in told
    assert repr(reason)[:200] in told
    assert len(told) < 300


@pytest.mark.parametrize("method", ["tools/call", "completion/complete", "prompts/get"])
@pytest.mark.parametrize("revision", [None, *LEGACY])
async def test_no_more_than_so_many_requests_are_worked_on_at_once_and_all_are_answered(connect, method, revision):
    results = {"tools/call": {"content": []}, "completion/complete": {"completion": {"values": []}}}
    gate, running, most = asyncio.Event(), 0, 0

    async def handler(params, report):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await gate.wait()
        running -= 1
        return results.get(method, {"messages": []})

    async with connect({method: handler}, max_in_flight=3) as desk:
        ask = desk.ask
        if revision is not None:
            await desk.shake(revision)
            ask = desk.call
        for number in range(1, 21):
            ask(number, method, name="t")
        await anyio.wait_all_tasks_blocked()
        assert running == 3
        gate.set()
        for number in range(1, 21):
            await desk.result(number)
    assert most == 3
