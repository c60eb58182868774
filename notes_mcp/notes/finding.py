"""Pages of notes and of hits over all folders: each folder's index gives its part, here they are merged. Sync.

A cursor holds the sort key of the last row given out, in clients' paths, so that it stays right while
notes come and go. Lines and headings of a hit come from the file as it is now: a hit can never show
stale text, and a note that has gone meanwhile is shown without lines.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from notes_mcp.errors import InvalidRequestError, NoteError
from notes_mcp.notes import cursor as cursors
from notes_mcp.notes import markdown, snippets
from notes_mcp.notes.answers import Hit, IndexState, Match, NotePage, SearchPage
from notes_mcp.notes.folder import Folder
from notes_mcp.notes.query import Query, parse
from notes_mcp.notes.records import Note
from notes_mcp.notes.scope import KEY_SHAPES, key_of, rank
from notes_mcp.notes.segment import key
from notes_mcp.notes.shelf import Shelf
from notes_mcp.notes.text import Text

MATCHES_SHOWN = 3
SUGGESTIONS = 3
_LAST = "\U0010ffff"


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


class Finder:
    """Search and lists over the shelf. Paths that go in and come out are as clients see them."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def search(self, asked: Asked, limit: int, cursor: str | None, state: IndexState) -> SearchPage:
        """One page of hits. Raises InvalidRequestError for a bad date, cursor, mode or sort."""
        if asked.mode != "words":
            raise InvalidRequestError(f"mode={asked.mode} is not there yet; use words.")
        query = parse(asked.query)
        last = cursors.decode(asked, cursor, KEY_SHAPES[asked.sort])
        after_ns = None if asked.modified_after is None else moment_ns(asked.modified_after)
        rows: list[tuple[Any, Folder, Note, float]] = []
        total, relaxed, more = 0, True, False
        places = self._within(asked.folder)
        for folder, below in places:
            found = folder.index.search(
                query,
                folder=below,
                tags=asked.tags,
                properties=dict(asked.properties),
                modified_after_ns=after_ns,
                sort=asked.sort,
                after=self._key_for(folder, last),
                limit=limit,
            )
            total += found.total
            relaxed = relaxed and (found.relaxed or not found.total)
            more = more or found.after is not None
            for hit in found.hits:
                key = (*hit.key[:-1], self._shelf.label(folder, hit.key[-1]))
                rows.append((key, folder, hit.note, hit.score))
        rows.sort(key=lambda row: rank(asked.sort, row[0]))
        page, rest = rows[:limit], rows[limit:]
        hits = tuple(self._hit(folder, note, score, query) for _, folder, note, score in page)
        following = cursors.encode(asked, list(page[-1][0])) if page and (rest or more) else None
        suggestions = () if total else self._suggest(query, places)
        return SearchPage(hits, total, relaxed and total > 0, suggestions, following, state)

    def list_notes(
        self,
        folder: str | None,
        glob: str | None,
        tag: str | None,
        recursive: bool,
        sort: str,
        limit: int,
        cursor: str | None,
        state: IndexState,
    ) -> NotePage:
        """One page of notes, and the folders below with their number of notes."""
        question = (folder, glob, tag, recursive, sort)
        last = cursors.decode(question, cursor, KEY_SHAPES[sort])
        rows: list[tuple[Any, Note]] = []
        folders: list[tuple[str, int]] = []
        total, more = 0, False
        top = self._shelf.several and not (folder or "").strip("/")
        for place, below in self._within(folder):
            page = place.index.notes(
                order=sort,
                folder=below,
                glob=glob,
                tag=tag,
                recursive=recursive or top,
                after=self._key_for(place, last),
                limit=limit,
            )
            total += page.total
            more = more or page.after is not None
            for note in page.notes:
                labelled = replace(note, path=self._shelf.label(place, note.path))
                rows.append((key_of(sort, labelled), labelled))
            if top:
                folders.append((place.name, page.total))
            else:
                inside = place.index.folders(below, recursive=recursive)
                folders += ((self._shelf.label(place, path), count) for path, count in inside)
        rows.sort(key=lambda row: rank(sort, row[0]))
        shown, rest = rows[:limit], rows[limit:]
        following = cursors.encode(question, list(shown[-1][0])) if shown and (rest or more) else None
        return NotePage(tuple(note for _, note in shown), tuple(folders), total, following, state)

    def _within(self, folder: str | None) -> list[tuple[Folder, str]]:
        """The folders that a `folder` argument reaches, with the real path in each. Raises NotFoundError."""
        return [
            (place, place.vault.locate_folder(below) if below else "") for place, below in self._shelf.within(folder)
        ]

    def _key_for(self, folder: Folder, last: Sequence[Any] | None) -> Sequence[Any] | None:
        """A key in clients' paths as one in this folder's: rows that tie are ordered by the whole path."""
        if last is None:
            return None
        prefix = self._shelf.label(folder, "") + "/" if self._shelf.several else ""
        path = last[-1]
        if path.startswith(prefix):
            return (*last[:-1], path[len(prefix) :])
        return (*last[:-1], "" if prefix > path else _LAST)

    def names(self, kind: str, typed: str, limit: int) -> tuple[tuple[str, ...], int]:
        """Paths, tags or folders that resemble what was typed, best first, and how many do. Nothing typed: all."""
        known = self._known(kind)
        if not typed.strip():
            return tuple(known[:limit]), len(known)
        asked = key(typed)
        ranked = sorted(
            (score, len(name), name) for name in known if (score := _likeness(asked, key(name))) is not None
        )
        if not ranked:
            ranked = _fuzzy(asked, known)
        return tuple(name for _, _, name in ranked[:limit]), len(ranked)

    def _known(self, kind: str) -> list[str]:
        known: list[str] = []
        for folder in self._shelf:
            if kind == "tags":
                known += (tag for tag, _ in folder.index.tags())
            elif kind == "folders":
                known += (self._shelf.label(folder, path) for path, _ in folder.index.folders(recursive=True))
            else:
                known += (self._shelf.label(folder, note.path) for note in _newest(folder))
        return list(dict.fromkeys(known))

    def _hit(self, folder: Folder, note: Note, score: float, query: Query) -> Hit:
        """Where in the file, as it is now, the query matches."""
        labelled = replace(note, path=self._shelf.label(folder, note.path))
        try:
            data, _ = folder.vault.read(note.path)
        except NoteError:
            return Hit(labelled, score, (), 0)
        text = Text.decode(data)
        scan = markdown.scan(text.utf8)
        headings = [snippets.Heading(heading.line, heading.text) for heading in scan.headings]
        found = snippets.matches(text.text, query, headings, MATCHES_SHOWN)
        shown = tuple(Match(each.line, each.heading, each.text) for each in found.shown)
        return Hit(labelled, score, shown, found.more)

    def _suggest(self, query: Query, places: Sequence[tuple[Folder, str]]) -> tuple[str, ...]:
        words: dict[str, None] = {}
        for folder, _ in places:
            words.update(dict.fromkeys(folder.index.did_you_mean(query, lambda path: _text_of(folder, path))))  # noqa: B023
        return tuple(words)[:SUGGESTIONS]


def moment_ns(text: str) -> int:
    """An ISO 8601 date or time as nanoseconds since the epoch; without an offset it is local time."""
    try:
        moment = datetime.fromisoformat(text.strip())
        return int(moment.timestamp()) * 1_000_000_000
    except (ValueError, OverflowError, OSError):
        raise InvalidRequestError(
            f"{text!r} is not a date; write it as 2026-11-30 or 2026-11-30T08:00:00+01:00."
        ) from None


def _newest(folder: Folder) -> Iterator[Note]:
    after: Sequence[Any] | None = None
    while True:
        page = folder.index.notes("modified", kind=None, after=after, limit=1_000)
        yield from page.notes
        after = page.after
        if after is None:
            return


def _text_of(folder: Folder, path: str) -> str | None:
    try:
        return Text.decode(folder.vault.read(path)[0]).text
    except NoteError:
        return None


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
