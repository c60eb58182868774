"""What a write changed, as a unified diff for people and models.

`unified` compares by lines, after taking off what is equal at both ends, so that one edit in a long
note costs next to nothing; changes too large to align are shown as one block. A change of line ends
alone is a change, and a missing final newline is said, as git does. Pure.
"""

import re
from collections.abc import Iterator, Sequence

CONTEXT_LINES = 3
# SequenceMatcher is cubic at worst; with its rule for popular lines, 5,000 against 5,000 took some 200 ms.
_MOST_LINES = 5_000
_MOST_LINE_CHARS = 500
_MANY_RESERVE = 80  # for the line that says what is left out
_LEAST_DIFF = 300
_NO_NEWLINE = "\\ No newline at end of file"
_LINE_END = re.compile(r"\r\n|\n|\r")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")

_Opcode = tuple[str, int, int, int, int]


def unified(before: str | None, after: str | None, path: str, max_chars: int = 4000) -> str:
    """The diff from `before` to `after` with git's headers, at most `max_chars` long; "" if nothing changed.

    None stands for a file that is not there. A diff that is cut ends with a line that says how many
    lines are left out; of long lines the part around the change is shown, "…" for the rest. Line ends
    are shown (a CR as "␍") only where they are not all the same.
    """
    if before == after:
        return ""
    old, new = _LINE.findall(before or ""), _LINE.findall(after or "")
    head = [
        "--- /dev/null" if before is None else f"--- a/{_one_line(path)}",
        "+++ /dev/null" if after is None else f"+++ b/{_one_line(path)}",
    ]
    ends = {end for text in (before, after) for end in _LINE_END.findall(text or "")}
    return _cut(head, list(_hunks(old, new, show_ends=len(ends) > 1)), max_chars)


def unified_many(files: Sequence[tuple[str, str, str]], max_chars: int = 4000, head: str = "") -> str:
    """The diffs of several files, each `(path, before, after)`, one after the other behind `head`, cut alike."""
    shown = head
    for place, (path, before, after) in enumerate(files):
        left = max_chars - len(shown) - _MANY_RESERVE
        if left < _LEAST_DIFF:
            return shown + f"… the diffs of {len(files) - place:,} more files are left out.\n"
        shown += unified(before, after, path, left)
    return shown


def _hunks(old: Sequence[str], new: Sequence[str], *, show_ends: bool) -> Iterator[str]:
    for group in _grouped(_opcodes(old, new)):
        first, last = group[0], group[-1]
        yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@"
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from _shown(" ", old[i1:i2], (), show_ends)
            else:
                yield from _shown("-", old[i1:i2], new[j1:j2], show_ends)
                yield from _shown("+", new[j1:j2], old[i1:i2], show_ends)


def _opcodes(old: Sequence[str], new: Sequence[str]) -> list[_Opcode]:
    """difflib's opcodes, equal ends and only the middle aligned."""
    shorter = min(len(old), len(new))
    head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    tail = next((i for i in range(shorter - head) if old[-1 - i] != new[-1 - i]), shorter - head)
    old_end, new_end = len(old) - tail, len(new) - tail
    middle: list[_Opcode]
    if max(old_end, new_end) - head > _MOST_LINES:
        middle = [("replace", head, old_end, head, new_end)]
    else:
        from difflib import SequenceMatcher

        matcher = SequenceMatcher(None, old[head:old_end], new[head:new_end])
        middle = [(tag, i1 + head, i2 + head, j1 + head, j2 + head) for tag, i1, i2, j1, j2 in matcher.get_opcodes()]
    return [("equal", 0, head, 0, head), *middle, ("equal", old_end, len(old), new_end, len(new))]


def _grouped(opcodes: list[_Opcode]) -> Iterator[list[_Opcode]]:
    """Groups of changes with their context; equal stretches longer than two contexts part them."""
    group: list[_Opcode] = []
    for place, (tag, i1, i2, j1, j2) in enumerate(opcodes):
        if tag != "equal":
            group.append((tag, i1, i2, j1, j2))
            continue
        if place and place < len(opcodes) - 1 and i2 - i1 <= 2 * CONTEXT_LINES:
            group.append((tag, i1, i2, j1, j2))
            continue
        if group:
            group.append((tag, i1, min(i2, i1 + CONTEXT_LINES), j1, min(j2, j1 + CONTEXT_LINES)))
            yield group
        group = (
            []
            if place == len(opcodes) - 1
            else [(tag, max(i1, i2 - CONTEXT_LINES), i2, max(j1, j2 - CONTEXT_LINES), j2)]
        )


def _range(start: int, end: int) -> str:
    """`start,length` as unified diffs count: from 1, an empty range named by the line before it."""
    length = end - start
    beginning = start if length == 0 else start + 1
    return str(beginning) if length == 1 else f"{beginning},{length}"


def _shown(mark: str, lines: Sequence[str], others: Sequence[str], show_ends: bool) -> Iterator[str]:
    for place, line in enumerate(lines):
        text = line.rstrip("\r\n")
        end = line[len(text) :]
        yield (
            mark
            + _around_change(text, others[place] if place < len(others) else "")
            + ("␍" * show_ends * ("\r" in end))
        )
        if not end:
            yield _NO_NEWLINE


def _around_change(text: str, other: str) -> str:
    """A line that is too long, from a little before where it parts from its counterpart."""
    if len(text) <= _MOST_LINE_CHARS:
        return text
    parting, unlike = 0, min(len(text), len(other)) + 1
    while parting + 1 < unlike:  # by halves, since a line may be the whole note
        middle = (parting + unlike) // 2
        parting, unlike = (middle, unlike) if text[:middle] == other[:middle] else (parting, middle)
    start = max(0, min(parting - _MOST_LINE_CHARS // 4, len(text) - _MOST_LINE_CHARS))
    end = start + _MOST_LINE_CHARS
    return "…" * (start > 0) + text[start:end] + "…" * (end < len(text))


def _cut(head: list[str], body: list[str], max_chars: int) -> str:
    lines = head + body
    if sum(map(len, lines)) + len(lines) <= max_chars:
        return "\n".join(lines) + "\n"
    left = max_chars - len(_left_out(len(lines)))
    shown: list[str] = []
    for line in lines:
        left -= len(line) + 1
        if left < 0:
            break
        shown.append(line + "\n")
    return "".join([*shown, _left_out(len(lines) - len(shown))])[:max_chars]


def _left_out(lines: int) -> str:
    return f"… {lines:,} more lines of the diff are left out.\n"


def _one_line(path: str) -> str:
    return re.sub(r"[\r\n\t]", "?", path)
