"""The era of the handshake, 2024-11-05 to 2025-11-25: `initialize` chooses a revision for the connection.

Owns the only handshake state of the program, `ping`, `resources/subscribe` and the older error codes.
Admission is synchronous and in wire order, so what is pipelined behind `initialize` needs no special case.
"""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from notes_mcp.errors import (
    InvalidArguments,
    InvalidParams,
    InvalidRequest,
    MethodNotFound,
    ResourceBusy,
    ResourceForbidden,
    ResourceNotFound,
    RpcError,
)
from notes_mcp.events import Handler, PromptsChanged, ResourcesChanged
from notes_mcp.protocol.progress import Run, prepare
from notes_mcp.protocol.revisions import has, trim
from notes_mcp.protocol.subscriptions import Hub, Subscription
from notes_mcp.protocol.values import LEGACY_REVISIONS, PROTOCOL_VERSION, Notify, Server, Watched
from notes_mcp.wire.calls import Call
from notes_mcp.wire.jsonrpc import Request, RequestId

INITIALIZE, PING = "initialize", "ping"
SUBSCRIBE, UNSUBSCRIBE = "resources/subscribe", "resources/unsubscribe"

CODES: dict[type[RpcError], int] = {ResourceNotFound: -32002, ResourceForbidden: -32001, ResourceBusy: -32000}
"""Errors that had another code before 2026-07-28."""


class Legacy:
    """The era of one connection. `revision` is None until `initialize` has been admitted."""

    def __init__(
        self, server: Server, handlers: Mapping[str, Handler], watched: Watched, hub: Hub, notify: Notify
    ) -> None:
        subscribing = [SUBSCRIBE, UNSUBSCRIBE] if server.declares("resources", "subscribe") else []
        self.methods = sorted({*handlers, INITIALIZE, PING, *subscribing})
        self.revision: str | None = None
        self._server = server
        self._handlers = handlers
        self._watched = watched
        self._hub = hub
        self._notify = notify
        self._initializing: RequestId | None = None
        # URI -> the newest subscribe that is on its way. Weak: one that is dropped before it runs leaves nothing.
        self._pending: WeakValueDictionary[str, _Intent] = WeakValueDictionary()
        self._stream: Subscription | None = None
        self._delivery: asyncio.Task[None] | None = None

    def admit(self, request: Request) -> Call:
        """The call that answers the request.

        Raises MethodNotFound, InvalidRequest before `initialize` or for a second one, InvalidParams.
        basic/lifecycle (2025-11-25).
        """
        method = request.method
        if method not in self.methods:
            raise MethodNotFound(f"no method {method!r} in this revision", {"methods": self.methods})
        if method == INITIALIZE:
            return self._initialize(request)
        if method == PING:
            return self._call(method, _nothing, ready=True)
        if self.revision is None:
            raise InvalidRequest(
                f"{method} before initialize: send initialize first, or {PROTOCOL_VERSION} in params._meta"
            )
        if method == SUBSCRIBE:
            return self._call(method, self._subscribe(_uri(request)))
        if method == UNSUBSCRIBE:
            return self._call(method, self._unsubscribe(_uri(request)))
        messages = has(self.revision, "2025-03-26")
        return self._call(method, prepare(self._handlers[method], request.params, self._notify, messages=messages))

    def seal(self, method: str, result: dict[str, Any]) -> dict[str, Any]:
        """The result with only what the negotiated revision knows."""
        return trim(method, result, self.revision or LEGACY_REVISIONS[0])

    def refuse(self, method: str, error: RpcError) -> dict[str, Any] | RpcError:
        """The error with the code of its time; since 2025-11-25 bad tool arguments are for the model to read."""
        if isinstance(error, InvalidArguments):
            if method == "tools/call" and self.revision == LEGACY_REVISIONS[0]:
                return self.seal(method, {"content": [{"type": "text", "text": error.message}], "isError": True})
            return error
        code = CODES.get(type(error))
        if code is None:
            return error
        older = RpcError(error.message, error.data)
        older.code = code
        return older

    def may_cancel(self, request_id: RequestId) -> bool:
        """False for the `initialize` that is under way (basic/utilities/cancellation, 2025-11-25)."""
        return not (type(request_id) is type(self._initializing) and request_id == self._initializing)

    def initialized(self) -> None:
        """The client is ready: changes of the lists may go out from now on."""
        if self.revision is not None:
            self._open()

    async def close(self, patience_ms: int) -> None:
        """Ends the stream; what is unsent may still go out for so long."""
        if self._stream is None or self._delivery is None:
            return
        self._stream.end()
        try:
            await asyncio.wait({self._delivery}, timeout=patience_ms / 1000)
        finally:
            self._delivery.cancel()
            self._hub.close(self._stream)
        await asyncio.wait({self._delivery})
        if not self._delivery.cancelled():
            self._delivery.result()

    def _call(self, method: str, run: Run, *, ready: bool = False) -> Call:
        return Call(run=run, seal=partial(self.seal, method), refuse=partial(self.refuse, method), ready=ready)

    def _initialize(self, request: Request) -> Call:
        if self.revision is not None:
            raise InvalidRequest("initialize was already received on this connection")
        wanted = _check_handshake(request.params)
        self.revision = wanted if wanted in LEGACY_REVISIONS else LEGACY_REVISIONS[0]
        self._initializing = request.id
        return self._call(INITIALIZE, self._greet, ready=True)

    async def _greet(self) -> dict[str, Any]:
        self._initializing = None
        server = self._server
        instructions = {} if server.instructions is None else {"instructions": server.instructions}
        return {
            "protocolVersion": self.revision,
            "capabilities": server.capabilities,
            "serverInfo": server.info,
            **instructions,
        }

    def _subscribe(self, uri: str) -> Run:
        # An unsubscribe that is read while this one waits must win, and so must a newer subscribe.
        mine = self._pending[uri] = _Intent()

        async def run() -> dict[str, Any]:
            stream = self._open()
            canonical = (await self._watched.accept([uri])).get(uri)
            if canonical is None:
                raise ResourceNotFound("no such resource can be subscribed to", {"uri": uri})
            if self._pending.get(uri) is mine:
                self._hub.watch(stream, canonical, uri)
            return {}

        return run

    def _unsubscribe(self, uri: str) -> Run:
        self._pending.pop(uri, None)
        stream = self._stream
        if stream is None:
            return _nothing
        self._hub.unwatch(stream, uri)

        async def run() -> dict[str, Any]:
            await stream.withdraw(uri)
            return {}

        return run

    def _open(self) -> Subscription:
        if self._stream is None:
            self._stream = self._hub.open(self._notify)
            if self._server.declares("resources", "listChanged"):
                self._hub.follow(self._stream, ResourcesChanged)
            if self._server.declares("prompts", "listChanged"):
                self._hub.follow(self._stream, PromptsChanged)
            self._delivery = asyncio.get_running_loop().create_task(self._stream.deliver())
        return self._stream


class _Intent:
    """Wanting to be subscribed to one URI."""


async def _nothing() -> dict[str, Any]:
    return {}


def _uri(request: Request) -> str:
    uri = request.params.get("uri")
    if not isinstance(uri, str) or not uri:
        raise InvalidParams("uri must be a string that is not empty")
    return uri


def _check_handshake(params: dict[str, Any]) -> str:
    """The revision the client asks for. Raises InvalidParams if a required field is missing or ill-typed."""
    version, info = params.get("protocolVersion"), params.get("clientInfo")
    if not isinstance(version, str):
        raise InvalidParams("protocolVersion must be a string")
    if not isinstance(params.get("capabilities"), dict):
        raise InvalidParams("capabilities must be an object")
    if not isinstance(info, dict) or not isinstance(info.get("name"), str) or not isinstance(info.get("version"), str):
        raise InvalidParams("clientInfo must be an object with the strings name and version")
    return version
