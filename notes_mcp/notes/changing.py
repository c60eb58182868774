"""The half of the library that writes: single notes, moves, changes over many notes, undo.

Async; what is done is `writing`'s, `moving`'s, `sweeping`'s and `undoing`'s, in the writer thread. Here clients' paths
become (folder, path) and back, and several folders are treated as one. `Library` gives the rest.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Any, TypeAlias, TypeVar

from notes_mcp.errors import AmbiguousError, InvalidRequestError, NotFoundError
from notes_mcp.notes.answers import Deleted, Document, LeftAlone, LinkLeft, ManyWritten, Moved, Undone, Written
from notes_mcp.notes.asking import arriving
from notes_mcp.notes.asking.answering import Answers
from notes_mcp.notes.changes.moving import Move
from notes_mcp.notes.changes.sweeping import Sweep
from notes_mcp.notes.changes.undoing import Undone as UndoneInFolder
from notes_mcp.notes.diff import unified_many
from notes_mcp.notes.disk.gate import NOTE_EXTENSIONS
from notes_mcp.notes.folder import Folder
from notes_mcp.notes.opening import Served
from notes_mcp.notes.records import FileState
from notes_mcp.notes.shelf import Shelf
from notes_mcp.notes.text import Text

SEVERAL = "+"  # between the ids of one change that reached several folders

T = TypeVar("T")
Transform = Callable[[Document], bytes]
ManyTransform = Callable[[Document], tuple[bytes, int]]
Step: TypeAlias = tuple[Folder, Callable[[], T]]
"""What is done in a folder, in the writer thread."""


class Changing(ABC):
    """What changes notes. Raises the NoteError family, and then nothing was written. See `Library` for `ref`.

    A caller that is cancelled stops waiting at once. What it asked for is then taken back or never begun, unless its
    last step was done already; that is seen in the journal.
    """

    _shelf: Shelf
    _answers: Answers
    _served: Mapping[Folder, Served]

    @abstractmethod
    async def _wait_opened(self) -> None: ...

    @abstractmethod
    async def _read(self, work: Callable[[], T]) -> T: ...

    @abstractmethod
    async def _find(self, ref: str, *, for_write: bool) -> tuple[Folder, str]: ...

    @abstractmethod
    async def _all_or_none(self, steps: Sequence[Step[T]], take_back: Callable[[Folder, T], None]) -> list[T]: ...

    async def create(self, path: str, data: str | bytes, *, dry_run: bool = False, tool: str) -> Written:
        """A new note at exactly that path. Raises ExistsError, ForbiddenError, ReadOnlyError, StorageError."""
        await self._wait_opened()
        folder, place = self._shelf.route(path)
        content = data.encode() if isinstance(data, str) else data
        return await self._change(
            folder, partial(self._served[folder].writer.create, place, content, dry_run=dry_run, tool=tool)
        )

    async def edit(
        self,
        ref: str,
        transform: Transform,
        *,
        if_match: str | None = None,
        dry_run: bool = False,
        tool: str,
        create: bytes | None = None,
    ) -> Written:
        """The note turned by `transform`, which is pure: it runs in the writer thread on the bytes as they are then.

        `create`: what a note that is missing starts from; `ref` must then be its exact path. Raises
        StaleError when `if_match` does not hold, and what `transform` raises; then nothing was written.
        """
        try:
            folder, path = await self._find(ref, for_write=True)
        except NotFoundError as error:
            if create is None:
                raise NotFoundError(f"{error} create_note makes a new note.", error.nearest) from None
            folder, path = self._shelf.route(ref)
        work = partial(
            self._served[folder].writer.edit,
            path,
            partial(self._transform, folder, transform),
            if_match=if_match,
            dry_run=dry_run,
            tool=tool,
            start=create,
        )
        return await self._change(folder, work)

    async def reached(self, path: str) -> tuple[str, str]:
        """`path` in two: its longest leading part that is a folder, in its real spelling, and what is left of it.

        Letter case and normal form do not matter. Raises AmbiguousError, and ForbiddenError for a path outside.
        """
        await self._wait_opened()
        folder, inside = await self._read(partial(self._answers.routed, path))
        there, rest = await self._read(partial(arriving.reached, folder.vault, inside))
        return self._shelf.label(folder, there), rest

    async def daily_day(self, ref: str) -> date | None:
        """The day whose daily note has this path or name, whether or not it is there; None if it is no day's."""
        await self._wait_opened()
        folder, daily = await self._read(self._answers.daily_notes)
        place = await self._read(lambda: self._shelf.place(ref))
        if place is None or place[0] is not folder:
            return None
        return await self._read(partial(daily.day_of, place[1].strip("/")))

    async def delete(
        self, ref: str, *, permanent: bool = False, if_match: str | None = None, dry_run: bool = False, tool: str
    ) -> Deleted:
        """The note to `.trash/`, or with `permanent` off the disk. Says who still links to it."""
        folder, path = await self._find(ref, for_write=True)
        left = await self._read(partial(self._answers.linking, folder, path))
        ask = self._served[folder].writer.delete
        work = partial(ask, path, permanent=permanent, if_match=if_match, dry_run=dry_run, tool=tool)
        outcome = await self._to_the_end(folder, work)
        return await self._read(partial(self._answers.deleted, folder, outcome, left))

    async def move(
        self,
        ref: str,
        new_path: str,
        *,
        update_links: bool = True,
        if_match: str | None = None,
        dry_run: bool = False,
        tool: str,
    ) -> Moved:
        """A note, attachment or folder, to `new_path`: a name, or a folder (that is there, or with "/" at its end).

        A file keeps its extension if that is left out. Every link to it and in it is rewritten, all in one change.
        Raises ExistsError, AmbiguousError, StaleError, ForbiddenError, …; then nothing was moved.
        """
        await self._wait_opened()
        found = await self._read(lambda: self._folder_at(ref))
        folder, path = found if found is not None else await self._find(ref, for_write=True)
        there = await self._read(partial(self._answers.routed, new_path))
        if there[0] is not folder:
            raise InvalidRequestError(
                f"{ref} is in {folder.name}, {new_path} is not; a note moves within one of the folders served."
            )
        ask = self._served[folder].mover.move
        work = partial(ask, path, there[1], update_links=update_links, if_match=if_match, dry_run=dry_run, tool=tool)
        return await self._to_the_end(folder, lambda: self._moved(folder, work()))

    async def change_many(
        self,
        transform: ManyTransform,
        *,
        paths: Sequence[str] | None = None,
        tags: Sequence[str] = (),
        dry_run: bool = False,
        tool: str,
    ) -> ManyWritten:
        """`transform` (pure: a document -> its new bytes and how many places changed) on each note of `paths`; without
        them on every note with one of the `tags` or a tag below it, without those on every note.

        All are written or none. Notes that are not text, cannot be read, or that `transform` refuses are `skipped`.
        """
        await self._wait_opened()
        wanted: dict[Folder, list[str] | None] = dict.fromkeys(self._shelf)
        if paths is not None:
            found = [await self._find(ref, for_write=True) for ref in paths]
            wanted = {folder: [path for at, path in found if at is folder] for folder, _ in found}
        steps: list[Step[Sweep]] = []
        for folder, inside in wanted.items():
            sweep, turn = self._served[folder].sweeper.sweep, partial(self._transformed, folder, transform)
            steps.append((folder, partial(sweep, turn, paths=inside, tags=tags, dry_run=dry_run, tool=tool)))
        swept = await self._all_or_none(steps, self._take_back)
        return self._swept(list(zip(wanted, swept, strict=True)))

    async def undo(self, change_id: str | None = None, *, dry_run: bool = False) -> Undone:
        """A change, or the last one that is not undone, taken back; undoing an undo redoes. Files that were changed
        since are `refused` and left alone. Raises NotFoundError for a change that is not in the journal.
        """
        await self._wait_opened()
        if change_id is None:
            wanted = [await self._read(self._latest)]
        else:
            wanted = [(await self._read(partial(self._holder, each)), each) for each in change_id.split(SEVERAL)]
        steps: list[Step[UndoneInFolder]] = [
            (folder, partial(self._served[folder].undoer.undo, each, dry_run=dry_run)) for folder, each in wanted
        ]
        undone = await self._all_or_none(steps, self._take_back)
        return self._undone([(folder, done) for (folder, _), done in zip(wanted, undone, strict=True)])

    async def _to_the_end(self, folder: Folder, work: Callable[[], T]) -> T:
        """One step, which is all or nothing by itself."""
        [done] = await self._all_or_none([(folder, work)], lambda folder, done: None)
        return done

    def _take_back(self, folder: Folder, done: Sweep | UndoneInFolder) -> None:
        if done.change_id is not None:
            self._served[folder].undoer.undo(done.change_id)

    def _transform(self, folder: Folder, transform: Transform, state: FileState, data: bytes) -> bytes:
        return transform(self._answers.document(folder, state, data))

    async def _change(self, folder: Folder, work: Callable[[], Any]) -> Written:
        return await self._to_the_end(folder, lambda: self._answers.written(folder, work()))

    # -- which folder ------------------------------------------------------------------------------

    def _folder_at(self, ref: str) -> tuple[Folder, str] | None:
        """The folder at exactly that path, if there is one. AmbiguousError if a note could be meant as well."""
        place = self._answers.placed(ref)
        if place is None:
            return None
        folder, inside = place
        try:
            path = folder.vault.locate_folder(inside)
        except (NotFoundError, InvalidRequestError):
            return None
        if not path:
            raise InvalidRequestError("A folder that is served cannot be moved itself; name what is in it.")
        notes = [path + extension for extension in NOTE_EXTENSIONS if folder.vault.stat(path + extension) is not None]
        if notes and not ref.rstrip().endswith(("/", "\\")):
            candidates = [self._shelf.label(folder, each) for each in (f"{path}/", *notes)]
            raise AmbiguousError(f"{ref!r} is a folder and a note: give {' or '.join(candidates)}.", candidates)
        return folder, path

    def _latest(self) -> tuple[Folder, str | None]:
        latest = [
            (record.change_id, place)
            for place, each in enumerate(self._served.values())
            if each.journal is not None and (record := each.journal.latest()) is not None
        ]
        if not latest:
            return next(iter(self._shelf)), None
        change_id, place = max(latest)
        return list(self._served)[place], change_id

    def _holder(self, change_id: str) -> Folder:
        """The folder in whose journal the change is; the first one if in none, which then says so."""
        for folder, each in self._served.items():
            if each.journal is not None and each.journal.holds(change_id):
                return folder
        return next(iter(self._shelf))

    # -- answers -----------------------------------------------------------------------------------

    def _transformed(
        self, folder: Folder, transform: ManyTransform, state: FileState, data: bytes
    ) -> tuple[bytes, int]:
        return transform(self._answers.document(folder, state, data))

    def _moved(self, folder: Folder, move: Move) -> Moved:
        label = partial(self._shelf.label, folder)
        path, new_path = label(move.path), label(move.new_path)
        head = f"rename from {path}\nrename to {new_path}\n" if path != new_path else ""
        files = [(label(each.path), _text(each.before), _text(each.after)) for each in move.relinked]
        return Moved(
            path=path,
            new_path=new_path,
            links_updated=tuple((label(each.path), each.count) for each in move.relinked),
            ambiguous=tuple(
                LinkLeft(label(each.path), each.line, each.written, tuple(map(label, each.candidates)), each.reason)
                for each in move.left
            ),
            change_id=move.change_id,
            diff=unified_many(files, head=head),
        )

    def _swept(self, swept: Sequence[tuple[Folder, Sweep]]) -> ManyWritten:
        label = self._shelf.label
        changed = [(label(folder, each.path), each) for folder, sweep in swept for each in sweep.changed]
        skipped = [
            LeftAlone(label(folder, each.path), each.reason) for folder, sweep in swept for each in sweep.skipped
        ]
        ids = [sweep.change_id for _, sweep in swept if sweep.change_id is not None]
        return ManyWritten(
            changed=tuple((path, each.count) for path, each in changed),
            skipped=tuple(skipped),
            change_id=SEVERAL.join(ids) or None,
            diff=unified_many([(path, _text(each.before), _text(each.after)) for path, each in changed]),
        )

    def _undone(self, done: Sequence[tuple[Folder, UndoneInFolder]]) -> Undone:
        label = self._shelf.label
        ids = [undone.change_id for _, undone in done if undone.change_id is not None]
        return Undone(
            undoes=SEVERAL.join(undone.undoes for _, undone in done),
            tool=done[0][1].tool,
            restored=tuple(label(folder, path) for folder, undone in done for path in undone.restored),
            refused=tuple(
                LeftAlone(label(folder, each.path), each.reason) for folder, undone in done for each in undone.refused
            ),
            change_id=SEVERAL.join(ids) or None,
            removed=tuple(label(folder, path) for folder, undone in done for path in undone.removed),
        )


def _text(data: bytes) -> str:
    return Text.decode(data).text
