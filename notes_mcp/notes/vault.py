"""The notes folder on disk: scan, stat, read, create, replace, move, trash.

Every public method passes its path through the one gate (`door`); every file is then opened from the
root component by component without following links (`files`), so what was checked is what is used.
Sync, loop-free, thread-safe. Reading never writes. Raises NoteErrors only; paths that come back are
real ones, as the disk spells them. A write is whole or not at all, whenever the process is killed.
"""

import contextlib
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from notes_mcp.errors import (
    ExistsError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    ReadOnlyError,
    StaleError,
    StorageError,
    TooLargeError,
)
from notes_mcp.notes.door import Door
from notes_mcp.notes.files import (
    READ,
    Folder,
    make_folders,
    open_folder,
    rename_new,
    rename_over,
    unmake_folders,
    write_temp,
)
from notes_mcp.notes.gate import is_own_temp
from notes_mcp.notes.listing import Listing, state_of
from notes_mcp.notes.realpath import is_folder
from notes_mcp.notes.records import FileState, Scan
from notes_mcp.notes.text import etag
from notes_mcp.notes.told import told

TRASH = ".trash"
_LEFTOVER_AGE_S = 3600  # a temp file of ours that old belongs to no write that is still going on
_MAX_TRASH_NAMES = 10_000
_READ_TRIES = 3


class Vault(Door):
    """One folder of notes behind its gate. See `Door` for `root`, `case_sensitive`, `ignore` and what is raised."""

    def __init__(self, root: Path, *, ignore: Sequence[str] = (), max_note_bytes: int = 10 * 1024 * 1024) -> None:
        super().__init__(root, ignore=ignore)
        self._max_note_bytes = max_note_bytes
        self._leftovers: tuple[str, ...] = ()

    # -- reading ----------------------------------------------------------------------------------

    def stat(self, path: str) -> FileState | None:
        """The file spelled exactly `path`, or None if none is there or it is a folder, pipe or hidden.

        Its `path` differs from the one asked only where that was a link. Never None for want of
        permission: UnreadableError then, as that proves nothing.
        """
        with told(path):
            try:
                trace = self._trace(path, exact=True)
            except ForbiddenError:
                return None
            if trace.missing:
                info = self._placeholder(trace)
                return state_of(trace.path, info, present=False) if info else None
            return state_of(trace.path, trace.info) if stat.S_ISREG(trace.info.st_mode) else None

    def scan(self, under: str = "", on_progress: Callable[[int], None] | None = None) -> Scan:
        """Every visible file and folder below `under`, sorted. Folders that cannot be listed are `unreadable`:
        nothing in them is proven gone. StorageError if the notes folder itself is not there or seems unmounted."""
        walk = Listing(str(self.root), self.policy, self._link_target, on_progress)
        try:
            walk.run(self.locate_folder(under) if under else "")
        except FileNotFoundError as error:
            if under:
                return Scan((), (), (), ())
            raise StorageError(f'The notes folder "{self.root}" is not there any more.') from error
        except OSError as error:
            raise StorageError(f'The notes folder "{self.root}" cannot be listed: {error.strerror}.') from error
        scan = walk.result()
        if not under:
            self._require_mounted(scan)
            self._leftovers = tuple(walk.leftovers)
        return scan

    def _require_mounted(self, scan: Scan) -> None:
        with told(str(self.root)):
            if not scan.files and os.stat(self.root).st_dev != self._device:
                raise StorageError(f'The disk that holds "{self.root}" is not mounted any more.')

    def _link_target(self, path: str) -> tuple[str, bool] | None:
        """Where a link leads: real path and whether something is there; None if outside."""
        try:
            trace = self._real.trace(path, exact=True)
        except (ForbiddenError, OSError):
            return None
        return trace.path, not trace.missing

    def read(self, path: str) -> tuple[bytes, FileState]:
        """The whole file and its state. TooLargeError over `max_note_bytes`; UnreadableError, BusyError, …"""
        return self.read_attachment(path, self._max_note_bytes)

    def read_attachment(self, path: str, max_bytes: int) -> tuple[bytes, FileState]:
        """The whole file and its state. TooLargeError over `max_bytes`."""
        with told(path):
            trace = self._file(path)
            with open_folder(str(self.root), trace.real[:-1]) as folder:
                data, info = _read(folder, trace.real[-1], trace.path, max_bytes)
            return data, state_of(trace.path, info)

    def read_setting(self, path: str, max_bytes: int = 65_536) -> bytes | None:
        """A file of `.obsidian`, for our own use and never for a client; None if it is not there."""
        parts = path.split("/")
        if parts[0] != ".obsidian" or ".." in parts:
            raise ForbiddenError(f'"{path}" is not a setting.')
        try:
            with open_folder(str(self.root), parts[:-1]) as folder:
                return _read(folder, parts[-1], path, max_bytes)[0]
        except (OSError, ForbiddenError, TooLargeError):
            return None

    # -- writing ----------------------------------------------------------------------------------

    def create(self, path: str, data: bytes) -> FileState:
        """A new file, whole or not at all; missing folders are made. ExistsError if the name is taken, also by
        one that only looks different, also at this very moment: nothing is ever overwritten."""
        with told(path, writing=True):
            trace = self._placed(path)
            if not trace.missing:
                raise _exists(trace.path)
            self._refuse_placeholder(trace)
            self._sweep()
            parts = trace.real + trace.missing
            with self._folder_for(parts) as folder:
                with write_temp(folder, data) as (temp, info):
                    try:
                        rename_new(folder, temp, folder, parts[-1])
                    except FileExistsError as error:
                        raise _exists(trace.path) from error
                return state_of(trace.path, info)

    def replace(self, path: str, data: bytes, *, expect: str | None = None) -> FileState:
        """New bytes for a file that is there, in one step; mode, owner and extended attributes stay.

        `expect` is the etag the file must have when it is replaced: StaleError with the current one
        (None: it is gone) if not. ReadOnlyError for a file nobody may write.
        """
        with told(path, writing=True):
            parts = self._file_expected(path, expect)
            self._sweep()
            with open_folder(str(self.root), parts[:-1]) as folder:
                if not folder.stat(parts[-1]).st_mode & 0o222:
                    raise ReadOnlyError(f'"{path}" is marked read-only on disk. Nothing was changed.')
                with write_temp(folder, data, like=parts[-1]) as (temp, info):
                    _require_etag(folder, parts[-1], path, expect)
                    rename_over(folder, temp, folder, parts[-1])
            return state_of("/".join(parts), info)

    def trash(self, path: str, *, expect: str | None = None) -> str:
        """Moves the file below `.trash`, folders kept, numbered if the name is taken there. Gives the new path."""
        with told(path, writing=True):
            parts = self._file_expected(path, expect)
            self._sweep()
            stem, dot, extension = parts[-1].rpartition(".")
            with open_folder(str(self.root), parts[:-1]) as source, self._folder_for((TRASH, *parts)) as target:
                _require_etag(source, parts[-1], path, expect)
                for number in range(1, _MAX_TRASH_NAMES):
                    name = (
                        parts[-1] if number == 1 else f"{stem} {number}.{extension}" if dot else f"{extension} {number}"
                    )
                    try:
                        rename_new(source, parts[-1], target, name)
                    except FileExistsError:
                        continue
                    return "/".join((TRASH, *parts[:-1], name))
            raise StorageError(f'The trash holds too many files named "{parts[-1]}"; empty it first.')

    def remove(self, path: str, *, expect: str | None = None) -> str:
        """Deletes the file for good. Gives the path it had. ReadOnlyError for a file nobody may write."""
        with told(path, writing=True):
            parts = self._file_expected(path, expect)
            with open_folder(str(self.root), parts[:-1]) as folder:
                if not folder.stat(parts[-1]).st_mode & 0o222:
                    raise ReadOnlyError(f'"{path}" is marked read-only on disk. Nothing was changed.')
                _require_etag(folder, parts[-1], path, expect)
                folder.unlink(parts[-1])
                folder.sync()
            return "/".join(parts)

    def move(self, path: str, new_path: str, *, expect: str | None = None) -> str:
        """Moves a file or a folder; missing folders are made. Gives the new real path. ExistsError if the name
        is taken, also at this very moment; a new spelling of the same name is no clash."""
        with told(path, writing=True):
            source = self._existing(path)
            if not source.real:
                raise InvalidRequestError("The notes folder itself cannot be moved.")
            target = self._placed(new_path)
            parts = target.real + target.missing
            respelled = not target.missing and target.real == source.real
            if respelled:
                parts = (*source.real[:-1], new_path.replace("\\", "/").rstrip("/").rpartition("/")[2])
                if parts == source.real:
                    return source.path
            elif not target.missing:
                raise _exists(target.path)
            if is_folder(source.info) and parts[: len(source.real)] == source.real and len(parts) > len(source.real):
                raise InvalidRequestError(f'"{path}" cannot be moved into itself.')
            with open_folder(str(self.root), source.real[:-1]) as here, self._folder_for(parts) as there:
                _require_etag(here, source.real[-1], path, expect)
                try:
                    if respelled and not self.case_sensitive:
                        rename_over(here, source.real[-1], there, parts[-1])
                    else:
                        rename_new(here, source.real[-1], there, parts[-1])
                except FileExistsError as error:
                    raise _exists("/".join(parts)) from error
            return "/".join(parts)

    def _file_expected(self, path: str, expect: str | None) -> tuple[str, ...]:
        try:
            return self._file(path).real
        except NotFoundError as error:
            if expect is None:
                raise
            raise StaleError(f'"{path}" is gone. Nothing was changed.', None) from error

    @contextlib.contextmanager
    def _folder_for(self, parts: Sequence[str]) -> Iterator[Folder]:
        """The folder of the file `parts`, made if missing and taken back if what follows fails."""
        folder, made = make_folders(str(self.root), parts[:-1])
        try:
            with folder:
                yield folder
        except BaseException:
            unmake_folders(str(self.root), parts[:-1], made)
            raise

    def _sweep(self) -> None:
        """Removes what a crash left: files the last scan found under our own temp names, once they are old."""
        found, self._leftovers = self._leftovers, ()
        for path in found:
            *above, name = path.split("/")
            with contextlib.suppress(OSError), open_folder(str(self.root), above) as folder:
                info = folder.stat(name)
                old = time.time() - max(info.st_mtime, info.st_ctime) > _LEFTOVER_AGE_S
                ours = is_own_temp(name) and stat.S_ISREG(info.st_mode)
                if old and ours and (not hasattr(os, "geteuid") or info.st_uid == os.geteuid()):
                    folder.unlink(name)


def _exists(path: str) -> ExistsError:
    return ExistsError(f'"{path}" already exists. Nothing was overwritten.', path)


def _require_etag(folder: Folder, name: str, path: str, expect: str | None) -> None:
    if expect is None:
        return
    try:
        current = etag(_read(folder, name, path, None)[0])
    except FileNotFoundError as error:
        raise StaleError(f'"{path}" is gone. Nothing was changed.', None) from error
    if current != expect:
        raise StaleError(
            f'"{path}" was changed meanwhile (etag {current}, not {expect}). Nothing was changed.', current
        )


def _read(folder: Folder, name: str, path: str, max_bytes: int | None) -> tuple[bytes, os.stat_result]:
    """The bytes and the state the file had before they were read, so that a write meanwhile shows as a change."""
    fd = folder.open(name, READ)
    with open(fd, "rb", closefd=True) as file:
        for _ in range(_READ_TRIES):
            info = os.fstat(fd)
            if not stat.S_ISREG(info.st_mode):
                raise ForbiddenError(f'"{path}" is not a file.')
            limit = info.st_size if max_bytes is None else max_bytes
            if info.st_size > limit:
                raise TooLargeError(f'"{path}" has {info.st_size:,} bytes; the limit is {limit:,}.')
            file.seek(0)
            data = file.read(-1 if max_bytes is None else limit + 1)
            after = os.fstat(fd)
            if len(data) > limit and max_bytes is not None:
                raise TooLargeError(f'"{path}" has more than the {limit:,} bytes that are the limit.')
            if (after.st_mtime_ns, after.st_size) == (info.st_mtime_ns, len(data)):
                break  # nobody wrote while we read
        return data, info
