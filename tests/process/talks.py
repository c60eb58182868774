"""The two ways in which a golden dialogue reaches the server: the rooms of this process, and a subprocess."""

import asyncio
import json
import sys
from contextlib import asynccontextmanager

import anyio
from dialogue import DEADLINE
from memory_stream import MemoryStream

from notes_mcp.app import Rooms, connect
from notes_mcp.cli import parse
from notes_mcp.protocol.subscriptions import Hub
from notes_mcp.wire.lines import Splitter


class Talk:
    """One connection: `send` bytes, iterate over the server's parsed lines, `end` the input."""

    def __init__(self, send, end):
        self.send = send
        self.end = end
        self.seen = asyncio.Queue()

    def hear(self, line):
        """One line of the server without its LF; None at the end."""
        self.seen.put_nowait(line)

    def __aiter__(self):
        return self

    async def __anext__(self):
        line = await self.seen.get()
        if line is None:
            self.seen.put_nowait(None)
            raise StopAsyncIteration
        assert b"\n" not in line and b"\r" not in line
        return json.loads(line)


@asynccontextmanager
async def in_memory(options, folder, cache):
    """The rooms, a peer and a session in this process; lines come from a queue and go to one."""

    _, settings, _ = parse(["--cache-dir", str(cache), *options, str(folder)], {})
    chunks = asyncio.Queue()

    async def lines():
        splitter = Splitter(settings.max_line_in_bytes)
        while (chunk := await chunks.get()) is not None:
            for line in splitter.feed(chunk):
                yield line
        for line in splitter.end():
            yield line

    async def write(line):
        talk.hear(line)

    talk = Talk(chunks.put_nowait, lambda: chunks.put_nowait(None))
    rooms = Rooms(settings, Hub(settings.max_subscriptions))
    peer, session = connect(rooms, MemoryStream(lines(), write, reads_on=True), settings)

    async def serve():
        await peer.serve(session)
        talk.hear(None)
        await rooms.close()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rooms.run, lambda reason: peer.stop())
        tasks.start_soon(serve)
        yield talk
        talk.end()


@asynccontextmanager
async def through_a_process(options, folder, cache):
    """The real command in a subprocess; it must end by itself, with code 0 and nothing on stderr."""
    command = [sys.executable, "-m", "notes_mcp", "--cache-dir", str(cache), *options, str(folder)]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe, limit=1 << 24)

    async def read():
        while line := await process.stdout.readline():
            talk.hear(line.removesuffix(b"\n"))
        talk.hear(None)

    talk = Talk(process.stdin.write, process.stdin.close)
    reading = asyncio.create_task(read())
    complaints = asyncio.create_task(process.stderr.read())
    try:
        yield talk
        process.stdin.close()
        async with asyncio.timeout(DEADLINE):
            assert await process.wait() == 0
            assert (await complaints).decode() == ""
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        await asyncio.gather(reading, complaints)


async def build_index(folder, cache):
    """A first run over the folder, so that a dialogue begins with a complete index and hears nothing of its making."""
    async with asyncio.timeout(DEADLINE), in_memory(["--tools", "notes_info"], folder, cache) as talk:
        talk.send(_INFO)
        while not (await anext(talk))["result"]["structuredContent"]["index"]["complete"]:
            talk.send(_INFO)


_META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
_INFO = (
    json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 0,
            "method": "tools/call",
            "params": {"name": "notes_info", "arguments": {}, "_meta": _META},
        }
    ).encode()
    + b"\n"
)
