"""update_tags: tags put in, taken out or renamed in many notes, as one change. What that means for one note is
`notes.tagging`'s word; the library runs it on each note and writes all of them or none."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from notes_mcp.errors import InvalidRequestError, NotFoundError
from notes_mcp.events import Report
from notes_mcp.notes.answers import Document, ManyWritten
from notes_mcp.notes.edits import tagging
from notes_mcp.tools import _fields
from notes_mcp.tools._answer import CountRow, LeftRow, count_rows, fit_rows, left_rows
from notes_mcp.tools._tool import Arguments, Result, tool

if TYPE_CHECKING:
    from notes_mcp.notes.library import Library

_NEAREST = 5


class Args(Arguments):
    action: Literal["add", "remove", "rename"] = Field(description="What to do")
    tags: list[str] = Field(min_length=1, description="Without #")
    new_tag: str | None = Field(None, description="For rename; one in use: they merge")
    paths: list[str] = Field([], description="Notes, needed to add or remove; rename: all if left out")
    dry_run: bool = Field(False, description="Only show")


class Retagged(Result):
    dry_run: bool | None = None
    changed: list[CountRow]
    more_changed: int | None = None
    skipped: list[LeftRow] | None = None
    more_skipped: int | None = None
    change_id: str | None = None
    diff: str | None = None
    warnings: list[str] | None = None

    def verbatim(self) -> Sequence[str]:
        return (self.diff,) if self.diff else ()


@tool(title="Update tags", read_only=False, destructive=True, idempotent=True)
async def update_tags(args: Args, library: "Library", report: Report) -> Retagged:
    """Add, remove or rename tags in front matter and text, in one change. rename a to b takes a/x to b/x."""
    change = tagging.wanted(args.action, args.tags, args.new_tag or None)
    if args.action != "rename" and not args.paths:
        raise InvalidRequestError(f"action={args.action} needs paths: the notes to change. Nothing was written.")

    def transform(document: Document) -> tuple[bytes, int]:
        if document.text is None:
            raise InvalidRequestError(f"{document.path} is not a note, so it has no tags.")
        if change.add:
            _fields.require_closed(document.text)
        done = tagging.apply(document.path, document.data, change)
        return done.data, done.count

    done = await library.change_many(
        transform,
        paths=args.paths or None,
        tags=[] if args.paths else args.tags,
        dry_run=args.dry_run,
        tool="update_tags",
    )
    if not done.changed:
        await _require_reason(args, library, done)
    room = library.settings.max_answer_chars // 4
    changed = fit_rows(count_rows(done.changed), room)
    skipped = fit_rows(left_rows(done.skipped), room)
    return Retagged(
        dry_run=args.dry_run or None,
        changed=changed,
        more_changed=len(done.changed) - len(changed) or None,
        skipped=skipped or None,
        more_skipped=len(done.skipped) - len(skipped) or None,
        change_id=done.change_id,
        diff=done.diff or None if args.dry_run else None,
        warnings=_warnings(args, done),
    )


def _warnings(args: Args, done: ManyWritten) -> list[str] | None:
    if not done.changed and args.action == "rename" and {tag.lstrip("#") for tag in args.tags} == {args.new_tag}:
        return [f"new_tag is {args.new_tag} itself, so there is nothing to rename, and nothing was written."]
    if not done.changed:
        return ["The tags are so already, and nothing was written."]
    if done.change_id is None and not args.dry_run:
        return ["This change could not be put into the journal, so it cannot be undone."]
    return None


async def _require_reason(args: Args, library: "Library", done: ManyWritten) -> None:
    """Nothing changed: fine where it is so already; an error where no note could be, or none has the tag."""
    if done.skipped:
        first = done.skipped[0]
        raise InvalidRequestError(f"{first.path} was left as it is: {first.reason} Nothing was written.")
    if args.action == "rename" and not args.paths:
        near = await _nearest(args.tags, library)
        shown = ", ".join(args.tags)
        raise NotFoundError(f"No note has the tag {shown}. list_tags shows those there are. Nothing was written.", near)


async def _nearest(tags: Sequence[str], library: "Library") -> list[str]:
    near: dict[str, None] = {}
    for tag in tags:
        found, _ = await library.names("tags", tag.strip().lstrip("#"), _NEAREST)
        near.update(dict.fromkeys(found))
    return list(near)[:_NEAREST]
