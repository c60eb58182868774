"""The index of one folder: sync, safe from any thread, shared with other servers on the same folder.

What is asked is answered by `rows`, `searching` and their like, what is put in by `filing`, each in one
transaction on one of the `connections`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from notes_mcp.notes.index import filing, flaws, linkless, rows, searching, tagcounts
from notes_mcp.notes.index.connections import Connections, IndexResetError
from notes_mcp.notes.index.query import Query
from notes_mcp.notes.index.rows import LinkRow, Page, Stamp
from notes_mcp.notes.index.schema import Store, open_store
from notes_mcp.notes.index.scope import Scope, real_folder
from notes_mcp.notes.index.searching import Found
from notes_mcp.notes.links import links
from notes_mcp.notes.records import Batch, Change, FileKind, FileState, Note

__all__ = ["Index", "IndexResetError"]
T = TypeVar("T")


class Index(Connections):
    """Every method may raise BusyError (another server holds the file for long) or IndexResetError."""

    def __init__(self, wanted: Path | None, store: Store) -> None:
        super().__init__(wanted, store)
        self._rankings = searching.Rankings()

    @classmethod
    def open(cls, file: Path | None) -> "Index":
        """The index kept at `file` (its real name gets a version and a number), made if it is not there.

        Never fails: without a usable place it is in memory, and `reason` says why.
        """
        return cls(file, open_store(file))

    # -- what goes in -------------------------------------------------------------------------------

    def apply(self, batch: Batch) -> list[Change]:
        """One batch in one transaction; what changed, as the log now holds it. See `filing.apply`."""
        with self._writing() as db:
            return filing.apply(db, batch)

    def finish(self) -> None:
        """It holds all there is: what is seen for the first time from now on is a change, whoever sees it."""
        with self._writing() as db:
            filing.finish(db)

    @property
    def finished(self) -> bool:
        """Whether it has once held all there was."""
        with self._reading() as db:
            return filing.finished(db)

    # -- the change log -----------------------------------------------------------------------------

    def last_seq(self) -> int:
        """The number of the newest change; also the changes of an index made anew have higher ones."""
        with self._reading() as db:
            return rows.last_seq(db)

    def changes_since(self, seq: int) -> list[Change]:
        """The changes after number `seq`, in order, whichever server made them. The last 10,000 are kept."""
        with self._reading() as db:
            return rows.changes_since(db, seq)

    # -- files --------------------------------------------------------------------------------------

    def known(self, paths: Iterable[str] | None = None) -> dict[str, Stamp]:
        """Path -> stamp of every file, or of those among `paths`."""
        with self._reading() as db:
            return rows.known(db, paths)

    def compare(self, files: Mapping[str, FileState]) -> tuple[list[FileState], dict[str, str]]:
        """Those of all `files` that the index does not hold as they are; path -> etag of what it holds beside them."""
        with self._reading() as db:
            return rows.compare(db, files)

    def count(self, kind: FileKind | None = None) -> int:
        """How many files, or files of one kind."""
        with self._reading() as db:
            return rows.count(db, kind)

    def get(self, path: str) -> Note | None:
        """The file at exactly this path."""
        with self._reading() as db:
            return rows.get(db, path)

    def below(self, folder: str) -> list[str]:
        """Paths of all files in a folder (exact spelling, "" for all) and below it, sorted."""
        with self._reading() as db:
            return rows.below(db, folder)

    def notes(
        self,
        order: str = "path",
        *,
        folder: str | None = None,
        glob: str | None = None,
        tag: str | None = None,
        recursive: bool = True,
        kind: FileKind | None = "note",
        after: Sequence[Any] | None = None,
        limit: int = 50,
    ) -> Page:
        """A page in `order` ("path", "modified" newest first, "size" largest first), behind the key `after`.

        Raises InvalidRequestError for a key that is not one of this order.
        """
        with self._reading() as db:
            scope = Scope(None if kind is None else filing.KINDS.index(kind))
            scope.folder(real_folder(db, folder), recursive=recursive)
            if tag:
                scope.tag(tag)
            if glob:
                scope.glob(db, glob)
            return rows.notes(db, scope, order, after, limit)

    def folder(self, folder: str) -> str:
        """A folder as the disk spells it, found without regard to case and normal form; unknown ones as given."""
        with self._reading() as db:
            return real_folder(db, folder)

    def folders(self, folder: str = "", *, recursive: bool = False) -> list[tuple[str, int]]:
        """Folders directly in `folder`, or all below it, with the number of notes in and below each, by path."""
        with self._reading() as db:
            return rows.folders(db, folder, recursive=recursive)

    def tags(self, prefix: str = "", *, folder: str = "") -> list[tuple[str, int]]:
        """`(tag, notes)`, most used first; notes with a tag below count for the tag above."""
        with self._reading() as db:
            return tagcounts.tags(db, prefix, folder)

    def flaws(self, limit: int, apart: Sequence[str] = ()) -> flaws.Flaws:
        """What of the notes a person should mend, at most `limit` examples of a kind; see `flaws`."""
        with self._reading() as db:
            return flaws.flaws(db, limit, apart)

    # -- links --------------------------------------------------------------------------------------

    def resolve_ref(self, ref: str, *, for_write: bool = False) -> str:
        """The real path that `ref` means. Raises NotFoundError, AmbiguousError; see `links.resolve_ref`."""
        with self._reading() as db:
            return links.resolve_ref(ref, rows.Files(db), for_write=for_write)

    def resolve_link(self, target: str, from_path: str, *, markdown: bool = False) -> links.Resolution:
        """Where a link in `from_path` leads; see `links.resolve`."""
        with self._reading() as db:
            return links.resolve(target, from_path, rows.Files(db), markdown=markdown)

    def among_files(self, ask: Callable[[rows.Files], T]) -> T:
        """What `ask` answers, which is given the files as a `links.Lookup`. It must not ask the index for more."""
        with self._reading() as db:
            return ask(rows.Files(db))

    def nearest(self, ref: str, limit: int = links.MAX_NEAREST) -> tuple[str, ...]:
        """Real paths that resemble `ref` by path, name or title, best first."""
        with self._reading() as db:
            return links.nearest(ref, rows.Files(db), limit)

    def outgoing(self, path: str) -> list[LinkRow]:
        """The links in the note at `path`, in order, with where they lead."""
        with self._reading() as db:
            return rows.outgoing(db, path)

    def backlinks(self, path: str) -> list[LinkRow]:
        """The links in other notes that lead to the note or attachment at `path`, by source and place."""
        with self._reading() as db:
            return rows.backlinks(db, path)

    def all_links(self, folder: str = "") -> list[LinkRow]:
        """Every link of the notes in `folder`, by source and place, with where it leads."""
        with self._reading() as db:
            return list(rows.all_links(db, folder))

    def broken_links(self, folder: str = "") -> list[LinkRow]:
        """The links of the notes in `folder` that lead nowhere, by source and place."""
        with self._reading() as db:
            return linkless.broken(db, folder)

    def orphans(self) -> list[tuple[str, str]]:
        """`(path, title)` of every note that no other note links to, by path."""
        with self._reading() as db:
            return linkless.orphans(db)

    # -- search -------------------------------------------------------------------------------------

    def search(
        self,
        query: Query,
        *,
        folder: str | None = None,
        tags: Sequence[str] = (),
        properties: Mapping[str, Any] | None = None,
        modified_after_ns: int | None = None,
        sort: str = "relevance",
        limit: int = 10,
        after: Sequence[Any] | None = None,
    ) -> Found:
        """A page of notes that match the query and have all tags and properties, behind the key `after`.

        `sort`: "relevance", "modified", "path" or "size". Raises InvalidRequestError for a wrong key.
        """
        with self._reading() as db:
            scope = Scope()
            scope.folder(real_folder(db, folder))
            for tag in tags:
                scope.tag(tag)
            scope.properties(properties or {})
            if modified_after_ns is not None:
                scope.add("f.modified_ns>?", modified_after_ns)
            return searching.search(db, query, scope, sort, after, limit, self._rankings)

    def did_you_mean(self, query: Query, read: Callable[[str], str | None], limit: int = 3) -> tuple[str, ...]:
        """Words near to those of the query that no note has; `read(path)` gives a note's text, None if it cannot."""
        with self._reading() as db:
            return searching.suggest(db, query, read, limit)
