"""What the tables answer about files, folders, tags and links; search is in `searching`. Reads only.

Every function takes a connection and gives plain values; nothing is kept between calls.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import unquote

from notes_mcp.notes.index.filing import KINDS, inode_in
from notes_mcp.notes.index.schema import Connection, scalar
from notes_mcp.notes.index.scope import COLUMNS, Key, Scope, after, key_of, note_of, order_by, real_folder
from notes_mcp.notes.index.segment import clean, key
from notes_mcp.notes.links.links import NOWHERE, Resolution, name_key, resolve, without_extension
from notes_mcp.notes.records import Change, FileKind, FileState, Note

MANY_PAGES = 10
_MARKDOWN_KINDS = frozenset(("markdown", "image", "reference"))
SPELT = re.compile(r"[/\\%.]|\A\Z")  # a path, an escape, an extension, or nothing
_LEADS_ELSEWHERE = re.compile(r"[/\\]")  # from each folder; a bare name that one file has is the same from all
_STAMP = "path, size, modified_ns, inode, etag, changed_ns"
LINK_COLUMNS = "s.path, l.kind, l.target, l.anchor, l.text, l.line, l.target_key"


class Stamp(NamedTuple):
    """How a file was when the index took it in."""

    size: int
    modified_ns: int
    inode: int
    etag: str
    changed_ns: int

    def fits(self, file: FileState) -> bool:
        """Whether the file is unaltered since, as far as can be told without reading it."""
        stamp = self.size, self.modified_ns, self.inode, self.changed_ns
        return stamp == (file.size, file.modified_ns, file.inode, file.changed_ns)


@dataclass(frozen=True, slots=True)
class Page:
    """One page of notes; `total` counts all pages, `after` is the key that the next page starts behind."""

    notes: tuple[Note, ...]
    total: int
    after: Key | None


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A link as it is written in `source`, line 1-based, and where it leads."""

    source: str
    kind: str
    target: str
    anchor: str
    text: str
    line: int
    resolution: Resolution = NOWHERE


def known(db: Connection, paths: Iterable[str] | None) -> dict[str, Stamp]:
    """Path -> stamp of every file, or of those among `paths`."""
    if paths is None:
        return dict(_stamps(db.execute(f"SELECT {_STAMP} FROM files")))
    found: dict[str, Stamp] = {}
    for path in paths:
        found.update(_stamps(db.execute(f"SELECT {_STAMP} FROM files WHERE path=?", (clean(path),))))
    return found


def compare(db: Connection, files: Mapping[str, FileState]) -> tuple[list[FileState], dict[str, str]]:
    """Those of all `files` that the index does not hold as they are; path -> etag of what it holds beside them."""
    stale, missing = dict(files), dict[str, str]()
    for path, stamp in _stamps(db.execute(f"SELECT {_STAMP} FROM files")):
        file = files.get(path)
        if file is None:
            missing[path] = stamp.etag
        elif stamp.fits(file):
            del stale[path]
    return list(stale.values()), missing


def _stamps(found: Iterable[tuple[Any, ...]]) -> Iterator[tuple[str, Stamp]]:
    for path, size, modified_ns, inode, etag, changed_ns in found:
        yield path, Stamp(size, modified_ns, inode_in(inode), etag, changed_ns)


def count(db: Connection, kind: FileKind | None) -> int:
    """How many files, or files of one kind."""
    scope = Scope(None if kind is None else KINDS.index(kind))
    return int(scalar(db, f"SELECT count(*) FROM files f WHERE {scope.sql}"))


def get(db: Connection, path: str) -> Note | None:
    """The file at exactly this path."""
    rows = db.execute(f"SELECT {COLUMNS} FROM files f WHERE path=?", (clean(path),)).fetchall()
    return note_of(rows[0]) if rows else None


def below(db: Connection, folder: str) -> list[str]:
    """Paths of all files in a folder and below it, sorted; "" is the root."""
    scope = Scope(None)
    scope.folder(clean(folder))
    return [path for (path,) in db.execute(f"SELECT path FROM files f WHERE {scope.sql} ORDER BY path", scope.values)]


def notes(db: Connection, scope: Scope, order: str, last: Sequence[Any] | None, limit: int) -> Page:
    """The page of files in `scope` behind the key `last`."""
    total = int(scalar(db, f"SELECT count(*) FROM files f WHERE {scope.sql}", scope.values))
    if last is not None:
        after(order, last, scope)
    # "+" keeps the index on `kind` out of it: the one on `path` gives the order without sorting everything.
    plus = "+" if order == "path" and scope.sql.startswith("f.kind=") else ""
    # Where many fit, it is cheaper to go along the order and leave out the few that do not than to sort them all.
    fits = scope.sql.replace("f.id IN (", "+f.id IN (") if total > MANY_PAGES * limit else scope.sql
    rows = db.execute(
        f"SELECT {COLUMNS} FROM files f WHERE {plus}{fits} ORDER BY {order_by(order)} LIMIT ?",
        [*scope.values, limit + 1],
    ).fetchall()
    found = tuple(note_of(row) for row in rows[:limit])
    return Page(found, total, key_of(order, found[-1]) if len(rows) > limit and found else None)


def folders(db: Connection, folder: str, *, recursive: bool) -> list[tuple[str, int]]:
    """Folders directly in `folder` (or all below it) with the number of notes in and below each, by path."""
    real = real_folder(db, folder)
    values = (real + "/", real + "0") if real else ("", "\U0010ffff")
    rows = db.execute(
        "SELECT folder, count(*) FROM files WHERE kind=0 AND folder>? AND folder<? GROUP BY folder", values
    )
    depth = real.count("/") + 1 if real else 0
    totals: Counter[str] = Counter()
    for path, number in rows:
        parts = path.split("/")
        for end in range(depth + 1, len(parts) + 1 if recursive else min(depth + 2, len(parts) + 1)):
            totals["/".join(parts[:end])] += number
    return sorted(totals.items())


def last_seq(db: Connection) -> int:
    """The number of the newest line of the change log; lines to come are higher."""
    return int(scalar(db, "SELECT seq FROM sqlite_sequence WHERE name='log'"))


def changes_since(db: Connection, seq: int) -> list[Change]:
    """The lines of the change log after `seq`, in order."""
    rows = db.execute("SELECT seq, kind, path, file_kind, old_path FROM log WHERE seq>? ORDER BY seq", (seq,))
    return [Change(number, kind, path, KINDS[file_kind], old) for number, kind, path, file_kind, old in rows]


class Files:
    """The `links.Lookup` of one connection; remembers what it was asked while it lives (one call)."""

    def __init__(self, db: Connection) -> None:
        self._db = db
        self._seen: dict[tuple[str, str], tuple[str, ...]] = {}

    def by_path_key(self, path_key: str) -> Sequence[str]:
        """Files whose folded path this is."""
        return self._ask("SELECT path FROM files WHERE path_key=?", path_key)

    def by_name_key(self, name: str) -> Sequence[str]:
        """Files whose folded name without a note's extension this is."""
        return self._ask("SELECT path FROM files WHERE name_key=?", name)

    def by_alias_key(self, alias: str) -> Sequence[str]:
        """Notes that have this alias."""
        return self._ask("SELECT f.path FROM aliases a JOIN files f ON f.id=a.file WHERE a.key=?", alias)

    def names(self) -> Iterator[tuple[str, str]]:
        """`(path, title)` of every file."""
        yield from self._db.execute("SELECT path, title FROM files")

    def times(self) -> Iterator[tuple[str, int]]:
        """`(path, modified_ns)` of every file."""
        yield from self._db.execute("SELECT path, modified_ns FROM files")

    def lacks(self, target: str, name: str) -> bool:
        """Whether it is plain, without resolving it, that a link whose target has that name key leads nowhere."""
        return False

    def _ask(self, sql: str, value: str) -> tuple[str, ...]:
        found = self._seen.get((sql, value))
        if found is None:
            found = tuple(path for (path,) in self._db.execute(sql, (clean(value),)))
            self._seen[sql, value] = found
        return found


class AllFiles(Files):
    """The same, all of it read at once: for thousands of questions, each of which would be slow by itself."""

    def __init__(self, db: Connection) -> None:
        super().__init__(db)
        self._keyed: tuple[dict[str, list[str]], ...] = ({}, {}, {})
        paths, names, aliases = self._keyed
        for path, path_key, name in db.execute("SELECT path, path_key, name_key FROM files"):
            paths.setdefault(path_key, []).append(path)
            names.setdefault(name, []).append(path)
        for alias, path in db.execute("SELECT a.key, f.path FROM aliases a JOIN files f ON f.id=a.file"):
            aliases.setdefault(alias, []).append(path)

    def by_path_key(self, path_key: str) -> Sequence[str]:
        """Files whose folded path this is."""
        return self._keyed[0].get(clean(path_key), ())

    def by_name_key(self, name: str) -> Sequence[str]:
        """Files whose folded name without a note's extension this is."""
        return self._keyed[1].get(clean(name), ())

    def by_alias_key(self, alias: str) -> Sequence[str]:
        """Notes that have this alias."""
        return self._keyed[2].get(clean(alias), ())

    def lacks(self, target: str, name: str) -> bool:
        """See `Files`: true for a bare name that no file and no alias has. Where spelling may matter it is false."""
        if SPELT.search(target) or target != target.strip():
            return False
        return name not in self._keyed[1] and name not in self._keyed[2]


def outgoing(db: Connection, path: str) -> list[LinkRow]:
    """The links in the note at `path`, in order, each with where it leads."""
    rows = db.execute(
        f"SELECT {LINK_COLUMNS} FROM links l JOIN files s ON s.id=l.file WHERE s.path=? ORDER BY l.position",
        (clean(path),),
    )
    return list(resolved(Files(db), rows.fetchall()))


def backlinks(db: Connection, path: str) -> list[LinkRow]:
    """The links in other notes that lead to `path` (also by an alias of it), by source and line."""
    wanted = {name_key(path), name_key(without_extension(path)), key(path.rpartition("/")[2])}
    wanted.update(
        alias for (alias,) in db.execute(
            "SELECT a.key FROM aliases a JOIN files f ON f.id=a.file WHERE f.path=?", (clean(path),)
        )
    )  # fmt: skip
    wanted.update([name_key(alias.rstrip("/\\").replace("\\", "/")) for alias in wanted])  # as `filing` keeps targets
    marks = ",".join("?" * len(wanted))
    rows = db.execute(
        f"SELECT {LINK_COLUMNS} FROM links l JOIN files s ON s.id=l.file WHERE l.target_key IN ({marks})"
        " AND s.path<>? ORDER BY s.path, l.position",
        [*map(clean, sorted(wanted)), clean(path)],
    )
    return [link for link in resolved(Files(db), rows.fetchall()) if link.resolution.path == path]


def all_links(db: Connection, folder: str = "") -> Iterator[LinkRow]:
    """Every link of the notes in `folder`, by source and place, each with where it leads."""
    scope = Scope(0)
    scope.folder(real_folder(db, folder))
    rows = db.execute(
        f"SELECT {LINK_COLUMNS} FROM files f CROSS JOIN links l ON l.file=f.id JOIN files s ON s.id=f.id"
        f" WHERE {scope.sql} ORDER BY f.path, l.position",
        scope.values,
    )
    yield from resolved(AllFiles(db), rows)


def resolved(files: Files, rows: Iterable[tuple[Any, ...]]) -> Iterator[LinkRow]:
    """Rows of `LINK_COLUMNS` as links, each with where it leads."""
    seen: dict[tuple[str, str, bool], Resolution] = {}
    anywhere: dict[str, Resolution] = {}
    for source, kind, target, anchor, text, line, name in rows:
        markdown = kind in _MARKDOWN_KINDS
        folder = source.rpartition("/")[0]
        asked = (folder, target, markdown)
        found = anywhere.get(target)
        # A Markdown link to a file beside it is a relative one, which is another way to get there.
        if found is not None and markdown and folder == (found.path or "").rpartition("/")[0]:
            found = None
        found = found or seen.get(asked)
        if found is None and files.lacks(target, name):
            found = NOWHERE
        if found is None:
            found = resolve(target, source, files, markdown=markdown)
            if found.via == "name" and len(found.candidates) == 1 and not _LEADS_ELSEWHERE.search(unquote(target)):
                anywhere[target] = found
            elif found.via != "self":
                seen[asked] = found
        yield LinkRow(source, kind, target, anchor, text, line, found)
