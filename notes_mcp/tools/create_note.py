"""create_note: title, text, properties, template -> a new file that overwrites nothing.

The text is put together here (template, content, front matter: one block only); the library writes it.
"""

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from notes_mcp.errors import InvalidRequestError, NotFoundError
from notes_mcp.events import Report
from notes_mcp.notes.templates import SETTINGS
from notes_mcp.tools import _fields
from notes_mcp.tools._answer import WriteResult, write_fields
from notes_mcp.tools._names import named, place_of, stem_of, twins
from notes_mcp.tools._places import bare, destination, folder_in
from notes_mcp.tools._template import filled
from notes_mcp.tools._tool import Arguments, tool

if TYPE_CHECKING:
    from notes_mcp.notes.library import Library


class Args(Arguments):
    title: str = Field(description="Its path: Projects/Plan makes folders")
    content: str | None = Field(None, description="Below the template's")
    folder: str | None = Field(None, description="Where to")
    properties: dict[str, Any] = Field({}, description="Front matter")
    template: str | None = Field(None, description="Name in Templates/")
    dry_run: bool = Field(False, description="Only show")


class Created(WriteResult):
    unlisted: ClassVar[tuple[str, ...]] = (*WriteResult.unlisted, "diff")
    uri: str


@tool(title="Create note", read_only=False)
async def create_note(args: Args, library: "Library", report: Report) -> Created:
    """Create a note. A taken name is an error."""
    title = bare(args.title)
    there, rest, warnings = await destination(library, place_of(title, await folder_in(library, args.folder)))
    # A note may have the name of a folder that is there.
    inside, name = (there, rest) if rest else (there.rpartition("/")[0], there.rpartition("/")[2])
    path = named(f"{inside}/{name}" if inside else name, warnings)
    if warnings:
        warnings.append(f"The note is named {path}")
    text = args.content or ""
    if args.template is not None:
        templates = await library.templates(path)
        if templates.problem:
            warnings.append(f"{SETTINGS} is {templates.problem}.")
        template = await _template(library, args.template, path, templates.folder)
        text = filled(template, _name(title), datetime.now().astimezone(), templates, text)
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
    return Created(**write_fields(written, dry_run=args.dry_run, warnings=warnings), uri=written.uri)


async def _template(library: "Library", name: str, path: str, folder: str) -> str:
    """The text of a note in the folder of templates, which with several folders is in the new note's own."""
    top = f"{path.partition('/')[0]}/" if len(library.settings.folders) > 1 else ""
    inner = name.strip().replace("\\", "/").removeprefix(top).removeprefix(f"{folder}/")
    try:
        document = await library.read(f"{top}{folder}/{inner}")
    except NotFoundError as error:
        nearest = [other for other in error.nearest if f"{folder}/" in other]
        raise NotFoundError(
            f'There is no template "{name}" in {top}{folder}/; list_notes with that folder shows them. '
            "Nothing was written.",
            nearest,
        ) from None
    if document.text is None or not document.text.valid:
        raise InvalidRequestError(f"The template {document.path} is not text that can be used. Nothing was written.")
    return document.text.text


def _name(title: str) -> str:
    """The last part of the title as it was given, before anything was changed for the disk."""
    return stem_of(title.replace("\\", "/").rpartition("/")[2].strip())
