"""The headings that stand above some lines of a note, without a scan of all of it. Pure.

Up to the last of the lines the note is scanned as Markdown, so that what is in code or comments is no
heading; a text without anything that could be one is not scanned, and of a very long one that which
looks like a heading is taken. What follows a line says nothing about the headings above it, but for
the underline of a heading of several lines, and for reference definitions.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from notes_mcp.notes.index.snippets import Heading
from notes_mcp.notes.markup.markdown import front_matter, scan
from notes_mcp.notes.markup.targets import as_text

MAX_SCANNED_BYTES = 250_000
_REACH_BYTES = 10_000  # behind a line, to see whether it belongs to a heading of several lines
_PERHAPS = re.compile(rb"(?:\A|(?<=[\r\n]))[ \t\x0b\x0c]*(?:#{1,6}(?!\S)|(?:=+|-+)[ \t]*(?=[\r\n]|\Z))")
_PLAIN = re.compile(rb"^ {0,3}(?:(#{1,6})[ \t]+([^\n]*)|(`{3,}|~{3,})[^\n]*)$", re.MULTILINE)
_BLANK_LINE = re.compile(rb"(?:\r\n|\n|\r(?!\n))[ \t]*[\r\n]")
_LINE_END = re.compile(rb"\r\n|\n|\r")
_CLOSING_MARKS = re.compile(rb"(?:^|[ \t])#+[ \t]*$")


def headings(utf8: bytes, lines: Sequence[int]) -> Sequence[Heading]:
    """Those of the headings of `utf8` that matter for `lines` (1-based): all above the last of them."""
    if not lines:
        return ()
    end = _end_of_line(utf8, max(lines))
    base = (front_matter(utf8) or (0, 0))[1]
    past = max(base, _end_of_paragraph(utf8, end))
    if not _PERHAPS.search(utf8, base, past):
        return ()
    if past - base > MAX_SCANNED_BYTES:
        return list(_looking_like(utf8, base, end))
    whole = b"]:" in utf8[past:] and len(utf8) <= MAX_SCANNED_BYTES
    return [Heading(each.line, each.text) for each in scan(utf8 if whole else utf8[:past]).headings]


def _end_of_line(utf8: bytes, line: int) -> int:
    """Where the line ends, its line end left out."""
    ends = (found.start() for found in _LINE_END.finditer(utf8))
    return next(islice(ends, line - 1, None), len(utf8))


def _end_of_paragraph(utf8: bytes, at: int) -> int:
    """Past the next blank line, or the end of a line if there is none within reach."""
    blank = _BLANK_LINE.search(utf8, _next_line(utf8, at), at + _REACH_BYTES)
    return _next_line(utf8, blank.end() - 1) if blank else _next_line(utf8, at + _REACH_BYTES)


def _next_line(utf8: bytes, at: int) -> int:
    found = _LINE_END.search(utf8, at)
    return found.end() if found else len(utf8)


def _looking_like(utf8: bytes, base: int, end: int) -> Iterator[Heading]:
    """Lines with marks that are in no fenced code."""
    fence = b""
    utf8, base = _LINE_END.sub(b"\n", utf8[:end]), len(_LINE_END.sub(b"\n", utf8[:base]))
    line, seen = 1, 0
    for found in _PLAIN.finditer(utf8, base):
        words, opening = found[2], found[3]
        if opening:
            fence = opening if not fence else b"" if opening.startswith(fence) else fence
        elif not fence:
            line, seen = line + utf8.count(b"\n", seen, found.start()), found.start()
            yield Heading(line, " ".join(as_text(_CLOSING_MARKS.sub(b"", words)).split()))
