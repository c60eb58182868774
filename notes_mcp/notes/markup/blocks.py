"""Obsidian's block marks: `^id` at the end of a line, and which block of the document each one names.

Marks are looked for in the whole source and kept where they stand in prose; blocks come from the
walk in document order. Source: help.obsidian.md/links, "Link to a block in a note". Pure, linear.
"""

import re
from collections.abc import Sequence

from notes_mcp.notes.markup.tags import Span, containing
from notes_mcp.notes.markup.targets import as_text
from notes_mcp.notes.markup.walk import RawBlock

Mark = tuple[str, int, int]
"""The id without "^", and the span of the mark with it."""

_MARK = re.compile(rb"\^(?<![^\s]\^)([A-Za-z0-9-]+)(?=[ \t]*(?:[\r\n]|\Z))")


def block_marks(source: bytes, body_start: int, text: Sequence[Span]) -> list[Mark]:
    """The marks that end a line of prose, in source order."""
    return [
        (as_text(found[1]), found.start(), found.end())
        for found in _MARK.finditer(source, body_start)
        if containing(text, found.start()) is not None
    ]


def named_blocks(source: bytes, blocks: Sequence[RawBlock], marks: Sequence[Mark]) -> list[Span]:
    """For each mark the span of the block it names.

    That is the innermost block it stands in; the list item, if that is an item's first paragraph; the
    block before, if the mark is a paragraph of its own (the way to name a table, list, quote or code).
    """
    named: list[Span] = []
    path: list[RawBlock] = []  # the blocks around the place reached so far
    before: dict[int, RawBlock | None] = {}  # per depth, the sibling that was closed last
    following = 0
    for _, start, end in marks:
        while following < len(blocks) and blocks[following].start <= start:
            block = blocks[following]
            following += 1
            _close(path, before, block.depth, block.start)
            path.append(block)
            before[block.depth + 1] = None
        _close(path, before, len(path), start)
        named.append(_named(source, path, before, start, end))
    return named


def _close(path: list[RawBlock], before: dict[int, RawBlock | None], depth: int, offset: int) -> None:
    while path and (len(path) > depth or path[-1].end <= offset):
        closed = path.pop()
        before[closed.depth] = closed


def _named(source: bytes, path: list[RawBlock], before: dict[int, RawBlock | None], start: int, end: int) -> Span:
    if not path:
        return start, end
    block = path[-1]
    if block.kind == "Paragraph":
        sibling = before.get(block.depth)
        if block.start == start and sibling is not None and not source[end : block.end].strip():
            return sibling.start, sibling.end
        if sibling is None and len(path) > 1 and path[-2].kind == "Item":
            block = path[-2]
    return block.start, block.end
