"""What the tests of changes share: a folder with all that belongs to it, and crashes at a chosen step."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vault_cases import everything

from notes_mcp.notes.changes import steps as stepping
from notes_mcp.notes.changes.journal import Journal
from notes_mcp.notes.changes.transaction import Transactions
from notes_mcp.notes.changes.undoing import Undoer
from notes_mcp.notes.disk.vault import Vault
from notes_mcp.notes.disk.writelock import WriteLock
from notes_mcp.notes.folder import Folder
from notes_mcp.notes.index.index import Index


class Crash(BaseException):
    """The process ended here: nothing of ours ran any more."""


@dataclass
class House:
    root: Path
    state: Path
    vault: Vault
    folder: Folder
    journal: Journal
    transactions: Transactions
    undoer: Undoer

    def files(self) -> dict[str, Any]:
        return everything(self.root)

    def indexed(self) -> dict[str, str]:
        """What the index holds, by path; like `files`, but etags."""
        return {path: stamp[3] for path, stamp in self.folder.index.known().items()}

    def on_disk(self) -> dict[str, str | None]:
        return {file.path: self.vault.etag(file.path) for file in self.vault.scan().files if file.kind == "note"}

    def apply(self, *steps: stepping.Step, tool: str = "test", undoes: str | None = None) -> str | None:
        with self.transactions.writing():
            return self.transactions.apply(tool, steps, undoes=undoes)


def house(base: Path, files: dict[str, bytes] | None = None) -> House:
    """A folder with these files, opened and indexed, as one server has it."""
    root, state = base / "notes", base / "state"
    root.mkdir(parents=True, exist_ok=True)
    for path, data in (files or {}).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    return opened(root, state)


def opened(root: Path, state: Path) -> House:
    vault = Vault(root)
    folder = Folder("notes", vault, Index.open(None))
    journal = Journal(state / "journal")
    transactions = Transactions(folder, journal, WriteLock(root, state))
    undoer = Undoer(folder, journal, transactions, read_only=False)
    transactions.recover()
    folder.refresh([""], sure=True)
    return House(root, state, vault, folder, journal, transactions, undoer)


def crash_before(patch: Any, number: int, *, half: bool = False) -> None:
    """The process ends before step `number` (from 0) of the next change; nothing is rolled back by it."""
    real, done = stepping.take, 0

    def take(vault: Vault, step: stepping.Step) -> None:
        nonlocal done
        if done == number:
            raise Crash
        done += 1
        real(vault, step)

    patch.setattr(stepping, "take", take)
    patch.setattr(Transactions, "_fail", lambda self, change_id, images, error: None)
    if number < 0:
        patch.setattr(Transactions, "_settle", lambda self, change_id, done: (_ for _ in ()).throw(Crash))


def copy_of(house: House, to: Path) -> House:
    shutil.copytree(house.root, to / "notes", symlinks=True)
    shutil.copytree(house.state, to / "state")
    return opened(to / "notes", to / "state")
