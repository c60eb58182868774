"""What a scan of Markdown finds, with its place in the source. Immutable values; no parsing.

Every `start` and `end` is a byte offset into the UTF-8 text that was scanned, half-open;
every `line` is 1-based and counts from the top of the file, front matter included.
Named tuples, since an index of ten thousand notes makes half a million of them.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

LinkKind: TypeAlias = Literal["wiki", "embed", "markdown", "image", "reference", "definition", "property"]
LinkForm: TypeAlias = Literal["wiki", "bare", "angle"]


class Heading(NamedTuple):
    """An ATX or setext heading outside of quotes and lists, from the start of its line to past its line end.

    `text` is what a reader sees, without emphasis, link marks, comments and block mark; `raw` is the
    same stretch as written, source bytes `raw_start:raw_end`.
    """

    level: int  # 1 to 6
    text: str
    raw: str
    line: int
    start: int
    end: int
    raw_start: int
    raw_end: int


class Link(NamedTuple):
    """A link to a note, an attachment or a place in this note; web addresses are left out.

    `target` is decoded, without anchor, "" for this note; `anchor` is `heading`, `a#b`, `^block` or "".
    `text` is the alias, label or embed size as written, else the target as written. Source bytes
    `target_start:target_end` hold the target alone: a new one goes exactly there, as is for the form
    "wiki", percent-encoded for "bare", between the <> that are there for "angle". A "reference" is the
    use of a "definition": its target span is the definition's, so rewriting either rewrites both.
    """

    kind: LinkKind
    target: str
    anchor: str
    text: str
    line: int
    start: int
    end: int
    target_start: int
    target_end: int
    form: LinkForm


class Tag(NamedTuple):
    """A `#tag` in the text, `name` without "#". `colour_like`: six or eight hex digits, like `#ff00aa`."""

    name: str
    line: int
    start: int  # of the "#"
    end: int
    colour_like: bool


class Task(NamedTuple):
    """A list item with a box. `status` is the character in it; `done` means x, X or - (cancelled)."""

    done: bool
    status: str
    text: str  # the rest of the line
    line: int
    start: int  # of the list marker
    end: int  # of the line, its line end left out
    status_start: int  # the character in the box stands at status_start:status_end
    status_end: int


class Block(NamedTuple):
    """What `^id` names: the paragraph, list item, heading, table, … at `start:end` (whole lines).

    `line` is where it starts; the mark with its "^" stands at `mark_start:mark_end`, which is behind the
    block if the mark has a line of its own.
    """

    id: str
    line: int
    start: int
    end: int
    mark_start: int
    mark_end: int


@dataclass(frozen=True, slots=True)
class MarkdownScan:
    """All that is found in one text, each list in source order. `size` is the length of the text in bytes."""

    front_matter: tuple[int, int] | None  # both fence lines included, with their line ends
    body_start: int
    size: int
    headings: tuple[Heading, ...]
    links: tuple[Link, ...]
    tags: tuple[Tag, ...]
    tasks: tuple[Task, ...]
    blocks: tuple[Block, ...]
    comments: tuple[tuple[int, int], ...]  # Obsidian's %%…%%
