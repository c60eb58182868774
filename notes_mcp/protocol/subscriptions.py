"""From events to notifications: who watches what, and one small outbox per stream. Knows no era.

`Hub` is one per process; `publish` is synchronous and never waits. Each `Subscription` keeps what is
not yet sent as a set, so a client that never reads costs at most one entry per thing it watches.
Delivery runs in the task of whoever opened the stream; nothing here starts a task.
"""

from collections.abc import Mapping
from typing import Any

import anyio

from notes_mcp.errors import InternalError
from notes_mcp.events import Event, PromptsChanged, ResourcesChanged, ResourceUpdated
from notes_mcp.protocol.values import Notify

UPDATED = "notifications/resources/updated"
LISTS: dict[type[Event], str] = {
    ResourcesChanged: "notifications/resources/list_changed",
    PromptsChanged: "notifications/prompts/list_changed",
}


class Subscription:
    """One stream of notifications. `stamp` is put on every one of them as `_meta`. Made by `Hub.open`."""

    def __init__(self, notify: Notify, stamp: Mapping[str, Any] | None, room: int) -> None:
        self.floor = self.room = room
        self.canonical: dict[str, str] = {}  # the client's own spelling -> canonical URI
        self._notify = notify
        self._stamp = stamp
        self._outbox: dict[tuple[str, str | None], None] = {}
        self._wake = anyio.Event()
        self._sending: str | None = None
        self._sent = anyio.Event()
        self._ended = False

    def put(self, method: str, uri: str | None = None) -> None:
        """Remembers to send that notification; one that is still unsent is not doubled."""
        if not self._ended:
            self._outbox[method, uri] = None
            self._wake.set()

    def end(self) -> None:
        """Takes nothing more. `deliver` returns once what is unsent has gone out."""
        self._ended = True
        self._wake.set()

    async def withdraw(self, uri: str) -> None:
        """Nothing about that URI goes out after this returns: the unsent is dropped, a frame under way waited for."""
        self._outbox.pop((UPDATED, uri), None)
        if self._sending == uri:
            await self._sent.wait()

    async def deliver(self) -> None:
        """Sends what is put, in order, until `end`. One task per subscription runs this."""
        while True:
            while self._outbox:
                method, uri = next(iter(self._outbox))
                del self._outbox[method, uri]
                await self._send(method, uri)
            if self._ended:
                return
            self._wake = anyio.Event()
            await self._wake.wait()

    async def _send(self, method: str, uri: str | None) -> None:
        params: dict[str, Any] = {} if self._stamp is None else {"_meta": dict(self._stamp)}
        if uri is not None:
            params["uri"] = uri
        self._sending, self._sent = uri, anyio.Event()
        try:
            await self._notify(method, params)
        finally:
            self._sending = None
            self._sent.set()


class Hub:
    """Who watches what, for every session of the process. Each stream counts as the URIs it watches, at least one.

    `max_subscriptions` bounds that sum. On the event loop only.
    """

    def __init__(self, max_subscriptions: int) -> None:
        self._limit = max_subscriptions
        self._room = 0
        self._watchers: dict[str, dict[Subscription, dict[str, None]]] = {}
        self._lists: dict[type[Event], dict[Subscription, None]] = {kind: {} for kind in LISTS}

    def open(self, notify: Notify, stamp: Mapping[str, Any] | None = None, room: int = 1) -> Subscription:
        """A stream that gets nothing yet, with room for that many URIs. InternalError over the limit.

        Every subscription that is opened must be closed.
        """
        self._take(max(room, 1))
        return Subscription(notify, stamp, max(room, 1))

    def close(self, subscription: Subscription) -> None:
        """Forgets the stream. Closing twice does nothing more."""
        subscription.end()
        for uri in list(subscription.canonical):
            self.unwatch(subscription, uri)
        for followers in self._lists.values():
            followers.pop(subscription, None)
        self._room -= subscription.room
        subscription.room = subscription.floor = 0

    def watch(self, subscription: Subscription, canonical: str, uri: str) -> None:
        """From now on a change of `canonical` goes out as `uri`, the client's own spelling.

        InternalError over the limit; nothing is changed then.
        """
        if uri in subscription.canonical:
            self.unwatch(subscription, uri)
        missing = len(subscription.canonical) + 1 - subscription.room
        if missing > 0:
            self._take(missing)
            subscription.room += missing
        subscription.canonical[uri] = canonical
        self._watchers.setdefault(canonical, {}).setdefault(subscription, {})[uri] = None

    def unwatch(self, subscription: Subscription, uri: str) -> None:
        """The opposite of `watch`; a URI that is not watched is no error."""
        canonical = subscription.canonical.pop(uri, None)
        if canonical is None:
            return
        streams = self._watchers[canonical]
        del streams[subscription][uri]
        if not streams[subscription]:
            del streams[subscription]
        if not streams:
            del self._watchers[canonical]
        spare = subscription.room - max(subscription.floor, len(subscription.canonical))
        self._room -= spare
        subscription.room -= spare

    def follow(self, subscription: Subscription, kind: type[Event]) -> None:
        """From now on that change of a list goes out: `ResourcesChanged` or `PromptsChanged`."""
        self._lists[kind][subscription] = None

    def publish(self, event: Event) -> None:
        """Hands the event to every stream that asked for it. Never waits."""
        if isinstance(event, ResourceUpdated):
            for subscription, uris in self._watchers.get(event.uri, {}).items():
                for uri in uris:
                    subscription.put(UPDATED, uri)
            return
        for subscription in self._lists[type(event)]:
            subscription.put(LISTS[type(event)])

    def _take(self, room: int) -> None:
        if self._room + room > self._limit:
            raise InternalError(
                f"too many subscriptions: {self._limit} URIs and streams are the limit of this server; end some first",
                {"limit": self._limit},
            )
        self._room += room
