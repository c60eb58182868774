"""Links in a .canvas file: the files its nodes show, and the links in its cards of text.

A scan of the JSON that keeps places finds the strings; each is changed by itself, in its own way of
escaping, so every other byte of the file stays. What is no JSON is left alone. Pure.
Source: jsoncanvas.org, specification 1.0, "Nodes".
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from notes_mcp.notes.links import mending
from notes_mcp.notes.links.mending import UNWRITABLE, Ambiguous, Mended
from notes_mcp.notes.links.moves import Journey

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}:,]', re.DOTALL)
_CHARACTER = re.compile(
    rb"(?:\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[\x00-\x7f]|[\xc0-\xff][\x80-\xbf]*)",
    re.DOTALL,
)
_LINE_END = re.compile(rb"\r\n|\n|\r")
# Where nodes are, and what in them: the path of a file, the picture behind a group, a card's Markdown.
_PATHS = frozenset(("file", "background"))
_NODE_DEPTH = 3  # the document, its list of nodes, the node


class _String(NamedTuple):
    """A string of the JSON: `start:end` between its quotes, in bytes."""

    key: str
    start: int
    end: int


def mend(utf8: bytes, journey: Journey) -> Mended:
    """The edits that lead the links of a canvas right. No edits for what is not JSON."""
    try:
        json.loads(utf8)
    except (ValueError, RecursionError):
        return Mended((), ())
    edits: list[tuple[int, int, bytes]] = []
    left: list[Ambiguous] = []
    ascii_only = utf8.isascii() and b"\\u" in utf8
    for string in _strings(utf8):
        raw = utf8[string.start : string.end]
        if string.key in _PATHS:
            said = json.loads(b'"%b"' % raw)
            new = _new_place(said, journey)
            if new is not None:
                edits.append((string.start, string.end, _escaped(new, raw, ascii_only=ascii_only)))
        elif b"[" in raw or b"\\u005" in raw:
            more, ambiguous = _in_text(raw, journey, ascii_only=ascii_only)
            edits += [(string.start + start, string.start + end, new) for start, end, new in more]
            line = 1 + len(_LINE_END.findall(utf8, 0, string.start))
            left += [Ambiguous(line, one.written, one.candidates, one.reason) for one in ambiguous]
    return Mended(tuple(edits), tuple(left))


def _strings(utf8: bytes) -> Iterator[_String]:
    """The strings at nodes[*].file, .background and .text, in order; `utf8` is valid JSON."""
    containers: list[tuple[bytes, str]] = []  # each opening bracket, and the key its value has
    keys: list[str] = [""]
    expects_key = False
    for token in _TOKEN.finditer(utf8):
        mark = token[0]
        if mark in (b"{", b"["):
            containers.append((mark, keys[-1]))
            keys.append("")
            expects_key = mark == b"{"
        elif mark in (b"}", b"]"):
            containers.pop()
            keys.pop()
            expects_key = False
        elif mark == b",":
            expects_key = bool(containers) and containers[-1][0] == b"{"
        elif mark == b":":
            expects_key = False
        elif expects_key:
            keys[-1] = json.loads(mark)
        elif _in_node(containers) and (keys[-1] in _PATHS or keys[-1] == "text"):
            yield _String(keys[-1], token.start() + 1, token.end() - 1)


def _in_node(containers: list[tuple[bytes, str]]) -> bool:
    return len(containers) == _NODE_DEPTH and containers[1] == (b"[", "nodes") and containers[2][0] == b"{"


def _new_place(said: str, journey: Journey) -> str | None:
    """The path that must take the place of `said`; None if it still is right, or never was."""
    was = journey.was("/" + said, markdown=False)
    if not said or was.path is None:
        return None
    goal = journey.goal(was.path)
    exact = said == was.path and said != goal
    return goal if exact or journey.now("/" + said, markdown=False).path != goal else None


def _escaped(new: str, raw: bytes, *, ascii_only: bool) -> bytes:
    written = json.dumps(new, ensure_ascii=ascii_only)[1:-1]
    return (written.replace("/", "\\/") if b"\\/" in raw else written).encode("utf-8", "replace")


def _in_text(raw: bytes, journey: Journey, *, ascii_only: bool) -> Mended:
    """The edits to the bytes between a string's quotes that lead the links of its Markdown right."""
    said = json.loads(b'"%b"' % raw).encode("utf-8", "surrogatepass")
    found = mending.mend(said, journey)
    if not found.edits:
        return found
    pieces = _CHARACTER.findall(raw)
    written = [0, *accumulate(map(len, pieces))]
    read = [0, *accumulate(len(json.loads(b'"%b"' % piece).encode("utf-8", "surrogatepass")) for piece in pieces)]
    if read[-1] != len(said) or written[-1] != len(raw):
        unwritable = (Ambiguous(1, said[start:end].decode("utf-8", "replace"), (), UNWRITABLE)
                      for start, end, _ in found.edits)  # fmt: skip
        return Mended((), (*found.ambiguous, *unwritable))

    def place(offset: int) -> int:
        return written[bisect_right(read, offset) - 1]

    return Mended(
        tuple((place(start), place(end), _escaped(new.decode(), raw, ascii_only=ascii_only))
              for start, end, new in found.edits),
        found.ambiguous,
    )  # fmt: skip
