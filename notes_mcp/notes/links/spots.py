"""Where in a Markdown text a link's target could be rewritten, and in which syntax it stands there.

The scan finds links in front matter as they stand in the source; here they are read as YAML reads them,
and told apart by the quotes around them, since what is written there must be escaped for those. The same
reading before and after an edit is what an edit is checked by. Pure.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from notes_mcp.notes.markup.markdown import scan
from notes_mcp.notes.markup.spans import Link, MarkdownScan
from notes_mcp.notes.properties import yamltree
from notes_mcp.notes.properties.properties import inside
from notes_mcp.notes.properties.yamltree import Node, Scalar, YamlError

Syntax: TypeAlias = Literal["wiki", "bare", "angle", "plain", "single", "double", "none"]
"""How a target is written: in `[[ ]]`, percent-encoded, in `<>`; in front matter by the quotes of its scalar, or
"none" where it is no part of one value (a key, a comment, a block that does not parse)."""

_QUOTES: dict[str, Syntax] = {"'": "single", '"': "double"}
_MARKDOWN_KINDS = frozenset(("markdown", "image", "reference", "definition"))


class Spot(NamedTuple):
    """The target of a link: source bytes `start:end` say `target`, without `anchor`, in `syntax`."""

    start: int
    end: int
    target: str
    anchor: str
    syntax: Syntax
    markdown: bool  # whether it resolves as a Markdown link does
    line: int
    written: str  # the whole link
    kind: str
    whole: tuple[int, int]  # the span of the whole link
    text: str  # as the scan has it


@dataclass(frozen=True, slots=True)
class Spots:
    """The spots of one text in source order, each once, and a tally of all else an edit must not change.

    `links`: where the target of each link starts, with the link's kind, anchor and form.
    """

    spots: tuple[Spot, ...]
    links: tuple[tuple[int, str, str, str], ...]
    shape: tuple[object, ...]


def spots(utf8: bytes) -> Spots:
    """All rewritable targets of a text in UTF-8; those that point into the note itself are left out. Never raises."""
    found = scan(utf8)
    styles: list[_Value] | None = []
    if any(link.kind == "property" for link in found.links):
        styles = _values(utf8)
    seen: dict[int, Spot] = {}
    for link in found.links:
        # A definition and its uses are one spot; the definition comes with the span of what is written there.
        if link.target and (link.target_start not in seen or link.kind == "definition"):
            seen[link.target_start] = _spot(utf8, link, styles)
    links = tuple((link.target_start, link.kind, link.anchor, link.form) for link in found.links)
    return Spots(tuple(seen[start] for start in sorted(seen)), links, _shape(found, styles))


class _Value(NamedTuple):
    """A scalar in the front matter, in bytes of the text."""

    start: int
    end: int
    style: str


def _spot(utf8: bytes, link: Link, values: "list[_Value] | None") -> Spot:
    written = utf8[link.start : link.end].decode("utf-8", "replace")
    syntax: Syntax = link.form
    target = link.target
    if link.kind == "property":
        syntax = _syntax(link, values)
        target = _unescaped(utf8[link.target_start : link.target_end].decode("utf-8", "replace"), syntax)
    markdown = link.kind in _MARKDOWN_KINDS
    whole = (link.start, link.end)
    return Spot(
        link.target_start, link.target_end, target, link.anchor, syntax, markdown, link.line, written,
        link.kind, whole, link.text,
    )  # fmt: skip


def _syntax(link: Link, values: "list[_Value] | None") -> Syntax:
    for value in values or ():
        if value.start <= link.target_start and link.target_end <= value.end:
            return _QUOTES.get(value.style, "plain")
    return "none"


def _unescaped(target: str, syntax: Syntax) -> str:
    if syntax == "single":
        return target.replace("''", "'")
    if syntax != "double" or "\\" not in target:
        return target
    try:
        node = yamltree.compose(f'"{target}"')
    except YamlError:
        return target
    return node.text.strip() if isinstance(node, Scalar) else target


def _values(utf8: bytes) -> "list[_Value] | None":
    """The scalar values of the front matter in order; None if it does not parse."""
    span = inside(utf8)
    assert span is not None
    front = utf8[slice(*span)].decode("utf-8", "replace")
    try:
        root = yamltree.compose(front)
    except YamlError:
        return None
    scalars = sorted(_scalars(root), key=lambda scalar: scalar.start) if root else []
    values: list[_Value] = []
    at, char = span[0], 0
    for scalar in scalars:
        start = at + len(front[char : scalar.start].encode())
        at, char = start + len(front[scalar.start : scalar.end].encode()), scalar.end
        values.append(_Value(start, at, scalar.style))
    return values


def _scalars(node: Node) -> Iterator[Scalar]:
    if isinstance(node, Scalar):
        yield node
    elif isinstance(node, yamltree.Sequence):
        for item in node.items:
            yield from _scalars(item)
    elif isinstance(node, yamltree.Mapping):
        for _, value in node.pairs:
            yield from _scalars(value)


def _shape(found: MarkdownScan, values: "list[_Value] | None") -> tuple[object, ...]:
    return (
        [heading.level for heading in found.headings],
        [tag.name for tag in found.tags],
        [task.status for task in found.tasks],
        [block.id for block in found.blocks],
        len(found.comments),
        None if values is None else [value.style for value in values],
    )
