"""A target -> the bytes that say it at one spot: percent signs, backslashes or quotes where its syntax asks.

What was written for a folder or name that stays is used again, so that its own way of encoding, its letter
case and its normal form stay. Gives several spellings, the plainest first; whether one is understood as
meant is for the caller to check, by reading the text again. Pure.
"""

import json
import re
from collections.abc import Callable
from html import unescape
from urllib.parse import quote, unquote

from notes_mcp.notes.index.segment import key
from notes_mcp.notes.links.links import without_extension
from notes_mcp.notes.links.respelling import names_of
from notes_mcp.notes.links.spots import Spot, Syntax

# What would end a target, start an anchor or a query, or be read as an escape, an entity, a scheme, a cell or code.
_NOT_BARE = re.compile(r"[\x00-\x20\x7f<>\\#?:`|%]|&(?=[#\w]+;)")
_NOT_ANGLE = re.compile(r"[\x00-\x1f\x7f<>\\#%]|&(?=[#\w]+;)")
_MARKS = re.compile(r"[^\w\s.~/-]", re.ASCII)
_MARKS_AND_BLANKS = re.compile(r"[^\w.~/-]", re.ASCII)
_ENCODED_LETTER = re.compile(r"%[89A-Fa-f][0-9A-Fa-f]")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])|(&(?:#[xX]?[0-9a-fA-F]+|\w+);)")

# Obsidian takes these for the end of a name in [[ ]], and knows no escape for them.
_NOT_WIKI = re.compile(r"[#^|\[\]]")
_MARKUP = re.compile(r"[\\`*_\[\]<>#|~=$&%^]")

Write = Callable[[str], str]


def spellings(target: str, spot: Spot, source: bytes, old_path: str) -> tuple[bytes, ...]:
    """The ways to write `target` at `spot` of `source`, whose present target leads to `old_path`; the best first."""
    raw = source[spot.start : spot.end].decode("utf-8", "replace")
    kept, encoded = _as_written(raw, spot, old_path)
    ascii_only = bool(_ENCODED_LETTER.search(raw)) and raw.isascii()
    separator = "\\" if spot.syntax == "wiki" and "\\" in raw and "/" not in raw else "/"
    mild, strict = _writers(spot.syntax, encoded=encoded, ascii_only=ascii_only)
    ways = [(kept, mild), (kept, strict), ({}, strict)]
    return tuple(
        dict.fromkeys(separator.join(names.get(name) or write(name) for name in target.split("/")).encode()
                      for names, write in ways)
    )  # fmt: skip


def fits_wiki(target: str) -> bool:
    """Whether `[[target]]` leads there in Obsidian."""
    return not _NOT_WIKI.search(target)


def as_markdown(spot: Spot, path: str, shown: str) -> bytes:
    """The wikilink at `spot` as a Markdown link to the relative `path` that shows the same, or `shown` as its name."""
    text = spot.text
    if "|" not in spot.written:  # Obsidian shows the name, and the headings behind ">"
        text = " > ".join((shown, *spot.anchor.split("#"))) if spot.anchor else shown
    anchor = "".join("#" + _percent(part, _MARKS_AND_BLANKS) for part in spot.anchor.split("#") if part)
    anchor = anchor.replace("#%5E", "#^")
    target = "/".join(_percent(name, _MARKS_AND_BLANKS) for name in path.split("/"))
    escaped = _MARKUP.sub(r"\\\g<0>", text.replace("\\|", "|"))
    return f"{'!' * (spot.kind == 'embed')}[{escaped}]({target}{anchor})".encode()


def _as_written(raw: str, spot: Spot, old_path: str) -> tuple[dict[str, str], bool]:
    """Folder and file names of `old_path` -> how they are written in `raw`; and whether a wikilink is encoded."""
    decode = _decoders(spot.syntax)
    parts = names_of(raw.replace("\\", "/") if spot.syntax == "wiki" else raw)
    kept: dict[str, str] = {}
    encoded = False
    if [decode(part) for part in parts] != names_of(spot.target.strip().replace("\\", "/")):
        return kept, encoded
    real = old_path.split("/")
    for at, part in enumerate(reversed(parts)):
        if at == len(real):
            break
        name, said = real[-1 - at], decode(part)
        for form in (name,) if at else (name, without_extension(name)):
            if key(said) == key(form) or (said != unquote(said) and key(unquote(said)) == key(form)):
                kept[form] = part
                encoded |= key(said) != key(form) and "%20" in part
                break
        else:
            break
    return kept, encoded


def _decoders(syntax: Syntax) -> Write:
    if syntax in ("bare", "angle"):
        return lambda part: unquote(_ESCAPE.sub(lambda found: found[1] or unescape(found[2]), part))
    if syntax == "single":
        return lambda part: part.replace("''", "'").strip()
    return str.strip


def _writers(syntax: Syntax, *, encoded: bool, ascii_only: bool) -> tuple[Write, Write]:
    if syntax == "bare":
        return (lambda name: _bare(name, ascii_only=ascii_only)), (
            lambda name: _percent(name, _MARKS_AND_BLANKS, ascii_only=ascii_only)
        )
    if syntax == "angle":
        return (lambda name: _percent(name, _NOT_ANGLE, ascii_only=ascii_only)), (
            lambda name: _percent(name, _MARKS, ascii_only=ascii_only)
        )
    escape = _ESCAPES.get(syntax, str)
    blanks = _MARKS_AND_BLANKS if encoded else _MARKS
    mild: Write = (lambda name: escape(_percent(name, blanks))) if encoded else escape
    return mild, lambda name: escape(_percent(name, blanks))


def _bare(name: str, *, ascii_only: bool) -> str:
    written = _percent(name, _NOT_BARE, ascii_only=ascii_only)
    return written if _balanced(name) else written.replace("(", "%28").replace(")", "%29")


def _percent(name: str, marks: re.Pattern[str], *, ascii_only: bool = False) -> str:
    if name in (".", ".."):
        return name
    written = marks.sub(lambda found: quote(found[0], safe="") if found[0].isascii() else found[0], name)
    return quote(written, safe="".join(map(chr, range(0x80)))) if ascii_only else written


def _balanced(name: str) -> bool:
    depth = 0
    for char in name:
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return False
    return depth == 0


# YAML 1.2 sections 7.3.1 and 7.3.2; every escape of JSON is one of YAML.
_ESCAPES: dict[Syntax, Write] = {
    "single": lambda name: name.replace("'", "''"),
    "double": lambda name: json.dumps(name, ensure_ascii=False)[1:-1],
}
