"""Which notes may belong with a note: those that mention it, that it links to, that share tags or words.

Asks the library; scores are only for the order. Raises NoteError when a search cannot be made.
"""

import re
from typing import TYPE_CHECKING

from notes_mcp.errors import NoteError
from notes_mcp.features.changes import is_note

if TYPE_CHECKING:
    from notes_mcp.notes.answers import Document, IndexState
    from notes_mcp.notes.library import Library

MOST = 12
_EACH = 8
_MOST_NAMES = 4
_MOST_TAGS = 5
_MOST_LINKS = 20
_OPERATORS = re.compile(r'["*:\[\]()#]|(?<!\w)-')


async def related(library: "Library", note: "Document") -> tuple[list[tuple[str, list[str]]], "IndexState"]:
    """Up to `MOST` (path, reasons), the strongest first, and how complete the index behind it was."""
    from notes_mcp.notes.markup.facts import extract

    facts = extract(note.path, note.data)
    reasons: dict[str, dict[str, int]] = {}

    def add(path: str, why: str, weight: int) -> None:
        if path != note.path:
            reasons.setdefault(path, {})[why] = weight

    for link in facts.links[:_MOST_LINKS]:
        path = await _resolved(library, link.target)
        if path is not None and is_note(path):
            add(path, "linked from it", 3)
    stem = note.path.rpartition("/")[2].rpartition(".")[0]
    for name in list(dict.fromkeys((facts.title, stem, *facts.aliases)))[:_MOST_NAMES]:
        plain = _plain(name)
        if plain:
            for hit in (await library.search(f'"{plain}"', limit=_EACH)).hits:
                add(hit.note.path, f"mentions “{plain}”", 4)
    for tag in facts.tags[:_MOST_TAGS]:
        for found in (await library.list_notes(tag=tag, sort="modified", limit=_EACH)).notes:
            add(found.path, f"shares #{tag}", 2)
    words = await library.search(_plain(" ".join((facts.title, *facts.headings[:5]))) or stem, limit=_EACH)
    for hit in words.hits:
        add(hit.note.path, "has words of its headings", 1)
    ranked = sorted(reasons.items(), key=lambda item: (-sum(item[1].values()), item[0]))
    return [(path, list(why)) for path, why in ranked[:MOST]], words.state


async def _resolved(library: "Library", target: str) -> str | None:
    try:
        return await library.resolve(target)
    except NoteError:
        return None  # a link into nothing joins no two notes


def _plain(name: str) -> str:
    return " ".join(_OPERATORS.sub(" ", name).split())
