"""How new text meets its neighbours in a note: whole lines put between lines, equal lines left alone.

Gives edits for `Text.splice`. New text comes with LF alone as line end and takes the note's; else it is
literal. A line end is put in only where two lines would be glued, and never where the note's last line
ends without one. All spans are bytes of `Text.utf8` and begin and end with lines. Pure.
"""

import re

from notes_mcp.notes.text import Edit, Text

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")
_ENDS_BLANK = re.compile(r"(?:\A|\n)[ \t]*\n\Z")
_BLANK_LINES = re.compile(r"(?:[ \t]*\n)*")
_BLANK_SOURCE = re.compile(rb"(?:[ \t]*(?:\r\n|\n|\r))*")


def put_lines(text: Text, at: int, new: str, *, parted: bool = False) -> Edit:
    """`new` as lines of their own at `at`, the start of a line or the end of the note.

    `parted`: a blank line follows. Where the note's last line is ended, the new last line is ended too.
    """
    before, after = text.utf8[max(at - 1, 0) : at], at < len(text.utf8)
    glued = bool(before) and before not in b"\r\n"
    if (after or (before and not glued)) and not new.endswith("\n"):
        new += "\n"
    if parted and not _ENDS_BLANK.search(new):
        new += "\n"
    return at, at, _fitted(text, at, "\n" + new if glued else new)


def exchange(text: Text, start: int, end: int, new: str) -> Edit:
    """The bytes at `start:end`, any place, exchanged for `new`. Equal lines at its front and back stay as they are,
    and so do the line ends of lines that only change their words."""
    have, want = _LINE.findall(text.utf8[start:end].decode()), _LINE.findall(new)
    front = 0
    while front < min(len(have), len(want)) and _unified(have[front]) == want[front]:
        front += 1
    if front == len(have) == len(want):
        return start, start, ""
    back = 0
    while back < min(len(have), len(want)) - front and _unified(have[-1 - back]) == want[-1 - back]:
        back += 1
    start += len("".join(have[:front]).encode())
    end -= len("".join(have[len(have) - back :]).encode())
    have, want = have[front : len(have) - back], want[front : len(want) - back]
    if len(have) == len(want):
        ends = [_line_end(line) for line in have]
    else:
        ends = [text.newline] * len(want)
        if have and want and _line_end(have[-1]):
            ends[-1] = _line_end(have[-1])
    pieces: list[str] = []
    for line, line_end in zip(want, ends, strict=True):
        piece = line[:-1] + (line_end or text.newline) if line.endswith("\n") else line
        melts = piece.startswith("\n") and pieces and pieces[-1].endswith("\r")
        pieces.append("\r" + piece if melts else piece)
    return start, end, _unmelted(text, start, end, "".join(pieces))


def past_blank_lines(text: Text, start: int, end: int) -> int:
    """Where the first line with words begins in `start:end`; `end` if there is none."""
    found = _BLANK_SOURCE.match(text.utf8, start, end)
    at = found.end() if found else start
    return at if text.utf8[at:end].strip(b" \t") else end


def past_words(text: Text, start: int, end: int) -> int:
    """Where the last line with words in `start:end` is over, its line end included; `start` if there is none."""
    words = text.utf8[start:end].rstrip(b" \t\r\n")
    return min(text.line_span(text.line_of(start + len(words) - 1))[1], end) if words else start


def blank_before(text: Text, at: int) -> bool:
    """Whether there is a line before the one that starts at `at`, and it is blank."""
    return at > 0 and not text.utf8[slice(*text.line_span(text.line_of(at - 1)))].strip()


def without_leading_blank_lines(new: str) -> str:
    """`new` from its first line with words on."""
    found = _BLANK_LINES.match(new)
    return new[found.end() :] if found else new


def without_trailing_blank_lines(new: str) -> str:
    """`new` up to the end of its last line with words, without that line's end."""
    line_end = new.find("\n", len(new.rstrip(" \t\n")))
    return new if line_end < 0 else new[:line_end]


def _fitted(text: Text, at: int, new: str) -> str:
    return _unmelted(text, at, at, text.adapt(new))


def _unmelted(text: Text, start: int, end: int, new: str) -> str:
    """`new` so that no line end at its borders and a neighbour of `start:end` become one CRLF."""
    if new.startswith("\n") and text.utf8[max(start - 1, 0) : start] == b"\r":
        new = "\r" + new
    if new.endswith("\r") and text.utf8[end : end + 1] == b"\n":
        new += "\n"
    return new


def _line_end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _unified(line: str) -> str:
    bare = line.rstrip("\r\n")
    return bare if bare == line else bare + "\n"
