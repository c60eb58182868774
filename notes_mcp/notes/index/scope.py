"""Conditions on notes as SQL, and the order of pages. Used by `rows` and `searching`; changes nothing.

Owns which columns a folder, tag, property, path or time condition reads, and what a page's key is: the
sort value of its last row and its path, so that a page stays right while notes come and go.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from notes_mcp.errors import InvalidRequestError
from notes_mcp.notes.index import globs
from notes_mcp.notes.index.query import Filter
from notes_mcp.notes.index.schema import Connection
from notes_mcp.notes.index.segment import clean, key
from notes_mcp.notes.records import Note

Order: TypeAlias = Literal["path", "modified", "size", "relevance"]
Key: TypeAlias = tuple[Any, ...]

KEY_SHAPES: dict[str, tuple[type, ...]] = {
    "path": (str,),
    "modified": (int, str),
    "size": (int, str),
    "relevance": (float, int, str),
}
COLUMNS = "f.id, f.path, f.title, f.size, f.modified_ns, f.etag, f.tags, f.aliases, f.kind"
MAX_CONDITIONS = 200


class Scope:
    """A growing WHERE clause over `files f`. `sql` always stands; `values` are its parameters in order."""

    def __init__(self, kind: int | None = 0) -> None:
        self._parts = [] if kind is None else [f"f.kind={kind}"]
        self._seen: set[tuple[Any, ...]] = set()
        self.values: list[Any] = []

    @property
    def sql(self) -> str:
        """The conditions so far, joined; "1" if there are none."""
        return " AND ".join(self._parts) or "1"

    @property
    def open(self) -> bool:
        """Whether nothing but the kind of file is asked for."""
        return len(self._parts) <= 1

    def add(self, sql: str, *values: Any) -> None:
        """One more condition. Raises InvalidRequestError where there are more than a statement can hold."""
        if (sql, *values) in self._seen:
            return
        if len(self._seen) >= MAX_CONDITIONS:
            raise InvalidRequestError(
                f"At most {MAX_CONDITIONS} different tags, properties and filters fit in one search; leave some out."
            )
        self._seen.add((sql, *values))
        self._parts.append(sql)
        self.values.extend(values)

    def folder(self, folder: str, *, recursive: bool = True) -> None:
        """In this folder (real spelling, "" is the root), or also anywhere below."""
        if not recursive:
            self.add("f.folder=?", folder)
        elif folder:
            self.add("f.path>? AND f.path<?", folder + "/", folder + "0")

    def tag(self, tag: str, *, negative: bool = False) -> None:
        """With this tag or one below it: `a` matches `a/b`, never `ab`."""
        name = key(tag.strip().lstrip("#").strip("/"))
        self._tags(name, negative)

    def property(self, name: str, value: str, *, negative: bool = False) -> None:
        """With this property, having this value among its values; "" means any."""
        found = "SELECT file FROM properties WHERE key=?" + (" AND value=?" if value else "")
        self._in(found, [name, value] if value else [name], negative)

    def filter(self, wanted: Filter) -> None:
        """One filter of a query."""
        if wanted.kind == "tag":
            self._tags(wanted.name, wanted.negative)
        elif wanted.kind == "property":
            self.property(wanted.name, wanted.value, negative=wanted.negative)
        else:
            self.add(f"instr(f.path_key, ?){'=' if wanted.negative else '>'}0", wanted.name)

    def properties(self, wanted: Mapping[str, Any]) -> None:
        """Each name with its value, or each of a list of values; None: the property is there."""
        for name, value in wanted.items():
            for one in value if isinstance(value, Sequence) and not isinstance(value, str) else [value]:
                self.property(key(name), key(written(one)))

    def holding(self, phrases: Sequence[Sequence[str]]) -> None:
        """In whose text these phrases of folded words are; or perhaps are, if they are in its front matter."""
        words = {word for phrase in phrases for word in phrase}
        if words:
            body = " AND ".join('"{}"'.format(" ".join(phrase)) for phrase in phrases)
            front = " AND ".join("instr(text, ?)" for _ in words)
            self.add(
                "(f.id IN (SELECT rowid FROM words WHERE words MATCH ?)"
                f" OR f.id IN (SELECT file FROM fronts WHERE {front}))",
                f"{{body}} : ({body})",
                *words,
            )

    def glob(self, db: Connection, pattern: str) -> None:
        """Whose path the pattern of `globs` means; looked for once, among what the conditions so far let through."""
        fits = globs.matcher(pattern)
        start = clean(globs.literal_folder(pattern))
        if start:
            self.add("f.path_key>? AND f.path_key<?", start + "/", start + "0")
        rows = db.execute(f"SELECT f.id, f.path_key FROM files f WHERE {self.sql}", self.values)
        found = [number for number, path in rows if fits(path)]
        self.add("f.id IN (SELECT value FROM json_each(?))", json.dumps(found))

    def _tags(self, name: str, negative: bool) -> None:
        self._in(
            "SELECT file FROM tags WHERE key=? UNION ALL SELECT file FROM tags WHERE key>? AND key<?",
            [name, name + "/", name + "0"],
            negative,
        )

    def _in(self, found: str, values: list[str], negative: bool) -> None:
        self.add(f"f.id {'NOT ' if negative else ''}IN ({found})", *map(clean, values))


def written(value: Any) -> str:
    """A JSON value as front matter writes it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def order_by(order: str) -> str:
    """The ORDER BY of a page: newest, largest or best first, equals by path."""
    return "f.path" if order == "path" else f"{_column(order)} DESC, f.path"


def after(order: str, last: Sequence[Any], scope: Scope) -> None:
    """Only what comes after the row with this key. Raises InvalidRequestError for a key of another shape."""
    *values, path = check_key(order, last)
    if order == "path":
        scope.add("f.path>?", path)
    else:
        column = _column(order)
        scope.add(f"{column}<=? AND ({column}<? OR f.path>?)", values[-1], values[-1], path)


def key_of(order: str, note: Note, score: float = 0.0) -> Key:
    """The key of a row in this order."""
    match order:
        case "path":
            return (note.path,)
        case "size":
            return (note.size, note.path)
        case "relevance":
            return (score, note.modified_ns, note.path)
    return (note.modified_ns, note.path)


def rank(order: str, of: Sequence[Any]) -> Key:
    """A key as a value that sorts as the pages do; pages of several folders are merged by it."""
    *values, path = of
    return (*(-value for value in values), path)


def check_key(order: str, last: Sequence[Any]) -> Key:
    """`last` as a key of this order. Raises InvalidRequestError if it is none."""
    shape = KEY_SHAPES[order]
    fits = len(last) == len(shape) and all(
        isinstance(part, (int, float) if kind is float else kind) and not isinstance(part, bool)
        for part, kind in zip(last, shape, strict=True)
    )
    if not fits or not all(-(2**63) <= number < 2**63 for number in last[:-1]):
        raise InvalidRequestError("This cursor is not valid here; leave it out to start from the first page.")
    return (*last[:-1], clean(last[-1]))


def note_of(row: Sequence[Any]) -> Note:
    """A row of COLUMNS."""
    _, path, title, size, modified_ns, etag, tags, aliases, kind = row
    return Note(
        path,
        title,
        size,
        modified_ns,
        etag,
        tuple(tags.split("\n")) if tags else (),
        tuple(aliases.split("\n")) if aliases else (),
        "attachment" if kind else "note",
    )


def real_folder(db: Connection, folder: str | None) -> str:
    """The folder as the disk spells it, found without regard to case and normal form; as given if unknown."""
    wanted = clean((folder or "").replace("\\", "/").strip("/"))
    if wanted in ("", "."):
        return ""
    found = db.execute("SELECT 1 FROM files WHERE path>? AND path<? LIMIT 1", (wanted + "/", wanted + "0"))
    if found.fetchall():
        return wanted
    folded = key(wanted)
    close: list[tuple[Any, ...]] = db.execute(
        "SELECT path FROM files WHERE path_key>? AND path_key<? LIMIT 1", (folded + "/", folded + "0")
    ).fetchall()
    return "/".join(close[0][0].split("/")[: wanted.count("/") + 1]) if close else wanted


def _column(order: str) -> str:
    return "f.size" if order == "size" else "f.modified_ns"
