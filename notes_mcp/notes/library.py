"""The async door: the only way from the event loop to disk and SQL, through the threads of `workers`.

The work itself is in `answering`, `finding`, `paging` and `keeping`; the half that writes is `changing`.
`run` opens the folders and keeps them until `close`. What changed, whoever wrote it, goes to the
`on_change` callbacks, on the loop, after the commit.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Any, TypeVar

import anyio

from notes_mcp.errors import NotFoundError
from notes_mcp.notes import opening, patience, uris
from notes_mcp.notes.answers import Document, IndexState, Info, NotePage, SearchPage
from notes_mcp.notes.asking import paging
from notes_mcp.notes.asking.answering import RECENT, Answers
from notes_mcp.notes.asking.finding import Asked, Finder
from notes_mcp.notes.asking.linking import Kind, Linker, LinkPage, TagPage
from notes_mcp.notes.asking.naming import Names
from notes_mcp.notes.changing import Changing, Step
from notes_mcp.notes.folder import Folder
from notes_mcp.notes.index.index import IndexResetError
from notes_mcp.notes.keeping import Keeper
from notes_mcp.notes.records import Change
from notes_mcp.notes.shelf import Shelf, unique_names
from notes_mcp.notes.templates import Templates
from notes_mcp.notes.workers import Workers
from notes_mcp.settings import Settings

T = TypeVar("T")
Listener = Callable[[Sequence[Change], bool], None]


class Library(Changing):
    """All folders of one process. What touches disk or index waits until `run` has opened them.

    Raises the NoteError family of `errors`, and nothing else on purpose. `ref` is any form in which a
    note can be named: its path, with or without extension, a unique name or alias, a wikilink, a URI.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._names = unique_names(settings.folders)
        self._workers = Workers()
        self._opened = anyio.Event()
        self._closing = anyio.Event()
        self._closed = anyio.Event()
        self._listeners: list[Listener] = []
        self._failure: Exception | None = None

    # -- life -------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Open, index, follow; returns after `close`. Raises what makes serving impossible (a folder that is gone)."""
        try:
            served = await self._workers.write(partial(opening.open_all, self.settings))
        except BaseException as error:
            self._failure = error if isinstance(error, Exception) else RuntimeError("closed before it was open")
            self._opened.set()
            self._closed.set()
            self._workers.stop()
            raise
        self._shelf = Shelf([each.folder for each in served])
        self._answers = Answers(served, self.settings)
        self._finder = Finder(self._shelf)
        self._naming = Names(self._shelf)
        self._linker = Linker(self._shelf, self._answers)
        self._served = {each.folder: each for each in served}
        self._roots = {each.folder: each.root for each in served}
        self._keeper = Keeper(served, self._write, self._tell, self.settings)
        try:
            async with anyio.create_task_group() as tasks:
                self._keeper.start(tasks)
                self._opened.set()
                await self._closing.wait()
                tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await self._workers.drained()
                for folder in self._shelf:
                    await self._write(folder.index.close)
            self._workers.stop()
            self._closed.set()

    async def close(self) -> None:
        """Stop following the disk and close the index; returns when both are done. Writes under way are done first."""
        self._closing.set()
        await self._closed.wait()

    @property
    def opened(self) -> bool:
        """Whether the folders are open, or cannot be opened: nobody waits for that any more."""
        return self._opened.is_set()

    @property
    def writing(self) -> bool:
        """Whether a note is being changed, or waits for its turn."""
        return self._workers.writing

    def on_change(self, listener: Listener) -> None:
        """Call `listener(changes, complete)` on the loop after each commit that brought news.

        Paths are as clients see them. `complete` is false when more may have changed than is listed: the
        first index of a folder has just been built.
        """
        self._listeners.append(listener)

    async def watch(self, wanted: Sequence[str]) -> dict[str, str]:
        """The URIs of `wanted` that can be ours -> their canonical form, once any later change will be told.

        A note that is not there can be waited for. With no URIs, the lists alone are watched.
        """
        await self._wait_opened()
        await self._keeper.armed.wait()
        found = await self._read(partial(self._answers.places, wanted))
        for folder in {folder for folder, _ in found.values()}:
            # Known as they are now: what differs from it later is a change, also while the first index is built.
            await self._keeper.refresh(folder, [path for holder, path in found.values() if holder is folder])
        return {uri: uris.to_uri(self._shelf.label(folder, path)) for uri, (folder, path) in found.items()}

    async def state(self) -> IndexState:
        """How far the index is, now."""
        await self._wait_opened()
        return self._keeper.state()

    async def settle(self) -> IndexState:
        """The same, after waiting up to `index_wait_ms` for a complete index."""
        await self._wait_opened()
        if self._keeper.complete.is_set():
            return self._keeper.state()
        self._tell_how_far()
        with anyio.move_on_after(self.settings.index_wait_ms / 1000):
            await self._keeper.complete.wait()
        return self._tell_how_far()

    def _tell_how_far(self) -> IndexState:
        state = self._keeper.state()
        patience.waiting(state.indexed, state.total, "files in the index")
        return state

    # -- names ------------------------------------------------------------------------------------

    def uri(self, path: str) -> str:
        """The `notes:///` URI of a path as clients see it."""
        return uris.to_uri(path)

    def canonical(self, uri: str) -> str | None:
        """The `notes:///` form of any URI that can be ours, by its text alone; None for every other."""
        parsed = uris.parse(uri)
        if parsed is None:
            return None
        form, path = parsed
        if form == "path":
            return uris.to_uri(path)
        for name, root in zip(self._names, self.settings.folders, strict=True):
            inside = uris.below(root, path)
            if inside is not None:
                return uris.to_uri(f"{name}/{inside}" if len(self._names) > 1 else inside)
        return None

    async def resolve(self, ref: str, *, for_write: bool = False) -> str:
        """The real path that `ref` means. Writing guesses nothing beyond extension, normal form and a unique name.

        Raises NotFoundError (`nearest`), AmbiguousError (`candidates`), ForbiddenError.
        """
        folder, path = await self._find(ref, for_write=for_write)
        return self._shelf.label(folder, path)

    async def daily_path(self, day: date) -> str:
        """Where that day's note is, or would be."""
        await self._wait_opened()
        folder, daily = await self._read(self._answers.daily_notes)
        return self._shelf.label(folder, daily.path(day))

    async def daily_template(self) -> str | None:
        """The path of the note that new daily notes start from, as Obsidian's settings give it; None without one."""
        await self._wait_opened()
        folder, daily = await self._read(self._answers.daily_notes)
        return self._shelf.label(folder, daily.template) if daily.template else None

    async def daily_problem(self) -> str:
        """What is wrong with the settings of daily notes, as the end of a sentence; "" if nothing is."""
        await self._wait_opened()
        return (await self._read(self._answers.daily_notes))[1].problem

    async def templates(self, path: str) -> Templates:
        """What the settings of the folder that `path` is in, or will be, say of templates."""
        await self._wait_opened()
        return await self._read(partial(self._answers.templates, path))

    async def names(self, kind: str, prefix: str, limit: int) -> tuple[tuple[str, ...], int]:
        """Up to `limit` "paths", "tags" or "folders" that resemble what was typed, best first, and how many do."""
        return await self._ask(lambda _: self._naming.like(kind, prefix, limit))

    # -- reading ----------------------------------------------------------------------------------

    async def read(self, ref: str, *, scan: bool = False) -> Document:
        """The file, with its text if it is a note, scanned as Markdown if asked for.

        Raises NotFoundError, AmbiguousError, ForbiddenError, TooLargeError, UnreadableError, BusyError.
        """
        await self._wait_opened()
        return await self._by_ref(partial(self._answers.read, ref, scan=scan))

    async def search(
        self,
        query: str,
        *,
        folder: str | None = None,
        tags: Sequence[str] = (),
        properties: Mapping[str, Any] | None = None,
        modified_after: str | None = None,
        mode: str = "words",
        sort: str = "relevance",
        limit: int = 10,
        cursor: str | None = None,
    ) -> SearchPage:
        """A page of hits with their lines.

        `mode`: "words" as `query` parses them; "exact", the text as it is, in any letter case unless it has a
        capital; "regex", line by line. Raises InvalidRequestError for a bad date, mode, pattern or cursor, or a
        search that takes too long; NotFoundError for a folder.
        """
        await self._wait_opened()
        wanted = tuple(sorted((properties or {}).items()))
        asked = Asked(query, folder, tuple(tags), wanted, modified_after, mode, sort)
        return await self._ask(partial(self._finder.search, asked, limit, cursor))

    async def list_notes(
        self,
        *,
        folder: str | None = None,
        glob: str | None = None,
        tag: str | None = None,
        recursive: bool = True,
        sort: str = "path",
        limit: int = 50,
        cursor: str | None = None,
    ) -> NotePage:
        """A page of notes. Raises NotFoundError for a folder, InvalidRequestError for a bad cursor or glob."""
        await self._wait_opened()
        ask = partial(paging.list_notes, self._shelf, folder, glob, tag, recursive, sort, limit, cursor)
        return await self._ask(ask)

    async def recent(self, limit: int, cursor: str | None) -> NotePage:
        """A page of all notes, the newest first."""
        return await self.list_notes(sort="modified", limit=limit, cursor=cursor)

    async def tags(
        self, *, prefix: str = "", folder: str | None = None, limit: int = 100, cursor: str | None = None
    ) -> TagPage:
        """A page of tags. Raises NotFoundError for a folder, InvalidRequestError for a bad cursor."""
        await self._wait_opened()
        return await self._ask(partial(self._linker.tags, prefix, folder, limit, cursor))

    async def links(self, kind: Kind, ref: str | None, *, limit: int = 50, cursor: str | None = None) -> LinkPage:
        """A page of links. Raises InvalidRequestError for a bad cursor or where `ref` is missing, NotFoundError, …"""
        await self._wait_opened()
        return await self._ask(partial(self._linker.links, kind, ref, limit, cursor))

    async def info(self) -> Info:
        """Folders, recent notes and changes, problems, and how far the index is."""
        page = await self.recent(RECENT, None)
        watching = {folder: self._keeper.watching(root) for folder, root in self._roots.items()}
        return await self._read(partial(self._answers.info, watching, page.notes, page.state))

    # -- threads ----------------------------------------------------------------------------------

    async def _find(self, ref: str, *, for_write: bool) -> tuple[Folder, str]:
        await self._wait_opened()
        return await self._by_ref(partial(self._answers.resolve, ref, for_write=for_write))

    async def _by_ref(self, work: Callable[[], T]) -> T:
        """What is not found under its exact path may be in the part of the index that is still to come."""
        complete = self._keeper.complete.is_set()
        try:
            return await self._read(work)
        except NotFoundError:
            if complete:
                raise
        except IndexResetError:
            pass  # the index starts anew: looked at again when it is whole
        state = await self.settle()
        try:
            return await self._read(work)
        except NotFoundError as error:
            if state.complete:
                raise
            of = "not counted yet" if state.total is None else f"of {state.total:,}"
            raise NotFoundError(
                f"{error} The index is still being built ({state.indexed:,} files, {of}): "
                "give the whole path, or try again in a moment.",
                error.nearest,
            ) from None

    async def _ask(self, work: Callable[[IndexState], T]) -> T:
        """What depends on the index; asked once more if the index had to start anew under it."""
        try:
            return await self._read(partial(work, await self.settle()))
        except IndexResetError:
            return await self._read(partial(work, await self.settle()))

    async def _all_or_none(self, steps: Sequence[Step[T]], take_back: Callable[[Folder, T], None]) -> list[T]:
        """Changes, one after another in the writer thread, each done and told; also if the caller is cancelled.

        Once the caller is gone, a step ends where it still can with nothing changed, raising UnwantedError. If one
        fails, whatever the reason, those before it are taken back.
        """
        wish = patience.Wish()

        async def run() -> list[T]:
            done: list[tuple[Folder, T]] = []
            try:
                for folder, work in steps:
                    done.append((folder, await self._write(work, wish)))
                    await self._keeper.announce(folder)
            except BaseException:
                for folder, result in reversed(done):
                    await self._write(partial(take_back, folder, result))
                    await self._keeper.announce(folder)
                raise
            return [result for _, result in done]

        return await self._workers.to_the_end(run(), wish)

    def _tell(self, folder: Folder, changes: Sequence[Change], complete: bool) -> None:
        labelled = [self._answers.labelled(folder, change) for change in changes]
        for listener in self._listeners:
            listener(labelled, complete)

    async def _write(self, work: Callable[[], T], wish: patience.Wish | None = None) -> T:
        await self._wait_opened()
        return await self._workers.write(work, wish)

    async def _read(self, work: Callable[[], T]) -> T:
        await self._wait_opened()
        try:
            return await self._workers.read(work)
        except IndexResetError:
            self._keeper.renew()
            raise

    async def _wait_opened(self) -> None:
        if not self._opened.is_set():
            await self._opened.wait()
        if self._failure is not None:
            raise self._failure
