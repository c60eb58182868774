"""Markdown text -> headings, links, tags, tasks, blocks and comments, each with its place in the source.

`scan(utf8)` takes the text in UTF-8 without byte order mark (`Text.utf8`; bytes that are not valid
count as unknown characters) and never fails. CommonMark 0.31 with tables, footnotes and mathematics
by pyromark, plus what Obsidian adds. What is in code, comments, HTML or front matter is not Markdown;
only links in front matter values are seen. Linear in the size of the text. Pure, no I/O.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from notes_mcp.notes.markup import comments as obsidian_comments
from notes_mcp.notes.markup import tags as obsidian_tags
from notes_mcp.notes.markup.blocks import block_marks, named_blocks
from notes_mcp.notes.markup.spans import Block, Heading, Link, LinkKind, MarkdownScan, Tag, Task
from notes_mcp.notes.markup.tags import Span, is_tag
from notes_mcp.notes.markup.targets import UNKNOWN, Target, as_text, definition, in_properties, inline, label, wiki
from notes_mcp.notes.markup.walk import RawLink, Walk, definitions

__all__ = [
    "Block",
    "Heading",
    "Link",
    "MarkdownScan",
    "Tag",
    "Task",
    "front_matter",
    "is_tag",
    "prose",
    "scan",
]

_OPENING_FENCE = re.compile(rb"---[ \t]*(?:\r\n|\n|\r)")
_CLOSING_FENCE = re.compile(rb"(?<=[\r\n])(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)")
_LONE_CR = re.compile(rb"\r(?!\n)")
_LINE_END = re.compile(rb"[\r\n]|\Z")
_BLOCK_MARK = re.compile(r"(?:^|(?<=\s))\^[A-Za-z0-9-]+\s*\Z")
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_Placed: TypeAlias = tuple[int, int, LinkKind, Target, str]  # start, minus end: an outer link before those in it
# Tried at the start of each run alone: a picture in base64 is one run of a million letters.
_WEB_ADDRESS = re.compile(rb"(?<![A-Za-z0-9+.-])[0-9+.-]*+([A-Za-z][A-Za-z0-9+.-]*+://[^\s<>]*)")
_COMMENT_ROUNDS = 2  # a comment may hold half a fence, which hid others from the first pass


def scan(utf8: bytes) -> MarkdownScan:
    """All that is in a note's text, front matter included. Never raises; spans as `notes.spans` says."""
    properties = front_matter(utf8)
    base = properties[1] if properties else 0
    source, found, hidden = _walked(utf8, base, with_blocks=utf8.find(b"^", base) >= 0)
    return MarkdownScan(
        front_matter=properties,
        body_start=base,
        size=len(utf8),
        headings=tuple(_headings(utf8, found)),
        links=tuple(_links(utf8, source, base, found)),
        tags=tuple(_tags(source, base, found)),
        tasks=tuple(_tasks(utf8, source, found)),
        blocks=tuple(_blocks(source, base, found)),
        comments=tuple(sorted(hidden)),
    )


def prose(utf8: bytes) -> list[Span]:
    """The stretches that a reader reads as text: sorted, disjoint, with no code, link, tag, web address, comment,
    HTML or front matter in them."""
    properties = front_matter(utf8)
    base = properties[1] if properties else 0
    source, found, hidden = _walked(utf8, base, with_blocks=False)
    cuts = [*hidden, *(match.span(1) for match in _WEB_ADDRESS.finditer(source, base))]
    cuts += [(start, end) for _, start, end, _ in obsidian_tags.tags(source, base, found.text)]
    return list(_without(found.text, sorted(cuts)))


def front_matter(utf8: bytes) -> Span | None:
    """The span of the front matter, both fence lines included; None if the text does not begin with one.

    It opens with a first line `---` and ends with the next line `---` or `...`; one that is never closed is none.
    """
    opening = _OPENING_FENCE.match(utf8)
    closing = _CLOSING_FENCE.search(utf8, opening.end()) if opening else None
    return (0, closing.end()) if closing else None


def _walked(utf8: bytes, base: int, *, with_blocks: bool) -> tuple[bytes, Walk, list[Span]]:
    """The body's harvest, the source it was made from (comments blanked out), and the spans of the comments."""
    source, found = utf8, Walk(_decoded(utf8, base), base, with_blocks)
    hidden: list[Span] = []
    for _ in range(_COMMENT_ROUNDS if utf8.find(b"%%", base) >= 0 else 0):
        spans = obsidian_comments.comments(source, base, found.text)
        if not spans:
            break
        hidden += spans
        source = obsidian_comments.blanked(source, spans)
        found = Walk(_decoded(source, base), base, with_blocks)
    return source, found, hidden


def _without(spans: Iterable[Span], cuts: Sequence[Span]) -> Iterator[Span]:
    """`spans` less what is in `cuts`; both sorted."""
    first = 0
    for start, end in spans:
        while first < len(cuts) and cuts[first][1] <= start:
            first += 1
        at = first
        while at < len(cuts) and cuts[at][0] < end:
            if start < cuts[at][0]:
                yield start, cuts[at][0]
            start = max(start, cuts[at][1])
            at += 1
        if start < end:
            yield start, end


class _Lines:
    """Byte offset -> 1-based line. Cheap for offsets that come in order; any order is right."""

    def __init__(self, source: bytes) -> None:
        self._source = _LONE_CR.sub(b"\n", source) if b"\r" in source else source
        self._at = 0
        self._line = 1

    def of(self, offset: int) -> int:
        if offset < self._at:
            self._line -= self._source.count(b"\n", offset, self._at)
        else:
            self._line += self._source.count(b"\n", self._at, offset)
        self._at = offset
        return self._line


def _decoded(source: bytes, base: int) -> str:
    """The body as text in which every character is as many bytes long as in the source."""
    body = source[base:]
    try:
        return body.decode()
    except UnicodeDecodeError:
        return _NOT_UTF8.sub(UNKNOWN, body.decode("utf-8", "surrogateescape"))


def _line_start(source: bytes, offset: int) -> int:
    while offset and source[offset - 1] not in b"\r\n":
        offset -= 1
    return offset


def _past_last_word(source: bytes, offset: int) -> int:
    """The end of the last line before `offset` that is not blank, its line end included."""
    while offset and source[offset - 1] in b" \t\r\n":
        offset -= 1
    end = _line_end(source, offset)
    return end + (2 if source[end : end + 2] == b"\r\n" else 1 if end < len(source) else 0)


def _line_end(source: bytes, offset: int) -> int:
    end = _LINE_END.search(source, offset)
    return end.start() if end else len(source)


def _headings(source: bytes, found: Walk) -> Iterator[Heading]:
    lines = _Lines(source)
    for level, start, end, raw_start, raw_end, plain in found.headings:
        raw = as_text(source[raw_start:raw_end])
        text = plain if plain.isalnum() and plain.isascii() else _heading_text(plain)
        yield Heading(level, text, raw, lines.of(start), _line_start(source, start), end, raw_start, raw_end)


def _heading_text(plain: str) -> str:
    """What a reader sees of a heading, its block mark left out."""
    text = plain.replace("\x01", "").replace(UNKNOWN, "\ufffd")
    mark = _BLOCK_MARK.search(text) if "^" in text else None
    return " ".join((text[: mark.start()] if mark else text).split())


def _links(source: bytes, masked: bytes, base: int, found: Walk) -> Iterator[Link]:
    links: list[_Placed] = []
    if base:
        links += [
            (start, -end, "property", target, target.text) for start, end, target in in_properties(source, 0, base)
        ]
    defined: dict[str, Target] = {}
    if b"]:" in masked:
        for key, data in definitions(_decoded(masked, base)).items():
            start, end = data["span"]["start"] + base, data["span"]["end"] + base
            target = definition(source, start, end, data["dest"])
            if target is not None:
                defined[label(key)] = target
                links.append((start, -end, "definition", target, target.text))
    for raw in found.links:
        placed = _placed(source, raw, defined)
        if placed is not None:
            links.append(placed)
    links.sort()
    lines = _Lines(source)
    for start, minus_end, kind, (name, anchor, _, target_start, target_end, form), text in links:
        yield Link(kind, name, anchor, text, lines.of(start), start, -minus_end, target_start, target_end, form)


def _placed(source: bytes, raw: RawLink, defined: dict[str, Target]) -> _Placed | None:
    type_, image, destination, id_, start, end, label_end = raw
    if type_ == "WikiLink":
        target = wiki(source, start + image, end)
        return (start, -end, "embed" if image else "wiki", target, target.text) if target else None
    if type_ == "Inline":
        target = inline(source, label_end, end, destination)
        kind: LinkKind = "image" if image else "markdown"
    else:
        target = defined.get(label(id_))  # else an autolink, an e-mail address, or defined as a web address
        kind = "reference"
        if type_ == "Collapsed" and source[end : end + 2] == b"[]":
            end += 2
    return (start, -end, kind, target, as_text(source[start + 1 + image : label_end])) if target else None


def _tags(source: bytes, base: int, found: Walk) -> Iterator[Tag]:
    lines = _Lines(source)
    for name, start, end, colour_like in obsidian_tags.tags(source, base, found.text):
        yield Tag(name, lines.of(start), start, end, colour_like)


def _tasks(source: bytes, masked: bytes, found: Walk) -> Iterator[Task]:
    lines = _Lines(source)
    for start in found.items:
        box = obsidian_tags.box(masked, start)
        if box is None:
            continue
        end = _line_end(source, box.end())
        status = as_text(box[1])
        text = as_text(source[box.end() : end]).strip()
        yield Task(status in "xX-", status, text, lines.of(start), start, end, *box.span(1))


def _blocks(source: bytes, base: int, found: Walk) -> list[Block]:
    marks = block_marks(source, base, found.text) if source.find(b"^", base) >= 0 else []
    homes = named_blocks(source, found.blocks, marks)
    lines = _Lines(source)
    at = {start: (_line_start(source, start), lines.of(start)) for start in sorted({home[0] for home in homes})}
    past = {end: _past_last_word(source, end) for end in {home[1] for home in homes}}
    return [
        Block(name, at[start][1], at[start][0], past[end], mark_start, mark_end)
        for (name, mark_start, mark_end), (start, end) in zip(marks, homes, strict=True)
    ]
