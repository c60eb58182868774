"""Properties put into the text of a note that is being made: into the front matter it has, or a new one. Pure."""

from collections.abc import Mapping
from typing import Any

from notes_mcp.errors import InvalidRequestError
from notes_mcp.notes.properties import properties, propertyedit
from notes_mcp.notes.text import Text


def with_properties(text: str, wanted: Mapping[str, Any]) -> str:
    """`text` with every key of `wanted` set; there is never a second block.

    Raises InvalidRequestError if the block that is there does not parse, or a value cannot be written.
    """
    note = Text.decode(text.encode())
    require_closed(note)
    return Text.decode(note.splice(propertyedit.set_keys(note, wanted))).text


def require_closed(note: Text) -> None:
    """Raises InvalidRequestError for a block that begins like front matter and has no end: a second one before it
    would hide it."""
    if properties.is_unclosed(note):
        raise InvalidRequestError(
            "The front matter is opened with --- in line 1 but never closed. Nothing was written; put a line --- "
            "below its last property with edit_note first."
        )


def values(text: str) -> dict[str, Any]:
    """What the front matter of `text` says, {} if there is none or it does not parse."""
    return dict(properties.of(Text.decode(text.encode())).values)


def problem(text: str) -> str | None:
    """Why the front matter of `text` cannot be read, None if it can or there is none."""
    return properties.of(Text.decode(text.encode())).error
