"""The one loop between lines and a `Session`: admits in wire order, runs each call in its own task, answers.

Owns the table of requests in flight, cancellation, the bound on work at once, batches, and the one mapping from
exceptions to error frames. Touches no file descriptor and knows no MCP method. Flow: lines -> `decode` ->
`session.admit` -> a task: `Call.run` -> `Call.seal` -> `encode` -> write.
"""

import asyncio
import logging
from collections.abc import AsyncIterable, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeAlias

import anyio
import anyio.lowlevel

from notes_mcp.errors import InternalError, InvalidRequest, RpcError
from notes_mcp.settings import Settings
from notes_mcp.wire.batch import Gathering
from notes_mcp.wire.jsonrpc import (
    Batch,
    Ignored,
    Invalid,
    Message,
    Notification,
    Oversized,
    Request,
    RequestId,
    decode,
    encode_error,
    encode_notification,
    encode_result,
)

LINES_PER_TURN = 32
LAST_SHARE = 4  # of `drain_ms`

Write: TypeAlias = Callable[[bytes], Awaitable[None]]
Sink: TypeAlias = Callable[[RequestId | None, bytes | None], Awaitable[None]]
"""Takes the one answer to a message, or None when it must not have one. Called exactly once per message."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Call:
    """An admitted request, ready to run.

    `run` gives the bare result or raises; `seal` turns that into the result that is sent; `refuse` says what an
    `RpcError` from `run` becomes: an error frame (RpcError), or a result after all (dict, already sealed).
    `counted`: takes one of `max_in_flight` places; False for calls that live as long as the client likes.
    """

    run: Callable[[], Awaitable[dict[str, Any]]]
    seal: Callable[[dict[str, Any]], dict[str, Any]]
    refuse: Callable[[RpcError], dict[str, Any] | RpcError]
    counted: bool = True


class Session(Protocol):
    """What the messages mean. Every method but `close` is synchronous and called in wire order."""

    def admit(self, request: Request) -> Call:
        """The call for this request. Raises the RpcError that is its answer."""

    def notice(self, notification: Notification) -> RequestId | None:
        """Takes note of it; returns the id of the request to cancel, if it asks for that."""

    def accepts_batch(self) -> bool:
        """Whether the client speaks a revision with batches."""

    async def close(self) -> None:
        """Ends long-lived calls gracefully: their `run` returns."""


class Peer:
    """One JSON-RPC connection.

    `lines` gives lines without LF and ends at EOF; `write` takes one line without LF, keeps the order of the calls,
    and waits while the other side is slow. One `serve` per Peer.
    """

    def __init__(self, lines: AsyncIterable[bytes | Oversized], write: Write, settings: Settings) -> None:
        self._lines = lines
        self._write = write
        self._settings = settings
        self._in_flight: dict[RequestId, _InFlight] = {}
        self._counted = 0
        self._running: dict[_InFlight, asyncio.Task[None]] = {}
        self._stopped = False
        self._deadline = float("inf")
        self._reading: anyio.CancelScope | None = None
        self._waiting: asyncio.Future[None] | None = None

    async def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Sends a notification; waits while the client is slow. One over the line limit is dropped and logged."""
        frame = encode_notification(method, params)
        if len(frame) > self._settings.max_line_out_bytes:
            _log.error("dropped a %s notification of %d bytes", method, len(frame))
            return
        await self._write(frame)

    async def serve(self, session: Session) -> None:
        """Reads and answers until EOF or `stop`, then lets calls in flight finish and returns.

        Patience ends `drain_ms` after the last call that finished (after `stop`: `drain_ms` in all); what still
        runs then is cancelled without an answer. `session.close` is called once, before the end.
        """
        # asyncio's own group: a task of anyio's costs 25 us more, a third of what a ping takes here.
        async with asyncio.TaskGroup() as tasks:
            with anyio.CancelScope() as self._reading:
                if self._stopped:
                    self._reading.cancel()
                await self._read(session, tasks)
            await self._drain(session)
            for entry, task in self._running.items():
                entry.scope.cancel()
                task.cancel()

    def stop(self) -> None:
        """Ends `serve` as EOF does, but at once: nothing more is read. For the loop's own thread; may be repeated."""
        if self._stopped:
            return
        self._stopped = True
        self._deadline = anyio.current_time() + self._settings.drain_ms / 1000
        if self._reading is not None:
            self._reading.cancel()
        self._wake()

    async def _read(self, session: Session, tasks: asyncio.TaskGroup) -> None:
        turn = 0
        async for line in self._lines:
            if self._stopped:
                return
            if isinstance(line, Oversized):
                limit = self._settings.max_line_in_bytes
                message: Message = Invalid(None, InvalidRequest(f"the line is over the limit of {limit} bytes"))
            else:
                message = decode(line)
            if isinstance(message, Batch):
                await self._receive_batch(message, session, tasks)
            else:
                await self._receive(message, session, tasks, self._send)
            turn += 1
            if turn >= LINES_PER_TURN:
                # A client that always has a line ready must not keep the calls from running.
                turn = 0
                await anyio.lowlevel.checkpoint()

    async def _receive(
        self,
        message: Request | Notification | Ignored | Invalid,
        session: Session,
        tasks: asyncio.TaskGroup,
        sink: Sink,
    ) -> None:
        match message:
            case Request():
                await self._admit(message, session, tasks, sink)
                return
            case Notification():
                self._notice(message, session)
                await sink(None, None)
            case Invalid(request_id, error):
                _log.debug("invalid message: %s", error)
                await sink(request_id, self._frame(request_id, error))
            case Ignored(why):
                _log.debug("ignored %s", why)
                await sink(None, None)

    async def _receive_batch(self, batch: Batch, session: Session, tasks: asyncio.TaskGroup) -> None:
        if not session.accepts_batch():
            await self._send(None, encode_error(None, InvalidRequest("batches exist only in revision 2025-03-26")))
            return
        if not batch.items:
            await self._send(None, encode_error(None, InvalidRequest("a batch must hold at least one message")))
            return
        gathering = Gathering(len(batch.items), self._write, self._settings.max_line_out_bytes)
        for index, item in enumerate(batch.items):
            message = item
            if isinstance(message, Request) and message.method == "initialize":
                # 2025-03-26 basic/lifecycle: initialize MUST NOT be part of a batch.
                message = Invalid(message.id, InvalidRequest("initialize must not be part of a batch"))
            await self._receive(message, session, tasks, partial(gathering.take, index))

    async def _admit(self, request: Request, session: Session, tasks: asyncio.TaskGroup, sink: Sink) -> None:
        while self._counted >= self._settings.max_in_flight:
            await self._until_one_ends()
        try:
            if request.id in self._in_flight:
                raise InvalidRequest("a request with this id is still in flight")
            call = session.admit(request)
        except RpcError as error:
            await sink(request.id, self._frame(request.id, error))
            return
        except Exception:
            _log.exception("could not admit a %s request", request.method)
            await sink(request.id, self._frame(request.id, InternalError("internal error")))
            return
        entry = _InFlight(request, call, anyio.CancelScope())
        self._in_flight[request.id] = entry
        self._counted += call.counted
        self._running[entry] = tasks.create_task(self._answer(entry, sink))

    def _notice(self, notification: Notification, session: Session) -> None:
        try:
            cancelled = session.notice(notification)
        except Exception:
            _log.exception("could not take note of %s", notification.method)
            return
        # Compared by type too: to a dict, True and 1.0 are 1.
        if type(cancelled) in (int, str) and (entry := self._in_flight.pop(cancelled, None)):  # type: ignore[arg-type]
            entry.scope.cancel()

    async def _answer(self, entry: "_InFlight", sink: Sink) -> None:
        request_id = entry.request.id
        frame: bytes | None = None
        try:
            with entry.scope:
                if not entry.scope.cancel_called:
                    frame = await self._outcome(entry)
            if self._in_flight.get(request_id) is entry:
                # Before the write: whoever has the answer may use the id again.
                del self._in_flight[request_id]
            else:
                frame = None
            await sink(request_id, frame)
        finally:
            if self._in_flight.get(request_id) is entry:
                del self._in_flight[request_id]
            self._counted -= entry.call.counted
            del self._running[entry]
            self._wake()

    async def _outcome(self, entry: "_InFlight") -> bytes:
        """The answer as a frame: the only place where an exception becomes an error."""
        request, call = entry.request, entry.call
        try:
            try:
                result = call.seal(await call.run())
            except RpcError as error:
                refused = call.refuse(error)
                if isinstance(refused, RpcError):
                    return self._frame(request.id, refused)
                result = refused
            return self._fit(request.id, encode_result(request.id, result))
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # Nobody cancelled this call: something it awaited was cancelled, which is a fault like any other.
            _log.exception("%s failed", request.method)
        except (Exception, BaseExceptionGroup):
            _log.exception("%s failed", request.method)
        return self._frame(request.id, InternalError("internal error"))

    def _frame(self, request_id: RequestId | None, error: RpcError) -> bytes:
        return self._fit(request_id, encode_error(request_id, error))

    def _fit(self, request_id: RequestId | None, frame: bytes) -> bytes:
        limit = self._settings.max_line_out_bytes
        if len(frame) <= limit:
            return frame
        error = InternalError(f"the answer is {len(frame)} bytes, over the limit of {limit}")
        short = encode_error(request_id, error)
        return short if len(short) <= limit else encode_error(None, error)

    async def _send(self, _: RequestId | None, frame: bytes | None) -> None:
        if frame is not None:
            await self._write(frame)

    async def _until_one_ends(self) -> None:
        """Returns when a call has ended, or `stop` was called. One waiter at a time: the reading loop."""
        self._waiting = asyncio.get_running_loop().create_future()
        try:
            await self._waiting
        finally:
            self._waiting = None

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def _drain(self, session: Session) -> None:
        if not await self._patiently(lambda: self._counted == 0):
            _log.warning("calls in flight did not finish in time")
        with anyio.move_on_after(self._settings.drain_ms / 1000):
            try:
                await session.close()
            except Exception:
                _log.exception("could not end the session in order")
        # However late it is, long-lived calls get a moment to return and be answered.
        self._deadline = max(self._deadline, anyio.current_time() + self._settings.drain_ms / 1000 / LAST_SHARE)
        await self._patiently(lambda: len(self._running) == self._counted)

    async def _patiently(self, done: Callable[[], bool]) -> bool:
        """Waits until `done`; gives up when no call ended for `drain_ms`, or past the deadline set by `stop`."""
        while not done():
            running, deadline = len(self._running), self._deadline
            patience = anyio.current_time() + self._settings.drain_ms / 1000
            with anyio.CancelScope(deadline=min(patience, deadline)):
                await self._until_one_ends()
            if len(self._running) == running and self._deadline == deadline:
                return done()
        return True


@dataclass(slots=True, eq=False)
class _InFlight:
    request: Request
    call: Call
    scope: anyio.CancelScope
