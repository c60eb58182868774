"""Pages of hits over all folders: each folder's index gives its part, here they are merged. Sync.

A cursor holds the sort key of the last row given out, in clients' paths, so that it stays right while
notes come and go. Scores shift when they do, so what was shown of a ranking is remembered for a while.
Lines and headings of a hit come from the file as it is now; a note that has gone has none.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from notes_mcp.errors import InvalidRequestError, NoteError
from notes_mcp.notes import patience
from notes_mcp.notes.answers import Hit, IndexState, Match, SearchPage
from notes_mcp.notes.asking import cursor as cursors
from notes_mcp.notes.asking import lookup
from notes_mcp.notes.asking.lookup import Deadline, Pattern, TooSlowError
from notes_mcp.notes.asking.moment import moment_ns
from notes_mcp.notes.asking.reach import Reach, key_shape
from notes_mcp.notes.folder import Folder
from notes_mcp.notes.index import narrowing, snippets
from notes_mcp.notes.index.filing import INTEGER_LIMIT
from notes_mcp.notes.index.query import Query, parse
from notes_mcp.notes.index.scope import key_of, rank
from notes_mcp.notes.markup import above
from notes_mcp.notes.records import Note
from notes_mcp.notes.shelf import Shelf
from notes_mcp.notes.text import Text

MATCHES_SHOWN = 3
MAX_LINES_COUNTED = 10_000  # of one note
SUGGESTIONS = 3
RANKINGS_REMEMBERED = 128
_ALL = 1_000_000


@dataclass(frozen=True, slots=True)
class Asked:
    """What a page of hits is asked for; its repr is what a cursor is sealed to."""

    query: str
    folder: str | None
    tags: tuple[str, ...]
    properties: tuple[tuple[str, Any], ...]
    modified_after: str | None
    mode: str
    sort: str


@dataclass(frozen=True, slots=True)
class Row:
    """One note of a page to be: its sort key in clients' paths, where it is, its score."""

    key: tuple[Any, ...]
    folder: Folder
    note: Note
    score: float


@dataclass(frozen=True, slots=True)
class Rows:
    """What was found of a page; `more` may come behind. `relaxed`: no note has all the words."""

    rows: list[Row]
    total: int
    more: bool = False
    relaxed: bool = False


class Finder:
    """Search over the shelf. Paths that go in and come out are as clients see them."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._reach = Reach(shelf)
        self._shown: dict[str, frozenset[str]] = {}  # cursor -> the paths that were given out up to it

    def search(self, asked: Asked, limit: int, cursor: str | None, state: IndexState) -> SearchPage:
        """One page of hits. Raises InvalidRequestError for a bad date, cursor, mode, sort or pattern, or one that takes
        too long; NotFoundError for a folder."""
        last = cursors.decode(asked, cursor, key_shape(asked.sort))
        shown = self._shown.get(cursor) if cursor is not None else frozenset[str]()
        if shown is None or asked.sort != "relevance":
            shown = frozenset()
        elif shown:
            last = None
        places = self._reach.within(asked.folder)
        pattern: Pattern | None = None
        match asked.mode:
            case "words":
                query = parse(asked.query)
                found = self._words(asked, query, places, last, limit + len(shown))
                look = partial(snippets.matches, query=query, limit=MATCHES_SHOWN, effort=snippets.Effort())
            case "exact" | "regex":
                exact = asked.mode == "exact"
                pattern = (lookup.exact if exact else lookup.regular)(asked.query)
                sure = (narrowing.of_text if exact else narrowing.of_pattern)(lookup.plain(asked.query))
                deadline = Deadline()
                found = self._lines(asked, pattern, tuple(sure), places, deadline)
                look = partial(_lines_in, pattern=pattern, deadline=deadline)
            case other:
                raise InvalidRequestError(f"There is no mode {other!r}; use words, exact or regex.")
        start = None if last is None else rank(asked.sort, last)
        rows = [row for row in found.rows if self._path(row) not in shown]
        rows = sorted(
            (row for row in rows if start is None or rank(asked.sort, row.key) > start),
            key=lambda row: rank(asked.sort, row.key),
        )
        page = rows[:limit]
        hits = tuple(self._hit(row, look) for row in page)
        following = None
        if page and (found.more or len(rows) > limit):
            following = cursors.encode(asked, list(page[-1].key))
            if cursor is None or shown:
                self._remember(following, shown.union(map(self._path, page)))
        # While the index is being built, a word it does not know may still be in a note.
        unsure = pattern is None and state.complete and (found.relaxed or not found.total)
        suggestions = self._suggest(query, places) if unsure else ()
        return SearchPage(hits, found.total, found.relaxed, suggestions, following, state)

    def _words(
        self, asked: Asked, query: Query, places: Sequence[tuple[Folder, str]], last: Sequence[Any] | None, limit: int
    ) -> Rows:
        """Full text. What has only some of the words counts where no folder has a note with all of them."""
        strict, loose = Rows([], 0), Rows([], 0, relaxed=True)
        for folder, below in places:
            local = self._reach.local_query(query, folder)
            if local is None:
                continue
            found = folder.index.search(
                local,
                folder=below,
                tags=asked.tags,
                properties=dict(asked.properties),
                modified_after_ns=_after(asked),
                sort=asked.sort,
                after=self._reach.key_in(folder, last),
                limit=limit,
            )
            if not found.total:
                continue
            rows = [
                Row((*hit.key[:-1], self._shelf.label(folder, hit.key[-1])), folder, hit.note, hit.score)
                for hit in found.hits
            ]
            so_far = loose if found.relaxed else strict
            so_far = replace(
                so_far,
                rows=so_far.rows + rows,
                total=so_far.total + found.total,
                more=so_far.more or found.after is not None,
            )
            strict, loose = (strict, so_far) if found.relaxed else (so_far, loose)
        return loose if loose.total and not strict.total else strict

    def _lines(
        self,
        asked: Asked,
        pattern: Pattern,
        sure: tuple[tuple[str, ...], ...],
        places: Sequence[tuple[Folder, str]],
        deadline: Deadline,
    ) -> Rows:
        """Every note in scope that has what is `sure`, read and looked through; the score is the number of lines that
        match, as far as they are counted."""
        rows: list[Row] = []
        done, notes = 0, [(folder, note) for folder, below in places for note in _in_scope(folder, below, asked, sure)]
        try:
            for folder, note in patience.each(notes, "notes looked through"):
                text = _text_of(folder, note.path)
                if text is not None and (asked.mode == "regex" or lookup.may_match(pattern, text, deadline)):
                    score = float(sum(1 for _ in islice(lookup.lines(pattern, text, deadline), MAX_LINES_COUNTED)))
                    if score:
                        labelled = replace(note, path=self._shelf.label(folder, note.path))
                        rows.append(Row(key_of(asked.sort, labelled, score), folder, note, score))
                done += 1
        except TooSlowError:
            folder, note = notes[done]
            where = self._shelf.label(folder, note.path)
            raise InvalidRequestError(
                f"The search took too long and was stopped at {where}, after {done:,} of {len(notes):,} notes. "
                "Make the pattern simpler, or narrow the search with folder, tags or modified_after."
            ) from None
        return Rows(rows, len(rows))

    def _hit(self, row: Row, look: Any) -> Hit:
        """Where in the file, as it is now, the query matches."""
        patience.still_wanted()
        labelled = replace(row.note, path=self._path(row))
        text = _decoded(row.folder, row.note.path)
        if text is None:
            return Hit(labelled, row.score, (), 0)
        found = look(text.text, headings=partial(above.headings, text.utf8))
        shown = tuple(Match(each.line, each.heading, each.text) for each in found.shown)
        return Hit(labelled, row.score, shown, found.more)

    def _path(self, row: Row) -> str:
        return self._shelf.label(row.folder, row.note.path)

    def _remember(self, cursor: str, shown: frozenset[str]) -> None:
        self._shown[cursor] = shown
        for old in list(self._shown)[:-RANKINGS_REMEMBERED]:
            self._shown.pop(old, None)

    def _suggest(self, query: Query, places: Sequence[tuple[Folder, str]]) -> tuple[str, ...]:
        words: dict[str, None] = {}
        for folder, _ in places:
            words.update(dict.fromkeys(folder.index.did_you_mean(query, partial(_text_of, folder))))
        return tuple(words)[:SUGGESTIONS]


def _after(asked: Asked) -> int | None:
    """Within what the index can hold: its times end in 2262."""
    if asked.modified_after is None:
        return None
    return max(-INTEGER_LIMIT, min(moment_ns(asked.modified_after), INTEGER_LIMIT - 1))


def _in_scope(folder: Folder, below: str, asked: Asked, sure: tuple[tuple[str, ...], ...]) -> list[Note]:
    """The notes that all but the pattern let through, as far as they can match it."""
    found = folder.index.search(
        Query(sure=sure),
        folder=below,
        tags=asked.tags,
        properties=dict(asked.properties),
        modified_after_ns=_after(asked),
        sort="path",
        limit=_ALL,
    )
    return [hit.note for hit in found.hits]


def _lines_in(text: str, *, headings: snippets.Headings, pattern: Pattern, deadline: Deadline) -> Any:
    """The first lines that match. The note may have changed since it was looked through, so this may take too long."""
    try:
        places = islice(lookup.lines(pattern, text, deadline), MAX_LINES_COUNTED)
        return snippets.excerpts(lookup.plain(text), places, headings, MATCHES_SHOWN)
    except TooSlowError:
        return snippets.Excerpts()


def _decoded(folder: Folder, path: str) -> Text | None:
    try:
        return Text.decode(folder.vault.read_here(path)[0])
    except NoteError:
        return None


def _text_of(folder: Folder, path: str) -> str | None:
    text = _decoded(folder, path)
    return None if text is None else text.text
