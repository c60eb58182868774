"""Which connection does what is asked of an index, and what happens when the file under it fails.

One writes, a few others read beside it; each waits in a queue until somebody takes it. In memory there is
one for all. A file that failed, or that another one replaced, gives way to a new, empty index, and
IndexResetError says so. Safe from any thread; knows no tables.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from queue import Empty, SimpleQueue

import apsw  # noqa: TID251

from notes_mcp.errors import BusyError
from notes_mcp.notes.index.schema import BUSY, NO_ROOM, UNUSABLE, Store, open_reader, reopen_store, snapshot
from notes_mcp.notes.index.turn import Turn

MAX_IDLE_READERS = 4
_DAMAGE = (*UNUSABLE, *NO_ROOM)


class IndexResetError(BusyError):
    """The index file could not be used any more. An empty index is in its place: index the folder anew."""


class Connections:
    """Those of one index. What is done on them may raise BusyError (another server holds the file for long) or
    IndexResetError."""

    def __init__(self, wanted: Path | None, store: Store) -> None:
        self._wanted = wanted
        self._turn = Turn(wanted) if wanted else None
        self._store = store
        self._writers: SimpleQueue[Store] = SimpleQueue()
        self._writers.put(store)
        self._readers: SimpleQueue[tuple[Store, apsw.Connection]] = SimpleQueue()
        self._closed = False
        self.resets = 0  # how often the index had to start anew

    @property
    def in_memory(self) -> bool:
        """Whether the index ends with the process."""
        return self._store.file is None

    @property
    def reason(self) -> str:
        """Why the index is in memory; "" if it is not."""
        return self._store.reason

    @property
    def file(self) -> Path | None:
        """The file in use."""
        return self._store.file

    def close(self) -> None:
        """Ends all connections, once those in use are done. The index cannot be used afterwards."""
        store = self._writers.get()
        self._closed = True
        store.writer.close()
        while True:
            try:
                self._readers.get_nowait()[1].close()
            except Empty:
                break
        self._writers.put(store)

    def turn(self) -> AbstractContextManager[object]:
        """Held while notes are read for this index: among servers that share it, one at a time; see `turn`."""
        return nullcontext() if self.in_memory or self._turn is None else self._turn.taken()

    @contextmanager
    def _writing(self) -> Iterator[apsw.Connection]:
        store = self._writers.get()
        try:
            store.require_same()
            yield store.writer
        except BUSY as error:
            raise BusyError("Another server is writing the search index just now; try again.") from error
        except apsw.Error as error:
            if not _lost(error):
                raise
            store = self._replace(store, error)
            raise IndexResetError(_RESET) from error
        finally:
            self._writers.put(store)

    @contextmanager
    def _reading(self) -> Iterator[apsw.Connection]:
        store = self._store
        if store.file is None:
            with self._writing() as only:
                yield only
            return
        db: apsw.Connection | None = None
        try:
            store.require_same()
            db = self._reader(store, store.file)
            with snapshot(db):
                yield db
        except BUSY as error:
            raise BusyError("Another server is changing the search index just now; try again.") from error
        except apsw.Error as error:
            if not _lost(error):
                raise
            self._reset(store, error)
            raise IndexResetError(_RESET) from error
        finally:
            if db is not None:
                self._give_back(store, db)

    def _reader(self, store: Store, file: Path) -> apsw.Connection:
        while True:
            try:
                owner, db = self._readers.get_nowait()
            except Empty:
                return open_reader(file)
            if owner is store:
                return db
            db.close()

    def _give_back(self, store: Store, db: apsw.Connection) -> None:
        if self._closed or store is not self._store or self._readers.qsize() >= MAX_IDLE_READERS:
            db.close()
        else:
            self._readers.put((store, db))

    def _reset(self, seen: Store, error: apsw.Error) -> None:
        """After a reader met the damage; another thread may have been first."""
        store = self._writers.get()
        try:
            if store is seen:
                store = self._replace(store, error)
        finally:
            self._writers.put(store)

    def _replace(self, store: Store, error: apsw.Error) -> Store:
        fresh = reopen_store(self._wanted, store, error)
        self._store = fresh
        self.resets += 1
        return fresh


_RESET = "The search index could not be read and is being built anew; try again in a moment."


def _lost(error: apsw.Error) -> bool:
    """Whether the file is what failed, and not the statement."""
    return isinstance(error, _DAMAGE) or (isinstance(error, apsw.SQLError) and "no such table" in str(error))
