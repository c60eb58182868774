"""The engine of `edit_note`: a list of edits over one note's bytes, in order, all of them or none.

Each edit is turned into spans of `Text.utf8` and new text for them, and `Text.splice` makes the new bytes,
so every byte outside of those spans stays: line ends, byte order mark, encoding, final newline, front
matter. New text is literal but for its line ends, which become the note's. Pure; knows no file.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from notes_mcp.errors import AmbiguousError, InvalidRequestError, NoteError, NotFoundError
from notes_mcp.notes.edits import blockedits, passages, seams, sectionedits
from notes_mcp.notes.edits.passages import Span
from notes_mcp.notes.edits.sectionedits import Note
from notes_mcp.notes.markup.markdown import front_matter
from notes_mcp.notes.text import Edit as Splice
from notes_mcp.notes.text import Text

Op: TypeAlias = Literal[
    "replace", "append", "prepend", "insert_before", "insert_after", "replace_section", "delete_section"
]

_LINE_END = re.compile(r"\r\n|\r")
_QUOTING = ("replace", "insert_before", "insert_after")
_ADDING = ("append", "prepend", "insert_before", "insert_after")


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit. "" counts as not given for `old_text` and `section`, and for `text` where text cannot be empty.

    - `replace`: `old_text`, which must stand there `count` times (all line ends count as equal) and must not
      overlap, becomes `text`; "" deletes it. `section` limits where it is looked for.
    - `append`: `text` as lines at the end of the note; with `section` behind the last line with words of
      that section and its sub-sections. A line end goes between where the last line has none.
    - `prepend`: `text` as lines at the top of the note, below the front matter and its blank lines; with
      `section` right below its heading and the blank lines there.
    - `insert_before`, `insert_after`: `text` as lines of their own beside the line or lines in which
      `old_text` stands (`count` times; `section` limits where), or beside the whole `section`.
    - `replace_section`: all below the heading, sub-sections too, becomes `text`. The heading stays; it may be
      sent as the first line of `text`. `^block`: exactly that block; its mark stays.
    - `delete_section`: heading, text and sub-sections go; or the block and its mark.
    """

    op: Op
    text: str | None = None
    old_text: str | None = None
    section: str | None = None
    count: int = 1


@dataclass(frozen=True, slots=True)
class Applied:
    """`line` (1-based) is where the edit's first change stands in the note after all edits."""

    op: Op
    line: int


@dataclass(frozen=True, slots=True)
class Edited:
    """The note's new bytes, and one `Applied` for each edit."""

    data: bytes
    applied: tuple[Applied, ...]


def apply(path: str, data: bytes, edits: Sequence[Edit]) -> Edited:
    """The note at `path` (which tells whether it is Markdown) after all edits, each seeing what those before it did.

    Raises NotTextError if the note is not valid in its encoding. An edit that cannot be done raises
    InvalidRequestError (also: no such text, or not `count` times), NotFoundError or AmbiguousError (section),
    each saying which edit it is and that nothing was written.
    """
    original = text = Text.decode(data)
    text.require_valid()
    places: list[int] = []
    for number, edit in enumerate(edits, 1):
        note = Note(path, text)
        try:
            splices = sorted(_splices(note, edit), key=lambda splice: splice[:2])
            after = Text.decode(text.splice(splices))
            _require_safe(note, after, splices, edit)
        except (InvalidRequestError, NotFoundError, AmbiguousError) as error:
            raise _told(error, f"Edit {number} of {len(edits)} ({edit.op})", _hint(original, text, edit)) from None
        places = [_moved(place, splices) for place in places]
        places.append(_first_change(text, splices))
        text = after
    lines = [text.line_of(min(place, len(text.utf8))) for place in places]
    return Edited(text.data, tuple(Applied(edit.op, line) for edit, line in zip(edits, lines, strict=True)))


def _splices(note: Note, edit: Edit) -> Sequence[Splice]:
    new, old_text, section = _required(edit)
    if edit.op == "replace":
        return [seams.exchange(note.text, *span, new) for span in _quoted(note, old_text, section, edit.count)]
    if edit.op in _QUOTING and old_text:
        spans = _quoted(note, old_text, section, edit.count)
        places = {_beside(note, span, edit.op) for span in spans}
        return [seams.put_lines(note.text, at, new, parted=note.needs_blank(at)) for at in sorted(places)]
    if section:
        return _section_splices(note, edit.op, section, new)
    if edit.op == "append":
        return [seams.put_lines(note.text, len(note.text.utf8), new)]
    return [_at_the_top(note, new)]


def _quoted(note: Note, old_text: str, section: str, count: int) -> list[Span]:
    if not section:
        return passages.find(note.text, old_text, count)
    found = note.section(section)
    return passages.find(note.text, old_text, count, (found.start, found.end), home=f'the section "{found.heading}"')


def _beside(note: Note, span: Span, op: Op) -> int:
    """Where lines go before or after the whole lines that hold `span`; never into the middle of a heading."""
    at = span[0] if op == "insert_before" else span[1] - 1
    start, end = note.text.line_span(note.text.line_of(at))
    heading = note.heading_around(at)
    if heading is not None:
        start, end = heading.start, heading.end
    return start if op == "insert_before" else end


def _at_the_top(note: Note, new: str) -> Splice:
    if not note.is_markdown:
        return seams.put_lines(note.text, 0, new)
    start, size = note.scan.body_start, len(note.text.utf8)
    if note.scan.front_matter and front_matter(new.encode("utf-8", "replace")):
        raise InvalidRequestError(
            "The text begins with front matter, and the note has its own already; a note has one. "
            "Change properties with set_properties, and send the rest of the text without them."
        )
    at = seams.past_blank_lines(note.text, start, size) if start else 0
    return seams.put_lines(note.text, at, new, parted=note.parted(at))


def _section_splices(note: Note, op: Op, name: str, new: str) -> Sequence[Splice]:
    section = note.section(name)
    if section.level:
        if op == "replace_section":
            return sectionedits.replace(note, section, new)
        if op == "delete_section":
            return [sectionedits.delete(note, section)]
        adding = {
            "append": sectionedits.append,
            "prepend": sectionedits.prepend,
            "insert_before": sectionedits.before,
            "insert_after": sectionedits.after,
        }
        return [adding[op](note, section, new)]
    block = blockedits.named(note, section)
    if op == "delete_section":
        return [blockedits.delete(block)]
    changing = {
        "replace_section": blockedits.replace,
        "append": blockedits.append,
        "prepend": blockedits.before,
        "insert_before": blockedits.before,
        "insert_after": blockedits.after,
    }
    return [changing[op](block, new)]


def _required(edit: Edit) -> tuple[str, str, str]:
    """(text with LF alone, old_text, section), "" for what is not given. Raises InvalidRequestError for a misfit."""
    text, old_text, section = edit.text or "", edit.old_text or "", (edit.section or "").strip()
    wrong = ""
    if edit.op not in get_args(Op):
        wrong = f"there is no such op; there are {', '.join(get_args(Op))}"
    elif edit.op in _ADDING and not text:
        wrong = "it needs text"
    elif edit.op in ("replace", "replace_section") and edit.text is None:
        wrong = 'it needs text; text="" deletes'
    elif edit.op == "replace" and not old_text:
        wrong = (
            "it needs old_text, word for word as it stands in the note; for a whole section there is replace_section"
        )
    elif old_text and edit.op not in _QUOTING:
        wrong = f"old_text is for {', '.join(_QUOTING)}"
    elif edit.op in ("insert_before", "insert_after") and not old_text and not section:
        wrong = "it needs old_text or section to say where; for the top or end of the note there are prepend and append"
    elif edit.op in ("replace_section", "delete_section") and not section:
        wrong = "it needs section: a heading, A > B, or ^block"
    elif edit.op == "delete_section" and text:
        wrong = "it takes no text; to put text in place of the section, send replace_section"
    elif edit.count < 1:
        wrong = "count is how many times old_text stands there: 1 or more"
    elif edit.count > 1 and not old_text:
        wrong = "count goes with old_text"
    if wrong:
        raise InvalidRequestError(f"{wrong[0].upper()}{wrong[1:]}.")
    return _LINE_END.sub("\n", text), old_text, section


def _require_safe(note: Note, after: Text, splices: Sequence[Splice], edit: Edit) -> None:
    if (after.encoding, after.bom) != (note.text.encoding, note.text.bom):
        raise InvalidRequestError("It would put a byte order mark first, and the file would be read in another way.")
    front = front_matter(note.text.utf8) if note.is_markdown and edit.op != "replace" else None
    if front is None:
        return
    now = front_matter(after.utf8)
    if now is None or any(start == 0 and new for start, _, new in splices):
        raise InvalidRequestError(
            "It would part the front matter from the top of the note, where alone it is front matter. "
            "To put text above all other text, send prepend without section."
        )


def _moved(place: int, splices: Sequence[Splice]) -> int:
    """Where the byte at `place` is after further splices; the start of what took its place if it is gone."""
    shift = 0
    for start, end, new in splices:
        if place < end or (place == start and start < end):
            return min(place, start) + shift
        if end <= place:
            shift += _size(new) - (end - start)
    return place + shift


def _first_change(text: Text, splices: Sequence[Splice]) -> int:
    """Where the first edit of these shows in the note after it: blank lines at its front left out."""
    start, _, new = splices[0]
    put = new if isinstance(new, bytes) else new.encode()
    words = put.lstrip(b"\r\n")
    return start + (len(put) - len(words) if words else 0)


def _size(new: bytes | str) -> int:
    return len(new if isinstance(new, bytes) else new.encode())


def _hint(original: Text, text: Text, edit: Edit) -> str:
    if text is original:
        return ""
    gone = edit.old_text and not text.occurrences(edit.old_text) and original.occurrences(edit.old_text)
    moved = " It was there before the edits in front of this one." if gone else ""
    return f"{moved} Lines count as they are after the edits in front of this one."


def _told(error: NoteError, which: str, hint: str) -> NoteError:
    """The same error, saying which edit it is and that nothing was written."""
    said = f"{which}: {error}{hint}"
    if "othing was written" not in said:
        said += " Nothing was written."
    if isinstance(error, NotFoundError):
        return NotFoundError(said, error.nearest)
    if isinstance(error, AmbiguousError):
        return AmbiguousError(said, error.candidates)
    return InvalidRequestError(said)
