"""Takes a change of ours back, from its images in the journal: edits, creations, deletions and moves.

Each file that still is what the change made of it gets its old bytes and its old place; one that somebody
changed since is refused, with the reason, and left alone. If a move cannot be taken back, nothing of its
change is, since the links belong to it. Undoing is a change as well, so undoing an undo redoes. Sync.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from notes_mcp.errors import BusyError, ExistsError, NoteError, NotFoundError, ReadOnlyError, StaleError, StorageError
from notes_mcp.notes import patience
from notes_mcp.notes.changes import steps
from notes_mcp.notes.changes.changefile import Image
from notes_mcp.notes.changes.journal import Journal, Record
from notes_mcp.notes.changes.steps import Step
from notes_mcp.notes.changes.transaction import Transactions
from notes_mcp.notes.folder import Folder
from notes_mcp.notes.text import etag

ATTEMPTS = 5
LOOKED_BACK = 500  # changes among which the one is looked for that stands in the way
_NO_LIMIT = 1 << 62
_MOVING = ("move_note", "undo_change")  # their paths do not say where a file went away from


@dataclass(frozen=True, slots=True)
class Refusal:
    """A file that was left as it is, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo did, or with dry_run would do. `change_id` is the undo's own: None if it changed nothing.

    `restored` are the paths where files are as the change found them, `removed` those of files that it had made;
    folder-relative.
    """

    undoes: str
    tool: str
    restored: tuple[str, ...]
    refused: tuple[Refusal, ...]
    change_id: str | None
    removed: tuple[str, ...] = ()


@dataclass(slots=True)
class _Plan:
    record: Record
    steps: list[Step] = field(default_factory=list)
    taken: list[Image] = field(default_factory=list)  # the images whose steps are among `steps`
    restored: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)


class Undoer:
    """Undo in one folder. `journal` is None where none can be kept."""

    def __init__(self, folder: Folder, journal: Journal | None, transactions: Transactions, *, read_only: bool) -> None:
        self._vault = folder.vault
        self._journal = journal
        self._transactions = transactions
        self._read_only = read_only

    def undo(self, change_id: str | None = None, *, dry_run: bool = False) -> Undone:
        """The change, or the last one that is not undone, taken back. All that can be is, in one new change.

        Raises NotFoundError for a change that is not in the journal, ReadOnlyError, and what disks do.
        """
        if self._read_only:
            raise ReadOnlyError("This server was started with --read-only; nothing was undone.")
        if dry_run:
            record = self._record(change_id)
            return _undone(record, self._plan(record), None)
        with self._transactions.writing():
            record = self._record(change_id)
            for attempt in range(ATTEMPTS):
                plan = self._plan(record)
                if not plan.steps:
                    return _undone(record, plan, None)
                try:
                    # One that leaves something out does not count as undone: it can be asked for again.
                    undoes = None if plan.refused else record.change_id
                    done = self._transactions.apply("undo_change", plan.steps, undoes=undoes)
                except (StaleError, ExistsError, NotFoundError):
                    if attempt == ATTEMPTS - 1:
                        raise
                    continue  # written by somebody else in between: once more, from what is there now
                for image in plan.taken:
                    if image.made:
                        self._vault.unmake_folders(image.path, image.made)
                return _undone(record, plan, done)
        raise BusyError("The files are being saved by another program over and over; nothing was undone. Try again.")

    def _record(self, change_id: str | None) -> Record:
        if self._journal is None:
            raise NotFoundError("No changes are kept here, so nothing can be undone; notes_info says why.")
        if change_id is not None:
            return self._journal.get(change_id)
        latest = self._journal.latest()
        if latest is None:
            raise NotFoundError("No change is kept in the journal, so there is nothing to undo.")
        return latest

    def _plan(self, record: Record) -> _Plan:
        """The steps that take the change back: moves first, then the rest, by the paths as they are after those."""
        plan = _Plan(record)
        moves = [image for image in record.images if image.kind == "move"]
        others = [image for image in record.images if image.kind != "move"]
        if record.undone_by is not None:
            reason = f"undone already, by change {record.undone_by}; undo that one to have it again"
            plan.refused = [Refusal(image.path, reason) for image in record.images]
            return plan
        last = {image.path: image.after_etag for image in others}
        for image in reversed(moves):
            self._try(plan, image, image.path, image.moved_from or "", last.get(image.path, image.after_etag))
        if plan.refused:
            named = plan.refused[0].path
            reason = f"it belongs to the move of {named}, which cannot be taken back"
            kept = {refusal.path for refusal in plan.refused}
            rest = dict.fromkeys(image.path for image in record.images if image.path not in kept)
            return _Plan(record, refused=[*plan.refused, *(Refusal(path, reason) for path in rest)])
        for image in patience.each(others[::-1], "files looked at"):
            self._try(plan, image, image.path, _place_before(image.path, moves), image.after_etag)
        return plan

    def _try(self, plan: _Plan, image: Image, here: str, there: str, expected: str | None) -> None:
        try:
            step = self._inverse(image, here, there, expected)
        except StorageError:
            raise  # the disk is away: nothing is known of any file
        except NoteError as error:
            plan.refused.append(Refusal(here, str(error)))
            return
        if isinstance(step, str):
            later = self._later(plan.record, here)
            plan.refused.append(Refusal(here, f"{step}; undo change {later} first" if later else step))
            return
        plan.steps.append(step)
        plan.taken.append(image)
        told = plan.removed if image.kind in ("create", "restore") else plan.restored
        if there not in told:
            told.append(there)

    def _inverse(self, image: Image, here: str, there: str, expected: str | None) -> Step | str:
        """The step that takes an image back, or why there is none. `here` is where the file is now."""
        vault = self._vault
        match image.kind:
            case "move":
                return self._moved_back(image, here, there, expected)
            case "trash" | "remove":
                return self._brought_back(image, there)
        now = vault.etag(here)
        if now is None:
            return "it is gone since"
        if image.before is not None and now == etag(image.before):
            return "it is as it was before already"
        if now != expected:
            return f"it was changed since; its etag is {now} now"
        data, _ = vault.read_attachment(here, _NO_LIMIT)
        if image.before is None:
            return steps.trash(vault, here, data)
        return steps.put(there, data, image.before)

    def _later(self, record: Record, here: str) -> str | None:
        """The newest later change of ours, if it is the one that made the file at `here` what it is now."""
        if self._journal is None:
            return None
        for summary in self._journal.recent(LOOKED_BACK):
            if summary.change_id <= record.change_id:
                return None
            if summary.undone_by is not None or (summary.undoes or "") > record.change_id:
                continue  # the two of them left it as it was
            if here not in summary.paths and summary.tool not in _MOVING:
                continue
            left = _left_at(here, self._journal.get(summary.change_id))
            if left is not None:
                return summary.change_id if left[0] == self._vault.etag(here) else None
        return None

    def _moved_back(self, image: Image, here: str, there: str, expected: str | None) -> Step | str:
        vault = self._vault
        if vault.stat(there) is not None or vault.is_folder(there):
            return f"something else is at {there} now"
        if image.folder:
            return steps.move(vault, here, there, None, folder=True) if vault.is_folder(here) else "it is gone since"
        if vault.stat(here) is None:
            return "it is gone since"
        if expected is not None and (now := vault.etag(here)) != expected:
            return f"it was changed since; its etag is {now} now"
        return steps.move(vault, here, there, expected)

    def _brought_back(self, image: Image, there: str) -> Step | str:
        vault = self._vault
        if vault.stat(there) is not None or vault.is_folder(there):
            return "there is another one of that name now"
        kept = None if image.trash is None else vault.trashed_etag(image.trash)
        if image.trash is not None and kept is not None and (image.before is None or kept == etag(image.before)):
            return steps.restore(vault, image.trash, there, kept)
        if image.before is None:
            return "it was too large to be kept in the journal, and it is not in the trash"
        return steps.create(vault, there, image.before, mode=image.mode)


def _left_at(path: str, record: Record) -> tuple[str | None] | None:
    """The etag of the file at `path` after a change (None: it is not there any more); None if that did not touch it."""
    for image in record.images:
        if image.path == path and not image.folder:
            return (image.after_etag,)
    gone = (image.moved_from for image in record.images if image.moved_from is not None)
    return (None,) if any(path == old or path.startswith(f"{old}/") for old in gone) else None


def _place_before(path: str, moves: Sequence[Image]) -> str:
    for move in reversed(moves):
        if path == move.path or path.startswith(move.path + "/"):
            path = (move.moved_from or "") + path[len(move.path) :]
    return path


def _undone(record: Record, plan: _Plan, change_id: str | None) -> Undone:
    return Undone(
        record.change_id, record.tool, tuple(plan.restored), tuple(plan.refused), change_id, tuple(plan.removed)
    )
