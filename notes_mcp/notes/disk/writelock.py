"""The lock that lets one process at a time write to a folder. Holds nothing else, knows no notes.

Two locks, always in this order: a file in our own cache directory, and, where the system can, the
notes folder itself (flock(2) on the open directory: no file is made there), which also holds between
servers that were given different cache directories. Both go away with the process, also on kill -9.
"""

import contextlib
import errno
import logging
import os
import time
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from notes_mcp.errors import BusyError
from notes_mcp.notes import patience

if TYPE_CHECKING:
    from filelock import BaseFileLock

_log = logging.getLogger(__name__)

_RETRY_S = 0.004
_UNLOCKABLE = frozenset({errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})


class WriteLock:
    """`with lock:` waits up to `timeout_ms` for every other writer of `root`, then BusyError; or as long as
    somebody wants it (`patience`).

    `directory` is where the lock file goes (made 0700, file 0600); None, or one that cannot be written, leaves
    the lock on the folder itself. One object per thread that writes; not re-entrant.
    """

    def __init__(self, root: Path, directory: Path | None, *, timeout_ms: int = 10_000) -> None:
        self._root = root
        self._timeout_ms = timeout_ms
        name = blake2b(os.fsencode(os.path.realpath(root)), digest_size=8).hexdigest()
        self._file = None if directory is None else directory / f"{name}.lock"
        self._held = contextlib.ExitStack()

    def __enter__(self) -> "WriteLock":
        deadline = time.monotonic() + self._timeout_ms / 1000
        with contextlib.ExitStack() as held:
            self._lock_file(held, deadline)
            self._lock_folder(held, deadline)
            self._held = held.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._held.close()

    def _lock_file(self, held: contextlib.ExitStack, deadline: float) -> None:
        if self._file is None:
            return
        from filelock import FileLock, Timeout  # 50 ms, and only writers pay

        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock: BaseFileLock = FileLock(self._file, mode=0o600)
            while True:
                try:
                    lock.acquire(blocking=False)
                    break
                except Timeout as error:
                    self._wait(deadline, error)
        except OSError as error:
            _log.warning("%s: no lock file there (%s); the lock on the notes folder itself must do", self._file, error)
            self._file = None
            return
        held.callback(lock.release)

    def _lock_folder(self, held: contextlib.ExitStack, deadline: float) -> None:
        if os.name == "nt":
            return
        import fcntl

        try:
            fd = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            return  # the write itself will say what is wrong with the folder
        held.callback(os.close, fd)
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except OSError as error:
                if error.errno in _UNLOCKABLE:
                    return  # network file systems want a file; the one in the cache is held
                if error.errno not in (errno.EAGAIN, errno.EACCES, errno.EINTR):
                    raise
                taken = error
            self._wait(deadline, taken)

    def _wait(self, deadline: float, taken: OSError) -> None:
        if time.monotonic() >= deadline:
            raise BusyError(
                f'Another program has been writing to "{self._root}" for too long. Try again in a moment.'
            ) from taken
        patience.still_wanted()
        time.sleep(_RETRY_S)
