"""set_properties: keys of the front matter set and removed one by one; all other bytes of the note stay."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from notes_mcp.errors import InvalidRequestError
from notes_mcp.events import Report
from notes_mcp.notes.answers import Document
from notes_mcp.notes.properties import properties, propertyedit
from notes_mcp.notes.text import Text
from notes_mcp.tools import _fields
from notes_mcp.tools._answer import WriteResult, write_fields
from notes_mcp.tools._places import with_section
from notes_mcp.tools._tool import Arguments, compact, tool

if TYPE_CHECKING:
    from notes_mcp.notes.library import Library

_MARKDOWN = (".md", ".markdown")


class Args(Arguments):
    path: str = Field(description="Path or name")
    set: dict[str, Any] = Field({}, description="Keys and values, lists as a whole; null: empty")
    remove: list[str] = Field([], description="Keys")
    if_match: str | None = Field(None, description="etag it must have")
    dry_run: bool = Field(False, description="Only show")


class PropertiesResult(WriteResult):
    unlisted: ClassVar[tuple[str, ...]] = (*WriteResult.unlisted, "path", "etag")
    properties: dict[str, Any]
    more_properties: int | None = None


@tool(title="Set properties", read_only=False, destructive=True, idempotent=True)
async def set_properties(args: Args, library: "Library", report: Report) -> PropertiesResult:
    """Set or remove front matter keys; all else stays as it is."""
    if not args.set and not args.remove:
        raise InvalidRequestError('Nothing to do: give set={"key": value} or remove=["key"]. Nothing was written.')
    path, _ = await with_section(library, args.path)
    respelled: list[tuple[str, str]] = []
    seen: list[tuple[Mapping[str, Any], Mapping[str, Any]]] = []

    def transform(document: Document) -> bytes:
        text = _markdown(document)
        _fields.require_closed(text)
        before = properties.of(text).values
        known = Known(before)
        wanted = {known.name(key): value for key, value in args.set.items()}
        if len(wanted) < len(args.set):
            raise InvalidRequestError("set names one property twice, in other letter case. Nothing was written.")
        after = text.splice(propertyedit.set_keys(text, wanted, [known.name(key) for key in args.remove]))
        seen.append((before, properties.of(Text.decode(after)).values))
        respelled[:] = known.respelled
        return after

    written = await library.edit(
        path, transform, if_match=args.if_match or None, dry_run=args.dry_run, tool="set_properties"
    )
    before, after = seen[-1]
    known = Known(before)
    missing = [key for key in args.remove if known.name(key) not in before]
    warnings = [f"{key} is there as {own}; case does not matter, so that one is meant." for key, own in respelled]
    warnings += [f"There was no property {', '.join(missing)} to remove."] if missing else []
    shown = _fitting(after, library.settings.max_answer_chars // 3)
    return PropertiesResult(
        **write_fields(written, dry_run=args.dry_run, warnings=warnings),
        properties=shown,
        more_properties=len(after) - len(shown) or None,
    )


class Known:
    """The properties of a note: a key is the one that is there in another letter case, as in Obsidian."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self._folded = {key.casefold(): key for key in reversed(list(values))}
        self.respelled: list[tuple[str, str]] = []

    def name(self, key: str) -> str:
        """The key as the note has it; one that it has not, as it is."""
        own = key if key in self._values else self._folded.get(key.strip().casefold(), key)
        if own != key:
            self.respelled.append((key, own))
        return own


def _markdown(document: Document) -> Text:
    if document.text is None or not document.path.lower().endswith(_MARKDOWN):
        raise InvalidRequestError(f"Only Markdown notes have properties; {document.path} is none. Nothing was written.")
    return document.text


def _fitting(values: Mapping[str, Any], max_chars: int) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, value in values.items():
        max_chars -= len(compact({key: value}))
        if max_chars < 0:
            break
        kept[key] = value
    return kept
