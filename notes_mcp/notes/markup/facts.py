"""One note's bytes -> what the index keeps of them: title, tags, headings, links, properties, text.

Chooses the reader by the file's extension: Markdown with front matter, else `plain`. Pure; never
raises, whatever the bytes are: what cannot be read is left out, and `valid_text` says so.
"""

from collections.abc import Iterable, Iterator

from notes_mcp.notes.markup import plain
from notes_mcp.notes.markup.markdown import scan
from notes_mcp.notes.markup.spans import Link, MarkdownScan
from notes_mcp.notes.markup.targets import as_text
from notes_mcp.notes.properties import properties
from notes_mcp.notes.properties.properties import Properties
from notes_mcp.notes.records import Facts, LinkFact
from notes_mcp.notes.text import Text

_MARKDOWN = frozenset((".md", ".markdown"))


def extract(path: str, data: bytes) -> Facts:
    """The facts of the note at `path` (relative, with extension) whose file holds `data`. Never raises.

    `title` is the front matter's, else the first level-1 heading, else the file name without extension.
    `tags` are those of the properties, then those of the text.
    """
    text = Text.decode(data)
    stem, extension = _name(path)
    if extension not in _MARKDOWN:
        title, headings = plain.outline(extension, text.text)
        return Facts(title or stem, (), (), headings, (), (), text.text, text.valid, flaws=tuple(_flaws(text)))
    found = scan(text.utf8)
    said = properties.of(text)
    body = as_text(text.utf8[found.body_start :]) if found.body_start else text.text
    first = next((heading.text for heading in found.headings if heading.level == 1 and heading.text), "")
    return Facts(
        title=said.title or first or stem,
        aliases=said.aliases,
        tags=_first_spellings((*said.tags, *(tag.name for tag in found.tags))),
        headings=tuple(heading.text for heading in found.headings if heading.text),
        links=tuple(_link(link) for link in _counted(found)),
        properties=said.pairs(),
        body=body,
        valid_text=text.valid,
        front=as_text(text.utf8[: found.body_start]),
        flaws=(*_flaws(text), *_flaws_in_front(text, said)),
    )


def bare_facts(path: str) -> Facts:
    """The facts of a note whose file is not read (too large, not downloaded, no permission): its name as title."""
    return Facts(_name(path)[0], (), (), (), (), (), "", True)


def _flaws(text: Text) -> Iterator[tuple[str, str]]:
    if not text.valid:
        yield "not_text", f"not valid {text.encoding.upper()}: it is read with marks and never edited; save it as UTF-8"


def _flaws_in_front(text: Text, said: Properties) -> Iterator[tuple[str, str]]:
    if said.error is not None:
        yield "broken_properties", f"{said.error} Until it is mended it has no properties, tags or title from there"
    elif properties.is_unclosed(text):
        yield "broken_properties", "opened with --- in line 1 but never closed: put a line --- below the last property"


def _name(path: str) -> tuple[str, str]:
    """A path's file name without extension, and the extension in lower case with its dot."""
    name = path.rpartition("/")[2]
    stem, _, extension = name.rpartition(".")
    return (stem, f".{extension.lower()}") if stem else (name, "")


def _counted(found: MarkdownScan) -> Iterable[Link]:
    """A definition counts where it is used; one that is not used counts where it stands."""
    used = {link.target_start for link in found.links if link.kind == "reference"}
    return (link for link in found.links if link.kind != "definition" or link.target_start not in used)


def _link(link: Link) -> LinkFact:
    kind = "reference" if link.kind == "definition" else link.kind
    return LinkFact(kind, link.target, link.anchor, link.text, link.line)


def _first_spellings(tags: Iterable[str]) -> tuple[str, ...]:
    spellings: dict[str, str] = {}
    for tag in tags:
        spellings.setdefault(tag.casefold(), tag)
    return tuple(spellings.values())
