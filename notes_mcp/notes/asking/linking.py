"""Tags and links over all folders, by page: each folder's index gives its part, here they are merged. Sync.

Links are resolved by the index, the same way as for moves. Unlinked mentions are looked for in the files
as they are now, since the index keeps no text; `mentions` says what counts as one. Paths that go in and
come out are as clients see them. Reads the disk through `Vault`, writes nothing.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

from notes_mcp.errors import InvalidRequestError, NoteError, NotFoundError
from notes_mcp.notes import patience
from notes_mcp.notes.answers import IndexState
from notes_mcp.notes.asking import cursor as cursors
from notes_mcp.notes.asking.answering import Answers
from notes_mcp.notes.asking.reach import Reach
from notes_mcp.notes.folder import Folder
from notes_mcp.notes.index.query import phrase
from notes_mcp.notes.index.rows import LinkRow
from notes_mcp.notes.index.segment import key
from notes_mcp.notes.markup import mentions
from notes_mcp.notes.shelf import Shelf

T = TypeVar("T")
Kind: TypeAlias = Literal["backlinks", "outgoing", "broken", "orphans", "mentions"]

MAX_KEPT = 4  # answers about the whole
MAX_MENTIONING = 500  # notes that are opened to look for mentions
_ABOUT_ONE = ("backlinks", "outgoing", "mentions")


@dataclass(frozen=True, slots=True)
class Linked:
    """One link, or what stands in for one.

    `to` is the real path of what it reaches, else the target as written; `text` the label as written.
    `via_alias`: it reaches that note by an alias only, which Obsidian itself does not follow.
    - mentions: `to` is the note that is named, `text` the line; not `resolved`, since there is no link.
    - orphans: `to` is the note that no other note links to, `text` its title; `source` is "", `line` 1.
    """

    source: str
    to: str
    line: int
    text: str
    resolved: bool
    via_alias: bool = False
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class LinkPage:
    """A page of links. `complete` is false where more than `total` may be there: too many notes to open them all."""

    links: tuple[Linked, ...]
    total: int
    complete: bool
    next_cursor: str | None
    state: IndexState


@dataclass(frozen=True, slots=True)
class TagPage:
    """A page of `(tag, notes)`, the most used first; notes with a tag below count for the tag above."""

    tags: tuple[tuple[str, int], ...]
    total: int
    next_cursor: str | None
    state: IndexState


Keyed: TypeAlias = tuple[tuple[str, int], Linked]


class Linker:
    """What `list_tags` and `get_links` ask."""

    def __init__(self, shelf: Shelf, answers: Answers) -> None:
        self._shelf = shelf
        self._reach = Reach(shelf)
        self._answered: dict[tuple[object, ...], tuple[object, list[Any]]] = {}
        self._answers = answers

    def tags(self, prefix: str, folder: str | None, limit: int, cursor: str | None, state: IndexState) -> TagPage:
        """Raises NotFoundError for a folder that is not there, InvalidRequestError for a bad cursor."""
        question = ("tags", prefix, folder)
        last = cursors.decode(question, cursor, (int, str))
        ranked = self._kept(question, state, lambda: self._ranked(prefix, folder))
        start = 0 if last is None else bisect_right(ranked, (-last[0], last[1]), key=lambda row: row[:2])
        page = ranked[start : start + limit]
        more = start + limit < len(ranked)
        following = cursors.encode(question, [-page[-1][0], page[-1][1]]) if more else None
        return TagPage(tuple((tag, -notes) for notes, _, tag in page), len(ranked), following, state)

    def links(self, kind: Kind, ref: str | None, limit: int, cursor: str | None, state: IndexState) -> LinkPage:
        """One page of links, by source and place.

        `ref` is the note (or attachment) in question; for broken and orphans also a folder, None for all.
        Raises InvalidRequestError where it is missing or for a bad cursor, NotFoundError, AmbiguousError.
        """
        question = (kind, ref)
        last = cursors.decode(question, cursor, (str, int))
        if kind in _ABOUT_ONE:
            keyed, complete = self._about_one(kind, ref)
        else:
            keyed, complete = self._kept(question, state, lambda: self._about_many(kind, ref)), True
        start = 0 if last is None else bisect_right(keyed, tuple(last), key=lambda entry: entry[0])
        page = keyed[start : start + limit]
        following = cursors.encode(question, list(page[-1][0])) if start + limit < len(keyed) else None
        return LinkPage(tuple(link for _, link in page), len(keyed), complete, following, state)

    def _kept(self, question: tuple[object, ...], state: IndexState, make: Callable[[], list[T]]) -> list[T]:
        """What `make` gives, kept as long as nothing changes: pages and repeated questions are answered from it."""
        now = tuple((folder.index.last_seq(), folder.index.count()) for folder in self._shelf)
        kept = self._answered.get(question)
        if kept is not None and kept[0] == now and state.complete:
            return kept[1]
        made = make()
        if state.complete:
            others = [(other, answer) for other, answer in self._answered.items() if answer[0] == now]
            self._answered = {**dict(others[1 - MAX_KEPT :]), question: (now, made)}
        return made

    def _ranked(self, prefix: str, folder: str | None) -> list[tuple[int, str, str]]:
        """(minus the number of notes, folded tag, tag) of every tag, in the order of the pages."""
        found: dict[str, tuple[str, int]] = {}
        for place, below in self._reach.within(folder):
            for tag, notes in place.index.tags(prefix, folder=below):
                first, before = found.get(key(tag), (tag, 0))
                found[key(tag)] = first, before + notes
        return sorted((-notes, folded, tag) for folded, (tag, notes) in found.items())

    def _about_one(self, kind: Kind, ref: str | None) -> tuple[list[Keyed], bool]:
        if not ref:
            raise InvalidRequestError(f"kind={kind} needs path: the note in question.")
        folder, path = self._answers.resolve(ref)
        if kind == "mentions":
            found, complete = self._mentions(folder, path)
            return _numbered(found, by_target=False), complete
        links = folder.index.backlinks(path) if kind == "backlinks" else folder.index.outgoing(path)
        return _numbered(self._labelled(folder, links), by_target=False), True

    def _about_many(self, kind: Kind, ref: str | None) -> list[Keyed]:
        found: list[Linked] = []
        for folder, below, only in self._within(ref):
            if kind == "broken":
                links = folder.index.broken_links(below) if only is None else folder.index.outgoing(only)
                found += self._labelled(folder, (link for link in links if link.resolution.path is None))
            else:
                found += self._orphans(folder, below, only)
        return _numbered(found, by_target=kind == "orphans")

    def _within(self, ref: str | None) -> Iterator[tuple[Folder, str, str | None]]:
        """(folder, path of the folder below, path of the one note) that `ref` reaches."""
        if not ref or not ref.strip("/."):
            yield from ((folder, "", None) for folder in self._shelf)
            return
        try:
            folder, path = self._answers.resolve(ref)
        except (NotFoundError, InvalidRequestError) as missing:  # nothing of that name, or a folder
            try:
                places = self._reach.within(ref)
            except NoteError:
                raise missing from None
            yield from ((place, below, None) for place, below in places)
        else:
            yield folder, "", path

    def _orphans(self, folder: Folder, below: str, path: str | None) -> Iterator[Linked]:
        start = below + "/" if below else ""
        for note, title in folder.index.orphans():
            if note.startswith(start) and path in (None, note):
                yield Linked("", self._shelf.label(folder, note), 1, title, True)

    def _mentions(self, folder: Folder, path: str) -> tuple[list[Linked], bool]:
        note = folder.index.get(path)
        names = mentions.names(path, note.title if note else "", note.aliases if note else ())
        candidates: dict[str, None] = {}
        for name in names:
            after: Sequence[object] | None = None
            while len(candidates) <= MAX_MENTIONING:
                page = folder.index.search(phrase(name), sort="path", after=after, limit=MAX_MENTIONING)
                candidates.update((hit.note.path, None) for hit in page.hits)
                after = page.after
                if after is None:
                    break
        candidates.pop(path, None)
        found: list[Linked] = []
        to = self._shelf.label(folder, path)
        pattern = mentions.pattern(names)
        for source in patience.each(sorted(candidates)[:MAX_MENTIONING], "notes looked through"):
            try:
                data, _ = folder.vault.read(source)
            except NoteError:
                continue  # gone or locked just now: there is nothing to show of it
            label = self._shelf.label(folder, source)
            found += (Linked(label, to, each.line, each.text, False) for each in mentions.find(source, data, pattern))
        return found, len(candidates) <= MAX_MENTIONING

    def _labelled(self, folder: Folder, links: Iterable[LinkRow]) -> list[Linked]:
        return [
            Linked(
                self._shelf.label(folder, link.source),
                link.target if link.resolution.path is None else self._shelf.label(folder, link.resolution.path),
                link.line,
                link.text,
                link.resolution.path is not None,
                link.resolution.via == "alias",
                link.anchor,
            )
            for link in links
        ]


def _numbered(rows: Iterable[Linked], *, by_target: bool) -> list[Keyed]:
    """Each link with its key: the note it stands in, and its number there."""
    numbers: dict[str, int] = {}
    keyed = []
    for link in rows:
        home = link.to if by_target else link.source
        numbers[home] = number = numbers.get(home, -1) + 1
        keyed.append(((home, number), link))
    return sorted(keyed, key=lambda entry: entry[0])
