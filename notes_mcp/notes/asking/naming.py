"""Names that resemble what somebody is typing: paths, tags and folders, for completion. Sync, reads the index only.

What was typed may have gaps, stand anywhere in the name, or be misspelt, in any script; the best come first.
Paths are as clients see them.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from heapq import nsmallest

from notes_mcp.notes.folder import Folder
from notes_mcp.notes.index.segment import key
from notes_mcp.notes.shelf import Shelf

_MAX_PATTERN_CHARS = 200


@dataclass(frozen=True, slots=True)
class _Known:
    """All names of a kind, and the keys they are compared by, as they were when the index was `at`."""

    at: tuple[object, ...]
    names: tuple[str, ...]
    keys: tuple[str, ...]


class Names:
    """Keeps the names for as long as nothing changes in the index: each key typed asks for them anew."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._kept: dict[str, _Known] = {}

    def like(self, kind: str, typed: str, limit: int) -> tuple[tuple[str, ...], int]:
        """Paths, tags or folders that resemble what was typed, best first, and how many do. Nothing typed: all."""
        known = self._known(kind)
        if not typed.strip():
            return known.names[:limit], len(known.names)
        asked = key(typed)
        holds = _holding_the_letters_of(asked)
        ranked = [
            (score, len(name), name)
            for name, folded in zip(known.names, known.keys, strict=True)
            if holds(folded) and (score := _likeness(asked, folded)) is not None
        ]
        if not ranked:
            ranked = _fuzzy(asked, known)
        return tuple(name for _, _, name in nsmallest(limit, ranked)), len(ranked)

    def _known(self, kind: str) -> _Known:
        now = tuple(map(_state, self._shelf))
        kept = self._kept.get(kind)
        if kept is None or kept.at != now:
            names = tuple(_all(self._shelf, kind))
            kept = self._kept[kind] = _Known(now, names, tuple(map(key, names)))
        return kept


def _state(folder: Folder) -> object:
    """What differs after each change: the log's last line, and for what the log does not tell, number and newest."""
    newest = folder.index.notes("modified", kind=None, limit=1)
    return folder.index.last_seq(), newest.total, newest.notes


def _all(shelf: Shelf, kind: str) -> list[str]:
    """All of them; of paths the newest first."""
    known: list[str] = []
    if kind == "paths":
        newest = [
            (-modified_ns, shelf.label(folder, path))
            for folder in shelf
            for path, modified_ns in folder.index.among_files(lambda files: list(files.times()))
        ]
        return [path for _, path in sorted(newest)]
    for folder in shelf:
        if kind == "tags":
            known += (tag for tag, _ in folder.index.tags())
        else:
            known += [folder.name] if shelf.several else []
            known += (shelf.label(folder, path) for path, _ in folder.index.folders(recursive=True))
    return list(dict.fromkeys(known))


def _holding_the_letters_of(asked: str) -> Callable[[str], object]:
    """What is true of every name that can be like what was asked, and of few others."""
    steps = (f"[^{re.escape(letter)}]*+{re.escape(letter)}" for letter in asked[:_MAX_PATTERN_CHARS])
    return re.compile("".join(steps)).match


def _likeness(asked: str, name: str) -> int | None:
    """0: begins like it; 1: a component does; 2: a word does; 3: it is in there; 4: its letters are, in order; None."""
    if name.startswith(asked):
        return 0
    if any(part.startswith(asked) for part in name.split("/")):
        return 1
    at = name.find(asked)
    if at > 0:
        return 2 if not name[at - 1].isalnum() else 3
    letters = iter(name)
    return 4 if all(letter in letters for letter in asked) else None


def _fuzzy(asked: str, known: _Known) -> list[tuple[int, int, str]]:
    """Names with a misspelling between them and what was typed."""
    from rapidfuzz import fuzz, process

    found = process.extract(asked, known.keys, scorer=fuzz.partial_ratio, limit=None, score_cutoff=75)
    return [(-round(score), len(known.names[at]), known.names[at]) for _, score, at in found]
