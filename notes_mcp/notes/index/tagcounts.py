"""The tags in use, and how many notes have each: `(tag, notes)`, a note with a tag below counts for the tag above.

Reads only. In the whole folder the table gives the numbers; in a part of it the rows are counted here.
"""

from bisect import bisect_left
from collections.abc import Iterable
from typing import Any

from notes_mcp.notes.index.schema import Connection, scalar
from notes_mcp.notes.index.scope import real_folder
from notes_mcp.notes.index.segment import clean, key


def tags(db: Connection, prefix: str, folder: str) -> list[tuple[str, int]]:
    """`(tag, notes)` of every tag in use that begins with `prefix`; the most used first.

    A tag's number is that of the notes which `tag` as a filter finds: those with tags below it count.
    """
    start = clean(key(prefix.strip().lstrip("#")))
    real = real_folder(db, folder)
    if real:
        return _by_use(_tags_below(db, start, real))
    found: list[tuple[Any, ...]] = db.execute(
        "SELECT key, min(tag), count(*) FROM tags WHERE key>=? AND key<? GROUP BY key", (start, start + "\U0010ffff")
    ).fetchall()
    names = [name for name, _, _ in found]
    for at, (name, tag, _) in enumerate(found):
        child = bisect_left(names, name + "/")
        if child < len(names) and names[child].startswith(name + "/"):
            nested = scalar(
                db,
                "SELECT count(DISTINCT file) FROM tags WHERE key=? OR (key>? AND key<?)",
                [name, name + "/", name + "0"],
            )
            found[at] = (name, tag, nested)
    return _by_use(found)


def _tags_below(db: Connection, start: str, folder: str) -> list[tuple[str, str, int]]:
    """`(key, tag, notes)` of those that begin with `start`, in a folder; asked for at once, which is quicker there."""
    rows = db.execute(
        "SELECT key, tag, file FROM tags WHERE key>=? AND key<?"
        " AND file IN (SELECT id FROM files WHERE path>? AND path<?) ORDER BY key, tag",
        (start, start + "\U0010ffff", folder + "/", folder + "0"),
    )
    spelt: dict[str, str] = {}
    notes: dict[str, set[int]] = {}
    for name, tag, file in rows:
        spelt.setdefault(name, tag)
        notes.setdefault(name, set()).add(file)
    for name in list(notes):
        above = name
        while "/" in above:
            above = above.rpartition("/")[0]
            if above in spelt:
                notes[above] |= notes[name]
    return [(name, tag, len(notes[name])) for name, tag in spelt.items()]


def _by_use(found: Iterable[tuple[Any, ...]]) -> list[tuple[str, int]]:
    return [(tag, number) for _, tag, number in sorted(found, key=lambda row: (-row[2], row[0]))]
