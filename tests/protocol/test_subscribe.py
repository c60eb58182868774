"""resources/subscribe and the changes of lists, under the client's own spelling, in every older revision."""

import asyncio

import pytest
from conftest import LEGACY, hello

from notes_mcp.events import PromptsChanged, ResourcesChanged, ResourceUpdated

A, B = ResourceUpdated("notes:///a.md"), ResourceUpdated("notes:///b.md")
SPELLINGS = ["notes:///a.md", "notes:///a%2Emd", "file:///home/me/notes/a.md", "file://notes/a.md"]


@pytest.mark.parametrize("revision", LEGACY)
@pytest.mark.parametrize("uri", SPELLINGS)
async def test_hazard_143_a_subscriber_hears_of_every_save_under_its_own_spelling(connect, revision, uri):
    async with connect() as desk:
        await desk.shake(revision)
        desk.call(1, "resources/subscribe", uri=uri)
        assert await desk.result(1) == {}
        desk.hub.publish(B)
        desk.hub.publish(A)
        await desk.heard("resources/updated")
        desk.hub.publish(A)
        assert await desk.heard("resources/updated", 2) == [{"uri": uri}, {"uri": uri}]


@pytest.mark.parametrize("revision", LEGACY)
async def test_after_unsubscribe_nothing_more_is_sent_for_that_spelling(connect, revision):
    async with connect() as desk:
        await desk.shake(revision)
        for number, uri in enumerate(SPELLINGS[:2], 1):
            desk.call(number, "resources/subscribe", uri=uri)
            await desk.result(number)
        desk.call(3, "resources/unsubscribe", uri=SPELLINGS[0])
        desk.call(4, "resources/unsubscribe", uri="notes:///never.md")
        assert await desk.result(3) == {}
        assert await desk.result(4) == {}
        desk.hub.publish(A)
        await desk.quiet()
        assert await desk.heard("resources/updated") == [{"uri": SPELLINGS[1]}]
        assert sum(frame.get("method") == "notifications/resources/updated" for frame in desk.frames) == 1


async def test_news_that_is_under_way_goes_out_before_unsubscribe_is_answered(connect):
    async with connect() as desk:
        await desk.shake("2025-11-25")
        desk.call(1, "resources/subscribe", uri=A.uri)
        await desk.result(1)
        desk.reading.clear()
        desk.hub.publish(A)
        async with asyncio.timeout(20):
            while not desk.blocked:
                await asyncio.sleep(0)
        desk.hub.publish(A)
        desk.call(2, "resources/unsubscribe", uri=A.uri)
        for _ in range(20):
            await asyncio.sleep(0)
        desk.hub.publish(A)
        desk.reading.set()
        await desk.result(2)
        await desk.quiet()
        tail = [frame.get("method", frame.get("id")) for frame in desk.frames[2:]]
    assert tail == ["notifications/resources/updated", 2, "quiet"]


@pytest.mark.parametrize(
    ("steps", "subscribed"), [("su", False), ("sus", True), ("susu", False), ("us", True), ("ss", True), ("ssu", False)]
)
async def test_pipelined_subscribes_and_unsubscribes_end_as_they_were_written(connect, steps, subscribed):
    names = {"s": "resources/subscribe", "u": "resources/unsubscribe"}
    async with connect() as desk:
        await desk.shake("2025-06-18")
        desk.watched.open.clear()
        for number, step in enumerate(steps, 1):
            desk.call(number, names[step], uri=A.uri)
        await desk.quiet()
        desk.watched.open.set()
        for number in range(1, len(steps) + 1):
            assert await desk.result(number) == {}
        desk.hub.publish(A)
        await desk.quiet()
        assert desk.silent_about("resources/updated") is not subscribed


async def test_a_cancelled_subscribe_does_not_subscribe(connect):
    async with connect() as desk:
        await desk.shake("2025-06-18")
        desk.watched.open.clear()
        desk.call(1, "resources/subscribe", uri=A.uri)
        desk.note("cancelled", requestId=1)
        desk.call(2, "resources/subscribe", uri=A.uri)
        await desk.quiet()
        desk.note("cancelled", requestId=2)
        await desk.quiet()
        desk.watched.open.set()
        desk.hub.publish(A)
        await desk.quiet()
        assert desk.silent_about("resources/updated")


@pytest.mark.parametrize("method", ["resources/subscribe", "resources/unsubscribe"])
@pytest.mark.parametrize("params", [{}, {"uri": None}, {"uri": 1}, {"uri": ""}, {"uri": [A.uri]}])
async def test_a_uri_that_is_missing_or_ill_typed_is_invalid_params(connect, method, params):
    async with connect() as desk:
        await desk.shake("2025-11-25")
        desk.call(1, method, **params)
        assert await desk.code(1) == -32602


async def test_what_cannot_be_ours_is_not_found(connect):
    async with connect() as desk:
        await desk.shake("2025-11-25")
        desk.call(1, "resources/subscribe", uri="https://example.com/")
        error = (await desk.answer(1))["error"]
    assert (error["code"], error["data"]) == (-32002, {"uri": "https://example.com/"})


async def test_subscriptions_over_the_limit_are_refused_and_an_ended_one_makes_room(connect):
    async with connect(max_subscriptions=2) as desk:
        await desk.shake("2025-11-25")
        for number, uri in enumerate(["notes:///a.md", "notes:///b.md", "notes:///c.md"]):
            desk.call(number, "resources/subscribe", uri=uri)
        assert await desk.code(2) == -32603
        desk.call(3, "resources/unsubscribe", uri="notes:///a.md")
        desk.call(4, "resources/subscribe", uri="notes:///c.md")
        assert await desk.result(4) == {}
        desk.hub.publish(ResourceUpdated("notes:///c.md"))
        assert await desk.heard("resources/updated") == [{"uri": "notes:///c.md"}]


@pytest.mark.parametrize("revision", LEGACY)
async def test_hazard_146_list_changes_are_told_once_the_client_is_ready(connect, revision):
    async with connect() as desk:
        desk.call(0, "initialize", **hello(revision))
        await desk.result(0)
        desk.hub.publish(ResourcesChanged())
        await desk.quiet()
        assert desk.silent_about("resources/list_changed")
        desk.note("initialized")
        await desk.quiet()
        desk.hub.publish(ResourcesChanged())
        desk.hub.publish(PromptsChanged())
        await desk.heard("resources/list_changed")
        await desk.heard("prompts/list_changed")


async def test_an_initialized_without_a_handshake_opens_nothing(connect):
    async with connect() as desk:
        desk.note("initialized")
        await desk.quiet()
        desk.hub.publish(ResourcesChanged())
        await desk.quiet()
        assert desk.silent_about("resources/list_changed")


async def test_a_legacy_client_gets_its_last_news_at_the_end(connect):
    async with connect() as desk:
        await desk.shake("2025-11-25")
        desk.call(1, "resources/subscribe", uri=A.uri)
        await desk.result(1)
        desk.hub.publish(A)
    assert desk.frames[-1] == {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": A.uri}}


async def test_a_legacy_client_that_does_not_read_cannot_hold_up_the_end(connect):
    async with connect(drain_ms=40) as desk:
        await desk.shake("2025-11-25")
        desk.call(1, "resources/subscribe", uri=A.uri)
        await desk.result(1)
        desk.reading.clear()
        desk.hub.publish(A)
        async with asyncio.timeout(20):
            while not desk.blocked:
                await asyncio.sleep(0)
            await desk.session.close()
        assert desk.blocked
        assert desk.silent_about("resources/updated")
        desk.reading.set()
