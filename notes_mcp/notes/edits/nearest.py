"""What resembles a passage that is not in a note: the nearest place, and what differs there.

First slips that are made while quoting (escapes, line numbers), then one and the same text up to white
space, quotation marks, normal form, width or case, then the lines around which most agrees, then the
most alike line by rapidfuzz. Linear in the note, and of a very large one only the front is looked at. Pure.
"""

import html
import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, combinations

from notes_mcp.notes.text import Text

_LINE_END = re.compile(r"\r\n|\n|\r")
_LINE_NUMBER = re.compile(r"^[ \t]*\d+[ \t]*[:|→\t][ \t]?", re.MULTILINE)
_ESCAPE = re.compile(r"\\([nrt\"'\\])")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"))
_MARKS = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4\u0060", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        "\u2026": "...",
    }
)
_SHOWN = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_SPECIAL = re.compile(r"[\x00-\x1f\x7f-\xa0\u00ad\u1680\u2000-\u200f\u2028-\u202f\u205f-\u2064\u3000\ufeff]")
_AROUND = 60  # characters shown at each side of the first difference
_MAX_COMPARED = 300  # characters of one line that are compared with others
_MAX_LINES = 300_000
_MAX_LOOKED_AT = 2_000_000  # characters of the note
_MIN_ALIKE = 55  # of 100
_MAX_PASSAGE = 20_000


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _seen(text: str) -> str:
    return text.translate(_UNSEEN)


def _marks(text: str) -> str:
    return text.translate(_MARKS)


def _width(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _blanks(text: str) -> str:
    return " ".join(text.split())


_FOLDS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("white space", _blanks),
    ("the Unicode normal form", _nfc),
    ("characters that cannot be seen", _seen),
    ("quotation marks, dashes or dots", _marks),
    ("the width or form of characters", _width),
    ("upper and lower case", str.casefold),
)


def _same_but_blanks(text: str) -> str:
    for _, fold in _FOLDS[1:]:
        text = fold(text)
    return text


def nearest(text: Text, passage: str, within: tuple[int, int]) -> str:
    """A sentence or two: the place within that span (bytes of `text.utf8`) most like `passage`, and what differs."""
    first_line = text.line_of(within[0])
    lines = _LINE_END.split(text.utf8[slice(*within)].decode())[:_MAX_LINES]
    if not lines[-1]:
        lines = lines[:-1]
    quoted = _LINE_END.split(passage)
    if not passage.strip():
        return "It is nothing but white space; quote some of the words beside it."
    slip = _slip(text, passage, within)
    if slip:
        return slip
    for step in (_folded, _aligned, _alike):
        found = step(lines, quoted, first_line)
        if found:
            return found
    return "Nothing there resembles it; read the note again."


def _slip(text: Text, passage: str, within: tuple[int, int]) -> str:
    slips = (
        (
            _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), passage),
            "its escapes (such as \\n) taken as signs",
        ),
        (html.unescape(passage), "its HTML entities (such as &amp;) taken as signs"),
        (_LINE_NUMBER.sub("", passage), "the line numbers left out"),
    )
    for mended, what in slips:
        spans = text.occurrences(mended, *within) if mended != passage and mended.strip() else []
        if spans:
            return f"With {what} it stands in line {text.line_of(spans[0][0])}; send the text itself."
    return ""


def _folded(lines: list[str], quoted: list[str], first_line: int) -> str:
    """The same text if some of the folds are put on both."""
    wanted = _blanks(_same_but_blanks("\n".join(quoted)))
    if not wanted or len(wanted) > _MAX_PASSAGE:
        return ""
    pieces = [_blanks(line) for line in _same_but_blanks("\n".join(lines)).split("\n")]
    filled = [at for at, piece in enumerate(pieces) if piece]
    starts = [0, *accumulate(len(pieces[at]) + 1 for at in filled)]
    joined = " ".join(pieces[at] for at in filled)
    at = joined.find(wanted)
    if at < 0:
        return ""
    first = filled[bisect_right(starts, at) - 1]
    last = filled[bisect_right(starts, at + len(wanted) - 1) - 1]
    there = "\n".join(lines[first : last + 1])
    differs = " and ".join(_differing(there, "\n".join(quoted)))
    shown = _shown(there, 2 * _AROUND)
    return f"Nearest: {_place(first, last, first_line)}, which differs in {differs}. The note has {shown}."


def _differing(there: str, quoted: str) -> list[str]:
    """The fewest folds after which `there` holds `quoted`."""
    for size in range(1, len(_FOLDS)):
        for chosen in combinations(_FOLDS, size):
            have, want = there, quoted
            for _, fold in sorted(chosen, key=lambda named: named[1] is _blanks):  # the others may make blanks
                have, want = fold(have), fold(want)
            if want in have:
                return [name for name, _ in chosen]
    return [name for name, _ in _FOLDS]


def _aligned(lines: list[str], quoted: list[str], first_line: int) -> str:
    """Where most of several quoted lines stand in their order, and the first one that differs."""
    keys = [_blanks(line).casefold() for line in quoted]
    if sum(map(bool, keys)) < 2:
        return ""
    where: dict[str, list[int]] = {}
    for at, key in enumerate(keys):
        if key:
            where.setdefault(key, []).append(at)
    votes: Counter[int] = Counter()
    for at, line in enumerate(lines):
        for own in where.get(_blanks(line).casefold(), ())[:5]:
            votes[at - own] += len(keys[own])
    if not votes:
        return ""
    # Of equal votes the first, so that the answer does not hang on the order of a dictionary.
    shift = max(sorted(votes), key=votes.__getitem__)
    if 3 * votes[shift] < sum(map(len, keys)):
        return ""
    differing = next(at for at in range(len(quoted)) if not _fits(lines, quoted, at, shift))
    at = differing + shift
    place = _place(max(shift, 0), min(shift + len(quoted), len(lines)) - 1, first_line)
    if not 0 <= at < len(lines):
        return f"Nearest: {place}, but for line {differing + 1} of old_text there is no line beside that."
    return f"Nearest: {place}; line {first_line + at} differs. {_contrast(lines[at], quoted[differing])}"


def _fits(lines: list[str], quoted: list[str], at: int, shift: int) -> bool:
    """Whether a quoted line is the note's, or the part of it that a quote may begin or end with."""
    if not 0 <= at + shift < len(lines):
        return False
    have, want = lines[at + shift], quoted[at]
    return (at == 0 or have.startswith(want)) and (at == len(quoted) - 1 or have.endswith(want))


def _alike(lines: list[str], quoted: list[str], first_line: int) -> str:
    """The line, or stretch of a long line, that is most like the longest quoted line."""
    from rapidfuzz import fuzz, process

    wanted = max(quoted, key=len).strip()[:_MAX_COMPARED]
    windows = list(_windows(lines))
    short = [at for at, (_, piece) in enumerate(windows) if len(piece) <= 2 * len(wanted)]
    long = [at for at, (_, piece) in enumerate(windows) if len(piece) > 2 * len(wanted)]
    best = (float(_MIN_ALIKE), -1)
    for places, scorer in ((short, fuzz.ratio), (long, fuzz.partial_ratio)):
        found = process.extractOne(wanted, [windows[at][1] for at in places], scorer=scorer, score_cutoff=best[0])
        if found and found[1] > best[0]:
            best = (found[1], places[found[2]])
    if best[1] < 0:
        return ""
    at, piece = windows[best[1]]
    alignment = fuzz.partial_ratio_alignment(wanted, piece) if len(piece) > 2 * len(wanted) else None
    if alignment:
        piece = piece[alignment.dest_start : alignment.dest_end]
    return f"Nearest: line {first_line + at}. {_contrast(piece.strip(), wanted)}"


def _windows(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, long ones in stretches that overlap by half, as far as the bound allows."""
    left = _MAX_LOOKED_AT
    for at, line in enumerate(lines):
        if not line.strip():
            continue
        for start in range(0, max(len(line) - _MAX_COMPARED, 0) + 1, _MAX_COMPARED):
            piece = line[start : start + 2 * _MAX_COMPARED]
            left -= len(piece)
            if left < 0:
                return
            yield at, piece


def _place(first: int, last: int, first_line: int) -> str:
    first, last = first + first_line, last + first_line
    return f"line {first}" if first == last else f"lines {first}-{last}"


def _contrast(have: str, want: str) -> str:
    same = next((at for at, (a, b) in enumerate(zip(have, want, strict=False)) if a != b), min(len(have), len(want)))
    start = max(0, same - _AROUND)
    return f"The note has {_shown(have[start:], same - start)}, old_text has {_shown(want[start:], same - start)}."


def _shown(text: str, same: int) -> str:
    """`text` in quotes, cut a little behind its first difference, with what cannot be seen made visible."""
    room = same + _AROUND
    cut = text if len(text) <= room else text[:room] + "…"
    return '"' + _SPECIAL.sub(lambda found: _SHOWN.get(found[0], f"\\u{ord(found[0]):04x}"), cut) + '"'
