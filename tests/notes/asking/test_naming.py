"""Names for completion: what begins like it first, then parts, then gaps, then misspellings."""

import os
from pathlib import Path

import pytest
from _served import brought_up, fill, folder_of

from notes_mcp.notes.asking import naming
from notes_mcp.notes.asking.naming import Names
from notes_mcp.notes.shelf import Shelf

NOTES = {"Garden.md": "#food", "Projects/Garden plan.md": "#food/soup", "Projects/学习计划.md": "", "my-garden.png": ""}


def aged(file: Path, modified_s: int) -> None:
    os.utime(file, (modified_s, modified_s))


def names(shelf: Shelf, kind: str, typed: str, limit: int) -> tuple[tuple[str, ...], int]:
    return Names(shelf).like(kind, typed, limit)


@pytest.fixture
def one(tmp_path: Path) -> Shelf:
    root = fill(tmp_path / "Work", NOTES)
    for age, path in enumerate(NOTES):
        aged(root / path, 1_000_000 - age)
    return Shelf([brought_up(folder_of(root, name="Work"))])


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("", list(NOTES)), ("  ", list(NOTES)), ("gard", ["Garden.md", "Projects/Garden plan.md", "my-garden.png"]),
        ("学习", ["Projects/学习计划.md"]), ("计划", ["Projects/学习计划.md"]),
        ("arden", ["Garden.md", "my-garden.png", "Projects/Garden plan.md"]),
        ("pgp", ["Projects/Garden plan.md"]), ("grden", ["Garden.md", "my-garden.png", "Projects/Garden plan.md"]),
        ("gerden", ["Garden.md", "my-garden.png", "Projects/Garden plan.md"]), ("qqqqqq", []),
    ],
)  # fmt: skip
def test_paths_are_found_by_what_was_typed(one: Shelf, typed: str, found: list[str]) -> None:
    assert names(one, "paths", typed, 10) == (tuple(found), len(found))
    assert names(one, "paths", typed, 1) == (tuple(found[:1]), len(found))


def test_tags_and_folders(one: Shelf, tmp_path: Path) -> None:
    assert names(one, "tags", "", 10) == (("food", "food/soup"), 2)
    assert names(one, "tags", "sou", 10)[0] == ("food/soup",)
    assert names(one, "folders", "", 10) == (("Projects",), 1)
    other = brought_up(folder_of(fill(tmp_path / "Home", {"x.md": "#food", "Garden.md": ""}), name="Home"))
    two = Shelf([*one, other])
    assert names(two, "folders", "", 10) == (("Work", "Work/Projects", "Home"), 3)
    assert names(two, "tags", "", 10) == (("food", "food/soup"), 2)
    found, total = names(two, "paths", "", 10)
    assert total == 6 and set(found[:2]) == {"Home/Garden.md", "Home/x.md"} and found[2] == "Work/Garden.md"


def test_names_are_asked_for_once_and_again_after_every_change(one: Shelf, tmp_path: Path, monkeypatch) -> None:
    asked: list[str] = []
    original = naming._all
    monkeypatch.setattr(naming, "_all", lambda shelf, kind: asked.append(kind) or original(shelf, kind))
    kept, (folder,) = Names(one), one

    def seen() -> tuple[list[str], int]:
        found = list(kept.like("paths", "", 10)[0])
        return found, len(asked)

    assert seen() == (list(NOTES), 1)
    assert seen() == (list(NOTES), 1)
    aged(fill(tmp_path / "Work", {"new.md": ""}) / "new.md", 2_000_000)
    folder.refresh(["new.md"])
    assert seen() == (["new.md", *NOTES], 2)
    aged(fill(tmp_path / "Work", {"quiet.md": ""}) / "quiet.md", 3_000_000)
    folder.refresh(["quiet.md"], quiet=True)
    assert seen() == (["quiet.md", "new.md", *NOTES], 3)
    aged(tmp_path / "Work/new.md", 4_000_000)
    folder.refresh(["new.md"])
    assert seen() == (["new.md", "quiet.md", *NOTES], 4)
    for path in ("new.md", "quiet.md"):
        (tmp_path / "Work" / path).unlink()
    folder.refresh(["new.md", "quiet.md"], sure=True)
    assert seen() == (list(NOTES), 5)
    assert seen() == (list(NOTES), 5)


@pytest.mark.parametrize("typed", ["]", "^", "-", "\\", "a" * 5_000, "[^]*+", "\n", ".", "ẞ", "\ud800"])
def test_any_string_can_be_typed(one: Shelf, typed: str) -> None:
    found, total = names(one, "paths", typed, 10)
    assert len(found) == total
    assert all(path in NOTES for path in found)
