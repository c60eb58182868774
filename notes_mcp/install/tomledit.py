"""One entry in a TOML config put in, updated or taken out, by spans of the text. Pure.

A new entry is a table of its own at the end of the file, after a blank line. Comments stay, except
those inside a table that goes. What is written in a form that is not changed here raises Unfit.
"""

import json
import re
import tomllib
from typing import Any

from notes_mcp.install.tomlscan import Header, Pair, scan
from notes_mcp.install.unfit import Unfit

_PLACE = re.compile(r"\s*\(at line (\d+), column (\d+)\)|\s*\(at end of document\)")
_BLANK_LINE = re.compile(r"(?<=\n)[ \t]*\r?\n\Z")


def read(text: str) -> dict[str, Any]:
    """What the config says. Raises Unfit where it is no TOML 1.0."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        reason = _PLACE.sub("", str(error))
        if place and place.group(1):
            raise Unfit(reason, int(place.group(1)), int(place.group(2))) from None
        raise Unfit.at(text, len(text), reason) from None
    except RecursionError:
        raise Unfit("nested too deeply") from None


def put(text: str, container: str, name: str, entry: dict[str, Any]) -> str:
    """`text` with the entry in it. In an entry that is there, only the keys of `entry` are set. Raises Unfit."""
    servers = read(text).get(container, {})
    if not isinstance(servers, dict) or not isinstance(servers.get(name, {}), dict):
        raise Unfit(f"{container} or {container}.{name} is no table")
    if name not in servers:
        return _append(text, container, name, entry)
    old = servers[name]
    for key, value in entry.items():
        if key not in old:
            text = _add(text, (container, name), key, value)
        elif old[key] != value:
            text = _replace(text, (container, name, key), value)
    return text


def take(text: str, container: str, name: str) -> str:
    """`text` without the entry, which must be there. Raises Unfit."""
    for start, end, own_table in reversed(_ranges(text, (container, name))):
        before, after = text[:start], text[end:]
        if own_table:
            before = _BLANK_LINE.sub("", before)
            if not after and not text.endswith("\n"):
                before = re.sub(r"\r?\n\Z", "", before)
        text = before + after
    return text


def _append(text: str, container: str, name: str, entry: dict[str, Any]) -> str:
    eol = _eol(text)
    lines = [f"[{container}.{name}]", *(f"{key} = {_written(value)}" for key, value in entry.items())]
    block = eol.join(lines)
    if not text:
        return block + eol
    # A file that ends without a line end still does so afterwards.
    return text + eol + block + eol if text.endswith("\n") else text + eol + eol + block


def _replace(text: str, path: tuple[str, ...], value: Any) -> str:
    for found in scan(text):
        if isinstance(found, Pair) and found.path == path:
            return text[: found.value] + _written(value) + text[found.value_end :]
    raise Unfit(f"{'.'.join(path)} is written in a form that is not changed here")


def _add(text: str, table: tuple[str, ...], key: str, value: Any) -> str:
    """A key that the table lacks: behind its last key, written as that one is, or below its header."""
    written = f"{key} = {_written(value)}"
    parts = scan(text)
    pairs = [part for part in parts if isinstance(part, Pair) and part.path[:-1] == table]
    headers = [part for part in parts if isinstance(part, Header) and part.path == table]
    if pairs:
        last = pairs[-1]
        before = text[last.start : last.last]
        if last.inline:
            return text[: last.end] + ", " + before + written + text[last.end :]
        return _add_line(text, last.end, before + written)
    if headers:
        line = text[headers[0].start : headers[0].end]
        return _add_line(text, headers[0].end, line[: len(line) - len(line.lstrip(" \t"))] + written)
    raise Unfit(f"{'.'.join(table)} is written in a form that is not changed here")


def _add_line(text: str, at: int, line: str) -> str:
    eol = _eol(text)
    if text[at - 1] != "\n":
        return text[:at] + eol + line + text[at:]
    return text[:at] + line + eol + text[at:]


def _ranges(text: str, entry: tuple[str, ...]) -> list[tuple[int, int, bool]]:
    """The lines that say something of `entry`, those in a row as one: start, end, and whether it has a header."""
    found: list[tuple[int, int, bool]] = []
    in_a_row = False
    for part in scan(text):
        inline = isinstance(part, Pair) and part.inline
        mine = part.path[: len(entry)] == entry
        if mine and inline and not in_a_row:
            raise Unfit.at(text, part.start, f"{'.'.join(entry)} is part of a longer line, which is not changed here")
        if mine and not inline:
            start, _, own = found.pop() if in_a_row else (part.start, 0, False)
            found.append((start, part.end, own or isinstance(part, Header)))
        in_a_row = mine
    return found


def _written(value: Any) -> str:
    """A text, or a list of them. What JSON escapes, TOML reads alike; it wants DEL escaped too."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _eol(text: str) -> str:
    newline = re.search(r"\r?\n", text)
    return newline.group() if newline else "\n"
