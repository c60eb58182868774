"""One change over many notes: a pure transform run on each, all written or none.

Planned under the folder's lock from the bytes as they are; what is not valid text, cannot be read or
cannot be changed is left out and told of, and does not hold the rest up. `transaction` writes. Sync.
"""

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from notes_mcp.errors import BusyError, ExistsError, NoteError, NotFoundError, ReadOnlyError, StaleError, StorageError
from notes_mcp.notes import patience
from notes_mcp.notes.changes import steps
from notes_mcp.notes.changes.transaction import Transactions
from notes_mcp.notes.folder import Folder
from notes_mcp.notes.records import FileState

ATTEMPTS = 5
_PAGE = 500

Transform = Callable[[FileState, bytes], tuple[bytes, int]]


@dataclass(frozen=True, slots=True)
class Swept:
    """A note that was changed, in `count` places."""

    path: str
    count: int
    before: bytes
    after: bytes


@dataclass(frozen=True, slots=True)
class Skipped:
    """A note that was left as it is, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Sweep:
    """What a change over many notes did, or with dry_run would do. `change_id` is None where nothing was changed."""

    changed: tuple[Swept, ...]
    skipped: tuple[Skipped, ...]
    change_id: str | None = None


class Sweeper:
    """Changes over many notes of one folder."""

    def __init__(self, folder: Folder, transactions: Transactions, *, read_only: bool) -> None:
        self._folder = folder
        self._vault = folder.vault
        self._transactions = transactions
        self._read_only = read_only

    def sweep(
        self, transform: Transform, *, paths: Sequence[str] | None, tags: Sequence[str], dry_run: bool, tool: str
    ) -> Sweep:
        """`transform` (state and bytes -> bytes and a count) on each note of `paths` (real ones); without them on
        every note that has one of the `tags` or a tag below it, without those on every note.

        Raises ReadOnlyError, BusyError when others keep saving in between, and what disks do; then nothing is written.
        """
        if self._read_only:
            raise ReadOnlyError("This server was started with --read-only; nothing was written.")
        with contextlib.nullcontext() if dry_run else self._transactions.writing():
            for _ in range(ATTEMPTS):
                sweep = self._plan(transform, self._asked(tags) if paths is None else dict.fromkeys(paths))
                if dry_run or not sweep.changed:
                    return sweep
                planned = [steps.put(each.path, each.before, each.after) for each in sweep.changed]
                try:
                    change_id = self._transactions.apply(tool, planned)
                except (StaleError, ExistsError, NotFoundError):
                    continue  # saved by somebody else in between: once more, on what they saved
                return Sweep(sweep.changed, sweep.skipped, change_id)
        raise BusyError("The notes are being saved by another program over and over; nothing was written. Try again.")

    def _asked(self, tags: Sequence[str]) -> list[str]:
        # A tag that was written a moment ago, by whomever, must be known too.
        survey = self._folder.survey()
        for portion in patience.each(list(self._folder.chunks(survey)), "batches of changed files taken in"):
            self._folder.refresh(seen=portion, quiet=survey.first)
        found: set[str] = set()
        for tag in tags or (None,):
            found.update(self._noted(tag))
        return sorted(found)

    def _noted(self, tag: str | None) -> Iterable[str]:
        page = self._folder.index.notes(tag=tag, limit=_PAGE)
        yield from (note.path for note in page.notes)
        while page.after is not None:
            page = self._folder.index.notes(tag=tag, after=page.after, limit=_PAGE)
            yield from (note.path for note in page.notes)

    def _plan(self, transform: Transform, paths: Iterable[str]) -> Sweep:
        changed: list[Swept] = []
        skipped: list[Skipped] = []
        for path in patience.each(paths, "notes looked through"):
            try:
                before, state = self._vault.read(path)
                after, count = transform(state, before)
            except StorageError:
                raise
            except NoteError as error:
                skipped.append(Skipped(path, str(error)))
                continue
            if after != before:
                changed.append(Swept(state.path, count, before, after))
        return Sweep(tuple(changed), tuple(skipped))
