"""A part of a note that fits an answer: cut at line borders, or within a line that alone is too long. Pure."""

import re
from dataclasses import dataclass

from notes_mcp.errors import InvalidRequestError
from notes_mcp.notes.text import Text

_LAST_LINE_END = re.compile(r".*(?:\r\n|\n|\r(?!\n|\Z))", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Window:
    """What is shown: `text`, and the lines it touches. `next_line` and `next_char` (1-based) say where the rest
    begins; `next_line` is None when nothing is left, `next_char` None when it begins with its line.
    """

    text: str
    first_line: int
    last_line: int
    next_line: int | None = None
    next_char: int | None = None


def cut(text: Text, start: int, end: int, max_chars: int) -> Window:
    """The span `start:end` (bytes of `text.utf8`, which must be valid) from its front, at most `max_chars` of it."""
    first = text.line_of(start)
    piece = text.utf8[start : min(end, start + 4 * max_chars)].decode("utf-8", "ignore")
    if len(piece) <= max_chars and start + len(piece.encode()) == end:
        return Window(piece, first, max(first, text.line_of(end - 1)) if end > start else first)
    piece = piece[:max_chars]
    whole_lines = _LAST_LINE_END.match(piece)
    if whole_lines:
        piece = whole_lines[0]
    elif piece.endswith("\r") and len(piece) > 1:
        piece = piece[:-1]
    stop = start + len(piece.encode())
    following = text.line_of(stop)
    line_start, _ = text.line_span(following)
    if stop == line_start:
        return Window(piece, first, following - 1, following)
    passed = len(text.utf8[line_start:stop].decode())
    return Window(piece, first, following, following, passed + 1)


def place(text: Text, span: tuple[int, int], line: int | None, char: int | None) -> int:
    """The byte offset within `span` where reading starts. Raises InvalidRequestError if that is not within it."""
    start, end = span
    if line is None and char is None:
        return start
    first, last = text.line_of(start), text.line_of(max(end - 1, start))
    line = first if line is None else line
    if not first <= line <= last:
        raise InvalidRequestError(f"start_line {line} is outside of what there is to show: lines {first} to {last}.")
    line_start, line_end = text.line_span(line)
    line_start, line_end = max(line_start, start), min(line_end, end)
    if char is None:
        return line_start
    content = text.utf8[line_start:line_end].decode()
    if char > max(len(content), 1):
        raise InvalidRequestError(f"start_char {char} is beyond line {line}, which has {len(content)} characters.")
    return line_start + len(content[: char - 1].encode())
