"""Where the target of a link stands in its source, and what it says. Pure; one link at a time.

The parser tells what a link points to, not where that is written; a move must rewrite exactly that.
Each function takes the source and the link's span and returns a `Target`, None for what is no link
to a file. Front matter has its own search, since its values are YAML and not Markdown.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from notes_mcp.notes.markup.spans import LinkForm

# RFC 3986 section 3.1, two letters at least: `C:` is a drive. A blank after the colon makes it a name: `Re: it.md`.
_WEB = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.\-]+:(?!\s)|//)")
_WEB_WIKI = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+://")
UNKNOWN = "\x1a"  # what stands for a byte that is not UTF-8 in what the parser is given
_LINE_BREAK = rb"(?:\r\n?|\n)"
_DESTINATION = rb"[ \t]*(?:" + _LINE_BREAK + rb"[ \t>]*)?(?:<((?:\\.|[^<>\\\r\n])*)>|((?!<)\S*))"
_INLINE = re.compile(_DESTINATION)
_DEFINITION = re.compile(rb"\[((?:\\.|[^\[\]\\])*)\]:" + _DESTINATION, re.DOTALL)
_ANCHOR = re.compile(rb"(?<!&)#")
_LINE = re.compile(rb"[^\r\n]+")
_PROPERTY = re.compile(rb"\[\[([^\[\]\r\n]+)\]\]")


class Target(NamedTuple):
    """`target` decoded and without anchor, written at source bytes `start:end`; `text` as written if it has one."""

    target: str
    anchor: str
    text: str
    start: int
    end: int
    form: LinkForm


def wiki(source: bytes, start: int, end: int) -> Target | None:
    """The target in `[[…]]` at `start:end`, a leading "!" not included. None for a web address or a line break."""
    name, bar, alias = source[start + 2 : end - 2].partition(b"|")
    if bar and name.endswith(b"\\"):  # in a table the bar is escaped
        name = name[:-1]
    written, _, anchor = name.partition(b"#")
    target, place = written.strip(), as_text(anchor.strip())
    said = as_text(target)
    if not (said or place) or b"\n" in name or b"\r" in name or (b":" in target and _WEB_WIKI.match(said)):
        return None
    at = start + 2 + (len(written) - len(written.lstrip()) if target else 0)
    text = as_text(alias).strip() if bar else as_text(name).strip() if place else said
    return Target(said, place, text, at, at + len(target), "wiki")


def inline(source: bytes, label_end: int, end: int, destination: str) -> Target | None:
    """The target in the `](…)` that follows `label_end` and ends at `end`; `destination` as the parser reads it."""
    if not destination or _WEB.match(destination):
        return None
    opening = source.find(b"](", label_end, end)
    found = _INLINE.match(source, opening + 2, end - 1) if opening >= 0 else None
    return _located(source, found, 1, destination) if found else None


def definition(source: bytes, start: int, end: int, destination: str) -> Target | None:
    """The target in the reference definition `[label]: …` at `start:end`; its text is the label."""
    if not destination or _WEB.match(destination):
        return None
    found = _DEFINITION.match(source, start, end)
    if found is None:
        return None
    return _located(source, found, 2, destination)._replace(text=as_text(found[1]))


def in_properties(source: bytes, start: int, end: int) -> Iterator[tuple[int, int, Target]]:
    """`(start, end, target)` of each `[[…]]` in the values and list items of the front matter at `start:end`."""
    for line in _LINE.finditer(source, start, end):
        if b"[[" not in line[0]:
            continue
        comment_start = line.start() + _yaml_comment(line[0])
        for found in _PROPERTY.finditer(source, line.start(), comment_start):
            target = wiki(source, found.start(), found.end())
            if target is not None:
                yield found.start(), found.end(), target


def label(text: str) -> str:
    """A reference label in the form in which labels are compared (CommonMark 0.31 section 4.7)."""
    return " ".join(text.split()).casefold()


def as_text(source: bytes) -> str:
    """Source bytes for showing; what is not UTF-8 is marked with U+FFFD."""
    return source.decode("utf-8", "replace")


def _located(source: bytes, found: re.Match[bytes], group: int, destination: str) -> Target:
    form: LinkForm = "bare" if found[group] is None else "angle"
    start, end = found.span(group + 1 if form == "bare" else group)
    name, mark, anchor = destination.partition("#")
    hash_at = _ANCHOR.search(source, start, end) if mark else None
    if hash_at is not None:
        end = hash_at.start()
    return Target(_decoded(name), _decoded(anchor), "", start, end, form)


def _decoded(part: str) -> str:
    part = as_text(unquote_to_bytes(part)) if "%" in part else part
    return part.replace(UNKNOWN, "\ufffd") if UNKNOWN in part else part


def _yaml_comment(line: bytes) -> int:
    """Where the comment of a YAML line starts: a "#" at the start or after a blank, not in quotes. Else its length."""
    quote = 0
    previous = 0x20
    for at, byte in enumerate(line):
        if quote:
            quote = 0 if byte == quote else quote
        elif byte in b"\"'" and previous in b" \t[,:-":
            quote = byte
        elif byte == 0x23 and previous in b" \t":
            return at
        previous = byte
    return len(line)
