"""The items of one YAML list or flow mapping kept, replaced, dropped and added, by splices.

`parts` is the new list: an int is the old item at that place, kept character for character; a string
is a new item as YAML. Kept items stay in order. Comments between items stay where they are; those of a
dropped item go with it. Pure; what cannot be expressed raises `Unfit`.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from notes_mcp.notes.properties import yamltree
from notes_mcp.notes.properties.yamltree import Value


class New(NamedTuple):
    """An item that was not in the list before."""

    value: Value


Part: TypeAlias = int | New
"""One item of a changed list: the place of an old one, which stays as written, or a new one."""

Splice: TypeAlias = tuple[int, int, str]
"""Start and end offsets into the source, and the text that takes their place."""

_DASH = re.compile(r"(?:(?<=[\r\n])|\A)( *)-(?=[ \t\r\n]|\Z)")
_BLANKS = re.compile(r"[ \t]*")
_GAP = re.compile(r"(?:[ \t\r\n]+|#[^\r\n]*)*")  # blanks and comments
_LINE_END = re.compile(r"[\r\n]|\Z")
_HEAD = re.compile(r"\s*:(?=[ \t]*(?:#|[\r\n]))")
_NEXT_LINE = re.compile(r"\r\n|\n|\r|\Z")


class Unfit(Exception):
    """This change cannot be made in this form."""


class Stretch(NamedTuple):
    """What stands between two kept items (`before`: the place of the first, -1 for none)."""

    before: int
    dropped: list[int]
    new: list[str]


def stretches(parts: Sequence[int | str], count: int) -> Iterator[Stretch]:
    """The places where the new list differs from the old one of `count` items, left to right."""
    before, new = -1, list[str]()
    for part in [*parts, count]:
        if isinstance(part, str):
            new.append(part)
            continue
        if part <= before:
            raise Unfit
        dropped = list(range(before + 1, part))
        if dropped or new:
            yield Stretch(before, dropped, new)
        before, new = part, []


def flow_items(
    source: str,
    node: yamltree.Sequence | yamltree.Mapping,
    spans: Sequence[tuple[int, int]],
    parts: Sequence[int | str],
) -> list[Splice]:
    """The splices that turn what stands between the brackets of `node` (its items at `spans`) into `parts`."""
    inside = source.index("[" if isinstance(node, yamltree.Sequence) else "{", node.start) + 1
    if not parts and (apart := _cut_apart(source, inside, spans, range(len(spans)))):
        return apart
    if not spans or not any(isinstance(part, int) for part in parts):
        return [(inside, node.end - 1, ", ".join(part for part in parts if isinstance(part, str)))]
    splices: list[Splice] = []
    for before, dropped, new in stretches(parts, len(spans)):
        replaced = list(zip(dropped, new, strict=False))
        splices += [(*spans[place], text) for place, text in replaced]
        left, more = dropped[len(replaced) :], new[len(replaced) :]
        if more and (after := max(before, *dropped, -1)) >= 0:
            splices.append((spans[after][1], spans[after][1], "".join(f", {text}" for text in more)))
        elif more:
            splices.append((spans[0][0], spans[0][0], "".join(f"{text}, " for text in more)))
        if left and (apart := _cut_apart(source, inside, spans, left)):
            splices += apart
        elif left and left[-1] + 1 < len(spans):
            splices.append((spans[left[0]][0], spans[left[-1] + 1][0], ""))
        elif left:
            splices.append((spans[left[0] - 1][1], spans[left[-1]][1], ""))
    return splices


def _cut_apart(source: str, inside: int, spans: Sequence[tuple[int, int]], dropped: Sequence[int]) -> list[Splice]:
    """One run of items taken out with their commas but not the comments among them; [] if there are none.

    A comment goes only where nothing but dropped items is on its line. `inside`: where the opening bracket ends.
    """
    if not dropped:
        return []
    first, last = dropped[0], dropped[-1]
    behind = _GAP.match(source, spans[last][1])
    assert behind is not None
    ended = source.startswith(",", behind.end())
    tail = _GAP.match(source, behind.end() + ended)
    assert tail is not None
    before = spans[first - 1][1] if first else inside
    after = spans[last + 1][0] if last + 1 < len(spans) else tail.end()
    # What stands between items, since "#" in one is no comment.
    edges = [before, *(edge for place in dropped for edge in spans[place]), after]
    if not any("#" in source[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)):
        return []
    commas = [*([first - 1] if first and not ended else []), *(dropped if ended else dropped[:-1])]
    found = [_GAP.match(source, spans[place][1]) for place in commas]
    at = [gap.end() for gap in found if gap is not None]
    if any(source[comma : comma + 1] != "," for comma in at):
        return []
    cuts = sorted([*(spans[place] for place in dropped), *((comma, comma + 1) for comma in at)])
    lines: dict[int, list[tuple[int, int]]] = {}
    for cut in cuts:
        lines.setdefault(_line_start(source, cut[0]), []).append(cut)
    return [splice for start, there in lines.items() for splice in _cut_in_line(source, start, there)]


def _cut_in_line(source: str, start: int, cuts: list[tuple[int, int]]) -> list[Splice]:
    """The cuts of one line, or the line where no other item is left; blanks go with what they part."""
    line_end = _line_end(source, cuts[-1][1])
    joined = cuts[:1]
    for cut in cuts[1:]:
        if source[joined[-1][1] : cut[0]].strip(" \t"):
            joined.append(cut)
        else:
            joined[-1] = (joined[-1][0], cut[1])
    ends = [start, *(edge for cut in joined for edge in cut), line_end]
    rest = "".join(source[one:other] for one, other in zip(ends[::2], ends[1::2], strict=True)).strip()
    if not rest or rest.startswith("#"):
        following = _NEXT_LINE.search(source, line_end)
        assert following is not None
        return [(start, following.end(), "")]
    splices: list[Splice] = []
    for one, other in joined:
        front, back = one, other
        while source[back : back + 1] in (" ", "\t"):
            back += 1
        if source[back : back + 1] in ("", "#", "]", "}", "\r", "\n"):
            back = other
            while front > start and source[front - 1] in " \t":
                front -= 1
            if source[:front].endswith(("[", "{")):
                front = one
        splices.append((front, back, ""))
    return splices


def dash_column(source: str, node: yamltree.Sequence, after: int) -> int:
    """The column of a block list's dashes; `after` is where its key ends. Raises Unfit if they share lines."""
    found = _DASH.search(source, after, node.end)
    if found is None:
        raise Unfit
    return len(found[1])


def block_items(
    source: str, node: yamltree.Sequence, after: int, parts: Sequence[int | str], newline: str
) -> list[Splice]:
    """The splices that turn a block list into `parts`; into `[]` behind its key if nothing of it is left."""
    lines = _item_lines(source, node, after)
    if not parts:
        head = _HEAD.match(source, after)
        if head is None:  # an anchor, or no key at all
            raise Unfit
        return [(head.end(), head.end(), " []"), *((*line, "") for line in lines)]
    pad = " " * dash_column(source, node, after)
    gap = _BLANKS.match(source, lines[0][0] + len(pad) + 1)
    dash = f"{pad}-{gap[0] if gap and gap[0] and node.items[0].start == gap.end() else ' '}"
    splices: list[Splice] = []
    for before, dropped, new in stretches(parts, len(lines)):
        replaced = list(zip(dropped, new, strict=False))
        for place, text in replaced:
            item = node.items[place]
            bare = item.start == item.end and source[item.start - 1] == "-"
            splices.append((item.start, item.end, f" {text}" if bare else text))
        splices += [(*lines[place], "") for place in dropped[len(replaced) :]]
        if more := new[len(replaced) :]:
            last = max(before, *dropped, -1)
            place = lines[last][1] if last >= 0 else lines[0][0]
            ended = place == 0 or source[place - 1] in "\r\n"
            texts = [dash + text for text in more]
            splices.append(
                (place, place, "".join(f"{text}{newline}" if ended else f"{newline}{text}" for text in texts))
            )
    return splices


def _item_lines(source: str, node: yamltree.Sequence, after: int) -> list[tuple[int, int]]:
    """Each item from the start of its dash's line to the start of the line after it."""
    lines: list[tuple[int, int]] = []
    column = dash_column(source, node, after)
    at = after
    for item in node.items:
        dash = _DASH.search(source, at, max(item.start, at))
        while dash is not None and len(dash[1]) != column:
            dash = _DASH.search(source, dash.end(), item.start)
        if dash is None:
            raise Unfit
        following = _NEXT_LINE.search(source, item.end)
        assert following is not None
        lines.append((dash.start(), following.end()))
        at = following.end()
    return lines


def _line_start(source: str, offset: int) -> int:
    return max(source.rfind("\n", 0, offset), source.rfind("\r", 0, offset)) + 1


def _line_end(source: str, offset: int) -> int:
    found = _LINE_END.search(source, offset)
    assert found is not None
    return found.start()
