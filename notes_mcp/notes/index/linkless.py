"""Links that lead nowhere, and notes that no other note links to, of a whole folder. Reads only.

Most of it follows from names alone, which the tables have in order: a bare name that no file and no alias has leads
nowhere, and one that a single file has leads to that. Only what spells out more than a name, and names of several
files, is resolved, as `rows` does it. Where files have names that look like other names, everything is.
"""

from collections.abc import Iterable
from typing import Any

from notes_mcp.notes.index.rows import LINK_COLUMNS, SPELT, AllFiles, Files, LinkRow, all_links, backlinks, resolved
from notes_mcp.notes.index.schema import SPELT_SQL, Connection, scalar
from notes_mcp.notes.index.scope import real_folder
from notes_mcp.notes.links.links import without_extension

MANY = 2_000  # from here on it is quicker to read all names at once
LOST_NAMES = (
    "SELECT k FROM (SELECT DISTINCT target_key k FROM links)"
    " WHERE NOT EXISTS(SELECT 1 FROM files WHERE name_key=k) AND NOT EXISTS(SELECT 1 FROM aliases WHERE key=k)"
)
_LINKS = f"SELECT {LINK_COLUMNS}, l.position FROM links l JOIN files s ON s.id=l.file WHERE l.target<>''"
_UNNAMED = (
    "f.id IN (SELECT n.id FROM files n"
    " WHERE NOT EXISTS(SELECT 1 FROM links l WHERE l.target_key=n.name_key AND l.file<>n.id))"
)
# Names that say too little by themselves: what several files have, and what some link spells out.
_DOUBTFUL_NAMES = (
    "SELECT name_key FROM files GROUP BY name_key HAVING count(*)>1"
    f" UNION SELECT target_key FROM links WHERE {SPELT_SQL}"
)


def broken(db: Connection, folder: str = "") -> list[LinkRow]:
    """The links of the notes in `folder` that lead nowhere, by source and place."""
    if odd_names(db):
        return [link for link in all_links(db, folder) if link.resolution.path is None]
    lost: list[tuple[Any, ...]] = db.execute(f"{_LINKS} AND l.target_key IN ({LOST_NAMES})").fetchall()
    doubtful = [row for row in lost if _says_more(row[2])]
    doubtful += db.execute(f"{_LINKS} AND {SPELT_SQL} AND l.target_key NOT IN ({LOST_NAMES})")
    found = [(row[0], row[-1], LinkRow(*row[:6])) for row in lost if not _says_more(row[2])]
    found += [
        (row[0], row[-1], link)
        for row, link in zip(doubtful, _resolved(db, doubtful), strict=True)
        if link.resolution.path is None
    ]
    real = real_folder(db, folder)
    below = real + "/" if real else ""
    found.sort(key=lambda each: each[:2])
    return [link for _, _, link in found if link.source.startswith(below)]


def orphans(db: Connection) -> list[tuple[str, str]]:
    """`(path, title)` of every note that no other note links to, by path."""
    if odd_names(db):
        reached = _reached(all_links(db))
        notes = [note[:2] for note in _notes(db, "1")]
        return sorted(note for note in notes if note[0] not in reached)
    rows = db.execute(f"{_LINKS} AND l.target_key IN ({_DOUBTFUL_NAMES})").fetchall()
    reached = _reached(_resolved(db, rows))
    doubtful = _notes(db, f"f.name_key IN ({_DOUBTFUL_NAMES})")
    candidates = {note for note in (*_notes(db, _UNNAMED), *doubtful) if note[0] not in reached}
    # By an alias they may be linked to all the same.
    return sorted((path, title) for path, title, aliases in candidates if not aliases or not backlinks(db, path))


def _notes(db: Connection, condition: str) -> list[tuple[str, str, str]]:
    """`(path, title, aliases)` of notes."""
    rows = db.execute(f"SELECT f.path, f.title, f.aliases FROM files f WHERE f.kind=0 AND {condition}")
    return [(path, title, aliases) for path, title, aliases in rows]


def _reached(links: Iterable[LinkRow]) -> set[str | None]:
    return {link.resolution.path for link in links if link.resolution.path != link.source}


def _resolved(db: Connection, rows: list[tuple[Any, ...]]) -> list[LinkRow]:
    files = AllFiles(db) if len(rows) > MANY else Files(db)
    return list(resolved(files, (row[:-1] for row in rows)))


def _says_more(target: str) -> bool:
    return SPELT.search(target) is not None or target != target.strip()


def odd_names(db: Connection) -> bool:
    """Whether a file's own name has an escape, or ends like a note's extension once that is taken off."""
    if scalar(db, "SELECT EXISTS(SELECT 1 FROM files WHERE path_key GLOB '*[%]*')"):
        return True
    names = db.execute("SELECT name_key FROM files WHERE name_key GLOB '*.[mtor]*'")
    return any(without_extension(name) != name for (name,) in names)
