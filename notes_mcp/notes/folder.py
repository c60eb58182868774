"""One folder of notes: its disk, and an index that follows it. Sync and loop-free.

Every caller that may have seen a change (start-up, watcher, our own writes) ends in `refresh`: read,
extract, `Index.apply` in one transaction. The index alone decides what changed; `news` gives what its
log holds since this process asked last, whoever wrote it. Touches the disk only through `Vault`.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from notes_mcp.errors import NoteError, NotFoundError, TooLargeError
from notes_mcp.notes.facts import bare_facts, extract
from notes_mcp.notes.index import Index
from notes_mcp.notes.records import Batch, Change, Entry, FileState, Problem
from notes_mcp.notes.text import etag
from notes_mcp.notes.vault import Vault

CHUNK_FILES = 200
CHUNK_BYTES = 2_000_000

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Survey:
    """What a walk of the folder found against the index: files to read, paths that seem gone, how many there are."""

    stale: tuple[FileState, ...]
    missing: tuple[str, ...]
    total: int
    first: bool  # the index was empty: nothing in it is news


class Folder:
    """`name` is what clients see as the first segment when several folders are served."""

    def __init__(self, name: str, vault: Vault, index: Index, problems: Sequence[Problem] = ()) -> None:
        self.name = name
        self.vault = vault
        self.index = index
        self._standing = tuple(problems)
        self._surveyed: tuple[Problem, ...] = ()
        self._unread: dict[str, Problem] = {}
        self._suspects: set[str] = set()
        self._announced = index.last_seq()

    def survey(self) -> Survey:
        """Walks the folder without reading a note. What lies below unreadable folders is not missing.

        Raises StorageError or UnreadableError when the folder itself cannot be walked.
        """
        scan = self.vault.scan()
        known = self.index.known()
        stale = tuple(file for file in scan.files if known.get(file.path, ())[:3] != _stamp(file))
        seen = {file.path for file in scan.files}
        missing = tuple(path for path in known if path not in seen and not _below(path, scan.unreadable))
        self._surveyed = scan.problems
        return Survey(stale, missing, len(scan.files), first=not known)

    def chunks(self, survey: Survey) -> Iterator[tuple[str, ...]]:
        """The stale paths in portions that one transaction takes: newest notes first, so that they are found first."""
        portion: list[str] = []
        size = 0
        for file in sorted(survey.stale, key=lambda file: file.modified_ns, reverse=True):
            portion.append(file.path)
            size += file.size if file.kind == "note" else 0
            if len(portion) >= CHUNK_FILES or size >= CHUNK_BYTES:
                yield tuple(portion)
                portion, size = [], 0
        if portion:
            yield tuple(portion)

    def refresh(self, paths: Iterable[str], *, sure: bool = False, quiet: bool = False) -> frozenset[str]:
        """Brings the index in step with the disk for these paths (files or folders).

        A path that is not there is dropped at once if `sure`, or if a new path holds the very same file
        (a move); else it is returned, to be asked for again a little later: sync tools and editors make
        files vanish for a moment. `quiet` keeps first sightings out of the change log.
        """
        entries: list[Entry] = []
        missing: set[str] = set()
        for path in self._files(paths, missing):
            entry = self._entry(path, missing)
            if entry is not None:
                entries.append(entry)
        present = {entry.state.path for entry in entries}
        suspects = {path for path in self._suspects | missing if path not in present and self.index.get(path)}
        gone = suspects & missing if sure else self._moved(suspects, entries)
        if entries or gone:
            self.index.apply(Batch(tuple(entries), tuple(sorted(gone)), quiet))
        self._suspects = suspects - gone
        return frozenset(self._suspects)

    def news(self) -> list[Change]:
        """What changed since the last call, in order, by whichever process."""
        changes = self.index.changes_since(self._announced)
        if changes:
            self._announced = changes[-1].seq
        return changes

    def problems(self) -> tuple[Problem, ...]:
        """What opening, the last walk and the last reads found worth a look, by path."""
        found = (*self._surveyed, *self._unread.values())
        return self._standing + tuple(sorted(found, key=lambda problem: (problem.path, problem.kind)))

    def relative(self, absolute: Iterable[str]) -> tuple[str, ...]:
        """The visible paths among absolute ones; see `Vault.relative`."""
        found = (self.vault.relative(path) for path in absolute)
        return tuple(path for path in found if path is not None)

    def _files(self, paths: Iterable[str], missing: set[str]) -> Iterator[str]:
        """Folders become the files in them, on disk and in the index; the rest passes."""
        for path in paths:
            if self.vault.is_folder(path):
                scan = self.vault.scan(path)
                seen = {file.path for file in scan.files}
                yield from seen
                known = (below for below in self.index.below(path) if not _below(below, scan.unreadable))
                missing.update(below for below in known if below not in seen)
                continue
            if self.vault.stat(path) is None:
                missing.add(path)
                missing.update(self.index.below(path))
            else:
                yield path

    def _entry(self, path: str, missing: set[str]) -> Entry | None:
        state = self.vault.stat(path)
        self._unread.pop(path, None)
        if state is None:
            missing.add(path)
            return None
        if state.kind == "attachment" or not state.downloaded:
            return Entry(state, _stat_etag(state), None if state.kind == "attachment" else bare_facts(path))
        try:
            data, state = self.vault.read(path)
        except NotFoundError:
            missing.add(path)
            return None
        except TooLargeError:
            self._unread[path] = Problem("too_large", path, "listed, but not read: raise --max-note-bytes to read it")
            return Entry(state, _stat_etag(state), bare_facts(path))
        except NoteError as error:
            self._unread[path] = Problem("unreadable", path, str(error))
            known = self.index.get(path)
            # What was known of it stays searchable; a note never seen before is at least listed.
            return None if known else Entry(state, _stat_etag(state), bare_facts(path))
        facts = extract(path, data)
        if not facts.valid_text:
            self._unread[path] = Problem("not_text", path, "not valid UTF-8: it can be read (marked), not edited")
        return Entry(state, etag(data), facts)

    def _moved(self, suspects: set[str], entries: Sequence[Entry]) -> set[str]:
        """Suspects whose content stands at a path that the index does not know yet."""
        if not suspects:
            return set()
        arrived = {entry.etag for entry in entries if self.index.get(entry.state.path) is None}
        known = ((path, self.index.get(path)) for path in suspects)
        return {path for path, note in known if note is not None and note.etag in arrived and not self.vault.stat(path)}


def _stamp(file: FileState) -> tuple[int, int, int]:
    return file.size, file.modified_ns, file.inode


def _stat_etag(state: FileState) -> str:
    """Stands in for the hash of a file that is not read."""
    return f"{state.modified_ns:x}-{state.size:x}"


def _below(path: str, folders: Sequence[str]) -> bool:
    return any(not folder or path.startswith(folder + "/") for folder in folders)
