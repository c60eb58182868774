"""Edits of whole sections: text put before, into or behind one, its body replaced, all of it deleted.

Each function gives edits for `Text.splice`. A section runs to the next heading of its level or above, so
it takes in its sub-sections. The blank lines that part it from its neighbours stay: new text beside a
heading is parted by one where the note's own was. `^block` sections are `blockedits`' work. Pure.
"""

import unicodedata
from dataclasses import dataclass
from functools import cached_property

from notes_mcp.errors import InvalidRequestError
from notes_mcp.notes.edits import seams
from notes_mcp.notes.markup import markdown, sections
from notes_mcp.notes.markup.sections import Section
from notes_mcp.notes.markup.spans import Heading, MarkdownScan
from notes_mcp.notes.text import Edit, Text

_MARKDOWN = (".md", ".markdown")


@dataclass(frozen=True)
class Note:
    """One note as an edit sees it. `path` is there for its extension and for messages."""

    path: str
    text: Text

    @property
    def is_markdown(self) -> bool:
        """Whether it can have front matter, headings and blocks."""
        return self.path.lower().endswith(_MARKDOWN)

    @cached_property
    def scan(self) -> MarkdownScan:
        """What is in its Markdown; nothing for other notes."""
        return markdown.scan(self.text.utf8 if self.is_markdown else b"")

    def section(self, name: str) -> Section:
        """Raises like `sections.find`, and InvalidRequestError for a note that is not Markdown."""
        if not self.is_markdown:
            raise InvalidRequestError(
                f"{self.path} is not Markdown, so it has no sections; quote its text as old_text."
            )
        return sections.find(self.scan, self.text.utf8, name)

    def heading_around(self, at: int) -> Heading | None:
        """The heading that begins at `at`, or that `at` would cut in two (setext headings have two lines or more)."""
        return next((heading for heading in self.scan.headings if heading.start <= at < heading.end), None)

    def needs_blank(self, at: int) -> bool:
        """Whether text put before `at` would become part of the setext heading that begins there."""
        heading = self.heading_around(at)
        return heading is not None and not self.text.utf8[heading.start :].lstrip(b" ").startswith(b"#")

    def parted(self, at: int) -> bool:
        """Whether a heading begins at `at` that a blank line parts from what is before it, or has to."""
        return self.heading_around(at) is not None and (seams.blank_before(self.text, at) or self.needs_blank(at))


def append(note: Note, section: Section, new: str) -> Edit:
    """`new` behind the last line with words of the section and its sub-sections."""
    at = seams.past_words(note.text, section.body_start, section.end)
    if at == section.body_start:
        return _fill(note, section.body_start, section.end, new)
    return seams.put_lines(note.text, at, new, parted=at == section.end and note.needs_blank(at))


def prepend(note: Note, section: Section, new: str) -> Edit:
    """`new` right below the heading and the blank lines that follow it, before the section's own text."""
    at = seams.past_blank_lines(note.text, section.body_start, section.own_end)
    if at == section.own_end:
        return _fill(note, section.body_start, section.own_end, new)
    return seams.put_lines(note.text, at, new)


def before(note: Note, section: Section, new: str) -> Edit:
    """`new` above the heading."""
    return seams.put_lines(note.text, section.start, new, parted=note.parted(section.start))


def after(note: Note, section: Section, new: str) -> Edit:
    """`new` behind the section, its sub-sections and the blank lines that end them."""
    return seams.put_lines(note.text, section.end, new, parted=note.parted(section.end))


def replace(note: Note, section: Section, new: str) -> list[Edit]:
    """`new` in place of all below the heading, sub-sections included; "" empties the section.

    The heading stays. If `new` begins with that heading it is not doubled, and taken over where it differs
    in level or case. Blank lines below the heading and at the end of the section stay as they are.
    """
    edits: list[Edit] = []
    first = _heading_of(new)
    if first is not None and _same(first.text, section.heading):
        source = new.encode("utf-8", "replace")
        if (first.level, first.text) != (section.level, section.heading):
            edits.append(_heading_edit(note.text, section, source[first.start : first.end].decode().rstrip("\n")))
        new = source[first.end :].decode()
    return [*edits, _body_edit(note, section, new)]


def delete(note: Note, section: Section) -> Edit:
    """The section gone, heading and sub-sections too; if it is the last, the blank lines before it as well."""
    return gone(note, section.start, section.end)


def gone(note: Note, start: int, end: int) -> Edit:
    """Whole lines taken out, and the blank lines behind them if there are blank ones before them, or nothing.

    At the end of the note the blank lines before them go, and it ends with or without a line end as it did.
    """
    text = note.text
    if start == note.scan.body_start or seams.blank_before(text, start):
        end = seams.past_blank_lines(text, end, len(text.utf8))
    if end < len(text.utf8) or start == 0:
        return start, end, b""
    start = max(seams.past_words(text, 0, start), note.scan.body_start)
    if not text.final_newline and start > note.scan.body_start:
        kept = text.utf8[:start]
        start -= 2 if kept.endswith(b"\r\n") else 1
    return start, end, b""


def _fill(note: Note, start: int, end: int, new: str) -> Edit:
    """`new` into a place where only blank lines are: behind them, and parted from a heading below as they parted it."""
    parted = note.heading_around(end) is not None and (end > start or note.needs_blank(end))
    return seams.put_lines(note.text, end, new, parted=parted)


def _body_edit(note: Note, section: Section, new: str) -> Edit:
    text, start, end = note.text, section.body_start, section.end
    first = seams.past_blank_lines(text, start, end)
    last = seams.past_words(text, start, end)
    if not new.strip(" \t\n"):
        return _emptied(text, section, first, last)
    if first > start:
        new = seams.without_leading_blank_lines(new)
    if first == end:
        return _fill(note, start, end, new)
    if last < end or end == len(text.utf8):
        new = seams.without_trailing_blank_lines(new)
    if text.utf8[last - 1 : last] in (b"\n", b"\r") and not new.endswith("\n"):
        new += "\n"
    if last == end and note.needs_blank(end):
        new = seams.without_trailing_blank_lines(new) + "\n\n"
    return seams.exchange(text, first, last, new)


def _emptied(text: Text, section: Section, first: int, last: int) -> Edit:
    start, end = section.body_start, section.end
    if last == start:
        return start, start, b""
    if end == len(text.utf8):
        return start, end, b""
    return (first, end if first > start else last, b"")


def _heading_of(new: str) -> Heading | None:
    """The heading that `new` begins with, blank lines aside."""
    source = new.encode("utf-8", "replace")
    first = next(iter(markdown.scan(source).headings), None)
    return first if first is not None and not source[: first.start].strip() else None


def _heading_edit(text: Text, section: Section, heading: str) -> Edit:
    line = text.utf8[section.start : section.body_start]
    return seams.exchange(text, section.start, section.start + len(line.rstrip(b"\r\n")), heading)


def _same(one: str, other: str) -> bool:
    return _folded(one) == _folded(other)


def _folded(heading: str) -> str:
    return " ".join(unicodedata.normalize("NFC", heading).casefold().split())
