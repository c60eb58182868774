"""What a person sees of a change, and the question before it is made.

Control characters of a config never reach the terminal. Touches the streams it is given, no files.
"""

import difflib
import re
from dataclasses import dataclass
from typing import TextIO

from notes_mcp.faults import UsageError

CONTEXT = 1
"""Lines around a change: few, since the lines of other servers may hold their keys."""
WIDTH = 160
AROUND = 40
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Talk:
    """The two streams of a conversation."""

    hears: TextIO | None
    says: TextIO

    def say(self, text: str) -> None:
        """One text and a line end, whatever the terminal's encoding."""
        encoding = self.says.encoding or "ascii"
        self.says.write(_UNSEEN.sub("�", text).encode(encoding, "replace").decode(encoding) + "\n")
        self.says.flush()

    def agreed(self, question: str) -> bool:
        """Asks, and takes nothing but a yes for a yes. Raises UsageError where nobody is there to answer."""
        if self.hears is None or not (self.hears.isatty() and self.says.isatty()):
            raise UsageError(
                "nobody is there to agree to this change; nothing was written",
                "no terminal",
                "look at the change above, then run this again with --yes",
            )
        self.says.write(f"{question} [y/N] ")
        self.says.flush()
        try:
            return self.hears.readline().strip().lower() in ("y", "yes")
        except KeyboardInterrupt:
            self.says.write("\n")
            return False


def difference(before: str, after: str) -> str:
    """A unified diff; of a very long line only what changed, and a little around it."""
    lines = list(difflib.unified_diff(_lines(before), _lines(after), "before", "after", n=CONTEXT, lineterm=""))
    for number, line in enumerate(lines[3:], 3):
        following = lines[number + 1 : number + 2]
        if line.startswith("-") and following and following[0].startswith("+"):
            lines[number], lines[number + 1] = _shortened(line, following[0])
    return "\n".join(line if len(line) <= WIDTH or line[0] in "-+" else line[:WIDTH] + "…" for line in lines)


def _lines(text: str) -> list[str]:
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def _shortened(old: str, new: str) -> tuple[str, str]:
    """A line and what it became, without most of what they have in common."""
    if max(len(old), len(new)) <= WIDTH:
        return old, new
    same = 1
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    alike = 0
    while alike < min(len(old), len(new)) - same and old[-1 - alike] == new[-1 - alike]:
        alike += 1
    start = same - AROUND
    return _window(old, start, len(old) - alike + AROUND), _window(new, start, len(new) - alike + AROUND)


def _window(line: str, start: int, end: int) -> str:
    begun = line[:end] if start <= 1 else f"{line[0]}…{line[start:end]}"
    return begun + ("…" if end < len(line) else "")
