"""The one place between lines and a `Session`: admits in wire order, runs what has to wait in tasks, answers.

Owns batches, the order of admission and how serving comes to its end. Touches no file descriptor and knows no MCP
method. Flow: a line -> `decode` -> `session.admit` -> answered at once if the call is `ready`, else by a task of
`Flight`: `Call.run` -> `Frames` -> `Stream.send`.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import anyio

from notes_mcp.errors import InternalError, InvalidRequest, RpcError
from notes_mcp.settings import Settings
from notes_mcp.wire.batch import Gathering
from notes_mcp.wire.calls import Frames, Session
from notes_mcp.wire.flight import Entry, Flight, Sink
from notes_mcp.wire.jsonrpc import Batch, Ignored, Invalid, Message, Notification, Request, RequestId, decode
from notes_mcp.wire.lines import Oversized

LAST_SHARE = 4  # of `drain_ms`

_log = logging.getLogger(__name__)


class Stream(Protocol):
    """Lines in both directions."""

    async def read(self, take: Callable[[bytes | Oversized], bool]) -> None:
        """Calls `take` with each line, without LF, in order, and returns at the end of the input.

        After `take` said False no line is given until `resume`; nor while `full`.
        """

    def resume(self) -> None:
        """Lines are wanted again."""

    def send(self, line: bytes) -> None:
        """Takes one line without LF at once, and keeps the order of the calls."""

    @property
    def full(self) -> bool:
        """Whether more is waiting to be sent than should be."""

    async def room(self) -> None:
        """Returns when it is not `full` any more."""


class Peer:
    """One JSON-RPC connection. One `serve` per Peer.

    `busy()` says, after the end of the input, that somebody is at something that must not be given up.
    """

    def __init__(self, stream: Stream, settings: Settings, busy: Callable[[], bool] = lambda: False) -> None:
        self._stream = stream
        self._settings = settings
        self._busy = busy
        self._frames = Frames(settings.max_line_out_bytes)
        self._flight = Flight(settings, self._answer, self._one_ended)
        self._ends = 0
        self._stopped = False
        self._deadline = float("inf")
        self._reading: anyio.CancelScope | None = None
        self._waiting: asyncio.Future[None] | None = None

    async def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Sends a notification; waits while the client is slow. One over the line limit is dropped and logged."""
        frame = self._frames.notification(method, params)
        if frame is not None:
            self._stream.send(frame)
            if self._stream.full:
                await self._stream.room()

    async def serve(self, session: Session) -> None:
        """Reads and answers until EOF or `stop`, then lets calls in flight finish and returns.

        After EOF patience ends when no call finished for `silence_ms` and nobody is `busy`; after `stop`, `drain_ms`
        later in any case. What still runs then is cancelled without an answer. `session.close` is called once,
        before the end.
        """
        try:
            with anyio.CancelScope() as self._reading:
                if not self._stopped:
                    await self._stream.read(partial(self._take, session))
            await self._drain(session)
        finally:
            await self._flight.abandon()

    def stop(self) -> None:
        """Ends `serve` as EOF does, but at once: nothing more is read. For the loop's own thread; may be repeated."""
        if self._stopped:
            return
        self._stopped = True
        self._deadline = anyio.current_time() + self._settings.drain_ms / 1000
        if self._reading is not None:
            self._reading.cancel()
        self._wake()

    def _take(self, session: Session, line: bytes | Oversized) -> bool:
        """One line; whether there is room for what the next one may ask."""
        if isinstance(line, Oversized):
            limit = self._settings.max_line_in_bytes
            message: Message = Invalid(None, InvalidRequest(f"the line is over the limit of {limit} bytes"))
            size = 0
        else:
            message, size = decode(line), len(line)
        if isinstance(message, Batch):
            self._receive_batch(message, session, size)
        else:
            self._receive(message, session, self._send, size)
        return self._flight.has_room

    def _receive(
        self, message: Request | Notification | Ignored | Invalid, session: Session, sink: Sink, size: int
    ) -> None:
        match message:
            case Request():
                self._admit(message, session, sink, size)
                return
            case Notification():
                self._notice(message, session)
                sink(None, None)
            case Invalid(request_id, error):
                _log.debug("invalid message: %s", error)
                sink(request_id, self._frames.error(request_id, error))
            case Ignored(why):
                _log.debug("ignored %s", why)
                sink(None, None)

    def _receive_batch(self, batch: Batch, session: Session, size: int) -> None:
        if not session.accepts_batch():
            error = InvalidRequest("batches exist only in revision 2025-03-26")
            self._send(None, self._frames.error(None, error))
            return
        if not batch.items:
            error = InvalidRequest("a batch must hold at least one message")
            self._send(None, self._frames.error(None, error))
            return
        gathering = Gathering(len(batch.items), self._stream.send, self._settings.max_line_out_bytes)
        for index, item in enumerate(batch.items):
            message = item
            if isinstance(message, Request) and message.method == "initialize":
                # 2025-03-26 basic/lifecycle: initialize MUST NOT be part of a batch.
                message = Invalid(message.id, InvalidRequest("initialize must not be part of a batch"))
            self._receive(message, session, partial(gathering.take, index), size // len(batch.items))

    def _admit(self, request: Request, session: Session, sink: Sink, size: int) -> None:
        try:
            if request.id in self._flight:
                raise InvalidRequest("a request with this id is still in flight")
            call = session.admit(request)
        except RpcError as error:
            sink(request.id, self._frames.error(request.id, error))
            return
        except Exception:
            _log.exception("could not admit a %s request", request.method)
            sink(request.id, self._frames.error(request.id, InternalError("internal error")))
            return
        if call.ready:
            sink(request.id, self._frames.at_once(request, call))
        else:
            self._flight.add(Entry(request, call, sink, size))

    def _notice(self, notification: Notification, session: Session) -> None:
        try:
            cancelled = session.notice(notification)
        except Exception:
            _log.exception("could not take note of %s", notification.method)
            return
        # Compared by type too: to a dict, True and 1.0 are 1.
        if type(cancelled) in (int, str):
            self._flight.cancel(cancelled)  # type: ignore[arg-type]

    async def _answer(self, entry: Entry) -> None:
        request, call = entry.request, entry.call
        try:
            result = await call.run()
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            # Scopes within the call may have counted the task's cancellation as theirs.
            if entry.cancelled or task is None or task.cancelling():
                raise
            # Nobody cancelled this call: something it awaited was cancelled, which is a fault like any other.
            frame = self._frames.failure(request, call, error)
        except (Exception, BaseExceptionGroup) as error:
            frame = self._frames.failure(request, call, error)
        else:
            frame = self._frames.result(request, call, result)
        if self._flight.land(entry):
            # The id is free before the write: whoever has the answer may use it again.
            entry.sink(request.id, frame)
            if self._stream.full:
                await self._stream.room()

    def _send(self, _: RequestId | None, frame: bytes | None) -> None:
        if frame is not None:
            self._stream.send(frame)

    def _one_ended(self) -> None:
        self._ends += 1
        self._wake()
        self._stream.resume()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def _drain(self, session: Session) -> None:
        if not await self._patiently(lambda: self._flight.counted == 0):
            _log.warning("calls in flight did not finish in time")
        with anyio.move_on_after(self._settings.drain_ms / 1000):
            try:
                await session.close()
            except Exception:
                _log.exception("could not end the session in order")
        # However late it is, long-lived calls get a moment to return and be answered.
        self._deadline = max(self._deadline, anyio.current_time() + self._settings.drain_ms / 1000 / LAST_SHARE)
        await self._patiently(lambda: self._flight.running == self._flight.counted)

    async def _patiently(self, done: Callable[[], bool]) -> bool:
        """Waits until `done`; gives up past the deadline set by `stop`, or in a silence in which nobody is `busy`."""
        while not done():
            ends, deadline = self._ends, self._deadline
            patience = anyio.current_time() + self._settings.silence_ms / 1000
            with anyio.CancelScope(deadline=min(patience, deadline)):
                await self._until_one_ends()
            late = anyio.current_time() >= self._deadline
            if self._ends == ends and self._deadline == deadline and (late or not self._busy()):
                return done()
        return True

    async def _until_one_ends(self) -> None:
        self._waiting = asyncio.get_running_loop().create_future()
        try:
            await self._waiting
        finally:
            self._waiting = None
