"""What the index knows of notes that a person should mend: flaws of single notes, links that lead nowhere. Reads only.

Counts are of everything, examples the first by path. Most lost links are known by their name alone, which no
file and no alias has; those that spell out a path or an extension are resolved, up to a limit, as `rows` does it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from notes_mcp.notes.index.rows import LINK_COLUMNS, AllFiles, LinkRow, resolved
from notes_mcp.notes.index.schema import Connection, scalar
from notes_mcp.notes.records import Problem

MAX_RESOLVED = 5_000
_OF_NOTES = "FROM links l JOIN files s ON s.id=l.file WHERE l.target<>''"
_KNOWN = (
    "(EXISTS(SELECT 1 FROM files n WHERE n.name_key=l.target_key)"
    " OR EXISTS(SELECT 1 FROM aliases a WHERE a.key=l.target_key))"
)
_SPELT = r"(l.target GLOB '*[/\%.]*' OR l.target GLOB '[ ]*' OR l.target GLOB '*[ ]')"
# With such names about, a link can lead to a file whose name is another than what the link's last part says.
_ODD_NAMES = (
    "SELECT EXISTS(SELECT 1 FROM aliases WHERE key GLOB '*[/%.]*') OR EXISTS(SELECT 1 FROM files WHERE path GLOB '*%*')"
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


def flaws(db: Connection, limit: int) -> Flaws:
    """At most `limit` examples of each kind, and of lost links."""
    counts: dict[str, int] = dict(_rows(db, "SELECT kind, count(*) FROM flaws GROUP BY kind ORDER BY kind"))
    examples = tuple(
        Problem(kind, path, advice)
        for kind in counts
        for path, advice in _rows(
            db,
            "SELECT f.path, w.advice FROM flaws w JOIN files f ON f.id=w.file WHERE w.kind=? ORDER BY f.path LIMIT ?",
            (kind, limit),
        )
    )
    lost, total, counted = _lost(db, limit)
    return Flaws(counts, examples, lost, total, counted)


def _rows(db: Connection, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    return db.execute(sql, tuple(values)).fetchall()


def _lost(db: Connection, limit: int) -> tuple[tuple[LinkRow, ...], int, bool]:
    doubtful = _SPELT if scalar(db, _ODD_NAMES) else f"({_KNOWN} AND {_SPELT})"
    plain = f"{_OF_NOTES} AND NOT {_KNOWN} AND NOT {doubtful}"
    total = int(scalar(db, f"SELECT count(*) {plain}"))
    order = "ORDER BY s.path, l.position LIMIT ?"
    found = _rows(db, f"SELECT {LINK_COLUMNS} {plain} {order}", (limit,))
    rows = _rows(db, f"SELECT {LINK_COLUMNS} {_OF_NOTES} AND {doubtful} {order}", (MAX_RESOLVED + 1,))
    more = [link for link in resolved(AllFiles(db), islice(rows, MAX_RESOLVED)) if link.resolution.path is None]
    lost = [*(LinkRow(*row[:-1]) for row in found), *more[:limit]]
    lost.sort(key=lambda link: (link.source, link.line))
    return tuple(lost[:limit]), total + len(more), len(rows) <= MAX_RESOLVED
