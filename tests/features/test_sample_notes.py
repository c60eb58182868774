"""The sample notes stay what they are for: notes people could have written, with the odd bytes of real folders."""

import re
import unicodedata
from pathlib import Path

from notes_mcp.notes.markup.facts import extract
from notes_mcp.notes.properties import properties
from notes_mcp.notes.text import Text

ROOT = Path(__file__).parents[2] / "sample_notes"
FILES = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in ROOT.rglob("*") if path.is_file()}
NOTES = {path: data for path, data in FILES.items() if path.endswith((".md", ".txt", ".org"))}
BROKEN_ON_PURPOSE = {("Inbox.md", "Grandmother's dumplings"), ("Projects/计划.md", "阳台改造")}


def test_every_front_matter_parses():
    wrong = {path: properties.of(Text.decode(data)).error for path, data in NOTES.items() if "Templates/" not in path}
    assert {path: error for path, error in wrong.items() if error} == {}


def test_every_link_leads_somewhere_but_two():
    names = {unicodedata.normalize("NFC", path) for path in FILES}
    bare = {name.rpartition("/")[2] for name in names}
    there = names | bare | {name.removesuffix(".md") for name in names | bare}
    links = [(path, link) for path, data in NOTES.items() for link in extract(path, data).links]
    assert len(links) > 60
    lost = {(path, link.target) for path, link in links if link.target and link.target.lstrip("./") not in there}
    assert lost == BROKEN_ON_PURPOSE


def test_the_odd_bytes_are_still_there():
    assert [path for path, data in NOTES.items() if b"\r\n" in data] == ["Meetings/2026-07-08 Co-op board.md"]
    assert [path for path, data in NOTES.items() if data.startswith(b"\xef\xbb\xbf")] == ["Ideas.md"]
    decomposed = [path for path in FILES if not unicodedata.is_normalized("NFC", path)]
    assert [unicodedata.normalize("NFC", path) for path in decomposed] == ["Recipes/Crème caramel.md"]
    assert FILES["attachments/tide-clock.png"].startswith(b"\x89PNG\r\n")
    assert all(Text.decode(data).valid for data in NOTES.values())


def test_no_sentence_stands_in_two_notes():
    seen: dict[str, str] = {}
    for path, data in NOTES.items():
        for sentence in re.split(r"(?<=[.。!?])\s+|[\r\n]+", Text.decode(data).text):
            words = sentence.strip(" |:-")
            if len(words) > 25:
                assert seen.setdefault(words, path) == path
