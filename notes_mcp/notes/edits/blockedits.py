"""Edits of the block that a `^id` names: put beside it, replaced, deleted. Its mark is kept with it.

A mark stands at the end of a line of its block, or on a line of its own below (tables, lists, quotes, code).
Whether a block is still the same block after an edit is asked of the scanner, never guessed. Pure.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from notes_mcp.errors import InvalidRequestError
from notes_mcp.notes.edits import seams
from notes_mcp.notes.edits.sectionedits import Note, gone
from notes_mcp.notes.markup import markdown
from notes_mcp.notes.markup.sections import Section
from notes_mcp.notes.markup.spans import Block
from notes_mcp.notes.text import Edit, Text


@dataclass(frozen=True)
class Named:
    """A block in its note. `end` is past the block's last line, `whole_end` past the line with its mark."""

    note: Note
    block: Block
    end: int
    whole_end: int

    @property
    def has_own_line(self) -> bool:
        """Whether the mark stands below the block instead of in it."""
        return self.block.mark_start >= self.end


def named(note: Note, section: Section) -> Named:
    """The block that a section of level 0 is."""
    block = next(b for b in note.scan.blocks if b.start == section.start and f"^{b.id}" == section.heading)
    end = _line_end(note.text, block.end)
    return Named(note, block, end, max(end, _line_end(note.text, block.mark_end)))


def append(at: Named, new: str) -> Edit:
    """`new` as the block's last lines where its mark stands below it, else behind it."""
    return seams.put_lines(at.note.text, at.end, new) if at.has_own_line else after(at, new)


def before(at: Named, new: str) -> Edit:
    """`new` above the block; a blank line between, if the block would take it in."""
    text, start = at.note.text, at.block.start
    plain = seams.put_lines(text, start, new)
    shift = len(_after(at, plain)) - len(text.utf8)
    return plain if _kept(at, plain, shift) else seams.put_lines(text, start, new, parted=True)


def after(at: Named, new: str) -> Edit:
    """`new` behind the block and its mark; a blank line between, where one of the two would take it in."""
    text, parted = at.note.text, at.note.parted(at.whole_end)
    plain = seams.put_lines(text, at.whole_end, new, parted=parted)
    if not at.has_own_line and _kept(at, plain, 0):
        return plain
    return seams.put_lines(text, at.whole_end, "\n" + new, parted=parted)


def replace(at: Named, new: str) -> Edit:
    """`new` in place of exactly that block. Its mark stays, unless `new` brings it.

    Raises InvalidRequestError for text without words, and where the mark would not name the new text.
    """
    text, block = at.note.text, at.block
    new = seams.without_trailing_blank_lines(seams.without_leading_blank_lines(new))
    if not new.strip(" \t\n"):
        raise InvalidRequestError(f"The text is empty; to take out the block ^{block.id}, send delete_section.")
    if any(other.id == block.id for other in markdown.scan(new.encode("utf-8", "replace")).blocks):
        return seams.exchange(text, block.start, at.whole_end, _ended(text, at.whole_end, new))
    if at.has_own_line:
        return seams.exchange(text, block.start, at.end, _ended(text, at.end, new))
    for marked in _marked(at, new):
        edit = seams.exchange(text, block.start, at.end, _ended(text, at.end, marked))
        if _names(at, edit):
            return edit
    raise InvalidRequestError(
        f"The mark ^{block.id} would not name the new text wherever it is put, and links to it would break. "
        f"Send the text with ^{block.id} where it belongs."
    )


def delete(at: Named) -> Edit:
    """The block and its mark gone."""
    return gone(at.note, at.block.start, at.whole_end)


def _marked(at: Named, new: str) -> Iterator[str]:
    """Where the mark may go, the likeliest place first."""
    mark = f"^{at.block.id}"
    first, line_end, rest = new.partition("\n")
    in_last_line = at.block.mark_end > at.note.text.line_span(at.note.text.line_of(at.end - 1))[0]
    if rest and not in_last_line:
        yield f"{first} {mark}{line_end}{rest}"
    yield f"{new} {mark}"
    yield f"{new}\n\n{mark}"


def _names(at: Named, edit: Edit) -> bool:
    """Whether the mark is still there once, and names something within the new text."""
    after_edit = _after(at, edit)
    end = len(after_edit) - (len(at.note.text.utf8) - at.end)
    before = [block for block in at.note.scan.blocks if block.id == at.block.id]
    now = [block for block in markdown.scan(after_edit).blocks if block.id == at.block.id]
    return len(now) == len(before) and any(at.block.start <= block.start and block.mark_end <= end for block in now)


def _kept(at: Named, edit: Edit, shift: int) -> bool:
    """Whether the block is the same after the edit, `shift` bytes further down."""
    block = at.block
    wanted = (block.start + shift, block.end + shift, block.mark_start + shift)
    return any(
        (b.start, b.end, b.mark_start) == wanted and b.id == block.id for b in markdown.scan(_after(at, edit)).blocks
    )


def _after(at: Named, edit: Edit) -> bytes:
    return Text.decode(at.note.text.splice([edit])).utf8


def _ended(text: Text, end: int, new: str) -> str:
    """`new` with a line end if the line it takes the place of has one."""
    return new + "\n" if text.utf8[end - 1 : end] in (b"\n", b"\r") else new


def _line_end(text: Text, offset: int) -> int:
    """`offset` if a line begins there, else the start of the next line."""
    return text.line_span(text.line_of(max(offset - 1, 0)))[1]
