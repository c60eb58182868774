"""Pure: where in a note's text a query matches: line, nearest heading, a short excerpt. No I/O.

The text is folded once as a whole, which keeps its line breaks, and the terms are looked for in it as
the index would find them: stems, phrases over punctuation, characters of unspaced scripts. Only the
lines that are shown are looked at more closely. What is shown is the text as written.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from notes_mcp.notes.query import Query, Term, tokenize
from notes_mcp.notes.segment import EMOJI, OTHER_ALPHABETS, UNSPACED, as_written, fold, is_unspaced
from notes_mcp.notes.stem import stem

EXCERPT_CHARS = 160
MAX_LINES_SEEN = 2_000
MAX_WORDS_READ = 200_000
MAX_GAP_CHARS = 200  # punctuation between the words of a phrase

# Vowel signs of Indic scripts are no \\w, but they are part of words.
_MARKS = "".join(chr(code) for code in range(0x900, 0x1D00) if unicodedata.category(chr(code))[0] == "M")
_GAP = f"(?:[^\\w{_MARKS}{EMOJI}]|_)"
_LATIN_REST = f"[^\\W_{UNSPACED}{OTHER_ALPHABETS}]*"
_OTHER_REST = f"(?:(?![_a-z\u00df-\u024f{UNSPACED}])[\\w{_MARKS}])*"
_LATIN = re.compile(f"[^\\W_{UNSPACED}{OTHER_ALPHABETS}]")
_OTHER = re.compile(f"[{OTHER_ALPHABETS}\\d]")
_WORD = re.compile(f"[^\\W_{UNSPACED}][\\w{_MARKS}]*")


class Heading(NamedTuple):
    """A heading of the note: its 1-based line and its text."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Excerpt:
    """One matching line, 1-based, with the heading it stands under ("" above the first) and what it says."""

    line: int
    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Excerpts:
    """The lines that say most, in the order of the note; `more` is how many other lines match."""

    shown: tuple[Excerpt, ...] = ()
    more: int = 0


class _Place(NamedTuple):
    """A stretch of the folded text, as offsets in its line."""

    start: int
    end: int
    term: int


def matches(text: str, query: Query, headings: Sequence[Heading], limit: int) -> Excerpts:
    """At most `limit` lines of `text` in which terms of the query stand; those with most of them are chosen.

    `headings` in the order of the note.
    """
    text = _one_line_break(text)
    folded = fold(text)
    hits: dict[int, list[_Place]] = {}
    for number, term in enumerate(dict.fromkeys(query.terms())):
        for line, place in _placed(folded, term, number):
            hits.setdefault(line, []).append(place)
            if len(hits) > MAX_LINES_SEEN:
                break
    chosen = sorted(hits, key=lambda line: (-len({place.term for place in hits[line]}), line))[:limit]
    lines = text.split("\n") if chosen else []
    shown = [(line, _written_place(lines[line - 1], min(hits[line]))) for line in sorted(chosen)]
    return Excerpts(
        tuple(Excerpt(n, _heading(headings, n), _cut(lines[n - 1], *place)) for n, place in shown),
        len(hits) - len(shown),
    )


def found_by(text: str, pattern: re.Pattern[str], headings: Sequence[Heading], limit: int) -> Excerpts:
    """The first `limit` lines of `text` in which `pattern` matches, looked for line by line."""
    shown: list[Excerpt] = []
    more = 0
    for number, line in enumerate(_one_line_break(text).split("\n"), 1):
        found = pattern.search(line)
        if found is not None and len(shown) < limit:
            shown.append(Excerpt(number, _heading(headings, number), _cut(line, *found.span())))
        elif found is not None:
            more += 1
    return Excerpts(tuple(shown), more)


def nearest_form(text: str, wanted: str, like: str) -> str | None:
    """The word of `text` whose stem is `wanted` and that resembles `like` most; None if there is none."""
    from rapidfuzz import process

    words = dict.fromkeys(word for word in _words(fold(text)) if stem(word) == wanted)
    best = process.extractOne(like, list(words))
    return best[0] if best else None


def _words(folded: str) -> Iterator[str]:
    for number, found in enumerate(_WORD.finditer(folded)):
        if number >= MAX_WORDS_READ:
            return
        yield from tokenize(found[0])


def _one_line_break(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _placed(folded: str, term: Term, number: int) -> Iterator[tuple[int, _Place]]:
    """Each occurrence of the term as (1-based line, place in it), in order."""
    line, seen = 1, 0
    for start, end in _occurrences(folded, term):
        line, seen = line + folded.count("\n", seen, start), start
        line_start = folded.rfind("\n", 0, start) + 1
        yield line, _Place(start - line_start, end - line_start, number)


def _occurrences(folded: str, term: Term) -> Iterator[tuple[int, int]]:
    """`(start, end)` of each place where the tokens follow each other as the index sees it."""
    pattern = _pattern(term)
    at = 0
    while found := pattern.search(folded, at):
        if _starts_word(folded, found.start(), term.tokens[0]) and _stems_agree(found.groups(), term):
            yield found.span()
            at = max(found.end(), found.start() + 1)
        else:
            at = found.start() + 1


def _pattern(term: Term) -> re.Pattern[str]:
    """Candidates: what begins like the tokens. Porter's algorithm changes at most the last two letters of a stem."""
    parts: list[str] = []
    for number, token in enumerate(term.tokens):
        if number:
            before = term.tokens[number - 1]
            touching = is_unspaced(token) or is_unspaced(before) or _is_other(token) != _is_other(before)
            parts.append(f"{_GAP}{{{0 if touching else 1},{MAX_GAP_CHARS}}}")
        if is_unspaced(token):
            parts.append(f"({re.escape(as_written(token))})")
        else:
            begin = stem(token)[:-2] or token[:1]
            parts.append(f"({re.escape(begin)}{_OTHER_REST if _is_other(token) else _LATIN_REST})")
    return re.compile("".join(parts))


def _starts_word(folded: str, at: int, token: str) -> bool:
    if at == 0 or is_unspaced(token):
        return True
    return (_OTHER if _is_other(token) else _LATIN).match(folded, at - 1) is None


def _stems_agree(words: Sequence[str], term: Term) -> bool:
    last = len(term.tokens) - 1
    for number, (word, token) in enumerate(zip(words, term.tokens, strict=True)):
        if is_unspaced(token) or stem(word) == stem(token):
            continue
        if not (term.prefix and number == last and word.startswith(token)):
            return False
    return True


def _is_other(token: str) -> bool:
    return token[0] >= "\u0370" and _OTHER.match(token) is not None


def _written_place(line: str, place: _Place) -> tuple[int, int]:
    """A place in the folded line as one in the line: folding may change lengths."""
    if line.isascii():
        return place.start, place.end
    start = bisect_right(range(len(line)), place.start, key=lambda end: len(fold(line[:end]))) - 1
    end = bisect_left(range(len(line)), place.end, lo=max(start, 0), key=lambda end: len(fold(line[:end])))
    return max(start, 0), end


def _heading(headings: Sequence[Heading], line: int) -> str:
    at = bisect_right(headings, line, key=lambda heading: heading.line) - 1
    return headings[at].text if at >= 0 else ""


def _cut(line: str, start: int, end: int) -> str:
    """About EXCERPT_CHARS of `line` around `start:end`, in one piece between blanks where there are any near."""
    if len(line) <= EXCERPT_CHARS:
        return " ".join(line.split())
    left = max(0, min(start - (EXCERPT_CHARS - min(end - start, EXCERPT_CHARS)) // 3, len(line) - EXCERPT_CHARS))
    right = min(len(line), left + EXCERPT_CHARS)
    blank = line.find(" ", left, min(start, left + 20))
    if left and blank >= 0:
        left = blank + 1
    blank = line.rfind(" ", max(end, right - 20), right)
    if right < len(line) and blank >= 0:
        right = blank
    while left and unicodedata.category(line[left])[0] == "M":
        left -= 1
    middle = " ".join(line[left:right].split())
    return f"{'…' if left else ''}{middle}{'…' if right < len(line) else ''}"
