"""The half of the vault that only looks: scan, stat, read. Nothing here can write.

Every path passes the one gate (`door`); every file is then opened from the root component by component
without following links (`files`), so what was checked is what is read. Regular files only; a pipe
cannot hang a reader. Raises NoteErrors only.
"""

import hashlib
import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

from notes_mcp.errors import BusyError, ForbiddenError, StorageError, TooLargeError
from notes_mcp.notes.disk.door import Door
from notes_mcp.notes.disk.files import READ, Folder
from notes_mcp.notes.disk.listing import Listing, downloaded, state_of
from notes_mcp.notes.disk.realpath import Trace
from notes_mcp.notes.disk.told import told
from notes_mcp.notes.records import FileState, Scan
from notes_mcp.notes.text import new_hash

_READ_TRIES = 3


class Reading(Door):
    """What can be known of a folder of notes without touching it. `max_note_bytes` bounds `read`."""

    def __init__(self, root: Path, *, ignore: Sequence[str] = (), max_note_bytes: int = 10 * 1024 * 1024) -> None:
        super().__init__(root, ignore=ignore)
        self._max_note_bytes = max_note_bytes
        self._leftovers: tuple[str, ...] = ()

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

    def writable(self) -> bool:
        """Whether this user may make files at the top of the folder; asked of the system, nothing is tried."""
        return os.access(self.root, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids)

    def scan(self, under: str = "", on_progress: Callable[[int], None] | None = None) -> Scan:
        """Every visible file and folder below `under`, sorted. Folders that cannot be listed are `unreadable`:
        nothing in them is proven gone. StorageError if the notes folder itself is not there or seems unmounted;
        NotFoundError, ForbiddenError, … for `under` like `locate_folder`."""
        listing = Listing(str(self.root), self.policy, self._disks, self._link_target, on_progress)
        with told(under):
            try:
                listing.run(self.locate_folder(under) if under else "")
            except (FileNotFoundError, NotADirectoryError) as error:
                if not under:
                    raise StorageError(f'The notes folder "{self.root}" is not there any more.') from error
        scan = listing.result()
        if not under:
            self._require_mounted(scan)
            self._leftovers = tuple(listing.leftovers)
        return scan

    def require_present(self) -> None:
        """StorageError if the notes folder itself is gone or its disk seems unmounted: nothing in it is proven gone."""
        with told(str(self.root)):
            if self._real.root_info().st_dev != self._device and not os.listdir(self.root):
                raise StorageError(f'The disk that holds "{self.root}" is not mounted any more.')

    def _require_mounted(self, scan: Scan) -> None:
        with told(str(self.root)):
            device = self._real.root_info().st_dev
            if device != self._device and not scan.files:
                raise StorageError(f'The disk that holds "{self.root}" is not mounted any more.')
            self._device = device  # mounted again, under another number

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

    def read_here(self, path: str) -> tuple[bytes, FileState]:
        """The same for a file that nobody asked for by name: BusyError where a cloud drive would have to fetch it."""
        with told(path):
            trace = self._file(path)
            if not downloaded(trace.info):
                raise BusyError(f'"{path}" is not on this computer yet. Read it by its path to have it fetched.')
            return self._bytes(trace, self._max_note_bytes)

    def read_attachment(self, path: str, max_bytes: int) -> tuple[bytes, FileState]:
        """The whole file and its state. TooLargeError over `max_bytes`."""
        with told(path):
            return self._bytes(self._file(path), max_bytes)

    def _bytes(self, trace: Trace, max_bytes: int) -> tuple[bytes, FileState]:
        with self._open(trace.real[:-1]) as folder:
            data, info = read_file(folder, trace.real[-1], trace.path, max_bytes)
        return data, state_of(trace.path, info)

    def etag(self, path: str) -> str | None:
        """The etag of the file spelled exactly `path`, of any size; None if none is there (or a link, or hidden)."""
        with told(path):
            try:
                trace = self._trace(path, exact=True)
            except ForbiddenError:
                return None
            if trace.missing or trace.path != path or not stat.S_ISREG(trace.info.st_mode):
                return None
            try:
                with self._open(trace.real[:-1]) as folder:
                    return file_etag(folder, trace.real[-1], path)
            except FileNotFoundError:
                return None

    def mode(self, path: str) -> int:
        """The file's permissions. Raises like `locate`."""
        with told(path):
            return stat.S_IMODE(self._file(path).info.st_mode)

    def is_same_file(self, path: str, other: str) -> bool:
        """Whether both names, spelled exactly so, are of one file on disk (hard links)."""
        with told(path):
            here, there = self._trace(path, exact=True), self._trace(other, exact=True)
            if here.missing or there.missing or not here.info.st_ino:
                return False
            return os.path.samestat(here.info, there.info)

    def read_setting(self, path: str, max_bytes: int = 65_536) -> bytes | None:
        """A file of `.obsidian`, for our own use and never for a client; None if it is not there."""
        parts = path.split("/")
        if parts[0] != ".obsidian" or ".." in parts:
            raise ForbiddenError(f'"{path}" is not a setting.')
        try:
            with self._open(parts[:-1]) as folder:
                return read_file(folder, parts[-1], path, max_bytes)[0]
        except (OSError, ForbiddenError, TooLargeError):
            return None


def read_file(folder: Folder, name: str, path: str, max_bytes: int | None) -> tuple[bytes, os.stat_result]:
    """The bytes and the state the file had before they were read, so that a write meanwhile shows as a change."""
    fd = folder.open(name, READ)
    try:
        for _ in range(_READ_TRIES):
            info = os.fstat(fd)
            if not stat.S_ISREG(info.st_mode):
                raise ForbiddenError(f'"{path}" is not a file.')
            if max_bytes is not None and info.st_size > max_bytes:
                raise TooLargeError(f'"{path}" has {info.st_size:,} bytes; the limit is {max_bytes:,}.')
            data = _read_up_to(fd, info.st_size + 1)
            after = os.fstat(fd)
            if (after.st_mtime_ns, after.st_size) == (info.st_mtime_ns, len(data)):
                break  # nobody wrote while we read
            os.lseek(fd, 0, os.SEEK_SET)
        return data[: info.st_size], info
    finally:
        os.close(fd)


def file_etag(folder: Folder, name: str, path: str) -> str:
    """The etag of a file of any size, in little memory."""
    fd = folder.open(name, READ)
    with open(fd, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise ForbiddenError(f'"{path}" is not a file.')
        return hashlib.file_digest(file, new_hash).hexdigest()


def _read_up_to(fd: int, size: int) -> bytes:
    data = os.read(fd, size)
    while 0 < len(data) < size and (more := os.read(fd, size - len(data))):
        data += more
    return data
