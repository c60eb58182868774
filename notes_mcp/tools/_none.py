"""Why a page of notes or hits is empty: which part of what was asked matches nothing by itself. Asks the library.

Each condition is tried alone, one row at a time, and only when nothing at all was found.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from notes_mcp.tools._arguments import shown

if TYPE_CHECKING:
    from notes_mcp.notes.library import Library

_NEAREST = 3


async def nothing(
    library: "Library",
    *,
    tags: Sequence[str] = (),
    glob: str | None = None,
    properties: Mapping[str, Any] | None = None,
    modified_after: str | None = None,
    paths: Sequence[str] = (),
    titles: Sequence[str] = (),
) -> tuple[list[str], list[str]]:
    """Sentences on the conditions that no note meets, and tags and paths that resemble an unknown one. Both may be
    empty. `paths` and `titles` are parts of them that the query asks for."""
    said: list[str] = []
    near: dict[str, None] = {}
    for tag in tags:
        if not (await library.list_notes(tag=tag, limit=1)).total:
            found, _ = await library.names("tags", tag, _NEAREST)
            near.update(dict.fromkeys(found))
            said.append(f"No note has the tag {shown(tag)}.")
    if glob and not (await library.list_notes(glob=glob, limit=1)).total:
        said.append(f"No path matches the glob {shown(glob)}.")
    for part in paths:
        if not (await library.search(f'path:"{part}"', limit=1)).total:
            found, _ = await library.names("paths", part, _NEAREST)
            near.update(dict.fromkeys(found))
            said.append(f"No path contains {shown(part)}.")
    said += [
        f"No title has {shown(words)}."
        for words in titles
        if not (await library.search(f'title:"{words}"', limit=1)).total
    ]
    for name, value in (properties or {}).items():
        if not (await library.search("", properties={name: None}, limit=1)).total:
            said.append(f"No note has the property {shown(name)}.")
        elif not (await library.search("", properties={name: value}, limit=1)).total:
            said.append(f"No note has the property {shown(name)} with the value {shown(value)}.")
    if modified_after and not (await library.search("", modified_after=modified_after, limit=1)).total:
        said.append(f"No note was modified after {shown(modified_after)}.")
    return said, list(near)
