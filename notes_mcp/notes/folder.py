"""One folder of notes: its disk, and an index that follows it. Sync and loop-free.

Every caller that may have seen a change (start-up, watcher, our own writes) ends in `refresh`: read,
extract, `Index.apply` in one transaction. The index alone decides what changed; `news` gives what its
log holds since this process asked last, whoever wrote it. Touches the disk only through `Vault`.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from notes_mcp.errors import BusyError, NoteError, NotFoundError, StorageError
from notes_mcp.notes.disk.vault import Vault
from notes_mcp.notes.index.index import Index, IndexResetError
from notes_mcp.notes.index.schema import NO_PLACE
from notes_mcp.notes.intake import Intake
from notes_mcp.notes.records import Batch, Change, Entry, FileState, Problem, Scan

CHUNK_FILES = 200
CHUNK_BYTES = 2_000_000

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Survey:
    """What a walk of the folder found against the index: files to read, paths that seem gone, how many there are."""

    stale: tuple[FileState, ...]
    missing: tuple[str, ...]
    total: int
    first: bool  # the index never held all there is: nothing in it is news


class Folder:
    """`name` is what clients see as the first segment when several folders are served."""

    def __init__(self, name: str, vault: Vault, index: Index, problems: Sequence[Problem] = ()) -> None:
        self.name = name
        self.vault = vault
        self.index = index
        self._standing = tuple(problems)
        self._surveyed: tuple[Problem, ...] = ()
        self._intake = Intake(vault)
        self._suspects: dict[str, str] = {}  # path -> etag of what the index still holds and the disk no more
        self._awaited: set[str] = set()
        self._owed: set[str] = set()
        self._announced = _surely(index.last_seq)
        self.held = _surely(index.count)  # files in the index before anything was looked at

    def survey(self) -> Survey:
        """Walks the folder without reading a note. What lies below unreadable folders is not missing.

        Raises StorageError or UnreadableError when the folder itself cannot be walked.
        """
        scan = self.vault.scan()
        stale, absent = self.index.compare({file.path: file for file in scan.files})
        missing = tuple(path for path in absent if not _below(path, scan.unreadable))
        # Under suspicion before anything new is read: what moved while nobody looked is then seen as moved.
        self._suspects.update((path, absent[path]) for path in missing)
        self._surveyed = scan.problems
        return Survey(tuple(stale), missing, len(scan.files), first=bool(stale) and not self.index.finished)

    def chunks(self, survey: Survey) -> Iterator[tuple[FileState, ...]]:
        """The stale files in portions that one transaction takes: newest notes first, so that they are found first."""
        portion: list[FileState] = []
        size = 0
        for file in sorted(survey.stale, key=lambda file: file.modified_ns, reverse=True):
            portion.append(file)
            size += file.size if file.kind == "note" else 0
            if len(portion) >= CHUNK_FILES or size >= CHUNK_BYTES:
                yield tuple(portion)
                portion, size = [], 0
        if portion:
            yield tuple(portion)

    def refresh(
        self,
        paths: Iterable[str] = (),
        *,
        seen: Iterable[FileState] = (),
        sure: bool = False,
        quiet: bool = False,
    ) -> frozenset[str]:
        """Brings the index in step with the disk for these paths (files or folders), and for files just `seen` there.

        A path that is not there is dropped at once if `sure`, or if a new path holds the very same bytes
        (a move). The others, and files that are locked just now, are returned, to be asked for again a little
        later: sync tools and editors make files vanish for a moment. What cannot be told of one path never
        keeps the others back. What another server has read since it was `seen` is not read again. `quiet` keeps
        first sightings out of the change log, but for `await_news`.
        """
        with self.index.turn():
            return self._refresh(paths, list(seen), sure=sure, quiet=quiet)

    def finish(self) -> None:
        """To be called when all of a survey is taken in: what is new from now on is news."""
        self.index.finish()

    def _refresh(self, paths: Iterable[str], seen: list[FileState], *, sure: bool, quiet: bool) -> frozenset[str]:
        entries: dict[str, Entry] = {}
        missing: set[str] = set()
        again: set[str] = set()
        told = list(self._files(paths, seen, missing, again))
        known = self.index.known(file.path for file in (*told, *seen))
        unread = [file for file in seen if (there := known.get(file.path)) is None or not there.fits(file)]
        for file in (*unread, *told):
            entry = self._intake.entry(file, known.get(file.path), missing, again)
            if entry is not None:
                entries[entry.state.path] = entry
        self._count(entries.values(), len(seen) - len(unread))
        gone = self._gone(missing - entries.keys(), entries, again, sure=sure)
        loud = [entries.pop(path) for path in self._awaited & entries.keys()]
        self._awaited.difference_update(entry.state.path for entry in loud)
        if loud:
            self._apply(loud, (), quiet=False)
        if entries or gone:
            self._apply(tuple(entries.values()), gone, quiet=quiet)
        return frozenset(again)

    def await_news(self, paths: Iterable[str]) -> None:
        """Those of these paths that are not there: should they appear, that is news, also to a `quiet` refresh."""
        self._awaited.update(path for path in paths if self.index.get(path) is None)

    def owe(self, path: str) -> None:
        """This path was written, but could not be taken in; `owed` gives it to whoever comes next."""
        self._owed.add(path)

    def owed(self) -> frozenset[str]:
        """What is owed, once."""
        owed, self._owed = frozenset(self._owed), set()
        return owed

    def news(self) -> tuple[list[Change], bool]:
        """What changed since the last call, in order, by whichever process; and whether that is all there was.

        Not all: the log was cut in between, or the index had to start anew.
        """
        changes = self.index.changes_since(self._announced)
        if not changes:
            return [], True
        complete = changes[0].seq == self._announced + 1
        self._announced = changes[-1].seq
        return changes, complete

    def problems(self, walked: Sequence[Problem] | None = None) -> tuple[Problem, ...]:
        """What opening, the last walk (or a later one that is given) and the last reads found worth a look, by path."""
        found = (*(self._surveyed if walked is None else walked), *self._intake.problems.values())
        standing = self._standing
        if self.index.in_memory and (self.index.resets or self.index.reason != NO_PLACE):  # else opening said it
            standing = (
                *standing,
                Problem("index_in_memory", "", f"kept in memory, built anew at each start: {self.index.reason}"),
            )
        return standing + tuple(sorted(found, key=lambda problem: (problem.path, problem.kind)))

    def relative(self, absolute: Iterable[str]) -> tuple[str, ...]:
        """The visible paths among absolute ones; see `Vault.relative`."""
        found = (self.vault.relative(path) for path in absolute)
        return tuple(path for path in found if path is not None)

    def _files(
        self, paths: Iterable[str], seen: list[FileState], missing: set[str], again: set[str]
    ) -> Iterator[FileState]:
        """Paths that are files. Of folders, what is in them goes to `seen`, what only the index has to `missing`."""
        for path in paths:
            try:
                found = self._look(path)
            except (NotFoundError, BusyError):
                again.add(path)  # a folder that went away as we looked, or is locked
                continue
            except NoteError as error:
                if isinstance(error, StorageError):
                    self.vault.require_present()  # else nothing can be told of the others either
                _log.info("%s: %s", path, error)  # no permission to look there, or its disk is away: nothing is proven
                continue
            if isinstance(found, Scan):
                seen += found.files
                there, unseen = {file.path for file in found.files}, found.unreadable
            else:
                there, unseen = set(), ()
                if found is not None:
                    yield found
                if found is not None and found.path == path:
                    continue
            known = (path, *self.index.below(path))
            missing.update(one for one in known if one not in there and not _below(one, unseen))

    def _look(self, path: str) -> FileState | Scan | None:
        """The file or folder at exactly this path."""
        state = self.vault.stat(path)
        return self.vault.scan(path) if state is None and self.vault.is_folder(path) else state

    def _count(self, entries: Collection[Entry], known: int) -> None:
        """Says how much work this was. Bytes that the index holds already are not taken apart."""
        read = sum(entry.facts is not None for entry in entries)
        if read or known:
            _log.debug("%s: %d notes read, %d files known by then", self.name, read, known)

    def _gone(self, missing: set[str], entries: Mapping[str, Entry], again: set[str], *, sure: bool) -> set[str]:
        """What of the missing is proven gone; the rest comes under suspicion and is to be looked for `again`."""
        for path in entries:
            self._suspects.pop(path, None)
        for path in missing:
            self._intake.problems.pop(path, None)
            if path not in self._suspects and (known := self.index.get(path)) is not None:
                self._suspects[path] = known.etag
        suspects = missing & self._suspects.keys()
        gone = self._moved(entries.values())
        if sure:
            gone |= suspects
        again |= suspects - gone
        if gone:
            self.vault.require_present()
        for path in gone:
            del self._suspects[path]
        return gone

    def _moved(self, entries: Iterable[Entry]) -> set[str]:
        """Suspects whose content stands at a path that the index does not know yet."""
        if not self._suspects:
            return set()
        arrived = {
            entry.etag for entry in entries if entry.state.size and self.index.get(entry.state.path) is None
        }  # fmt: skip
        return {path for path, known in self._suspects.items() if known in arrived and self._absent(path)}

    def _absent(self, path: str) -> bool:
        try:
            return self.vault.stat(path) is None
        except NoteError:
            return False  # that proves nothing

    def _apply(self, entries: Sequence[Entry], gone: Iterable[str], *, quiet: bool) -> None:
        """One batch; if something in it cannot be taken in, the rest is all the same."""
        batch = Batch(tuple(entries), tuple(sorted(gone)), quiet)
        try:
            self.index.apply(batch)
        except NoteError:
            raise
        except Exception:
            if len(entries) < 2:
                raise
            _log.exception("a batch of %d notes cannot be taken in; going on one by one", len(entries))
            self._apply((), batch.gone, quiet=quiet)
            for entry in entries:
                self._apply_one(entry, quiet=quiet)

    def _apply_one(self, entry: Entry, *, quiet: bool) -> None:
        try:
            self._apply((entry,), (), quiet=quiet)
        except NoteError:
            raise
        except Exception as error:
            path = entry.state.path
            self._intake.problems[path] = Problem("not_understood", path, f"it cannot be taken into the index: {error}")


def _below(path: str, folders: Sequence[str]) -> bool:
    return any(not folder or path.startswith(folder + "/") for folder in folders)


def _surely(ask: Callable[[], int]) -> int:
    try:
        return ask()
    except IndexResetError:
        return ask()  # of the one in its place
