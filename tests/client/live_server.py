"""A real server process and a client that sends exactly what it is told, judging each line as it comes.

Both eras over one connection: requests are legacy unless `modern`, which puts the envelope on. `heard` holds
the notifications of one subscriber as events: ("updated", uri), ("resources",), ("prompts",).
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from wire_oracle import ACKNOWLEDGED, LISTS, PROTOCOL_VERSION, UPDATED, Conversation
from wire_schemas import MODERN, SUBSCRIPTION_ID

DEADLINE_S = 30
COMMAND = [sys.executable, "-m", "notes_mcp"]
META = "io.modelcontextprotocol/"
ENVELOPE = {
    PROTOCOL_VERSION: MODERN,
    META + "clientInfo": {"name": "test", "version": "1"},
    META + "clientCapabilities": {},
}

Event = tuple[str, ...]


class Refused(Exception):
    """An error frame; `code` is its code."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.code: int = error["code"]


class Live:
    """Made by `live`. `frames` is every notification so far, in order, with the loop's time of its arrival."""

    def __init__(self, process: asyncio.subprocess.Process, stderr: Path) -> None:
        self.process = process
        self._stderr = stderr
        self.conversation = Conversation()
        self.frames: list[tuple[float, dict[str, Any]]] = []
        self._answers: dict[Any, asyncio.Future[dict[str, Any]]] = {}
        self._changed = asyncio.Condition()
        self._ids = 0
        self._over = False
        self._reading = asyncio.ensure_future(self._read())

    async def ask(self, method: str, params: dict[str, Any] | None = None, *, modern: bool = False) -> dict[str, Any]:
        """The result. Raises Refused."""
        return await self._answer_to(self.send(method, params, modern=modern))

    def send(self, method: str, params: dict[str, Any] | None = None, *, modern: bool = False) -> Any:
        """Sends the request without waiting; returns its id, a string in the modern era, an integer before."""
        self._ids += 1
        request_id = f"r{self._ids}" if modern else self._ids
        params = dict(params or {})
        if modern:
            params["_meta"] = ENVELOPE | params.get("_meta", {})
        self._answers[request_id] = asyncio.get_running_loop().create_future()
        self._say({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
        return request_id

    def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        self._say({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})})

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The tool's result, which must not be an error."""
        result = await self.ask("tools/call", {"name": tool, "arguments": arguments}, modern=True)
        assert not result.get("isError"), result["content"][0]["text"]
        return result

    async def until_indexed(self) -> None:
        """Waits until the index holds every note; each call waits a moment by itself."""
        async with asyncio.timeout(DEADLINE_S):
            while not (await self.call("notes_info"))["structuredContent"]["index"]["complete"]:
                pass

    async def initialize(self, revision: str = "2025-11-25") -> dict[str, Any]:
        info = {"name": "test", "version": "1"}
        hello = {"protocolVersion": revision, "capabilities": {}, "clientInfo": info}
        result = await self.ask("initialize", hello)
        self.notify("notifications/initialized")
        return result

    async def until(self, condition: Callable[[], Any]) -> None:
        """Waits for frames until the condition holds. A line that is wrong, or the end, ends the waiting too."""
        async with asyncio.timeout(DEADLINE_S), self._changed:
            await self._changed.wait_for(lambda: self._over or condition())
        if not condition():
            await self._reading
            raise EOFError(f"the server is gone: {self._stderr.read_text('utf-8')}")

    async def close(self) -> None:
        """Ends the input; everything must be answered, the process gone with exit code 0."""
        self.process.stdin.close()
        async with asyncio.timeout(DEADLINE_S):
            await self._reading
            code = await self.process.wait()
        self.conversation.done(exit_code=code)

    async def _answer_to(self, request_id: Any) -> dict[str, Any]:
        answer = self._answers[request_id]
        async with asyncio.timeout(DEADLINE_S):
            await asyncio.wait({answer})
        if answer.cancelled():
            await self._reading
            raise EOFError(f"the server is gone: {self._stderr.read_text('utf-8')}")
        frame = answer.result()
        if "error" in frame:
            raise Refused(frame["error"])
        return frame["result"]

    def _say(self, frame: dict[str, Any]) -> None:
        line = json.dumps(frame, ensure_ascii=False).encode() + b"\n"
        self.conversation.client(line)
        self.process.stdin.write(line)

    async def _read(self) -> None:
        try:
            while line := await self.process.stdout.readline():
                self.conversation.server(line)
                frame = json.loads(line)
                if "id" in frame:
                    self._answers.pop(frame["id"]).set_result(frame)
                async with self._changed:
                    if "method" in frame:
                        self.frames.append((asyncio.get_running_loop().time(), frame))
                    self._changed.notify_all()
        finally:
            self._over = True
            for answer in self._answers.values():
                answer.cancel()
            async with self._changed:
                self._changed.notify_all()


class Subscriber:
    """What reaches one subscriber from now on. `sentinel` is a note that it watches too and that only it saves."""

    def __init__(self, live: Live, era: str, stream: Any, sentinel: Path, sentinel_uri: str) -> None:
        self.live = live
        self.era = era
        self.stream = stream
        self._sentinel = sentinel
        self._sentinel_uri = sentinel_uri
        self._from = len(live.frames)

    def timed(self) -> list[tuple[float, Event]]:
        events: list[tuple[float, Event]] = []
        for moment, frame in self.live.frames[self._from :]:
            method, params = frame["method"], frame.get("params", {})
            if params.get("_meta", {}).get(SUBSCRIPTION_ID) != self.stream or method == ACKNOWLEDGED:
                continue
            if method == UPDATED:
                events.append((moment, ("updated", params["uri"])))
            elif method in LISTS:
                events.append((moment, ("prompts" if "prompts" in method else "resources",)))
        return events

    @property
    def heard(self) -> list[Event]:
        """Everything but the saves of the sentinel."""
        return [event for _, event in self.timed() if event != ("updated", self._sentinel_uri)]

    def updates(self) -> list[str]:
        """The URIs of the updates heard, in order."""
        return [event[1] for event in self.heard if event[0] == "updated"]

    async def until(self, *events: Event, times: int = 1) -> None:
        """Waits until each of the events was heard that often, at least."""
        await self.live.until(lambda: all(self.heard.count(event) >= times for event in events))

    async def nothing_more(self, quiet_s: float = 0.4) -> None:
        """Returns after later saves were heard of for longer than the server ever puts anything off.

        What had to come before them has come by then, however slow the machine is.
        """
        loop = asyncio.get_running_loop()
        begin = loop.time()
        while loop.time() < begin + quiet_s:
            await self.save_sentinel()

    async def save_sentinel(self) -> float:
        """Seconds from the save to the news of it."""
        before = self._sentinels()
        save(self._sentinel, self._sentinel.read_text("utf-8") + "saved\n")
        saved = asyncio.get_running_loop().time()
        await self.live.until(lambda: self._sentinels() > before)
        return self.live.frames[-1][0] - saved

    def _sentinels(self) -> int:
        return sum(event == ("updated", self._sentinel_uri) for _, event in self.timed())


class InBothEras:
    """Two subscribers to the same, one of each era; what they heard must be the same."""

    def __init__(self, legacy: Subscriber, modern: Subscriber) -> None:
        self.subscribers = (legacy, modern)

    @property
    def heard(self) -> list[Event]:
        """Sorted: the order is not part of what is promised."""
        first, other = (sorted(each.heard) for each in self.subscribers)
        assert first == other
        return first

    def updates(self) -> list[str]:
        """The URIs of the updates heard, sorted."""
        return [event[1] for event in self.heard if event[0] == "updated"]

    async def until(self, *events: Event, times: int = 1) -> None:
        """Waits until both have heard each of the events that often, at least."""
        for each in self.subscribers:
            await each.until(*events, times=times)

    async def nothing_more(self, quiet_s: float = 0.4) -> None:
        """As for one subscriber: what had to come before it has come to both."""
        first, other = self.subscribers
        await first.nothing_more(quiet_s)
        await other.save_sentinel()


@asynccontextmanager
async def live(*arguments: str | Path, stderr: Path) -> AsyncIterator[Live]:
    """A server of these command line arguments. On a good way out nothing may have been said on stderr."""
    with stderr.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *COMMAND, *map(str, arguments), stdin=-1, stdout=-1, stderr=errors, limit=16 * 1024 * 1024
        )
    server = Live(process, stderr)
    try:
        yield server
        await server.close()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        server._reading.cancel()
        await asyncio.wait({server._reading})
    assert stderr.read_text(encoding="utf-8") == ""


@asynccontextmanager
async def subscriber(
    server: Live, era: str, uris: Iterable[str], sentinel: Path, *, lists: bool = True
) -> AsyncIterator[Subscriber]:
    """Subscribed to the URIs, and to the lists, which a legacy client always is."""
    sentinel_uri = "notes:///" + sentinel.name
    wanted = [*uris, sentinel_uri]
    if era == "legacy":
        if server.conversation.revision is None:
            await server.initialize()
        listening = Subscriber(server, era, None, sentinel, sentinel_uri)
        await asyncio.gather(*(server.ask("resources/subscribe", {"uri": uri}) for uri in wanted))
        yield listening
        await asyncio.gather(*(server.ask("resources/unsubscribe", {"uri": uri}) for uri in wanted))
        return
    flags = {"resourcesListChanged": True, "promptsListChanged": True} if lists else {}
    stream = server.send(
        "subscriptions/listen", {"notifications": {"resourceSubscriptions": wanted, **flags}}, modern=True
    )
    listening = Subscriber(server, era, stream, sentinel, sentinel_uri)
    await server.until(lambda: stream in server.conversation.honoured)
    assert set(server.conversation.honoured[stream]["resourceSubscriptions"]) == set(wanted)
    yield listening
    server.notify("notifications/cancelled", {"requestId": stream})


@asynccontextmanager
async def in_both_eras(server: Live, uris: Sequence[str], sentinel: Path) -> AsyncIterator[InBothEras]:
    """A subscriber in each era, to the same."""
    async with (
        subscriber(server, "legacy", uris, sentinel) as legacy,
        subscriber(server, "modern", uris, sentinel) as modern,
    ):
        yield InBothEras(legacy, modern)


def save(path: Path, text: str) -> None:
    """In place, as one write; what is there already may only grow, or it would need a second step."""
    assert not path.exists() or len(text.encode()) >= path.stat().st_size
    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def replace(path: Path, text: str) -> None:
    """As editors do it: a temporary file beside it, then renamed over it. Also the way to make a note in one step."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(text, encoding="utf-8", newline="\n")
    temporary.replace(path)


def make_notes(folder: Path, count: int) -> Sequence[Path]:
    """`0000.md` and so on, each with a text of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{number:04}.md" for number in range(count)]
    for path in paths:
        path.write_text(
            f"# Note {path.stem}\n\nOne of many, with words of its own: {path.stem * 3}.\n", "utf-8", newline="\n"
        )
    return paths
