"""edit_note: a list of edits -> one write, all of them or none. What an edit does is the engine's word.

Takes the shapes that models send: one edit instead of a list, the fields of one edit beside `path`, the
names other editing tools use, no `op` where old_text and text say it. The transform is pure and runs in the
writer's thread on the bytes as they are then.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from notes_mcp.errors import InvalidArguments, InvalidRequestError
from notes_mcp.events import Report
from notes_mcp.notes.answers import Document
from notes_mcp.notes.edits import edits as engine
from notes_mcp.tools._answer import WriteResult, write_fields
from notes_mcp.tools._arguments import names_one_of
from notes_mcp.tools._places import with_section
from notes_mcp.tools._tool import Arguments, Result, tool

if TYPE_CHECKING:
    from notes_mcp.notes.library import Library

_EDIT_FIELDS = dict.fromkeys(("op", "text", "old_text", "section", "count"))
_OWN_FIELDS = dict.fromkeys(("path", "if_match", "dry_run"))


class Edit(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    op: Literal[
        "replace", "append", "prepend", "insert_before", "insert_after", "replace_section", "delete_section"
    ] | None = Field(None, description="replace needs old_text")  # fmt: skip
    text: str | None = Field(None, description='New text; "" deletes')
    old_text: str | None = Field(None, description="To replace or insert beside")
    section: str | None = Field(None, description="Heading, A > B or ^block; default: note")
    count: int = Field(1, ge=1, description="Exact number of matches")


class Args(Arguments):
    path: str = Field(description="Path, name or Note#Heading")
    edits: list[Edit] = Field(min_length=1, max_length=50, description="In order, all or none")
    if_match: str | None = Field(None, description="etag it must have")
    dry_run: bool = Field(False, description="Only show")

    @classmethod
    def reshape(cls, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """One edit that was sent beside `path` as the only one of `edits`."""
        if any(names_one_of(name, {"edits": None}) for name in arguments):
            return arguments
        loose = {
            name: value
            for name, value in arguments.items()
            if names_one_of(name, _EDIT_FIELDS) and not names_one_of(name, _OWN_FIELDS)
        }
        if not loose:
            return arguments
        own = {name: value for name, value in arguments.items() if name not in loose}
        return {**own, "edits": [loose]}


class AppliedRow(Result):
    op: str
    line: int


class EditResult(WriteResult):
    unlisted: ClassVar[tuple[str, ...]] = (*WriteResult.unlisted, "path", "etag")
    applied: list[AppliedRow]


@tool(title="Edit note", read_only=False, destructive=True)
async def edit_note(args: Args, library: "Library", report: Report) -> EditResult:
    """Edit exact text, a section with its subsections, or a block; replace_section keeps the heading."""
    path, section = await with_section(library, args.path)
    wanted = [_edit(edit, number, section) for number, edit in enumerate(args.edits)]
    edited: list[engine.Edited] = []

    def transform(document: Document) -> bytes:
        if document.text is None:
            raise InvalidRequestError(f"{document.path} is not a note; only notes can be edited. Nothing was written.")
        edited.append(engine.apply(document.path, document.data, wanted))
        return edited[-1].data

    written = await library.edit(
        path, transform, if_match=args.if_match or None, dry_run=args.dry_run, tool="edit_note"
    )
    applied = [AppliedRow(op=each.op, line=each.line) for each in edited[-1].applied]
    return EditResult(**write_fields(written, dry_run=args.dry_run), applied=applied)


def _edit(edit: Edit, number: int, section: str | None) -> engine.Edit:
    """`section`: that of a path like `Note#Heading`, for the edits that name none."""
    op = edit.op
    if op is None:
        if not edit.old_text or edit.text is None:
            raise InvalidArguments(
                f"edits[{number}] needs op: replace (with old_text and text), append, prepend, insert_before, "
                "insert_after, replace_section or delete_section."
            )
        op = "replace"
    return engine.Edit(op, edit.text, edit.old_text, edit.section or section, edit.count)
