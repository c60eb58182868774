"""What the index knows of notes that a person should mend: flaws of single notes, links that lead nowhere. Reads only.

Counts are of everything, examples the first by path. Most lost links are known by their name alone, which no
file and no alias has; those that spell out a path or an extension are resolved, up to a limit, as `rows` does it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from notes_mcp.notes.index.linkless import LOST_NAMES, odd_names
from notes_mcp.notes.index.rows import LINK_COLUMNS, AllFiles, LinkRow, resolved
from notes_mcp.notes.index.schema import SPELT_SQL, Connection, scalar
from notes_mcp.notes.links.links import NOTE_EXTENSIONS
from notes_mcp.notes.records import Problem

MAX_RESOLVED = 2_000
# A link by such an alias ends in another name than the alias.
_ODD_ALIASES = "SELECT EXISTS(SELECT 1 FROM aliases WHERE key GLOB '*[/%]*' OR {})".format(
    " OR ".join(f"key GLOB '*{extension}'" for extension in NOTE_EXTENSIONS)
)


@dataclass(frozen=True, slots=True)
class Flaws:
    """`counts` and `examples` by kind. `lost` are the first links that lead nowhere, of `lost_total`, or more than
    that where they were not all `counted`."""

    counts: dict[str, int]
    examples: tuple[Problem, ...]
    lost: tuple[LinkRow, ...]
    lost_total: int
    counted: bool


def flaws(db: Connection, limit: int, apart: Sequence[str] = ()) -> Flaws:
    """At most `limit` examples of each kind, and of lost links. Notes in the folders `apart` do not count."""
    outside, values = _outside(apart)
    of_notes = f"FROM flaws w JOIN files s ON s.id=w.file WHERE {outside}"
    counts: dict[str, int] = dict(_rows(db, f"SELECT w.kind, count(*) {of_notes} GROUP BY w.kind", values))
    examples = tuple(
        Problem(kind, path, advice)
        for kind in counts
        for path, advice in _rows(
            db, f"SELECT s.path, w.advice {of_notes} AND w.kind=? ORDER BY s.path LIMIT ?", (*values, kind, limit)
        )
    )
    return Flaws(counts, examples, *_lost(db, limit, outside, values))


def _lost(db: Connection, limit: int, outside: str, values: Sequence[str]) -> tuple[tuple[LinkRow, ...], int, bool]:
    source = f"FROM links l JOIN files s ON s.id=l.file WHERE l.target<>'' AND {outside}"
    by_name = f"l.target_key IN ({LOST_NAMES})"
    doubtful = f"{SPELT_SQL} AND NOT {by_name}"
    if odd_names(db) or scalar(db, _ODD_ALIASES):
        by_name, doubtful = "0", "1"
    order = "ORDER BY s.path, l.position LIMIT ?"
    total = int(scalar(db, f"SELECT count(*) {source} AND {by_name}", values))
    found = _rows(db, f"SELECT {LINK_COLUMNS} {source} AND {by_name} {order}", (*values, limit))
    asked = _rows(db, f"SELECT {LINK_COLUMNS} {source} AND {doubtful} {order}", (*values, MAX_RESOLVED + 1))
    more = [link for link in resolved(AllFiles(db), asked[:MAX_RESOLVED]) if link.resolution.path is None]
    lost = [*(LinkRow(*row[:-1]) for row in found), *more[:limit]]
    lost.sort(key=lambda link: (link.source, link.line))
    return tuple(lost[:limit]), total + len(more), len(asked) <= MAX_RESOLVED


def _outside(folders: Sequence[str]) -> tuple[str, list[str]]:
    """A condition on `s.path`, and its values."""
    condition = " AND ".join("NOT (s.path>? AND s.path<?)" for _ in folders) or "1"
    return condition, [end for folder in folders for end in (f"{folder}/", f"{folder}0")]


def _rows(db: Connection, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    return db.execute(sql, tuple(values)).fetchall()
