"""What the operating system says, in the user's words. One table, one context manager; touches nothing.

Data: `OSError` -> the NoteError of its kind with a sentence that names the path and the way out.
"""

import contextlib
import errno
from collections.abc import Iterator

from notes_mcp.errors import (
    BusyError,
    ForbiddenError,
    InvalidRequestError,
    NoteError,
    NotFoundError,
    StorageError,
    UnreadableError,
)

_DENIED = frozenset({errno.EACCES, errno.EPERM})
_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR})
_BUSY = frozenset(
    {errno.EBUSY, errno.ETXTBSY, errno.EAGAIN, errno.EDEADLK, errno.ETIMEDOUT, errno.EMFILE, errno.ENFILE}
)
_SHARING_VIOLATIONS = frozenset({32, 33, 1224})  # Windows: open elsewhere, locked, mapped

_STORAGE = {
    errno.ENOSPC: "the disk is full; free some space and try again",
    errno.EDQUOT: "your disk quota is used up; free some space and try again",
    errno.EROFS: "the folder is on a read-only file system",
    errno.EFBIG: "the file system does not take files that large",
    errno.EIO: "the disk reports an input/output error; check it before going on",
    errno.ESTALE: "the network folder went away; mount it again",
    errno.ENODEV: "the disk went away; connect it again",
    errno.ENXIO: "the disk went away; connect it again",
    errno.EXDEV: "source and target are on different disks",
}


def error_for(error: OSError, path: str, *, writing: bool) -> NoteError:
    """The NoteError for `error`, which happened while reading or writing `path`."""
    path = path if len(path) <= 300 else f"{path[:297]}…"
    code, verb = error.errno, "written" if writing else "read"
    nothing = " Nothing was changed." if writing else ""
    if getattr(error, "winerror", None) in _SHARING_VIOLATIONS or code in _BUSY:
        return BusyError(f'"{path}" cannot be {verb} just now: it is in use. Try again in a moment.{nothing}')
    if code in _DENIED:
        return UnreadableError(f'"{path}" cannot be {verb}: the operating system denies access.{nothing}')
    if code in _ABSENT:
        return NotFoundError(f'There is no "{path}" in the notes folder.')
    if code == errno.ELOOP:
        return ForbiddenError(f'"{path}" leads through a link that is not followed.{nothing}')
    if code == errno.ENAMETOOLONG:
        if writing:
            return InvalidRequestError(f'The name of "{path}" is too long for this disk; use a shorter one.{nothing}')
        return NotFoundError(f'There is no "{path}" in the notes folder; the name is longer than a name can be.')
    reason = _STORAGE.get(code or 0) or error.strerror or "the disk would not do it"
    return StorageError(f'"{path}" cannot be {verb}: {reason}.{nothing}')


@contextlib.contextmanager
def told(path: str, *, writing: bool = False) -> Iterator[None]:
    """Turns every OSError inside into the NoteError for `path`."""
    try:
        yield
    except OSError as error:
        raise error_for(error, path, writing=writing) from error
