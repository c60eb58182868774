"""Tags of one note put in, taken out and renamed: those in the front matter and `#tags` in the text.

The front matter's are `propertyedit`'s work; those in the text are where the scan found them, so code,
links, URLs, comments and headings' marks are never taken for tags. Every byte outside of a changed tag
stays, but for the blanks a removed one leaves behind. Pure.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from notes_mcp.errors import InvalidRequestError
from notes_mcp.notes.edits.sectionedits import Note, gone
from notes_mcp.notes.markup.spans import Tag
from notes_mcp.notes.markup.tags import is_tag
from notes_mcp.notes.properties import properties, propertyedit
from notes_mcp.notes.properties.tagsplice import TagChange
from notes_mcp.notes.text import Edit, Text

Action: TypeAlias = Literal["add", "remove", "rename"]
Span = tuple[int, int]

_EMPHASIS = b"*_~="
_BLANKS = b" \t"


@dataclass(frozen=True, slots=True)
class Tagged:
    """The note's new bytes, and in how many places a tag was put in, taken out or renamed."""

    data: bytes
    count: int


def wanted(action: Action, tags: Sequence[str], new_tag: str | None = None) -> TagChange:
    """What is asked for, with or without "#". Raises InvalidRequestError for what is no tag or does not fit the action.

    Several tags renamed to one become one tag.
    """
    bare = tuple(dict.fromkeys(properties.bare_tag(tag) for tag in tags))
    if not bare or not all(bare):
        raise InvalidRequestError("tags holds no tag, or an empty one; give at least one, such as project/alpha.")
    if action != "rename":
        if new_tag:
            raise InvalidRequestError(f"new_tag goes with action=rename, not with {action}.")
        return TagChange(add=tuple(map(_proper, bare))) if action == "add" else TagChange(remove=bare)
    if not new_tag:
        raise InvalidRequestError("rename needs new_tag, the name that takes the place of the old one.")
    new = _proper(properties.bare_tag(new_tag))
    # The longest first, so that a/b is not taken for a child of a where both are renamed.
    return TagChange(rename=tuple((old, new) for old in sorted(bare, key=lambda tag: -tag.count("/"))))


def apply(path: str, data: bytes, change: TagChange) -> Tagged:
    """The note at `path` after `change`; the same bytes and 0 if there is nothing to do.

    - add: into the front matter (made if missing), unless the note has that tag already, there or in its text.
    - remove: that tag everywhere in the note, in the text the whole `#tag`; tags below it (`a/b` of `a`) stay.
    - rename: that tag and all below it (`a/x` becomes `b/x`), whatever case they are written in.

    Raises NotTextError for a note that is not valid, InvalidRequestError for one that is not Markdown or whose
    front matter does not parse, unless the tags in its text are all there is to change.
    """
    text = Text.decode(data)
    text.require_valid()
    note = Note(path, text)
    if not note.is_markdown:
        raise InvalidRequestError(f"{path} is not Markdown, so it has no tags that could be changed.")
    edits, count = _in_text(note, change)
    there = {tag.name.casefold() for tag in note.scan.tags}
    change = TagChange(tuple(tag for tag in change.add if tag.casefold() not in there), change.remove, change.rename)
    if change.add or not count or properties.of(text).error is None:
        front, more = propertyedit.edit_tags(text, change)
        edits, count = [*front, *edits], count + more
    return Tagged(text.splice(edits), count)


def _proper(tag: str) -> str:
    if not is_tag(tag):
        raise InvalidRequestError(
            f"#{tag} is no tag: a tag has letters, digits, _ and -, / between levels, and not only digits."
        )
    return tag


def _in_text(note: Note, change: TagChange) -> tuple[list[Edit], int]:
    edits: list[Edit] = []
    removed: list[Tag] = []
    for tag in note.scan.tags:
        new = change.renamed(tag.name)
        if new is None:
            removed.append(tag)
        elif new != tag.name:
            edits.append((tag.start + 1, tag.end, new))
    return [*edits, *_taken_out(note, removed)], len(edits) + len(removed)


def _taken_out(note: Note, tags: Iterable[Tag]) -> Iterator[Edit]:
    """Lines that hold nothing else go as a whole; elsewhere the blanks on one side go with the tag."""
    text = note.text
    by_line: dict[Span, list[Span]] = {}
    for tag in tags:
        line = text.line_span(text.line_of(tag.start))
        by_line.setdefault(line, []).append(_with_emphasis(text.utf8, line, tag))
    whole: list[Span] = []
    for line, spans in by_line.items():
        if _rest(text.utf8, line, spans).strip():
            yield from _apart(text.utf8, line, spans)
        elif whole and not text.utf8[whole[-1][1] : line[0]].strip():
            whole[-1] = (whole[-1][0], line[1])
        else:
            whole.append(line)
    yield from (gone(note, *lines) for lines in whole)


def _with_emphasis(utf8: bytes, line: Span, tag: Tag) -> Span:
    """The tag and the marks that emphasise nothing else, as in `**#tag**`."""
    start, end = tag.start, tag.end
    while line[0] < start and end < line[1] and utf8[start - 1] == utf8[end] and utf8[end] in _EMPHASIS:
        start, end = start - 1, end + 1
    return start, end


def _rest(utf8: bytes, line: Span, spans: Sequence[Span]) -> bytes:
    pieces, done = [], line[0]
    for start, end in spans:
        pieces.append(utf8[done:start])
        done = end
    return b"".join((*pieces, utf8[done : line[1]]))


def _apart(utf8: bytes, line: Span, spans: Sequence[Span]) -> Iterator[Edit]:
    """Each span with the blanks behind it, or those before it where none are behind or the line is over."""
    content_end = line[0] + len(utf8[slice(*line)].rstrip(b" \t\r\n"))
    for start, end in _joined(utf8, spans):
        behind = end
        while behind < content_end and utf8[behind] in _BLANKS:
            behind += 1
        if behind > end:
            yield start, behind, b""
            continue
        front = start
        while line[0] < front and utf8[front - 1] in _BLANKS:
            front -= 1
        # Indentation stays, and the blank behind a list marker, if something follows.
        keeps = front == line[0] or (
            end < content_end and utf8[front - 1] < 0x80 and not utf8[front - 1 : front].isalnum()
        )
        yield (start if keeps else front), end, b""


def _joined(utf8: bytes, spans: Sequence[Span]) -> list[Span]:
    joined = [spans[0]]
    for start, end in spans[1:]:
        if utf8[joined[-1][1] : start].strip(_BLANKS):
            joined.append((start, end))
        else:
            joined[-1] = (joined[-1][0], end)
    return joined
