"""What the tests of the vault share: every operation by name, and the whole of a folder to compare."""

import os
from pathlib import Path

from notes_mcp.notes.disk.vault import Vault

SECRET = b"secret of the outside"
WRITES = ("create", "replace", "trash", "remove", "move_from", "move_to")


def attempt(vault: Vault, operation: str, path: str) -> None:
    match operation:
        case "create":
            vault.create(path, b"new")
        case "replace":
            vault.replace(path, b"new")
        case "trash":
            vault.trash(path)
        case "remove":
            vault.remove(path)
        case "move_from":
            vault.move(path, "moved.md")
        case "move_to":
            vault.move("a.md", path)
        case "read":
            vault.read(path)
        case "read_attachment":
            vault.read_attachment(path, 1000)
        case "locate":
            vault.locate(path)
        case "place":
            vault.place(path)
        case _:
            raise AssertionError(operation)


def everything(folder: Path) -> dict[str, bytes | str]:
    return {
        str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
