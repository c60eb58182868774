"""One batch into the tables: compares it with what the index knew and decides what each file's change is.

Owns every INSERT, UPDATE and DELETE on notes. Folding and segmenting happen before the write lock is
taken; inside it the comparison is made anew, since another server may have been first.
`Batch` -> `apply` -> rows, and the lines of the change log that all servers on the folder share.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from notes_mcp.notes.index.schema import Connection, immediate, scalar
from notes_mcp.notes.index.segment import clean, fold, key, segment
from notes_mcp.notes.links.links import name_key
from notes_mcp.notes.records import Batch, Change, ChangeKind, Entry, FileKind

KINDS: tuple[FileKind, ...] = ("note", "attachment")
LOG_KEPT = 10_000
MAX_KEY_CHARS = 1_000
INTEGER_LIMIT = 1 << 63

_PARTS = ("tags", "aliases", "properties", "links", "flaws", "fronts")
_ROW = "id, path, kind, size, modified_ns, inode, etag, changed_ns"


class _Row(NamedTuple):
    id: int
    path: str
    kind: int
    size: int
    modified_ns: int
    inode: int
    etag: str
    changed_ns: int


class _Plan(NamedTuple):
    """What a batch means against the rows there are. `moved` gives the new entry's old row."""

    touched: list[tuple[Entry, _Row]]  # only size, times or inode differ
    updated: list[tuple[Entry, _Row]]
    created: list[Entry]
    moved: list[tuple[Entry, _Row]]
    deleted: list[_Row]


def apply(db: Connection, batch: Batch) -> list[Change]:
    """Brings the tables in step with the batch in one transaction; the changes as the log now holds them.

    A path both in `entries` and `gone` is there. A gone folder takes what is below it along.
    """
    entries = {clean(entry.state.path): _storable(entry) for entry in batch.entries}
    plan = _compare(db, entries, batch.gone)
    if not any(plan):
        return []
    words = {path: _words(path, entries[path]) for path in _rewritten(plan)}
    with immediate(db):
        plan = _compare(db, entries, batch.gone)
        _remove(db, [row.id for row in plan.deleted])
        for entry, row in plan.touched:
            state = entry.state
            db.execute(
                "UPDATE files SET size=?, modified_ns=?, inode=?, changed_ns=? WHERE id=?",
                (state.size, state.modified_ns, _inode_out(state.inode), state.changed_ns, row.id),
            )
        replaced = [*plan.updated, *plan.moved]
        _remove(db, [row.id for _, row in replaced])
        for entry, row in replaced:
            _insert(db, entry, row.id, words)
        for entry in plan.created:
            _insert(db, entry, None, words)
        return _record(db, plan, quiet=batch.quiet and not finished(db))


def finished(db: Connection) -> bool:
    """Whether the index has once held all there was: from then on what is seen for the first time is new."""
    return bool(scalar(db, "SELECT finished FROM state"))


def finish(db: Connection) -> None:
    """The index holds all there is now."""
    if not finished(db):
        db.execute("UPDATE state SET finished=1")


def _storable(entry: Entry) -> Entry:
    """With times and sizes that SQLite can hold: file systems give stranger ones."""
    state = entry.state
    given = state.size, state.modified_ns, state.changed_ns
    size, modified_ns, changed_ns = kept = tuple(max(-INTEGER_LIMIT, min(n, INTEGER_LIMIT - 1)) for n in given)
    if kept == given:
        return entry
    return replace(entry, state=replace(state, size=size, modified_ns=modified_ns, changed_ns=changed_ns))


def inode_in(stored: object) -> int:
    """An inode as the disk gave it: those beyond 63 bits are stored as text."""
    return int(stored)  # type: ignore[call-overload, no-any-return]


def _inode_out(inode: int) -> int | str:
    return inode if -INTEGER_LIMIT <= inode < INTEGER_LIMIT else str(inode)


def _compare(db: Connection, entries: dict[str, Entry], gone: Sequence[str]) -> _Plan:
    plan = _Plan([], [], [], [], [])
    fresh: list[Entry] = []
    for path, entry in entries.items():
        row, state = _row(db, path), entry.state
        if row is not None and row.etag == entry.etag and KINDS[row.kind] == state.kind:
            stamp = state.size, state.modified_ns, state.inode, state.changed_ns
            if stamp != (row.size, row.modified_ns, row.inode, row.changed_ns):
                plan.touched.append((entry, row))
        elif entry.facts is None and state.kind == "note":
            continue  # what the index held has changed since: another server, who knows more, was here
        elif row is None:
            fresh.append(entry)
        else:
            plan.updated.append((entry, row))
    left = {row.id: row for path in gone for row in _rows_at(db, clean(path)) if row.path not in entries}
    origins = _Origins(left)
    for entry in fresh:
        row = origins.of(entry)
        if row is None:
            plan.created.append(entry)
        else:
            del left[row.id]
            plan.moved.append((entry, row))
    plan.deleted.extend(left.values())
    return plan


class _Origins:
    """Which of the gone files, those `left` at the time, a new one was. A folder that moves may be thousands."""

    def __init__(self, left: dict[int, _Row]) -> None:
        self._left = left
        self._by_inode: dict[tuple[int, int], deque[_Row]] = {}
        self._by_bytes: dict[tuple[int, str], deque[_Row]] = {}
        for row in left.values():
            if row.inode:
                self._by_inode.setdefault((row.kind, row.inode), deque()).append(row)
            if row.etag and row.size > 0:
                self._by_bytes.setdefault((row.kind, row.etag), deque()).append(row)

    def of(self, entry: Entry) -> _Row | None:
        """The one of the same bytes and inode, else of the same bytes, else of the same inode (edited on the way)."""
        kind = KINDS.index(entry.state.kind)
        same_file = self._by_inode.get((kind, entry.state.inode), ())
        for row in same_file:
            if row.id in self._left and row.size > 0 and row.etag == entry.etag:
                return row
        same_bytes = self._by_bytes.get((kind, entry.etag), deque())
        while same_bytes and same_bytes[0].id not in self._left:
            same_bytes.popleft()
        if same_bytes:
            return same_bytes[0]
        return next((row for row in same_file if row.id in self._left), None)


def _rewritten(plan: _Plan) -> Iterator[str]:
    for entry in (*(entry for entry, _ in (*plan.updated, *plan.moved)), *plan.created):
        yield clean(entry.state.path)


def _row(db: Connection, path: str) -> _Row | None:
    for row in db.execute(f"SELECT {_ROW} FROM files WHERE path=?", (path,)):
        return _as_row(row)
    return None


def _rows_at(db: Connection, path: str) -> list[_Row]:
    """The file at `path`, or else all below it as a folder."""
    row = _row(db, path)
    if row is not None:
        return [row]
    found = db.execute(f"SELECT {_ROW} FROM files WHERE path>? AND path<?", (path + "/", path + "0"))
    return [_as_row(row) for row in found]


def _as_row(row: tuple[object, ...]) -> _Row:
    found = _Row(*row)  # type: ignore[arg-type]
    return found._replace(inode=inode_in(found.inode))


def _words(path: str, entry: Entry) -> tuple[str, ...] | None:
    """The columns of the full-text table."""
    facts = entry.facts
    if facts is None:
        return None
    columns = (facts.title, *(", ".join(names) for names in (facts.aliases, facts.tags)), "\n".join(facts.headings))
    return tuple(segment(fold(text)) for text in (*columns, path, facts.body))


def _remove(db: Connection, ids: Sequence[int]) -> None:
    if not ids:
        return
    keys = [(number,) for number in ids]
    # A contentless table must not be told to delete what it does not hold.
    notes = [one for one in keys if db.execute("SELECT 1 FROM files WHERE id=? AND kind=0", one).fetchall()]
    db.executemany("DELETE FROM words WHERE rowid=?", notes)
    for table in _PARTS:
        db.executemany(f"DELETE FROM {table} WHERE file=?", keys)
    db.executemany("DELETE FROM files WHERE id=?", keys)


def _insert(db: Connection, entry: Entry, number: int | None, words: dict[str, tuple[str, ...] | None]) -> None:
    state, facts = entry.state, entry.facts
    path = clean(state.path)
    folder, _, name = path.rpartition("/")
    tags = _lines(facts.tags) if facts else ""
    aliases = _lines(facts.aliases) if facts else ""
    title = clean(facts.title) if facts else name
    db.execute(
        "INSERT INTO files VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        (number, path, KINDS.index(state.kind), state.size, state.modified_ns, _inode_out(state.inode), entry.etag,
         folder, name_key(path), key(path), title, tags, aliases, state.changed_ns),
    )  # fmt: skip
    if facts is None:
        return
    number = db.last_insert_rowid()
    columns = words.get(path) or _words(path, entry)
    assert columns is not None
    db.execute("INSERT INTO words(rowid, title, aliases, tags, headings, path, body) VALUES(?,?,?,?,?,?,?)",
               (number, *columns))  # fmt: skip
    if facts.front:
        db.execute("INSERT INTO fronts VALUES(?,?)", (number, segment(fold(facts.front))))
    db.executemany("INSERT OR IGNORE INTO tags VALUES(?,?,?)", [(_key(tag), number, clean(tag)) for tag in facts.tags])
    db.executemany("INSERT OR IGNORE INTO aliases VALUES(?,?)", [(_key(alias), number) for alias in facts.aliases])
    db.executemany(
        "INSERT OR IGNORE INTO properties VALUES(?,?,?)",
        [(_key(name), _key(value), number) for name, value in facts.properties],
    )
    db.executemany("INSERT OR IGNORE INTO flaws VALUES(?,?,?)",
                   [(kind, number, clean(advice)) for kind, advice in facts.flaws])  # fmt: skip
    db.executemany(
        "INSERT INTO links VALUES(?,?,?,?,?,?,?,?)",
        [
            (number, at, name_key(clean(link.target.rstrip("/\\").replace("\\", "/"))), link.kind, clean(link.target),
             clean(link.anchor), clean(link.text), link.line)
            for at, link in enumerate(facts.links)
        ],
    )  # fmt: skip


def _key(name: str) -> str:
    return key(name)[:MAX_KEY_CHARS]


def _lines(names: Iterable[str]) -> str:
    """Names as one column: a name is never of several lines."""
    return "\n".join(" ".join(clean(name).splitlines()) for name in names)


def _record(db: Connection, plan: _Plan, *, quiet: bool) -> list[Change]:
    changes = [
        *(_log(db, "renamed", entry.state.path, entry.state.kind, row.path) for entry, row in plan.moved),
        *(_log(db, "deleted", row.path, KINDS[row.kind]) for row in plan.deleted),
        *(_log(db, "updated", entry.state.path, entry.state.kind) for entry, _ in plan.updated),
    ]
    if not quiet:
        changes += [_log(db, "created", entry.state.path, entry.state.kind) for entry in plan.created]
    if changes:
        db.execute("DELETE FROM log WHERE seq<=?", (changes[-1].seq - LOG_KEPT,))
    return changes


def _log(db: Connection, kind: ChangeKind, path: str, file_kind: FileKind, old: str | None = None) -> Change:
    path = clean(path)
    db.execute("INSERT INTO log VALUES(NULL,?,?,?,?)", (kind, path, KINDS.index(file_kind), old))
    return Change(db.last_insert_rowid(), kind, path, file_kind, old)
