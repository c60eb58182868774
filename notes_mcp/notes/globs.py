"""Pure: glob patterns on paths. No I/O.

`*`, `?`, `[a-z]`, `[!a]` stay within a component as in shells; `**` is any number of components; `{a,b}`
is either. A pattern without "/" is for the file name at any depth. Linear in the path for any pattern.
"""

import re
from collections.abc import Iterator
from fnmatch import translate
from functools import lru_cache

from notes_mcp.notes.segment import key

MAX_ALTERNATIVES = 64
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_ANY = None  # a component "**"


def matches(pattern: str, path: str) -> bool:
    """Whether the path (relative, "/"-separated) is one that the pattern means; case and normal form do not count."""
    parts = key(path).split("/")
    return any(_fits(wanted, parts) for wanted in _compiled(pattern))


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> tuple[tuple[re.Pattern[str] | None, ...], ...]:
    text = key(pattern.strip().replace("\\", "/"))
    anchored = "/" in text.rstrip("/")
    compiled = []
    for one in _expanded(text):
        components = [part for part in one.removeprefix("./").split("/") if part]
        if not anchored:
            components.insert(0, "**")
        if one.endswith("/"):
            components.append("**")
        compiled.append(tuple(_ANY if part == "**" else re.compile(translate(part)) for part in components))
    return tuple(compiled)


def _expanded(text: str) -> Iterator[str]:
    waiting, made = [text], 0
    while waiting and made < MAX_ALTERNATIVES:
        one = waiting.pop()
        braces = _BRACES.search(one)
        if braces is None or len(waiting) > MAX_ALTERNATIVES:
            made += 1
            yield one
            continue
        waiting.extend(one[: braces.start()] + choice + one[braces.end() :] for choice in braces[1].split(","))


def _fits(wanted: tuple[re.Pattern[str] | None, ...], parts: list[str]) -> bool:
    """Which prefixes of the path the pattern so far can mean, component by component of the pattern."""
    reached = {0}
    for number, component in enumerate(wanted):
        if component is _ANY:
            # At the end "**" is what lies in a folder, not the folder's own name.
            start = min(reached, default=len(parts) + 1) + (number == len(wanted) - 1)
            reached = set(range(start, len(parts) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(parts) and component.match(parts[at])}
        if not reached:
            return False
    return len(parts) in reached
