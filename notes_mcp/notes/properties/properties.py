"""A note's properties: what the YAML front matter says.

Reads by `yamltree`, so every value keeps what people wrote. Where the block begins and ends is
`markdown.front_matter`'s word. Pure.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from notes_mcp.notes.markup.markdown import front_matter
from notes_mcp.notes.properties import yamltree
from notes_mcp.notes.properties.yamltree import Expansion, Node, Scalar, Value, YamlError
from notes_mcp.notes.text import Text

# Obsidian takes the singular and any case as well.
TAG_KEYS = re.compile(r"tags?", re.IGNORECASE)
ALIAS_KEYS = re.compile(r"alias(?:es)?", re.IGNORECASE)
_MAX_KEY_CHARS = 1_000
_LINE_END = re.compile(rb"\r\n|\n|\r")
_OPENED = re.compile(rb"---[ \t]*(?:\r\n|\r|\n)[^\s:#>*-][^:\r\n]{0,80}:(?:[ \t]|\r|\n|\Z)")
_CLOSING_FENCE = re.compile(rb"(?<=[\r\n])(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r)?\Z")


@dataclass(frozen=True, slots=True)
class Said:
    """One scalar of the block where it stands, aliases not followed. Offsets are characters of the block."""

    key: str  # the keys that lead to it, joined by "."
    text: str  # as YAML reads it: without quotes and escapes
    start: int
    end: int
    line: int  # 1-based, from the top of the file


@dataclass(frozen=True)
class Properties:
    """What one block of front matter says. `error` is a sentence if it does not parse; then the rest is empty."""

    values: dict[str, Value] = field(default_factory=dict)
    error: str | None = None
    _source: str = field(default="", repr=False)
    _root: Node | None = field(default=None, repr=False)
    _first_line: int = 2

    def pairs(self) -> tuple[tuple[str, str], ...]:
        """(key, one scalar as written); one for each item of a list; keys below keys are joined by ".".

        What is empty (null, `[]`, `{}`) gives one pair with "", so that its key can be found.
        """
        return tuple(
            (key, "" if scalar is None or scalar.value is None else scalar.text)
            for names, scalar in self._scalars()
            if len(key := ".".join(names)) <= _MAX_KEY_CHARS
        )

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The tags without "#", the first spelling of each, in order. Text is split at commas and blanks."""
        first: dict[str, str] = {}
        for text in self._listed(TAG_KEYS, r"[,\s]+"):
            if tag := bare_tag(text):
                first.setdefault(tag.casefold(), tag)
        return tuple(first.values())

    @cached_property
    def aliases(self) -> tuple[str, ...]:
        """The aliases in order, each once. Text that is no list is split at commas."""
        return tuple(dict.fromkeys(self._listed(ALIAS_KEYS, ",")))

    @cached_property
    def title(self) -> str | None:
        """What `title` says, as written; None if it is missing, empty or no scalar."""
        found = [node for key, node in self._top() if key == "title"]
        title = Expansion(self._source).enter(found[-1], 0) if found else None
        return title.text.strip() or None if isinstance(title, Scalar) and title.value is not None else None

    @cached_property
    def said(self) -> tuple[Said, ...]:
        """Every scalar value where it stands in the block, in order."""
        breaks = [found.end() for found in re.finditer(r"\r\n|\n|\r", self._source)]
        return tuple(
            Said(".".join(names), node.text, node.start, node.end, self._first_line + bisect_right(breaks, node.start))
            for names, node in (self._written(self._root, ()) if self._root else ())
        )

    def _written(self, node: Node, names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Scalar]]:
        if isinstance(node, Scalar):
            yield names, node
        elif isinstance(node, yamltree.Sequence):
            for item in node.items:
                yield from self._written(item, names)
        elif isinstance(node, yamltree.Mapping):
            for key, value in node.pairs:
                yield from self._written(value, (*names, yamltree.key_text(key, self._source)))

    def _scalars(self) -> Iterator[tuple[tuple[str, ...], Scalar | None]]:
        return Expansion(self._source).scalars(self._root) if self._root else iter(())

    def _listed(self, keys: re.Pattern[str], separator: str) -> Iterator[str]:
        for key, node in self._top():
            if not keys.fullmatch(key):
                continue
            target = Expansion(self._source).enter(node, 0)
            for names, scalar in Expansion(self._source).scalars(node):
                if names or scalar is None or scalar.value is None:
                    continue
                texts = re.split(separator, scalar.text) if target is scalar else [scalar.text]
                yield from (stripped for text in texts if (stripped := text.strip()))

    def _top(self) -> Iterator[tuple[str, Node]]:
        return Expansion(self._source).entries(self._root) if self._root else iter(())


def bare_tag(text: str) -> str:
    """A tag without "#" before and "/" or blanks around it: `#a/b/` is `a/b`. "" if nothing is left."""
    return text.strip().lstrip("#").strip("/ \t")


def inside(utf8: bytes) -> tuple[int, int] | None:
    """The byte span between the fences of a note's front matter; None if it has none."""
    block = front_matter(utf8)
    if block is None:
        return None
    opening = _LINE_END.search(utf8)
    closing = _CLOSING_FENCE.search(utf8, 0, block[1])
    assert opening is not None and closing is not None
    return opening.end(), closing.start()


def is_unclosed(text: Text) -> bool:
    """Whether a note begins like front matter that has no end. A line of dashes above plain text is none."""
    return front_matter(text.utf8) is None and _OPENED.match(text.utf8) is not None


def of(text: Text) -> Properties:
    """The properties of a note; none if it has no front matter. Never raises."""
    span = inside(text.utf8)
    return parse(text.utf8[slice(*span)].decode("utf-8", "replace")) if span else Properties()


def parse(front: str, first_line: int = 2) -> Properties:
    """The properties in the text between the fences. Never raises. `first_line` is its first line in the file."""
    try:
        root = yamltree.compose(front)
        if root is None or (isinstance(root, Scalar) and root.value is None):
            return Properties()
        if not isinstance(root, yamltree.Mapping):
            raise YamlError("it is no list of keys and values")
        values = Expansion(front).value(root)
        assert isinstance(values, dict)
    except YamlError as problem:
        where = "" if problem.line is None else f"line {first_line + problem.line - 1}: "
        return Properties(error=f"The properties (YAML front matter) cannot be read: {where}{problem}.")
    return Properties(values, None, front, root, first_line)
