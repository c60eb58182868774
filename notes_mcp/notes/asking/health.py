"""How the folders are: everything a person should look at, with its path and what to do. Sync, in a reader thread.

Asks the index for what it knows of notes, the folder for what its last walk and reads met, and walks the folder
anew (names only) where that is cheap. Of the notes only those in `Prompts/` are read, and only once they changed.
Every kind is counted; of each only the first examples are given. Writes nothing.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from notes_mcp.errors import NoteError
from notes_mcp.notes import daily, promptnotes, templates
from notes_mcp.notes.answers import IndexState, Watching
from notes_mcp.notes.folder import Folder
from notes_mcp.notes.index.flaws import Flaws
from notes_mcp.notes.promptnotes import PromptNote
from notes_mcp.notes.records import Problem
from notes_mcp.notes.shelf import Shelf
from notes_mcp.settings import Settings

EXAMPLES = 20
MAX_PROMPTS = 200
WALK_SHARE = 10  # a walk is good for that many times as long as it took, so that asking often costs little
KINDS = (
    "unreadable_folder", "not_writable", "not_watched", "polling", "directory_unusable", "index_in_memory",
    "index_incomplete", "broken_settings", "ignore_pattern", "broken_prompt", "prompt_argument", "conflict_copy",
    "not_text", "broken_properties", "unreadable", "not_understood", "too_large", "not_downloaded", "case_twins",
    "lookalike_names", "name_not_utf8", "backslash_name", "broken_link", "link_outside", "link_broken", "not_a_file",
    "ignored",
)  # fmt: skip
"""Every kind there is, the gravest first: the order in which they are told."""

_POLLING = (
    "the system tells of no changes here, so the folder is looked through again and again. On Linux raise "
    "fs.inotify.max_user_watches; on a network drive that is how it is"
)


@dataclass(frozen=True, slots=True)
class _Walk:
    problems: tuple[Problem, ...]
    at: float  # of the monotonic clock, s
    took: float


class Health:
    """Keeps what it found in each folder as long as that holds."""

    def __init__(self, shelf: Shelf, settings: Settings) -> None:
        self._shelf = shelf
        self._settings = settings
        self._walks: dict[Folder, _Walk] = {}
        self._flaws: dict[Folder, tuple[object, Flaws]] = {}
        self._prompts: dict[Folder, dict[str, tuple[str, PromptNote]]] = {}

    def look(
        self, watching: Mapping[Folder, Watching], state: IndexState
    ) -> tuple[tuple[Problem, ...], dict[str, int]]:
        """At most `EXAMPLES` problems of each kind in the order of `KINDS`, and how many there are of each kind."""
        found: list[Problem] = []
        more: dict[str, int] = {}
        if not state.complete:
            of = "" if state.total is None else f" of {state.total:,}"
            found.append(
                Problem(
                    "index_incomplete", "", f"{state.indexed:,}{of} files so far: ask again in a moment for the rest"
                )
            )
        for folder in self._shelf:
            found += (self._labelled(folder, each) for each in self._of(folder, watching[folder], state, more))
        return _bounded(found, more)

    def _labelled(self, folder: Folder, problem: Problem) -> Problem:
        """With the path as clients see it; that of a directory of ours is absolute already."""
        path = problem.path if problem.kind == "directory_unusable" else self._shelf.label(folder, problem.path)
        return Problem(problem.kind, path, problem.advice)

    def _of(self, folder: Folder, watching: Watching, state: IndexState, more: dict[str, int]) -> Iterator[Problem]:
        """What is to be said of one folder; what is only counted is added to `more`."""
        if not self._settings.read_only and not folder.vault.writable():
            yield Problem("not_writable", "", "this user may not write here: allow it, or start with --read-only")
        if watching == "polling":
            yield Problem("polling", "", _POLLING)
        elif watching == "off":
            yield Problem("not_watched", "", "changes are not noticed just now; watching is tried again by itself")
        yield from folder.problems(self._walked(folder) if state.complete else None)
        yield from self._settings_of(folder)
        yield from self._prompts_of(folder)
        flaws = self._flaws_of(folder)
        yield from flaws.examples
        least = "" if flaws.counted else ". There are more than are counted here: get_links lists them"
        for link in flaws.lost:
            advice = f'line {link.line}: "{link.target}" is not there; mend the link or make the note{least}'
            yield Problem("broken_link", link.source, advice)
            least = ""
        counts = {**flaws.counts, "broken_link": flaws.lost_total}
        shown = {kind: sum(problem.kind == kind for problem in flaws.examples) for kind in flaws.counts}
        for kind, count in counts.items():
            more[kind] = more.get(kind, 0) + count - shown.get(kind, len(flaws.lost))

    def _walked(self, folder: Folder) -> tuple[Problem, ...]:
        walk, now = self._walks.get(folder), time.monotonic()
        if walk is None or now - walk.at > WALK_SHARE * walk.took:
            try:
                scan = folder.vault.scan()
                problems = (*scan.problems, *(_ignored(*each) for each in scan.ignored))
            except NoteError as error:
                problems = (Problem("unreadable_folder", "", str(error)),)
            ended = time.monotonic()
            walk = self._walks[folder] = _Walk(problems, ended, ended - now)
        return walk.problems

    def _settings_of(self, folder: Folder) -> Iterator[Problem]:
        said = {
            daily.SETTINGS: daily.DailyNotes.read(_setting(folder, daily.SETTINGS)).problem,
            templates.SETTINGS: templates.Templates.read(_setting(folder, templates.SETTINGS)).problem,
        }
        yield from (Problem("broken_settings", path, problem) for path, problem in said.items() if problem)

    def _prompts_of(self, folder: Folder) -> Iterator[Problem]:
        known, kept = self._prompts.get(folder, {}), {}
        for note in folder.index.notes(folder=promptnotes.FOLDER, limit=MAX_PROMPTS).notes:
            before = known.get(note.path)
            if before is None or before[0] != note.etag:
                try:
                    data, _ = folder.vault.read(note.path)
                except NoteError:
                    continue  # the index tells of it
                before = (note.etag, promptnotes.read_bytes(data))
            kept[note.path] = before
            prompt = before[1]
            if prompt.fault:
                yield Problem("broken_prompt", note.path, f"cannot be used: {prompt.fault}")
            for doubt in prompt.doubts:
                yield Problem("prompt_argument", note.path, doubt)
        self._prompts[folder] = kept

    def _flaws_of(self, folder: Folder) -> Flaws:
        """Of prompts their own rule speaks, and what a template holds is not meant for reading as it is."""
        apart = (promptnotes.FOLDER, templates.Templates.read(_setting(folder, templates.SETTINGS)).folder)
        now = (folder.index.last_seq(), folder.index.count(), apart)
        kept = self._flaws.get(folder)
        if kept is None or kept[0] != now:
            kept = self._flaws[folder] = (now, folder.index.flaws(EXAMPLES, apart))
        return kept[1]


def _setting(folder: Folder, path: str) -> bytes | None:
    try:
        return folder.vault.read_setting(path)
    except NoteError:
        return None  # the folder itself is away, which the walk tells


def _ignored(rule: str, files: int, folders: int) -> Problem:
    parts = [_count(files, "file")] * bool(files) + [f"{_count(folders, 'folder')} and what is in it"] * bool(folders)
    return Problem("ignored", rule, f"hides {' and '.join(parts)}; nothing to do if that is meant")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _bounded(found: Sequence[Problem], more: Mapping[str, int]) -> tuple[tuple[Problem, ...], dict[str, int]]:
    by_kind: dict[str, list[Problem]] = {kind: [] for kind in KINDS}
    for problem in found:
        by_kind.setdefault(problem.kind, []).append(problem)
    counts = {kind: len(problems) + more.get(kind, 0) for kind, problems in by_kind.items()}
    shown = [problem for problems in by_kind.values() for problem in problems[:EXAMPLES]]
    return tuple(shown), {kind: count for kind, count in counts.items() if count}
