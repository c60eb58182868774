"""The two daemon threads between descriptors and the loop, for what the loop cannot wait for itself (see `pipes`).

`ReadPump`: descriptor -> chunks, one ahead of the loop. `WritePump`: frames -> descriptor, in
order, straight from the loop while that cannot block. Each owns its descriptor and closes it when it ends. They
call back from their threads and know neither asyncio nor lines. Where there is `poll` they can be told to end
while they wait; elsewhere (Windows) they may outlive their user, and as daemons end with the process.
"""

import os
import select
import socket
import stat
import threading  # noqa: TID251 - the wire's threads live here
from collections import deque
from collections.abc import Callable

CHUNK_BYTES = 65_536
DIRECT_BYTES = 65_536  # how much of one frame the loop may write itself
JOIN_SECONDS = 0.1
HAS_POLL = hasattr(select, "poll")
_PEER_GONE = getattr(select, "POLLRDHUP", 0)  # a socket that was shut down for writing only


class ReadPump:
    """Reads `fd_in` to its end and watches `fd_out` meanwhile.

    `arrive(chunk)`: up to 64 KiB, b"" once at EOF (or where reading fails, as on a terminal that went away).
    `broke()`: the other side closed our output, after which nothing more is read.
    """

    def __init__(self, fd_in: int, fd_out: int, arrive: Callable[[bytes], None], broke: Callable[[], None]) -> None:
        self._fd_in = fd_in
        self._fd_out = fd_out
        self._arrive = arrive
        self._broke = broke
        self._stopping = False
        self._ended = False
        self._room = threading.Semaphore(1)
        self._thread = threading.Thread(target=self._run, name="wire-reader", daemon=True)
        self._wake_in, self._wake_out = os.pipe() if HAS_POLL else (-1, -1)

    def start(self) -> None:
        """Starts reading."""
        self._thread.start()

    def allow(self) -> None:
        """The loop has taken the chunk that arrived. Once a chunk."""
        self._room.release()

    def stop(self) -> None:
        """Ends the thread soon; what it has not read stays unread. May be repeated."""
        if not self._stopping:
            self._stopping = True
            self._room.release()
            if HAS_POLL:
                os.close(self._wake_out)

    def join(self) -> None:
        """Waits for the end of the thread, but not for long."""
        self._thread.join(JOIN_SECONDS)

    def hung_up(self) -> bool:
        """Whether the other side has closed our input, though what it wrote may still be unread here."""
        return self._ended or hangs_up(self._fd_in)

    def _run(self) -> None:
        poller = self._poller()
        try:
            while self._room.acquire() and self._readable(poller):
                try:
                    chunk = os.read(self._fd_in, CHUNK_BYTES)
                except BlockingIOError:
                    self._room.release()  # a non-blocking descriptor, and someone else was faster
                    continue
                except OSError:
                    chunk = b""
                self._arrive(chunk)
                if not chunk:
                    # Calls may still be running: go on watching the output for them.
                    self._watch_output(poller)
                    return
        finally:
            self._ended = True
            os.close(self._fd_in)
            if HAS_POLL:
                os.close(self._wake_in)

    def _poller(self) -> "select.poll | None":
        if not HAS_POLL:
            return None
        poller = select.poll()
        poller.register(self._fd_in, select.POLLIN)
        poller.register(self._fd_out, 0)  # errors and hang-ups are always told
        poller.register(self._wake_in, 0)
        return poller

    def _readable(self, poller: "select.poll | None") -> bool:
        """Waits until there is something to read (True), or reading must end (False)."""
        while not self._stopping:
            if poller is None:
                return True
            events = dict(poller.poll())
            if self._wake_in in events:
                return False
            if (event := events.get(self._fd_out)) is not None:
                if not event & select.POLLNVAL:
                    self._broke()
                    return False
                poller.unregister(self._fd_out)  # some systems cannot poll devices
            if self._fd_in in events:
                return True
        return False

    def _watch_output(self, poller: "select.poll | None") -> None:
        if poller is not None:
            poller.unregister(self._fd_in)
            self._readable(poller)


class WritePump:
    """Writes frames to `fd` in the order of `put`.

    `progressed()`: some of `queued` is written. `broke()`: the other side is gone; whatever is put is dropped.
    """

    def __init__(self, fd: int, progressed: Callable[[], None], broke: Callable[[], None]) -> None:
        self._fd = fd
        self._progressed = progressed
        self._broke = broke
        self.queued = 0
        """Bytes put and not yet written, those in the thread's hands included."""
        self._frames: deque[memoryview] = deque()
        self._ended = False
        self._changed = threading.Condition()
        self._piece = _piece_bytes(fd)
        self._thread = threading.Thread(target=self._run, name="wire-writer", daemon=True)

    def start(self) -> None:
        """Starts the thread, which sleeps until a frame cannot be written at once."""
        self._thread.start()

    def put(self, frame: bytes) -> None:
        """Takes one frame and never blocks. For one thread only: the loop's."""
        with self._changed:
            if self._ended:
                return
            view = memoryview(frame)
            if not self.queued and self._piece:
                try:
                    view = view[self._write_now(view[:DIRECT_BYTES]) :]
                except OSError:
                    self._end()
                    self._broke()
                    return
            if view:
                self._frames.append(view)
                self.queued += len(view)
                self._changed.notify()

    def drop(self) -> None:
        """Forgets what is queued and takes nothing more."""
        with self._changed:
            self._end()

    def stop(self) -> None:
        """Drops what is queued and ends the thread; waits for that, but not for long."""
        self.drop()
        self._thread.join(JOIN_SECONDS)

    def _end(self) -> None:
        self._ended = True
        self._frames.clear()
        self.queued = 0
        self._changed.notify()

    def _write_now(self, view: memoryview) -> int:
        """Writes what can be written without waiting; returns how many bytes that was."""
        poller = select.poll()
        poller.register(self._fd, select.POLLOUT)
        done = 0
        while done < len(view) and poller.poll(0):
            try:
                done += os.write(self._fd, view[done : done + self._piece])
            except BlockingIOError:
                break
        return done

    def _run(self) -> None:
        try:
            while batch := self._next():
                self._write(batch)
        except OSError:
            with self._changed:
                self._end()
            self._broke()
        finally:
            os.close(self._fd)

    def _next(self) -> memoryview | None:
        """The next frames as one run of bytes, None at the end. Waits until there are some."""
        with self._changed:
            while not self._frames and not self._ended:
                self._changed.wait()
            if self._ended:
                return None
            batch = [self._frames.popleft()]
            size = len(batch[0])
            while self._frames and size + len(self._frames[0]) <= CHUNK_BYTES:
                batch.append(self._frames.popleft())
                size += len(batch[-1])
        return batch[0] if len(batch) == 1 else memoryview(b"".join(batch))

    def _write(self, batch: memoryview) -> None:
        while batch:
            try:
                done = os.write(self._fd, batch[:CHUNK_BYTES])
            except BlockingIOError:
                # Someone who shares the open file made it non-blocking.
                select.select([], [self._fd], [])
                continue
            batch = batch[done:]
            with self._changed:
                if self._ended:
                    return
                self.queued -= done
            self._progressed()


def hangs_up(fd: int) -> bool:
    """Whether nothing more will be written to this input. False where that cannot be told."""
    if not HAS_POLL:
        return False
    poller = select.poll()
    poller.register(fd, _PEER_GONE)
    return any(event & (select.POLLHUP | _PEER_GONE) for _, event in poller.poll(0))


def _piece_bytes(fd: int) -> int:
    """How much can be written without blocking once `poll` says writable; 0: nothing is promised.

    POSIX promises it for pipes (`PIPE_BUF`). A stream socket counts as writable on Linux when three quarters of
    its buffer are free.
    """
    if not HAS_POLL:
        return 0
    mode = os.fstat(fd).st_mode
    if stat.S_ISFIFO(mode):
        return select.PIPE_BUF
    if stat.S_ISSOCK(mode):
        with socket.socket(fileno=os.dup(fd)) as connection:
            roomy = connection.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) >= 8 * select.PIPE_BUF
        return select.PIPE_BUF if roomy else 0
    return 0
