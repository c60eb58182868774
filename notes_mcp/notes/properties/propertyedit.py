"""Changes to a note's properties, as edits for `Text.splice`.

Finds the front matter, changes it one key or tag at a time through `yamlsplice`, makes the block if
there is none and takes it away when its last key goes. Every other byte of the note stays. Pure.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from notes_mcp.errors import InvalidRequestError
from notes_mcp.notes.markup.markdown import front_matter
from notes_mcp.notes.properties import yamlsplice, yamltree, yamlwrite
from notes_mcp.notes.properties.properties import TAG_KEYS, bare_tag, inside
from notes_mcp.notes.properties.tagsplice import Fates, TagChange, extended, retagged, said
from notes_mcp.notes.properties.yamlitems import New, Part
from notes_mcp.notes.properties.yamlsplice import Block
from notes_mcp.notes.properties.yamltree import Value, YamlError
from notes_mcp.notes.text import Edit, Text

_FENCE_END = re.compile(rb"\r\n|\n|\r")
_NOT_IN_TAG = re.compile(r"[\s,#\[\]{}\"']")


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

    Only the names of those tags change, and items taken out go with their own line or comma; a tag renamed to one that
    is there already is taken out. Only `tags` (or `tag`) is touched. Raises like `set_keys`.
    """
    added = {tag.casefold(): tag for tag in map(_new_tag, change.add)}
    for _, new in change.rename:
        _new_tag(new)
    block = _block(text)
    places = [place for place, entry in enumerate(block.entries) if TAG_KEYS.fullmatch(entry[0])]
    tags = [tag for place in places for tag in said(block.entries[place][2])]
    fates = Fates(change, frozenset(tag.casefold() for tag in tags if change.renamed(tag) == tag))
    for place in places:
        block = retagged(block, place, fates)
    missing = [tag for folded, tag in added.items() if folded not in fates.there]
    if missing:
        block = _with_tags(block, places[-1] if places else None, missing)
    count = fates.count + len(missing)
    return (_edits(text, block) if count else []), count


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
    if isinstance(now, str) and ("," in now.strip().strip(",") or len(now.split()) > 1):
        return extended(block, place, tags)
    return yamlsplice.set_entry(block, place, [*([] if now in (None, "") else [now]), *tags])


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
        # A CR of ours would melt with an LF of theirs, which a block taken away again would take along.
        melts = text.newline == "\r" and text.utf8.startswith(b"\n")
        return Block("", "\n" if melts else text.newline)
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
