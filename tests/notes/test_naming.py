"""Names for completion: what begins like it first, then parts, then gaps, then misspellings."""

import os
from pathlib import Path

import pytest
from _served import brought_up, fill, folder_of

from notes_mcp.notes.naming import names
from notes_mcp.notes.shelf import Shelf

NOTES = {"Garden.md": "#food", "Projects/Garden plan.md": "#food/soup", "Projects/学习计划.md": "", "my-garden.png": ""}


@pytest.fixture
def one(tmp_path: Path) -> Shelf:
    root = fill(tmp_path / "Work", NOTES)
    for age, path in enumerate(NOTES):
        os.utime(root / path, (1_000_000 - age, 1_000_000 - age))
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
