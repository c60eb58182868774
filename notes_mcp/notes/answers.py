"""What the library gives back to tools and features. Frozen values, no I/O.

Unlike in `records`, every path here is as clients see it: with the folder's name as its first segment
when several folders are served. Lines are 1-based, sizes in bytes, times in nanoseconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from notes_mcp.notes.markup.markdown import MarkdownScan
from notes_mcp.notes.records import FileKind, Note, Problem
from notes_mcp.notes.text import Text

Watching: TypeAlias = Literal["events", "polling", "off"]


@dataclass(frozen=True, slots=True)
class IndexState:
    """How far the index is: what depends on it says so while `complete` is false. `total` is None until counted."""

    indexed: int
    total: int | None
    complete: bool


@dataclass(frozen=True, slots=True)
class Document:
    """One file as it was read. `text` is None for attachments, `scan` unless asked for."""

    path: str
    uri: str
    kind: FileKind
    mime_type: str
    etag: str
    size: int
    modified_ns: int
    data: bytes
    text: Text | None
    scan: MarkdownScan | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """What a write did, or with dry_run would do. `change_id` is None where nothing was written.

    `diff` is unified and at most 4,000 characters.
    """

    path: str
    uri: str
    etag: str
    previous_etag: str | None
    change_id: str | None
    bytes_before: int
    bytes_after: int
    diff: str
    changed: bool


@dataclass(frozen=True, slots=True)
class Deleted:
    """A note that was put into `.trash/` (`trashed_to`) or removed (None), and who still links to it.

    With dry_run nothing was moved: `trashed_to` is where it would lie. The last three are of the file as it was;
    of one that is too large to be read only its path is known.
    """

    path: str
    trashed_to: str | None
    backlinks_left: tuple[str, ...]
    change_id: str | None
    previous_etag: str | None = None
    bytes_before: int | None = None
    diff: str = ""


@dataclass(frozen=True, slots=True)
class LinkLeft:
    """A link that a move left as it is, for a person to decide; `line` is 0 for a file that could not be looked at.

    `candidates` are the files it could mean, as they are after the move; `reason` is a clause.
    """

    path: str
    line: int
    text: str
    candidates: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Moved:
    """A note, attachment or folder that was moved, or with dry_run would be; paths are those after the move.

    `links_updated`: each file whose links were rewritten, and in how many places. `diff` at most 4,000 characters.
    """

    path: str
    new_path: str
    links_updated: tuple[tuple[str, int], ...]
    ambiguous: tuple[LinkLeft, ...]
    change_id: str | None
    diff: str


@dataclass(frozen=True, slots=True)
class LeftAlone:
    """A file that a change or an undo did not touch, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class ManyWritten:
    """One change over many notes, or with dry_run what it would be: each changed note, and in how many places."""

    changed: tuple[tuple[str, int], ...]
    skipped: tuple[LeftAlone, ...]
    change_id: str | None
    diff: str


@dataclass(frozen=True, slots=True)
class Undone:
    """A change taken back, or with dry_run what would be. `change_id` is the undo's own: None if nothing was done.

    `restored` are the paths where files are as the change `undoes` found them; `removed` those it had made, which are
    no more.
    """

    undoes: str
    tool: str
    restored: tuple[str, ...]
    refused: tuple[LeftAlone, ...]
    change_id: str | None
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Match:
    """One place where a hit matches, from the file as it is now."""

    line: int
    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """One note of a search page; `more` counts the matching lines that are not shown."""

    note: Note
    score: float
    matches: tuple[Match, ...]
    more: int


@dataclass(frozen=True, slots=True)
class SearchPage:
    """A page of hits. `relaxed`: no note has all the words, these have some."""

    hits: tuple[Hit, ...]
    total: int
    relaxed: bool
    did_you_mean: tuple[str, ...]
    next_cursor: str | None
    state: IndexState


@dataclass(frozen=True, slots=True)
class NotePage:
    """A page of notes; on the first page also the folders below, with the number of notes in each."""

    notes: tuple[Note, ...]
    folders: tuple[tuple[str, int], ...]
    total: int
    next_cursor: str | None
    state: IndexState


@dataclass(frozen=True, slots=True)
class FolderInfo:
    """One served folder as it stands."""

    name: str
    notes: int
    attachments: int
    read_only: bool
    watching: Watching


@dataclass(frozen=True, slots=True)
class ChangeRecord:
    """One write of ours, newest first in `Info`."""

    change_id: str
    tool: str
    when_ns: int
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Info:
    """Everything `notes_info` tells. Of the problems only the first of each kind are there; all are counted."""

    folders: tuple[FolderInfo, ...]
    recent_notes: tuple[Note, ...]
    recent_changes: tuple[ChangeRecord, ...]
    problems: tuple[Problem, ...]
    state: IndexState
    problem_counts: Mapping[str, int] = field(default_factory=dict)  # by kind
