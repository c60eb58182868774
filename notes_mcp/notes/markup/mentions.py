"""Where a text names a note without linking to it. Pure.

A name counts as a whole word, whatever its case, normal form and blanks, in prose only: not in code,
links, tags, URLs, comments or front matter. In scripts written without spaces it counts anywhere, and a
change of script is a word border.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from notes_mcp.notes.index.segment import UNSPACED
from notes_mcp.notes.links.links import without_extension
from notes_mcp.notes.markup import markdown
from notes_mcp.notes.text import Text

MAX_NAMES = 20
MAX_TEXT_CHARS = 200
_MARKDOWN = (".md", ".markdown")
_SPACED = f"[^\\W{UNSPACED}]"
_IS_SPACED = re.compile(_SPACED)


class Mention(NamedTuple):
    """A line, 1-based, and what it says around the name."""

    line: int
    text: str


def names(path: str, title: str, aliases: Sequence[str]) -> tuple[str, ...]:
    """What the note at `path` is called: title, file name without extension, aliases; each once."""
    called: dict[str, str] = {}
    for name in (title, without_extension(path.rpartition("/")[2]), *aliases):
        words = " ".join(name.split())
        if any(letter.isalnum() for letter in words):
            called.setdefault(unicodedata.normalize("NFC", words).casefold(), words)
    return tuple(called.values())[:MAX_NAMES]


def pattern(called: Iterable[str]) -> re.Pattern[str]:
    """What matches any of the names in a text as it is written. Without names it matches nothing."""
    forms: dict[str, None] = {}
    for name in called:
        forms.update((unicodedata.normalize(form, name), None) for form in ("NFC", "NFD"))
    longest_first = sorted(forms, key=lambda form: (-len(form), form))
    return re.compile("|".join(map(_whole, longest_first)) or r"(?!)", re.IGNORECASE)


def find(path: str, data: bytes, wanted: re.Pattern[str]) -> Iterator[Mention]:
    """The mentions in the note at `path` that holds `data`, one a line, in order."""
    text = Text.decode(data)
    if not text.valid:
        text = Text.decode(text.text.encode())
    is_markdown = path.lower().endswith(_MARKDOWN)
    found = [each for each in wanted.finditer(text.text) if not (is_markdown and _is_wikilink(text.text, each))]
    if not found:
        return
    prose = markdown.prose(text.utf8) if is_markdown else [(0, len(text.utf8))]
    starts = [start for start, _ in prose]
    offset = done = last = 0
    for match in found:
        offset += len(text.text[done : match.start()].encode())
        done = match.start()
        at = bisect_right(starts, offset) - 1
        line = text.line_of(offset)
        if at >= 0 and line != last and offset + len(match[0].encode()) <= prose[at][1]:
            last = line
            yield Mention(line, _around(text, line, offset))


def _is_wikilink(text: str, match: re.Match[str]) -> bool:
    """Whether the match is plainly all of a wikilink, or of what looks like one in code: no mention, without a scan."""
    start, end = match.span()
    whole = text[max(0, start - 2) : start] == "[[" and text[end : end + 2] == "]]" and "\n" not in match[0]
    return whole and text[max(0, start - 3) : start - 2] not in ("\\", "[")


def _whole(name: str) -> str:
    before = f"(?<!{_SPACED})" if _IS_SPACED.match(name[0]) else ""
    after = f"(?!{_SPACED})" if _IS_SPACED.match(name[-1]) else ""
    return before + r"\s+".join(map(re.escape, name.split())) + after


def _around(text: Text, line: int, offset: int) -> str:
    """The line, or of a long one the part around the name at `offset`."""
    start, end = text.line_span(line)
    before, after = text.utf8[start:offset].decode(), text.utf8[offset:end].decode().rstrip("\r\n")
    if len(before) + len(after) > MAX_TEXT_CHARS:
        before = before if len(before) <= MAX_TEXT_CHARS // 2 else "…" + before[-MAX_TEXT_CHARS // 2 :]
        after = after if len(after) <= MAX_TEXT_CHARS // 2 else after[: MAX_TEXT_CHARS // 2] + "…"
    return (before + after).strip()
