"""Which matches are the best: full-text expression -> scored rows, the best first. Reads only.

bm25 over weighted columns (sqlite.org/fts5.html section 5.1.1), times what it cannot know: whether the words are
those of a name or a heading, and how near to each other they stand. A note with just this title is always first.
Words of very many notes say little: then only notes that have them in such places are scored, and the others follow,
the newest first. What takes time is bounded thereby, and kept as long as the index stays the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from notes_mcp.notes.index.query import Query, in_order_fts, to_fts, together_fts, tokenize
from notes_mcp.notes.index.schema import Connection, scalar
from notes_mcp.notes.index.scope import Key, Scope, rank

# title, aliases, tags, headings, path, body
WEIGHTS = "10.0, 8.0, 5.0, 4.0, 3.0, 1.0"
NAMED, HEADED = "title aliases", "tags headings path"
# Beyond what counting a word many times in a text can reach: bm25 tends to 2.2 times the least.
TIMES_NAMED, TIMES_HEADED, TIMES_TOGETHER, TIMES_IN_ORDER = 2.0, 1.5, 2.5, 1.4
NEAR = 10  # words between, at most
MOST_WORK = 3_000  # matching notes times words: about 5 ms
TIMES_RELAXED = 6  # the work that is worth it where no note has all the words
KEPT = 100  # of each ranking
RANKINGS_KEPT = 64
TITLES_READ = 1_000
_DIGITS = ".3g"  # what differs by less is a tie

At: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best of what matches, as keys of "relevance". `whole`: nothing else has a score; with `rest`, what matches
    that but is none of these has the score 0.0."""

    total: int
    best: tuple[Key, ...]
    whole: bool
    rest: str | None = None


class Rankings:
    """What was ranked, so that the next pages, and the same words again, need no new ranking.

    Only keys of rows: what is shown of a note is read anew. Each holds as long as the index stays the same, by
    its log and the number of its files.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[object, ...], tuple[At, Ranking]] = {}

    def find(self, asked: tuple[object, ...], at: At) -> Ranking | None:
        """The ranking of what was asked; None if it is not known."""
        kept = self._kept.get(asked)
        return kept[1] if kept is not None and kept[0] == at else None

    def keep(self, asked: tuple[object, ...], at: At, ranking: Ranking) -> None:
        """What `find` will give. Those of an earlier state go."""
        if len(ranking.best) <= 2 * KEPT:
            others = [(other, kept) for other, kept in list(self._kept.items()) if kept[0] == at and other != asked]
            self._kept = {**dict(others[1 - RANKINGS_KEPT :]), asked: (at, ranking)}


def state_of(db: Connection) -> At:
    """What differs after each change."""
    return (
        int(scalar(db, "SELECT seq FROM sqlite_sequence WHERE name='log'")),
        int(scalar(db, "SELECT count(*) FROM files")),
    )


def ranked(db: Connection, query: Query, scope: Scope, *, relaxed: bool, whole: bool = False) -> Ranking:
    """What matches all words of the query, or if `relaxed` any, and is in scope: the KEPT best, or if `whole` all."""
    expression = to_fts(query, relaxed=relaxed)
    assert expression is not None
    total = count(db, expression, scope)
    if not total:
        return Ranking(0, (), True)
    work = total * sum(len(term.tokens) for term in query.terms())
    rest = chosen = None
    if work > MOST_WORK * (TIMES_RELAXED if relaxed else 1):
        chosen = _telling(db, query, scope, relaxed)
        narrow = " OR ".join(f"({part})" for part in chosen)
        rest = f"({expression}) NOT ({narrow})" if narrow else expression
        scores = _scores(db, narrow, scope) if narrow else {}
    else:
        scores = _scores(db, expression, scope)
    _weigh(db, query, scores, relaxed, chosen)
    entries = _keys(db, scores, len(scores) if whole else KEPT)
    return Ranking(total, tuple(entries), len(entries) == len(scores), rest)


def count(db: Connection, expression: str, scope: Scope) -> int:
    """How many notes in scope match."""
    joined, values = _joined(scope)
    return int(scalar(db, f"SELECT count(*) FROM words{joined} WHERE words MATCH ?", [*values, expression]))


def _joined(scope: Scope) -> tuple[str, list[Any]]:
    """CROSS JOIN: the full-text table leads, whatever the planner thinks of the conditions."""
    if scope.open:
        return "", []
    return f" CROSS JOIN files f ON f.id=words.rowid AND {scope.sql}", scope.values


def _scores(db: Connection, expression: str, scope: Scope) -> dict[int, float]:
    joined, values = _joined(scope)
    sql = f"SELECT words.rowid, -bm25(words, {WEIGHTS}) FROM words{joined} WHERE words MATCH ?"
    return dict(db.execute(sql, [*values, expression]))


def _telling(db: Connection, query: Query, scope: Scope, relaxed: bool) -> list[str]:
    """Expressions for those matches that have the words where they tell something, as many as can be scored."""
    left, chosen = MOST_WORK, list[str]()

    def choose(part: str | None) -> int:
        nonlocal left
        cost = count(db, part, scope) if part else 0
        if part and 0 < cost <= left:
            chosen.append(part)
            left -= cost
        return cost

    choose(in_order_fts(query, "title"))
    choose(to_fts(query, relaxed=relaxed, columns=NAMED))
    if not relaxed and not choose(in_order_fts(query)):
        choose(together_fts(query, NEAR))
    choose(to_fts(query, relaxed=relaxed, columns=HEADED))
    return chosen


def _weigh(db: Connection, query: Query, scores: dict[int, float], relaxed: bool, chosen: Sequence[str] | None) -> None:
    """Multiplies the scores of those with the words in better places, and puts exact titles before all.

    Where only what was `chosen` is scored, looking for more that stand together would find what has no score.
    """
    if len(scores) < 2:
        return
    found = [(to_fts(query, relaxed=relaxed, columns=NAMED), TIMES_NAMED)]
    found.append((to_fts(query, relaxed=relaxed, columns=HEADED), TIMES_HEADED))
    if not relaxed:
        near = [(together_fts(query, NEAR), TIMES_TOGETHER), (in_order_fts(query), TIMES_IN_ORDER)]
        found += [(part, times) for part, times in near if chosen is None or part in chosen]
    named, *_ = [_raise(db, scores, expression, times) for expression, times in found]
    if not named:
        return
    best = max(scores.values())
    for number in _exactly_named(db, query):
        if number in scores:
            scores[number] += best


def _raise(db: Connection, scores: dict[int, float], expression: str | None, times: float) -> bool:
    """Multiplies the scores of what matches. False if nothing at all does."""
    if expression is None:
        return True
    some = False
    for (number,) in db.execute("SELECT rowid FROM words WHERE words MATCH ?", (expression,)):
        some = True
        if number in scores:
            scores[number] *= times
    return some


def _exactly_named(db: Connection, query: Query) -> Iterator[int]:
    """Notes whose title or one of whose aliases is what was asked for, word for word."""
    asked = tuple(token for term in query.terms() for token in term.tokens)
    longest = 2 * sum(map(len, asked)) + 2 * len(asked) + 16
    for column, limited in (("title", "length(f.title)<=?"), ("aliases", "?")):
        expression = in_order_fts(query, column)
        if expression is None:
            return
        rows = db.execute(
            f"SELECT f.id, f.title, f.aliases FROM words CROSS JOIN files f ON f.id=words.rowid"
            f" WHERE words MATCH ? AND {limited} LIMIT {TITLES_READ}",
            (expression, longest),
        )
        for number, title, aliases in rows:
            names = (title,) if column == "title" else aliases.split("\n")
            if any(tokenize(name) == asked for name in names):
                yield number


def _keys(db: Connection, scores: dict[int, float], most: int) -> list[Key]:
    """In the order of the pages. Ties are ordered by time and path, so those with the last of the `most` are read."""
    if len(scores) > most:
        bound = _rounded(sorted(scores.values(), reverse=True)[most - 1])
        scores = {n: score for n, score in scores.items() if score > bound * 0.99 and _rounded(score) >= bound}
    keys = [(_rounded(scores[n]), modified_ns, path) for n, modified_ns, path in _places(db, list(scores))]
    return sorted(keys, key=lambda key: rank("relevance", key))


def _places(db: Connection, numbers: list[int]) -> Iterator[tuple[int, int, str]]:
    for at in range(0, len(numbers), 500):
        some = numbers[at : at + 500]
        marks = ",".join("?" * len(some))
        yield from db.execute(f"SELECT id, modified_ns, path FROM files WHERE id IN ({marks})", some)


def _rounded(score: float) -> float:
    return float(format(score, _DIGITS))
