"""Pipes and sockets read and written by the loop itself, where the platform has epoll: no thread, no hand-over.

The same two ends as in `pumps`, with the same callbacks, but called on the loop. Each owns its descriptor and closes
it when it is stopped. The descriptors stay blocking, since whoever is at the other end, or shares ours, would be
affected: a socket is asked not to wait call by call, a pipe is given only what it certainly has room for.
"""

import asyncio
import contextlib
import os
import select
import socket
import stat
from collections import deque
from collections.abc import Callable

from notes_mcp.wire.pumps import CHUNK_BYTES, hangs_up

BURST_BYTES = 262_144
"""How much is written in one turn of the loop at most."""


def on_the_loop(fd: int) -> bool:
    """Whether the loop can wait for this descriptor itself. Files, devices and terminals need a thread."""
    if not hasattr(select, "epoll"):
        return False
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


class PipeReader:
    """Reads `fd_in` to its end and watches `fd_out` meanwhile. See `pumps.ReadPump` for the callbacks."""

    def __init__(self, fd_in: int, fd_out: int, arrive: Callable[[bytes], None], broke: Callable[[], None]) -> None:
        self._fd_in = fd_in
        self._socket = _socket_of(fd_in)
        self._arrive = arrive
        self._broke = broke
        self._loop = asyncio.get_running_loop()
        self._listening = self._allowed = self._over = False
        # An epoll of its own for the output, with no event wished for: errors and hang-ups are always told.
        self._hang_up = select.epoll()
        with contextlib.suppress(OSError):  # files and some devices cannot hang up
            self._hang_up.register(fd_out, 0)

    def start(self) -> None:
        """Starts reading."""
        self._loop.add_reader(self._hang_up.fileno(), self._hung_up)
        self.allow()

    def allow(self) -> None:
        """The chunk that arrived is taken."""
        self._allowed = True
        if not self._listening and not self._over:
            self._listening = True
            self._loop.add_reader(self._fd_in, self._readable)

    def stop(self) -> None:
        """What is not read yet stays unread. May be repeated."""
        if self._hang_up.closed:
            return
        self._pause()
        self._over = True
        self._loop.remove_reader(self._hang_up.fileno())
        self._hang_up.close()
        if self._socket is not None:
            self._socket.close()
        os.close(self._fd_in)

    def join(self) -> None:
        """There is nothing to wait for."""

    def hung_up(self) -> bool:
        """Whether the other side has closed our input, though what it wrote may still be unread here."""
        return self._over or hangs_up(self._fd_in)

    def _readable(self) -> None:
        try:
            if self._socket is not None:
                chunk = self._socket.recv(CHUNK_BYTES, socket.MSG_DONTWAIT)
            else:
                chunk = os.read(self._fd_in, CHUNK_BYTES)
        except BlockingIOError:
            return  # someone who shares the descriptor was faster
        except OSError:
            chunk = b""
        self._allowed = False
        if not chunk:
            self._pause()
            self._over = True
        self._arrive(chunk)
        if not self._allowed:
            self._pause()

    def _pause(self) -> None:
        if self._listening:
            self._listening = False
            self._loop.remove_reader(self._fd_in)

    def _hung_up(self) -> None:
        self._loop.remove_reader(self._hang_up.fileno())
        self._pause()
        self._over = True
        self._broke()


class PipeWriter:
    """Writes frames to `fd` in the order of `put`. See `pumps.WritePump` for the callbacks."""

    def __init__(self, fd: int, progressed: Callable[[], None], broke: Callable[[], None]) -> None:
        self._fd = fd
        self._socket = _socket_of(fd)
        self._progressed = progressed
        self._broke = broke
        self._loop = asyncio.get_running_loop()
        self.queued = 0
        """Bytes put and not yet written."""
        self._frames: deque[memoryview] = deque()
        self._waiting = self._ended = self._closed = False
        self._poller = select.poll()
        self._poller.register(fd, select.POLLOUT)
        self._capacity = _capacity(fd) if self._socket is None else 0

    def start(self) -> None:
        """There is nothing to start."""

    def put(self, frame: bytes) -> None:
        """Takes one frame and never blocks."""
        if self._ended:
            return
        self._frames.append(memoryview(frame))
        self.queued += len(frame)
        if not self._waiting:
            self._write()

    def drop(self) -> None:
        """Forgets what is queued and takes nothing more."""
        self._ended = True
        self._frames.clear()
        self.queued = 0
        self._wait(False)

    def stop(self) -> None:
        """Drops what is queued and closes the descriptor. May be repeated."""
        self.drop()
        if not self._closed:
            self._closed = True
            if self._socket is not None:
                self._socket.close()
            os.close(self._fd)

    def _write(self) -> None:
        """What there is room for now; the rest once there is room again."""
        burst = BURST_BYTES
        try:
            while self._frames and burst > 0:
                done = self._write_some(self._frames[0])
                if not done:
                    break
                burst -= done
                self.queued -= done
                left = self._frames.popleft()[done:]
                if left:
                    self._frames.appendleft(left)
        except OSError:
            self.drop()
            self._broke()
            return
        self._wait(bool(self._frames))

    def _write_some(self, frame: memoryview) -> int:
        """How many bytes of it went without waiting."""
        try:
            if self._socket is not None:
                return self._socket.send(frame[:CHUNK_BYTES], socket.MSG_DONTWAIT)
            room = self._room(len(frame))
            return os.write(self._fd, frame[:room]) if room else 0
        except BlockingIOError:
            return 0

    def _room(self, wanted: int) -> int:
        """Bytes the pipe certainly has room for: what is writable takes PIPE_BUF, what is empty all it can hold."""
        if not self._poller.poll(0):
            return 0
        return self._capacity if wanted > select.PIPE_BUF and _is_empty(self._fd) else select.PIPE_BUF

    def _wait(self, waiting: bool) -> None:
        if waiting and not self._waiting:
            self._loop.add_writer(self._fd, self._writable)
        elif self._waiting and not waiting:
            self._loop.remove_writer(self._fd)
        self._waiting = waiting

    def _writable(self) -> None:
        self._write()
        self._progressed()


def _socket_of(fd: int) -> socket.socket | None:
    return socket.socket(fileno=os.dup(fd)) if stat.S_ISSOCK(os.fstat(fd).st_mode) else None


def _capacity(fd: int) -> int:
    import fcntl

    return fcntl.fcntl(fd, fcntl.F_GETPIPE_SZ)


def _is_empty(fd: int) -> bool:
    import fcntl
    import termios

    return not any(fcntl.ioctl(fd, termios.FIONREAD, bytes(4)))
