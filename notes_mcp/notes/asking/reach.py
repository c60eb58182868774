"""What a question about notes reaches in each of the folders: clients' paths, cursors, globs -> a folder's own. Sync.

Asks the vault which folders there are, and the index for their other spellings; decides nothing else.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from notes_mcp.errors import InvalidRequestError, NotFoundError
from notes_mcp.notes.folder import Folder
from notes_mcp.notes.index import globs
from notes_mcp.notes.index.query import Query
from notes_mcp.notes.index.scope import KEY_SHAPES
from notes_mcp.notes.index.segment import key
from notes_mcp.notes.shelf import Shelf

NEAREST_FOLDERS = 5
_LAST = "\U0010ffff"


class Reach:
    """Questions in clients' paths, put to each folder in its own."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def within(self, folder: str | None) -> list[tuple[Folder, str]]:
        """The folders that a `folder` argument reaches, with the real path in each. Raises NotFoundError.

        One that names no folder served is looked for in all of them.
        """
        if folder is None or not folder.strip("/"):
            return [(place, "") for place in self._shelf]
        named = self._shelf.place(folder)
        asked = [named] if named is not None else [(place, folder) for place in self._shelf]
        found = [(place, real) for place, below in asked if (real := _real_folder(place, below)) is not None]
        if not found:
            near = self._nearest_folders(folder)
            hint = f" Nearest: {', '.join(near)}." if near else " list_notes shows which there are."
            raise NotFoundError(f"There is no folder {folder!r}.{hint}", near)
        return found

    def _nearest_folders(self, folder: str) -> tuple[str, ...]:
        from rapidfuzz import fuzz, process

        known = [self._shelf.label(place, "") for place in self._shelf] if self._shelf.several else []
        known += (
            self._shelf.label(place, path) for place in self._shelf for path, _ in place.index.folders(recursive=True)
        )
        asked = key(folder.strip("/"))
        best = process.extract(
            asked, [key(name) for name in known], scorer=fuzz.WRatio, limit=NEAREST_FOLDERS, score_cutoff=60
        )
        return tuple(known[at] for _, _, at in best)

    def key_in(self, folder: Folder, last: Sequence[Any] | None) -> Sequence[Any] | None:
        """A key in clients' paths as one in this folder's: rows that tie are ordered by the whole path."""
        if last is None:
            return None
        prefix = f"{folder.name}/" if self._shelf.several else ""
        path = last[-1]
        if path.startswith(prefix):
            return (*last[:-1], path[len(prefix) :])
        return (*last[:-1], "" if prefix > path else _LAST)

    def glob_in(self, folder: Folder, glob: str | None) -> str | None:
        """What is left of a pattern within this folder; None if it means nothing in it."""
        if not glob or not self._shelf.several or "/" not in glob.strip("/"):
            return glob
        first, _, rest = glob.removeprefix("./").lstrip("/").partition("/")
        if first == "**":
            return glob
        if not globs.matches(first, folder.name):
            return None
        return rest if "/" in rest else f"./{rest}"  # without a "/" it would be for names at any depth

    def local_query(self, query: Query, folder: Folder) -> Query | None:
        """The query with what `path:` says of the folder's own name settled; None if that rules the folder out."""
        if not self._shelf.several:
            return query
        label, kept = key(folder.name) + "/", []
        for each in query.filters:
            if each.kind == "path" and each.name in label:
                if each.negative:
                    return None
                continue
            if each.kind == "path" and each.name.startswith(label):
                each = replace(each, name=each.name.removeprefix(label))
            kept.append(each)
        return replace(query, filters=tuple(kept))


def key_shape(sort: str) -> tuple[type, ...]:
    """The types of a cursor's key in this order. Raises InvalidRequestError for an order there is not."""
    shape = KEY_SHAPES.get(sort)
    if shape is None:
        raise InvalidRequestError(f"There is no sort {sort!r}; use {', '.join(KEY_SHAPES)}.")
    return shape


def _real_folder(place: Folder, below: str) -> str | None:
    """The folder as the disk spells it, whatever letter case it was asked in; None if there is none."""
    for spelling in dict.fromkeys((below, place.index.folder(below))):
        try:
            return place.vault.locate_folder(spelling)
        except NotFoundError:
            continue  # in another spelling, or in another of the folders
    return None
