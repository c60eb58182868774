"""Several folders as one space of paths: client paths <-> (folder, path within it). Pure bookkeeping.

With one folder, paths are as they are. With several, the first segment names the folder, and names that
two folders share are made unique by a number.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from notes_mcp.errors import InvalidRequestError
from notes_mcp.notes.folder import Folder


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
        """Whose path that is. Raises InvalidRequestError when several are served and none is named."""
        found = self.find(path)
        if found is None:
            names = ", ".join(folder.name for folder in self._folders)
            raise InvalidRequestError(f"{path!r} must start with the name of one of the folders served: {names}.")
        return found

    def find(self, path: str) -> tuple[Folder, str] | None:
        """Like `route`, but None where `route` raises."""
        if not self.several:
            return self._folders[0], path
        first, _, rest = path.replace("\\", "/").lstrip("/").partition("/")
        exact = [folder for folder in self._folders if folder.name == first]
        close = exact or [folder for folder in self._folders if _key(folder.name) == _key(first)]
        return (close[0], rest) if close else None

    def within(self, path: str | None) -> list[tuple[Folder, str]]:
        """The folders that a `folder` argument reaches, each with the path within it; all for None or ""."""
        if path is None or not path.strip("/"):
            return [(folder, "") for folder in self._folders]
        folder, rest = self.route(path)
        return [(folder, rest)]


def _key(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
