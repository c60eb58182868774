"""YAML text -> a tree of nodes that know their place in it, and their values by the YAML 1.2 core schema.

Owns every use of PyYAML. Parses by events, so that depth and aliases are bounded here. A value keeps
what people wrote: a number is a number only when JSON would write it the same way, so `1.10`, `007`,
`0x1F`, dates, `yes` and `off` stay text. Offsets are characters of the source. Pure.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Value: TypeAlias = "bool | int | float | str | list[Value] | dict[str, Value] | None"

MAX_CHARS = 256 * 1024
MAX_DEPTH = 100
_SPARE_CHARS = 100_000  # how much longer than three times its source a block may get by its aliases

_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"0|-?[1-9][0-9]{0,299}")
_FLOAT = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?")
_CORE_TAGS = frozenset(f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float"))
# libyaml breaks lines at these, as YAML 1.1 did, and refuses the last one; to YAML 1.2 they are text.
_NOT_BREAKS = re.compile("[\x85\u2028\u2029\ufeff]")


class YamlError(ValueError):
    """The text is no YAML, or too much of it. `line` is 1-based within the text, None if unknown."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.line = line


@dataclass(slots=True)
class Node:
    """`start` takes in anchor and tag; `end` is where the value's last character ends, comments left out."""

    start: int
    end: int
    anchor: str | None


@dataclass(slots=True)
class Scalar(Node):
    text: str  # as YAML reads it: unfolded, unescaped
    value: Value
    style: str  # "" plain, "'", '"', "|" or ">"


@dataclass(slots=True)
class Sequence(Node):
    flow: bool
    items: list["Node"] = field(default_factory=list)


@dataclass(slots=True)
class Mapping(Node):
    flow: bool
    pairs: list[tuple["Node", "Node"]] = field(default_factory=list)


@dataclass(slots=True)
class Alias(Node):
    name: str
    target: Node


def core_value(text: str) -> Value:
    """What a plain scalar means in the YAML 1.2 core schema (section 10.3.2), if nothing of it gets lost."""
    if text in _NULLS:
        return None
    if text in _BOOLS:
        return _BOOLS[text]
    if text[0] in "-0123456789":
        if _INT.fullmatch(text):
            return int(text)
        if _FLOAT.fullmatch(text) and repr(number := float(text)) == text:
            return number
    return text


def compose(source: str) -> Node | None:
    """The one document in `source` as a tree; None if it holds nothing. Raises YamlError."""
    import yaml

    if len(source) > MAX_CHARS:
        raise YamlError(f"it is longer than {MAX_CHARS:,} characters")
    back: dict[int, str] = {}
    spoken = source
    if _NOT_BREAKS.search(source):
        spare = (chr(code) for code in range(0x10F000, 0x10FFFE) if chr(code) not in source)
        there = {ord(char): next(spare) for char in "\x85\u2028\u2029\ufeff"}
        spoken = source.translate(there)
        back = {ord(stand_in): chr(char) for char, stand_in in there.items()}
    try:
        return _Composer(getattr(yaml, "CSafeLoader", yaml.SafeLoader)(spoken), source, back).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or "it cannot be parsed"
        raise YamlError(problem, mark.line + 1 if mark else None) from None
    except yaml.reader.ReaderError as error:
        at = error.position if isinstance(error.position, int) else 0
        raise YamlError("it holds a control character", source.count("\n", 0, at) + 1) from None
    except UnicodeEncodeError:
        raise YamlError("it holds half of a surrogate pair") from None


class _Composer:
    """Events of one parser -> nodes."""

    def __init__(self, parser: Any, source: str, back: dict[int, str]) -> None:
        self.parser = parser
        self.source = source
        self.back = back
        self.anchors: dict[str, Node] = {}

    def document(self) -> Node | None:
        import yaml

        self.parser.get_event()
        if self.parser.check_event(yaml.StreamEndEvent):
            return None
        self.parser.get_event()
        root = self.node(self.parser.get_event(), 0)
        self.parser.get_event()
        if not self.parser.check_event(yaml.StreamEndEvent):
            line = self.parser.get_event().start_mark.line + 1
            raise YamlError("it holds more than one document", line)
        return root

    def node(self, event: Any, depth: int) -> Node:
        import yaml

        start, end = event.start_mark.index, event.end_mark.index
        kind = type(event)  # Asked for by type, since PyYAML's stubs leave marks and anchors optional.
        if kind is yaml.AliasEvent:
            name = self.restored(event.anchor)
            if name not in self.anchors:
                raise YamlError(f"nothing is anchored as &{name}", event.start_mark.line + 1)
            return Alias(start, end, None, name, self.anchors[name])
        if depth > MAX_DEPTH:
            raise YamlError(f"it is nested more than {MAX_DEPTH} levels deep", event.start_mark.line + 1)
        anchor = self.restored(event.anchor) if event.anchor else None
        node: Node
        if kind is yaml.ScalarEvent:
            node = self.scalar(event, start, end, anchor)
        elif kind is yaml.SequenceStartEvent:
            node = Sequence(start, end, anchor, bool(event.flow_style))
        else:
            node = Mapping(start, end, anchor, bool(event.flow_style))
        if anchor is not None:
            self.anchors[anchor] = node
        if isinstance(node, Sequence | Mapping):
            self.children(node, depth)
        return node

    def children(self, node: Sequence | Mapping, depth: int) -> None:
        import yaml

        closing: tuple[Any, ...] = (yaml.SequenceEndEvent, yaml.MappingEndEvent)
        while type(event := self.parser.get_event()) not in closing:
            child = self.node(event, depth + 1)
            node.end = max(node.end, child.end)
            if isinstance(node, Sequence):
                node.items.append(child)
            else:
                value = self.node(self.parser.get_event(), depth + 1)
                node.end = max(node.end, value.end)
                node.pairs.append((child, value))
        if node.flow:  # The end of a block collection is marked at the next token, comments past.
            node.end = max(node.end, event.end_mark.index)

    def scalar(self, event: Any, start: int, end: int, anchor: str | None) -> Scalar:
        style = event.style or ""
        text = self.restored(event.value)
        if style in ("|", ">"):
            end = self.block_end(start, end)
        core = event.implicit[0] if not event.tag else event.tag in _CORE_TAGS
        return Scalar(start, end, anchor, text, core_value(text) if core else text, style)

    def block_end(self, start: int, end: int) -> int:
        """Where a block scalar's last line ends: its last written one, or last of all if `+` keeps them all."""
        header = self.source[start : self.source.find("\n", start) + 1 or end]
        if re.search(r"[|>][0-9]*\+", header.partition("#")[0]):
            kept = self.source[start:end]
            return start + len(kept.removesuffix("\n").removesuffix("\r"))
        written = start + len(self.source[start:end].rstrip(" \t\r\n"))
        following = re.compile(r"[\r\n]").search(self.source, written, end)
        return following.start() if following else end

    def restored(self, text: str) -> str:
        return text.translate(self.back) if self.back else text


def key_text(node: Node, source: str) -> str:
    """A mapping's key as text: what a scalar says, else the key as written."""
    target = node.target if isinstance(node, Alias) else node
    return target.text if isinstance(target, Scalar) else source[node.start : node.end]


class Expansion:
    """Values copied out of one tree, aliases followed, as long as they stay in proportion to the source."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.left = 3 * len(source) + _SPARE_CHARS

    def value(self, node: Node, depth: int = 0) -> Value:
        """The value of `node`; of keys that are there twice, the last one. Raises YamlError if it grows too large."""
        target = self.enter(node, depth)
        if isinstance(target, Scalar):
            return target.value
        if isinstance(target, Sequence):
            return [self.value(item, depth + 1) for item in target.items]
        return {name: self.value(value, depth + 1) for name, value in self.entries(target)}

    def scalars(self, node: Node, depth: int = 0) -> Iterator[tuple[tuple[str, ...], Scalar | None]]:
        """Each scalar below `node` with the mapping keys that lead to it; None for an empty collection."""
        target = self.enter(node, depth)
        if isinstance(target, Scalar):
            yield (), target
            return
        empty = True
        if isinstance(target, Sequence):
            for item in target.items:
                empty = False
                yield from self.scalars(item, depth + 1)
        else:
            for name, value in self.entries(target):
                empty = False
                for names, scalar in self.scalars(value, depth + 1):
                    yield (name, *names), scalar
        if empty:
            yield (), None

    def entries(self, node: Node) -> Iterator[tuple[str, Node]]:
        """The keys of a mapping as text, with their values; as often as they are there."""
        assert isinstance(node, Mapping)
        for key, value in node.pairs:
            name = key_text(key, self.source)
            self.spend(len(name))
            yield name, value

    def enter(self, node: Node, depth: int) -> Node:
        """What `node` stands for once aliases are followed. Raises YamlError when it has been too much."""
        while isinstance(node, Alias):
            node = node.target
        if depth > 2 * MAX_DEPTH:
            raise YamlError("its aliases (*) expand to more than can be read")
        self.spend(1 + (len(node.text) if isinstance(node, Scalar) else 0))
        return node

    def spend(self, chars: int) -> None:
        self.left -= chars
        if self.left < 0:
            raise YamlError("its aliases (*) expand to more than can be read")
