"""Full-text search over the tables: query -> ranked, filtered pages, and words that are near. Reads only.

What is best is for `ranking`; here are the pages of that, of other orders, and of filters alone. Only the
page's rows are read. What matches is said here; where in the note it matches is for `snippets`, from the
file as it is now.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import eq
from typing import Any, TypeAlias

from notes_mcp.notes.index.query import Query, Term, can_relax, excluded_fts, to_fts
from notes_mcp.notes.index.ranking import Ranking, Rankings, count, ranked, state_of
from notes_mcp.notes.index.schema import Connection, scalar
from notes_mcp.notes.index.scope import COLUMNS, Key, Scope, after, check_key, key_of, note_of, order_by, rank
from notes_mcp.notes.index.segment import fold, is_unspaced
from notes_mcp.notes.index.stem import stem
from notes_mcp.notes.records import Note

__all__ = ["Found", "Rankings", "Scored", "search", "suggest"]

MIN_LIKENESS = 0.84
MIN_WORD_CHARS = 3
MIN_RUN_LIKENESS = 0.65  # one of three characters may differ
NOTES_COMPARED = 3
STRETCHES_COMPARED = 500


@dataclass(frozen=True, slots=True)
class Scored:
    """A note that matches. `score` is positive, higher is better; 0.0 where nothing was ranked."""

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


_Page: TypeAlias = tuple[list[Scored], int]


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
    scope.holding(query.sure)
    if to_fts(query) is None:
        return _unranked(db, query, scope, sort, last, limit)
    find = _by_relevance(rankings or Rankings(), state_of(db)) if sort == "relevance" else _by_order(sort)
    hits, total = find(db, query, scope, last, limit + 1, relaxed=False)
    relaxed = not total and can_relax(query)
    if relaxed:
        hits, total = find(db, query, scope, last, limit + 1, relaxed=True)
    page = tuple(hits[:limit])
    return Found(page, total, relaxed and bool(total), page[-1].key if page and len(hits) > limit else None)


def _by_relevance(rankings: Rankings, at: tuple[int, int]) -> Callable[..., _Page]:
    """Pages of a ranking, as far as they can be had from what was ranked before."""

    def page(
        db: Connection, query: Query, scope: Scope, last: Sequence[Any] | None, most: int, *, relaxed: bool
    ) -> _Page:
        asked = (to_fts(query, relaxed=relaxed), scope.sql, *scope.values)
        ranking = rankings.find(asked, at)
        if ranking is None:
            ranking = ranked(db, query, scope, relaxed=relaxed)
            rankings.keep(asked, at, ranking)
        keys = _behind(ranking, last, most)
        if len(keys) < most and not ranking.whole:
            ranking = ranked(db, query, scope, relaxed=relaxed, whole=True)
            keys = _behind(ranking, last, most)
        if len(keys) < most and ranking.rest:
            keys += _rest(db, ranking.rest, scope, last, most - len(keys))
        notes = {note.path: note for note in _notes(db, [key[-1] for key in keys])}
        return [Scored(notes[key[-1]], key[0], key) for key in keys if key[-1] in notes], ranking.total

    return page


def _behind(ranking: Ranking, last: Sequence[Any] | None, most: int) -> list[Key]:
    start = None if last is None else rank("relevance", last)
    keys = (key for key in ranking.best if start is None or rank("relevance", key) > start)
    return [key for key, _ in zip(keys, range(most), strict=False)]


def _rest(db: Connection, expression: str, scope: Scope, last: Sequence[Any] | None, most: int) -> list[Key]:
    """Of what has no score, the newest."""
    behind = Scope(None)
    if last is not None and not last[0]:
        after("relevance", last, behind)
    rows = db.execute(
        f"SELECT f.modified_ns, f.path FROM words CROSS JOIN files f ON f.id=words.rowid"
        f" WHERE words MATCH ? AND {scope.sql} AND {behind.sql} ORDER BY {order_by('relevance')} LIMIT ?",
        [expression, *scope.values, *behind.values, most],
    )
    return [(0.0, modified_ns, path) for modified_ns, path in rows]


def _by_order(sort: str) -> Callable[..., _Page]:
    def page(
        db: Connection, query: Query, scope: Scope, last: Sequence[Any] | None, most: int, *, relaxed: bool
    ) -> _Page:
        expression = to_fts(query, relaxed=relaxed) or ""
        total = count(db, expression, scope)
        behind = Scope(None)
        if last is not None:
            after(sort, last, behind)
        rows = db.execute(
            f"SELECT {COLUMNS} FROM words CROSS JOIN files f ON f.id=words.rowid"
            f" WHERE words MATCH ? AND {scope.sql} AND {behind.sql} ORDER BY {order_by(sort)} LIMIT ?",
            [expression, *scope.values, *behind.values, most],
        )
        return [Scored(note, 0.0, key_of(sort, note)) for note in map(note_of, rows)], total

    return page


def _notes(db: Connection, paths: list[str]) -> Iterator[Note]:
    for path in paths:
        yield from map(note_of, db.execute(f"SELECT {COLUMNS} FROM files f WHERE f.path=?", (path,)))


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
    hits = tuple(Scored(note, 0.0, key_of(sort, note)) for note in map(note_of, rows[:limit]))
    return Found(hits, total, False, hits[-1].key if len(rows) > limit and hits else None)


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
    for run in query.terms():
        found.update(dict.fromkeys(_like_run(db, run, read)))
    return tuple(found)[:limit]


def _like_run(db: Connection, term: Term, read: Callable[[str], str | None]) -> Iterator[str]:
    """For characters without blanks between them that no note has in this order: a stretch of a note that is like it,
    among the notes that have most pairs of them."""
    run = "".join(term.tokens)
    if len(term.tokens) < MIN_WORD_CHARS or not all(map(is_unspaced, term.tokens)) or term.column:
        return
    alone = Query(((term,),))
    if count(db, to_fts(alone) or "", Scope()):
        return
    for _, _, path in ranked(db, alone, Scope(), relaxed=True).best[:NOTES_COMPARED]:
        near = _alike(run, fold(read(path) or ""))
        if near:
            yield near
            return


def _alike(run: str, text: str) -> str:
    """The stretch of `text`, as long as `run`, that has most of its characters at the same places and its first or
    last one; "" if all have too few."""
    length, best = len(run), (MIN_RUN_LIKENESS * len(run), "")
    for char, offset in ((run[0], 0), (run[-1], length - 1)):
        for found in islice(re.finditer(re.escape(char), text), STRETCHES_COMPARED):
            stretch = text[max(0, found.start() - offset) : max(0, found.start() - offset) + length]
            same = float(sum(map(eq, run, stretch)))
            if same > best[0] and len(stretch) == length and all(map(is_unspaced, stretch)):
                best = same, stretch
    return best[1]


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
