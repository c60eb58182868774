"""Several folders as one space of paths: names, labels, and where a path, an absolute path or a URI points."""

from pathlib import Path

import pytest
from _served import fill, folder_of

from notes_mcp.errors import ForbiddenError, InvalidRequestError, NotFoundError
from notes_mcp.notes.shelf import Shelf, unique_names


def test_folders_of_the_same_name_are_numbered_whatever_their_case_or_normal_form() -> None:
    roots = [Path("/x/Work"), Path("/y/work"), Path("/z/Work (2)"), Path("/a/Café"), Path("/b/Cafe\u0301"), Path("/")]
    assert unique_names(roots) == ["Work", "work (2)", "Work (2) (2)", "Café", "Cafe\u0301 (2)", "root"]


@pytest.fixture
def one(tmp_path: Path) -> Shelf:
    return Shelf([folder_of(fill(tmp_path / "notes", {"a.md": "a"}))])


@pytest.fixture
def two(tmp_path: Path) -> Shelf:
    return Shelf(
        [folder_of(fill(tmp_path / name, {"a.md": "a", "sub/b.md": "b"}), name=name) for name in ("Work", "Café")]
    )


def test_one_folder_has_paths_as_they_are(one: Shelf) -> None:
    (folder,) = one
    assert not one.several
    assert (one.label(folder, "sub/b.md"), one.label(folder, "")) == ("sub/b.md", "")
    assert one.place("Work/x.md") == (folder, "Work/x.md") == one.route("Work/x.md")


def test_with_several_the_first_segment_names_the_folder_in_any_spelling(two: Shelf) -> None:
    work, cafe = two
    assert (two.label(work, "a.md"), two.label(cafe, "")) == ("Work/a.md", "Café")
    for spelled in ("Work/sub/b.md", "work/sub/b.md", "./Work/sub/b.md", "Work\\sub/b.md", "notes:///work/sub/b.md"):
        assert two.place(spelled) == (work, "sub/b.md")
    assert two.place("CAFE\u0301/a.md") == (cafe, "a.md")
    assert two.place("Work") == two.place("Work/") == (work, "")
    assert two.place("Workshop/a.md") is None
    with pytest.raises(InvalidRequestError, match="Work, Café"):
        two.route("a.md")
    with pytest.raises(NotFoundError):
        two.place("notes:///a.md")


def test_a_name_exactly_as_written_wins_over_one_of_another_case(tmp_path: Path) -> None:
    shelf = Shelf([folder_of(tmp_path / "x", name="work"), folder_of(tmp_path / "y", name="Work")])
    assert [folder.name for folder, _ in (shelf.route("work/a"), shelf.route("Work/a"))] == ["work", "Work"]


def test_absolute_paths_and_file_uris_inside_are_accepted(one: Shelf, two: Shelf, tmp_path: Path) -> None:
    (folder,) = one
    assert one.place(f"{tmp_path}/notes/sub/b.md") == (folder, "sub/b.md")
    assert one.place(f"file://{tmp_path}/notes/a%20b.md") == (folder, "a b.md")
    assert one.place(f"{tmp_path}/notes") == one.place(f"{tmp_path}/notes/") == (folder, "")
    work, _ = two
    assert two.place(f"{tmp_path}/Work/a.md") == (work, "a.md")


def test_the_innermost_of_two_folders_is_meant(tmp_path: Path) -> None:
    outer = folder_of(fill(tmp_path / "notes", {"in/a.md": "a"}), name="notes")
    inner = folder_of(tmp_path / "notes" / "in", name="in")
    for order in ([outer, inner], [inner, outer]):
        assert Shelf(order).place(f"{tmp_path}/notes/in/a.md") == (inner, "a.md")
        assert Shelf(order).place(f"{tmp_path}/notes/b.md") == (outer, "b.md")


@pytest.mark.parametrize(
    "ref",
    [
        "../../etc/passwd", "..", "a/../b.md", "..\\x", "Work/../../x", "/etc/passwd", "\\etc\\passwd", "/a.md",
        "file:///etc/passwd", "[[../../x]]", "notes:///../x",
    ],
)  # fmt: skip
def test_hazard_047_what_leads_outside_is_refused_before_anything_is_looked_up(
    one: Shelf, two: Shelf, ref: str
) -> None:
    for shelf in (one, two):
        with pytest.raises(ForbiddenError):
            shelf.place(ref)


@pytest.mark.parametrize("ref", ["..dots.md", "a..b/c.md", "...", "x/..y"])
def test_hazard_055_dots_within_a_name_are_no_traversal(one: Shelf, ref: str) -> None:
    (folder,) = one
    assert one.place(ref) == (folder, ref)


def test_an_absolute_path_that_is_hidden_is_refused(one: Shelf, tmp_path: Path) -> None:
    with pytest.raises(ForbiddenError):
        one.place(f"{tmp_path}/notes/.obsidian/app.json")
    with pytest.raises(ForbiddenError):
        one.place(f"{tmp_path}/notes-evil/a.md")
