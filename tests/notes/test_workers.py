"""The worker threads: nothing waits for ever behind what is slow."""

import asyncio
import threading

import anyio
import pytest

from notes_mcp.notes.workers import Workers

DEADLINE_S = 30


@pytest.mark.parametrize("quick_before", [0, 1, 20])
async def test_what_waits_behind_a_slow_job_is_taken_up_by_another_thread(quick_before: int) -> None:
    workers, ended = Workers(), threading.Event()
    quick = [workers.read(lambda: None) for _ in range(quick_before)]
    with anyio.fail_after(DEADLINE_S):
        *_, in_time, _ = await asyncio.gather(
            *quick, workers.read(lambda: ended.wait(DEADLINE_S)), workers.read(ended.set)
        )
    assert in_time
    workers.stop()
