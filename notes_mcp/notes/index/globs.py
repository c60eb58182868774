"""Pure: glob patterns on paths. No I/O.

`*`, `?`, `[a-z]`, `[!a]` stay within a component as in shells; `**` is any number of components; `{a,b}`
is either. A pattern without "/" is for the file name at any depth. Linear in the path for any pattern;
one of more than `MAX_CHARS` is refused (InvalidRequestError).
"""

import itertools
import re
from collections.abc import Callable, Iterator
from fnmatch import translate
from functools import lru_cache

from notes_mcp.errors import InvalidRequestError
from notes_mcp.notes.index.segment import key

MAX_CHARS = 4_000  # of a path no system has more; what is compiled is kept
MAX_ALTERNATIVES = 64
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_SPECIAL = re.compile(r"[*?\[{}]")
_ANY = None  # a component "**"


def matches(pattern: str, path: str) -> bool:
    """Whether the path (relative, "/"-separated) is one that the pattern means; case and normal form do not count."""
    return matcher(pattern)(key(path))


def matcher(pattern: str) -> Callable[[str], bool]:
    """The test for one pattern, on paths as `segment.key` makes them."""
    if len(pattern) > MAX_CHARS:
        raise InvalidRequestError(f"The glob is {len(pattern):,} characters long, {MAX_CHARS:,} are the most.")
    alternatives = _compiled(pattern)
    if len(alternatives) == 1 and len(alternatives[0]) == 2 and alternatives[0][0] is _ANY and alternatives[0][1]:
        name = alternatives[0][1].match
        return lambda path: name(path.rpartition("/")[2]) is not None
    return lambda path: any(_fits(wanted, path.split("/")) for wanted in alternatives)


def literal_folder(pattern: str) -> str:
    """The folder, as `segment.key` makes it, in which everything is that the pattern means; "" if that is anywhere."""
    components = key(pattern.strip().replace("\\", "/")).removeprefix("./").strip("/").split("/")[:-1]
    literal = [part for part in itertools.takewhile(lambda part: not _SPECIAL.search(part), components) if part]
    return "/".join(literal)


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
