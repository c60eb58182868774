"""Notes into the Draft of a built-in prompt: by path, by day, newest first. Reads through the library only.

A note that cannot be read is remarked on, not fatal, unless it is the one an argument names.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from notes_mcp.errors import InvalidRequestError, NoteError, NotFoundError
from notes_mcp.events import Report
from notes_mcp.features import _dates
from notes_mcp.features._embed import MOST_NOTES, Draft, listing

if TYPE_CHECKING:
    from notes_mcp.notes.answers import Document, IndexState
    from notes_mcp.notes.library import Library
    from notes_mcp.notes.records import Note

_PAGE = 50
_MOST_LOOKED_AT = 1000
_MOST_TASK_NOTES = 300


@dataclass(frozen=True, slots=True)
class Scene:
    """What a prompt is made from; `room` is how many characters of notes it may embed."""

    library: "Library"
    today: date
    room: int
    report: Report


async def note_of(scene: Scene, ref: str) -> "Document":
    """The note that an argument names. Raises NoteError, also for an attachment."""
    document = await scene.library.read(ref, scan=True)
    if document.text is None:
        raise InvalidRequestError(f"{document.path} is an attachment, not a note; name a note.")
    return document


async def add_days(scene: Scene, draft: Draft, first: date, last: date) -> None:
    """Puts the daily notes from first to last, and the notes last changed then, into the draft."""
    daily: list[str] = []
    missing: list[str] = []
    for back in range((last - first).days + 1):
        path = await scene.library.daily_path(first + timedelta(back))
        try:
            draft.documents.append(await scene.library.read(path, scan=True))
            daily.append(draft.documents[-1].path)
        except NotFoundError:
            missing.append(path)
        except NoteError as error:
            draft.remarks.append(f"{path} could not be read: {error}")
    if missing:
        draft.remarks.append(f"No daily note: {listing(missing)}.")
    changed: list[str] = []
    after: str | None = None
    looked_at = 0
    while looked_at < _MOST_LOOKED_AT:
        page = await scene.library.recent(_PAGE, after)
        looked_at += len(page.notes)
        dates = [(note.path, _dates.local_day(note.modified_ns)) for note in page.notes]
        changed += [path for path, day in dates if day is not None and first <= day <= last]
        after = page.next_cursor
        if after is None or (dates and (dates[-1][1] or date.min) < first):
            break
    else:
        draft.remarks.append(f"Only the {looked_at} newest notes were looked at for changes.")
    if last < scene.today:
        draft.remarks.append("Notes that were changed then and again later are not among these.")
    await add_notes(scene, draft, (path for path in changed if path not in daily))
    say_incomplete(draft, page.state)


async def newest(scene: Scene, folder: str | None) -> tuple[list["Note"], int, "IndexState"]:
    """The newest notes of a folder, how many it holds in all, and the state of the index. Raises NoteError."""
    notes: list[Note] = []
    after: str | None = None
    while True:
        page = await scene.library.list_notes(folder=folder, sort="modified", limit=_PAGE, cursor=after)
        notes += page.notes
        after = page.next_cursor
        if after is None or len(notes) >= _MOST_TASK_NOTES:
            return notes, page.total, page.state


async def add_notes(scene: Scene, draft: Draft, paths: Iterable[str]) -> None:
    """Reads the notes into the draft, as many as can be embedded; names the others."""
    left: list[str] = []
    for path in paths:
        if len(draft.documents) >= MOST_NOTES:
            left.append(path)
            continue
        document = await read_or_remark(scene, draft, path)
        if document is not None and document.text is not None:
            draft.documents.append(document)
    if left:
        draft.remarks.append(f"Left out for want of room: {listing(left)}.")


async def read_or_remark(scene: Scene, draft: Draft, path: str) -> "Document | None":
    """The note with its scan, or None and a remark why not."""
    try:
        return await scene.library.read(path, scan=True)
    except NoteError as error:
        draft.remarks.append(f"{path} could not be read: {error}")
        return None


def say_incomplete(draft: Draft, state: "IndexState") -> None:
    """Remarks that there may be more, while the index is being built."""
    if not state.complete:
        draft.remarks.append(
            f"The index is still being built ({state.indexed} of {state.total} notes so far): there may be more."
        )


def is_template(path: str) -> bool:
    """Whether it lies in a folder of templates: its blanks are nobody's words yet."""
    return "Templates" in path.split("/")[:-1]
