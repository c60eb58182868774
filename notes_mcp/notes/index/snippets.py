"""Pure: where in a note's text a query matches: line, nearest heading, a short excerpt. No I/O.

The text is folded once as a whole, which keeps its line breaks, and the terms are looked for in it as
the index would find them: stems, phrases over punctuation, characters of unspaced scripts. Only the
lines that are shown are looked at more closely. What is shown is the text as written.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from notes_mcp.notes import patience
from notes_mcp.notes.index.query import Query, Term, tokenize
from notes_mcp.notes.index.segment import EMOJI, OTHER_ALPHABETS, as_written, fold, is_unspaced, keeps_places
from notes_mcp.notes.index.stem import stem

EXCERPT_CHARS = 160
MAX_LINES_SEEN = 2_000
MAX_TRIES = 5_000  # places of a note that are looked at closely, once a line is found
MAX_TRIES_IN_VAIN = 200_000  # for all notes of a page together, as long as none is
MAX_WORDS_READ = 200_000
MAX_GAP_CHARS = 200  # punctuation between the words of a phrase

# After folding; see `segment`. Punctuation of the other alphabets is in their blocks, but in no word.
_LATIN = "0-9a-z\u00aa-\u02ff\u1d00-\u1dbf\u1e00-\u1eff\u2c60-\u2c7f\ua720-\ua7ff\uab30-\uab6f"
_PUNCTUATION = (
    "\u037e\u0387\u055a-\u055f\u0589\u058a\u05be\u05c0\u05c3\u05c6\u05f3\u05f4\u060c\u060d\u061b\u061e\u061f\u066a-\u066d"
    "\u06d4\u0700-\u070d\u0964\u0965\u0970\u0df4\u0f04-\u0f14\u0f3a-\u0f3d\u1360-\u1368\u166e\u1680\u169b\u169c\u1800-\u180a"
    "\u0e3f\u0e4f\u0e5a\u0e5b\u104a-\u104f\u17d4-\u17db"
)
_LATIN_WORD = re.compile(f"[{_LATIN}]+")
_OTHER_WORD = re.compile(f"(?:(?![{_PUNCTUATION}])[0-9{OTHER_ALPHABETS}])+")
_DIGITS = frozenset("0123456789")
_ANY_WORD = re.compile(r"[^\W_]+")
_VOWEL_SIGNS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3099\u309a\ua9e0-\ua9ff\uaa60-\uaa7f"  # no \\w, but in words
_GAP = re.compile(f"(?:[^\\w{EMOJI}{OTHER_ALPHABETS}{_VOWEL_SIGNS}]|[_{_PUNCTUATION}]){{0,{MAX_GAP_CHARS}}}")
_WORDS = re.compile(r"[^\W_]+")
_NEVER_JOINED = re.compile("[\\x00-\\x7f\\u4e00-\\u9fff]")  # with what is before it, in no normal form
STRETCH_CHARS = 1_000


class Heading(NamedTuple):
    """A heading of the note: its 1-based line and its text."""

    line: int
    text: str


Headings: TypeAlias = Sequence[Heading] | Callable[[Sequence[int]], Sequence[Heading]]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """One matching line, 1-based, with the heading it stands under ("" above the first) and what it says."""

    line: int
    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Excerpts:
    """The lines that say most, in the order of the note; `more` is how many other lines match, or in a note with
    very many of them the least number there are."""

    shown: tuple[Excerpt, ...] = ()
    more: int = 0


class _Place(NamedTuple):
    """A stretch of the folded text, as offsets in its line."""

    start: int
    end: int
    term: int


class Effort:
    """How many places may still be looked at closely for the notes of one page."""

    def __init__(self) -> None:
        self.in_vain = MAX_TRIES_IN_VAIN
        self._left = MAX_TRIES

    def begin(self) -> None:
        """With a note of its own."""
        self._left = MAX_TRIES

    def spend(self, found: bool) -> bool:
        """Whether one more place may be looked at; `found`: the note already has a line to show."""
        if not self.in_vain % 10_000:
            patience.still_wanted()
        if found:
            self._left -= 1
            return self._left >= 0
        self.in_vain -= 1
        return self.in_vain >= 0


def matches(text: str, query: Query, headings: Headings, limit: int, effort: Effort | None = None) -> Excerpts:
    """At most `limit` lines of `text` in which terms of the query stand; those with most of them are chosen.

    `headings` in the order of the note, or what gives those that stand above the last of some lines.
    """
    text = _one_line_break(text)
    folded = fold(text)
    effort = effort or Effort()
    effort.begin()
    hits: dict[int, list[_Place]] = {}
    for number, term in enumerate(dict.fromkeys(query.terms())):
        for line, place in _placed(folded, term, number, effort, hits):
            hits.setdefault(line, []).append(place)
            if len(hits) > MAX_LINES_SEEN:
                break
    chosen = sorted(hits, key=lambda line: (-len({place.term for place in hits[line]}), line))[:limit]
    lines = text.split("\n", max(chosen)) if chosen else []
    shown = [(line, _written_place(lines[line - 1], min(hits[line]))) for line in sorted(chosen)]
    if callable(headings):
        headings = headings([line for line, _ in shown])
    return Excerpts(
        tuple(Excerpt(n, _heading(headings, n), _cut(lines[n - 1], *place)) for n, place in shown),
        len(hits) - len(shown),
    )


def excerpts(text: str, places: Iterable[tuple[int, int, int]], headings: Headings, limit: int) -> Excerpts:
    """The first `limit` of `places` in `text`: 1-based line, and from where to where in it, in order."""
    chosen: list[tuple[int, int, int]] = []
    more = 0
    for place in places:
        if len(chosen) < limit:
            chosen.append(place)
        else:
            more += 1
    lines = _one_line_break(text).split("\n", chosen[-1][0]) if chosen else []
    if callable(headings):
        headings = headings([line for line, _, _ in chosen])
    shown = (Excerpt(n, _heading(headings, n), _cut(lines[n - 1], start, end)) for n, start, end in chosen)
    return Excerpts(tuple(shown), more)


def nearest_form(text: str, wanted: str, like: str) -> str | None:
    """The word of `text` whose stem is `wanted` and that resembles `like` most; None if there is none."""
    from rapidfuzz import process

    words = dict.fromkeys(word for word in _words(fold(text)) if stem(word) == wanted)
    best = process.extractOne(like, list(words))
    return best[0] if best else None


def _words(folded: str) -> Iterator[str]:
    for number, found in enumerate(_WORDS.finditer(folded)):
        if number >= MAX_WORDS_READ:
            return
        yield from tokenize(found[0])


def _one_line_break(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _placed(
    folded: str, term: Term, number: int, effort: Effort, found: Collection[int]
) -> Iterator[tuple[int, _Place]]:
    """The first place in each line that has the term, as (1-based line, place in it), in order; as far as the effort
    goes. `found`: the lines of the note found so far."""
    line, seen = 1, 0
    for start, end in _occurrences(folded, term, effort, found):
        line, seen = line + folded.count("\n", seen, start), start
        line_start = folded.rfind("\n", 0, start) + 1
        yield line, _Place(start - line_start, end - line_start, number)


def _occurrences(folded: str, term: Term, effort: Effort, found: Collection[int]) -> Iterator[tuple[int, int]]:
    """`(start, end)` of where the tokens follow each other as the index sees it, once for each line."""
    begin = _beginning(term.tokens[0])
    at = folded.find(begin)
    while at >= 0 and effort.spend(bool(found)):
        end = _end_of(folded, at, term) if _starts_word(folded, at, term.tokens[0]) else None
        if end is None:
            at = folded.find(begin, at + 1)
            continue
        yield at, end
        line_end = folded.find("\n", at)
        at = folded.find(begin, max(end, line_end)) if line_end >= 0 else -1


def _beginning(token: str) -> str:
    """What every form of the word begins with: Porter's algorithm changes at most the last two letters of a stem."""
    return as_written(token) if is_unspaced(token) else stem(token)[:-2] or token[:1]


def _end_of(folded: str, at: int, term: Term) -> int | None:
    """Where the term ends that may start at `at`; None if it is not there."""
    last = len(term.tokens) - 1
    for number, token in enumerate(term.tokens):
        if number:
            gap = _gap_end(folded, at)
            if gap == at and not _may_touch(term.tokens[number - 1], token):
                return None
            at = gap
        if is_unspaced(token):
            if not folded.startswith(as_written(token), at):
                return None
            at += 1
            continue
        word = _word_pattern(token).match(folded, at)
        if word is None:
            return None
        # FTS5 stems a prefix too: "running*" finds what begins with "run".
        is_prefix = (
            term.prefix and number == last and (word[0].startswith(token) or stem(word[0]).startswith(stem(token)))
        )
        if not is_prefix and stem(word[0]) != stem(token):
            return None
        at = word.end()
    return at


def _gap_end(folded: str, at: int) -> int:
    gap = _GAP.match(folded, at)
    return gap.end() if gap else at


def _starts_word(folded: str, at: int, token: str) -> bool:
    """Whether a word border is before `at`; as in `segment`, digits belong to the word before them."""
    if at == 0 or is_unspaced(token) or is_unspaced(folded[at - 1]):
        return True
    if token[0] in _DIGITS and folded[at - 1] in _DIGITS:
        return False
    digits = at
    while digits and folded[digits - 1] in _DIGITS:
        digits -= 1
    before = folded[digits - 1 : digits]
    owner = _word_pattern(before) if before and not is_unspaced(before) else None
    if owner is _ANY_WORD and not owner.match(before):
        owner = None
    if token[0] in _DIGITS:
        return digits == at and owner is None
    return owner is not _word_pattern(token) and (digits == at or owner is not None)


def _may_touch(before: str, token: str) -> bool:
    """Whether there is a word border between the two even without a blank."""
    return is_unspaced(before) or is_unspaced(token) or _word_pattern(before) is not _word_pattern(token)


def _word_pattern(token: str) -> re.Pattern[str]:
    for pattern in (_LATIN_WORD, _OTHER_WORD):
        if pattern.match(token):
            return pattern
    return _ANY_WORD


def _written_place(line: str, place: _Place) -> tuple[int, int]:
    """A place in the folded line as one in the line: folding may change lengths."""
    if keeps_places(line):
        return place.start, place.end
    base, folded = 0, 0  # a place before the start, and how long the line is up to there when folded
    while (past := _safe_cut(line, base)) and (length := folded + len(fold(line[base:past]))) < place.start:
        base, folded = past, length
    reach = base + STRETCH_CHARS
    while reach < len(line) and folded + len(fold(line[base:reach])) <= place.end:
        reach += reach - base
    piece = line[base:reach]
    start = bisect_right(range(len(piece)), place.start - folded, key=lambda end: len(fold(piece[:end]))) - 1
    end = bisect_left(range(len(piece)), place.end - folded, lo=max(start, 0), key=lambda end: len(fold(piece[:end])))
    return base + max(start, 0), base + end


def _safe_cut(line: str, base: int) -> int:
    """Where the line can be cut, a stretch behind `base`, so that its parts fold as the whole does; 0: nowhere."""
    found = _NEVER_JOINED.search(line, base + STRETCH_CHARS)
    return found.start() if found else 0


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
