"""A tiny server of `Stdio` and `Peer` alone, started as a subprocess by the tests of the stream."""

import asyncio
import logging
import os
import signal
import sys
from pathlib import Path

from notes_mcp.wire.stdio import claim

CLAIMED = claim()

from notes_mcp.errors import MethodNotFound  # noqa: E402
from notes_mcp.settings import Settings  # noqa: E402
from notes_mcp.wire.calls import Call  # noqa: E402
from notes_mcp.wire.jsonrpc import Notification, Request, RequestId  # noqa: E402
from notes_mcp.wire.peer import Peer  # noqa: E402
from notes_mcp.wire.stdio import Stdio  # noqa: E402


class Echo:
    def __init__(self) -> None:
        self.closed = asyncio.Event()

    def admit(self, request: Request) -> Call:
        run = {"ping": self.ping, "big": self.big, "hang": self.hang, "listen": self.listen}.get(request.method)
        if run is None:
            raise MethodNotFound("no such method")
        return Call(
            run=lambda: run(request.params),
            seal=lambda result: result,
            refuse=lambda error: error,
            counted=request.method != "listen",
        )

    async def ping(self, params):
        print("a stray print")
        os.write(1, b"stray bytes\n")
        return params

    async def big(self, params):
        return {"text": "ф" * params["length"]}

    async def hang(self, params):
        await asyncio.Event().wait()

    async def listen(self, params):
        await self.closed.wait()
        return {"listened": True}

    def notice(self, notification: Notification) -> RequestId | None:
        return notification.params.get("requestId")

    def accepts_batch(self) -> bool:
        return True

    async def close(self) -> None:
        self.closed.set()


async def main() -> None:
    settings = Settings(folders=(Path(),))
    async with Stdio(CLAIMED, settings) as stdio:
        peer = Peer(stdio, settings)
        if sys.platform != "win32":
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, peer.stop)
        await peer.serve(Echo())


logging.basicConfig(level=logging.WARNING)
asyncio.run(main())
