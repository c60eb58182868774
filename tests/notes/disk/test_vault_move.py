import os
from pathlib import Path

import pytest
from vault_cases import tree

from notes_mcp.errors import (
    ExistsError,
    ForbiddenError,
    InvalidRequestError,
    NoteError,
    NotFoundError,
)
from notes_mcp.notes.disk import files
from notes_mcp.notes.disk.vault import Vault


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_bytes(b"old")
    return folder


@pytest.fixture(params=["by descriptors", "by paths"])
def vault(root: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Vault:
    if request.param == "by paths":  # as on Windows
        monkeypatch.setattr(files, "BY_DESCRIPTOR", False)
    return Vault(root)


def test_the_trash_keeps_folders_and_every_earlier_note_of_the_name(root: Path, vault: Vault) -> None:
    trashed = []
    for text in (b"1", b"2", b"3"):
        vault.create("Projects/Plan.md", text)
        trashed.append(vault.trash("Projects/Plan.md"))
    assert trashed == [".trash/Projects/Plan.md", ".trash/Projects/Plan 2.md", ".trash/Projects/Plan 3.md"]
    assert [(root / path).read_bytes() for path in trashed] == [b"1", b"2", b"3"]
    assert (root / "Projects").is_dir()
    vault.create("LICENSE", b"x")
    vault.trash("LICENSE")
    vault.create("LICENSE", b"y")
    assert vault.trash("LICENSE") == ".trash/LICENSE 2"


def test_a_file_in_the_way_of_a_folder_in_the_trash_does_not_stop_it(root: Path, vault: Vault) -> None:
    (root / ".trash").mkdir()
    (root / ".trash/Projects").write_bytes(b"an old file")
    vault.create("Projects/Plan.md", b"1")
    assert vault.trash("Projects/Plan.md") == ".trash/Plan.md"
    assert (root / ".trash/Projects").read_bytes() == b"an old file"


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_trash_that_is_no_folder_takes_nothing_and_nothing_is_lost(root: Path, vault: Vault, kind: str) -> None:
    outside = root.parent / "outside"
    outside.mkdir()
    if kind == "file":
        (root / ".trash").write_bytes(b"")
    else:
        (root / ".trash").symlink_to(outside)
    with pytest.raises(NoteError):
        vault.trash("a.md")
    assert (root / "a.md").read_bytes() == b"old"
    assert os.listdir(outside) == []


def test_removing_is_for_good(root: Path, vault: Vault) -> None:
    assert vault.remove("a.md") == "a.md"
    assert os.listdir(root) == []
    with pytest.raises(NotFoundError):
        vault.remove("a.md")


def test_moving_makes_folders_and_never_overwrites(root: Path, vault: Vault) -> None:
    vault.create("b.md", b"b")
    with pytest.raises(ExistsError) as caught:
        vault.move("a.md", "b.md")
    assert caught.value.path == "b.md"
    assert vault.move("a.md", "x/y/z.md") == "x/y/z.md"
    assert tree(root) == {"b.md": b"b", "x/y/z.md": b"old"}
    with pytest.raises(NotFoundError):
        vault.move("a.md", "q/c.md")
    assert not (root / "q").exists()


def test_a_folder_moves_whole_but_not_into_itself_and_not_out_of_sight(root: Path) -> None:
    vault = Vault(root, ignore=["private/"])
    vault.create("d/e/b.md", b"b")
    for into in ("d/f", "d/e/g", "d/e/b.md/h"):
        with pytest.raises(InvalidRequestError):
            vault.move("d", into)
    for hidden in ("private", ".d", "node_modules"):
        with pytest.raises(ForbiddenError):
            vault.move("d", hidden)
    assert vault.move("d", "k/d") == "k/d"
    assert tree(root) == {"a.md": b"old", "k/d/e/b.md": b"b"}
    with pytest.raises(InvalidRequestError):
        vault.move("", "z")


def test_moving_to_where_it_is_changes_nothing_and_a_new_normal_form_is_a_move(root: Path, vault: Vault) -> None:
    assert vault.move("a.md", "./a.md") == "a.md"
    (root / "e\u0301.md").write_bytes(b"x")
    assert vault.move("e\u0301.md", "\u00e9.md") == "\u00e9.md"
    assert sorted(os.listdir(root)) == ["a.md", "\u00e9.md"]
