"""One Markdown text -> the edits that lead its links right after a move, and what was left for a person.

Reads the links (`spots`), asks `respelling` for the target each needs and `spelling` for how to write it,
applies all, and reads the result again: a link that does not lead where it should, or anything else that
changed, takes the edit back. Where `[[ ]]` cannot hold the name, the link becomes a Markdown link, which
Obsidian follows too; in properties there are none. What cannot be written is left as it is and told. Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from notes_mcp.notes.links.links import without_extension
from notes_mcp.notes.links.moves import Journey
from notes_mcp.notes.links.respelling import beside, respelled, rivals, stays
from notes_mcp.notes.links.spelling import as_markdown, fits_wiki, spellings
from notes_mcp.notes.links.spots import Spot, Spots, spots

SEVERAL = "several files answer to it and only nearness chose between them"
ALIAS = "it is an alias, and what it leads to changes"
NOT_IN_WIKILINK = "a wikilink cannot hold # ^ [ ] or | in a name, and no other link can stand here"
UNWRITABLE = "no way to write the new place here keeps the rest as it is"


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """A link left as it was though its file moved, or though it now leads elsewhere.

    `candidates` are the real paths after the move that it could mean, the likeliest first; `reason` is a clause.
    """

    line: int
    written: str
    candidates: tuple[str, ...]
    reason: str = SEVERAL


class Mended(NamedTuple):
    """Edits to one text in UTF-8, in order, and what was left."""

    edits: tuple[tuple[int, int, bytes], ...]
    ambiguous: tuple[Ambiguous, ...]


@dataclass(slots=True)
class _Change:
    """One spot that must lead to `goal`, and what is left to try there."""

    spot: Spot
    goal: str
    ways: list[bytes] = field(default_factory=list)
    markdown: bool = False  # the whole wikilink becomes a Markdown link

    @property
    def edit(self) -> tuple[int, int, bytes]:
        start, end = self.spot.whole if self.markdown else (self.spot.start, self.spot.end)
        return start, end, self.ways[0]

    @property
    def kind(self) -> tuple[str, str, str]:
        """Kind, anchor and form of the link after it."""
        kind = "image" if self.spot.kind == "embed" else "markdown"
        return kind, self.spot.anchor, "bare"


def mend(utf8: bytes, journey: Journey) -> Mended:
    """The edits that lead the links of a Markdown text right."""
    found = spots(utf8)
    changes: list[_Change] = []
    left: list[Ambiguous] = []
    for spot in found.spots:
        change = _needed(spot, utf8, journey)
        if isinstance(change, Ambiguous):
            left.append(change)
        elif change is not None:
            changes.append(change)
    while changes and (wrong := _misread(utf8, found, changes, journey)):
        for change in wrong:
            del change.ways[0]
        left += [_unwritable(change) for change in changes if not change.ways]
        changes = [change for change in changes if change.ways]
    left.sort(key=lambda one: one.line)
    return Mended(tuple(change.edit for change in changes), tuple(left))


def _needed(spot: Spot, source: bytes, journey: Journey) -> _Change | Ambiguous | None:
    """What has to be done at one spot, if anything."""
    was = journey.was(spot.target, markdown=spot.markdown)
    if was.path is None or was.via == "self":
        return None
    goal = journey.goal(was.path)
    if stays(spot.target, was, goal, journey, markdown=spot.markdown):
        return None
    change = _Change(spot, goal)
    if was.via == "alias" or rivals(spot.target, was, journey.path):
        candidates = tuple(map(journey.goal, was.candidates))
        return Ambiguous(spot.line, spot.written, candidates, ALIAS if was.via == "alias" else SEVERAL)
    target = respelled(spot.target, was, goal, journey, markdown=spot.markdown)
    if target is None or spot.syntax == "none":
        return _unwritable(change)
    if not spot.markdown and not fits_wiki(target) and fits_wiki(spot.target):
        if spot.kind not in ("wiki", "embed"):
            return Ambiguous(spot.line, spot.written, (goal,), NOT_IN_WIKILINK)
        name = without_extension(goal).rpartition("/")[2]
        change.ways, change.markdown = [as_markdown(spot, beside(journey.new_path, goal), name)], True
        return change
    change.ways = [way for way in spellings(target, spot, source, was.path) if way != source[spot.start : spot.end]]
    return change if change.ways else _unwritable(change)


def _unwritable(change: _Change) -> Ambiguous:
    reason = NOT_IN_WIKILINK if change.markdown else UNWRITABLE
    return Ambiguous(change.spot.line, change.spot.written, (change.goal,), reason)


def _misread(utf8: bytes, found: Spots, changes: Sequence[_Change], journey: Journey) -> list[_Change]:
    """The changes after which the text does not say what it should: those to blame, or all if that is not clear."""
    pieces: list[bytes] = []
    done = shift = 0
    places: dict[int, int] = {}  # where a spot starts -> where it will
    by_start = {change.spot.start: change for change in changes}
    for spot in found.spots:
        places[spot.start] = spot.start + shift
        if change := by_start.get(spot.start):
            start, end, way = change.edit
            if change.markdown:
                places[spot.start] = start + shift + way.rindex(b"](") + 2
            pieces += (utf8[done:start], way)
            done = end
            shift += len(way) - (end - start)
    result = spots(b"".join((*pieces, utf8[done:])))
    there = {spot.start: spot for spot in result.spots}
    wrong = [change for change in changes if not _leads_there(change, there.get(places[change.spot.start]), journey)]
    if wrong:
        return wrong
    turned = {change.spot.start: change.kind for change in changes if change.markdown}
    links = [turned.get(start, tuple(link)) for start, *link in found.links]
    same = (
        result.shape == found.shape
        and links == [tuple(link) for _, *link in result.links]
        and all(
            spot.start in by_start or (there.get(places[spot.start]) or spot).target == spot.target
            for spot in found.spots
        )
    )
    return [] if same else list(changes)


def _leads_there(change: _Change, spot: Spot | None, journey: Journey) -> bool:
    was = change.spot
    if change.markdown and spot is not None:
        was = was._replace(syntax="bare", markdown=True)
    if spot is None or (spot.anchor, spot.syntax, spot.markdown) != (was.anchor, was.syntax, was.markdown):
        return False
    return journey.now(spot.target, markdown=spot.markdown).path == change.goal
