"""Pages of notes over all folders: each folder's index gives its part, here they are merged. Sync.

A cursor holds the sort key of the last row given out, in clients' paths, so that it stays right while
notes come and go.
"""

from dataclasses import replace
from typing import Any

from notes_mcp.notes.answers import IndexState, NotePage
from notes_mcp.notes.asking import cursor as cursors
from notes_mcp.notes.asking.reach import Reach, key_shape
from notes_mcp.notes.index.scope import key_of, rank
from notes_mcp.notes.records import Note
from notes_mcp.notes.shelf import Shelf


def list_notes(
    shelf: Shelf,
    folder: str | None,
    glob: str | None,
    tag: str | None,
    recursive: bool,
    sort: str,
    limit: int,
    cursor: str | None,
    state: IndexState,
) -> NotePage:
    """One page of notes; the first one also has the folders below, with their number of notes."""
    reach = Reach(shelf)
    question = (folder, glob, tag, recursive, sort)
    last = cursors.decode(question, cursor, key_shape(sort))
    rows: list[tuple[Any, Note]] = []
    folders: list[tuple[str, int]] = []
    total, more = 0, False
    top = shelf.several and not (folder or "").strip("/")
    for place, below in reach.within(folder):
        if cursor is not None:
            pass  # the first page has told
        elif top:
            folders.append((place.name, place.index.count("note")))
        else:
            inside = place.index.folders(below, recursive=recursive)
            folders += ((shelf.label(place, path), count) for path, count in inside)
        local = reach.glob_in(place, glob)
        if (top and not recursive) or (glob and local is None):
            continue
        page = place.index.notes(
            order=sort,
            folder=below,
            glob=local,
            tag=tag,
            recursive=recursive,
            after=reach.key_in(place, last),
            limit=limit,
        )
        total += page.total
        more = more or page.after is not None
        for note in page.notes:
            labelled = replace(note, path=shelf.label(place, note.path))
            rows.append((key_of(sort, labelled), labelled))
    rows.sort(key=lambda row: rank(sort, row[0]))
    shown, rest = rows[:limit], rows[limit:]
    following = cursors.encode(question, list(shown[-1][0])) if shown and (rest or more) else None
    return NotePage(tuple(note for _, note in shown), tuple(folders), total, following, state)
