"""A stream that is no descriptor: lines from an async iterator, frames to a coroutine that may be slow."""

import asyncio
from collections import deque

LINES_PER_TURN = 32


class MemoryStream:
    """`full` while a frame is not written yet, as if there were room for one frame alone.

    Nothing is read meanwhile, unless it `reads_on`.
    """

    def __init__(self, lines, write, reads_on=False):
        self._lines = lines
        self._write = write
        self._reads_on = reads_on
        self._frames = deque()
        self._last = None  # set once the last frame is written
        self._wanted = asyncio.Event()
        self._wanted.set()

    async def read(self, take):
        turn = 0
        while True:
            await self._wanted.wait()
            if not self._reads_on:
                await self.room()
            line = await anext(self._lines, None)
            if line is None:
                return
            if not take(line):
                self._wanted.clear()
            turn += 1
            if turn % LINES_PER_TURN == 0:
                await asyncio.sleep(0)

    def resume(self):
        self._wanted.set()

    def send(self, line):
        idle = not self.full
        self._last = asyncio.get_running_loop().create_future()
        self._frames.append((line, self._last))
        if idle:
            self._writing = asyncio.ensure_future(self._send())

    @property
    def full(self):
        return self._last is not None and not self._last.done()

    async def room(self):
        if self.full:
            await asyncio.wait([self._last])

    async def _send(self):
        while self._frames:
            line, written = self._frames.popleft()
            await self._write(line)
            written.set_result(None)
