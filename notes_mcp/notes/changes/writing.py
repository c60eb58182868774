"""Writes to one note of a folder: planned under the lock from what is there, done as a `transaction`.

Sync; runs in the one writer thread. A transform is pure and sees the bytes as they are under the lock,
so two writers of ours never lose each other's words; an editor that saves in between is noticed at the
rename and the transform runs again on what it saved.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from notes_mcp.errors import BusyError, ExistsError, NotFoundError, ReadOnlyError, StaleError, TooLargeError
from notes_mcp.notes.changes import steps
from notes_mcp.notes.changes.transaction import Transactions
from notes_mcp.notes.disk.gate import kind_of
from notes_mcp.notes.folder import Folder
from notes_mcp.notes.records import FileState
from notes_mcp.notes.text import etag

ATTEMPTS = 5

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

    def __init__(self, folder: Folder, transactions: Transactions, *, read_only: bool) -> None:
        self._vault = folder.vault
        self._transactions = transactions
        self._read_only = read_only

    def create(self, path: str, data: bytes, *, dry_run: bool, tool: str) -> Outcome:
        """A new file at exactly that path. Raises ExistsError when the name is taken, by whatever is there."""
        self._require_writable()
        if dry_run:
            place = self._vault.place(path)
            if self._vault.stat(place) is not None or self._vault.is_folder(place):
                raise ExistsError(f"{place} is there already; nothing was written. Choose another title.", place)
            return Outcome(place, None, data, None)
        with self._transactions.writing():
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
        taken: ExistsError | None = None
        with contextlib.nullcontext() if dry_run else self._transactions.writing():
            for _ in range(ATTEMPTS):
                before, state = self._existing_or(start, path, if_match)
                after = transform(state, start or b"" if before is None else before)
                if dry_run or after == before:
                    return Outcome(state.path, before, after, None)
                try:
                    return self._put(state.path, before, after, tool)
                except StaleError:
                    continue  # saved by somebody else in between: once more, on what they saved
                except ExistsError as error:
                    taken = error  # made in between; or its name is taken by one that only looks different
        if taken is not None:
            raise taken
        raise BusyError(f"{path} is being saved by another program over and over; nothing was written. Try again.")

    def _put(self, path: str, before: bytes | None, after: bytes, tool: str) -> Outcome:
        step = steps.create(self._vault, path, after) if before is None else steps.put(path, before, after)
        return Outcome(path, before, after, self._transactions.apply(tool, [step]))

    def delete(self, path: str, *, permanent: bool, if_match: str | None, dry_run: bool, tool: str) -> Outcome:
        """Into `.trash/`, or with `permanent` off the disk; `moved_to` says where it lies now, or would.

        Of an attachment over `max_note_bytes` the journal keeps no bytes: undone from the trash or not at all, and
        no `if_match` on it.
        """
        self._require_writable()
        with contextlib.nullcontext() if dry_run else self._transactions.writing():
            before = self._deletable(path, if_match)
            if dry_run:
                return Outcome(path, before, None, None, None if permanent else self._vault.trash_place(path))
            if permanent:
                return Outcome(
                    path, before, None, self._transactions.apply(tool, [steps.remove(self._vault, path, before)])
                )
            for attempt in range(ATTEMPTS):
                step = steps.trash(self._vault, path, before)
                try:
                    change_id = self._transactions.apply(tool, [step])
                except ExistsError:
                    if attempt == ATTEMPTS - 1:
                        raise
                    continue  # the place in the trash was taken in this very moment
                return Outcome(path, before, None, change_id, step.image.trash)
        raise BusyError(f"The trash is being filled by another program; {path} was not deleted. Try again.")

    def _deletable(self, path: str, if_match: str | None) -> bytes | None:
        """The bytes now; None for an attachment that is too large to be kept."""
        try:
            return self._current(path, if_match)[0]
        except TooLargeError:
            if if_match is not None or kind_of(path) == "note":
                raise
            return None

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
