"""Exact text and regular expressions, looked for in the text of notes in bounded time. Pure but for the clock.

`exact` and `regular` make a `Pattern`; `lines` says where it matches, line by line, until the `Deadline`.
The only user of `regex`, whose matching can be stopped and lets other threads run meanwhile.
"""

import time
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from notes_mcp.errors import InvalidRequestError
from notes_mcp.notes import patience

SEARCH_MS = 4_000
LINE_MS = 200
MAX_PATTERN_CHARS = 1_000
LINES_BETWEEN = 1_000  # looking whether the search is still wanted


class Place(NamedTuple):
    """Where a match stands: 1-based line, and characters of that line."""

    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Pattern:
    """What is looked for. `lines` is false for a text of several lines, which is looked for in the whole note."""

    compiled: Any
    lines: bool


class Deadline:
    """When a search ends, whatever it has found: `SEARCH_MS` from now on."""

    def __init__(self, search_ms: int = SEARCH_MS) -> None:
        self.end = time.monotonic() + search_ms / 1000

    def left(self) -> float:
        """Seconds; 0.0 when it is over."""
        return max(0.0, self.end - time.monotonic())


class TooSlowError(Exception):
    """Time is up, or one line took more than its share."""


def exact(text: str) -> Pattern:
    """The text as written, nothing in it special. It ignores case unless it has an upper-case letter.

    Raises InvalidRequestError for nothing but blanks.
    """
    import regex

    wanted = plain(text)
    if not wanted.strip():
        raise InvalidRequestError("mode=exact needs some text in query.")
    _require_short(wanted)
    flags = regex.V0 if any(char.isupper() for char in wanted) else regex.V0 | regex.IGNORECASE
    return Pattern(regex.compile(regex.escape(wanted, special_only=True), flags), "\n" not in wanted)


def regular(text: str) -> Pattern:
    """A regular expression as `regex` reads it (that of Python and more). `(?i)` ignores case.

    Raises InvalidRequestError with the reason for one that is none.
    """
    import regex

    if not text:
        raise InvalidRequestError("mode=regex needs a regular expression in query.")
    _require_short(text)
    try:
        return Pattern(regex.compile(plain(text), regex.V0), True)
    except (regex.error, ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise InvalidRequestError(
            f"query is not a regular expression: {error}. For plain text use mode=exact."
        ) from None


def lines(pattern: Pattern, text: str, deadline: Deadline) -> Iterator[Place]:
    """The first match in each line that has one; for a text of several lines, where each match begins.

    Raises TooSlowError.
    """
    text = plain(text)
    if pattern.lines:
        search, most = pattern.compiled.search, LINE_MS / 1000
        try:
            for number, line in enumerate(text.split("\n"), 1):
                if not number % LINES_BETWEEN:
                    patience.still_wanted()
                found = search(line, concurrent=True, timeout=most)
                if found is not None:
                    yield Place(number, found.start(), found.end())
                if time.monotonic() > deadline.end:
                    raise TooSlowError
        except TimeoutError:
            raise TooSlowError from None
        return
    number = start = at = 0
    while (found := _search(pattern, text, deadline, at)) is not None:
        patience.still_wanted()
        number += text.count("\n", start, found[0])
        start, at = found[0], found[1]
        begin = text.rfind("\n", 0, start) + 1
        end = text.find("\n", start)
        yield Place(number + 1, start - begin, (end if end >= 0 else len(text)) - begin)


def may_match(pattern: Pattern, text: str, deadline: Deadline) -> bool:
    """Whether an exact text stands in a note at all: quicker than looking line by line."""
    return _search(pattern, plain(text), deadline) is not None


def _search(pattern: Pattern, text: str, deadline: Deadline, at: int = 0) -> tuple[int, int] | None:
    left = deadline.left()
    if not left:
        raise TooSlowError
    try:
        found = pattern.compiled.search(text, at, concurrent=True, timeout=min(left, LINE_MS / 1000))
    except TimeoutError:
        raise TooSlowError from None
    return None if found is None else found.span()


def plain(text: str) -> str:
    """One kind of line end, and one normal form: what looks the same is the same. Places are those of this form."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _require_short(pattern: str) -> None:
    if len(pattern) > MAX_PATTERN_CHARS:
        raise InvalidRequestError(f"query has {len(pattern):,} characters; {MAX_PATTERN_CHARS:,} fit in this mode.")
