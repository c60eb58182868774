"""The worker threads of a library: one that writes (index and notes), a few that read beside it.

The only way from the event loop into them; owns nothing but their limits and the writes under way.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import anyio
from anyio import from_thread, to_thread  # noqa: TID251 - this module is where threads are used

from notes_mcp.notes import patience

READERS = 3
T = TypeVar("T")


class Workers:
    """Each method runs `work` in a thread and gives back what it returns or raises."""

    def __init__(self) -> None:
        self._writing = anyio.CapacityLimiter(1)
        self._reading = anyio.CapacityLimiter(READERS)
        self._whole: set[asyncio.Task[Any]] = set()

    async def write(self, work: Callable[[], T]) -> T:
        """In the one writer thread, after what was asked for before."""
        return await to_thread.run_sync(work, limiter=self._writing)

    async def read(self, work: Callable[[], T]) -> T:
        """In one of the reader threads. Long work of a caller that is gone ends where it asks `patience`."""

        def wanted() -> T:
            patience.ask_by(from_thread.check_cancelled)
            return work()

        return await to_thread.run_sync(wanted, limiter=self._reading)

    async def to_the_end(self, work: Coroutine[Any, Any, T]) -> T:
        """A task of its own: a caller that is cancelled meanwhile only stops waiting for it."""
        task = asyncio.ensure_future(work)
        self._whole.add(task)
        task.add_done_callback(self._over)
        return await asyncio.shield(task)

    async def drained(self) -> None:
        """Returns when all that goes `to_the_end` has got there."""
        if self._whole:
            await asyncio.wait(self._whole)

    def _over(self, task: asyncio.Task[Any]) -> None:
        self._whole.discard(task)
        if not task.cancelled():
            task.exception()  # of a caller that is gone: nobody else would look at it
