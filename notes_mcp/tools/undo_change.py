"""undo_change: a change of ours taken back, file by file; what was changed since is refused and left alone."""

from typing import TYPE_CHECKING

from pydantic import Field

from notes_mcp.events import Report
from notes_mcp.tools._answer import LeftRow, fit_names, fit_rows, left_rows
from notes_mcp.tools._tool import Arguments, Result, tool

if TYPE_CHECKING:
    from notes_mcp.notes.library import Library


class Args(Arguments):
    change_id: str | None = Field(None, description="Default: the last change")
    dry_run: bool = Field(False, description="Only show")


class UndoResult(Result):
    """`undoes` is the change taken back, `change_id` the undo's own, with which it can be undone in turn."""

    undoes: str
    tool: str
    restored: list[str]
    more_restored: int | None = None
    refused: list[LeftRow]
    more_refused: int | None = None
    change_id: str | None = None
    warnings: list[str] | None = None


@tool(title="Undo change", read_only=False, destructive=True)
async def undo_change(args: Args, library: "Library", report: Report) -> UndoResult:
    """Take a change back. A file changed since is refused, with the reason. Undoing an undo redoes."""
    undone = await library.undo((args.change_id or "").strip() or None, dry_run=args.dry_run)
    room = library.settings.max_answer_chars // 3
    restored = fit_names(undone.restored, room)
    refused = fit_rows(left_rows(undone.refused), room)
    nothing = not undone.restored and not args.dry_run
    return UndoResult(
        undoes=undone.undoes,
        tool=undone.tool,
        restored=restored,
        more_restored=len(undone.restored) - len(restored) or None,
        refused=refused,
        more_refused=len(undone.refused) - len(refused) or None,
        change_id=undone.change_id,
        warnings=["Nothing was undone; refused says why."] if nothing else None,
    )
