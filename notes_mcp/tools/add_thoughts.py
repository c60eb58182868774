"""add_thoughts: a dated entry at the end of a section, made if missing; today's daily note by default.

`added` is pure and runs in the writer's thread on the bytes as they are then. Bytes outside of the entry
stay: the new lines go behind the last line of the section that has words in it.
"""

import re
from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import Field

from notes_mcp.errors import InvalidRequestError, NoteError, NotFoundError
from notes_mcp.events import Report
from notes_mcp.notes.answers import Document
from notes_mcp.notes.daily import SETTINGS
from notes_mcp.notes.markup import markdown, sections
from notes_mcp.notes.text import Text
from notes_mcp.tools._answer import WriteResult, write_fields
from notes_mcp.tools._dates import stamp
from notes_mcp.tools._names import stem_of
from notes_mcp.tools._places import with_section
from notes_mcp.tools._template import filled
from notes_mcp.tools._tool import Arguments, tool

if TYPE_CHECKING:
    from notes_mcp.notes.library import Library

_MARKS = re.compile(r"(#{1,6})\s+(.*)", re.DOTALL)
_BLANKS = re.compile(rb"[ \t]*")
_SECTION = "Thoughts"
_NO_SECTIONS = "Only Markdown notes have sections, so the entry went to the end of the file."
_LINE_ENDS = re.compile(r"\r\n|\r|\n")
_MARKDOWN = (".md", ".markdown")


class Args(Arguments):
    thoughts: str = Field(description="Markdown; the date is put before it")
    path: str | None = Field(None, description="A note that exists, or a daily one, made if missing; default today's")
    section: str | None = Field(None, description="Heading, made if missing; default Thoughts")


@tool(title="Add thoughts", read_only=False)
async def add_thoughts(args: Args, library: "Library", report: Report) -> WriteResult:
    """Add a dated entry at the end of a section of a note. Nothing else in the note changes."""
    if not args.thoughts.strip():
        raise InvalidRequestError("thoughts holds no words; nothing was written.")
    now = datetime.now().astimezone()
    entry = entry_of(args.thoughts, now)

    ref, fragment = (None, None) if args.path is None else await with_section(library, args.path)
    section = args.section or fragment
    unused: list[str] = []

    def transform(document: Document) -> bytes:
        unused[:] = [_NO_SECTIONS] if section and not document.path.lower().endswith(_MARKDOWN) else []
        return added(document, entry, section or _SECTION)

    day = now.date()
    said = []
    if ref is not None:
        try:
            written = await library.edit(ref, transform, tool="add_thoughts")
            return WriteResult(**write_fields(written, warnings=unused))
        except NotFoundError:
            asked = await library.daily_day(ref)
            if asked is None or await _is_there(library, await library.daily_path(asked)):
                raise
            day = asked
            said.append("There was no such daily note, so it was made.")
    problem = await library.daily_problem()
    misread = [f"{SETTINGS} is {problem}."] if problem else []
    path = await library.daily_path(day)
    moment = now if day == now.date() else datetime.combine(day, now.timetz())
    start, warnings = await _daily_start(library, path, moment)
    # By its URI, since a bare name could mean a note of that name in another folder.
    written = await library.edit(library.uri(path), transform, tool="add_thoughts", create=start.encode())
    made = [] if written.previous_etag else [*said, *warnings]
    return WriteResult(**write_fields(written, warnings=misread + made))


async def _is_there(library: "Library", path: str) -> bool:
    try:
        await library.resolve(library.uri(path))
    except NotFoundError:
        return False
    return True


async def _daily_start(library: "Library", path: str, now: datetime) -> tuple[str, list[str]]:
    """What a new daily note starts from: the template that Obsidian's settings name, filled in; else nothing."""
    name = await library.daily_template()
    if name is None:
        return "", []
    try:
        document = await library.read(name)
    except NoteError as error:
        return "", [f"The daily note was made without its template {name}: {error}"]
    if document.text is None or not document.text.valid:
        return "", [f"The daily note was made without its template: {document.path} is not text that can be used."]
    templates = await library.templates(path)
    return filled(document.text.text, stem_of(path), now, templates), []


def entry_of(thoughts: str, now: datetime) -> str:
    """A list item that begins with date and time; further lines are indented, so that they belong to it."""
    lines = _LINE_ENDS.split(thoughts.strip("\r\n").rstrip())
    first = lines[0].strip() if len(lines) == 1 else lines[0].rstrip()
    # A list, quote, fence or heading begins on a line of its own, or it would not be one.
    if re.match(r"\s*(?:[-*+>|#]|\d+[.)]\s|```|~~~)", first) and len(lines) > 1:
        first, lines = "", ["", *lines]
    indented = [f"  {line}" if line.strip() else "" for line in lines[1:]]
    return "\n".join([f"- {stamp(now, 'YYYY-MM-DD HH:mm')} {first}".rstrip(), *indented])


def added(document: Document, entry: str, section: str) -> bytes:
    """The note's bytes with `entry` at the end of `section`; the heading is made at the end if there is none.

    Raises NotTextError, AmbiguousError, and NotFoundError for a block or a path of headings that is not there.
    """
    text = document.text
    if text is None:
        raise InvalidRequestError(f"{document.path} is not a note; thoughts go into notes only. Nothing was written.")
    if not document.path.lower().endswith(_MARKDOWN):
        return _append(text, 0, len(text.utf8), entry, gap=1)
    scan = markdown.scan(text.utf8)
    try:
        found = sections.find(scan, text.utf8, section)
    except NotFoundError:
        if section.lstrip().startswith(("^", "#^")) or ">" in section:
            raise
        gap = 2 if text.utf8[scan.body_start :].strip() else 1
        heading = _heading(section)
        after = _append(text, 0, len(text.utf8), f"{heading}\n\n{entry}", gap)
        _require_heading(after, heading, document.path)
        return after
    return _append(text, found.start, found.end, entry, gap=1 if _has_words(text, found) else 2)


def _append(text: Text, start: int, end: int, new: str, gap: int) -> bytes:
    """`new` behind the last line with words in `start:end`, `gap` line ends between; what ended that line, or
    nothing at the end of the file, then ends the new one."""
    words = text.utf8[start:end].rstrip(b" \t\r\n")
    if not words:
        return text.splice([(start, start, text.adapt(new + "\n"))])
    blanks = _BLANKS.match(text.utf8, start + len(words), end)
    at = blanks.end() if blanks else start + len(words)
    return text.splice([(at, at, text.adapt("\n" * gap + new))])


def _require_heading(after: bytes, heading: str, path: str) -> None:
    """An unclosed fence or comment would swallow the heading, and each call would make another one."""
    made = Text.decode(after)
    lines = [found.raw for found in markdown.scan(made.utf8).headings[-1:]]
    if lines != [heading.lstrip("#").strip()]:
        raise InvalidRequestError(
            f"{path} ends inside of code or a comment that is never closed, so a heading there would not be one. "
            "Close it first; nothing was written."
        )


def _has_words(text: Text, found: sections.Section) -> bool:
    return bool(text.utf8[found.body_start : found.end].strip())


def _heading(section: str) -> str:
    marks = _MARKS.match(section.strip())
    words = " ".join((marks[2] if marks else section.lstrip("#")).split())
    if not words:
        raise InvalidRequestError("section needs words: it becomes a heading.")
    return f"{marks[1] if marks else '##'} {words}"
