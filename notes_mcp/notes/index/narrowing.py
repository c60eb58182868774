"""Pure: exact text, or a regular expression -> words that every note with a match is sure to have. No I/O.

Only what no neighbour can change counts: words with a sign or a blank on either side, and characters of scripts that
are written without blanks. What stands at the edge may be a part of a longer word, which the index does not know by
its parts. Anything that is not plain says nothing, and then every note has to be read.
"""

import re

from notes_mcp.notes.index.query import tokenize

MAX_PHRASES = 16
_SIGNS = re.compile(r"[\x00-\x2f:-@\[-`{-\x7f]+")  # of ASCII: borders of words in any neighbourhood
_ALONE = re.compile("[\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]+")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_CASELESS = re.compile("[I\u0130\u0131\u0345\u0399\u03b9]")  # regex takes them for letters that fold to others
_FENCE = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
_FLAGS = re.compile(r"\(\?[ims]+\)")
_PLACES_AND_CLASSES = frozenset("bBdDsSwWAZntrf")


def of_text(text: str) -> list[tuple[str, ...]]:
    """Phrases of words, all of which stand in every note that has `text`; none if nothing is sure."""
    if _FENCE.search(text):
        return []  # front matter and body are kept apart
    return _phrases(text)[:MAX_PHRASES]


def of_pattern(pattern: str) -> list[tuple[str, ...]]:
    """The same for every note in which the regular expression matches within a line."""
    flags = _FLAGS.match(pattern)
    runs = _literal_runs(pattern[flags.end() :] if flags else pattern)
    return [phrase for run in runs or () for phrase in _phrases(run)][:MAX_PHRASES]


def _phrases(text: str) -> list[tuple[str, ...]]:
    first, *others = _SIGNS.split(text)
    inner, last = (others[:-1], others[-1:]) if others else ([], [])
    found: list[tuple[str, ...]] = []
    words: tuple[str, ...] = ()
    for chunk in inner:
        if _CASELESS.search(chunk):
            found.append(words)
            words = ()
        else:
            words += tokenize(chunk)
    found.append(words)
    for chunk in (first, *last):
        # A mark behind may make another character of the last one, but of a Han character it cannot.
        found += (tokenize(run if _HAN.match(run[-1]) else run[:-1]) for run in _ALONE.findall(chunk))
    return [phrase for phrase in found if phrase]


def _literal_runs(pattern: str) -> list[str] | None:
    """Stretches of characters that stand for themselves in every match; None for what is not understood here."""
    runs, run, at = [], "", 0
    if "[[" in pattern or "[:" in pattern:
        return None
    while at < len(pattern):
        char, after = pattern[at], pattern[at + 1 : at + 2]
        at += 1
        if char == "|":
            return None
        if char == "\\" and after and not after.isalnum():
            run, at = run + after, at + 1
            continue
        if char not in "\\[(.^$*?+{":
            run += char
            continue
        if char in "*?{":
            run = run[:-1]
        runs.append(run)
        run = ""
        end = _end_of(pattern, at - 1)
        if end is None:
            return None
        at = end
    return [*runs, run]


def _end_of(pattern: str, at: int) -> int | None:
    """Past the element that begins at `at` with a character that does not stand for itself; None if not understood."""
    match pattern[at]:
        case "\\":
            return at + 2 if pattern[at + 1 : at + 2] in _PLACES_AND_CLASSES else None
        case "{":
            end = pattern.find("}", at)
            return end + 1 if end > at else None
        case "[":
            found = re.compile(r"\[\^?\]?(?:[^\]\\]|\\.)*\]", re.DOTALL).match(pattern, at)
            return found.end() if found else None
        case "(":
            return _end_of_group(pattern, at)
    return at + 1


def _end_of_group(pattern: str, at: int) -> int | None:
    if re.compile(r"\(\?(?:[a-zA-Z-]|\()").match(pattern, at) and not pattern.startswith("(?P<", at):
        return None  # flags, conditions, references
    at += 1
    while at < len(pattern):
        if pattern[at] == ")":
            return at + 1
        end = at + 2 if pattern[at] == "\\" else _end_of(pattern, at) if pattern[at] in "[(" else at + 1
        if end is None:
            return None
        at = end
    return None
