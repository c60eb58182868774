"""Bytes <-> lines over two file descriptors; the only place that knows fd 0 and fd 1.

Flow in: `ReadPump`'s thread -> bounded inbox -> loop -> `Splitter` -> `lines()`. Flow out: `write` -> `WritePump`
(straight to the descriptor if that cannot block, else its queue and thread). Imports the standard library and
leaves only, so that `claim` can run before anything that might print. Touches nothing above lines.
"""

import asyncio
import contextlib
import os
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from notes_mcp.settings import Settings
from notes_mcp.wire.jsonrpc import Oversized, Splitter
from notes_mcp.wire.pumps import ReadPump, WritePump

FLUSH_SHARE = 4  # of `drain_ms`: how long closing waits for a client that reads nothing


@dataclass(frozen=True, slots=True)
class Claimed:
    """The descriptors that carry the protocol, ours alone and not inherited by children."""

    fd_in: int
    fd_out: int


def claim() -> Claimed:
    """Takes stdin and stdout away from everyone else; call it before any import that might print.

    Afterwards fd 0 reads nothing, fd 1 and `sys.stdout` lead to stderr (UTF-8 whatever the locale), and a standard
    descriptor that was closed is /dev/null, so that no file opened later gets its number.
    """
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number: `fd`
    claimed = Claimed(os.dup(0), os.dup(1))
    if sys.platform == "win32":
        import msvcrt

        for fd in (claimed.fd_in, claimed.fd_out):
            msvcrt.setmode(fd, os.O_BINARY)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    early = sys.stdout
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    elif hasattr(sys.stderr, "reconfigure"):
        sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.stdout = sys.stderr
    if early is not None:
        # What was printed before us and not yet written goes where all prints go now.
        with contextlib.suppress(OSError, ValueError):
            early.flush()
    return claimed


class Stdio:
    """The stream of one client. Made in a running loop; an async context manager, which then owns both descriptors.

    `broken` is set when nothing can be written any more (the client closed our output); reading ends with it.
    """

    def __init__(self, claimed: Claimed, settings: Settings) -> None:
        self.broken = asyncio.Event()
        self._splitter = Splitter(settings.max_line_in_bytes)
        self._flush_seconds = settings.drain_ms / 1000 / FLUSH_SHARE
        self._reader = ReadPump(claimed.fd_in, claimed.fd_out, self._arrive, self._break)
        self._writer = WritePump(claimed.fd_out, self._progress, self._break)
        self._max_queue = settings.max_queue_out_bytes
        self._given = 0
        self._inbox: deque[bytes] = deque()
        self._over = False
        self._arrival = asyncio.Event()
        self._written = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    async def __aenter__(self) -> Self:
        self._reader.start()
        self._writer.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Writes out what is queued, as long as the client goes on reading, and ends both threads."""
        self._end_input()
        self._reader.stop()
        try:
            await self._flush_while_read()
        finally:
            self._reader.join()
            self._writer.stop()

    @property
    def queued(self) -> int:
        """Bytes taken by `write` that are not with the operating system yet."""
        return self._writer.queued

    async def lines(self) -> AsyncIterator[bytes | Oversized]:
        """Each line once, without its line end, until EOF or `broken`. While nobody iterates, nothing more is read."""
        while not self._over:
            while not self._inbox and not self._over:
                self._arrival.clear()
                await self._arrival.wait()
            if self._over:
                return
            chunk = self._inbox.popleft()
            self._reader.allow()
            for line in self._splitter.feed(chunk) if chunk else self._splitter.end():
                yield line
                if self._over:
                    return
            if not chunk:
                self._over = True

    async def write(self, line: bytes) -> None:
        """Sends `line` and one LF, after everything given before. Waits while `max_queue_out_bytes` are queued.

        The line is taken at once, so cancelling the wait does not lose it. A no-op once `broken`.
        """
        if self.broken.is_set():
            return
        self._given += len(line) + 1
        self._writer.put(line + b"\n")
        while self._writer.queued > self._max_queue and not self.broken.is_set():
            await self._next_progress()

    @property
    def sent(self) -> int:
        """Bytes that the operating system has taken so far."""
        return self._given - self._writer.queued

    @property
    def hung_up(self) -> bool:
        """Whether the client has closed our input, even if lines from before are not taken yet."""
        return self._reader.hung_up()

    async def flush(self) -> None:
        """Returns when everything given so far is with the operating system, or `broken`."""
        while self._writer.queued and not self.broken.is_set():
            await self._next_progress()

    async def _flush_while_read(self) -> None:
        while (left := self._writer.queued) and not self.broken.is_set():
            try:
                async with asyncio.timeout(self._flush_seconds):
                    while self._writer.queued == left:
                        await self._next_progress()
            except TimeoutError:
                return

    async def _next_progress(self) -> None:
        self._written.clear()
        # Cleared first, looked at second: a thread that finishes in between sets it again.
        if self._writer.queued:
            await self._written.wait()

    def _call(self, function: Callable[..., None], *values: bytes) -> None:
        # A daemon thread may notice something only after the loop is closed.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function, *values)

    def _arrive(self, chunk: bytes) -> None:
        self._call(self._take, chunk)

    def _progress(self) -> None:
        self._call(self._written.set)

    def _break(self) -> None:
        self._call(self._end_both)

    def _take(self, chunk: bytes) -> None:
        self._inbox.append(chunk)
        self._arrival.set()

    def _end_both(self) -> None:
        self._writer.drop()
        self.broken.set()
        self._written.set()
        self._end_input()

    def _end_input(self) -> None:
        self._over = True
        self._arrival.set()
