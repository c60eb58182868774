"""Changes to a note's properties, as edits for `Text.splice`.

Finds the front matter, changes it one key or tag at a time through `yamlsplice`, makes the block if
there is none and takes it away when its last key goes. Every other byte of the note stays. Pure.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from notes_mcp.errors import InvalidRequestError
from notes_mcp.notes import yamlsplice, yamltree, yamlwrite
from notes_mcp.notes.markdown import front_matter
from notes_mcp.notes.properties import TAG_KEYS, bare_tag, inside
from notes_mcp.notes.text import Edit, Text
from notes_mcp.notes.yamlitems import New, Part
from notes_mcp.notes.yamlsplice import Block
from notes_mcp.notes.yamltree import Node, Scalar, Value, YamlError

_FENCE_END = re.compile(rb"\r\n|\n|\r")
_NOT_IN_TAG = re.compile(r"[\s,#\[\]{}\"']")


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


def render(values: Mapping[str, Any], newline: str = "\n") -> str:
    """A new block, fences included. "" without values. Raises InvalidRequestError for what YAML cannot hold."""
    if not values:
        return ""
    lines = yamlwrite.mapping(
        {yamlwrite.clean_key(k): _clean(k, v) for k, v in values.items()}, 0, yamlwrite.ListStyle()
    )
    return "".join(line + newline for line in ("---", *lines, "---"))


def set_keys(text: Text, wanted: Mapping[str, Any], remove: Sequence[str] = ()) -> list[Edit]:
    """The edits after which those keys hold those values and the removed ones are gone; [] if that is so already.

    A value's own quotes, list style and comments stay where they can; a key that is there twice is there
    once after. Raises InvalidRequestError for a block that does not parse, a value that YAML cannot hold,
    a key in both arguments, or a change that would touch other keys; NotTextError for a note that is not valid.
    """
    if both := sorted(set(wanted) & set(remove)):
        raise InvalidRequestError(f"The property {both[0]!r} is both to be set and to be removed; send one of the two.")
    values = {yamlwrite.clean_key(name): _clean(name, value) for name, value in wanted.items()}
    block = _block(text)
    for name in remove:
        block = yamlsplice.remove_key(block, name)
    for name, value in values.items():
        block = yamlsplice.set_key(block, name, value)
    return _edits(text, block)


def edit_tags(text: Text, change: TagChange) -> tuple[list[Edit], int]:
    """The edits that change the tags in the front matter, and how many tags were put in, taken out or renamed.

    Lists keep their style and their items' comments; only `tags` (or `tag`) is touched. Raises like `set_keys`.
    """
    added = {tag.casefold(): tag for tag in map(_new_tag, change.add)}
    for _, new in change.rename:
        _new_tag(new)
    block, count = _block(text), 0
    seen: set[str] = set()
    places = [place for place, entry in enumerate(block.entries) if TAG_KEYS.fullmatch(entry[0])]
    for place in places:
        wanted, parts, changed = _tags_after(block, block.entries[place][2], change, seen)
        if changed:
            block = yamlsplice.set_entry(block, place, wanted, parts)
            count += changed
    missing = [tag for folded, tag in added.items() if folded not in seen]
    if missing:
        block = _with_tags(block, places[-1] if places else None, missing)
        count += len(missing)
    return (_edits(text, block) if count else []), count


def _tags_after(block: Block, node: Node, change: TagChange, seen: set[str]) -> tuple[Value, list[Part] | None, int]:
    """What a tags entry holds after renaming and removing; the parts of it if it is a list; how many changed."""
    target = node.target if isinstance(node, yamltree.Alias) else node
    if isinstance(target, yamltree.Sequence):
        return _list_after(block, target, change, seen, keep_parts=target is node)
    if not isinstance(target, Scalar) or target.value is None:
        return None, None, 0
    words = [word for word in re.split(r"[,\s]+", target.text) if bare_tag(word)]
    kept: list[str] = []
    changed = 0
    for word in words:
        tag = bare_tag(word)
        new = change.renamed(tag)
        gone = new is None or (new != tag and new.casefold() in seen)
        changed += gone or new != tag
        if new is not None and not gone:
            seen.add(new.casefold())
            kept.append(word if new == tag else new)
    if not kept:
        return [], None, changed
    return (", " if "," in target.text else " ").join(kept), None, changed


def _list_after(
    block: Block, node: yamltree.Sequence, change: TagChange, seen: set[str], *, keep_parts: bool
) -> tuple[Value, list[Part] | None, int]:
    expansion = yamltree.Expansion(block.source)
    tags = [_tag_of(item) for item in node.items]
    present = {tag.casefold() for tag in tags if tag and change.renamed(tag) == tag}
    values: list[Value] = []
    parts: list[Part] = []
    changed = 0
    for place, (item, tag) in enumerate(zip(node.items, tags, strict=True)):
        new = change.renamed(tag) if tag else tag
        if new == tag:
            seen.add((tag or "").casefold())
            values.append(expansion.value(item))
            parts.append(place)
            continue
        changed += 1
        if new is not None and new.casefold() not in seen and (new.casefold() not in present or _same(new, tag)):
            seen.add(new.casefold())
            values.append(new)
            parts.append(New(new))
    return values, parts if keep_parts else None, changed


def _with_tags(block: Block, place: int | None, tags: list[str]) -> Block:
    if place is None:
        return yamlsplice.set_key(block, "tags", list(tags))
    name, _, node = block.entries[place]
    now = block.value(place)
    if isinstance(now, dict):
        raise InvalidRequestError(f"{name!r} in the front matter is no list of tags; change it with set_properties.")
    if isinstance(now, list):
        parts: list[Part] = [*range(len(now)), *map(New, tags)]
        return yamlsplice.set_entry(block, place, [*now, *tags], parts if isinstance(node, yamltree.Sequence) else None)
    if isinstance(now, str) and ("," in now or len(now.split()) > 1):
        separator = ", " if "," in now else " "
        return yamlsplice.set_entry(block, place, separator.join((now.strip().rstrip(","), *tags)))
    return yamlsplice.set_entry(block, place, [*([] if now in (None, "") else [now]), *tags])


def _tag_of(item: Node) -> str | None:
    target = item.target if isinstance(item, yamltree.Alias) else item
    return (bare_tag(target.text) or None) if isinstance(target, Scalar) and target.value is not None else None


def _same(new: str, tag: str | None) -> bool:
    return tag is not None and new.casefold() == tag.casefold()


def _new_tag(tag: str) -> str:
    bare = bare_tag(tag)
    if not bare or _NOT_IN_TAG.search(bare):
        raise InvalidRequestError(f"{tag!r} is no tag: a tag is one word without blanks, commas, quotes or brackets.")
    return bare


def _clean(name: str, value: Any) -> Value:
    cleaned = yamlwrite.clean(value)
    if isinstance(cleaned, list) and TAG_KEYS.fullmatch(name):
        return [bare_tag(item) if isinstance(item, str) and bare_tag(item) else item for item in cleaned]
    return cleaned


def _block(text: Text) -> Block:
    text.require_valid()
    span = inside(text.utf8)
    if span is None:
        return Block("", text.newline)
    fence = _FENCE_END.search(text.utf8)
    assert fence is not None
    try:
        return Block(text.utf8[slice(*span)].decode(), fence[0].decode())
    except YamlError as problem:
        where = "" if problem.line is None else f"line {problem.line + 1}: "
        raise InvalidRequestError(
            f"The properties (YAML front matter) cannot be read: {where}{problem}. Nothing was changed; "
            "mend the front matter with edit_note first. The rest of the note can be edited as it is."
        ) from None


def _edits(text: Text, block: Block) -> list[Edit]:
    """What makes the note's front matter the text of `block`."""
    whole, span = front_matter(text.utf8), inside(text.utf8)
    if whole is None or span is None:
        if not block.source:
            return []
        fence = f"---{block.newline}"
        return [(0, 0, f"{fence}{block.source}{fence}")]
    if text.utf8[slice(*span)].decode() == block.source:
        return []
    # A block that is empty goes, unless what follows would be taken for front matter then.
    if not block.source.strip() and not text.utf8.startswith(b"---", whole[1]):
        return [(*whole, "")]
    return [(*span, block.source)]
