"""Sections of a note: the lines of its outline, and the span that a section's name stands for.

A name is what people and models write: `Log`, `## Log`, `Projects > Log`, `Projects#Log`, `^block`, or
a line of `outline`. Matching goes from exact to loose and stops at the first step that finds any;
more than one find is never resolved by guessing. Works on a scan; reads no file. Pure.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from notes_mcp.errors import AmbiguousError, InvalidRequestError, NotFoundError
from notes_mcp.notes.markup.spans import Heading, MarkdownScan

_LINE_NOTE = re.compile(r"\s*\(line (\d{1,9})\)\s*\Z")
_MARKS = re.compile(r"(#{1,6})(?:\s+|(?=[^#\s])|\Z)")
_CLOSING_MARKS = re.compile(r"(?:^|\s)#+\s*\Z")
# What Obsidian leaves out of a heading when it links to it; `C#` and `x^2` keep theirs, or they would be C and x.
_NOT_LINKED = re.compile(r"(?<!\w)[#^]|[:|\\]|\[\[|\]\]|%%")
_AT_THE_END = " .,:;!?…。：！？"
_MAX_COMPARED = 200  # characters of a name that are compared with others
_MAX_NAMES_COMPARED = 5_000
_MAX_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Section:
    """Byte spans of one section, half-open: `start:body_start` is its heading, `body_start:own_end` its text
    before the first heading below it, `body_start:end` its text with all of its sub-sections. A block
    (`^id`) has no heading: `body_start == start`, and `level` is 0. `line` is 1-based."""

    start: int
    body_start: int
    own_end: int
    end: int
    heading: str
    level: int
    line: int


@dataclass(frozen=True, slots=True)
class _Wanted:
    """One name between ">" signs: its words and, where it has marks, its level."""

    words: str
    level: int


def outline(scan: MarkdownScan) -> list[str]:
    """One line for each heading, `## Text (line 12)`; each is a name that `find` takes."""
    return [_shown(heading) for heading in scan.headings]


def find(scan: MarkdownScan, utf8: bytes, spec: str) -> Section:
    """The section that `spec` names in the text that `scan` is of.

    Raises NotFoundError with the nearest outline lines, AmbiguousError with those that fit equally well,
    InvalidRequestError for a name without words.
    """
    name = spec.strip()
    if not name:
        raise InvalidRequestError("The section has no name. Give a heading, a path of headings (A > B), or ^block.")
    if name.startswith(("^", "#^")):
        return _block(scan, name.lstrip("#").removeprefix("^").strip())
    chosen = _chosen(scan.headings, name)
    if not chosen:
        raise NotFoundError(*_no_such(scan, name))
    if len(chosen) > 1:
        lines = [_shown(scan.headings[at]) for at in chosen]
        raise AmbiguousError(
            f'{len(lines)} sections of this note are called "{_short(name)}": {_listed(lines)}. '
            "Name the one you mean by its line as shown here, or by its parent: Parent > Heading.",
            lines,
        )
    return _section(scan, len(utf8), chosen[0])


def _section(scan: MarkdownScan, size: int, at: int) -> Section:
    heading = scan.headings[at]
    following = scan.headings[at + 1 :]
    own_end = following[0].start if following else size
    end = next((other.start for other in following if other.level <= heading.level), size)
    return Section(heading.start, heading.end, own_end, end, heading.text, heading.level, heading.line)


def _block(scan: MarkdownScan, name: str) -> Section:
    noted = _LINE_NOTE.search(name)
    name = name[: noted.start()] if noted else name
    exact = [block for block in scan.blocks if block.id == name]
    found = exact or [block for block in scan.blocks if block.id.casefold() == name.casefold()]
    if len(found) > 1 and noted:
        found = [block for block in found if block.line == int(noted[1])] or found
    if len(found) == 1:
        block = found[0]
        return Section(block.start, block.start, block.end, block.end, f"^{block.id}", 0, block.line)
    if found:
        lines = [f"^{block.id} (line {block.line})" for block in found]
        raise AmbiguousError(
            f"{len(found)} blocks of this note are marked ^{_short(name)}: {_listed(lines)}. "
            "Name the one you mean as shown here.",
            lines,
        )
    marks = [f"^{block.id}" for block in scan.blocks]
    nearest = _nearest(name, marks[:_MAX_NAMES_COMPARED], marks)
    there = f"Nearest: {_listed(nearest)}." if nearest else "It has no block marks."
    raise NotFoundError(f"There is no block ^{_short(name)} in this note. {there}", nearest)


def _chosen(headings: Sequence[Heading], name: str) -> list[int]:
    """The indices of the headings that `name` may mean: one is a find, more are ambiguous."""
    shown = [at for at, heading in enumerate(headings) if _shown(heading) == name]
    if shown:
        return shown
    noted = _LINE_NOTE.search(name)
    if noted is None:
        return _matching(headings, name, _STEPS)
    # A heading may itself end in "(line 9)"; else the note tells which of several is meant.
    found = _matching(headings, name, _STEPS[:1]) or _matching(headings, name[: noted.start()], _STEPS)
    if len(found) > 1:
        found = [at for at in found if headings[at].line == int(noted[1])] or found
    return found or _matching(headings, name, _STEPS)


def _matching(headings: Sequence[Heading], name: str, steps: Sequence[Callable[[str], str]]) -> list[int]:
    """The headings that fit `name` best: as one name first, then as a path; with its level first, then without."""
    for separator in ("", ">", "#"):
        if separator and separator not in name.strip("#"):
            continue
        path = name.lstrip("#").split("#") if separator == "#" else name.split(separator) if separator else [name]
        wanted = [_wanted(part) for part in path]
        if separator and not all(part.words for part in wanted):
            continue
        for strict in (True, False) if any(part.level for part in wanted) else (False,):
            for same in steps:
                found = _on_path(headings, wanted, same, strict)
                if found:
                    return found
    return []


def _on_path(
    headings: Sequence[Heading], wanted: Sequence[_Wanted], same: Callable[[str], str], strict: bool
) -> list[int]:
    """Which headings end a path of `wanted` names, parents first; parents in between may be left out."""
    names = [(same(part.words), part.level if strict else 0) for part in wanted]
    if same is _loosely and not all(words for words, _ in names):
        return []
    found: list[int] = []
    above: list[tuple[int, int]] = []  # (level, how many of the names are met by it and its parents)
    for at, heading in enumerate(headings):
        while above and above[-1][0] >= heading.level:
            above.pop()
        met = above[-1][1] if above else 0
        texts = (same(heading.text), same(heading.raw))
        words, level = names[-1]
        if met >= len(names) - 1 and words in texts and level in (0, heading.level):
            found.append(at)
        if met < len(names) - 1 and names[met][0] in texts and names[met][1] in (0, heading.level):
            met += 1
        above.append((heading.level, met))
    return found


def _wanted(part: str) -> _Wanted:
    words = part.strip()
    marks = _MARKS.match(words)
    if marks is None:
        return _Wanted(words, 0)
    words = words[marks.end() :]
    return _Wanted(_CLOSING_MARKS.sub("", words).strip(), len(marks[1]))


def _exactly(text: str) -> str:
    return " ".join(text.split())


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _loosely(text: str) -> str:
    """As a link or a quick hand writes it: without `#`, `|`, `^`, `:`, brackets and the mark at the end."""
    return " ".join(_NOT_LINKED.sub(" ", _folded(text)).split()).rstrip(_AT_THE_END)


_STEPS = (_exactly, _folded, _loosely)


def _no_such(scan: MarkdownScan, name: str) -> tuple[str, list[str]]:
    if not scan.headings:
        return f'There is no section "{_short(name)}": this note has no headings.', []
    some = scan.headings[:_MAX_NAMES_COMPARED]
    nearest = _nearest(name, [heading.text for heading in some], [_shown(heading) for heading in some])
    return f'There is no section "{_short(name)}" in this note. Nearest: {_listed(nearest)}.', nearest


def _nearest(name: str, texts: Sequence[str], shown: Sequence[str]) -> list[str]:
    from rapidfuzz import fuzz, process

    found = process.extract(
        name[:_MAX_COMPARED], texts, scorer=fuzz.WRatio, processor=lambda text: _loosely(text[:_MAX_COMPARED])
    )
    return [shown[at] for _, _, at in found]


def _shown(heading: Heading) -> str:
    return f"{'#' * heading.level} {heading.text}".rstrip() + f" (line {heading.line})"


def _listed(lines: Sequence[str]) -> str:
    more = f" and {len(lines) - _MAX_SHOWN} more" if len(lines) > _MAX_SHOWN else ""
    return "; ".join(lines[:_MAX_SHOWN]) + more


def _short(name: str) -> str:
    return name if len(name) <= 100 else name[:99] + "…"
