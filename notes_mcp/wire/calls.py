"""What the layer above gives to a `Peer`, a `Session` that admits `Call`s, and what a call comes to: one frame.

Owns the one mapping from results and exceptions to frames, and the limit of a line. Knows no MCP method and no stream.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol

from notes_mcp.errors import InternalError, RpcError
from notes_mcp.wire.jsonrpc import Notification, Request, RequestId, encode_error, encode_notification, encode_result

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Call:
    """An admitted request, ready to run.

    `run` gives the bare result or raises; `seal` turns that into the result that is sent; `refuse` says what an
    `RpcError` from `run` becomes: an error frame (RpcError), or a result after all (dict, already sealed).
    `counted`: takes one of `max_in_flight` places; False for calls that live as long as the client likes.
    `ready`: `run` never waits for anything, so it is answered in the very step that admits it.
    """

    run: Callable[[], Awaitable[dict[str, Any]]]
    seal: Callable[[dict[str, Any]], dict[str, Any]]
    refuse: Callable[[RpcError], dict[str, Any] | RpcError]
    counted: bool = True
    ready: bool = False


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


class Frames:
    """Answers as frames, none of them longer than `max_line_bytes`."""

    def __init__(self, max_line_bytes: int) -> None:
        self._limit = max_line_bytes

    def result(self, request: Request, call: Call, result: dict[str, Any]) -> bytes:
        """What `call.run` gave."""
        try:
            return self._fit(request.id, encode_result(request.id, call.seal(result)))
        except Exception as error:
            return self.failure(request, call, error)

    def failure(self, request: Request, call: Call, error: BaseException) -> bytes:
        """What `call.run` raised: the only place where an exception becomes an error."""
        try:
            if not isinstance(error, RpcError):
                raise error
            refused = call.refuse(error)
            if isinstance(refused, RpcError):
                return self.error(request.id, refused)
            return self._fit(request.id, encode_result(request.id, refused))
        except BaseException:
            _log.exception("%s failed", request.method)
        return self.error(request.id, InternalError("internal error"))

    def at_once(self, request: Request, call: Call) -> bytes:
        """The frame of a call that is `ready`."""
        running = call.run().__await__()
        try:
            next(running)
        except StopIteration as done:
            return self.result(request, call, done.value)
        except Exception as error:
            return self.failure(request, call, error)
        running.close()
        return self.failure(request, call, RuntimeError(f"{request.method} is not ready: it waits for something"))

    def error(self, request_id: RequestId | None, error: RpcError) -> bytes:
        """An error that is nobody's result."""
        return self._fit(request_id, encode_error(request_id, error))

    def notification(self, method: str, params: dict[str, Any] | None) -> bytes | None:
        """None, logged, for one over the limit."""
        frame = encode_notification(method, params)
        if len(frame) <= self._limit:
            return frame
        _log.error("dropped a %s notification of %d bytes", method, len(frame))
        return None

    def _fit(self, request_id: RequestId | None, frame: bytes) -> bytes:
        if len(frame) <= self._limit:
            return frame
        error = InternalError(f"the answer is {len(frame)} bytes, over the limit of {self._limit}")
        short = encode_error(request_id, error)
        return short if len(short) <= self._limit else encode_error(None, error)
