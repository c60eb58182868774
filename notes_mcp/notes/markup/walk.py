"""One pass over the parser's events: headings, link places, prose spans, list items, blocks.

Knows CommonMark through pyromark alone and keeps only what carries a place in the source; what it
means (targets, tags, comments) is found by the siblings. Offsets are those of the whole source,
though only the body from `base` on is parsed. Linear: each event is looked at once.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from pyromark import Markdown, Options

from notes_mcp.notes.markup.tags import Span

_PARSER = Markdown(
    options=Options.ENABLE_TABLES
    | Options.ENABLE_FOOTNOTES
    | Options.ENABLE_STRIKETHROUGH
    | Options.ENABLE_TASKLISTS
    | Options.ENABLE_MATH
    | Options.ENABLE_WIKILINKS
)
_CONTAINERS = frozenset(("Item", "List", "BlockQuote", "FootnoteDefinition"))
_PLACED = _CONTAINERS | {"Heading"}
_NAMED = _PLACED | {"Paragraph", "Table", "CodeBlock", "HtmlBlock"}
_LINKS = frozenset(("Link", "Image"))
_MAX_LINK_NESTING = 4  # links in image labels in links …: deeper ones are not anyone's writing


class RawHeading(NamedTuple):
    """A heading outside of containers: its span, the span of what is between its marks, and its plain text."""

    level: int
    start: int
    end: int
    inner_start: int
    inner_end: int
    plain: str


class RawLink(NamedTuple):
    """`label_end`: where the last thing within the label ends. `type` and `destination` as the parser gives them."""

    type: str
    image: bool
    destination: str
    id: str
    start: int
    end: int
    label_end: int


class RawBlock(NamedTuple):
    """A block of the document; `depth` counts the blocks it is in."""

    kind: str
    start: int
    end: int
    depth: int


class Walk:
    """The harvest of one pass. `text` holds the prose spans: sorted, disjoint, outside of links.

    `blocks` is filled only if `with_blocks`: few notes have marks that name one.
    """

    __slots__ = (
        *("_base", "_depth", "_heading", "_links", "_open", "_with_blocks"),
        *("blocks", "headings", "items", "links", "text"),
    )

    def __init__(self, body: str, base: int, with_blocks: bool = True) -> None:
        self.headings: list[RawHeading] = []
        self.links: list[RawLink] = []
        self.text: list[Span] = []
        self.items: list[int] = []
        self.blocks: list[RawBlock] = []
        self._base = base
        self._depth = 0  # how many blocks are open
        self._open = 0  # how many of them are containers
        self._links: list[list[Any]] = []  # open ones: [data, image, start, label_end]
        self._heading: list[Any] | None = None  # the open one: [level, start, end, inner_start, inner_end, pieces]
        self._with_blocks = with_blocks
        self._run(body, _NAMED if with_blocks else _PLACED)

    def _run(self, body: str, blocks: frozenset[str]) -> None:
        base, text, links = self._base, self.text, self._links
        events: Iterable[tuple[Any, Any]] = _PARSER.events_with_range(body, merge_text=True)
        code = False
        for event, span in events:
            # An event is a dict of one key or a bare string; "in" tells them apart faster than a look at the type.
            if "Text" in event:
                if code:
                    continue
                start, end = span["start"] + base, span["end"] + base
                if not links:
                    text.append((start, end))
                if links or self._heading is not None:
                    self._inline(event["Text"], start, end)
            elif "Start" in event:
                value = event["Start"]
                name = value if value.__class__ is str else next(iter(value))
                code = name == "CodeBlock"
                if name in blocks:
                    self._open_block(name, value, span["start"] + base, span["end"] + base)
                elif name in _LINKS:
                    self._open_link(value[name], name == "Image", span["start"] + base, span["end"] + base)
                elif links or self._heading is not None:
                    self._inline("", span["start"] + base, span["start"] + base)
            elif "End" in event:
                value = event["End"]
                name = value if value.__class__ is str else next(iter(value))
                code = code and name != "CodeBlock"
                if name in blocks:
                    self._close_block(name)
                elif name in _LINKS:
                    self._close_link(span["end"] + base)
                elif links or self._heading is not None:
                    self._inline("", span["start"] + base, span["end"] + base)
            elif links or self._heading is not None:
                self._inline(_plain(event), span["start"] + base, span["end"] + base)

    def _inline(self, plain: str, start: int, end: int) -> None:
        if self._links:
            self._links[-1][3] = end
        heading = self._heading
        if heading is not None:
            if heading[3] < 0:
                heading[3] = start
            heading[4] = end
            heading[5].append(plain)

    def _open_block(self, name: str, value: Any, start: int, end: int) -> None:
        if self._with_blocks:
            self.blocks.append(RawBlock(name, start, end, self._depth))
        self._depth += 1
        if name in _CONTAINERS:
            self._open += 1
            if name == "Item":
                self.items.append(start)
        elif name == "Heading" and not self._open:
            self._heading = [int(value[name]["level"][1]), start, end, -1, start, []]

    def _close_block(self, name: str) -> None:
        self._depth -= 1
        if name in _CONTAINERS:
            self._open -= 1
        elif self._heading is not None:
            level, start, end, inner_start, inner_end, pieces = self._heading
            self._heading = None
            if inner_start < 0:  # no words: the place after the marks
                inner_start = inner_end = start + level
            self.headings.append(RawHeading(level, start, end, inner_start, inner_end, "".join(pieces)))

    def _open_link(self, data: Any, image: bool, start: int, end: int) -> None:
        if self._links or self._heading is not None:
            self._inline("", start, end)
        self._links.append([data, image, start, start + 1 + image])

    def _close_link(self, end: int) -> None:
        data, image, start, label_end = self._links.pop()
        if len(self._links) < _MAX_LINK_NESTING:
            kind = data["link_type"]
            kind = kind if isinstance(kind, str) else "WikiLink"
            self.links.append(RawLink(kind, image, data["dest_url"], data["id"], start, end, label_end))


def _plain(event: Any) -> str:
    """What a reader sees of a code span, formula or line break in a heading; nothing of HTML and notes."""
    if isinstance(event, str):
        return " "
    kind, value = next(iter(event.items()))
    return str(value) if kind in ("Code", "InlineMath", "DisplayMath") else ""


def definitions(body: str) -> Mapping[str, Any]:
    """The reference definitions of a text: label -> `{"dest", "title", "span"}`, spans in bytes of the body."""
    return _PARSER.reference_definitions(body)
