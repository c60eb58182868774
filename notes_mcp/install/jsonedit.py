"""One entry in a JSON config put in, updated or taken out, by spans of the text. Pure.

A config is an object; below its key `container` each server has its name. New lines take the file's
own indentation, line ends and trailing commas. Comments are never touched, except those inside an
entry that goes, and one behind it on its last line.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from notes_mcp.install.jsonc import BLANK, Member, Node, scan
from notes_mcp.install.unfit import Unfit

_TRAIL = re.compile(r"(?:[ \t]*/\*[^\n]*?\*/)*(?:[ \t]*//[^\r\n]*)?(?:[ \t]*(?=\r?\n))?")
_BLANKS = re.compile(r"[ \t]*")
_REST_OF_LINE = re.compile(r"[ \t]*(?:\r?\n|$)")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True)
class _Style:
    """How the file is written: its line end, one step of indentation, and whether all of it is on one line."""

    eol: str
    unit: str
    one_line: bool
    separators: tuple[str, str]


def read(text: str) -> dict[str, Any]:
    """What the config says; {} where there is nothing yet. Raises Unfit where it is no JSON object."""
    root = _root(text)
    said: dict[str, Any] = root.value if root else {}
    return said


def put(text: str, container: str, name: str, entry: dict[str, Any]) -> str:
    """`text` with the entry in it. In an entry that is there, only the keys of `entry` are set. Raises Unfit."""
    for key, value in entry.items():
        text = _set(text, (container, name, key), value)
    return text


def take(text: str, container: str, name: str) -> str:
    """`text` without the entry, which must be there. Raises Unfit."""
    root = _root(text)
    servers = root and _member(text, root, container)
    member = servers and _member(text, servers.node, name)
    assert servers and member
    return _remove(text, servers.node, servers.node.members.index(member))


def _root(text: str) -> Node | None:
    root = scan(text)
    if root is not None and not isinstance(root.value, dict):
        raise Unfit.at(text, root.start, "the whole is no object { … }")
    return root


def _member(text: str, node: Node, key: str) -> Member | None:
    found = [member for member in node.members if member.key == key]
    if len(found) > 1:
        raise Unfit.at(text, found[-1].start, f'"{key}" is there twice, and only one of them counts')
    return found[0] if found else None


def _set(text: str, path: tuple[str, ...], value: Any) -> str:
    node = _root(text)
    if node is None:
        return _fresh(text, _nested(path, value))
    style = _style(text, node)
    *holders, last = path
    for depth, key in enumerate(holders):
        member = _member(text, node, key)
        if member is None:
            return _insert(text, node, key, _nested(path[depth + 1 :], value), style)
        node = member.node
        if not isinstance(node.value, dict):
            raise Unfit.at(text, node.start, f'"{key}" is no object {{ … }}')
    member = _member(text, node, last)
    if member is None:
        return _insert(text, node, last, value, style)
    return text if member.node.value == value else _replace(text, member, value, style)


def _replace(text: str, member: Member, value: Any, style: _Style) -> str:
    """Another value for a member; what was on one line stays on one."""
    old = member.node
    flat = "\n" not in text[old.start : old.end]
    return text[: old.start] + _render(value, style, _indent(text, member.start), flat) + text[old.end :]


def _nested(path: tuple[str, ...], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _fresh(text: str, value: Any) -> str:
    """A config where there was none: below the comments, if that is all there is."""
    eol = _eol(text)
    before = text if text.strip() else ""
    if before and not before.endswith("\n"):
        before += eol
    return before + _render(value, _Style(eol, "  ", False, (", ", ": ")), "", flat=False) + eol


def _insert(text: str, node: Node, key: str, value: Any, style: _Style) -> str:
    """A new last member of the object `node`."""
    if not node.members:
        return _insert_first(text, node, key, value, style)
    last = node.members[-1]
    comma, colon = style.separators
    if not _is_broken(text, node):
        written = f"{json.dumps(key, ensure_ascii=False)}{colon}{_render(value, style, '', flat=True)}"
        if last.comma is None:
            return text[: last.node.end] + comma + written + text[last.node.end :]
        return text[: last.comma + 1] + comma[1:] + written + "," + text[last.comma + 1 :]
    indent = _indent(text, last.start)
    written = style.eol + indent + f"{json.dumps(key, ensure_ascii=False)}: {_render(value, style, indent, flat=False)}"
    if last.comma is not None:
        behind = _trail(text, last.comma + 1)
        return text[:behind] + written + "," + text[behind:]
    behind = _trail(text, last.node.end)
    return text[: last.node.end] + "," + text[last.node.end : behind] + written + text[behind:]


def _insert_first(text: str, node: Node, key: str, value: Any, style: _Style) -> str:
    start, end = node.start + 1, node.end - 1
    if style.one_line:
        return text[:start] + _render({key: value}, style, "", flat=True)[1:-1] + text[start:]
    outer = _indent(text, node.start)
    indent = outer + style.unit
    written = style.eol + indent + f"{json.dumps(key, ensure_ascii=False)}: {_render(value, style, indent, flat=False)}"
    comments = list(_COMMENT.finditer(text, start, end))
    behind = comments[-1].end() if comments else start
    rest = text[behind:end] if "\n" in text[behind:end] else style.eol + outer
    return text[:behind] + written + rest + text[end:]


def _remove(text: str, node: Node, index: int) -> str:
    """Without that member: its lines, where it has lines of its own, and the comma that it no longer needs."""
    member, last = node.members[index], index == len(node.members) - 1
    start, end = _stretch(text, node, index, last)
    if (text[node.start + 1 : start] + text[end : node.end - 1]).strip() == "":
        return text[: node.start + 1] + text[node.end - 1 :]
    comma = node.members[index - 1].comma if member.comma is None else None
    before = text[:start] if comma is None else text[:comma] + text[comma + 1 : start]
    return before + text[end:]


def _stretch(text: str, node: Node, index: int, last: bool) -> tuple[int, int]:
    """From where to where a member goes, with the comma and the comment behind it."""
    member = node.members[index]
    end = member.node.end if member.comma is None else member.comma + 1
    line = text.rfind("\n", 0, member.start) + 1
    alone = text[line : member.start].strip(" \t") == ""
    rest = _REST_OF_LINE.match(text, _trail(text, end))
    if alone and rest:
        return line, rest.end()
    if not last:
        return member.start, _past(_BLANKS, text, end)
    start = member.start
    previous = node.members[index - 1].comma if index else None
    if alone and previous is not None and "//" not in text[previous:line].splitlines()[-1]:
        start = len(text[:line].removesuffix("\n").removesuffix("\r"))
    return len(text[:start].rstrip(" \t")), end


def _render(value: Any, style: _Style, indent: str, flat: bool) -> str:
    if flat:
        return json.dumps(value, ensure_ascii=False, separators=style.separators)
    return json.dumps(value, ensure_ascii=False, indent=style.unit).replace("\n", style.eol + indent)


def _style(text: str, root: Node) -> _Style:
    first = root.members[0] if root.members else None
    unit, separators = "  ", (", ", ": ")
    if first and _is_broken(text, root):
        unit = _indent(text, first.start).removeprefix(_indent(text, root.start)) or unit
    elif first and text[first.node.start - 1] == ":":
        separators = (",", ":")
    return _Style(_eol(text), unit, bool(first) and "\n" not in text[root.start : root.end], separators)


def _is_broken(text: str, node: Node) -> bool:
    """Whether the members stand on lines of their own."""
    return "\n" in text[node.start : _past(BLANK, text, node.start + 1)]


def _eol(text: str) -> str:
    newline = re.search(r"\r?\n", text)
    return newline.group() if newline else "\n"


def _indent(text: str, offset: int) -> str:
    """What the line of `offset` begins with."""
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _trail(text: str, offset: int) -> int:
    """Behind the comments that follow on the same line, and the blanks at its end."""
    return _past(_TRAIL, text, offset)


def _past(pattern: re.Pattern[str], text: str, offset: int) -> int:
    found = pattern.match(text, offset)
    return found.end() if found else offset
