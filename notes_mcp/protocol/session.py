"""One connection's protocol: decides, request by request, which era answers it. The one era branch.

Implements `wire.peer.Session`. Writes no bytes and reads no notes: features come in as `handlers`,
what can be watched as `Watched`, events through the `Hub` that all sessions of a process share.
"""

import logging
from collections.abc import Mapping

from notes_mcp.errors import InvalidParams
from notes_mcp.events import Handler
from notes_mcp.protocol.legacy import Legacy
from notes_mcp.protocol.modern import METHODS, Modern
from notes_mcp.protocol.subscriptions import Hub
from notes_mcp.protocol.values import CLIENT_CAPABILITIES, CLIENT_INFO, PROTOCOL_VERSION, Notify, Server, Watched
from notes_mcp.settings import Settings
from notes_mcp.wire.calls import Call
from notes_mcp.wire.jsonrpc import Notification, Request, RequestId

# A request that brings part of the envelope is a modern one that forgot the rest, and is told so.
ENVELOPE = (PROTOCOL_VERSION, CLIENT_CAPABILITIES, CLIENT_INFO)

_log = logging.getLogger(__name__)


class Session:
    """Both eras on one connection. On the event loop only."""

    def __init__(
        self,
        server: Server,
        handlers: Mapping[str, Handler],
        resources: Watched,
        hub: Hub,
        notify: Notify,
        settings: Settings,
    ) -> None:
        self._modern = Modern(server, handlers, resources, hub, notify, settings)
        self._legacy = Legacy(server, handlers, resources, hub, notify)
        self._settings = settings

    def admit(self, request: Request) -> Call:
        """The call that answers the request; synchronous, so that wire order decides. Raises RpcError."""
        meta = request.params.get("_meta", {})
        if not isinstance(meta, dict):
            raise InvalidParams("params._meta must be an object")
        modern = request.method in METHODS or any(key in meta for key in ENVELOPE)
        return self._modern.admit(request) if modern else self._legacy.admit(request)

    def notice(self, notification: Notification) -> RequestId | None:
        """The id of the request to cancel, if that is what the notification says. Anything malformed is ignored."""
        if notification.method == "notifications/initialized":
            self._legacy.initialized()
        if notification.method != "notifications/cancelled":
            return None
        request_id = notification.params.get("requestId")
        if isinstance(request_id, bool) or not isinstance(request_id, int | str):
            return None
        _log.debug("the client cancels %r; reason: %.200r", request_id, notification.params.get("reason"))
        return request_id if self._legacy.may_cancel(request_id) else None

    def accepts_batch(self) -> bool:
        """Only 2025-03-26 has JSON-RPC batches (its basic/index, "Batching")."""
        return self._legacy.revision == "2025-03-26"

    async def close(self) -> None:
        """Ends every subscription of this connection gracefully, so that listens are answered."""
        self._modern.close()
        await self._legacy.close(self._settings.drain_ms // 2)
