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
from collections.abc import Collection, Iterator, Sequence

from notes_mcp.errors import (
    ExistsError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    ReadOnlyError,
    StaleError,
    StorageError,
)
from notes_mcp.notes.disk.files import (
    Folder,
    carry_new,
    make_folders,
    rename_new,
    rename_over,
    unmake_folders,
    write_temp,
)
from notes_mcp.notes.disk.gate import is_own_temp
from notes_mcp.notes.disk.listing import state_of
from notes_mcp.notes.disk.reading import Reading, file_etag
from notes_mcp.notes.disk.realpath import Trace, is_folder
from notes_mcp.notes.disk.swapping import replace_expected, require_etag
from notes_mcp.notes.disk.told import told
from notes_mcp.notes.records import FileState

TRASH = ".trash"
# Under the lock no write of ours is going on, but a sync tool may bring the temp file of another machine's.
_LEFTOVER_AGE_S = 60
_CLOCK_STEP_NS = 1_000_000_000  # file times may lag behind the clock, or be whole seconds
_MAX_TRASH_NAMES = 10_000


class Vault(Reading):
    """One folder of notes behind its gate. See `Door` for `root`, `case_sensitive`, `ignore` and what is raised."""

    def create(self, path: str, data: bytes, *, mode: int | None = None) -> FileState:
        """A new file, whole or not at all; missing folders are made. ExistsError if the name is taken, also by
        one that only looks different, also at this very moment: nothing is ever overwritten. `mode`: its
        permissions, else those that new files have."""
        with told(path, writing=True):
            trace = self._placed(path)
            if not trace.missing:
                raise _exists(trace.path)
            self._refuse_placeholder(trace)
            self._sweep()
            parts = trace.real + trace.missing
            with self._folder_for(parts) as folder:
                with write_temp(folder, data, mode=mode) as (temp, info):
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
            with self._open(parts[:-1]) as folder:
                if not folder.stat(parts[-1]).st_mode & 0o222:
                    raise ReadOnlyError(f'"{path}" is marked read-only on disk. Nothing was changed.')
                with write_temp(folder, data, like=parts[-1]) as (temp, info):
                    replace_expected(folder, temp, parts[-1], path, expect)
            return state_of("/".join(parts), info)

    def trash_place(self, path: str) -> str:
        """Where `trash` would put that file now: below `.trash`, folders kept, numbered if the name is taken."""
        parts = tuple(path.split("/"))
        with told(path, writing=True):
            for above in ((TRASH, *parts[:-1]), (TRASH,)):
                try:
                    with self._open(above) as folder:
                        name = _free_name(folder, parts[-1])
                except FileNotFoundError:
                    name = parts[-1]
                except NotADirectoryError:
                    continue  # a file is in the way of a folder of the same name
                return "/".join((*above, name))
        raise StorageError(f'"{TRASH}" is not a folder, so nothing can be put there.')

    def trash(self, path: str, *, expect: str | None = None, to: str | None = None) -> str:
        """Moves the file below `.trash`, to the place `to` or else to `trash_place`. Gives its new path.

        ExistsError if `to` is taken."""
        with told(path, writing=True):
            parts = self._file_expected(path, expect)
            self._sweep()
            while True:
                place = tuple((to or self.trash_place("/".join(parts))).split("/"))
                with self._open(parts[:-1]) as source, self._folder_for(place) as target:
                    require_etag(source, parts[-1], path, expect)
                    try:
                        carry_new(source, parts[-1], target, place[-1])
                    except FileExistsError as error:
                        if to is None:
                            continue  # taken by somebody in this very moment
                        raise _exists(to) from error
                    return "/".join(place)

    def restore(self, place: str, path: str, *, expect: str | None = None) -> str:
        """Moves a file from its `place` in the trash to `path`. Gives the real path; ExistsError if it is taken,
        StaleError if the file in the trash is not the expected one, NotFoundError if it is gone."""
        source = _trash_parts(place)
        with told(path, writing=True):
            target = self._placed(path)
            if not target.missing:
                raise _exists(target.path)
            self._sweep()
            parts = target.real + target.missing
            with self._open(source[:-1]) as here, self._folder_for(parts) as there:
                require_etag(here, source[-1], place, expect)
                try:
                    carry_new(here, source[-1], there, parts[-1])
                except FileExistsError as error:
                    raise _exists(target.path) from error
            return target.path

    def trashed_etag(self, place: str) -> str | None:
        """The etag of a file in the trash; None if none is there."""
        *above, name = _trash_parts(place)
        with told(place):
            try:
                with self._open(above) as folder:
                    return file_etag(folder, name, place)
            except (FileNotFoundError, NotADirectoryError):
                return None

    def missing_folders(self, path: str) -> int:
        """How many folders a write of a new file at `path` would make."""
        with told(path):
            return max(0, len(self._placed(path).missing) - 1)

    def unmake_folders(self, path: str, count: int) -> None:
        """Removes the last `count` folders above `path`, from below, as long as they are empty. StorageError if the
        disk is not mounted any more."""
        with told(path, writing=True):
            self._real.root_info()
        unmake_folders(str(self.root), path.split("/")[:-1], count)

    def remove(self, path: str, *, expect: str | None = None) -> str:
        """Deletes the file for good. Gives the path it had. ReadOnlyError for a file nobody may write."""
        with told(path, writing=True):
            parts = self._file_expected(path, expect)
            self._sweep()
            with self._open(parts[:-1]) as folder:
                if not folder.stat(parts[-1]).st_mode & 0o222:
                    raise ReadOnlyError(f'"{path}" is marked read-only on disk. Nothing was changed.')
                require_etag(folder, parts[-1], path, expect)
                folder.unlink(parts[-1])
                folder.sync()
            return "/".join(parts)

    def move(self, path: str, new_path: str, *, expect: str | None = None) -> str:
        """Moves a file or a folder; missing folders are made. Gives the new real path. ExistsError if the name
        is taken, also at this very moment; a new spelling of the same name is no clash."""
        with told(path, writing=True):
            source = self._expected(path, expect)
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
            if is_folder(source.info):
                self._require_visible(self.policy, "/".join(parts), True, new_path)
            if is_folder(source.info) and parts[: len(source.real)] == source.real and len(parts) > len(source.real):
                raise InvalidRequestError(f'"{path}" cannot be moved into itself.')
            self._sweep()
            with self._open(source.real[:-1]) as here, self._folder_for(parts) as there:
                require_etag(here, source.real[-1], path, expect)
                try:
                    if respelled and not self.case_sensitive:
                        rename_over(here, source.real[-1], there, parts[-1])
                    else:
                        carry_new(here, source.real[-1], there, parts[-1])
                except FileExistsError as error:
                    raise _exists("/".join(parts)) from error
            return "/".join(parts)

    def _file_expected(self, path: str, expect: str | None) -> tuple[str, ...]:
        self._expected(path, expect)
        return self._file(path).real

    def _expected(self, path: str, expect: str | None) -> Trace:
        try:
            return self._existing(path)
        except NotFoundError as error:
            if expect is None:
                raise
            raise StaleError(f'"{path}" is gone. Nothing was changed.', None) from error

    @contextlib.contextmanager
    def _folder_for(self, parts: Sequence[str]) -> Iterator[Folder]:
        """The folder of the file `parts`, made if missing."""
        folder, made = make_folders(str(self.root), parts[:-1])
        with self._taken_back(folder, parts[:-1], made):
            self._real.root_info()  # its disk was still mounted once it was open
            yield folder

    @contextlib.contextmanager
    def _taken_back(self, folder: Folder, above: Sequence[str], made: int) -> Iterator[None]:
        """Closes `folder`; if what is done inside fails, the last `made` of its components go again."""
        try:
            with folder:
                yield
        except BaseException:
            unmake_folders(str(self.root), above, made)
            raise

    def _sweep(self) -> None:
        """Removes what a crash left: files the last scan found under our own temp names, once they are old."""
        found, self._leftovers, young = self._leftovers, (), []
        for path in found:
            *above, name = path.split("/")
            with contextlib.suppress(OSError), self._open(above) as folder:
                if (info := _own_temp(folder, name)) is None:
                    continue
                if time.time() - max(info.st_mtime, info.st_ctime) > _LEFTOVER_AGE_S:
                    folder.unlink(name)
                else:
                    young.append(path)
        self._leftovers = tuple(young)

    def clear(self, path: str, since_ns: int, etags: Collection[str] | None) -> None:
        """Removes our temp files beside `path` that were written since then (wall clock), for a change that a crash
        cut short. With `etags` only those that hold just such bytes: what was exchanged may be another's save."""
        above = path.split("/")[:-1]
        with contextlib.suppress(OSError), self._open(above) as folder:
            for name in folder.names():
                info = _own_temp(folder, name) if is_own_temp(name) else None
                if info is None or max(info.st_mtime_ns, info.st_ctime_ns) < since_ns - _CLOCK_STEP_NS:
                    continue
                if etags is None or file_etag(folder, name, path) in etags:
                    folder.unlink(name)


def _own_temp(folder: Folder, name: str) -> os.stat_result | None:
    """The state of a temp file that we, this user, have written; None if it is none."""
    info = folder.stat(name)
    ours = is_own_temp(name) and stat.S_ISREG(info.st_mode)
    return info if ours and (not hasattr(os, "geteuid") or info.st_uid == os.geteuid()) else None


def _trash_parts(place: str) -> tuple[str, ...]:
    parts = tuple(place.split("/"))
    if len(parts) < 2 or parts[0] != TRASH or not set(parts).isdisjoint(("", ".", "..")):
        raise ForbiddenError(f'"{place}" is no place in the trash.')
    return parts


def _free_name(folder: Folder, name: str) -> str:
    for number in range(1, _MAX_TRASH_NAMES):
        numbered = _numbered(name, number)
        try:
            folder.stat(numbered)
        except FileNotFoundError:
            return numbered
    raise StorageError(f'The trash holds too many files named "{name}"; empty it first.')


def _numbered(name: str, number: int) -> str:
    stem, dot, extension = name.rpartition(".")
    if number == 1:
        return name
    return f"{stem} {number}.{extension}" if dot else f"{name} {number}"


def _exists(path: str) -> ExistsError:
    return ExistsError(f'"{path}" already exists. Nothing was overwritten.', path)
