"""move_note: a note, attachment or folder to another place, and every link with it. Planned and done by the library."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from notes_mcp.errors import InvalidRequestError
from notes_mcp.events import Report
from notes_mcp.notes.answers import LinkLeft
from notes_mcp.tools._answer import CountRow, clip, count_rows, fit_names, fit_rows
from notes_mcp.tools._places import bare, destination
from notes_mcp.tools._tool import Arguments, Result, tool

if TYPE_CHECKING:
    from notes_mcp.notes.library import Library


class Args(Arguments):
    path: str = Field(description="Note or folder")
    new_path: str = Field(description="Path; an existing folder, or one ending in /: into it")
    update_links: bool = Field(True, description="Rewrite links to it")
    if_match: str | None = Field(None, description="etag it must have")
    dry_run: bool = Field(False, description="Only show")


class AmbiguousRow(Result):
    """A link that was left as it is; line 0: the whole file was."""

    path: str
    line: int
    text: str
    candidates: list[str]
    reason: str


class MoveResult(Result):
    dry_run: bool | None = None
    path: str
    new_path: str
    links_updated: list[CountRow]
    more_links_updated: int | None = None
    ambiguous: list[AmbiguousRow]
    more_ambiguous: int | None = None
    change_id: str | None = None
    diff: str | None = None
    warnings: list[str] | None = None

    def verbatim(self) -> Sequence[str]:
        return (self.diff,) if self.diff else ()


@tool(title="Move note", read_only=False, destructive=True)
async def move_note(args: Args, library: "Library", report: Report) -> MoveResult:
    """Move or rename a note or folder and rewrite every link. Never overwrites. ambiguous: links to mend by hand."""
    if not args.new_path.strip():
        raise InvalidRequestError("new_path is empty: give the new path. Nothing was moved.")
    new_path, warnings = await _destination(library, args.path, args.new_path)
    moved = await library.move(
        args.path,
        new_path,
        update_links=args.update_links,
        if_match=args.if_match or None,
        dry_run=args.dry_run,
        tool="move_note",
    )
    room = library.settings.max_answer_chars // 4
    updated = fit_rows(count_rows(moved.links_updated), room)
    ambiguous = fit_rows([_left(each) for each in moved.ambiguous], room)
    if moved.path == moved.new_path:
        warnings.append("It is there already, so nothing was moved.")
    elif moved.change_id is None and not args.dry_run:
        warnings.append("This change could not be put into the journal, so it cannot be undone.")
    return MoveResult(
        dry_run=args.dry_run or None,
        path=moved.path,
        new_path=moved.new_path,
        links_updated=updated,
        more_links_updated=len(moved.links_updated) - len(updated) or None,
        ambiguous=ambiguous,
        more_ambiguous=len(moved.ambiguous) - len(ambiguous) or None,
        change_id=moved.change_id,
        diff=moved.diff or None if args.dry_run else None,
        warnings=warnings or None,
    )


async def _destination(library: "Library", path: str, new_path: str) -> tuple[str, list[str]]:
    """`new_path` with folders as they are spelled on the disk and names that fit, and what was changed about it."""
    asked = bare(new_path.strip())
    own_name = path.replace("\\", "/").rstrip("/").rpartition("/")[2]
    there, rest, said = await destination(library, asked, keep=own_name)
    if rest:
        ending = "/" if asked.endswith(("/", "\\")) else ""
        return (f"{there}/{rest}" if there else rest) + ending, said
    if there == (await library.reached(path))[0]:
        return asked, []  # a folder that is renamed, to another case of its name perhaps
    return f"{there}/" if there else "/", said


def _left(link: LinkLeft) -> AmbiguousRow:
    return AmbiguousRow(
        path=link.path,
        line=link.line,
        text=clip(link.text),
        candidates=fit_names(link.candidates, 1_000),
        reason=link.reason,
    )
