"""Changes to a config's text that are proved before they count. Pure.

Whatever an edit by spans did is read again: it must say what the config said before, but for the one
entry. A text that does not is never handed out.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from notes_mcp.install import jsonedit, tomledit
from notes_mcp.install.unfit import Unfit

REMOTE = ("url", "serverUrl", "httpUrl")
"""Keys that make an entry a server reached over the net, in one client or another."""


@dataclass(frozen=True)
class Format:
    """How one kind of config text is read and changed: see `jsonedit`, which sets the terms."""

    read: Callable[[str], dict[str, Any]]
    put: Callable[[str, str, str, dict[str, Any]], str]
    take: Callable[[str, str, str], str]


JSON = Format(jsonedit.read, jsonedit.put, jsonedit.take)
TOML = Format(tomledit.read, tomledit.put, tomledit.take)


def servers_of(form: Format, text: str, container: str) -> dict[str, Any]:
    """The entries by name. Raises Unfit."""
    servers = form.read(text).get(container, {})
    if not isinstance(servers, dict):
        raise Unfit(f'"{container}" holds no entries')
    return servers


def put(form: Format, text: str, container: str, name: str, entry: dict[str, Any]) -> str:
    """`text` with the entry added or brought up to date; other keys of an old one stay. Raises Unfit."""
    said = form.read(text)
    servers = said.get(container, {})
    after = form.put(text, container, name, entry)
    old = servers.get(name, {})
    _prove(form, after, {**said, container: {**servers, name: {**old, **entry}}}, container, name)
    return after


def take(form: Format, text: str, container: str, name: str) -> str:
    """`text` without the entry, which must be there. Raises Unfit."""
    said = form.read(text)
    servers = {other: value for other, value in said[container].items() if other != name}
    after = form.take(text, container, name)
    _prove(form, after, {**said, container: servers}, container, name)
    return after


def undone(form: Format, text: str, earlier: str, container: str, name: str) -> bool:
    """Whether `earlier` is what `text` was before the entry was put in: what puts back its very bytes."""
    entry = servers_of(form, text, container)[name]
    try:
        return name not in servers_of(form, earlier, container) and form.put(earlier, container, name, entry) == text
    except Unfit:
        return False


def _prove(form: Format, after: str, expected: dict[str, Any], container: str, name: str) -> None:
    try:
        right = _canonical(form.read(after), container) == _canonical(expected, container)
    except Unfit:
        right = False
    if not right:
        raise Unfit(f'"{name}" cannot be changed the way this file is written')


def _canonical(said: dict[str, Any], container: str) -> str:
    """One text for what is the same; no entries are the same as none. NaN and dates compare as they print."""
    kept = {key: value for key, value in said.items() if key != container or value}
    return json.dumps(kept, sort_keys=True, default=str)
