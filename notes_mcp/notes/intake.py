"""One file of a folder -> what the index is to hold of it. Reads through the vault only, and takes no bytes apart
that the index holds already.

Remembers what could not be read, and why; what can be read but is flawed the index keeps with the note.
"""

import logging
from dataclasses import replace

from notes_mcp.errors import BusyError, NoteError, NotFoundError, StorageError, TooLargeError
from notes_mcp.notes.disk.vault import Vault
from notes_mcp.notes.index.rows import Stamp
from notes_mcp.notes.markup.facts import bare_facts, extract
from notes_mcp.notes.records import Entry, FileState, Problem
from notes_mcp.notes.text import etag

_NEVER = -1

_log = logging.getLogger(__name__)


class Intake:
    """`problems`: by path, why what is there is only listed, or kept as it was known."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self.problems: dict[str, Problem] = {}

    def entry(self, file: FileState, known: Stamp | None, missing: set[str], again: set[str]) -> Entry | None:
        """The entry for a file that the index has as `known`; None if there is nothing to take in. What is not there
        is added to `missing`, what is locked just now to `again`. StorageError if the notes folder itself is away."""
        path = file.path
        entry, problem = self._taken(file, known, missing, again)
        # Replaced in one step: whoever asks meanwhile is told of the old problem or of the new one.
        if problem is None:
            self.problems.pop(path, None)
        else:
            self.problems[path] = problem
        return entry

    def _taken(
        self, file: FileState, known: Stamp | None, missing: set[str], again: set[str]
    ) -> tuple[Entry | None, Problem | None]:
        """The entry for a file, None if nothing is to be taken in; and what a person should look at."""
        path = file.path
        if file.kind == "attachment":
            return Entry(file, _stat_etag(file), None), None
        if not file.downloaded:
            return _unread(file), None
        try:
            data, state = self._vault.read(path)
        except NotFoundError:
            missing.add(path)
            return None, None
        except TooLargeError:
            return _unread(file), Problem(
                "too_large", path, "listed, but not read: split it, or raise --max-note-bytes"
            )
        except NoteError as error:
            if isinstance(error, StorageError):
                self._vault.require_present()
            if isinstance(error, BusyError):
                again.add(path)
            # What was known of it stays searchable; a note never seen before is at least listed.
            return None if known else _unread(file), Problem("unreadable", path, str(error))
        if state.path != path:
            missing.add(path)
            return None, None
        mark = etag(data)
        if known is not None and known.etag == mark:
            before = self.problems.get(path)
            return Entry(state, mark, None), before if before and before.kind == "not_understood" else None
        try:
            return Entry(state, mark, extract(path, data)), None
        except Exception:
            _log.exception("%s cannot be taken apart; it is found by its name alone", path)
            problem = Problem("not_understood", path, "listed, but not searched: its text cannot be parsed")
            return Entry(state, mark, bare_facts(path)), problem


def _unread(file: FileState) -> Entry:
    """A note that is listed by its name alone. No file has that time, so each survey tries again to read it."""
    return Entry(replace(file, changed_ns=_NEVER), _stat_etag(file), bare_facts(file.path))


def _stat_etag(state: FileState) -> str:
    """Stands in for the hash of a file that is not read."""
    return f"{state.modified_ns:x}-{state.size:x}"
