"""A small MCP client over a subprocess, for `check` and for `benchmarks/`: one process, one question at a time.

Speaks both eras. Knows the protocol from the outside only: it shares no code with the server it asks.
"""

import json
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import IO, Any

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from notes_mcp import __version__

MODERN = "2026-07-28"
MAX_LINE_BYTES = 16 * 1024 * 1024
EXIT_DEADLINE_S = 5.0
_META = "io.modelcontextprotocol/"


class ProbeError(Exception):
    """The server answered with an error, with something that is no answer, or not at all."""


class Probe:
    """One running server. Every answer is the bare `result`; an error answer raises ProbeError."""

    def __init__(self, process: Process) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._process = process
        self._stdin = process.stdin
        self._lines = BufferedByteReceiveStream(process.stdout)
        self._notifications: deque[dict[str, Any]] = deque()
        self._id = 0
        self._legacy = False

    @classmethod
    @asynccontextmanager
    async def start(cls, command: Sequence[str], stderr: IO[bytes] | None = None) -> "AsyncIterator[Probe]":
        """Start `command`; its stderr goes to the file, else to ours. At the end stdin is closed, the exit awaited.

        In a session of its own: a Ctrl-C at the terminal is for the one that asks, who then ends the server.
        """
        async with await anyio.open_process(command, stderr=stderr, start_new_session=True) as process:
            probe = cls(process)
            try:
                yield probe
            finally:
                await probe._end()

    async def initialize(self, revision: str) -> dict[str, Any]:
        """The legacy handshake, whole."""
        client = {"name": "notes-mcp check", "version": __version__}
        result = await self.request(
            "initialize", {"protocolVersion": revision, "capabilities": {}, "clientInfo": client}
        )
        await self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self._legacy = True
        return result

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """One request: of the revision that was initialized, else a stateless one of 2026-07-28."""
        return await self.request(method, params if self._legacy else {**params, "_meta": self._meta()})

    async def tool(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """`tools/call`; returns its structuredContent. A tool's own error raises ProbeError."""
        result = await self.ask("tools/call", {"name": name, "arguments": arguments})
        if result.get("isError"):
            raise ProbeError(result["content"][0]["text"])
        structured: dict[str, Any] = result["structuredContent"]
        return structured

    async def listen(self, uris: Sequence[str]) -> None:
        """Open a `subscriptions/listen` on `uris`; returns when it is acknowledged."""
        self._id += 1
        params = {"notifications": {"resourceSubscriptions": list(uris)}, "_meta": self._meta()}
        await self._send({"jsonrpc": "2.0", "id": self._id, "method": "subscriptions/listen", "params": params})
        await self.notification("notifications/subscriptions/acknowledged")

    async def notification(self, method: str) -> dict[str, Any]:
        """The params of the next notification of that method; others before it are dropped."""
        while True:
            while self._notifications:
                message = self._notifications.popleft()
                if message["method"] == method:
                    params: dict[str, Any] = message.get("params", {})
                    return params
            message = await self._receive()
            if "method" not in message:
                raise ProbeError(f"expected {method}, got {message}")
            self._notifications.append(message)

    async def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send one request and wait for its answer; notifications in between are kept."""
        self._id += 1
        await self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        while True:
            message = await self._receive()
            if message.get("id") != self._id:
                self._notifications.append(message)
            elif "error" in message:
                raise ProbeError(f"{method}: {message['error']['message']} ({message['error']['code']})")
            else:
                result: dict[str, Any] = message["result"]
                return result

    def _meta(self) -> dict[str, Any]:
        return {
            f"{_META}protocolVersion": MODERN,
            f"{_META}clientInfo": {"name": "notes-mcp check", "version": __version__},
            f"{_META}clientCapabilities": {},
        }

    async def _send(self, message: dict[str, Any]) -> None:
        line = json.dumps(message, ensure_ascii=False, separators=(",", ":")) + "\n"
        try:
            await self._stdin.send(line.encode("utf-8"))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise ProbeError(await self._obituary()) from None

    async def _receive(self) -> dict[str, Any]:
        try:
            line = await self._lines.receive_until(b"\n", MAX_LINE_BYTES)
        except (anyio.IncompleteRead, anyio.EndOfStream):
            raise ProbeError(await self._obituary()) from None
        try:
            message = json.loads(line)
        except ValueError:
            raise ProbeError(f"stdout carried something that is not JSON: {line[:200]!r}") from None
        if not isinstance(message, dict):
            raise ProbeError(f"stdout carried something that is not a message: {line[:200]!r}")
        return message

    async def _obituary(self) -> str:
        with anyio.move_on_after(EXIT_DEADLINE_S):
            return f"the server ended with exit code {await self._process.wait()}; its words are on stderr"
        return "the server closed its stdout but is still running"

    async def _end(self) -> None:
        with anyio.CancelScope(shield=True):
            await self._stdin.aclose()
            with anyio.move_on_after(EXIT_DEADLINE_S):
                await self._process.wait()
                return
            self._process.kill()
