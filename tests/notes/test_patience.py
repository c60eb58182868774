"""Work that nobody waits for any more ends, so that the thread is free for the next."""

import threading
from pathlib import Path

import anyio
import pytest
from _served import DEADLINE_S, fill, serving

from notes_mcp.notes import patience
from notes_mcp.notes.asking import finding
from notes_mcp.notes.workers import READERS, Workers


async def test_work_in_a_thread_ends_when_its_caller_is_cancelled() -> None:
    workers = Workers()
    started, ended = threading.Event(), threading.Event()

    def forever() -> None:
        started.set()
        try:
            while True:
                patience.still_wanted()
        finally:
            ended.set()

    with anyio.fail_after(DEADLINE_S):
        async with anyio.create_task_group() as tasks:
            for _ in range(READERS + 5):
                tasks.start_soon(workers.read, forever)
            await workers.write(started.wait)
            tasks.cancel_scope.cancel()
        assert await anyio.to_thread.run_sync(ended.wait, DEADLINE_S)
        await workers.drained()
        assert await workers.read(lambda: 7) == 7


def test_work_outside_of_the_threads_is_always_wanted() -> None:
    patience.still_wanted()


async def test_work_that_is_waited_for_is_wanted() -> None:
    await Workers().read(patience.still_wanted)


@pytest.mark.parametrize("mode", ["words", "exact", "regex"])
async def test_cancelled_searches_do_not_hold_up_the_next_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    """Each cancelled search stops at the next note, having read few of them."""
    root = fill(tmp_path / "n", {f"{n}.md": "word\n" for n in range(40)})
    reading, go = threading.Event(), threading.Event()
    read: list[str] = []
    original = finding._decoded

    def slow(folder, path):
        read.append(path)
        reading.set()
        go.wait(DEADLINE_S)
        return original(folder, path)

    async with serving(tmp_path, root) as (library, _):
        monkeypatch.setattr(finding, "_decoded", slow)
        with anyio.fail_after(DEADLINE_S):
            async with anyio.create_task_group() as tasks:
                for _ in range(8):

                    async def search() -> None:
                        await library.search("word", mode=mode, limit=40)

                    tasks.start_soon(search)
                await anyio.to_thread.run_sync(reading.wait)
                tasks.cancel_scope.cancel()
            go.set()
            assert len(read) <= READERS
            assert (await library.list_notes()).total == 40
