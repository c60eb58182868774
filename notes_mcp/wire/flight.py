"""The calls between admission and answer: those that run, each in a task of its own, and those that wait for a place.

Owns the table of ids, the bound on work at once and on what waits for it, and cancellation: a call is taken out the
moment that is asked for, and is never answered after that, however long its task takes to end. On the loop only.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from notes_mcp.settings import Settings
from notes_mcp.wire.calls import Call
from notes_mcp.wire.jsonrpc import Request, RequestId

Sink: TypeAlias = Callable[[RequestId | None, bytes | None], None]
"""Takes the one answer to a message, or None when it must not have one. Called once per message."""

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Entry:
    """One call. `size`: bytes of the line it came in. `cancelled`: nobody wants its outcome any more."""

    request: Request
    call: Call
    sink: Sink
    size: int
    cancelled: bool = False


class Flight:
    """`answer(entry)` runs in the task of each call; `ended()` is called whenever one is over."""

    def __init__(
        self, settings: Settings, answer: Callable[[Entry], Awaitable[None]], ended: Callable[[], None]
    ) -> None:
        self._settings = settings
        self._answer = answer
        self._ended = ended
        self._by_id: dict[RequestId, Entry] = {}
        self._waiting: dict[Entry, None] = {}
        self._running: dict[Entry, asyncio.Task[None]] = {}
        self._held_bytes = 0
        self.counted = 0
        """Calls that take a place, waiting ones included."""

    def __contains__(self, request_id: RequestId) -> bool:
        return request_id in self._by_id

    @property
    def running(self) -> int:
        """Calls that are not over, cancelled ones whose task still runs included."""
        return len(self._running) + len(self._waiting)

    @property
    def has_room(self) -> bool:
        """Whether one more call may come. Cancellations are read as long as there is room for what waits."""
        return len(self._waiting) < self._settings.max_waiting and self._held_bytes < self._settings.max_waiting_bytes

    def add(self, entry: Entry) -> None:
        """Runs the call as soon as there is a place for it."""
        self._by_id[entry.request.id] = entry
        if not entry.call.counted:
            self._start(entry)
            return
        self.counted += 1
        self._held_bytes += entry.size
        if self.counted - len(self._waiting) <= self._settings.max_in_flight:
            self._start(entry)
        else:
            self._waiting[entry] = None

    def cancel(self, request_id: RequestId) -> None:
        """The call ends now, without an answer. An id that is not in flight is no error."""
        entry = self._by_id.pop(request_id, None)
        if entry is None:
            return
        entry.cancelled = True
        entry.sink(None, None)
        if entry in self._waiting:
            del self._waiting[entry]
            self._over(entry)
        else:
            self._running[entry].cancel()

    def land(self, entry: Entry) -> bool:
        """Frees the id; False if the call was cancelled, so that it must not be answered."""
        if self._by_id.get(entry.request.id) is not entry:
            return False
        del self._by_id[entry.request.id]
        return True

    async def abandon(self) -> None:
        """Cancels every call that is left, unanswered, and waits for their tasks."""
        self._waiting.clear()
        for entry, task in self._running.items():
            entry.cancelled = True
            task.cancel()
        if self._running:
            await asyncio.wait(self._running.values())

    def _start(self, entry: Entry) -> None:
        task = asyncio.ensure_future(self._answer(entry))
        self._running[entry] = task
        task.add_done_callback(lambda done: self._done(entry, done))

    def _done(self, entry: Entry, task: asyncio.Future[None]) -> None:
        del self._running[entry]
        self.land(entry)  # one that was cancelled before its first step
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("a %s request could not be answered", entry.request.method, exc_info=error)
        self._over(entry)

    def _over(self, entry: Entry) -> None:
        if entry.call.counted:
            self.counted -= 1
            self._held_bytes -= entry.size
        while self._waiting and self.counted - len(self._waiting) < self._settings.max_in_flight:
            following = next(iter(self._waiting))
            del self._waiting[following]
            self._start(following)
        self._ended()
