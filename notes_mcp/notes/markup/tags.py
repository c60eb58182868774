"""Tags and task boxes: what Obsidian adds to text that CommonMark knows nothing of.

Each function looks over the whole source once and keeps what lies in one of the `text` spans, the
stretches that are prose (no code, link, URL, mathematics, HTML, comment, front matter).
Sources: help.obsidian.md/tags ("Tag format").
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence

from notes_mcp.notes.markup.targets import as_text

Span = tuple[int, int]

# First by bytes, with what is never in a tag left out; then by characters.
_CANDIDATE = re.compile(rb"#([^\x00-\x20\x7f!-,.:-@\[-^`{-~]+)")
_NEVER = re.compile(
    "[\u0000-,.:-@\\[-^`{-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7\u2000-\u206f\u2e00-\u2e7f"
    "\u3000-\u3004\u3008-\u3020\u3030\u303d-\u303f\ufe10-\ufe1f\ufe30-\ufe6f"
    "\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\ufffd]"
)
_COLOUR = re.compile(r"[0-9a-fA-F]{6}(?:[0-9a-fA-F]{2})?\Z")
_BEFORE = frozenset(b" \t\r\n\x0b\x0c([{|>,;\x01")
_MARKS_BEFORE = frozenset(b"*_~")  # only where the parser took them for emphasis
_ADDRESS = re.compile(rb"://[!-~]*")
_BOX = re.compile(rb"(?:[-*+]|[0-9]{1,9}[.)])[ \t]+\[([^\[\]\r\n\x80-\xff]|[\xc0-\xff][\x80-\xbf]+)\](?=[ \t\r\n]|\Z)")


def tags(source: bytes, body_start: int, text: Sequence[Span]) -> list[tuple[str, int, int, bool]]:
    """`(name, start, end, colour_like)` of each tag; `start` is that of its "#"."""
    found: list[tuple[str, int, int, bool]] = []
    addresses: list[Span] | None = None
    for candidate in _CANDIDATE.finditer(source, body_start):
        start = candidate.start()
        home = containing(text, start)
        if home is None or not _may_begin(source, start, home[0]):
            continue
        if addresses is None:
            addresses = [match.span() for match in _ADDRESS.finditer(source, body_start)]
        if containing(addresses, start) is not None:
            continue
        name = as_text(source[start + 1 : min(candidate.end(), home[1])])
        cut = _NEVER.search(name)
        name = (name[: cut.start()] if cut else name).rstrip("/")
        if is_tag(name):
            found.append((name, start, start + 1 + len(name.encode()), _COLOUR.match(name) is not None))
    return found


def is_tag(name: str) -> bool:
    """Whether `name`, without "#", is a tag: no blanks or punctuation, no empty level, not only digits."""
    if not name or name[0] == "/" or name[-1] == "/" or "//" in name or _NEVER.search(name):
        return False
    return not all(character.isdigit() or character == "/" for character in name) and bool(name.strip("-_/"))


def box(source: bytes, item_start: int) -> re.Match[bytes] | None:
    """The marker and `[ ]` box at the start of a list item; group 1 is the character in the box."""
    return _BOX.match(source, item_start)


def containing(spans: Sequence[Span], offset: int) -> Span | None:
    """The one of the sorted, disjoint spans that holds `offset`."""
    at = bisect_right(spans, (offset, 1 << 62)) - 1
    return spans[at] if at >= 0 and offset < spans[at][1] else None


def _may_begin(source: bytes, start: int, text_start: int) -> bool:
    if start == 0:
        return True
    before = source[start - 1]
    if before < 0x80:
        if before in _BEFORE:
            return True
        if before in _MARKS_BEFORE:
            return start == text_start
        return source[max(0, start - 2) : start] == b"=="
    letter = source[max(0, start - 4) : start].decode("utf-8", "ignore")[-1:]
    return bool(letter) and unicodedata.category(letter)[0] in "PSZC"
