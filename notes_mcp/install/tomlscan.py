"""TOML -> its table headers and key/value pairs with their spans in the text. Pure.

For texts that `tomllib` has accepted (TOML 1.0): it finds where things stand and judges nothing.
Inline tables are looked into; arrays are not.
"""

import re
import tomllib
from dataclasses import dataclass

_PART = re.compile(r"""[ \t]*([A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')[ \t]*""")
_TEXT = re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'', re.DOTALL)
_REST_OF_LINE = re.compile(r"[^\n]*(?:\n|$)")


@dataclass(frozen=True, slots=True)
class Header:
    """`[path]` or `[[path]]`, from the start of its line to the start of the next."""

    path: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Pair:
    """`key = value` with its whole path, lines as for Header. `last` is where the key's last part begins.

    A pair in an inline table has the span of the pair alone, and `inline` is True.
    """

    path: tuple[str, ...]
    start: int
    end: int
    last: int
    value: int
    value_end: int
    inline: bool = False


def scan(text: str) -> list[Header | Pair]:
    """All headers and pairs in the order of the text."""
    found: list[Header | Pair] = []
    table: tuple[str, ...] = ()
    at = 0
    while at < len(text):
        first = _past_blank(text, at)
        if text[first : first + 1] in ("", "#", "\r", "\n"):
            at = _line_end(text, first)
        elif text[first] == "[":
            table, _, close = _key(text, first + (2 if text.startswith("[[", first) else 1))
            found.append(Header(table, at, _line_end(text, close)))
            at = found[-1].end
        else:
            pair = _pair(text, at, table, "\n#")
            pair = Pair(pair.path, at, _line_end(text, pair.value_end), pair.last, pair.value, pair.value_end)
            found += [pair, *_inside(text, pair)]
            at = pair.end
    return found


def _pair(text: str, at: int, table: tuple[str, ...], closers: str) -> Pair:
    parts, last, equals = _key(text, at)
    value = _past_blank(text, equals + 1)
    end = _value_end(text, value, closers)
    return Pair((*table, *parts), at, end, last, value, end)


def _inside(text: str, outer: Pair) -> list[Pair]:
    """The pairs of the inline table that `outer` has for a value, and of those in it."""
    found: list[Pair] = []
    if text[outer.value] != "{":
        return found
    at = _past_blank(text, outer.value + 1)
    while text[at] != "}":
        pair = _pair(text, at, outer.path, ",}")
        pair = Pair(pair.path, at, pair.end, pair.last, pair.value, pair.value_end, inline=True)
        found += [pair, *_inside(text, pair)]
        at = _past_blank(text, pair.end)
        at = _past_blank(text, at + 1) if text[at] == "," else at
    return found


def _key(text: str, at: int) -> tuple[tuple[str, ...], int, int]:
    """A dotted key: its parts, where the last of them begins, and what comes behind it."""
    parts: list[str] = []
    while True:
        part = _PART.match(text, at)
        assert part  # tomllib has read it
        written = part.group(1)
        quoted = written[0] in "\"'"
        parts.append(tomllib.loads(f"k = {written}")["k"] if quoted else written)
        if text[part.end()] != ".":
            return tuple(parts), part.start(1), part.end()
        at = part.end() + 1


def _value_end(text: str, at: int, closers: str) -> int:
    """Behind the value that begins at `at`: before the closer, outside all brackets, and the blanks before it."""
    depth, end = 0, at
    while at < len(text):
        string = _TEXT.match(text, at)
        if string:
            at = end = string.end()
            continue
        char = text[at]
        if depth == 0 and char in closers:
            break
        if char == "#":
            at = _line_end(text, at)
            continue
        depth += (char in "[{") - (char in "]}")
        at += 1
        end = end if char.isspace() else at
    return end


def _past_blank(text: str, at: int) -> int:
    while text[at : at + 1] in (" ", "\t"):
        at += 1
    return at


def _line_end(text: str, at: int) -> int:
    rest = _REST_OF_LINE.match(text, at)
    return rest.end() if rest else len(text)
