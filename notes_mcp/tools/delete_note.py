"""delete_note: a note or attachment -> `.trash/`, or away for good."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from notes_mcp.events import Report
from notes_mcp.tools._answer import fit_names
from notes_mcp.tools._tool import Arguments, Result, tool

if TYPE_CHECKING:
    from notes_mcp.notes.library import Library

_NO_UNDO = "This change could not be put into the journal, so undo_change cannot bring the file back."


class Args(Arguments):
    path: str = Field(description="Note or attachment, no folder")
    permanent: bool = Field(False, description="No copy in .trash/; undo_change still works")
    if_match: str | None = Field(None, description="etag it must have")
    dry_run: bool = Field(False, description="Only show")


class Gone(Result):
    dry_run: bool | None = None
    path: str
    trashed_to: str | None = None
    backlinks_left: list[str]
    more_backlinks: int | None = None
    change_id: str | None = None
    previous_etag: str | None = None
    bytes_before: int | None = None
    diff: str | None = None
    warnings: list[str] | None = None

    def verbatim(self) -> Sequence[str]:
        return (self.diff,) if self.diff else ()


@tool(title="Delete note", read_only=False, destructive=True)
async def delete_note(args: Args, library: "Library", report: Report) -> Gone:
    """Move a note to .trash/; backlinks_left are the notes that still link to it. Undo with change_id."""
    deleted = await library.delete(
        args.path, permanent=args.permanent, if_match=args.if_match or None, dry_run=args.dry_run, tool="delete_note"
    )
    backlinks = fit_names(deleted.backlinks_left, library.settings.max_answer_chars // 2)
    return Gone(
        dry_run=args.dry_run or None,
        path=deleted.path,
        trashed_to=deleted.trashed_to,
        backlinks_left=backlinks,
        more_backlinks=len(deleted.backlinks_left) - len(backlinks) or None,
        change_id=deleted.change_id,
        previous_etag=deleted.previous_etag,
        bytes_before=deleted.bytes_before,
        diff=deleted.diff or None if args.dry_run else None,
        warnings=None if deleted.change_id or args.dry_run else [_NO_UNDO],
    )
