"""Where what we keep beside the notes lives, and how a served folder is put together from its parts.

The index goes into the user's cache directory, journal and locks into the state directory: one
sub-directory a folder, named by a hash of its real path, mode 0700. Nothing of ours goes into the notes
folder. A place that cannot be used is said once on stderr; then the index is in memory, or undo is off.
"""

import hashlib
import logging
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from notes_mcp.notes.changes.journal import Journal
from notes_mcp.notes.changes.moving import Mover
from notes_mcp.notes.changes.sweeping import Sweeper
from notes_mcp.notes.changes.transaction import Transactions
from notes_mcp.notes.changes.undoing import Undoer
from notes_mcp.notes.changes.writing import Writer
from notes_mcp.notes.disk.vault import Vault
from notes_mcp.notes.disk.writelock import WriteLock
from notes_mcp.notes.folder import Folder
from notes_mcp.notes.index.index import Index
from notes_mcp.notes.records import Problem
from notes_mcp.notes.shelf import unique_names
from notes_mcp.settings import Settings

INDEX_FILE = "index.db"
RECOVERY_WAIT_MS = 1_000  # nothing is answered before that; a change still pending then waits for the next write

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Served:
    """One folder, ready to be read and written."""

    folder: Folder
    writer: Writer
    mover: Mover
    sweeper: Sweeper
    undoer: Undoer
    journal: Journal | None
    root: Path


def open_all(settings: Settings) -> list[Served]:
    """Every folder of the settings, in order. Raises StorageError or UnreadableError for one that is not there."""
    names = unique_names(settings.folders)
    return [_open(name, root, settings) for name, root in zip(names, settings.folders, strict=True)]


def _open(name: str, root: Path, settings: Settings) -> Served:
    vault = Vault(root, ignore=settings.ignore, max_note_bytes=settings.max_note_bytes)
    place = place_of(vault.root)
    problems: list[Problem] = []
    cache = _usable(_cache_dir(settings), place, "the search index is kept in memory", problems)
    index = Index.open(cache / index_file(settings) if cache else None)
    state = _usable(_state_dir(settings), place, "changes cannot be undone", problems)
    journal = Journal(state / "journal") if state else None
    folder = Folder(name, vault, index, tuple(problems))
    transactions = Transactions(folder, journal, WriteLock(vault.root, state))
    if not settings.read_only:
        transactions.recover(WriteLock(vault.root, state, timeout_ms=RECOVERY_WAIT_MS))
    only = settings.read_only
    return Served(
        folder=folder,
        writer=Writer(folder, transactions, read_only=only),
        mover=Mover(folder, transactions, read_only=only, max_file_bytes=settings.max_note_bytes),
        sweeper=Sweeper(folder, transactions, read_only=only),
        undoer=Undoer(folder, journal, transactions, read_only=only),
        journal=journal,
        root=vault.root,
    )


def index_file(settings: Settings) -> str:
    """The index file's name. Servers that see different notes in one folder must not take out each other's rows."""
    default = Settings(folders=())
    seen = (settings.ignore, settings.max_note_bytes)
    if seen == (default.ignore, default.max_note_bytes):
        return INDEX_FILE
    stem, _, extension = INDEX_FILE.rpartition(".")
    return f"{stem}-{hashlib.blake2b(repr(seen).encode(), digest_size=4).hexdigest()}.{extension}"


def place_of(root: Path) -> str:
    """The name of the sub-directory, in cache and state, of the folder with this real path."""
    return hashlib.blake2b(os.fsencode(root), digest_size=10).hexdigest()


def _cache_dir(settings: Settings) -> Path:
    if settings.cache_dir is not None:
        return settings.cache_dir
    import platformdirs

    return platformdirs.user_cache_path("notes-mcp", appauthor=False)


def _state_dir(settings: Settings) -> Path:
    if settings.state_dir is not None:
        return settings.state_dir
    if settings.cache_dir is not None:
        return settings.cache_dir / "state"
    import platformdirs

    return platformdirs.user_state_path("notes-mcp", appauthor=False)


def _usable(base: Path, place: str, instead: str, problems: list[Problem]) -> Path | None:
    """The sub-directory of `base` for this folder, made with mode 0700 and writable; or None, said once."""
    path = base / place
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.chmod(0o700)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError as error:
        _log.warning("%s cannot be used (%s): %s", path, error.strerror, instead)
        problems.append(Problem("directory_unusable", str(path), f"{error.strerror}: {instead}"))
        return None
