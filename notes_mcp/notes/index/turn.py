"""Whose turn it is to read notes for a shared index, so that each is read once however many servers there are.

Two lock files beside the index. Who waits holds `next`, so that the one at work, done with a portion, is not
first again: servers take turns. Both locks end with the process, also on kill -9. They are a courtesy: one
that cannot be had, or not in time, is gone without. Knows no notes.
"""

import contextlib
import errno
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

WAIT_S = 5.0  # longer than a portion takes: then the one whose turn it is hangs
_RETRY_S = 0.002
_TAKEN = frozenset({errno.EAGAIN, errno.EACCES, errno.EDEADLK, errno.EINTR})
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0)


class Turn:
    """`with turn.taken():` is for one server at a time of those that share `index_file`. Not re-entrant."""

    def __init__(self, index_file: Path) -> None:
        self._next = index_file.with_suffix(".next")
        self._turn = index_file.with_suffix(".turn")
        self._wait_s = WAIT_S

    @contextlib.contextmanager
    def taken(self) -> Iterator[bool]:
        """Gives whether the turn is ours. After a wait in vain nobody is waited for until the turn was free again."""
        deadline = time.monotonic() + self._wait_s
        with contextlib.ExitStack() as held:
            with contextlib.ExitStack() as waiting:
                ours = _locked(self._next, waiting, deadline) and _locked(self._turn, held, deadline)
            self._wait_s = WAIT_S if ours else 0.0
            yield ours


def _locked(file: Path, held: contextlib.ExitStack, deadline: float) -> bool:
    """Whether the lock could be had; it lasts as long as `held`."""
    try:
        fd = os.open(file, _FLAGS, 0o600)
    except OSError:
        return False
    held.callback(os.close, fd)
    while True:
        try:
            _claim(fd)
            return True
        except OSError as error:
            if error.errno not in _TAKEN or time.monotonic() >= deadline:
                return False  # or a disk that knows no locks
        time.sleep(_RETRY_S)


def _claim(fd: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
