"""Lists over one folder and over several: pages, folders, globs."""

import random
from pathlib import Path

import pytest
from _served import brought_up, fill, folder_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from notes_mcp.errors import InvalidRequestError, NotFoundError
from notes_mcp.notes.answers import IndexState, NotePage
from notes_mcp.notes.asking.paging import list_notes
from notes_mcp.notes.shelf import Shelf

STATE = IndexState(0, 0, complete=True)


def listed(shelf: Shelf, *, limit: int = 100, cursor: str | None = None, **how) -> NotePage:
    usual = {"folder": None, "glob": None, "tag": None, "recursive": True, "sort": "path"}
    return list_notes(shelf, **{**usual, **how}, limit=limit, cursor=cursor, state=STATE)


def paths(page: NotePage) -> list[str]:
    return [note.path for note in page.notes]


def shelf_of(tmp_path: Path, *folders: dict[str, str]) -> Shelf:
    named = zip(("Work", "Work (2)", "日记"), folders, strict=False)
    return Shelf([brought_up(folder_of(fill(tmp_path / name, notes), name=name)) for name, notes in named])


NOTES = {"a.md": "#x", "Sub/b.md": "#x", "Sub/deep/c.txt": "", "Sub/pic.png": ""}


@pytest.fixture
def one(tmp_path: Path) -> Shelf:
    return shelf_of(tmp_path, NOTES)


@pytest.fixture
def two(tmp_path: Path) -> Shelf:
    return shelf_of(tmp_path, NOTES, {"z.md": "", "Sub/y.md": "#x"})


def test_one_folder_lists_its_notes_and_folders(one: Shelf) -> None:
    page = listed(one)
    assert (paths(page), page.total) == (["Sub/b.md", "Sub/deep/c.txt", "a.md"], 3)
    assert page.folders == (("Sub", 2), ("Sub/deep", 1)) and page.next_cursor is None
    first = listed(one, limit=1)
    assert first.folders == page.folders and listed(one, limit=1, cursor=first.next_cursor).folders == ()
    page = listed(one, recursive=False)
    assert (paths(page), page.folders) == (["a.md"], (("Sub", 2),))
    assert paths(listed(one, folder="sub/", tag="x")) == ["Sub/b.md"]
    assert paths(listed(one, glob="**/*.txt")) == ["Sub/deep/c.txt"]


def test_several_folders_stand_on_top_by_their_names(two: Shelf) -> None:
    page = listed(two)
    assert paths(page) == ["Work (2)/Sub/y.md", "Work (2)/z.md", "Work/Sub/b.md", "Work/Sub/deep/c.txt", "Work/a.md"]
    assert (page.folders, page.total) == ((("Work", 3), ("Work (2)", 2)), 5)
    page = listed(two, recursive=False)
    assert (paths(page), page.folders, page.total) == ([], (("Work", 3), ("Work (2)", 2)), 0)
    page = listed(two, folder="work", recursive=False)
    assert (paths(page), page.folders) == (["Work/a.md"], (("Work/Sub", 2),))
    assert paths(listed(two, folder="Sub")) == ["Work (2)/Sub/y.md", "Work/Sub/b.md", "Work/Sub/deep/c.txt"]


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("Work/*.md", ["Work/a.md"]), ("work*/**/[by].md", ["Work (2)/Sub/y.md", "Work/Sub/b.md"]),
        ("**/Sub/*.md", ["Work (2)/Sub/y.md", "Work/Sub/b.md"]), ("?.md", None), ("Sub/*.md", []),
        ("./Work/a.md", ["Work/a.md"]), ("*/a.md", ["Work/a.md"]),
    ],
)  # fmt: skip
def test_globs_see_the_folders_names(two: Shelf, glob: str, expected: list[str] | None) -> None:
    found = paths(listed(two, glob=glob))
    assert found == (expected if expected is not None else [path for path in paths(listed(two)) if path[-3:] == ".md"])


def test_what_means_nothing_is_refused(one: Shelf) -> None:
    with pytest.raises(InvalidRequestError):
        listed(one, sort="colour")
    with pytest.raises(InvalidRequestError):
        listed(one, cursor="nonsense")
    with pytest.raises(NotFoundError):
        listed(one, folder="Nowhere")


PATHS = st.sampled_from([f"{folder}{n}.md" for folder in ("", "a/", "é/") for n in range(4)])
FOLDERS = st.lists(st.dictionaries(PATHS, st.text("xy", max_size=3)), min_size=1, max_size=3)
SIZES = st.lists(st.integers(1, 4), min_size=1, max_size=3)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    FOLDERS,
    st.sampled_from(["path", "modified", "size"]),
    st.lists(st.integers(1, 4), min_size=1),
    st.integers(0, 9999),
)
def test_pages_give_each_note_that_stays_once_and_in_order_while_others_come_and_go(
    tmp_path_factory, folders, sort, sizes, seed
) -> None:
    shelf = shelf_of(tmp_path_factory.mktemp("pages"), *folders)
    rng = random.Random(seed)
    before = paths(listed(shelf, sort=sort))
    order = {path: place for place, path in enumerate(before)}
    given_out, gone, cursor = [], set(), None
    for number in range(100):
        page = listed(shelf, sort=sort, limit=sizes[number % len(sizes)], cursor=cursor)
        given_out += paths(page)
        cursor = page.next_cursor
        if cursor is None:
            break
        folder = rng.choice(list(shelf))
        known = folder.index.below("")
        if rng.random() < 0.5 and known:
            path = rng.choice(known)
            (folder.vault.root / path).unlink()
            folder.refresh([path], sure=True)
            gone.add(shelf.label(folder, path))
        elif rng.random() < 0.5:
            fill(folder.vault.root, {f"new{number}.md": "x" * rng.randrange(5)})
            folder.refresh([f"new{number}.md"])
    assert cursor is None
    assert len(given_out) == len(set(given_out)) and set(before) - gone <= set(given_out)
    stayed = [path for path in given_out if path in order]
    assert stayed == sorted(stayed, key=order.__getitem__)
