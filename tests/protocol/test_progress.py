"""Progress of a call: only when asked for, rising, and all of it before the answer."""

import asyncio
import math

import pytest
from conftest import LEGACY
from hypothesis import given
from hypothesis import settings as rules
from hypothesis import strategies as st

from notes_mcp.errors import InvalidParams
from notes_mcp.protocol.progress import prepare

DONE = {"content": []}


def reporting(*reports):
    async def handler(params, report):
        for each in reports:
            report(*each)
            await asyncio.sleep(0)
        return DONE

    return handler


@pytest.mark.parametrize("token", [0, -5, 1, "", "t", 2**60])
async def test_reports_reach_the_client_that_gave_a_token_before_the_answer_does(connect, token):
    async with connect({"tools/call": reporting((1, 3, "one"), (3, 3, "three"))}) as desk:
        desk.ask(1, "tools/call", {"progressToken": token}, name="t")
        await desk.result(1)
    *progress, answer = desk.frames
    assert answer["id"] == 1
    assert {frame["method"] for frame in progress} == {"notifications/progress"}
    assert progress[-1]["params"] == {"progressToken": token, "progress": 3, "total": 3, "message": "three"}


async def test_without_a_token_nothing_is_told(connect):
    async with connect({"tools/call": reporting((1, 3, "one"))}) as desk:
        desk.ask(1, "tools/call", name="t")
        await desk.result(1)
    assert len(desk.frames) == 1


@pytest.mark.parametrize("token", [True, None, 1.5, []])
async def test_a_legacy_token_that_is_none_is_no_token(connect, token):
    async with connect({"tools/call": reporting((1, 3, "one"))}) as desk:
        await desk.shake("2025-11-25")
        desk.call(1, "tools/call", name="t", _meta={"progressToken": token})
        await desk.result(1)
        assert desk.silent_about("progress")


@pytest.mark.parametrize("revision", LEGACY)
async def test_a_message_is_told_to_revisions_that_have_the_field(connect, revision):
    async with connect({"tools/call": reporting((1, None, "one"))}) as desk:
        await desk.shake(revision)
        desk.call(1, "tools/call", name="t", _meta={"progressToken": "t"})
        await desk.result(1)
        (params,) = await desk.heard("progress")
    told = {} if revision == "2024-11-05" else {"message": "one"}
    assert params == {"progressToken": "t", "progress": 1, **told}


async def test_after_the_answer_a_late_report_is_dropped(connect):
    kept = []

    async def handler(params, report):
        kept.append(report)
        return DONE

    async with connect({"tools/call": handler}) as desk:
        desk.ask(1, "tools/call", {"progressToken": 1}, name="t")
        await desk.result(1)
        kept[0](5, 5, "late")
        await desk.quiet()
        assert desk.silent_about("progress")


async def test_a_call_that_fails_has_told_its_progress_and_gives_its_own_error(connect):
    async def handler(params, report):
        report(1, 2, "half")
        raise InvalidParams("no", {"x": 1})

    async with connect({"tools/call": handler}) as desk:
        desk.ask(1, "tools/call", {"progressToken": 1}, name="t")
        assert (await desk.answer(1))["error"] == {"code": -32602, "message": "no", "data": {"x": 1}}
        assert desk.frames[0]["params"]["progress"] == 1


async def test_a_cancelled_call_tells_nothing_more(connect):
    going = asyncio.Event()
    kept = []

    async def handler(params, report):
        kept.append(report)
        going.set()
        await asyncio.Event().wait()

    async with connect({"tools/call": handler}) as desk:
        desk.ask(1, "tools/call", {"progressToken": 1}, name="t")
        await going.wait()
        desk.note("cancelled", requestId=1)
        await desk.quiet()
        kept[0](1, 2, "late")
        await desk.quiet()
    assert [frame["id"] for frame in desk.frames] == ["quiet", "quiet"]


async def test_two_calls_tell_their_progress_apart(connect):
    async with connect({"tools/call": reporting((1, 2, ""), (2, 2, ""))}) as desk:
        desk.ask(1, "tools/call", {"progressToken": "a"}, name="t")
        desk.ask(2, "tools/call", {"progressToken": "b"}, name="t")
        await desk.result(1)
        await desk.result(2)
    assert {frame["params"]["progressToken"] for frame in desk.frames if "method" in frame} == {"a", "b"}


async def test_a_flood_of_reports_becomes_a_few_notifications(connect):
    async with connect({"tools/call": reporting(*((n, 20_000, "") for n in range(20_000)))}) as desk:
        desk.ask(1, "tools/call", {"progressToken": 1}, name="t")
        await desk.result(1)
    told = [frame["params"]["progress"] for frame in desk.frames[:-1]]
    assert told[-1] == 19_999
    assert len(told) < 2_000


@rules(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats() | st.integers(-(10**6), 10**6), st.none() | st.floats() | st.integers(), st.text(max_size=3)
        ),
        max_size=12,
    )
)
def test_whatever_is_reported_what_is_told_rises_and_ends_with_the_highest(reports):
    told = []

    async def notify(method, params):
        told.append(params)
        await asyncio.sleep(0)

    handler = reporting(*reports)
    run = prepare(handler, {"_meta": {"progressToken": "t"}}, notify)
    assert asyncio.run(run()) == DONE
    values = [params["progress"] for params in told]
    assert values == sorted(set(values))
    highest = [done for done, _, _ in reports if math.isfinite(done)]
    assert values[-1:] == ([max(highest)] if highest else [])
    assert all(math.isfinite(params.get("total", 0)) for params in told)
