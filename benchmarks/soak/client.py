"""One server process and the client that speaks to it, many requests at once. The `Ledger` judges every line.

Flow: `ask` -> stdin; stdout -> `Ledger.told`; stderr is kept. `memory_mb`, `descriptors` and `cpu_s` look at the
process from outside (Linux).
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any, Self

from benchmarks.soak.ledger import Id, Ledger, Message, Then, structured

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
MODERN = "2026-07-28"
MAX_LINE_BYTES = 1 << 24
WINDOW = 12
"""Requests under way at once."""
DEADLINE_SECONDS = 60
END_SECONDS = 5


class Client:
    """Made by `start`; ended by `end`."""

    def __init__(self, name: str, revision: str, process: asyncio.subprocess.Process) -> None:
        self.revision = revision
        self.ledger = Ledger(name, revision == MODERN)
        self.complaints = b""
        self._process = process
        self._number = 0
        self._moved = asyncio.Event()
        self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._listen())]

    @classmethod
    async def start(cls, name: str, revision: str, folder: Path, cache: Path, home: Path) -> Self:
        """A server that has said hello. `home` is its HOME, and all of its environment but PATH."""
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "notes_mcp", "--cache-dir", str(cache), str(folder)),
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            limit=MAX_LINE_BYTES,
            env={"PATH": os.environ["PATH"], "HOME": str(home)},
            start_new_session=True,
        )
        client = cls(name, revision, process)
        if revision == MODERN:
            await client.call("server/discover")
        else:
            said = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"}}
            await client.call("initialize", said)
            client.write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return client

    def ask(self, method: str, params: Message | None = None, then: Then | None = None) -> Id:
        """Sends a request, with the envelope that the revision wants; `then` gets the whole answer. Its id."""
        self._number += 1
        request_id: Id = self._number if self._number % 5 else f"id {self._number}"
        sent = dict(params or {})
        if self.revision == MODERN:
            sent["_meta"] = {**META, **sent.get("_meta", {})}
        self.ledger.asked(request_id, method, sent, then)
        self.write({"jsonrpc": "2.0", "id": request_id, "method": method, "params": sent})
        return request_id

    async def call(self, method: str, params: Message | None = None) -> Any:
        """The result of one request. Raises RuntimeError for an error."""
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self.ask(method, params, answer.set_result)
        async with asyncio.timeout(DEADLINE_SECONDS):
            message = await answer
        if "error" in message:
            raise RuntimeError(f"{self.ledger.name}: {method}: {message['error']} {self.complaints.decode()}")
        return message["result"]

    async def tool(self, name: str, **arguments: Any) -> Any:
        """The structured content of one tool's result."""
        return structured(await self.call("tools/call", {"name": name, "arguments": arguments}))

    def cancel(self, request_id: Id) -> None:
        """Takes a request back."""
        self.ledger.cancelled(request_id)
        self.write({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}})

    def write(self, message: Message | bytes) -> None:
        """One line, whatever is in it."""
        line = message if isinstance(message, bytes) else json.dumps(message, ensure_ascii=False).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(line + b"\n")

    async def room(self, most: int = WINDOW) -> None:
        """Waits until fewer than so many requests are under way. TimeoutError if nothing comes."""
        assert self._process.stdin is not None
        async with asyncio.timeout(DEADLINE_SECONDS):
            await self._process.stdin.drain()
            while self.ledger.waiting >= most:
                self._moved.clear()
                await self._moved.wait()

    async def end(self) -> float:
        """Closes the server's input and judges what is left; the seconds until the process was gone."""
        assert self._process.stdin is not None
        began = asyncio.get_running_loop().time()
        self._process.stdin.close()
        try:
            async with asyncio.timeout(END_SECONDS):
                code = await self._process.wait()
        except TimeoutError:
            self.kill()
            code = await self._process.wait()
        took = asyncio.get_running_loop().time() - began
        await asyncio.gather(*self._tasks)
        if code:
            self.ledger.fault(f"the server ended with {code}")
        self.ledger.settled()
        if self.complaints:
            self.ledger.fault(f"on stderr: {self.complaints.decode()[-3_000:]}")
        return took

    def kill(self) -> None:
        """Ends the process by force."""
        if self._process.returncode is None:
            self._process.kill()

    def memory_mb(self) -> float:
        """Resident memory, MB."""
        return int(self._stat("statm").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

    def descriptors(self) -> int:
        """How many files are open."""
        return len(os.listdir(f"/proc/{self._process.pid}/fd"))

    def cpu_s(self) -> float:
        """User and system time so far, seconds."""
        fields = self._stat("stat").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _stat(self, name: str) -> str:
        return Path(f"/proc/{self._process.pid}/{name}").read_text()

    async def _read(self) -> None:
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            self.ledger.told(line)
            self._moved.set()

    async def _listen(self) -> None:
        assert self._process.stderr is not None
        while said := await self._process.stderr.read(65_536):
            self.complaints += said
