"""Links that lead nowhere are counted without resolving them all, and come out as if they had been."""

import random
from pathlib import Path

from notes_mcp.notes.index import flaws as flaws_module
from notes_mcp.notes.index.index import Index
from notes_mcp.notes.markup.facts import extract
from notes_mcp.notes.records import Batch, Entry, FileState


def index_of(notes: dict[str, str | bytes]) -> Index:
    index = Index.open(None)
    entries = []
    for number, (path, text) in enumerate(notes.items(), 1):
        data = text if isinstance(text, bytes) else text.encode()
        kind = "note" if path.endswith(".md") else "attachment"
        facts = extract(path, data) if kind == "note" else None
        entries.append(Entry(FileState(path, kind, len(data), number, number), f"e{number}", facts))
    index.apply(Batch(tuple(entries)))
    return index


NAMES = ["Plan", "plan b", "Tide.Clock", "100%", "a%20b", "计划", "x.md", "Aka", "Nope", "so/und", "f/Plan", "pic.png"]
FORMS = [
    "[[{}]]",
    "![[{}]]",
    "[[{}|t]]",
    "[[{}#h]]",
    "[t](<{}>)",
    "[t](<../{}.md>)",
    "[[{}.md]]",
    "[[f/{}]]",
    "[[ {} ]]",
]


def test_lost_links_are_those_that_resolve_to_nothing() -> None:
    chance = random.Random(7)
    for _ in range(60):
        paths = [f"{chance.choice(['', 'f/', 'f/g/'])}{name}.md" for name in chance.sample(NAMES[:7], 4)]
        notes: dict[str, str | bytes] = {"pic.png": b"p"} if chance.random() < 0.5 else {}
        for path in dict.fromkeys(paths):
            aliases = chance.choice(["", "Aka", "so/und", "v1.0"])
            links = "\n".join(chance.choice(FORMS).format(chance.choice(NAMES)) for _ in range(8))
            notes[path] = f"---\naliases: [{aliases}]\n---\n{links}\n[[#own]]\n"
        index = index_of(notes)
        lost = [link for link in index.all_links() if link.resolution.path is None]
        found = index.flaws(1_000)
        assert found.lost_total == len(lost) and found.counted
        assert sorted((link.source, link.line, link.target) for link in found.lost) == sorted(
            (link.source, link.line, link.target) for link in lost
        )
        index.close()


def test_where_there_are_too_many_to_resolve_it_is_said(monkeypatch) -> None:
    monkeypatch.setattr(flaws_module, "MAX_RESOLVED", 3)
    index = index_of({"a.md": "[[x/a]] " * 10 + "[[gone]]"})
    found = index.flaws(2)
    assert (found.lost_total, found.counted, len(found.lost)) == (4, False, 2)


def test_flaws_go_with_their_note_and_those_of_folders_apart_do_not_count(tmp_path: Path) -> None:
    bad = "---\na: [\n---\n[[gone]]"
    index = index_of({"T/a.md": bad, "T-b.md": bad, "c.md": b"\xff"})
    assert index.flaws(9).counts == {"broken_properties": 2, "not_text": 1}
    apart = index.flaws(9, ["T"])
    assert apart.counts == {"broken_properties": 1, "not_text": 1}
    assert [problem.path for problem in apart.examples] == ["T-b.md", "c.md"] and apart.lost_total == 1
    index.apply(Batch(gone=("T", "c.md")))
    assert index.flaws(9).counts == {"broken_properties": 1}
