"""The values that pass between the rooms of `notes/`. Frozen, no behaviour, no I/O.

Paths in them are relative to one folder, "/"-separated, exactly as the disk spells them, unless a
field says otherwise. Times are nanoseconds since the epoch (`st_mtime_ns`). Lines are 1-based.
"""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

FileKind: TypeAlias = Literal["note", "attachment"]
ChangeKind: TypeAlias = Literal["created", "updated", "deleted", "renamed"]


@dataclass(frozen=True, slots=True)
class FileState:
    """One visible file as the disk shows it. `inode` is 0 where the platform has none."""

    path: str
    kind: FileKind
    size: int  # bytes
    modified_ns: int
    inode: int
    downloaded: bool = True  # False: a cloud drive's placeholder; must not be opened
    # st_ctime_ns, which tells of a write that sets the old time back, but also of a new name; 0 where there is none.
    changed_ns: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something a person should look at. `kind` is snake_case, `path` relative to the folder."""

    kind: str
    path: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Scan:
    """A whole walk of a folder. What lies below `unreadable` folders was not seen: it is not gone."""

    files: tuple[FileState, ...]
    folders: tuple[str, ...]
    unreadable: tuple[str, ...]
    problems: tuple[Problem, ...]
    ignored: tuple[tuple[str, int, int], ...] = ()  # (rule, files, folders) that the rule hides; nothing below them


@dataclass(frozen=True, slots=True)
class LinkFact:
    """A link as written. `target` is decoded and without anchor; `anchor` is `heading`, `^block` or ""."""

    kind: Literal["wiki", "embed", "markdown", "image", "reference", "property"]
    target: str
    anchor: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Facts:
    """What the index keeps of one note's bytes. `body` is searchable text without `front`, the front matter."""

    title: str
    aliases: tuple[str, ...]
    tags: tuple[str, ...]  # without "#", as written, first spelling of each, in order
    headings: tuple[str, ...]
    links: tuple[LinkFact, ...]
    properties: tuple[tuple[str, str], ...]  # (key, one scalar value as written); a list gives one pair per item
    body: str
    valid_text: bool
    front: str = ""
    flaws: tuple[tuple[str, str], ...] = ()  # (kind of Problem, advice) of what a person should mend in it


@dataclass(frozen=True, slots=True)
class Entry:
    """One file to put into the index: its state, the hash of its bytes, and its facts.

    Without facts: an attachment, or a note of which the index holds just these bytes already.
    """

    state: FileState
    etag: str
    facts: Facts | None


@dataclass(frozen=True, slots=True)
class Batch:
    """What one refresh found. `gone` are paths proven absent; `quiet` keeps first sightings out of the log,
    until the index is finished for the first time."""

    entries: tuple[Entry, ...] = ()
    gone: tuple[str, ...] = ()
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """One line of the change log that all servers on a folder share. `seq` grows."""

    seq: int
    kind: ChangeKind
    path: str
    file_kind: FileKind
    old_path: str | None = None  # for "renamed"


@dataclass(frozen=True, slots=True)
class Note:
    """One row of the index."""

    path: str
    title: str
    size: int  # bytes
    modified_ns: int
    etag: str
    tags: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    kind: FileKind = "note"
