"""Full-text search over the tables: query -> ranked, filtered pages, and words that are near. Reads only.

One statement gives all matches with their score; only the page's rows are then read. Ranking is bm25
over weighted columns (sqlite.org/fts5.html section 5.1.1). What matches is said here; where in the
note it matches is for `snippets`, from the file as it is now.
"""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from notes_mcp.notes.index.query import Query, Term, can_relax, excluded_fts, to_fts
from notes_mcp.notes.index.schema import Connection, scalar
from notes_mcp.notes.index.scope import COLUMNS, Key, Scope, after, check_key, key_of, newness, note_of, order_by, rank
from notes_mcp.notes.index.segment import is_unspaced
from notes_mcp.notes.index.stem import stem
from notes_mcp.notes.records import Note

# title, aliases, tags, headings, path, body
WEIGHTS = "10.0, 8.0, 5.0, 4.0, 3.0, 1.0"
CHUNK = 500
RANKED_KEPT = 200  # of each ranking
RANKINGS_KEPT = 64
MIN_LIKENESS = 0.84
MIN_WORD_CHARS = 3


@dataclass(frozen=True, slots=True)
class Scored:
    """A note that matches. `score` is positive, higher is better; 0.0 when nothing was ranked."""

    note: Note
    score: float
    key: Key


@dataclass(frozen=True, slots=True)
class Found:
    """One page of matches; `total` counts all pages. `relaxed`: no note has all the words, these have some."""

    hits: tuple[Scored, ...]
    total: int
    relaxed: bool
    after: Key | None


_Page: TypeAlias = tuple[tuple[Scored, ...], bool, int]


class Rankings:
    """The best of what expressions matched, so that the next pages, and the same words again, need no new ranking.

    Only numbers of rows and their scores: what is shown of a note is read anew. Each holds as long as the index
    stays the same, by its log and the number of its files.
    """

    def __init__(self) -> None:
        self._kept: dict[str, tuple[tuple[int, int], int, list[tuple[Any, ...]]]] = {}

    def find(self, expression: str, at: tuple[int, int]) -> tuple[int, list[tuple[Any, ...]]] | None:
        """How many rows match, and the best of them; None if that is not known."""
        kept = self._kept.get(expression)
        return kept[1:] if kept is not None and kept[0] == at else None

    def keep(
        self, expression: str, at: tuple[int, int], found: list[tuple[Any, ...]]
    ) -> tuple[int, list[tuple[Any, ...]]]:
        """Of all rows that match the best, and all that are as good as the last of these; what `find` will give."""
        best = heapq.nlargest(RANKED_KEPT, [score for _, score in found])
        rows = [row for row in found if row[1] >= best[-1]] if best else []
        if len(rows) <= 2 * RANKED_KEPT:
            others = [
                (other, kept) for other, kept in list(self._kept.items()) if kept[0] == at and other != expression
            ]
            self._kept = {**dict(others[1 - RANKINGS_KEPT :]), expression: (at, len(found), rows)}
        return len(found), rows


def search(
    db: Connection,
    query: Query,
    scope: Scope,
    sort: str,
    last: Sequence[Any] | None,
    limit: int,
    rankings: Rankings | None = None,
) -> Found:
    """The page behind the key `last`. Without words to look for, `scope` alone decides, the newest first."""
    if last is not None:
        check_key(sort, last)
    for wanted in query.filters:
        scope.filter(wanted)
    strict = to_fts(query)
    if strict is None:
        return _unranked(db, query, scope, sort, last, limit)
    find = _remembering(db, rankings) if rankings and sort == "relevance" and scope.open else _page
    hits, more, total = find(db, strict, scope, sort, last, limit)
    relaxed = not total and can_relax(query)
    if relaxed:
        hits, more, total = find(db, to_fts(query, relaxed=True) or strict, scope, sort, last, limit)
    return Found(hits, total, relaxed and bool(total), hits[-1].key if more and hits else None)


def suggest(db: Connection, query: Query, read: Callable[[str], str | None], limit: int) -> tuple[str, ...]:
    """Words of the index that resemble words of the query which no note has, as some note writes them.

    `read(path)` gives a note's text, None if it cannot be read.
    """
    from notes_mcp.notes.index.snippets import nearest_form

    words = [token for term in query.terms() for token in _unknown(db, term)]
    found: dict[str, None] = {}
    for word in dict.fromkeys(words):
        for term, path in _near(db, word, limit):
            text = "\n".join((path, read(path) or ""))
            found[nearest_form(text, term, word) or term] = None
    return tuple(found)[:limit]


def _matching(db: Connection, expression: str, scope: Scope, sort: str) -> list[tuple[Any, ...]]:
    """`(id, score)` for relevance, else `(id, key…)`, of everything that matches."""
    columns = {
        "relevance": f"-bm25(words, {WEIGHTS})",
        "path": "f.path",
        "modified": "f.modified_ns, f.path",
        "size": "f.size, f.path",
    }[sort]
    # CROSS JOIN: the full-text table leads, whatever the planner thinks of the conditions.
    joined = "" if sort == "relevance" and scope.open else f" CROSS JOIN files f ON f.id=words.rowid AND {scope.sql}"
    values = scope.values if joined else []
    return db.execute(
        f"SELECT words.rowid, {columns} FROM words{joined} WHERE words MATCH ?", [*values, expression]
    ).fetchall()


def _page(db: Connection, expression: str, scope: Scope, sort: str, last: Sequence[Any] | None, limit: int) -> _Page:
    """The hits behind `last`, whether there are more, and how many there are in all."""
    found = _matching(db, expression, scope, sort)
    if sort == "relevance":
        hits = _best(db, found, last, limit + 1)
    else:
        start = rank(sort, last) if last is not None else None
        keyed = ((rank(sort, row[1:]), row[0]) for row in found)
        chosen = heapq.nsmallest(limit + 1, (entry for entry in keyed if start is None or entry[0] > start))
        notes = _notes(db, [number for _, number in chosen])
        hits = [Scored(notes[n], 0.0, key_of(sort, notes[n])) for _, n in chosen if n in notes]
    return tuple(hits[:limit]), len(hits) > limit, len(found)


def _remembering(db: Connection, rankings: Rankings) -> Callable[..., _Page]:
    """`_page` by relevance over all notes, as far as it can from what was ranked before."""
    at = (
        int(scalar(db, "SELECT seq FROM sqlite_sequence WHERE name='log'")),
        int(scalar(db, "SELECT count(*) FROM files")),
    )

    def page(db: Connection, expression: str, scope: Scope, sort: str, last: Sequence[Any] | None, limit: int) -> _Page:
        found: list[tuple[Any, ...]] | None = None
        known = rankings.find(expression, at)
        if known is None:
            found = _matching(db, expression, scope, sort)
            known = rankings.keep(expression, at, found)
        total, best = known
        hits = _best(db, best, last, limit + 1)
        if len(hits) <= limit and len(best) < total:
            hits = _best(db, found or _matching(db, expression, scope, sort), last, limit + 1)
        return tuple(hits[:limit]), len(hits) > limit, total

    return page


def _best(db: Connection, found: list[tuple[Any, ...]], last: Sequence[Any] | None, most: int) -> list[Scored]:
    """Equal scores are ordered by path, so the rows of all that tie with the last of the page are read."""
    pool, ties = found, 0
    if last is not None:
        pool = [row for row in found if row[1] <= last[0]]
        ties = sum(1 for row in pool if row[1] == last[0])
    best = heapq.nlargest(most + ties, [score for _, score in pool])
    if not best:
        return []
    least = best[-1]
    chosen = {number: score for number, score in pool if score >= least}
    notes = _notes(db, list(chosen))
    hits = [Scored(note, chosen[n], key_of("relevance", note, chosen[n])) for n, note in notes.items()]
    hits.sort(key=lambda hit: rank("relevance", hit.key))
    if last is not None:
        behind = rank("relevance", last)
        hits = [hit for hit in hits if rank("relevance", hit.key) > behind]
    return hits[:most]


def _notes(db: Connection, numbers: list[int]) -> dict[int, Note]:
    notes: dict[int, Note] = {}
    for at in range(0, len(numbers), CHUNK):
        some = numbers[at : at + CHUNK]
        marks = ",".join("?" * len(some))
        for row in db.execute(f"SELECT {COLUMNS} FROM files f WHERE f.id IN ({marks})", some):
            notes[row[0]] = note_of(row)
    return notes


def _unranked(db: Connection, query: Query, scope: Scope, sort: str, last: Sequence[Any] | None, limit: int) -> Found:
    """Matches by filters and exclusions alone. A query whose words cannot be searched has none."""
    if not query.wordless:
        return Found((), 0, False, None)
    excluded = excluded_fts(query)
    if excluded:
        scope.add("f.id NOT IN (SELECT rowid FROM words WHERE words MATCH ?)", excluded)
    total = int(scalar(db, f"SELECT count(*) FROM files f WHERE {scope.sql}", scope.values))
    if last is not None:
        after(sort, last, scope)
    rows = db.execute(
        f"SELECT {COLUMNS} FROM files f WHERE {scope.sql} ORDER BY {order_by(sort)} LIMIT ?",
        [*scope.values, limit + 1],
    ).fetchall()
    hits = tuple(Scored(note, 0.0, key_of(sort, note, newness(note))) for note in map(note_of, rows[:limit]))
    return Found(hits, total, False, hits[-1].key if len(rows) > limit and hits else None)


def _unknown(db: Connection, term: Term) -> list[str]:
    words = (token for token in term.tokens if len(token) >= MIN_WORD_CHARS and not is_unspaced(token))
    known = "SELECT 1 FROM vocabulary WHERE term=? LIMIT 1"
    return [word for word in words if not db.execute(known, (stem(word),)).fetchall()]


def _near(db: Connection, word: str, limit: int) -> list[tuple[str, str]]:
    """`(stem, path of a note that has it)`, best first. A word is near only if its first or second letter agrees."""
    from rapidfuzz import process
    from rapidfuzz.distance import DamerauLevenshtein, JaroWinkler

    terms: dict[str, int] = {}
    for letter in dict.fromkeys(word[:2]):
        rows = db.execute("SELECT term, doc FROM vocabulary WHERE term>=? AND term<?", (letter, chr(ord(letter) + 1)))
        terms.update((term, notes) for term, notes in rows if abs(len(term) - len(word)) <= 3 and not term.isdigit())
    best: dict[str, float] = {}
    for asked in (word, stem(word)):
        for term, score, _ in process.extract(
            asked, list(terms), scorer=JaroWinkler.normalized_similarity, limit=20, score_cutoff=MIN_LIKENESS
        ):
            edits = DamerauLevenshtein.normalized_similarity(asked, term)
            best[term] = max(best.get(term, 0.0), score + edits)
    ranked = sorted(best, key=lambda term: (-best[term], -terms[term], term))[:limit]
    place = "SELECT f.path FROM places p JOIN files f ON f.id=p.doc WHERE p.term=? LIMIT 1"
    return [(term, scalar(db, place, (term,))) for term in ranked]
