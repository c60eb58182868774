"""One `tags` entry of the front matter with tags renamed and taken out, each inside its own scalar.

Knows the ways in which people write tags (lists of both kinds, nested ones, text with commas or blanks) and
changes in each only the characters of a tag's name, or takes the item out; quotes, marks, comments, blanks
and order stay. What is written is `yamlsplice`'s to try: other forms follow only where this one fails. Pure.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from notes_mcp.notes.properties import yamlsplice, yamltree, yamlwrite
from notes_mcp.notes.properties.properties import bare_tag
from notes_mcp.notes.properties.yamlitems import Splice, Unfit
from notes_mcp.notes.properties.yamlsplice import Block
from notes_mcp.notes.properties.yamltree import Node, Scalar, Value

_WORD = re.compile(r"[^,\s]+")
_BEFORE_NAME = re.compile(r"\s*#*[/ \t]*")
_NODE_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")  # YAML 1.2 section 6.9: anchor and tag
_HEADER_LINE = re.compile(r"[|>][^\r\n]*(?:\r\n|\n|\r)?")


@dataclass(frozen=True, slots=True)
class TagChange:
    """Tags to put in, take out and rename. Compared without case and "#"; a renamed tag takes its children along."""

    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    rename: tuple[tuple[str, str], ...] = ()

    def renamed(self, tag: str) -> str | None:
        """What becomes of a tag: itself, its new name, or None if it goes."""
        folded = tag.casefold()
        if any(folded == bare_tag(gone).casefold() for gone in self.remove):
            return None
        for old, new in self.rename:
            was = bare_tag(old).casefold()
            if folded == was or folded.startswith(was + "/"):
                return bare_tag(new) + _after(tag, was)
        return tag


def _after(tag: str, folded: str) -> str:
    """The rest of `tag` behind the levels of `folded`; casefolding may change lengths, levels it keeps."""
    return "".join("/" + level for level in tag.split("/")[folded.count("/") + 1 :])


@dataclass(slots=True)
class Fates:
    """What becomes of tags as they are met one after the other, so that none is there twice after it.

    `kept`: the folded tags that stay as they are, wherever they come; `there`: those met or made so far.
    """

    change: TagChange
    kept: frozenset[str]
    there: set[str] = field(default_factory=set)
    count: int = 0

    def of(self, tag: str) -> str | None:
        """The tag after the change, None if it is taken out."""
        new = self.change.renamed(tag)
        if new != tag:
            self.count += 1
            if new is not None and (new.casefold() in self.kept or new.casefold() in self.there):
                return None
        if new is not None:
            self.there.add(new.casefold())
        return new


def said(node: Node) -> Iterator[str]:
    """The tags that an entry holds, in order."""
    target = node.target if isinstance(node, yamltree.Alias) else node
    if isinstance(target, yamltree.Sequence):
        for item in target.items:
            if isinstance(item, yamltree.Sequence):
                yield from said(item)
            elif tag := _tag_of(item):
                yield tag
    elif isinstance(target, Scalar) and target.value is not None:
        yield from filter(None, map(bare_tag, _WORD.findall(target.text)))


def retagged(block: Block, place: int, fates: Fates) -> Block:
    """`block` with the tags of the entry at `place` as `fates` has them. Raises InvalidRequestError if it cannot be."""
    node = block.entries[place][2]
    target = node.target if isinstance(node, yamltree.Alias) else node
    before = fates.count
    if isinstance(target, yamltree.Sequence):
        change = _Lists(block, fates)
        value: Value = change.value(target)
        forms: Iterable[list[Splice]] = change.forms() if target is node else ()
    elif isinstance(target, Scalar) and target.value is not None:
        value, texts = _text_after(block, target, fates)
        forms = texts if target is node else ()
    else:
        return block
    return block if fates.count == before else yamlsplice.set_entry(block, place, value, forms=forms)


def extended(block: Block, place: int, tags: Sequence[str]) -> Block:
    """`block` with `tags` behind the words of the text at `place`, which has several. Raises InvalidRequestError."""
    node = block.entries[place][2]
    target = node.target if isinstance(node, yamltree.Alias) else node
    assert isinstance(target, Scalar)
    more = "".join((", " if "," in target.text else " ") + tag for tag in tags)
    at = [found.end() for found in _WORD.finditer(target.text)][-1]
    forms: list[list[Splice]] = []
    inner = _inner(block.source, target)
    ends = [inner[0] + found.end() for found in _WORD.finditer(block.source[slice(*inner)])]
    if target is node and ends:
        forms.append([(ends[-1], ends[-1], more)])
    return yamlsplice.set_entry(block, place, target.text[:at] + more + target.text[at:], forms=forms)


def _text_after(block: Block, node: Scalar, fates: Fates) -> tuple[Value, list[list[Splice]]]:
    """What text that holds tags says after it, and the form in which only those words change."""
    words = list(_WORD.finditer(node.text))
    fate = [fates.of(tag) if (tag := bare_tag(word[0])) else "" for word in words]
    if all(new is None for new in fate):
        return [], []
    text = _spliced(node.text, _word_splices(words, fate, 0, words))
    start, end = _inner(block.source, node)
    written = list(_WORD.finditer(block.source[start:end]))
    if len(written) != len(words):  # blanks or commas that are written as escapes
        return text, []
    fits = node.style or not _quoted(text)
    return text, [_word_splices(words, fate, start, written)] if fits else []


def _word_splices(
    words: Sequence[re.Match[str]], fate: Sequence[str | None], offset: int, written: Sequence[re.Match[str]]
) -> list[Splice]:
    """What gives each of the words its fate where it is `written`, maybe with escapes; "" is no tag, and stays."""
    splices: list[Splice] = []
    last = max(at for at, new in enumerate(fate) if new is not None)
    for at, (word, new, place) in enumerate(zip(words, fate, written, strict=True)):
        if new is None and at < last:
            splices.append((offset + place.start(), offset + written[at + 1].start(), ""))
        elif new is None:
            splices.append((offset + written[at - 1].end(), offset + place.end(), ""))
        elif new and new != bare_tag(word[0]):
            start, end, head = _name(word[0], new)
            if word[0] != place[0]:
                head = word[0][:start] + head + word[0][end:]
                start, end = 0, len(place[0])
            splices.append((offset + place.start() + start, offset + place.start() + end, head))
    return splices


def _spliced(text: str, splices: Sequence[Splice]) -> str:
    for start, end, new in reversed(splices):
        text = text[:start] + new + text[end:]
    return text


class _Lists:
    """A list of tags, and those in it, gone through once: its value after the change and what does it."""

    def __init__(self, block: Block, fates: Fates) -> None:
        self.block = block
        self.fates = fates
        self.expansion = yamltree.Expansion(block.source)
        self.renamed: list[tuple[Node, str, str]] = []  # the item, its text after, its name after
        self.dropped: list[tuple[yamltree.Sequence, list[int]]] = []

    def value(self, node: yamltree.Sequence) -> list[Value]:
        values: list[Value] = []
        dropped: list[int] = []
        for place, item in enumerate(node.items):
            tag = _tag_of(item)
            new = self.fates.of(tag) if tag else None
            if isinstance(item, yamltree.Sequence):
                values.append(self.value(item))
            elif tag is None or new == tag:
                values.append(self.expansion.value(item))
            elif new is None:
                dropped.append(place)
            else:
                target = self.expansion.enter(item, 0)
                assert isinstance(target, Scalar)
                text = _spliced(target.text, [_name(target.text, new)]) if item is target else new
                self.renamed.append((item, text, new))
                values.append(text)
        if dropped:
            self.dropped.append((node, dropped))
        return values

    def forms(self) -> Iterator[list[Splice]]:
        """First with every name changed where it stands, then with the scalars written anew."""
        taken_out: list[Splice] = []
        try:
            for node, places in self.dropped:
                kept = [place for place in range(len(node.items)) if place not in set(places)]
                taken_out += yamlsplice.item_splices(self.block, node, kept)
        except Unfit:
            return
        for exact in (True, False):
            yield [*taken_out, *(self.item(item, text, new, exact=exact) for item, text, new in self.renamed)]

    def item(self, item: Node, text: str, new: str, *, exact: bool) -> Splice:
        source = self.block.source
        like = item.style if isinstance(item, Scalar) else ""
        if exact and isinstance(item, Scalar) and (like or not _quoted(text)):
            inner, end = _inner(source, item)
            written = source[inner:end]
            start, stop, head = _name(item.text, new)
            before = _BEFORE_NAME.match(written)
            assert before is not None
            name = item.text[start:stop]
            if written.startswith(name, before.end()):
                return inner + before.end(), inner + before.end() + len(name), head
        return item.start, item.end, yamlwrite.inline(text, like=like)


def _name(text: str, new: str) -> Splice:
    """Where in `text`, which says one tag, something has to change for it to be `new`; children stay."""
    before = _BEFORE_NAME.match(text)
    assert before is not None
    tag = bare_tag(text)
    same = 0
    while same < min(len(tag), len(new)) and tag[-1 - same] == new[-1 - same]:
        same += 1
    return before.end(), before.end() + len(tag) - same, new[: len(new) - same]


def _inner(source: str, node: Scalar) -> tuple[int, int]:
    """The span of what a scalar says: without anchor, tag, quotes and header."""
    before = _NODE_PROPERTIES.match(source, node.start, node.end)
    assert before is not None
    start = before.end()
    if node.style in ("|", ">"):
        header = _HEADER_LINE.match(source, start, node.end)
        return (header.end() if header else start), node.end
    return (start + 1, node.end - 1) if node.style else (start, node.end)


def _quoted(text: str) -> bool:
    """Whether this must not stand without quotes: it would be no text, or none to readers of YAML 1.1."""
    return yamlwrite.misread(text) or yamltree.core_value(text) != text


def _tag_of(item: Node) -> str | None:
    target = item.target if isinstance(item, yamltree.Alias) else item
    return (bare_tag(target.text) or None) if isinstance(target, Scalar) and target.value is not None else None
