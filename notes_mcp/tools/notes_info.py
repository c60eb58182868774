"""notes_info: what is served, what happened lately, what needs a person's eye, and the limits."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from notes_mcp import __version__
from notes_mcp.events import Report
from notes_mcp.notes.answers import ChangeRecord, FolderInfo, IndexState
from notes_mcp.notes.records import Problem
from notes_mcp.settings import Settings
from notes_mcp.tools._answer import NoteRow, Progress, clip, fit_names, fit_rows, note_row
from notes_mcp.tools._dates import iso
from notes_mcp.tools._tool import Arguments, Result, tool

if TYPE_CHECKING:
    from notes_mcp.notes.library import Library


class Args(Arguments):
    pass


class FolderRow(Result):
    name: str
    notes: int
    attachments: int
    read_only: bool
    watching: str


class ChangeRow(Result):
    change_id: str
    tool: str
    when: str
    paths: list[str]


class ProblemRow(Result):
    kind: str
    path: str
    advice: str | None = None


class Limits(Result):
    max_note_bytes: int
    max_answer_chars: int


class IndexRow(Progress):
    complete: bool


class Overview(Result):
    folders: list[FolderRow]
    recent_notes: list[NoteRow]
    recent_changes: list[ChangeRow]
    problems: list[ProblemRow]
    problem_counts: dict[str, int] | None = None
    more_problems: int | None = None
    index: IndexRow
    limits: Limits
    version: str


@tool(title="About these notes", read_only=True, idempotent=True)
async def notes_info(args: Args, library: "Library", report: Report) -> Overview:
    """Folders, newest notes, changes made by these tools, problems (some of each kind, problem_counts: all), limits."""
    info = await library.info()
    room = library.settings.max_answer_chars // 5
    shown = _of_every_kind([_problem(problem) for problem in info.problems], room)
    counts = dict(info.problem_counts)
    return Overview(
        folders=fit_rows([_folder(folder) for folder in info.folders], room),
        recent_notes=fit_rows([note_row(note) for note in info.recent_notes], room),
        recent_changes=fit_rows([_change(change, room // 4) for change in info.recent_changes], room),
        problems=shown,
        problem_counts=counts or None,
        more_problems=sum(counts.values()) - len(shown) or None,
        index=_index(info.state),
        limits=_limits(library.settings),
        version=__version__,
    )


def _of_every_kind(rows: Sequence[ProblemRow], max_chars: int) -> list[ProblemRow]:
    """As many as fit, in their order: the first of each kind, then the second of each, so that none hides another."""
    ranks: Counter[str] = Counter()
    ranked = []
    for place, row in enumerate(rows):
        ranked.append((ranks[row.kind], place, row))
        ranks[row.kind] += 1
    fair = [row for _, _, row in sorted(ranked, key=lambda each: each[:2])]
    kept = fit_rows(fair, max_chars)
    return [row for row in rows if row in kept]


def _folder(folder: FolderInfo) -> FolderRow:
    return FolderRow(
        name=folder.name,
        notes=folder.notes,
        attachments=folder.attachments,
        read_only=folder.read_only,
        watching=folder.watching,
    )


def _change(change: ChangeRecord, max_chars: int) -> ChangeRow:
    paths = fit_names(change.paths, max_chars)
    if len(paths) < len(change.paths):
        paths.append(f"… and {len(change.paths) - len(paths)} more")
    return ChangeRow(change_id=change.change_id, tool=change.tool, when=iso(change.when_ns), paths=paths)


def _problem(problem: Problem) -> ProblemRow:
    return ProblemRow(kind=problem.kind, path=problem.path, advice=clip(problem.advice) or None)


def _index(state: IndexState) -> IndexRow:
    return IndexRow(indexed=state.indexed, total=state.total, complete=state.complete)


def _limits(settings: Settings) -> Limits:
    return Limits(max_note_bytes=settings.max_note_bytes, max_answer_chars=settings.max_answer_chars)
