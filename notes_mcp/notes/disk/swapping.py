"""New bytes in the place of a file that must still be what it was, to the last instant.

Between looking at a file and renaming over it, an editor may save. So the two are exchanged in one step
where the system can, and what came out is looked at: if it is not what was expected, it goes back, and so
does whatever was saved meanwhile. Elsewhere the look is as late as it can be. Raises StaleError, OSError.
"""

from notes_mcp.errors import NoteError, StaleError
from notes_mcp.notes.disk.files import Folder, exchange, rename_over
from notes_mcp.notes.disk.reading import file_etag

_MOST_SAVES = 1_000  # one editor cannot save that often in a row while we look


def replace_expected(folder: Folder, temp: str, name: str, path: str, expect: str | None) -> None:
    """Puts `temp` in the place of `name` if that has the etag `expect` (None: whatever it is); `temp` may then be
    what was there. `path` is for the error."""
    if expect is None:
        rename_over(folder, temp, folder, name)
        return
    require_etag(folder, name, path, expect)
    ours = folder.stat(temp).st_ino
    if not exchange(folder, temp, name):
        rename_over(folder, temp, folder, name)
        return
    try:
        require_etag(folder, temp, path, expect)
        folder.sync()
        # Once more: a program that had the old file open may only now have written to it.
        require_etag(folder, temp, path, expect)
    except (NoteError, OSError):
        _put_back(folder, temp, name, ours)
        folder.sync()
        raise


def require_etag(folder: Folder, name: str, path: str, expect: str | None) -> None:
    """StaleError with the current etag (None: it is gone) if the file is not the expected one."""
    if expect is None:
        return
    try:
        current = file_etag(folder, name, path)
    except FileNotFoundError as error:
        raise StaleError(f'"{path}" is gone. Nothing was changed.', None) from error
    if current != expect:
        raise StaleError(
            f'"{path}" was changed meanwhile (etag {current}, not {expect}). Nothing was changed.', current
        )


def _put_back(folder: Folder, temp: str, name: str, ours: int) -> None:
    """Exchanges again, until what comes out is what was put there last: else somebody saved in between, and that
    goes back in."""
    out = ours
    for _ in range(_MOST_SAVES):
        placed = folder.stat(temp).st_ino
        try:
            exchange(folder, temp, name)
        except FileNotFoundError:
            return  # deleted after it was saved
        if folder.stat(temp).st_ino == out:
            return
        out = placed
