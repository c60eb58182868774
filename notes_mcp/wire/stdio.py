"""Bytes <-> lines over two file descriptors; the only place that knows fd 0 and fd 1.

Flow in: descriptor -> `PipeReader` on the loop, or `ReadPump`'s thread -> `Splitter` -> `take`, line by line. Flow
out: `send` -> one piece a turn -> `PipeWriter`, or `WritePump` with its queue and thread. Imports the standard library
and leaves only, so that `claim` can run before anything that might print. Touches nothing above lines.
"""

import asyncio
import contextlib
import os
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from notes_mcp.settings import Settings
from notes_mcp.wire.lines import Oversized, Splitter
from notes_mcp.wire.pipes import PipeReader, PipeWriter, on_the_loop
from notes_mcp.wire.pumps import ReadPump, WritePump

LINES_PER_TURN = 32
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
        self._loop = asyncio.get_running_loop()
        fd_in, fd_out = claimed.fd_in, claimed.fd_out
        self._reader: PipeReader | ReadPump
        self._writer: PipeWriter | WritePump
        if on_the_loop(fd_in):
            self._reader = PipeReader(fd_in, fd_out, self._arrive, self._break)
        else:
            self._reader = ReadPump(fd_in, fd_out, self._called(self._arrive), self._called(self._break))
        if on_the_loop(fd_out):
            self._writer = PipeWriter(fd_out, self._progress, self._break)
        else:
            self._writer = WritePump(fd_out, self._called(self._progress), self._called(self._break))
        self._max_queue = settings.max_queue_out_bytes
        self._given = 0
        self._frames: list[bytes] = []
        self._frames_bytes = 0
        self._uncorking = False
        self._lines: deque[bytes | Oversized] = deque()
        self._take: Callable[[bytes | Oversized], bool] | None = None
        self._wanted = False
        self._turning = False
        self._chunk_taken = True
        self._eof = False
        self._over = asyncio.Event()
        self._written = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._reader.start()
        self._writer.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Writes out what is queued, as long as the client goes on reading, and lets go of both descriptors."""
        self._over.set()
        self._reader.stop()
        try:
            await self._flush_while_read()
        finally:
            self._reader.join()
            self._writer.stop()

    async def read(self, take: Callable[[bytes | Oversized], bool]) -> None:
        """Calls `take` with each line, without its line end, on the loop; returns at EOF or when `broken`.

        After `take` said False, and while `full`, no line is given and nothing more is read. `resume` ends the first.
        """
        self._take, self._wanted = take, True
        self._turn()
        try:
            await self._over.wait()
        finally:
            self._take, self._wanted = None, False

    def resume(self) -> None:
        """Lines are wanted again, if somebody reads."""
        if self._take is not None and not self._wanted and not self._over.is_set():
            self._wanted = True
            self._turn_soon()

    def send(self, line: bytes) -> None:
        """Sends `line` and one LF, after everything given before; what is given in one turn goes in one piece.

        A no-op once `broken`.
        """
        if self.broken.is_set():
            return
        self._frames += (line, b"\n")
        self._frames_bytes += len(line) + 1
        self._given += len(line) + 1
        if not self._uncorking:
            self._uncorking = True
            self._loop.call_soon(self._uncork)

    @property
    def queued(self) -> int:
        """Bytes taken by `send` that are not with the operating system yet."""
        return self._frames_bytes + self._writer.queued

    @property
    def full(self) -> bool:
        """Whether more than `max_queue_out_bytes` are queued."""
        return self.queued > self._max_queue

    async def room(self) -> None:
        """Returns when the stream is not `full`, or `broken`."""
        self._uncork()
        while self.full and not self.broken.is_set():
            await self._next_progress()

    @property
    def sent(self) -> int:
        """Bytes that the operating system has taken so far."""
        return self._given - self.queued

    @property
    def hung_up(self) -> bool:
        """Whether the client has closed our input, even if lines from before are not taken yet."""
        return self._reader.hung_up()

    async def flush(self) -> None:
        """Returns when everything given so far is with the operating system, or `broken`."""
        self._uncork()
        while self.queued and not self.broken.is_set():
            await self._next_progress()

    async def _flush_while_read(self) -> None:
        self._uncork()
        while (left := self.queued) and not self.broken.is_set():
            try:
                async with asyncio.timeout(self._flush_seconds):
                    while self.queued == left:
                        await self._next_progress()
            except TimeoutError:
                return

    async def _next_progress(self) -> None:
        self._written.clear()
        # Cleared first, looked at second: a thread that finishes in between sets it again.
        if self.queued:
            await self._written.wait()

    def _uncork(self) -> None:
        self._uncorking = False
        if self._frames:
            frames, self._frames, self._frames_bytes = b"".join(self._frames), [], 0
            self._writer.put(frames)

    def _turn(self) -> None:
        """Gives out some of the lines that are here, and what they were answered with at once goes in one piece."""
        self._turning = False
        corked, self._uncorking = self._uncorking, True
        for _ in range(LINES_PER_TURN):
            if not self._lines or self._take is None or not self._wanted or self._over.is_set() or self.full:
                break
            self._wanted = self._take(self._lines.popleft())
        self._uncorking = corked
        if not corked:
            self._uncork()
        if self._lines:
            if self._wanted and not self.full:
                self._turn_soon()  # a client that always has a line ready must not keep the calls from running
        elif self._eof:
            self._over.set()
        elif self._wanted and not self.full and not self._chunk_taken:
            self._chunk_taken = True
            self._reader.allow()

    def _turn_soon(self) -> None:
        if not self._turning:
            self._turning = True
            self._loop.call_soon(self._turn)

    def _called(self, function: Callable[..., None]) -> Callable[..., None]:
        """`function`, but called on the loop, from any thread."""

        def call(*values: bytes) -> None:
            # A daemon thread may notice something only after the loop is closed.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(function, *values)

        return call

    def _arrive(self, chunk: bytes) -> None:
        self._lines += self._splitter.feed(chunk) if chunk else self._splitter.end()
        self._eof, self._chunk_taken = not chunk, False
        self._turn()

    def _progress(self) -> None:
        self._written.set()
        if not self.full:
            self._turn_soon()

    def _break(self) -> None:
        self._writer.drop()
        self._frames, self._frames_bytes = [], 0
        self.broken.set()
        self._written.set()
        self._over.set()
