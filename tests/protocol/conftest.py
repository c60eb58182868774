"""A whole connection in memory: the real `Peer` and `Session`, fake features, every frame checked as it is sent.

`Desk.say` is the client's line, `Desk.frames` is what it was sent. `wire_schemas` judges the shape of each frame in the
revision it belongs to.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import pytest
from memory_stream import MemoryStream
from wire_schemas import MODERN, SUBSCRIPTION_ID, judge_error, judge_notification, judge_result

from notes_mcp.protocol.session import Session
from notes_mcp.protocol.subscriptions import Hub
from notes_mcp.protocol.values import Server
from notes_mcp.settings import Settings
from notes_mcp.wire.peer import Peer

DEADLINE = 20
LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
SERVER = Server(
    name="notes-mcp",
    version="1.2.3",
    title="Notes 笔记",
    instructions="Search before you read.",
    capabilities={
        "completions": {},
        "prompts": {"listChanged": True},
        "resources": {"subscribe": True, "listChanged": True},
        "tools": {},
    },
)
NOTES = ("notes:///a.md", "notes:///b.md", "notes:///missing.md")


class Watched:
    """Resources that are there as soon as `open` is set; counts how often it was asked."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.open.set()
        self.asked = 0

    async def accept(self, uris: Sequence[str]) -> dict[str, str]:
        self.asked += 1
        await self.open.wait()
        return {uri: known for uri in uris if (known := canonical(uri)) is not None}


def canonical(uri: str) -> str | None:
    for prefix in ("notes:///", "file:///home/me/notes/", "file://notes/"):
        if uri.startswith(prefix):
            return "notes:///" + uri.removeprefix(prefix).replace("%2E", ".")
    return None


class Desk:
    """The client's side of one connection."""

    def __init__(self, handlers: dict[str, Any], settings: Settings, hub: Hub, server: Server) -> None:
        self.frames: list[dict[str, Any]] = []
        self.watched = Watched()
        self.hub = hub
        self.reading = asyncio.Event()  # cleared: a client that has stopped reading
        self.reading.set()
        self.blocked = 0
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._grew = asyncio.Event()
        self.asked: dict[Any, tuple[str, str]] = {}
        self._revision = "2025-11-25"
        self.peer = Peer(MemoryStream(self._incoming(), self._outgoing, reads_on=True), settings)
        self.session = Session(server, handlers, self.watched, hub, self.peer.notify, settings)

    async def _incoming(self) -> AsyncIterator[bytes]:
        while (line := await self._lines.get()) is not None:
            yield line

    async def _outgoing(self, line: bytes) -> None:
        self.blocked += 1
        await self.reading.wait()
        self.blocked -= 1
        frame = json.loads(line)
        for each in frame if isinstance(frame, list) else [frame]:
            self._check(each)
        self.frames.append(frame)
        self._grew.set()

    def _check(self, frame: dict[str, Any]) -> None:
        if "method" in frame:
            modern = SUBSCRIPTION_ID in frame.get("params", {}).get("_meta", {})
            judge_notification(frame, MODERN if modern else self._revision)
            return
        method, revision = self.asked.get(frame["id"], ("", self._revision))
        if "error" in frame:
            judge_error(frame, revision)
            return
        if method == "initialize":
            revision = self._revision = frame["result"]["protocolVersion"]
        judge_result(frame, method, revision)

    def say(self, message: Any) -> None:
        """One line of the client."""
        for each in message if isinstance(message, list) else [message]:
            if "id" in each:
                modern = "io.modelcontextprotocol/protocolVersion" in json.dumps(each)
                self.asked[each["id"]] = each["method"], MODERN if modern else self._revision
        self._lines.put_nowait(json.dumps(message).encode())

    def call(self, request_id: Any, method: str, **params: Any) -> None:
        """A legacy request."""
        self.say({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})

    def ask(self, request_id: Any, method: str, meta: dict[str, Any] | None = None, **params: Any) -> None:
        """A modern request."""
        self.call(request_id, method, **params, _meta={**ENVELOPE, **(meta or {})})

    def note(self, method: str, **params: Any) -> None:
        """A notification."""
        self.say({"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params})

    def hang_up(self) -> None:
        self._lines.put_nowait(None)

    async def until(self, found: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first frame for which that holds, as soon as it is there."""
        async with asyncio.timeout(DEADLINE):
            while True:
                for frame in self.frames:
                    if found(frame):
                        return frame
                self._grew.clear()
                await self._grew.wait()

    async def answer(self, request_id: Any) -> dict[str, Any]:
        """The answer to that request: ids compare by type."""
        return await self.until(
            lambda frame: (
                isinstance(frame, dict)
                and "method" not in frame
                and type(frame["id"]) is type(request_id)
                and frame["id"] == request_id
            )
        )

    async def result(self, request_id: Any) -> Any:
        return (await self.answer(request_id))["result"]

    async def code(self, request_id: Any) -> int:
        return (await self.answer(request_id))["error"]["code"]

    async def acknowledged(self, request_id: Any) -> dict[str, Any]:
        """The filter that was honoured for that listen."""
        frame = await self.until(
            lambda frame: (
                frame.get("method") == "notifications/subscriptions/acknowledged"
                and frame["params"]["_meta"][SUBSCRIPTION_ID] == request_id
            )
        )
        return frame["params"]["notifications"]

    async def heard(self, method: str, count: int = 1) -> list[dict[str, Any]]:
        """The params of the first `count` notifications of that method, as soon as there are so many."""

        def seen() -> list[dict[str, Any]]:
            return [
                frame.get("params", {}) for frame in self.frames if frame.get("method") == f"notifications/{method}"
            ]

        await self.until(lambda _: len(seen()) >= count)
        return seen()[:count]

    def silent_about(self, method: str) -> bool:
        return all(frame.get("method") != f"notifications/{method}" for frame in self.frames)

    async def quiet(self) -> None:
        """Returns when everything that was under way has happened: a ping is answered after it."""
        await anyio.wait_all_tasks_blocked()  # a ping overtakes what has to wait
        self.asked["quiet"] = "ping", self._revision
        before = len(self.frames)
        self._lines.put_nowait(b'{"jsonrpc":"2.0","id":"quiet","method":"ping"}')
        await self.until(lambda _: any(frame.get("id") == "quiet" for frame in self.frames[before:]))

    async def shake(self, revision: str, request_id: Any = 0) -> dict[str, Any]:
        """The handshake of a legacy client; its result."""
        self.call(request_id, "initialize", **hello(revision))
        result = await self.result(request_id)
        self.note("initialized")
        return result


def hello(revision: str) -> dict[str, Any]:
    return {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


Connect = Callable[..., Any]


@pytest.fixture
def settings() -> Settings:
    return Settings(folders=(), drain_ms=5_000, silence_ms=5_000)


@pytest.fixture
def connect(settings: Settings) -> Connect:
    """`async with connect({method: handler}, limit=value) as desk`: a served connection, ended in order."""

    @asynccontextmanager
    async def connected(
        handlers: dict[str, Any] | None = None, hub: Hub | None = None, server: Server = SERVER, **limits: Any
    ) -> AsyncIterator[Desk]:
        known = replace(settings, **limits)
        desk = Desk(handlers or {}, known, hub or Hub(known.max_subscriptions), server)
        serving = asyncio.ensure_future(desk.peer.serve(desk.session))
        try:
            yield desk
        finally:
            desk.reading.set()
            desk.watched.open.set()
            desk.hang_up()
            async with asyncio.timeout(DEADLINE):
                await serving

    return connected
