"""create_note: title, text, properties, template -> a new file that overwrites nothing.

The text is put together here (template, content, front matter: one block only); the library writes it.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import Field

from notes_mcp.errors import InvalidRequestError, NotFoundError
from notes_mcp.events import Report
from notes_mcp.notes import markdown
from notes_mcp.notes.text import Text
from notes_mcp.tools import _fields
from notes_mcp.tools._dates import stamp
from notes_mcp.tools._names import path_of, stem_of, twins
from notes_mcp.tools._places import folder_of
from notes_mcp.tools._tool import Arguments, Result, tool

if TYPE_CHECKING:
    from notes_mcp.notes.library import Library

_PLACEHOLDER = re.compile(r"\{\{\s*(title|date|time|content)\s*(?::([^{}]*))?\}\}", re.IGNORECASE)
_FORMATS = {"date": "YYYY-MM-DD", "time": "HH:mm"}  # as Obsidian's templates have them
_TEMPLATES = "Templates"


class Args(Arguments):
    title: str = Field(description="Projects/Plan makes folders")
    content: str | None = Field(None, description="Text")
    folder: str | None = Field(None, description="Where to")
    properties: dict[str, Any] = Field({}, description="Front matter")
    template: str | None = Field(None, description="From Templates/")
    dry_run: bool = Field(False, description="Only show")


class Created(Result):
    path: str
    uri: str
    etag: str
    change_id: str | None = None
    warnings: list[str] | None = None
    diff: str | None = None

    def verbatim(self) -> Sequence[str]:
        return (self.diff,) if self.diff else ()


@tool(title="Create note", read_only=False)
async def create_note(args: Args, library: "Library", report: Report) -> Created:
    """Create a note. Never overwrites: a name that is taken is an error."""
    path, warnings = path_of(args.title, folder_of(args.folder))
    if warnings:
        warnings.append(f"The note is named {path}")
    template = None if args.template is None else await _template(library, args.template, path)
    text = _text(args, template)
    is_markdown = path.lower().endswith((".md", ".markdown"))
    if args.properties:
        if not is_markdown:
            raise InvalidRequestError(f"Only Markdown notes have properties; {path} is none. Leave properties out.")
        text = _fields.with_properties(text, args.properties)
    if is_markdown and (problem := _fields.problem(text)):
        warnings.append(problem)
    stem = stem_of(path)
    names, _ = await library.names("paths", re.sub(r"[-_]", " ", stem), 50)
    near = twins(path, names)
    if near:
        warnings.append(f"There is a note of nearly the same name: {', '.join(near[:3])}")
    written = await library.create(path, text, dry_run=args.dry_run, tool="create_note")
    return Created(
        path=written.path,
        uri=written.uri,
        etag=written.etag,
        change_id=written.change_id,
        warnings=warnings or None,
        diff=written.diff if args.dry_run else None,
    )


async def _template(library: "Library", name: str, path: str) -> str:
    """The text of a note in `Templates/`, which with several folders is in the new note's own."""
    top = f"{path.partition('/')[0]}/" if len(library.settings.folders) > 1 else ""
    inner = name.strip().replace("\\", "/").removeprefix(top).removeprefix(f"{_TEMPLATES}/")
    try:
        document = await library.read(f"{top}{_TEMPLATES}/{inner}")
    except NotFoundError as error:
        nearest = [other for other in error.nearest if f"{_TEMPLATES}/" in other]
        raise NotFoundError(f'There is no template "{name}" in {top}{_TEMPLATES}/.', nearest) from None
    if document.text is None or not document.text.valid:
        raise InvalidRequestError(f"The template {document.path} is not text that can be used.")
    return document.text.text


def _text(args: Args, template: str | None) -> str:
    """Template with its placeholders filled; the content goes where `{{content}}` is, else to its end."""
    content = args.content or ""
    if template is None:
        return content
    now = datetime.now().astimezone()
    base = Text.decode(template.encode())
    content = base.adapt(content)
    front = markdown.front_matter(content.encode())
    own = _fields.values(content) if front else {}
    body = content.encode()[front[1] :].decode() if front and own else content
    values = {"title": _name(args.title), "content": body}
    used = False

    def fill(found: re.Match[str]) -> str:
        nonlocal used
        kind = found[1].lower()
        used = used or kind == "content"
        return stamp(now, found[2] or _FORMATS[kind]) if kind in _FORMATS else values[kind]

    text = _PLACEHOLDER.sub(fill, template)
    if body and not used:
        gap = "" if not text or text.endswith(("\n", "\r")) else base.newline
        text = text + gap + body
    return _fields.with_properties(text, own) if own else text


def _name(title: str) -> str:
    """The last part of the title as it was given, before anything was changed for the disk."""
    return stem_of(title.replace("\\", "/").rpartition("/")[2].strip())
