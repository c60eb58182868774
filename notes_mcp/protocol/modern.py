"""The stateless era, 2026-07-28: every request brings its own `_meta` and is judged by it alone.

Owns the envelope checks, `server/discover`, `subscriptions/listen`, `resultType` and the cache hints.
Keeps nothing between requests but the streams that are open, so that `close` can end them.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from notes_mcp.errors import (
    InvalidArguments,
    InvalidParams,
    MethodNotFound,
    RpcError,
    UnsupportedVersion,
)
from notes_mcp.events import Handler, PromptsChanged, ResourcesChanged
from notes_mcp.protocol.progress import Run, prepare, token_of
from notes_mcp.protocol.subscriptions import Hub, Subscription
from notes_mcp.protocol.values import (
    CLIENT_CAPABILITIES,
    CLIENT_INFO,
    LEGACY_REVISIONS,
    LOG_LEVEL,
    MODERN_REVISIONS,
    PROTOCOL_VERSION,
    REVISIONS,
    SERVER_INFO,
    SUBSCRIPTION_ID,
    Notify,
    Server,
    Watched,
)
from notes_mcp.settings import Settings
from notes_mcp.wire.calls import Call
from notes_mcp.wire.jsonrpc import Request

DISCOVER = "server/discover"
LISTEN = "subscriptions/listen"
METHODS = frozenset({DISCOVER, LISTEN})
"""The methods that exist in this era only."""

# server/utilities/caching: notes change under us at any time, so what shows them is stale at once;
# what is fixed for the life of the process may be kept for a while.
CACHE: dict[str, dict[str, Any]] = {
    DISCOVER: {"ttlMs": 3_600_000, "cacheScope": "public"},
    "tools/list": {"ttlMs": 300_000, "cacheScope": "public"},
    "resources/templates/list": {"ttlMs": 300_000, "cacheScope": "public"},
    "resources/list": {"ttlMs": 0, "cacheScope": "private"},
    "resources/read": {"ttlMs": 0, "cacheScope": "private"},
    "prompts/list": {"ttlMs": 0, "cacheScope": "private"},
}
LOG_LEVELS = frozenset({"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"})
CLIENT_FEATURES = ("experimental", "roots", "sampling", "elicitation", "extensions")
FLAGS = {
    "toolsListChanged": ("tools", "listChanged"),
    "promptsListChanged": ("prompts", "listChanged"),
    "resourcesListChanged": ("resources", "listChanged"),
}
"""Switches of a listen filter -> the capability that must be declared for it to be honoured."""


class Modern:
    """The era of one connection. `methods` are those a request may name, sorted."""

    def __init__(
        self,
        server: Server,
        handlers: Mapping[str, Handler],
        watched: Watched,
        hub: Hub,
        notify: Notify,
        settings: Settings,
    ) -> None:
        self.methods = sorted({*handlers, *METHODS})
        self._server = server
        self._handlers = handlers
        self._watched = watched
        self._hub = hub
        self._notify = notify
        # The acknowledgment repeats the URIs and must fit a line; JSON takes at most six bytes for a character.
        self._uri_chars = settings.max_line_out_bytes // 8
        self._streams: set[Subscription] = set()
        self._closed = False

    def admit(self, request: Request) -> Call:
        """The call that answers the request.

        Raises InvalidParams for a missing or ill-typed field of `_meta`, UnsupportedVersion, MethodNotFound.
        basic/index "_meta", basic/versioning.
        """
        check_envelope(request.params.get("_meta"))
        if request.method == DISCOVER:
            return self._call(request.method, self._discover, ready=True)
        if request.method == LISTEN:
            return self._listen(request)
        handler = self._handlers.get(request.method)
        if handler is None:
            raise MethodNotFound(f"no method {request.method!r} in this revision", {"methods": self.methods})
        return self._call(request.method, prepare(handler, request.params, self._notify))

    def seal(self, method: str, result: dict[str, Any]) -> dict[str, Any]:
        """The result as this era sends it: complete, signed, with its cache hints."""
        meta = {**(result.get("_meta") or {}), SERVER_INFO: self._server.info}
        return {"resultType": "complete", **result, **CACHE.get(method, {}), "_meta": meta}

    def refuse(self, method: str, error: RpcError) -> dict[str, Any] | RpcError:
        """The error as this era sends it: bad tool arguments are for the model to read (server/tools)."""
        if isinstance(error, InvalidArguments) and method == "tools/call":
            return self.seal(method, {"content": [{"type": "text", "text": error.message}], "isError": True})
        return error

    def close(self) -> None:
        """Ends every stream, open or about to be; each sends what it still has, then its result.

        The result is the graceful end (basic/patterns/subscriptions). A `notifications/cancelled` of ours would
        make it an abrupt one before the result, and name a request that is over after it.
        """
        self._closed = True
        for stream in self._streams:
            stream.end()

    def _call(self, method: str, run: Run, *, counted: bool = True, ready: bool = False) -> Call:
        return Call(run, partial(self.seal, method), partial(self.refuse, method), counted, ready)

    async def _discover(self) -> dict[str, Any]:
        instructions = {} if self._server.instructions is None else {"instructions": self._server.instructions}
        return {"supportedVersions": list(REVISIONS), "capabilities": self._server.capabilities, **instructions}

    def _listen(self, request: Request) -> Call:
        """basic/patterns/subscriptions. The call lasts as long as the stream and takes no slot."""
        flags, uris = self._filter(request.params)
        stamp = {SUBSCRIPTION_ID: request.id}

        async def run() -> dict[str, Any]:
            stream = self._hub.open(self._notify, stamp, len(uris))
            self._streams.add(stream)
            if self._closed:
                stream.end()  # read just before the end of input, run just after
            try:
                # Watching starts in the same step as the answer of `accept`: no change can fall in between.
                canonical = await self._watched.accept(uris)
                honoured = self._start(stream, flags, [uri for uri in uris if uri in canonical], canonical)
                await self._notify(
                    "notifications/subscriptions/acknowledged", {"_meta": dict(stamp), "notifications": honoured}
                )
                await stream.deliver()
            finally:
                self._streams.discard(stream)
                self._hub.close(stream)
            return {"_meta": dict(stamp)}

        return self._call(LISTEN, run, counted=False)

    def _start(
        self, stream: Subscription, flags: list[str], uris: list[str], canonical: dict[str, str]
    ) -> dict[str, Any]:
        for uri in uris:
            self._hub.watch(stream, canonical[uri], uri)
        if "resourcesListChanged" in flags:
            self._hub.follow(stream, ResourcesChanged)
        if "promptsListChanged" in flags:
            self._hub.follow(stream, PromptsChanged)
        honoured: dict[str, Any] = dict.fromkeys(flags, True)
        if uris:
            honoured["resourceSubscriptions"] = uris
        return honoured

    def _filter(self, params: dict[str, Any]) -> tuple[list[str], list[str]]:
        """The switches and the URIs (each once) of a filter that we can honour. Raises InvalidParams."""
        wanted = params.get("notifications")
        if not isinstance(wanted, dict):
            raise InvalidParams("notifications must be an object: the filter of what to listen for")
        for name in FLAGS:
            if not isinstance(wanted.get(name, False), bool):
                raise InvalidParams(f"notifications.{name} must be true or false")
        uris = wanted.get("resourceSubscriptions", [])
        if not isinstance(uris, list) or not all(isinstance(uri, str) for uri in uris):
            raise InvalidParams("notifications.resourceSubscriptions must be an array of URIs")
        if sum(map(len, uris)) > self._uri_chars:
            raise InvalidParams(
                f"notifications.resourceSubscriptions is over {self._uri_chars} characters: use several listens"
            )
        flags = [name for name, switch in FLAGS.items() if wanted.get(name) and self._server.declares(*switch)]
        if not self._server.declares("resources", "subscribe"):
            return flags, []
        return flags, list(dict.fromkeys(uris))


def check_envelope(meta: Any) -> None:
    """Raises InvalidParams or UnsupportedVersion unless `_meta` is what every modern request must bring."""
    if not isinstance(meta, dict):
        raise InvalidParams(f"params._meta is missing: it must hold {PROTOCOL_VERSION} and {CLIENT_CAPABILITIES}")
    version = meta.get(PROTOCOL_VERSION)
    if not isinstance(version, str):
        raise InvalidParams(f"_meta[{PROTOCOL_VERSION!r}] must be a string, such as {MODERN_REVISIONS[0]!r}")
    if version not in MODERN_REVISIONS:
        # One of the older revisions is served too, but only after `initialize`: offering it again would mislead.
        supported = MODERN_REVISIONS if version in LEGACY_REVISIONS else REVISIONS
        raise UnsupportedVersion(
            f"unsupported protocol version {version!r}", {"supported": list(supported), "requested": version}
        )
    capabilities = meta.get(CLIENT_CAPABILITIES)
    if not isinstance(capabilities, dict):
        raise InvalidParams(f"_meta[{CLIENT_CAPABILITIES!r}] must be an object; {{}} if there are none")
    for name in CLIENT_FEATURES:
        if not isinstance(capabilities.get(name, {}), dict):
            raise InvalidParams(f"_meta[{CLIENT_CAPABILITIES!r}].{name} must be an object")
    if CLIENT_INFO in meta and not _is_implementation(meta[CLIENT_INFO]):
        raise InvalidParams(f"_meta[{CLIENT_INFO!r}] must be an object with the strings name and version")
    if LOG_LEVEL in meta and not (isinstance(meta[LOG_LEVEL], str) and meta[LOG_LEVEL] in LOG_LEVELS):
        raise InvalidParams(f"_meta[{LOG_LEVEL!r}] must be one of {', '.join(sorted(LOG_LEVELS))}")
    if "progressToken" in meta and token_of(meta) is None:
        raise InvalidParams("_meta.progressToken must be a string or an integer")


def _is_implementation(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("name"), str) and isinstance(value.get("version"), str)
