"""Moves of a note, an attachment or a whole folder, and the links that follow, in one change.

Planned under the folder's lock from what is read there: where it goes, what moves along, which links must
be rewritten (`relinking`). A folder is one rename, hidden and ignored files go along; nothing is ever
overwritten. `transaction` does it, all or nothing. Sync; runs in the writer thread.
"""

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from notes_mcp.errors import (
    BusyError,
    ExistsError,
    InvalidRequestError,
    NoteError,
    NotFoundError,
    ReadOnlyError,
    StaleError,
    StorageError,
)
from notes_mcp.notes import patience
from notes_mcp.notes.changes import steps
from notes_mcp.notes.changes.steps import Step
from notes_mcp.notes.changes.transaction import Transactions
from notes_mcp.notes.disk.gate import NOTE_EXTENSIONS, kind_of
from notes_mcp.notes.folder import Folder
from notes_mcp.notes.index.index import Index
from notes_mcp.notes.index.rows import Files
from notes_mcp.notes.links.mending import Ambiguous
from notes_mcp.notes.links.moves import Moved, Moves, plan
from notes_mcp.notes.links.relinking import rewrite

ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Relinked:
    """A file whose links were rewritten, at its path after the move."""

    path: str
    count: int
    before: bytes
    after: bytes


@dataclass(frozen=True, slots=True)
class Left:
    """A link that was left as it is, or (line 0) a file that could not be looked at; paths after the move."""

    path: str
    line: int
    written: str
    candidates: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Move:
    """What a move did, or with dry_run would do; folder-relative. `change_id` is None where nothing was changed."""

    path: str
    new_path: str
    folder: bool
    relinked: tuple[Relinked, ...] = ()
    left: tuple[Left, ...] = ()
    change_id: str | None = None


class Mover:
    """Moves within one folder."""

    def __init__(
        self, folder: Folder, transactions: Transactions, *, read_only: bool, max_file_bytes: int = 10 * 1024 * 1024
    ) -> None:
        self._folder = folder
        self._vault = folder.vault
        self._transactions = transactions
        self._read_only = read_only
        self._max_file_bytes = max_file_bytes

    def move(
        self, path: str, new_path: str, *, update_links: bool, if_match: str | None, dry_run: bool, tool: str
    ) -> Move:
        """The file or folder at that real path, to `new_path`: a name, or a folder (one that is there, or with "/"
        at its end). A file keeps its extension if that is left out. Raises ExistsError, StaleError, ….
        """
        if self._read_only:
            raise ReadOnlyError("This server was started with --read-only; nothing was moved.")
        with contextlib.nullcontext() if dry_run else self._transactions.writing():
            for attempt in range(ATTEMPTS):
                move, planned = self._plan(path, new_path, update_links=update_links, if_match=if_match)
                if dry_run or not planned:
                    return move
                try:
                    change_id = self._transactions.apply(tool, planned)
                except (StaleError, ExistsError, NotFoundError):
                    if attempt == ATTEMPTS - 1:
                        raise
                    continue  # saved by somebody else in between: once more, on what they saved
                return Move(path, move.new_path, move.folder, move.relinked, move.left, change_id)
        raise BusyError(f"{path} is being saved by another program over and over; nothing was moved. Try again.")

    def _plan(self, path: str, new_path: str, *, update_links: bool, if_match: str | None) -> tuple[Move, list[Step]]:
        is_folder = self._vault.is_folder(path)
        tag = self._tag(path, if_match, is_folder)
        target = self._target(path, new_path, is_folder)
        if target == path:
            return Move(path, path, is_folder), []
        relinked: tuple[Relinked, ...] = ()
        left: tuple[Left, ...] = ()
        if update_links:
            self._bring_index_in_step()
            relinked, left = self._relink(self._moves(path, target, is_folder))
        moving = steps.move(self._vault, path, target, tag, folder=is_folder)
        puts = [steps.put(each.path, each.before, each.after) for each in relinked]
        return Move(path, target, is_folder, relinked, left), [moving, *puts]

    def _tag(self, path: str, if_match: str | None, is_folder: bool) -> str | None:
        """The etag the file must keep until it is moved. Of attachments it is not asked: no byte of them changes."""
        if is_folder:
            if if_match is not None:
                raise InvalidRequestError("if_match is the etag of a file; a folder has none.")
            return None
        if kind_of(path) == "attachment" and if_match is None:
            self._vault.locate(path)
            return None
        current = self._vault.etag(path)
        if if_match is not None and if_match != current:
            raise StaleError(
                f"{path} was changed since you read it: its etag is {current} now, not {if_match}. Nothing was moved; "
                "read it again, then repeat the move with the new etag.",
                current,
            )
        if current is None:
            raise NotFoundError(f'There is no "{path}" in the notes folder.')
        return current

    def _target(self, path: str, new_path: str, is_folder: bool) -> str:
        """The real path it will have. Raises ExistsError if that is taken."""
        vault = self._vault
        slashed = new_path.replace("\\", "/")
        bare, name = slashed.rstrip("/"), path.rpartition("/")[2]
        into = self._folder_at(bare)
        if into is not None and into != path:
            target = f"{into}/{name}" if into else name
        elif slashed.endswith("/") and not is_folder:
            target = f"{bare}/{name}"
        else:
            target = bare if is_folder else bare + _extension_left_out(bare, path)
        placed = vault.place(target)
        if placed == path:  # the same file by another spelling: letter case or normal form
            return "/".join([*path.split("/")[:-1], target.rpartition("/")[2]])
        if is_folder and placed.startswith(path + "/"):
            raise InvalidRequestError(f'"{path}" cannot be moved into itself.')
        if vault.stat(placed) is not None or vault.is_folder(placed):
            raise ExistsError(f'"{placed}" already exists. Nothing was overwritten; choose another name.', placed)
        return placed

    def _folder_at(self, path: str) -> str | None:
        try:
            return self._vault.locate_folder(path)
        except (NotFoundError, InvalidRequestError):
            return None

    def _moves(self, path: str, target: str, is_folder: bool) -> dict[str, str]:
        if not is_folder:
            return {path: target}
        return {file.path: target + file.path[len(path) :] for file in self._vault.scan(path).files}

    def _bring_index_in_step(self) -> None:
        """A link that was written a moment ago, by whomever, must be known too."""
        survey = self._folder.survey()
        for portion in patience.each(list(self._folder.chunks(survey)), "batches of changed files taken in"):
            self._folder.refresh(seen=portion, quiet=survey.first)

    def _relink(self, moves: Moves) -> tuple[tuple[Relinked, ...], tuple[Left, ...]]:
        before = Links(self._folder.index)
        after = Moved(before, moves)
        relinked: list[Relinked] = []
        left: list[Left] = []
        for path in patience.each(plan(moves, before, self._folder.index), "files with links looked through"):
            there = moves.get(path, path)
            try:
                data, state = self._vault.read_attachment(path, self._max_file_bytes)
            except StorageError:
                raise
            except NoteError as error:
                # One file that cannot be looked at does not hold the move up; it is told of.
                left.append(Left(there, 0, "", (), str(error)))
                continue
            if state.path != path:
                continue  # became a link to another note meanwhile, which is planned for under its own path
            new = rewrite(path, there, data, before, after, moves)
            if new.data != data:
                relinked.append(Relinked(there, new.count, data, new.data))
            left += (_left(there, each) for each in new.ambiguous)
        return tuple(relinked), tuple(left)


class Links:
    """The `links.Lookup` over an index for one plan: what it has answered once stays so."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._seen: dict[tuple[str, str], Sequence[str]] = {}

    def by_path_key(self, path_key: str) -> Sequence[str]:
        """Files whose folded path this is."""
        return self._once("path", path_key, lambda files: files.by_path_key(path_key))

    def by_name_key(self, name: str) -> Sequence[str]:
        """Files whose folded name this is."""
        return self._once("name", name, lambda files: files.by_name_key(name))

    def by_alias_key(self, alias: str) -> Sequence[str]:
        """Notes that have this alias."""
        return self._once("alias", alias, lambda files: files.by_alias_key(alias))

    def names(self) -> Iterable[tuple[str, str]]:
        """`(path, title)` of every file."""
        return self._index.among_files(lambda files: list(files.names()))

    def _once(self, kind: str, key: str, ask: Callable[[Files], Sequence[str]]) -> Sequence[str]:
        found = self._seen.get((kind, key))
        if found is None:
            found = self._seen[kind, key] = self._index.among_files(ask)
        return found


def _extension_left_out(new_path: str, path: str) -> str:
    """What to add to the new name of a file so that it keeps its extension."""
    name = path.rpartition("/")[2]
    stem, dot, extension = name.rpartition(".")
    new_name = new_path.rpartition("/")[2]
    if not dot or not stem or not new_name:
        return ""
    given = new_name.rpartition(".")[2] if "." in new_name.lstrip(".") else ""
    if kind_of(path) == "note":
        return "" if new_name.lower().endswith(NOTE_EXTENSIONS) else f".{extension}"
    known = given.lower() == extension.lower() or (given.isalnum() and not given.isdigit() and len(given) <= 5)
    return "" if known else f".{extension}"


def _left(path: str, each: Ambiguous) -> Left:
    return Left(path, each.line, each.written, each.candidates, each.reason)
