"""One pass over the parser's events: headings, link places, prose spans, list items, blocks.

Knows CommonMark through pyromark alone and keeps only what carries a place in the source; what it
means (targets, tags, comments) is found by the siblings. Offsets are those of the whole source,
though only the body from `base` on is parsed. Linear: each event is looked at once.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pyromark import Markdown, Options

from notes_mcp.notes.tags import Span

_PARSER = Markdown(
    options=Options.ENABLE_TABLES
    | Options.ENABLE_FOOTNOTES
    | Options.ENABLE_STRIKETHROUGH
    | Options.ENABLE_TASKLISTS
    | Options.ENABLE_MATH
    | Options.ENABLE_WIKILINKS
)
_CONTAINERS = frozenset(("Item", "List", "BlockQuote", "FootnoteDefinition"))
_BLOCKS = frozenset(("Paragraph", "Item", "Heading", "Table", "CodeBlock", "BlockQuote", "List", "HtmlBlock"))
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
    """The harvest of one pass. `text` holds the prose spans: sorted, disjoint, outside of links."""

    __slots__ = ("_base", "_depth", "_heading", "_links", "_open", "blocks", "headings", "items", "links", "text")

    def __init__(self, body: str, base: int) -> None:
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
        self._run(body)

    def _run(self, body: str) -> None:
        base = self._base
        code = False
        for event, span in _PARSER.events_with_range(body, merge_text=True):
            start, end = span["start"] + base, span["end"] + base
            if isinstance(event, str):
                self._inline(" ", start, end)
                continue
            kind: str
            value: Any
            kind, value = next(iter(event.items()))
            if kind == "Text":
                if code:
                    continue
                if not self._links:
                    self.text.append((start, end))
                self._inline(value, start, end)
            elif kind == "Start":
                if isinstance(value, str):
                    self._enter(value, None, start, end)
                else:
                    name, data = next(iter(value.items()))
                    code = name == "CodeBlock"
                    self._enter(name, data, start, end)
            elif kind == "End":
                name = value if isinstance(value, str) else next(iter(value))
                code = code and name != "CodeBlock"
                self._leave(name, start, end)
            elif kind == "Code" or kind.endswith("Math"):
                self._inline(value, start, end)
            else:
                self._inline("", start, end)

    def _inline(self, plain: str, start: int, end: int) -> None:
        if self._links:
            self._links[-1][3] = end
        heading = self._heading
        if heading is not None:
            if heading[3] < 0:
                heading[3] = start
            heading[4] = end
            heading[5].append(plain)

    def _enter(self, name: str, data: Any, start: int, end: int) -> None:
        if name in _BLOCKS:
            self.blocks.append(RawBlock(name, start, end, self._depth))
            self._depth += 1
            if name in _CONTAINERS:
                self._open += 1
                if name == "Item":
                    self.items.append(start)
            elif name == "Heading" and not self._open:
                self._heading = [int(data["level"][1]), start, end, -1, start, []]
            return
        if name == "FootnoteDefinition":
            self._open += 1
            return
        self._inline("", start, end if name in ("Link", "Image") else start)
        if name in ("Link", "Image"):
            image = name == "Image"
            self._links.append([data, image, start, start + 1 + image])

    def _leave(self, name: str, start: int, end: int) -> None:
        if name in _BLOCKS:
            self._depth -= 1
            if name in _CONTAINERS:
                self._open -= 1
            elif self._heading is not None:
                level, heading_start, heading_end, inner_start, inner_end, pieces = self._heading
                self._heading = None
                if inner_start < 0:  # no words: the place after the marks
                    inner_start = inner_end = heading_start + level
                plain = "".join(pieces)
                self.headings.append(RawHeading(level, heading_start, heading_end, inner_start, inner_end, plain))
            return
        if name == "FootnoteDefinition":
            self._open -= 1
            return
        if name in ("Link", "Image"):
            data, image, link_start, label_end = self._links.pop()
            if len(self._links) < _MAX_LINK_NESTING:
                kind = data["link_type"]
                kind = kind if isinstance(kind, str) else "WikiLink"
                self.links.append(RawLink(kind, image, data["dest_url"], data["id"], link_start, end, label_end))
        self._inline("", start, end)


def definitions(body: str) -> Mapping[str, Any]:
    """The reference definitions of a text: label -> `{"dest", "title", "span"}`, spans in bytes of the body."""
    return _PARSER.reference_definitions(body)
