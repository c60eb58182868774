"""subscriptions/listen: what was asked for arrives, in order, once, stamped, and nothing else does."""

import asyncio

import pytest
from conftest import SUBSCRIPTION_ID

from notes_mcp.errors import InternalError
from notes_mcp.events import PromptsChanged, ResourcesChanged, ResourceUpdated
from notes_mcp.protocol.subscriptions import Hub

A, B = ResourceUpdated("notes:///a.md"), ResourceUpdated("notes:///b.md")
SPELLINGS = ["notes:///a.md", "notes:///a%2Emd", "file:///home/me/notes/a.md", "file://notes/a.md"]


def stamps(params):
    return [each["_meta"][SUBSCRIPTION_ID] for each in params]


async def test_a_listen_is_acknowledged_with_what_can_be_honoured(connect):
    async with connect() as desk:
        desk.ask(
            "s",
            "subscriptions/listen",
            notifications={
                "toolsListChanged": True,
                "promptsListChanged": True,
                "resourcesListChanged": False,
                "resourceSubscriptions": ["notes:///a.md", "https://example.com/", "notes:///a.md", "notes:///new.md"],
                "com.example/else": {"x": 1},
            },
        )
        honoured = await desk.acknowledged("s")
    assert honoured == {"promptsListChanged": True, "resourceSubscriptions": ["notes:///a.md", "notes:///new.md"]}


@pytest.mark.parametrize("filters", [{}, {"resourceSubscriptions": []}, {"resourceSubscriptions": ["https://x/"]}])
async def test_a_listen_for_nothing_of_ours_is_acknowledged_and_stays_open(connect, filters):
    async with connect() as desk:
        desk.ask(1, "subscriptions/listen", notifications=filters)
        assert await desk.acknowledged(1) == {}
        desk.hub.publish(ResourcesChanged())
        desk.hub.publish(A)
        await desk.quiet()
        assert [frame.get("id") for frame in desk.frames] == [None, "quiet"]


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"notifications": None},
        {"notifications": []},
        {"notifications": {"promptsListChanged": 1}},
        {"notifications": {"toolsListChanged": "true"}},
        {"notifications": {"resourcesListChanged": None}},
        {"notifications": {"resourceSubscriptions": "notes:///a.md"}},
        {"notifications": {"resourceSubscriptions": None}},
        {"notifications": {"resourceSubscriptions": ["notes:///a.md", 1]}},
    ],
)
async def test_a_filter_that_is_ill_typed_is_invalid_params(connect, params):
    async with connect() as desk:
        desk.ask(1, "subscriptions/listen", **params)
        assert await desk.code(1) == -32602
        assert desk.silent_about("subscriptions/acknowledged")


async def test_a_filter_whose_acknowledgment_would_not_fit_a_line_is_refused(connect):
    uris = [f"notes:///{number}.md" for number in range(200)]
    async with connect(max_line_out_bytes=4_096) as desk:
        desk.ask(1, "subscriptions/listen", notifications={"resourceSubscriptions": uris})
        assert await desk.code(1) == -32602


async def test_each_kind_of_event_reaches_only_those_who_asked_for_it(connect):
    async with connect() as desk:
        filters = [{"promptsListChanged": True}, {"resourcesListChanged": True}, {"resourceSubscriptions": [A.uri]}]
        for number, filter_ in enumerate(filters):
            desk.ask(number, "subscriptions/listen", notifications=filter_)
            await desk.acknowledged(number)
        for event in (PromptsChanged(), ResourcesChanged(), A, B):
            desk.hub.publish(event)
        assert stamps(await desk.heard("prompts/list_changed")) == [0]
        assert stamps(await desk.heard("resources/list_changed")) == [1]
        assert await desk.heard("resources/updated") == [{"_meta": {SUBSCRIPTION_ID: 2}, "uri": A.uri}]
        await desk.quiet()
        assert len(desk.frames) == 3 + 3 + 1


async def test_the_acknowledgment_is_the_first_frame_of_a_stream_even_while_everything_changes(connect):
    async with connect() as desk:
        desk.watched.open.clear()
        for number in range(20):
            desk.ask(number, "subscriptions/listen", notifications={"resourceSubscriptions": [A.uri]})
        await desk.quiet()
        desk.hub.publish(A)
        desk.watched.open.set()
        for _ in range(50):
            desk.hub.publish(A)
            await asyncio.sleep(0)
        desk.hub.publish(A)
        for number in range(20):
            await desk.acknowledged(number)
            own = [
                frame
                for frame in desk.frames
                if frame.get("params", {}).get("_meta", {}).get(SUBSCRIPTION_ID, "") == number
            ]
            assert own[0]["method"] == "notifications/subscriptions/acknowledged"


async def test_a_change_right_after_the_acknowledgment_is_not_lost(connect):
    async with connect() as desk:
        desk.reading.clear()
        desk.ask(1, "subscriptions/listen", notifications={"resourceSubscriptions": [A.uri]})
        async with asyncio.timeout(20):
            while not desk.blocked:  # the acknowledgment is on its way, and not out yet
                await asyncio.sleep(0)
        desk.hub.publish(A)
        desk.reading.set()
        await desk.heard("resources/updated")
        methods = [frame["method"] for frame in desk.frames]
    assert methods == ["notifications/subscriptions/acknowledged", "notifications/resources/updated"]


@pytest.mark.parametrize("request_id", [0, -1, 7, "7", "", "ü", 2**53])
async def test_the_stamp_is_the_id_of_the_listen_with_its_type(connect, request_id):
    async with connect() as desk:
        desk.ask(request_id, "subscriptions/listen", notifications={"resourceSubscriptions": [A.uri]})
        await desk.acknowledged(request_id)
        desk.hub.publish(A)
        (params,) = await desk.heard("resources/updated")
    stamp = params["_meta"][SUBSCRIPTION_ID]
    assert (type(stamp), stamp) == (type(request_id), request_id)


async def test_one_note_under_several_spellings_is_told_under_each(connect):
    async with connect() as desk:
        desk.ask(1, "subscriptions/listen", notifications={"resourceSubscriptions": SPELLINGS})
        assert (await desk.acknowledged(1))["resourceSubscriptions"] == SPELLINGS
        desk.hub.publish(A)
        told = await desk.heard("resources/updated", len(SPELLINGS))
        await desk.quiet()
    assert [params["uri"] for params in told] == SPELLINGS


async def test_a_cancelled_listen_is_neither_answered_nor_heard_of_again(connect):
    async with connect() as desk:
        for request_id in (1, "1"):
            desk.ask(request_id, "subscriptions/listen", notifications={"resourceSubscriptions": [A.uri]})
            await desk.acknowledged(request_id)
        desk.note("cancelled", requestId="1")
        await desk.quiet()
        desk.hub.publish(A)
        assert stamps(await desk.heard("resources/updated")) == [1]
        await desk.quiet()
        assert len(await desk.heard("resources/updated")) == 1
    assert [frame["id"] for frame in desk.frames if "id" in frame] == ["quiet", "quiet", 1]


async def test_a_listen_that_is_cancelled_while_it_is_being_set_up_leaves_nothing_behind(connect):
    async with connect(max_subscriptions=1) as desk:
        desk.watched.open.clear()
        desk.ask(1, "subscriptions/listen", notifications={"resourceSubscriptions": [A.uri]})
        await desk.quiet()
        desk.note("cancelled", requestId=1)
        await desk.quiet()
        desk.watched.open.set()
        desk.ask(2, "subscriptions/listen", notifications={"resourceSubscriptions": [A.uri]})
        await desk.acknowledged(2)
        assert len(await desk.heard("subscriptions/acknowledged")) == 1


async def test_at_the_end_every_listen_gets_its_last_news_and_then_its_result(connect):
    async with connect() as desk:
        for number in range(3):
            desk.ask(number, "subscriptions/listen", notifications={"resourceSubscriptions": [A.uri]})
            await desk.acknowledged(number)
        desk.hub.publish(A)
        desk.hang_up()
        for number in range(3):
            result = await desk.result(number)
            assert result["resultType"] == "complete"
            assert result["_meta"][SUBSCRIPTION_ID] == number
            assert "ttlMs" not in result
    assert sorted(stamps(await desk.heard("resources/updated", 3))) == [0, 1, 2]
    assert "result" in desk.frames[-1]
    desk.hub.publish(A)
    assert len(desk.frames) == 9


async def test_a_listen_read_just_before_the_end_is_acknowledged_and_answered(connect):
    async with connect(drain_ms=10**6) as desk:
        desk.ask(1, "subscriptions/listen", notifications={"resourceSubscriptions": [A.uri]})
        desk.hang_up()
        assert (await desk.result(1))["_meta"][SUBSCRIPTION_ID] == 1
    assert [frame.get("method") for frame in desk.frames] == ["notifications/subscriptions/acknowledged", None]


async def test_thousands_of_listens_are_all_told_and_all_ended(connect):
    count = 3_000
    async with connect() as desk:
        for number in range(count):
            desk.ask(number, "subscriptions/listen", notifications={"resourceSubscriptions": [A.uri]})
        await desk.acknowledged(count - 1)
        desk.hub.publish(A)
        assert sorted(stamps(await desk.heard("resources/updated", count))) == list(range(count))
        for number in range(count):
            desk.note("cancelled", requestId=number)
        await desk.quiet()
        desk.hub.publish(A)
        await desk.quiet()
        assert len(desk.frames) == 2 * count + 2


async def test_listens_over_the_limit_are_refused_and_an_ended_one_makes_room(connect):
    async with connect(max_subscriptions=3) as desk:
        desk.ask(1, "subscriptions/listen", notifications={"promptsListChanged": True})
        desk.ask(2, "subscriptions/listen", notifications={"resourceSubscriptions": [A.uri, B.uri]})
        desk.ask(3, "subscriptions/listen", notifications={})
        error = (await desk.answer(3))["error"]
        assert (error["code"], error["data"]) == (-32603, {"limit": 3})
        desk.note("cancelled", requestId=2)
        await desk.quiet()
        desk.ask(4, "subscriptions/listen", notifications={"resourceSubscriptions": [A.uri, B.uri]})
        await desk.acknowledged(4)


async def test_a_client_that_does_not_read_costs_one_frame_a_note_however_often_it_changes(connect):
    async with connect() as desk:
        desk.ask(
            1,
            "subscriptions/listen",
            notifications={"resourceSubscriptions": [A.uri, B.uri], "resourcesListChanged": True},
        )
        await desk.acknowledged(1)
        desk.reading.clear()
        for _ in range(5_000):
            for event in (A, B, ResourcesChanged()):
                desk.hub.publish(event)
        await asyncio.sleep(0)
        for _ in range(5_000):
            for event in (A, B, ResourcesChanged()):
                desk.hub.publish(event)
        desk.reading.set()
        await desk.quiet()
        # One frame was under way when the second half came; it is told again, the others once.
        assert len(desk.frames) - 2 <= 4
        assert {params["uri"] for params in await desk.heard("resources/updated", 2)} == {A.uri, B.uri}


async def test_sessions_that_share_a_hub_hear_the_same_event(connect):
    hub = Hub(10)
    async with connect(hub=hub) as first, connect(hub=hub) as second:
        first.ask(1, "subscriptions/listen", notifications={"resourceSubscriptions": [A.uri]})
        await first.acknowledged(1)
        await second.shake("2025-11-25")
        second.call(1, "resources/subscribe", uri="file://notes/a.md")
        await second.result(1)
        hub.publish(A)
        assert await first.heard("resources/updated") == [{"_meta": {SUBSCRIPTION_ID: 1}, "uri": A.uri}]
        assert await second.heard("resources/updated") == [{"uri": "file://notes/a.md"}]


async def test_the_end_of_one_session_does_not_end_the_streams_of_another(connect):
    hub = Hub(10)
    async with connect(hub=hub) as stays:
        stays.ask(1, "subscriptions/listen", notifications={"resourceSubscriptions": [A.uri]})
        await stays.acknowledged(1)
        async with connect(hub=hub) as goes:
            goes.ask(1, "subscriptions/listen", notifications={"resourceSubscriptions": [A.uri]})
            await goes.acknowledged(1)
        hub.publish(A)
        await stays.heard("resources/updated")


async def test_the_hub_counts_what_is_watched_and_forgets_what_is_closed():
    async def notify(method, params):
        raise AssertionError("nothing is delivered here")

    hub = Hub(4)
    wide = hub.open(notify, room=3)
    narrow = hub.open(notify)
    with pytest.raises(InternalError):
        hub.open(notify)
    hub.watch(narrow, "notes:///a.md", "notes:///a.md")
    hub.watch(narrow, "notes:///a.md", "notes:///a.md")
    with pytest.raises(InternalError):
        hub.watch(narrow, "notes:///b.md", "notes:///b.md")
    hub.close(wide)
    hub.close(wide)
    hub.watch(narrow, "notes:///b.md", "notes:///b.md")
    hub.unwatch(narrow, "notes:///b.md")
    hub.unwatch(narrow, "notes:///b.md")
    third = hub.open(notify, room=3)
    hub.close(narrow)
    hub.close(third)
    hub.publish(A)
    assert hub.open(notify, room=4)
