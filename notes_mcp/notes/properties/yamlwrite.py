"""Values -> YAML text that YAML 1.1 and 1.2 readers take for the same thing.

Plain where that is safe, else quoted; text of several lines as a literal block; dates stay plain, as
people write them. Yields lines without line ends, so the caller gives them the note's own. Pure.
"""

import datetime
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from notes_mcp.errors import InvalidRequestError
from notes_mcp.notes.properties.yamltree import Value, core_value

_MAX_DEPTH = 50
_MAX_KEY_CHARS = 500  # and twice that as written: YAML 1.2 section 7.4 allows 1,024
_STEP = 2

_UNPRINTABLE = re.compile("[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_QUOTED = re.compile(r'["\\]')
_NAMED = {"\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
# An indicator may not come first (YAML 1.2 section 7.3.3); "-" may, before a letter or digit.
_PLAIN = re.compile(r"(?:[^\s\-?:,\[\]{}#&*!|>'\"%@`]|-\w)(?:[^:#]|:(?=\S)|(?<=\S)#)*(?<![\s:])")
_NOT_IN_FLOW = re.compile(r"[,\[\]{}]|:(?![\w/])")
# What YAML 1.1 takes for something else than text: words, numbers with "_" or base 60, merge keys.
_TAKEN_OTHERWISE = re.compile(
    r"yes|no|on|off|true|false|null|~|=|<<|[-+]?[0-9.][0-9_.:]*(?:e[-+]?[0-9]+)?|0[xob][0-9a-f_]+|[-+]?\.(?:inf|nan)",
    re.IGNORECASE,
)
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:$|[Tt\s])")


@dataclass(frozen=True, slots=True)
class ListStyle:
    """How lists look: `[a, b]` or one item a line, the dashes `indent` columns right of the key."""

    flow: bool = False
    indent: int = _STEP


def clean(value: Any, depth: int = 0) -> Value:
    """`value` as JSON knows it; dates become text. Raises InvalidRequestError for what no property can hold."""
    if depth > _MAX_DEPTH:
        raise InvalidRequestError(f"A property may be nested at most {_MAX_DEPTH} levels deep.")
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidRequestError("A property cannot be infinite or not a number.")
        return value
    if isinstance(value, str):
        return _clean_text(value)
    if isinstance(value, datetime.date):  # datetime is a date too
        return value.isoformat()
    if isinstance(value, Mapping):
        return {clean_key(key): clean(item, depth + 1) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [clean(item, depth + 1) for item in value]
    raise InvalidRequestError(f"A property cannot hold a {type(value).__name__}; use text, numbers, lists or objects.")


def clean_key(name: Any) -> str:
    """`name` if it can be the name of a property. Raises InvalidRequestError."""
    if not isinstance(name, str) or not name.strip():
        raise InvalidRequestError("The name of a property must be text that is not blank.")
    if len(name) > _MAX_KEY_CHARS or len(key(name)) > 2 * _MAX_KEY_CHARS:
        raise InvalidRequestError(f"The name of a property may be at most {_MAX_KEY_CHARS} characters long.")
    return _clean_text(name)


def _clean_text(text: str) -> str:
    if found := _SURROGATE.search(text):
        raise InvalidRequestError(
            f"A property holds half of a surrogate pair (U+{ord(found[0]):04X}), which no file can hold. "
            "Send the whole character."
        )
    return text


def key(name: str) -> str:
    """The name of a property as YAML."""
    return _text(name, flow=True)


def misread(text: str) -> bool:
    """Whether YAML 1.1 takes this text, unquoted, for something else: `no`, `1.10`, `12:30`; or breaks over it.

    A real date is not misread, since as a date is how it is meant; `2024-13-45` is.
    """
    if not _DATE.match(text):
        return bool(_TAKEN_OTHERWISE.fullmatch(text))
    try:
        datetime.datetime.fromisoformat(text)
    except ValueError:
        return True
    return False


def inline(value: Value, *, flow: bool = True, like: str = "", lenient: bool = False) -> str:
    """`value` in one line; fit for the inside of `[ ]` and `{ }` with `flow`.

    `like` is the quote to keep, if it can be kept; `lenient` leaves unquoted what only YAML 1.1 misreads.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _text(value, flow=flow, like=like, lenient=lenient)
    if isinstance(value, list):
        return f"[{', '.join(inline(item, like=like) for item in value)}]"
    return f"{{{', '.join(f'{key(name)}: {inline(item, like=like)}' for name, item in value.items())}}}"


def block(
    value: Value, column: int, lists: ListStyle, *, like: str = "", lenient: bool = False
) -> tuple[str, list[str]]:
    """What follows `key:` in its line, and the lines below, for a key that stands in `column`."""
    if value is None:
        return "", []
    if isinstance(value, str) and like not in ("'", '"') and (header := _literal_header(value)):
        pad = " " * (column + _STEP)
        return header, [pad + line if line else "" for line in value.removesuffix("\n").split("\n")]
    if isinstance(value, list) and value and not (lists.flow and not any(isinstance(i, list | dict) for i in value)):
        return "", [line for item in value for line in _item(item, column + lists.indent, lists)]
    if isinstance(value, dict) and value:
        return "", mapping(value, column + _STEP, lists)
    return inline(value, flow=False, like=like, lenient=lenient), []


def mapping(values: Mapping[str, Value], column: int, lists: ListStyle) -> list[str]:
    """A block mapping's lines, its keys in `column`."""
    lines: list[str] = []
    for name, value in values.items():
        head, below = block(value, column, lists)
        lines.append(f"{' ' * column}{key(name)}:{' ' * bool(head)}{head}")
        lines += below
    return lines


def _item(value: Value, column: int, lists: ListStyle) -> list[str]:
    if isinstance(value, dict) and value:
        lines = mapping(value, column + 2, lists)
        return [f"{' ' * column}- {lines[0][column + 2 :]}", *lines[1:]]
    return [f"{' ' * column}- {inline(value, flow=isinstance(value, list))}"]


def _text(text: str, *, flow: bool, like: str = "", lenient: bool = False) -> str:
    printable = not _UNPRINTABLE.search(text)
    if like == "'" and printable:
        return "'" + text.replace("'", "''") + "'"
    if like != '"' and printable and _plain_fits(text, flow=flow, lenient=lenient):
        return text
    if like != '"' and printable and ('"' in text or "\\" in text) and "'" not in text:
        return f"'{text}'"
    return '"' + _UNPRINTABLE.sub(_escape, _QUOTED.sub(_escape, text)) + '"'


def _plain_fits(text: str, *, flow: bool, lenient: bool) -> bool:
    if not _PLAIN.fullmatch(text) or text.startswith("...") or (flow and _NOT_IN_FLOW.search(text)):
        return False
    return core_value(text) == text and (lenient or not misread(text))


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    code = ord(char)
    return _NAMED.get(char) or (
        f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
    )


def _literal_header(text: str) -> str:
    """`|` or `|-` if `text` can stand as a literal block (YAML 1.2 section 8.1.2) without counting blanks, else ""."""
    lines = text.removesuffix("\n").split("\n")
    if len(lines) < 2 and not text.endswith("\n"):
        return ""
    if not lines[0] or lines[0][0] in " \t" or not lines[-1]:
        return ""
    if any(line.isspace() or line.lstrip().startswith(("---", "...")) or _UNPRINTABLE.search(line) for line in lines):
        return ""
    return "|" if text.endswith("\n") else "|-"
