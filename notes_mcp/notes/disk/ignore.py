"""Ignore patterns, exactly as git reads them (gitignore(5), wildmatch.c). Pure text; no disk.

A pattern here speaks of one path alone. That nothing inside an ignored folder can be brought back is
for the caller to see to, by asking for each folder on the way. Data: lines -> `compile_pattern` ->
`Patterns.ignores`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_STAR = "[^/]*"
_CLASSES = {
    "alnum": r"a-zA-Z0-9",
    "alpha": r"a-zA-Z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": r"0-9",
    "graph": r"!-~",
    "lower": r"a-z",
    "print": r" -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r" \t\n\r\f\v",
    "upper": r"A-Z",
    "xdigit": r"0-9A-Fa-f",
}


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line: what it matches, and whether it hides or (`!`) shows."""

    regex: re.Pattern[str]
    negated: bool
    folders_only: bool
    by_name: bool  # without a slash: any file of that name, however deep
    line: str = ""  # as a person wrote it, for telling


class Patterns:
    """Patterns in order; the last one that matches decides."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._last_first = tuple(reversed(patterns))

    def ignores(self, path: str, name: str, is_dir: bool) -> bool:
        """Whether `path`, whose last component is `name`, is ignored for its own sake."""
        found = self.deciding(path, name, is_dir)
        return found is not None and not found.negated

    def deciding(self, path: str, name: str, is_dir: bool) -> Pattern | None:
        """The pattern that decides about it, None if none speaks of it."""
        for pattern in self._last_first:
            if (is_dir or not pattern.folders_only) and pattern.regex.fullmatch(name if pattern.by_name else path):
                return pattern
        return None


def compile_pattern(line: str) -> Pattern:
    """One line, not blank and not a comment. ValueError if it could never match anything."""
    text = _without_trailing_spaces(line)
    negated = text.startswith("!")
    text = text.removeprefix("!")
    folders_only = text.endswith("/")
    text = text.removesuffix("/")
    by_name = "/" not in text
    text = text.removeprefix("/")
    if not text:
        raise ValueError(f"matches nothing: {line!r}")
    return Pattern(re.compile(_translate(text), re.DOTALL), negated, folders_only, by_name)


def is_blank(line: str) -> bool:
    """A line that holds no pattern."""
    return not _without_trailing_spaces(line) or line.startswith("#")


def _without_trailing_spaces(line: str) -> str:
    bare = line.rstrip(" ")
    escapes = len(bare) - len(bare.rstrip("\\"))
    return bare + " " if escapes % 2 and len(bare) < len(line) else bare


def _translate(glob: str) -> str:
    out: list[str] = []
    at = 0
    while at < len(glob):
        char = glob[at]
        if char == "*":
            part, at = _stars(glob, at)
            out.append(part)
        elif char == "?":
            out.append("[^/]")
            at += 1
        elif char == "[":
            part, at = _bracket(glob, at)
            out.append(part)
        elif char == "\\":
            if at + 1 == len(glob):
                raise ValueError("ends in a backslash that escapes nothing")
            out.append(re.escape(glob[at + 1]))
            at += 2
        else:
            out.append(re.escape(char))
            at += 1
    return "".join(_without_backtracking(out))


def _without_backtracking(parts: list[str]) -> Iterator[str]:
    """Between two stars of one segment the first place that fits is as good as any: no second try, so that
    `*a*a*a*a*b` stays quick on a long name."""
    at = 0
    while at < len(parts):
        if parts[at] != _STAR:
            yield parts[at]
            at += 1
            continue
        end = at + 1
        while end < len(parts) and parts[end] not in (_STAR, "/"):
            end += 1
        fixed = "".join(parts[at + 1 : end])
        again = end < len(parts) and parts[end] == _STAR
        yield f"(?>[^/]*?{fixed})" if again else _STAR + fixed
        at = end


def _stars(glob: str, at: int) -> tuple[str, int]:
    """Two stars or more that fill a whole segment reach across folders; every other run of stars stays in one."""
    end = at
    while end < len(glob) and glob[end] == "*":
        end += 1
    fills = end - at >= 2 and (at == 0 or glob[at - 1] == "/") and (end == len(glob) or glob[end] == "/")
    if not fills:
        return _STAR, end
    if end == len(glob):
        return ".+" if at else ".*", end
    return "(?:.+/)?", end + 1


def _bracket(glob: str, at: int) -> tuple[str, int]:
    """A set like [a-z], [!x] or [[:digit:]]. Never matches a slash."""
    at += 1
    negated = glob[at : at + 1] in ("!", "^") and bool(glob[at : at + 1])
    at += negated
    members: list[str] = []
    first = True
    while first or glob[at : at + 1] != "]":
        first = False
        if at >= len(glob):
            raise ValueError("a [ without its ]")
        if glob.startswith("[:", at) and (close := glob.find(":]", at)) > 0:
            if (name := glob[at + 2 : close]) not in _CLASSES:
                raise ValueError(f"no such class: {name}")
            members.append(_CLASSES[name])
            at = close + 2
            continue
        low, at = _member(glob, at)
        if glob[at : at + 1] == "-" and glob[at + 1 : at + 2] not in ("", "]"):
            high, at = _member(glob, at + 1)
            # As in wildmatch.c, a range the wrong way round is its first character.
            members.append(f"{re.escape(low)}-{re.escape(high)}" if low <= high else re.escape(low))
        else:
            members.append(re.escape(low))
    inside = "".join(members)
    if negated:
        return f"(?!/)[^{inside}]" if inside else "[^/]", at + 1
    return f"(?!/)[{inside}]" if inside else "(?!)", at + 1


def _member(glob: str, at: int) -> tuple[str, int]:
    if glob[at] == "\\":
        at += 1
    if at >= len(glob):
        raise ValueError("a [ without its ]")
    return glob[at], at + 1
