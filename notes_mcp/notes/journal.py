"""Before-images of every write, kept in the user's state directory, for undo.

One file a change, named by its id, so that names in order are changes in order. A file is a magic line,
one line of JSON, then the compressed images; it appears whole or not at all. Several processes may use
one directory. Sync; knows nothing of notes folders but the paths it is told. Raises OSError and NotFoundError.
"""

import contextlib
import json
import os
import re
import secrets
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from notes_mcp.errors import NotFoundError

_MAGIC = b"notes-mcp change 1\n"
_SUFFIX = ".change"
_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"  # in ASCII order; no letter that reads like a digit
_TIME_DIGITS = 11  # 55 bits of microseconds: good until the year 3111
_RANDOM_DIGITS = 4
_CHANGE_ID = re.compile(f"[{_DIGITS}]{{{_TIME_DIGITS + _RANDOM_DIGITS}}}")
_PRUNE_EVERY = 64  # records of one process
_TEMP_LIFE_S = 3600
_NEAREST = 5


@dataclass(frozen=True, slots=True)
class Image:
    """One file of a change: its bytes before (None: it was not there) and its etag after (None: it is gone).

    `moved_from` is where the file was before, if the change moved it to `path`; `before` are its bytes then.
    """

    path: str
    before: bytes | None
    after_etag: str | None
    moved_from: str | None = None


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
        self._max_bytes = max_bytes
        self._keep_ns = int(keep_days * 86_400 * 1_000_000_000)
        self._recorded = 0

    def record(self, tool: str, images: Sequence[Image], *, undoes: str | None = None) -> str:
        """Keeps the images before the write happens; returns the change's id once they are on the disk.

        If the write fails, `discard` the id; if the process dies in between, the etags after tell that
        the write never happened. Raises OSError when the images cannot be kept.
        """
        _make_private(self._directory)
        if self._recorded % _PRUNE_EVERY == 0:
            self.prune()
        blobs = [b"" if image.before is None else zlib.compress(image.before, 3) for image in images]
        header = {
            "tool": tool,
            "when_ns": time.time_ns(),
            "undoes": undoes,
            "images": [
                [image.path, image.after_etag, image.moved_from, None if image.before is None else len(blob)]
                for image, blob in zip(images, blobs, strict=True)
            ],
        }
        head = json.dumps(header, separators=(",", ":")).encode() + b"\n"
        change_id = self._new_id()
        self._write(change_id, b"".join((_MAGIC, head, *blobs)))
        self._recorded += 1
        return change_id

    def discard(self, change_id: str) -> None:
        """Forgets a change whose write failed. Nothing happens if it is not there."""
        with contextlib.suppress(FileNotFoundError):
            self._file(change_id).unlink()

    def get(self, change_id: str) -> Record:
        """The change with its images. Raises NotFoundError if there is none, or it was damaged or pruned."""
        if not _CHANGE_ID.fullmatch(change_id):
            raise self._unknown(change_id)
        try:
            content = self._file(change_id).read_bytes()
        except FileNotFoundError:
            raise self._unknown(change_id) from None
        try:
            header, start = _header(content)
            images = tuple(_images(header, content, start))
        except (ValueError, zlib.error):
            raise NotFoundError(
                f"The journal's record of change {change_id} is damaged, so it cannot be undone."
            ) from None
        undone = self._undone(back_to=change_id)
        return Record(
            change_id, header["tool"], header["when_ns"], images, header["undoes"], undone.get(change_id)
        )  # fmt: skip

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
            file = self._directory / name
            try:
                state = file.stat()
            except FileNotFoundError:
                continue
            size += state.st_size
            if place and (size > self._max_bytes or now - state.st_mtime_ns > self._keep_ns):
                file.unlink(missing_ok=True)
                size -= state.st_size
                dropped += 1
        self._drop_old_temps(now)
        return dropped

    def _drop_old_temps(self, now: int) -> None:
        for name in os.listdir(self._directory) if self._directory.is_dir() else ():
            if name.endswith(".tmp"):
                with contextlib.suppress(FileNotFoundError):
                    if now - (self._directory / name).stat().st_mtime_ns > _TEMP_LIFE_S * 1_000_000_000:
                        (self._directory / name).unlink()

    def _summaries(self) -> Iterator[Summary]:
        undone: dict[str, str] = {}
        for name in self._names():
            change_id = name.removesuffix(_SUFFIX)
            try:
                with (self._directory / name).open("rb") as file:
                    header, _ = _header(file.readline() + file.readline())
            except (FileNotFoundError, ValueError):
                continue
            undone_by = undone.get(change_id)
            undoes = header["undoes"]
            if undoes is not None and undone_by is None:
                undone.setdefault(undoes, change_id)
            paths = tuple(image[0] for image in header["images"])
            yield Summary(change_id, header["tool"], header["when_ns"], paths, undoes, undone_by)

    def _undone(self, back_to: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for summary in self._summaries():
            if summary.undone_by is not None:
                found[summary.change_id] = summary.undone_by
            if summary.change_id <= back_to:
                break
        return found

    def _names(self) -> list[str]:
        """The record files, newest first."""
        try:
            names = os.listdir(self._directory)
        except FileNotFoundError:
            return []
        return sorted(
            (name for name in names if name.endswith(_SUFFIX) and _CHANGE_ID.fullmatch(name.removesuffix(_SUFFIX))),
            reverse=True,
        )

    def _file(self, change_id: str) -> Path:
        return self._directory / (change_id + _SUFFIX)

    def _new_id(self) -> str:
        now = time.time_ns() // 1000
        newest = self._names()[:1]
        if newest:  # A clock that was set back must not turn the order round.
            now = max(now, _number(newest[0][:_TIME_DIGITS]) + 1)
        return _digits(now, _TIME_DIGITS) + _digits(secrets.randbits(5 * _RANDOM_DIGITS), _RANDOM_DIGITS)

    def _write(self, change_id: str, content: bytes) -> None:
        temp = self._directory / f".{change_id}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
        try:
            with os.fdopen(os.open(temp, flags, 0o600), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temp.replace(self._file(change_id))
        except BaseException:
            temp.unlink(missing_ok=True)
            raise
        _sync_directory(self._directory)

    def _unknown(self, change_id: str) -> NotFoundError:
        recent = [summary.change_id for summary in self.recent(_NEAREST)]
        there = f"The latest are {', '.join(recent)}" if recent else "No change is kept"
        return NotFoundError(f"There is no change {change_id[:40]!r} in the journal. {there}.", recent)


def _header(content: bytes) -> tuple[dict[str, Any], int]:
    """The line of JSON and where the images begin. Raises ValueError if this is no record."""
    start = content.find(b"\n", len(_MAGIC)) + 1
    if not content.startswith(_MAGIC) or not start:
        raise ValueError("not a record")
    header = json.loads(content[len(_MAGIC) : start])
    if not isinstance(header, dict) or not header.keys() >= {"tool", "when_ns", "undoes", "images"}:
        raise ValueError("not a record")
    return header, start


def _images(header: dict[str, Any], content: bytes, start: int) -> Iterator[Image]:
    for path, after_etag, moved_from, size in header["images"]:
        end = start + (size or 0)
        if end > len(content):
            raise ValueError("cut short")
        yield Image(path, None if size is None else zlib.decompress(content[start:end]), after_etag, moved_from)
        start = end


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
