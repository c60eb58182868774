"""list_notes: one page of the folder's notes, and the folders directly below."""

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from notes_mcp.events import Report
from notes_mcp.notes.answers import NotePage
from notes_mcp.tools._answer import NoteRow, Progress, fit_page, fit_rows, note_row, progress
from notes_mcp.tools._none import nothing
from notes_mcp.tools._places import folder_in
from notes_mcp.tools._tool import Arguments, Result, tool

if TYPE_CHECKING:
    from notes_mcp.notes.library import Library


class Args(Arguments):
    folder: str | None = Field(None, description="Below this")
    glob: str | None = Field(None, description="As **/2026-*.md")
    tag: str | None = Field(None, description="Has this tag")
    recursive: bool = Field(True, description="Subfolders too")
    sort: Literal["path", "modified", "size"] = Field("path", description="Newest or largest first")
    limit: int = Field(50, ge=1, le=200, description="Page size")
    cursor: str | None = Field(None, description="next_cursor")


class FolderRow(Result):
    path: str
    notes: int


class Listing(Result):
    notes: list[NoteRow]
    folders: list[FolderRow]
    more_folders: int | None = None
    total: int
    index: Progress | None = None
    did_you_mean: list[str] | None = None
    warnings: list[str] | None = None
    next_cursor: str | None = None


@tool(title="List notes", read_only=True, idempotent=True)
async def list_notes(args: Args, library: "Library", report: Report) -> Listing:
    """A page of notes; the first one has the folders below too."""
    max_chars = library.settings.max_answer_chars
    tag = (args.tag or "").strip().lstrip("#") or None

    folder = await folder_in(library, args.folder)

    async def ask(limit: int) -> tuple[Listing, int]:
        page = await library.list_notes(
            folder=folder,
            glob=args.glob or None,
            tag=tag,
            recursive=args.recursive,
            sort=args.sort,
            limit=limit,
            cursor=args.cursor,
        )
        return _listing(page, args.cursor is None, max_chars // 4), len(page.notes)

    listing = await fit_page(ask, args.limit, max_chars)
    if listing.total or not (tag or args.glob):
        return listing
    said, near = await nothing(library, tags=[tag] if tag else [], glob=args.glob)
    return listing.model_copy(update={"warnings": said or None, "did_you_mean": near or None})


def _listing(page: NotePage, first: bool, max_folder_chars: int) -> Listing:
    """Folders stand on the first page alone, and may take a part of it only."""
    folders = [FolderRow(path=path, notes=notes) for path, notes in page.folders] if first else []
    shown = fit_rows(folders, max_folder_chars)
    return Listing(
        notes=[note_row(note) for note in page.notes],
        folders=shown,
        more_folders=len(folders) - len(shown) or None,
        total=page.total,
        index=progress(page.state),
        next_cursor=page.next_cursor,
    )
