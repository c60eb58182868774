"""One file's bytes -> its bytes with every link that a move would break, or lead elsewhere, led right again.

Markdown goes through `mending`, .canvas files through `canvas`, all others stay. Exactly the bytes of
targets change: encoding, byte order mark and line ends are `Text.splice`'s care. `moves.plan` says which
files to send here; reading and writing them is for the caller. Pure.
"""

from dataclasses import dataclass

from notes_mcp.notes.links import canvas, mending
from notes_mcp.notes.links.links import Lookup
from notes_mcp.notes.links.mending import Ambiguous
from notes_mcp.notes.links.moves import CANVAS, MARKDOWN, Journey, Moved, Moves, plan
from notes_mcp.notes.text import Edit, Text

__all__ = ["Ambiguous", "Moved", "Rewritten", "plan", "rewrite"]

NOT_TEXT = "the file is not valid text in its encoding, so it is not edited"


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The file's new bytes, how many places in it were rewritten, and what was left for a person to decide."""

    data: bytes
    count: int
    ambiguous: tuple[Ambiguous, ...] = ()


def rewrite(path: str, new_path: str, data: bytes, before: Lookup, after: Lookup, moves: Moves) -> Rewritten:
    """The file at `path`, which will be at `new_path` (the same if it stays), after `moves`; see the module.

    `before` and `after` are the files then and afterwards (`Moved(before, moves)`). A link is touched only if its
    resolution would change: code, comments, web addresses, links into the file itself and broken links never
    are. Files that are neither Markdown nor a canvas come back as they are. Never raises for what is in the file.
    """
    journey = Journey(path, new_path, before, after, moves)
    name = path.lower()
    if not name.endswith((CANVAS, *MARKDOWN)):
        return Rewritten(data, 0)
    text = Text.decode(data)
    edits, ambiguous = (canvas.mend if name.endswith(CANVAS) else mending.mend)(text.utf8, journey)
    if text.valid:
        spliced: list[Edit] = [*edits]
        return Rewritten(text.splice(spliced) if edits else data, len(edits), ambiguous)
    unedited = [Ambiguous(text.line_of(start), _shown(text.utf8[start:end]), (), NOT_TEXT) for start, end, _ in edits]
    return Rewritten(data, 0, tuple(sorted((*ambiguous, *unedited), key=lambda left: left.line)))


def _shown(source: bytes) -> str:
    return source.decode("utf-8", "replace")
