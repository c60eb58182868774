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
_PLACED = _CONTAINERS | {"Heading"}
_NAMED = _PLACED | {"Paragraph", "Table", "CodeBlock", "HtmlBlock"}
_BLOCKS = _NAMED | {"TableHead", "TableRow", "TableCell"}
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
        code = False
        for event, span in _PARSER.events_with_range(body, merge_text=True):
            if isinstance(event, str):
                if self._heading is not None or links:
                    self._inline(" ", span["start"] + base, span["end"] + base)
                continue
            kind: str
            value: Any
            ((kind, value),) = event.items()
            if kind == "Text":
                if code:
                    continue
                start, end = span["start"] + base, span["end"] + base
                if not links:
                    text.append((start, end))
                if links or self._heading is not None:
                    self._inline(value, start, end)
            elif kind == "Start":
                (name,) = (value,) if isinstance(value, str) else value
                code = name == "CodeBlock"
                if name in blocks:
                    self._open_block(name, value, span["start"] + base, span["end"] + base)
                elif name not in _BLOCKS:
                    self._open_inline(name, value, span["start"] + base, span["end"] + base)
            elif kind == "End":
                (name,) = (value,) if isinstance(value, str) else value
                code = code and name != "CodeBlock"
                if name in blocks:
                    self._close_block(name)
                elif name not in _BLOCKS:
                    self._close_inline(name, span["start"] + base, span["end"] + base)
            elif links or self._heading is not None:
                plain = kind == "Code" or kind.endswith("Math")
                self._inline(value if plain else "", span["start"] + base, span["end"] + base)

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

    def _open_inline(self, name: str, value: Any, start: int, end: int) -> None:
        if name in ("Link", "Image"):
            self._inline("", start, end)
            image = name == "Image"
            self._links.append([value[name], image, start, start + 1 + image])
        elif self._links or self._heading is not None:
            self._inline("", start, start)

    def _close_inline(self, name: str, start: int, end: int) -> None:
        if name in ("Link", "Image"):
            data, image, link_start, label_end = self._links.pop()
            if len(self._links) < _MAX_LINK_NESTING:
                kind = data["link_type"]
                kind = kind if isinstance(kind, str) else "WikiLink"
                self.links.append(RawLink(kind, image, data["dest_url"], data["id"], link_start, end, label_end))
        if self._links or self._heading is not None:
            self._inline("", start, end)


def definitions(body: str) -> Mapping[str, Any]:
    """The reference definitions of a text: label -> `{"dest", "title", "span"}`, spans in bytes of the body."""
    return _PARSER.reference_definitions(body)
