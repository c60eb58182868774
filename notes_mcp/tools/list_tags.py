"""list_tags: one page of the tags in use, the most used first."""

from typing import TYPE_CHECKING

from pydantic import Field

from notes_mcp.events import Report
from notes_mcp.tools._answer import Progress, clip, fit_page, progress
from notes_mcp.tools._places import folder_in
from notes_mcp.tools._tool import Arguments, Result, tool

if TYPE_CHECKING:
    from notes_mcp.notes.library import Library


class Args(Arguments):
    prefix: str = Field("", description="Begins with")
    folder: str | None = Field(None, description="Below this")
    limit: int = Field(100, ge=1, le=500, description="Page size")
    cursor: str | None = Field(None, description="next_cursor")


class TagRow(Result):
    tag: str
    notes: int


class Tags(Result):
    tags: list[TagRow]
    total: int
    index: Progress | None = None
    next_cursor: str | None = None


@tool(title="List tags", read_only=True, idempotent=True)
async def list_tags(args: Args, library: "Library", report: Report) -> Tags:
    """Tags with their number of notes, most used first. Notes with #a/b count for #a too."""

    folder = await folder_in(library, args.folder)

    async def ask(limit: int) -> tuple[Tags, int]:
        page = await library.tags(prefix=args.prefix, folder=folder, limit=limit, cursor=args.cursor or None)
        found = Tags(
            tags=[TagRow(tag=clip(tag), notes=notes) for tag, notes in page.tags],
            total=page.total,
            index=progress(page.state),
            next_cursor=page.next_cursor,
        )
        return found, len(page.tags)

    return await fit_page(ask, args.limit, library.settings.max_answer_chars)
