"""read_note: one file -> a block of facts and a block with its text, verbatim, or with the picture or sound.

Text is cut at line borders to the size of an answer, and the facts say how to go on. Works on byte spans
of the note's UTF-8 (`Text.utf8`), so that a long note costs no more than what is shown of it.
"""

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from notes_mcp.errors import InvalidRequestError, TooLargeError
from notes_mcp.events import Report
from notes_mcp.notes.answers import Document
from notes_mcp.notes.markup import markdown, sections
from notes_mcp.notes.markup.markdown import MarkdownScan
from notes_mcp.notes.text import Text
from notes_mcp.notes.uris import mime_type
from notes_mcp.tools._answer import clip
from notes_mcp.tools._dates import iso
from notes_mcp.tools._places import with_section
from notes_mcp.tools._tool import Arguments, Content, tool
from notes_mcp.tools._window import Window, cut, place

if TYPE_CHECKING:
    from notes_mcp.notes.library import Library

_SHOWN_PICTURES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))  # what models take
_FACTS_CHARS = 800  # kept free for the facts, beside the path


class Args(Arguments):
    path: str = Field(description="Path, name, URI or Note#Heading")
    section: str | None = Field(None, description="Heading, A > B or ^block")
    view: Literal["content", "outline", "properties", "links"] = Field("content", description="links: outgoing")
    start_line: int | None = Field(None, ge=1, description="First line")
    start_char: int | None = Field(None, ge=1, description="Within a long line")
    max_chars: int = Field(20_000, ge=1, description="At most")


@tool(title="Read note", read_only=True, idempotent=True)
async def read_note(args: Args, library: "Library", report: Report) -> Content:
    """Read a note: path, etag, lines, then its text word for word, in parts if long. Also pictures, sounds."""
    path, fragment = await with_section(library, args.path)
    if fragment is not None and args.section is None:
        args = args.model_copy(update={"section": fragment})
    # A scan of a long note takes its time, and its plain text needs none.
    document = await library.read(path, scan=args.section is not None or args.view in ("outline", "links"))
    text, scan = _text_of(document), document.scan
    if text is None:
        return _attachment(document, library.settings.max_resource_bytes)
    facts = _facts(document)
    if document.text is None:
        facts.append(f"type: {_type(document)}")
    if not text.valid:
        facts.append(f"invalid: not valid {text.encoding.upper()}; bad bytes are shown as U+FFFD; it cannot be edited")
        text = Text.decode(text.text.encode())
        scan = markdown.scan(text.utf8) if scan is not None else None
    room = library.settings.max_answer_chars - _FACTS_CHARS - len(document.path)
    room = max(1, min(args.max_chars, room))
    if args.view in ("outline", "links"):
        return _answer(facts, _listed(args, _markdown_of(scan, document, args.view), text, room, facts))
    return _answer(facts, _part(args, scan, document, text, room, facts))


def _part(args: Args, scan: MarkdownScan | None, document: Document, text: Text, room: int, facts: list[str]) -> str:
    """The text of the note, of a section or of its front matter."""
    span = (0, len(text.utf8))
    if args.view == "properties":
        front = markdown.front_matter(text.utf8) if document.mime_type == "text/markdown" else None
        if front is None:
            facts.append("properties: none")
            return ""
        span = front
    elif args.section is not None:
        found = sections.find(_markdown_of(scan, document, "section"), text.utf8, args.section)
        span = (found.start, found.end)
        facts.append(f"section: {clip(found.heading)} (line {found.line})")
    start = place(text, span, args.start_line, args.start_char)
    window = cut(text, start, span[1], room)
    facts += _extent(window, text)
    return window.text


def _listed(args: Args, scan: MarkdownScan, text: Text, room: int, facts: list[str]) -> str:
    """The outline or the links of the note or a section, one a line, from `start_line` of the note on."""
    start, end = 0, len(text.utf8)
    if args.section is not None:
        found = sections.find(scan, text.utf8, args.section)
        start, end = found.start, found.end
        facts.append(f"section: {clip(found.heading)} (line {found.line})")
    if args.view == "outline":
        headings = zip(scan.headings, sections.outline(scan), strict=True)
        rows = [(heading.line, shown) for heading, shown in headings if start <= heading.start < end]
    else:
        links = [link for link in scan.links if start <= link.start < end]
        rows = [(link.line, f"{link.line}: {_source(text, link.start, link.end)}") for link in links]
    rows = [(line, clip(row, room)) for line, row in rows if line >= (args.start_line or 1)]
    shown = _fitting(rows, room)
    facts.append(f"{args.view}: {len(shown)} of {len(rows)}")
    if len(shown) < len(rows):
        after = rows[len(shown)][0]
        if shown and after == rows[0][0]:
            after += 1  # one line full of links: what is left of it would come again and again
        facts.append(f"cut: to go on, call read_note with view={args.view}, start_line={after}")
    return "\n".join(row for _, row in shown)


def _fitting(rows: Sequence[tuple[int, str]], room: int) -> Sequence[tuple[int, str]]:
    for count, (_, row) in enumerate(rows):
        room -= len(row) + 1
        if room < 0:
            return rows[: max(count, 1)]
    return rows


def _source(text: Text, start: int, end: int) -> str:
    source = text.utf8[start : min(end, start + 2000)].decode("utf-8", "replace")
    return " ".join((source if len(source) <= 300 else source[:299] + "…").split())


def _extent(window: Window, text: Text) -> list[str]:
    if not text.utf8:
        return ["lines: none, the note is empty"]
    lines = f"lines: {window.first_line}-{window.last_line} of {text.line_count}"
    if window.next_line is None:
        return [lines]
    how = f"start_line={window.next_line}"
    if window.next_char is not None:
        how += f", start_char={window.next_char}"
    return [lines, f"cut: to go on, call read_note with {how}"]


def _facts(document: Document) -> list[str]:
    return [
        f"path: {document.path}",
        f"etag: {document.etag}",
        f"modified: {iso(document.modified_ns)}",
        f"size: {document.size} bytes",
    ]


def _answer(facts: Sequence[str], text: str) -> Content:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": "\n".join(facts)}]
    if text:  # some clients refuse an empty block
        blocks.append({"type": "text", "text": text})
    return Content(tuple(blocks))


def _markdown_of(scan: MarkdownScan | None, document: Document, what: str) -> MarkdownScan:
    if scan is None or document.mime_type != "text/markdown":
        raise InvalidRequestError(
            f"{document.path} is not Markdown, so there is no {what} to show; read it with view=content and start_line."
        )
    return scan


def _text_of(document: Document) -> Text | None:
    """The text of a note, or of an attachment that is text (CSV, JSON, SVG, canvas, …)."""
    if document.text is not None:
        return document.text
    kind = document.mime_type.partition("/")[0]
    if kind in ("image", "audio", "video") and document.mime_type != "image/svg+xml":
        return None
    text = Text.decode(document.data)
    return text if text.valid and b"\0" not in text.utf8 else None


def _type(document: Document) -> str:
    named = mime_type(document.path)
    return document.mime_type if named == document.mime_type else f"{document.mime_type}, though its name says {named}"


def _attachment(document: Document, max_bytes: int) -> Content:
    """A picture or sound as itself; anything else as a link to the resource (2026-07-28 server/tools)."""
    facts = [*_facts(document), f"type: {_type(document)}"]
    kind = document.mime_type.partition("/")[0]
    if kind == "image" and document.mime_type not in _SHOWN_PICTURES:
        facts.append("content: a picture that models cannot look at; a copy as PNG or JPEG would be shown")
        kind = "other"
    elif kind not in ("image", "audio") or not document.data:
        facts.append("content: not text, so it is not shown here; as a resource its bytes can be had")
        kind = "other"
    if kind == "other":
        link = {
            "type": "resource_link",
            "uri": document.uri,
            "name": document.path.rpartition("/")[2],
            "mimeType": document.mime_type,
            "size": document.size,
        }
        return Content(({"type": "text", "text": "\n".join(facts)}, link))
    if len(document.data) > max_bytes:
        raise TooLargeError(
            f"{document.path} has {document.size} bytes; pictures and sounds are shown up to {max_bytes} bytes."
        )
    data = base64.b64encode(document.data).decode("ascii")
    block = {"type": kind, "data": data, "mimeType": document.mime_type}
    return Content(({"type": "text", "text": "\n".join(facts)}, block))
