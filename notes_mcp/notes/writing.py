"""Every write of ours to one folder: under the lock, with its before-image in the journal, then the index.

Sync; runs in the one writer thread. A transform is pure and sees the bytes as they are under the lock,
so two writers of ours never lose each other's words; an editor that saves in between is noticed at the
rename and the transform runs again on what it saved. Touches the disk only through `Vault`.
"""

import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass

from notes_mcp.errors import BusyError, ExistsError, NoteError, NotFoundError, ReadOnlyError, StaleError
from notes_mcp.notes.folder import Folder
from notes_mcp.notes.journal import Image, Journal
from notes_mcp.notes.records import FileState
from notes_mcp.notes.text import etag
from notes_mcp.notes.writelock import WriteLock

ATTEMPTS = 5

_log = logging.getLogger(__name__)

Transform = Callable[[FileState, bytes], bytes]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a write did, or would do: bytes before and after (None: no file), by folder-relative path."""

    path: str
    before: bytes | None
    after: bytes | None
    change_id: str | None
    moved_to: str | None = None

    @property
    def changed(self) -> bool:
        """Whether any byte differs."""
        return self.before != self.after


class Writer:
    """Creates, edits and deletes notes of one folder. Nothing is written in a read-only one, nor with dry_run."""

    def __init__(self, folder: Folder, journal: Journal | None, lock: WriteLock, *, read_only: bool) -> None:
        self._folder = folder
        self._vault = folder.vault
        self._journal = journal
        self._lock = lock
        self._read_only = read_only

    def create(self, path: str, data: bytes, *, dry_run: bool, tool: str) -> Outcome:
        """A new file at exactly that path. Raises ExistsError when the name is taken, by whatever is there."""
        self._require_writable()
        if dry_run:
            place = self._vault.place(path)
            if self._vault.stat(place) is not None:
                raise ExistsError(f"{place} is there already; nothing was written. Choose another title.", place)
            return Outcome(place, None, data, None)
        with self._lock:
            return self._put(self._vault.place(path), None, data, tool)

    def edit(
        self,
        path: str,
        transform: Transform,
        *,
        if_match: str | None,
        dry_run: bool,
        tool: str,
        start: bytes | None = None,
    ) -> Outcome:
        """The note at that real path, turned by `transform` (state and bytes -> bytes). No change writes nothing.

        `start`: what a note that is not there begins as; else NotFoundError. Raises StaleError when
        `if_match` is not the current etag, BusyError when others keep saving in between.
        """
        self._require_writable()
        with contextlib.nullcontext() if dry_run else self._lock:
            for _ in range(ATTEMPTS):
                before, state = self._existing_or(start, path, if_match)
                after = transform(state, start or b"" if before is None else before)
                if dry_run or after == before:
                    return Outcome(state.path, before, after, None)
                try:
                    return self._put(state.path, before, after, tool)
                except (StaleError, ExistsError):
                    continue  # saved by somebody else in between: once more, on what they saved
        raise BusyError(f"{path} is being saved by another program over and over; nothing was written. Try again.")

    def _put(self, path: str, before: bytes | None, after: bytes, tool: str) -> Outcome:
        change_id = self._record(tool, Image(path, before, etag(after)))
        try:
            if before is None:
                self._vault.create(path, after)
            else:
                self._vault.replace(path, after, expect=etag(before))
        except BaseException:
            self._forget(change_id)
            raise
        self._folder.refresh([path], sure=True)
        return Outcome(path, before, after, change_id)

    def delete(self, path: str, *, permanent: bool, if_match: str | None, dry_run: bool, tool: str) -> Outcome:
        """Into `.trash/`, or with `permanent` off the disk; `moved_to` says where it lies now."""
        self._require_writable()
        if dry_run:
            before, _ = self._current(path, if_match)
            return Outcome(path, before, None, None)
        with self._lock:
            before, _ = self._current(path, if_match)
            change_id = self._record(tool, Image(path, before, None))
            moved_to = None
            try:
                if permanent:
                    self._vault.remove(path, expect=etag(before))
                else:
                    moved_to = self._vault.trash(path, expect=etag(before))
            except BaseException:
                self._forget(change_id)
                raise
            self._folder.refresh([path], sure=True)
        return Outcome(path, before, None, change_id, moved_to)

    def _require_writable(self) -> None:
        if self._read_only:
            raise ReadOnlyError("This server was started with --read-only; nothing was written.")

    def _existing_or(self, start: bytes | None, path: str, if_match: str | None) -> tuple[bytes | None, FileState]:
        """The bytes now; None for a note that is not there and may begin as `start`."""
        try:
            return self._current(path, if_match)
        except NotFoundError:
            if start is None:
                raise
            return None, FileState(self._vault.place(path), "note", 0, 0, 0)

    def _current(self, path: str, if_match: str | None) -> tuple[bytes, FileState]:
        try:
            data, state = self._vault.read(path)
        except NotFoundError:
            if if_match is None:
                raise
            raise StaleError(
                f"{path} is gone, so if_match={if_match} no longer holds; nothing was written.", None
            ) from None
        current = etag(data)
        if if_match is not None and if_match != current:
            raise StaleError(
                f"{path} was changed since you read it: its etag is {current} now, not {if_match}. Nothing was "
                "written; read the note again, then repeat the change with the new etag.",
                current,
            )
        return data, state

    def _record(self, tool: str, image: Image) -> str | None:
        if self._journal is None:
            return None
        try:
            return self._journal.record(tool, [image])
        except (OSError, NoteError) as error:
            # The write the user asked for matters more than the means to undo it.
            _log.warning("the change journal cannot be written (%s); this change cannot be undone", error)
            return None

    def _forget(self, change_id: str | None) -> None:
        if change_id is not None and self._journal is not None:
            self._journal.discard(change_id)
