"""Pages of the specification -> the sentences in which it asks for something. Pure, but for `pages`, which reads files.

A sentence is told as it reads: without marks of emphasis and the targets of links, its white space single. An item of
a list whose introduction asks ("Servers MUST:") is told behind that introduction. Of schema.ts the comments are read,
and a section is the name of what a comment stands before.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DOCUMENTS, SCHEMA = Path("docs", "specification"), Path("schema")
_ASKING = re.compile(r"\b(?:MUST NOT|MUST|SHALL NOT|SHALL|REQUIRED|SHOULD NOT|SHOULD|NOT RECOMMENDED|RECOMMENDED)\b")
_ALLOWING = re.compile(r"\b(?:MAY|OPTIONAL)\b")

_NO_PROSE = re.compile(
    r"\A---\n.*?\n---\n"  # front matter
    r"|^[ \t]*(?P<fence>`{3,}).*?^[ \t]*(?P=fence)[ \t]*$"
    r"|<!--.*?-->|\{/\*.*?\*/\}"
    r"|^[ \t]*\[[^\]]+\]:[ \t]*\S.*?$"  # where a reference link leads
    r"|\{@includeCode .*?\}|^@\w+.*?$",  # tags of a comment
    re.DOTALL | re.MULTILINE,
)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_HEADING = re.compile(r"#{1,6}\s+(.*)")
_ITEM = re.compile(r"(\s*)(?:[-*+]|\d+[.)])\s+(.*)")
_LINK = re.compile(r"!?\[([^\[\]]+)\](?:\([^()]*\)|\[[^\[\]]*\])|\{@link (?:[^{}|]*\| )?([^{}]*)\}")
_EMPHASIS = re.compile(r"\*\*|(?<![\w`/\\])_(?=\S)|(?<=[^\s\\])_(?![\w`/])")
_ESCAPE = re.compile(r"\\([_*|])")
# Not after "e.g." and its like, and only before what can begin a sentence.
_END = re.compile(r"(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)(?<!vs\.)(?<=[.!?])\s+(?=[A-Z`\"(\[])")
_COMMENT = re.compile(r"/\*\*(.*?)\*/\s*([^\n]*)", re.DOTALL)
_STAR = re.compile(r"^\s*\*? ?", re.MULTILINE)
_TYPE = re.compile(r"^export (?:interface|type|const|class) (\w+)", re.MULTILINE)
_FIELD = re.compile(r"\"?([\w/.$-]+)\"?\??\s*[:(=]")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence that asks. `section` is the heading it stands under, "" before the first."""

    revision: str
    page: str
    section: str
    text: str


def levels(text: str) -> set[str]:
    """The words of BCP 14 in it that ask, in capitals; MAY and OPTIONAL allow, and do not ask."""
    return set(_ASKING.findall(text))


def pages(checkout: Path, revision: str) -> Iterator[tuple[str, str]]:
    """(name, text) of every page of a revision, its schema.ts as the page `schema`. Raises OSError."""
    root = checkout / DOCUMENTS / revision
    for path in sorted(root.rglob("*.mdx")):
        name = path.relative_to(root).with_suffix("").as_posix()
        if name != "schema":  # made from schema.ts
            yield name, path.read_text("utf-8")
    yield "schema", (checkout / SCHEMA / revision / "schema.ts").read_text("utf-8")


def asking(revision: str, page: str, text: str) -> list[Sentence]:
    """The sentences of a page that ask for something, in order, each once in a section."""
    told = _declared(text) if page == "schema" else _prose(text)
    return list(dict.fromkeys(Sentence(revision, page, section, each) for section, each in told if levels(each)))


def _declared(source: str) -> Iterator[tuple[str, str]]:
    """Comments of schema.ts, each under the name of the type, or the type and the field, that it explains."""
    types = [(found.start(), found[1]) for found in _TYPE.finditer(source)]
    for comment in _COMMENT.finditer(source):
        own, field = _TYPE.match(comment[2]), _FIELD.match(comment[2])
        within = [name for start, name in types if start < comment.start()][-1:]
        section = own[1] if own else ".".join([*within, *([field[1]] if field else [])])
        for _, sentence in _prose(_STAR.sub("", comment[1])):
            yield section, sentence


def _prose(text: str) -> Iterator[tuple[str, str]]:
    """(section, sentence) of Markdown, whether it asks or not."""
    section = ""
    above: list[_Introduction] = []
    for indent, block in _blocks(_NO_PROSE.sub("", text)):
        heading = _HEADING.fullmatch(block)
        while above and (heading or above[-1].indent >= indent):
            yield from ((section, each.text) for each in [above.pop()] if not each.used)
        if heading:
            section = _plain(heading[1])
            continue
        sentences = _END.split(_plain(block))
        own = [each for each in sentences if levels(each) or _ALLOWING.search(each)]
        if above and len(own) < len(sentences):
            rest = " ".join(each for each in sentences if each not in own)
            yield section, " ".join([*(each.text for each in above), rest])
            above[-1].used = True
        if own and own[-1] == sentences[-1] and own[-1].endswith(":") and levels(own[-1]):
            above.append(_Introduction(indent, own.pop()))
        yield from ((section, each) for each in own)
    yield from ((section, each.text) for each in reversed(above) if not each.used)


@dataclass(slots=True)
class _Introduction:
    """A sentence that ends with a colon; `used` once an item of a list was told behind it."""

    indent: int
    text: str
    used: bool = False


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """(indentation, text) of items of lists, and of paragraphs, cells and headings (-1 at the margin), lines joined."""
    indent, lines = -1, list[str]()
    for line in [*text.splitlines(), ""]:
        bare = _TAG.sub("", line).rstrip()
        item = _ITEM.fullmatch(bare)
        alone = _HEADING.match(bare) is not None or bare.startswith("|")
        if lines and (not bare or item or alone):
            yield indent, " ".join(lines)
            lines = []
        if item:
            indent, lines = len(item[1]), [item[2]]
        elif alone:
            indent = -1
            yield from ((-1, cell.strip()) for cell in (bare.strip("|").split(" | ") if bare[0] == "|" else [bare]))
        elif bare:
            if not lines and not line.startswith(" "):
                indent = -1
            lines.append(bare.strip())


def _plain(text: str) -> str:
    text = _LINK.sub(lambda found: found[1] or found[2], html.unescape(text))
    return _ESCAPE.sub(r"\1", " ".join(_EMPHASIS.sub("", text).split()))
