"""Before-images of every write, kept in the user's state directory, for undo and for what a crash cut short.

One file a change (`changefile`), named by its id, so that names in order are changes in order. It appears
whole or not at all, in a directory beside until the change is done. Several processes may use one
directory. Sync; knows nothing of notes folders but the paths it is told. Raises OSError and NotFoundError.
"""

import contextlib
import os
import re
import secrets
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from notes_mcp.errors import NotFoundError
from notes_mcp.notes.changes import changefile
from notes_mcp.notes.changes.changefile import Image as Image

_SUFFIX = ".change"
_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"  # in ASCII order; no letter that reads like a digit
_TIME_DIGITS = 11  # 55 bits of microseconds: good until the year 3111
_RANDOM_DIGITS = 4
_CHANGE_ID = re.compile(f"[{_DIGITS}]{{{_TIME_DIGITS + _RANDOM_DIGITS}}}")
_PRUNE_EVERY = 64  # records of one process
_TEMP_LIFE_S = 3600
_NEAREST = 5


@dataclass(frozen=True, slots=True)
class Summary:
    """A change without its images. `paths` are those of its images, in order."""

    change_id: str
    tool: str
    when_ns: int  # wall clock, since the epoch
    paths: tuple[str, ...]
    undoes: str | None  # the change that this one took back
    undone_by: str | None  # the change that took this one back, unless that was undone as well


@dataclass(frozen=True, slots=True)
class Record:
    """A change with all it needs to be taken back."""

    change_id: str
    tool: str
    when_ns: int
    images: tuple[Image, ...]
    undoes: str | None
    undone_by: str | None


class Journal:
    """The changes in `directory` (made at the first record, mode 0700; files 0600), bounded by size and age."""

    def __init__(self, directory: Path, *, max_bytes: int = 500 * 1024 * 1024, keep_days: float = 30) -> None:
        self._directory = directory
        self._pending = directory.with_name(directory.name + "-pending")
        self._max_bytes = max_bytes
        self._keep_ns = int(keep_days * 86_400 * 1_000_000_000)
        self._recorded = 0
        self._newest = ""  # the time in the newest id, once it was looked for

    def record(self, tool: str, images: Sequence[Image], *, undoes: str | None = None) -> str:
        """`begin` and `commit` in one, for a change that is one step."""
        change_id = self.begin(tool, images, undoes=undoes)
        self.commit(change_id)
        return change_id

    def begin(self, tool: str, images: Sequence[Image], *, undoes: str | None = None) -> str:
        """Keeps the images before anything is written; returns the change's id once they are on the disk.

        The change is `pending` until `commit` or `discard`, also across a crash. Raises OSError when the
        images cannot be kept.
        """
        _make_private(self._directory)
        _make_private(self._pending)
        if self._recorded % _PRUNE_EVERY == 0:
            self.prune()
        content = changefile.encode(tool, time.time_ns(), undoes, images)
        change_id = self._new_id()
        self._write(change_id, content)
        self._recorded += 1
        return change_id

    def commit(self, change_id: str) -> None:
        """The change is done. Needs no sync: pending and done look the same to whoever compares it with the disk."""
        (self._pending / (change_id + _SUFFIX)).replace(self._file(change_id))

    def discard(self, change_id: str) -> None:
        """Forgets a change whose write failed. Nothing happens if it is not there."""
        for file in (self._file(change_id), self._pending / (change_id + _SUFFIX)):
            with contextlib.suppress(FileNotFoundError):
                file.unlink()

    def pending(self) -> list[str]:
        """The ids of changes that were begun and neither done nor discarded, oldest first."""
        return [name.removesuffix(_SUFFIX) for name in reversed(self._names(self._pending))]

    def get_pending(self, change_id: str) -> Record:
        """That one, with its images. Raises NotFoundError like `get`."""
        return self._record(change_id, self._pending / (change_id + _SUFFIX))

    def get(self, change_id: str) -> Record:
        """The change with its images. Raises NotFoundError if there is none, or it was damaged or pruned."""
        if not _CHANGE_ID.fullmatch(change_id):
            raise self._unknown(change_id)
        return self._record(change_id, self._file(change_id))

    def _record(self, change_id: str, file: Path) -> Record:
        try:
            content = file.read_bytes()
        except FileNotFoundError:
            raise self._unknown(change_id) from None
        try:
            header, images = changefile.decode(content)
        except ValueError:
            raise NotFoundError(
                f"The journal's record of change {change_id} is damaged, so it cannot be undone."
            ) from None
        undone = self._undone(back_to=change_id)
        return Record(
            change_id, header["tool"], header["when_ns"], images, header["undoes"], undone.get(change_id)
        )  # fmt: skip

    def holds(self, change_id: str) -> bool:
        """Whether the change is there."""
        return _CHANGE_ID.fullmatch(change_id) is not None and self._file(change_id).exists()

    def latest(self) -> Record | None:
        """The newest change that is not undone; after an undo, that is the undo itself. None if there is none."""
        for summary in self._summaries():
            if summary.undone_by is None:
                return self.get(summary.change_id)
        return None

    def recent(self, limit: int) -> list[Summary]:
        """Up to `limit` changes, newest first. Damaged ones are left out."""
        found: list[Summary] = []
        for summary in self._summaries():
            if len(found) >= limit:
                break
            found.append(summary)
        return found

    def prune(self) -> int:
        """Drops changes over the age limit, then the oldest over the size limit; the newest stays. How many."""
        now, size, dropped = time.time_ns(), 0, 0
        for place, name in enumerate(self._names()):
            file = os.path.join(self._directory, name)  # a Path for each would take ten times as long
            try:
                state = os.stat(file)
                size += state.st_size
                if place and (size > self._max_bytes or now - state.st_mtime_ns > self._keep_ns):
                    os.unlink(file)
                    size -= state.st_size
                    dropped += 1
            except FileNotFoundError:
                continue  # another process was first
        self._drop_old_temps(now)
        return dropped

    def _drop_old_temps(self, now: int) -> None:
        for directory in (self._directory, self._pending):
            for name in os.listdir(directory) if directory.is_dir() else ():
                if name.endswith(".tmp"):
                    with contextlib.suppress(FileNotFoundError):
                        if now - (directory / name).stat().st_mtime_ns > _TEMP_LIFE_S * 1_000_000_000:
                            (directory / name).unlink()

    def _summaries(self) -> Iterator[Summary]:
        undone: dict[str, str] = {}
        for name in self._names():
            change_id = name.removesuffix(_SUFFIX)
            try:
                with (self._directory / name).open("rb") as file:
                    header, _ = changefile.head(file.readline() + file.readline())
            except (FileNotFoundError, ValueError):
                continue
            undone_by = undone.get(change_id)
            undoes = header["undoes"]
            if undoes is not None and undone_by is None:
                undone.setdefault(undoes, change_id)
            paths = tuple(image["path"] for image in header["images"])
            yield Summary(change_id, header["tool"], header["when_ns"], paths, undoes, undone_by)

    def _undone(self, back_to: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for summary in self._summaries():
            if summary.undone_by is not None:
                found[summary.change_id] = summary.undone_by
            if summary.change_id <= back_to:
                break
        return found

    def _names(self, directory: Path | None = None) -> list[str]:
        """The record files, newest first."""
        try:
            names = os.listdir(directory or self._directory)
        except FileNotFoundError:
            return []
        return sorted(
            (name for name in names if name.endswith(_SUFFIX) and _CHANGE_ID.fullmatch(name.removesuffix(_SUFFIX))),
            reverse=True,
        )

    def _file(self, change_id: str) -> Path:
        return self._directory / (change_id + _SUFFIX)

    def _new_id(self) -> str:
        if not self._newest:
            self._newest = max((*self._names()[:1], *self._names(self._pending)[:1]), default="")[:_TIME_DIGITS]
        now = time.time_ns() // 1000
        if self._newest:  # A clock that was set back must not turn the order round.
            now = max(now, _number(self._newest) + 1)
        self._newest = _digits(now, _TIME_DIGITS)
        return self._newest + _digits(secrets.randbits(5 * _RANDOM_DIGITS), _RANDOM_DIGITS)

    def _write(self, change_id: str, content: bytes) -> None:
        temp = self._pending / f".{change_id}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
        record = self._pending / (change_id + _SUFFIX)
        try:
            with os.fdopen(os.open(temp, flags, 0o600), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temp.replace(record)
            _sync_directory(self._pending)
        except BaseException:
            temp.unlink(missing_ok=True)
            record.unlink(missing_ok=True)
            raise

    def _unknown(self, change_id: str) -> NotFoundError:
        recent = [summary.change_id for summary in self.recent(_NEAREST)]
        there = f"The latest are {', '.join(recent)}" if recent else "No change is kept"
        return NotFoundError(f"There is no change {change_id[:40]!r} in the journal. {there}.", recent)


def _make_private(directory: Path) -> None:
    missing = [path for path in (directory, *directory.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)
    if os.name == "posix" and directory.stat().st_mode & 0o077:
        directory.chmod(0o700)


def _sync_directory(directory: Path) -> None:
    if os.name == "nt":  # Windows has no descriptors of directories; the rename is in its own log.
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _digits(number: int, width: int) -> str:
    return "".join(_DIGITS[number >> shift & 31] for shift in range(5 * (width - 1), -1, -5))


def _number(digits: str) -> int:
    number = 0
    for digit in digits:
        number = number << 5 | _DIGITS.index(digit)
    return number
