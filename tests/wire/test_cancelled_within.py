"""A call that is cancelled is no fault, whatever it does with the cancellation on its way out."""

import asyncio
import logging
from dataclasses import replace

import pytest
from test_peer import SETTINGS, note, result, talking


@pytest.mark.parametrize("end", ["cancelled", "abandoned"])
async def test_a_cancellation_that_a_scope_within_took_for_its_own_is_not_logged(end, caplog):
    async def uncancelling(request):
        try:
            await talk.wait(request)
        except asyncio.CancelledError:
            asyncio.current_task().uncancel()
            raise

    caplog.set_level(logging.ERROR)
    async with talking(replace(SETTINGS, drain_ms=50)) as talk:
        talk.uncancelling = uncancelling
        talk.request(77, "uncancelling")
        await talk.until_started(77)
        if end == "cancelled":
            talk.send(note("cancel", requestId=77))
            talk.request(1, "echo")
            assert await talk.receive() == result(1)
        else:
            talk.peer.stop()
    assert (talk.cancelled, talk.left()) == ([77], [])
    assert caplog.records == []
