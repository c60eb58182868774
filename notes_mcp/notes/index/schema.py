"""The index file: its tables, how it is opened, and which file it is. With `index` the only user of apsw.

Owns names, modes and versions of the files in the cache directory; knows no notes. A file that is damaged
is never repaired: the next generation gets a new name, so that a server still living on the old one is
left in peace and moves over when it meets the damage itself. `open_store` -> Store -> connections.
"""

import contextlib
import os
import stat
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import apsw  # noqa: TID251

VERSION = 5  # of the tables, of `segment` and of the facts: a change of any makes every index start anew
KEEP_OLD_VERSION_SECONDS = 14 * 24 * 3600  # an older server may still be in use beside this one
NO_PLACE = "no cache directory"  # why an index is in memory that nobody gave a file to
BUSY_MS = 5_000
RETRY_SECONDS = 0.02
MAX_DAMAGED = 3
READER_CACHE_KIB = 2_000
WRITER_CACHE_KIB = 8_000
HASH_BYTES = 8 * 1024 * 1024  # what FTS5 gathers in memory before it writes a segment
WAL_LIMIT_BYTES = 16 * 1024 * 1024

# Links that say more than a name: a path, an escape, an extension, or blanks around.
SPELT_SQL = r"(target GLOB '*[/\%.]*' OR target GLOB ' *' OR target GLOB '* ')"

TABLES = f"""
CREATE TABLE files(
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, kind INTEGER NOT NULL, size INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL, inode NOT NULL, etag TEXT NOT NULL, folder TEXT NOT NULL,
    name_key TEXT NOT NULL, path_key TEXT NOT NULL, title TEXT NOT NULL, tags TEXT NOT NULL, aliases TEXT NOT NULL,
    changed_ns INTEGER NOT NULL);
CREATE INDEX files_name ON files(name_key);
CREATE INDEX files_key ON files(path_key);
CREATE INDEX files_folder ON files(kind, folder);
CREATE INDEX files_modified ON files(kind, modified_ns);
CREATE TABLE tags(key TEXT, file INTEGER, tag TEXT NOT NULL, PRIMARY KEY(key, file)) WITHOUT ROWID;
CREATE INDEX tags_file ON tags(file);
CREATE TABLE aliases(key TEXT, file INTEGER, PRIMARY KEY(key, file)) WITHOUT ROWID;
CREATE INDEX aliases_file ON aliases(file);
CREATE TABLE properties(key TEXT, value TEXT, file INTEGER, PRIMARY KEY(key, value, file)) WITHOUT ROWID;
CREATE INDEX properties_file ON properties(file);
CREATE TABLE links(
    file INTEGER, position INTEGER, target_key TEXT NOT NULL, kind TEXT NOT NULL, target TEXT NOT NULL,
    anchor TEXT NOT NULL, text TEXT NOT NULL, line INTEGER NOT NULL, PRIMARY KEY(file, position)) WITHOUT ROWID;
CREATE INDEX links_target ON links(target_key);
CREATE INDEX links_spelt ON links(target_key) WHERE {SPELT_SQL};
CREATE TABLE flaws(kind TEXT, file INTEGER, advice TEXT NOT NULL, PRIMARY KEY(kind, file)) WITHOUT ROWID;
CREATE INDEX flaws_file ON flaws(file);
CREATE TABLE fronts(file INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE state(finished INTEGER NOT NULL);
INSERT INTO state VALUES(0);
CREATE TABLE log(
    seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, path TEXT NOT NULL, file_kind INTEGER NOT NULL,
    old_path TEXT);
CREATE VIRTUAL TABLE words USING fts5(
    title, aliases, tags, headings, path, body, content='', contentless_delete=1,
    tokenize="porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'");
INSERT INTO words(words, rank) VALUES('hashsize', {HASH_BYTES});
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row);
CREATE VIRTUAL TABLE places USING fts5vocab(words, instance);
"""

Connection: TypeAlias = apsw.Connection

UNUSABLE = (apsw.CorruptError, apsw.NotADBError)
NO_ROOM = (apsw.FullError, apsw.IOError, apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError)
BUSY = (apsw.BusyError, apsw.LockedError)


@dataclass(frozen=True, slots=True)
class Store:
    """Where an index lives. `file` is None for one in memory, and `reason` then says why."""

    file: Path | None
    generation: int
    reason: str
    writer: Connection
    identity: tuple[int, int] | None = None  # device and inode of the file

    def require_same(self) -> None:
        """Raises apsw.Error if another file stands in the place of ours, or none: what we write would be lost."""
        if self.file is None:
            return
        try:
            same = _identity(self.file) == self.identity
        except OSError as error:
            raise apsw.CantOpenError(str(error)) from error
        if not same:
            raise apsw.CorruptError("the index file was replaced by another one")


def open_store(wanted: Path | None, *, after_generation: int = -1) -> Store:
    """The newest usable index file for `wanted`, made if there is none; in memory if the directory cannot hold it.

    `after_generation`: the generation found damaged; a newer one is opened or made.
    """
    if wanted is None:
        return open_in_memory(NO_PLACE)
    try:
        return _open_newest(wanted, after_generation)
    except (OSError, UnicodeError, *NO_ROOM, *BUSY) as error:
        return open_in_memory(f"the index file cannot be used: {error}")


def open_in_memory(reason: str) -> Store:
    """An empty index that lives as long as the process."""
    connection = apsw.Connection(":memory:")
    _create_tables(connection)
    return Store(None, 0, reason, connection)


def open_reader(file: Path) -> Connection:
    """A further connection to the index file that refuses to write."""
    connection = _connect(file, READER_CACHE_KIB, apsw.SQLITE_OPEN_READWRITE)
    connection.execute("PRAGMA query_only=1")
    return connection


def reopen_store(wanted: Path | None, lost: Store, error: apsw.Error) -> Store:
    """An empty or newer index in place of one that failed with `error`; in memory if the disk is what failed."""
    with contextlib.suppress(apsw.Error):
        lost.writer.close()
    if lost.file is None:
        return open_in_memory(lost.reason)
    if isinstance(error, NO_ROOM) and lost.file.exists():
        return open_in_memory(f"the index file cannot be used: {error}")
    return open_store(wanted, after_generation=lost.generation)


def _open_newest(wanted: Path, after_generation: int) -> Store:
    wanted.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    first = max(max(_generations(wanted), default=0), after_generation + 1)
    for generation in range(first, first + MAX_DAMAGED):
        file = _file_of(wanted, generation)
        _create_private(file)
        try:
            writer = _open_writer(file)
        except UNUSABLE:
            continue
        _remove_old(wanted, generation)
        return Store(file, generation, "", writer, _identity(file))
    return open_in_memory("every new index file is damaged at once")


def _open_writer(file: Path) -> Connection:
    """SQLite does not wait when two servers turn the same new file to WAL at once: then once more."""
    deadline = time.monotonic() + BUSY_MS / 1000
    while True:
        try:
            writer = _connect(file, WRITER_CACHE_KIB, apsw.SQLITE_OPEN_READWRITE)
        except BUSY:
            if time.monotonic() > deadline:
                raise
            time.sleep(RETRY_SECONDS)
            continue
        try:
            _prepare(writer)
        except BaseException:
            writer.close()
            raise
        return writer


def _file_of(wanted: Path, generation: int) -> Path:
    return wanted.with_name(f"{wanted.stem}-v{VERSION}-{generation}{wanted.suffix or '.sqlite'}")


def _generations(wanted: Path) -> list[int]:
    start, end = f"{wanted.stem}-v{VERSION}-", wanted.suffix or ".sqlite"
    numbers = (file.name[len(start) : -len(end)] for file in wanted.parent.glob(f"{_literal(start)}*{end}"))
    return [int(number) for number in numbers if number.isascii() and number.isdigit()]


def _literal(name: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def _create_private(file: Path) -> None:
    """SQLite gives its side files the mode of the main one, so the main one is made first, for its owner alone."""
    try:
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        if os.name == "posix" and stat.S_IMODE(file.stat().st_mode) != 0o600:
            file.chmod(0o600)


def _identity(file: Path) -> tuple[int, int]:
    info = file.stat()
    return info.st_dev, info.st_ino


def _connect(file: Path, cache_kib: int, flags: int) -> Connection:
    """Without the flag to create: a file that was removed meanwhile must not come back empty."""
    connection = apsw.Connection(str(file), flags=flags)
    try:
        connection.set_busy_timeout(BUSY_MS)
        connection.execute(
            f"PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA journal_size_limit={WAL_LIMIT_BYTES};"
            f"PRAGMA cache_size=-{cache_kib}; PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=0"
        )
    except apsw.Error:
        connection.close()
        raise
    return connection


def _prepare(connection: Connection) -> None:
    """Makes the tables if the file is new. Raises one of UNUSABLE if it is something else than our index."""
    if _version(connection) == VERSION:
        _probe(connection)
        return
    with immediate(connection):
        version = _version(connection)
        if version == VERSION:
            return
        if version or connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall():
            raise apsw.NotADBError("not an index of this version")
        _create_tables(connection)


@contextlib.contextmanager
def snapshot(connection: Connection) -> Iterator[None]:
    """All that is read inside is the same state of the index, whatever is written meanwhile."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def scalar(connection: Connection, sql: str, values: Sequence[Any] = ()) -> Any:
    """The first column of the first row."""
    return connection.execute(sql, tuple(values)).fetchall()[0][0]


def _version(connection: Connection) -> int:
    return int(scalar(connection, "PRAGMA user_version"))


def _probe(connection: Connection) -> None:
    """Reads a little of every table, so that gross damage shows at the start and not in an answer."""
    try:
        for table in ("files", "tags", "aliases", "properties", "links", "flaws", "state", "log"):
            connection.execute(f"SELECT * FROM {table} ORDER BY 1 DESC LIMIT 1").fetchall()
        connection.execute("SELECT rowid FROM words WHERE words MATCH 'a' LIMIT 1").fetchall()
    except apsw.SQLError as error:
        raise apsw.CorruptError(str(error)) from error


def _create_tables(connection: Connection) -> None:
    connection.execute(TABLES)
    # A later generation must not count from 1 again: other servers remember the number they saw last.
    connection.execute("INSERT INTO sqlite_sequence(name, seq) VALUES('log', ?)", (time.time_ns() // 1_000,))
    connection.execute(f"PRAGMA user_version={VERSION}")


class immediate:
    """`with immediate(connection):` one write transaction, taken at once so that it never fails half-way as busy."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            try:
                self._connection.execute("COMMIT")
                return
            except BaseException:
                self._roll_back()
                raise
        self._roll_back()

    def _roll_back(self) -> None:
        # Some errors (full disk, damage) have rolled back already.
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")


def _remove_old(wanted: Path, generation: int) -> None:
    """Earlier generations go at once; files of other versions when no server has touched them for long."""
    current = _file_of(wanted, generation)
    ours = f"{wanted.stem}-v{VERSION}-"
    for file in wanted.parent.glob(f"{_literal(wanted.stem)}-v*"):
        if file.name.startswith(current.name):
            continue
        with contextlib.suppress(OSError):
            if file.name.startswith(ours) or time.time() - file.stat().st_mtime > KEEP_OLD_VERSION_SECONDS:
                file.unlink()
