"""Obsidian's comments: %%between two pairs of percent signs%%. Pure: finds them, and blanks them out.

CommonMark knows no such comment, so a text that holds one is parsed, its comments are overwritten by
bytes that mean nothing to the parser, and it is parsed again: all other spans stay where they are.
Source: help.obsidian.md/syntax, "Comments".
"""

import re
from collections.abc import Sequence

from notes_mcp.notes.markup.tags import Span, containing

FILLER = b"\x01"  # within a line: neither a blank nor punctuation to CommonMark
_NOT_LINE_END = re.compile(rb"[^\r\n]")
_LINE_END = re.compile(rb"[\r\n]|\Z")
_BLANK_LINE = re.compile(rb"(?:\r\n|\n|\r)[ \t>]*(?=[\r\n])")


def comments(source: bytes, body_start: int, text: Sequence[Span]) -> list[Span]:
    """The spans of the comments that open in one of the `text` spans (not in code, HTML or a link).

    One that opens a line reaches to the next "%%" or the end of the text; any other must close before
    a blank line, else it is two percent signs: `100%% sure`.
    """
    found: list[Span] = []
    at = source.find(b"%%", body_start)
    while at >= 0:
        close = source.find(b"%%", at + 2)
        if containing(text, at) is None or source[max(at - 1, body_start) : at] == b"\\":
            at = close if close >= 0 else -1
            continue
        if _opens_line(source, at, body_start):
            end = close + 2 if close >= 0 else len(source)
        elif close < 0 or _BLANK_LINE.search(source, at, close):
            at = close
            continue
        else:
            end = close + 2
        found.append((at, end))
        at = source.find(b"%%", end)
    return found


def blanked(source: bytes, spans: Sequence[Span]) -> bytes:
    """`source` with the comments overwritten; same length, same line ends."""
    pieces: list[bytes] = []
    done = 0
    for start, end in spans:
        whole_lines = _opens_line(source, start, 0) and _closes_line(source, end)
        filler = b" " if whole_lines else FILLER
        pieces += (source[done:start], _NOT_LINE_END.sub(filler, source[start:end]))
        done = end
    pieces.append(source[done:])
    return b"".join(pieces)


def _opens_line(source: bytes, at: int, floor: int) -> bool:
    before = source[max(at - 4, floor) : at]
    stripped = before.rstrip(b" ")
    return len(before) - len(stripped) < 4 and (not stripped or stripped[-1:] in b"\r\n")


def _closes_line(source: bytes, end: int) -> bool:
    line_end = _LINE_END.search(source, end)
    return line_end is not None and not source[end : line_end.start()].strip()
