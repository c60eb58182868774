"""One key of a YAML mapping set or removed, every other character left as it is.

Each change is proposed in one or more forms, from the least intrusive to the plainest, and tried: the
text it gives must parse to exactly what is wanted, with all other keys and their order unchanged. If no
form does, nothing is changed and the reason is raised. Works on text and offsets alone. Pure.
"""

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from notes_mcp.errors import InvalidRequestError
from notes_mcp.notes.properties import yamltree, yamlwrite
from notes_mcp.notes.properties.yamlitems import New, Part, Splice, Unfit, block_items, dash_column, flow_items
from notes_mcp.notes.properties.yamltree import Alias, Expansion, Mapping, Node, Scalar, Value, YamlError, key_text
from notes_mcp.notes.properties.yamlwrite import ListStyle

Read = list[tuple[str, str]]  # keys and the repr of their values: 1, 1.0 and True must not count as equal

_LINE_END = re.compile(r"[\r\n]|\Z")
_NEXT_LINE = re.compile(r"\r\n|\n|\r|\Z")
_BLANK_LINES = re.compile(r"(?:[ \t]*(?:\r\n|\n|\r))*")
_COLON = re.compile(r"\s*:")
_HEADER = re.compile(r"[|>][-+0-9]*")
_FENCE = re.compile(r"(?:(?<=[\r\n])|\A)(?:---|\.\.\.)[ \t]*(?=[\r\n]|\Z)")


class Block:
    """A parsed block: its text, its root and its entries in order. Raises YamlError if it does not parse."""

    def __init__(self, source: str, newline: str) -> None:
        self.source = source
        self.newline = newline
        root = yamltree.compose(source)
        if isinstance(root, Scalar) and root.start == root.end:
            root = None
        if root is not None and not isinstance(root, Mapping):
            raise YamlError("it is no list of keys and values")
        self.root = root
        self.entries = [(key_text(key, source), key, value) for key, value in root.pairs] if root else []
        expansion = Expansion(source)
        self.read: Read = [(name, repr(expansion.value(value))) for name, _, value in self.entries]

    def places(self, name: str) -> list[int]:
        """Where the entries with that key are; more than one if it is there twice."""
        return [place for place, entry in enumerate(self.entries) if entry[0] == name]

    def value(self, place: int) -> Value:
        return Expansion(self.source).value(self.entries[place][2])

    @property
    def column(self) -> int:
        """Where the keys stand in their lines; 0 if there are none."""
        if not self.entries:
            return 0
        start = self.entries[0][1].start
        line = self.source[_line_start(self.source, start) : start]
        return len(line) - len(line.lstrip(" "))

    @property
    def list_style(self) -> ListStyle:
        """How the first list with items looks; the default if there is none."""
        first = next((e for e in self.entries if isinstance(e[2], yamltree.Sequence) and e[2].items), None)
        return self.style_of(first[1], first[2]) if first else ListStyle()

    def style_of(self, key: Node, value: Node) -> ListStyle:
        """How the list below that key looks; the default if it is none."""
        if isinstance(value, yamltree.Sequence):
            if value.flow:
                return ListStyle(flow=True)
            with contextlib.suppress(Unfit):
                return ListStyle(indent=max(0, dash_column(self.source, value, key.end) - self.column))
        return ListStyle()


def set_key(block: Block, name: str, value: Value, parts: Sequence[Part] | None = None) -> Block:
    """`block` with that key holding `value`; a new key comes last. A key that is there twice is there once after.

    `parts` says for a list which of its items stay (by place). Raises InvalidRequestError if it cannot be done.
    """
    places = block.places(name)
    for place in reversed(places[:-1]):
        block = remove_entry(block, place)
    if not places:
        return _tried(block, name, _added(block, name, value), [*block.read, (name, repr(value))])
    return set_entry(block, block.places(name)[0], value, parts)


def set_entry(
    block: Block,
    place: int,
    value: Value,
    parts: Sequence[Part] | None = None,
    forms: Iterable[list[Splice]] = (),
) -> Block:
    """`block` with the entry at `place` holding `value`; `forms` are tried before any other.

    Raises InvalidRequestError if it cannot be done.
    """
    name, was = block.read[place]
    if was == repr(value):
        return block
    wanted = [*block.read[:place], (name, repr(value)), *block.read[place + 1 :]]
    return _tried(block, name, chain(forms, _replaced(block, place, value, parts)), wanted)


def item_splices(block: Block, node: yamltree.Sequence, kept: Sequence[int]) -> list[Splice]:
    """What takes all items of a list but those at `kept` out. Raises Unfit if it cannot be done."""
    if node.flow:
        return flow_items(block.source, node, [(item.start, item.end) for item in node.items], kept)
    key = next((key for _, key, value in block.entries if value is node), None)
    return block_items(block.source, node, key.end if key else node.start, kept, block.newline)


def remove_key(block: Block, name: str) -> Block:
    """`block` without that key, however often it is there; unchanged if it is not."""
    for place in reversed(block.places(name)):
        block = remove_entry(block, place)
    return block


def remove_entry(block: Block, place: int) -> Block:
    """`block` without the entry at `place`. Raises InvalidRequestError if it cannot be done."""
    wanted = [*block.read[:place], *block.read[place + 1 :]]
    return _tried(block, block.entries[place][0], _removed(block, place), wanted)


def _tried(block: Block, name: str, forms: Iterator[list[Splice]], wanted: Read) -> Block:
    fences = len(_FENCE.findall(block.source))
    with contextlib.suppress(Unfit):
        for splices in forms:
            with contextlib.suppress(Unfit, YamlError):
                changed = Block(_applied(block.source, splices), block.newline)
                if changed.read == wanted and len(_FENCE.findall(changed.source)) == fences:
                    return changed
    raise InvalidRequestError(_reason(block, name))


def _reason(block: Block, name: str) -> str:
    own: set[str] = set()
    used: set[str] = set()
    for found, _, value in block.entries:
        if found == name:
            own |= {node.anchor for node in _below(value) if node.anchor}
        else:
            used |= {node.name for node in _below(value) if isinstance(node, Alias)}
    if shared := sorted(own & used):
        return (
            f"The property {name!r} holds the anchor &{shared[0]}, which other properties use (*{shared[0]}). "
            "Nothing was changed; change it as text with edit_note."
        )
    return (
        f"The property {name!r} cannot be changed without touching the rest of the front matter. "
        "Nothing was changed; change it as text with edit_note."
    )


def _below(node: Node) -> Iterator[Node]:
    yield node
    if isinstance(node, yamltree.Sequence):
        for item in node.items:
            yield from _below(item)
    elif isinstance(node, Mapping):
        for key, value in node.pairs:
            yield from _below(key)
            yield from _below(value)


def _added(block: Block, name: str, value: Value) -> Iterator[list[Splice]]:
    root, source = block.root, block.source
    if root is not None and root.flow:
        yield flow_items(
            source, root, _spans(root), [*range(len(root.pairs)), f"{yamlwrite.key(name)}: {yamlwrite.inline(value)}"]
        )
        return
    lines = yamlwrite.mapping({name: value}, block.column, block.list_style)
    plain = [f"{' ' * block.column}{yamlwrite.key(name)}: {yamlwrite.inline(value)}"]
    places = [len(source)]
    if root is not None:  # what follows the last entry may be no place for a key, such as "..."
        places.append(_next_line(source, root.end))
    for place in places:
        for form in (lines, plain):
            before = block.newline if place and source[place - 1] not in "\r\n" else ""
            yield [(place, place, before + "".join(line + block.newline for line in form))]


def _removed(block: Block, place: int) -> Iterator[list[Splice]]:
    root, source = block.root, block.source
    assert root is not None
    if root.flow:
        kept = [other for other in range(len(root.pairs)) if other != place]
        yield flow_items(source, root, _spans(root), kept)
        return
    _, key, value = block.entries[place]
    start = _line_start(source, key.start)
    end = _next_line(source, max(key.end, value.end))
    yield [(start, end, "")]
    blank = _BLANK_LINES.match(source, end)
    assert blank is not None
    yield [(start, blank.end(), "")]
    following = (
        _line_start(source, block.entries[place + 1][1].start) if place + 1 < len(block.entries) else len(source)
    )
    yield [(start, following, "")]


def _replaced(block: Block, place: int, value: Value, parts: Sequence[Part] | None) -> Iterator[list[Splice]]:
    _, key, old = block.entries[place]
    assert block.root is not None
    like, lenient, lists = "", False, block.list_style
    if isinstance(old, Scalar):
        like = old.style
        lenient = not old.style and isinstance(old.value, str) and yamlwrite.misread(old.text)
    if isinstance(old, yamltree.Sequence):
        lists = block.style_of(key, old)
        if isinstance(value, list):
            with contextlib.suppress(Unfit):
                yield _items(block, old, key, _aligned(block, old, value) if parts is None else parts)
    plain = yamlwrite.inline(value, flow=block.root.flow, like=like, lenient=lenient)
    if not block.root.flow:
        head, below = yamlwrite.block(value, block.column, lists, like=like, lenient=lenient)
        yield _placed(block, key, old, head, below)
    yield _placed(block, key, old, plain, [])
    yield _placed(block, key, old, yamlwrite.inline(value), [])


def _items(block: Block, old: yamltree.Sequence, key: Node, parts: Sequence[Part]) -> list[Splice]:
    styles = {item.style for item in old.items if isinstance(item, Scalar)}
    like = styles.pop() if len(styles) == 1 else ""
    written: list[int | str] = [
        part if isinstance(part, int) else yamlwrite.inline(part.value, like=like) for part in parts
    ]
    if old.flow:
        return flow_items(block.source, old, [(item.start, item.end) for item in old.items], written)
    return block_items(block.source, old, key.end, written, block.newline)


def _aligned(block: Block, old: yamltree.Sequence, value: list[Value]) -> list[Part]:
    from difflib import SequenceMatcher

    expansion = Expansion(block.source)
    was, wanted = [repr(expansion.value(item)) for item in old.items], [repr(item) for item in value]
    parts: list[Part] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, was, wanted).get_opcodes():
        parts += range(i1, i2) if tag == "equal" else map(New, value[j1:j2])
    return parts


def _placed(block: Block, key: Node, old: Node, head: str, below: list[str]) -> list[Splice]:
    """`head` where the old value began, or right after the colon; `below` as the lines under it."""
    source = block.source
    colon = _COLON.match(source, key.end)
    if colon is None:
        raise Unfit
    line_end = _line_end(source, colon.end())
    lines = "".join(block.newline + line for line in below)
    here = colon.end() < old.start <= line_end and head
    start = old.start if here else colon.end()
    head = head if here or not head else f" {head}"
    if old.end <= line_end:
        return [(start, max(start, old.end), head), (line_end, line_end, lines)]
    in_lines = isinstance(old, yamltree.Sequence | Mapping) and not old.flow
    end = _line_end(source, old.end) if in_lines else old.end  # a comment on its last line goes with it
    if old.start > line_end:
        return [(colon.end(), colon.end(), head), (line_end, end, lines)]
    header = (
        _HEADER.search(source, old.start, line_end) if isinstance(old, Scalar) and old.style in ("|", ">") else None
    )
    return [(start, header.end() if header else line_end, head), (line_end, end, lines)]


def _spans(root: Mapping) -> list[tuple[int, int]]:
    return [(key.start, max(key.end, value.end)) for key, value in root.pairs]


def _applied(source: str, splices: list[Splice]) -> str:
    pieces: list[str] = []
    done = 0
    for start, end, new in sorted(splices, key=lambda splice: splice[:2]):
        if start < done:
            raise Unfit
        pieces += (source[done:start], new)
        done = end
    return "".join((*pieces, source[done:]))


def _line_start(source: str, offset: int) -> int:
    return max(source.rfind("\n", 0, offset), source.rfind("\r", 0, offset)) + 1


def _line_end(source: str, offset: int) -> int:
    found = _LINE_END.search(source, offset)
    assert found is not None
    return found.start()


def _next_line(source: str, offset: int) -> int:
    found = _NEXT_LINE.search(source, offset)
    assert found is not None
    return found.end()
