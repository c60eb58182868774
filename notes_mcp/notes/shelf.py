"""Several folders as one space of paths: client paths, absolute paths and URIs <-> (folder, path within it).

Goes by the text of a path alone; what is there is for the vault to say. With one folder,
paths are as they are. With several, the first segment names the folder, and names that two folders share
are made unique by a number.
"""

import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from notes_mcp.errors import HiddenError, InvalidRequestError, NotFoundError
from notes_mcp.notes import uris
from notes_mcp.notes.folder import Folder

_ABSOLUTE = re.compile(r"[/\\]|[A-Za-z]:[/\\]")
_DOTS = re.compile(r"(?:^|[/\\])\.\.(?:[/\\]|$)")


def unique_names(roots: Sequence[Path]) -> list[str]:
    """One name a root: its last component, with ` (2)`, ` (3)`, … where two would be the same."""
    names: list[str] = []
    taken: set[str] = set()
    for root in roots:
        base = root.name or root.drive.rstrip(":\\/") or "root"
        name, number = base, 1
        while _key(name) in taken:
            number += 1
            name = f"{base} ({number})"
        taken.add(_key(name))
        names.append(name)
    return names


class Shelf:
    """The folders that are served, in the order of the command line."""

    def __init__(self, folders: Sequence[Folder]) -> None:
        self._folders = tuple(folders)

    def __iter__(self) -> Iterator[Folder]:
        return iter(self._folders)

    @property
    def several(self) -> bool:
        """Whether paths start with a folder's name."""
        return len(self._folders) > 1

    def label(self, folder: Folder, path: str) -> str:
        """The path as clients see it; of the folder itself with an empty `path`."""
        if not self.several:
            return path
        return f"{folder.name}/{path}" if path else folder.name

    def route(self, path: str) -> tuple[Folder, str]:
        """Whose path that is. Raises InvalidRequestError when several are served and none is named, HiddenError
        for a path outside."""
        found = self.place(path)
        if found is None:
            names = ", ".join(folder.name for folder in self._folders)
            raise InvalidRequestError(f"{path!r} must start with the name of one of the folders served: {names}.")
        return found

    def place(self, ref: str) -> tuple[Folder, str] | None:
        """Where a path, an absolute path or a URI points; None if several are served and it names none of them.

        Raises HiddenError for ".." and for absolute paths outside, NotFoundError for a URI in no folder.
        """
        if _DOTS.search(ref):
            raise HiddenError(f'"{ref}" contains "..". Give the path from the top of the notes folder.')
        parsed = uris.parse(ref)
        if parsed is None:
            return self._inside(ref, ref) if _ABSOLUTE.match(ref) else self._named(ref)
        form, path = parsed
        if form == "absolute":
            return self._inside(path, ref)
        found = self._named(path)
        if found is None:
            raise NotFoundError(f"{ref} is in none of the folders served here; resources/list names what is.")
        return found

    def _named(self, path: str) -> tuple[Folder, str] | None:
        if not self.several:
            return self._folders[0], path
        slashed = path.replace("\\", "/")
        while slashed.startswith("./"):
            slashed = slashed[2:].lstrip("/")
        first, _, rest = slashed.lstrip("/").partition("/")
        exact = [folder for folder in self._folders if folder.name == first]
        close = exact or [folder for folder in self._folders if _key(folder.name) == _key(first)]
        return (close[0], rest) if close else None

    def _inside(self, absolute: str, ref: str) -> tuple[Folder, str]:
        """In the innermost folder, should one that is served lie in another."""
        for folder in sorted(self._folders, key=lambda folder: -len(str(folder.vault.root))):
            if os.path.normpath(absolute) == str(folder.vault.root):
                return folder, ""
            inside = folder.vault.relative(absolute)
            if inside is not None:
                return folder, inside
        raise HiddenError(
            f'"{ref}" is outside of the folders served here, or hidden. Paths are relative to the notes folder, '
            'like "Projects/Plan.md".'
        )


def _key(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
