"""What several tools answer with: rows, write results, and the size an answer may have. Pure values.

An answer is measured as the compact JSON that a client shows to its model. A page that is too large is
asked for again with fewer rows, so that its cursor goes on exactly where it stops.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, ClassVar, TypeVar

from notes_mcp.notes.answers import IndexState, LeftAlone, Written
from notes_mcp.notes.records import Note
from notes_mcp.tools._dates import iso
from notes_mcp.tools._tool import Result, compact

_MAX_TITLE_CHARS = 200
_MAX_TAGS = 30

R = TypeVar("R", bound=Result)


class Progress(Result):
    """How far an unfinished index is; no total: the files are still being counted."""

    indexed: int
    total: int | None = None


class NoteRow(Result):
    """One note of a listing. `modified` is ISO 8601 local time, `size` bytes."""

    path: str
    title: str
    modified: str
    size: int
    tags: list[str]


class WriteResult(Result):
    """The write result of the tools that change one note. `warnings` are sentences for the model.

    `etag` is what `if_match` would need now: after a dry run that of the note as it still is, None if there is none.
    """

    unlisted: ClassVar[tuple[str, ...]] = ("bytes_before", "bytes_after")
    path: str
    dry_run: bool | None = None
    etag: str | None
    previous_etag: str | None = None
    change_id: str | None = None
    bytes_before: int
    bytes_after: int
    diff: str
    warnings: list[str] | None = None

    def verbatim(self) -> Sequence[str]:
        return (self.diff,) if self.diff else ()


def write_fields(written: Written, *, dry_run: bool = False, warnings: Sequence[str] = ()) -> dict[str, Any]:
    """`Written` as the fields of a WriteResult, with what a model must know about it."""
    said = list(warnings)
    if not written.changed:
        said.append("No byte would be different, so nothing was written.")
    elif written.change_id is None and not dry_run:
        said.append("This change could not be put into the journal, so it cannot be undone.")
    return {
        "path": written.path,
        "dry_run": dry_run or None,
        "etag": written.previous_etag if dry_run else written.etag,
        "previous_etag": written.previous_etag,
        "change_id": written.change_id,
        "bytes_before": written.bytes_before,
        "bytes_after": written.bytes_after,
        "diff": written.diff,
        "warnings": said or None,
    }


class CountRow(Result):
    """A file, and in how many places it was changed."""

    path: str
    count: int


class LeftRow(Result):
    """A file that was left as it is, and why."""

    path: str
    reason: str


def count_rows(counted: Iterable[tuple[str, int]]) -> list[CountRow]:
    """`(path, count)` as the tools show it."""
    return [CountRow(path=path, count=count) for path, count in counted]


def left_rows(left: Iterable[LeftAlone]) -> list[LeftRow]:
    """`LeftAlone` as the tools show it."""
    return [LeftRow(path=each.path, reason=clip(each.reason, 500)) for each in left]


def progress(state: IndexState) -> Progress | None:
    """None once the index is complete."""
    return None if state.complete else Progress(indexed=state.indexed, total=state.total)


def note_row(note: Note) -> NoteRow:
    """A row of the index as the tools show it."""
    return NoteRow(
        path=note.path,
        title=clip(note.title),
        modified=iso(note.modified_ns),
        size=note.size,
        tags=clip_tags(note.tags),
    )


def clip(text: str, max_chars: int = _MAX_TITLE_CHARS) -> str:
    """`text` in at most `max_chars` characters, an ellipsis in place of the rest."""
    return text if len(text) <= max_chars else text[: max_chars - 1] + "…"


def clip_tags(tags: Sequence[str]) -> list[str]:
    """At most 30 tags; "…" stands for the rest."""
    shown = [clip(tag, 100) for tag in tags[:_MAX_TAGS]]
    return [*shown, "…"] if len(tags) > _MAX_TAGS else shown


def fit_rows(rows: Sequence[R], max_chars: int) -> list[R]:
    """As many of `rows` from the front as `max_chars` of JSON hold."""
    kept: list[R] = []
    room = max_chars
    for row in rows:
        room -= size(row) + 1
        if room < 0:
            break
        kept.append(row)
    return kept


def fit_names(names: Sequence[str], max_chars: int) -> list[str]:
    """As many of `names` from the front as `max_chars` of JSON hold."""
    kept: list[str] = []
    room = max_chars
    for name in names:
        room -= len(compact(name)) + 1
        if room < 0:
            break
        kept.append(name)
    return kept


async def fit_page(ask: Callable[[int], Awaitable[tuple[R, int]]], limit: int, max_chars: int) -> R:
    """`ask(limit)` -> (answer, its rows), asked again with fewer rows until it has at most `max_chars`."""
    while True:
        answer, rows = await ask(limit)
        chars = size(answer)
        if chars <= max_chars or rows <= 1:
            return answer
        limit = max(1, min(rows - 1, rows * max_chars // chars))


def size(result: Result) -> int:
    """Characters of the JSON a client shows."""
    return len(compact(result.model_dump(mode="json", by_alias=True, exclude_none=True)))
