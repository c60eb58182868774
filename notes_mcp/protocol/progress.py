"""Progress of one call: a `Report` that never blocks in front of a sender that may have to wait.

Owns the order (increasing, all before the answer) and the rate; knows no era and no method.
`run` gives the handler a `Report`; reports wait in one slot, newest wins, until the sender takes them.
"""

import math
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import anyio

from notes_mcp.events import Handler, Report
from notes_mcp.protocol.values import Notify

PROGRESS_MS = 50
"""Least time between two progress notifications of one call."""

Run: TypeAlias = Callable[[], Awaitable[dict[str, Any]]]


def token_of(meta: dict[str, Any]) -> str | int | None:
    """The progress token of a request's `_meta`; None if there is none or it is not a string or an integer."""
    token = meta.get("progressToken")
    if isinstance(token, str) or (isinstance(token, int) and not isinstance(token, bool)):
        return token
    return None


def prepare(handler: Handler, params: dict[str, Any], notify: Notify, *, messages: bool = True) -> Run:
    """What `Call.run` wants: the handler on its params without `_meta`, its reports sent if a token asks for them.

    `messages`: whether the revision has the `message` field. basic/patterns/progress (2026-07-28).
    """
    meta = params.get("_meta") or {}
    bare = {name: value for name, value in params.items() if name != "_meta"}
    token = token_of(meta)
    if token is None:
        return lambda: handler(bare, _ignore)
    return lambda: _Progress(token, notify, messages).run(handler, bare)


def _ignore(done: float, total: float | None, message: str) -> None:
    """The `Report` of a call that nobody follows."""


class _Progress:
    def __init__(self, token: str | int, notify: Notify, messages: bool) -> None:
        self._token = token
        self._notify = notify
        self._messages = messages
        self._done = -math.inf
        self._next: dict[str, Any] | None = None
        self._wake = anyio.Event()
        self._finished = anyio.Event()

    async def run(self, handler: Handler, params: dict[str, Any]) -> dict[str, Any]:
        """The handler's result, after its last report has gone out. Raises what the handler raises."""
        failure: Exception | None = None
        result: dict[str, Any] = {}
        report: Report = self._report
        async with anyio.create_task_group() as group:
            group.start_soon(self._send)
            try:
                result = await handler(params, report)
            except Exception as error:
                failure = error  # raised outside: a task group would wrap it
            self._finished.set()
            self._wake.set()
        if failure is not None:
            raise failure
        return result

    def _report(self, done: float, total: float | None, message: str) -> None:
        # The value must increase; a NaN or an infinity has no JSON. A late call of a finished handler is nobody's.
        if self._finished.is_set() or not math.isfinite(done) or done <= self._done:
            return
        self._done = done
        self._next = {"progressToken": self._token, "progress": done}
        if total is not None and math.isfinite(total):
            self._next["total"] = total
        if message and self._messages:
            self._next["message"] = message
        self._wake.set()

    async def _send(self) -> None:
        while True:
            await self._wake.wait()
            self._wake = anyio.Event()
            if self._next is not None:
                params, self._next = self._next, None
                await self._notify("notifications/progress", params)
            if self._finished.is_set():
                if self._next is None:
                    return
                self._wake.set()
                continue
            with anyio.move_on_after(PROGRESS_MS / 1000):
                await self._finished.wait()
            if self._finished.is_set():
                self._wake.set()
