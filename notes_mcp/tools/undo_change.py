"""undo_change: a change of ours taken back, file by file; what was changed since is refused and left alone."""

from typing import TYPE_CHECKING

from pydantic import Field

from notes_mcp.errors import InvalidRequestError
from notes_mcp.events import Report
from notes_mcp.tools._answer import LeftRow, fit_names, fit_rows, left_rows
from notes_mcp.tools._tool import Arguments, Result, tool

if TYPE_CHECKING:
    from notes_mcp.notes.library import Library


class Args(Arguments):
    change_id: str | None = Field(None, description="Default: the last change")
    dry_run: bool = Field(False, description="Only show")


class UndoResult(Result):
    """`undoes` is the change taken back, `change_id` the undo's own, with which it can be undone in turn.

    `restored` are as the change found them; `removed` are not there any more, since it had made them.
    """

    dry_run: bool | None = None
    undoes: str
    tool: str
    restored: list[str]
    more_restored: int | None = None
    removed: list[str] | None = None
    more_removed: int | None = None
    refused: list[LeftRow]
    more_refused: int | None = None
    change_id: str | None = None
    warnings: list[str] | None = None

    def in_vain(self) -> bool:
        return not self.restored and not self.removed


@tool(title="Undo change", read_only=False, destructive=True)
async def undo_change(args: Args, library: "Library", report: Report) -> UndoResult:
    """Take back a change. Again without change_id redoes it: to go further back give older ones (notes_info).

    Files changed since are refused.
    """
    change_id = None if args.change_id is None else args.change_id.strip()
    if change_id == "":
        raise InvalidRequestError("change_id is empty: leave it out to undo the last change. Nothing was undone.")
    undone = await library.undo(change_id, dry_run=args.dry_run)
    room = library.settings.max_answer_chars // 4
    restored = fit_names(undone.restored, room)
    removed = fit_names(undone.removed, room)
    refused = fit_rows(left_rows(undone.refused), room)
    nothing = not undone.restored and not undone.removed
    return UndoResult(
        dry_run=args.dry_run or None,
        undoes=undone.undoes,
        tool=undone.tool,
        restored=restored,
        more_restored=len(undone.restored) - len(restored) or None,
        removed=removed or None,
        more_removed=len(undone.removed) - len(removed) or None,
        refused=refused,
        more_refused=len(undone.refused) - len(refused) or None,
        change_id=undone.change_id,
        warnings=[
            "Nothing can be undone; refused says why." if args.dry_run else "Nothing was undone; refused says why."
        ]
        if nothing
        else None,
    )
