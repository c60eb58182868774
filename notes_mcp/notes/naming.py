"""Names that resemble what somebody is typing: paths, tags and folders, for completion. Sync, reads the index only.

What was typed may have gaps, stand anywhere in the name, or be misspelt, in any script; the best come first.
Paths are as clients see them.
"""

from collections.abc import Sequence

from notes_mcp.notes.segment import key
from notes_mcp.notes.shelf import Shelf

_ALL = 1_000_000


def names(shelf: Shelf, kind: str, typed: str, limit: int) -> tuple[tuple[str, ...], int]:
    """Paths, tags or folders that resemble what was typed, best first, and how many do. Nothing typed: all."""
    known = _known(shelf, kind)
    if not typed.strip():
        return tuple(known[:limit]), len(known)
    asked = key(typed)
    ranked = sorted((score, len(name), name) for name in known if (score := _likeness(asked, key(name))) is not None)
    if not ranked:
        ranked = _fuzzy(asked, known)
    return tuple(name for _, _, name in ranked[:limit]), len(ranked)


def _known(shelf: Shelf, kind: str) -> list[str]:
    """All of them; of paths the newest first."""
    known: list[str] = []
    if kind == "paths":
        newest = [
            (-note.modified_ns, shelf.label(folder, note.path))
            for folder in shelf
            for note in folder.index.notes("modified", kind=None, limit=_ALL).notes
        ]
        return [path for _, path in sorted(newest)]
    for folder in shelf:
        if kind == "tags":
            known += (tag for tag, _ in folder.index.tags())
        else:
            known += [folder.name] if shelf.several else []
            known += (shelf.label(folder, path) for path, _ in folder.index.folders(recursive=True))
    return list(dict.fromkeys(known))


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


def _fuzzy(asked: str, known: Sequence[str]) -> list[tuple[int, int, str]]:
    """Names with a misspelling between them and what was typed."""
    from rapidfuzz import fuzz, process

    found = process.extract(
        asked, [key(name) for name in known], scorer=fuzz.partial_ratio, limit=None, score_cutoff=75
    )
    return sorted((-round(score), len(known[at]), known[at]) for _, score, at in found)
