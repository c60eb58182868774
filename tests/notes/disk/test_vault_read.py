import os
import shutil
import sys
from pathlib import Path

import pytest

from notes_mcp.errors import (
    ForbiddenError,
    NotFoundError,
    StorageError,
    TooLargeError,
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


def test_reading_never_writes(root: Path, vault: Vault) -> None:
    (root / "sub").mkdir()
    (root / ".notes-mcp-0011223344556677.tmp").write_bytes(b"left")
    os.utime(root / ".notes-mcp-0011223344556677.tmp", (0, 0))

    def snapshot() -> list[tuple[str, int, int]]:
        paths = [root, *root.rglob("*")]
        return [(str(path), path.stat().st_mtime_ns, path.stat().st_ctime_ns) for path in sorted(paths)]

    before = snapshot()
    vault.scan()
    vault.read("a.md")
    vault.stat("a.md")
    vault.place("new/b.md")
    with pytest.raises(NotFoundError):
        vault.read("none.md")
    assert snapshot() == before


def test_what_is_over_the_limit_is_not_read(root: Path) -> None:
    vault = Vault(root, max_note_bytes=3)
    assert vault.read("a.md")[0] == b"old"
    (root / "a.md").write_bytes(b"four")
    with pytest.raises(TooLargeError):
        vault.read("a.md")
    assert vault.read_attachment("a.md", 4)[0] == b"four"
    with pytest.raises(TooLargeError):
        vault.read_attachment("a.md", 3)


def test_a_write_during_a_read_is_read_again(root: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    fstat, calls = os.fstat, []

    def an_editor_saves(fd: int) -> os.stat_result:
        calls.append(fd)
        if len(calls) == 2:
            (root / "a.md").write_bytes(b"quite another text")
        return fstat(fd)

    monkeypatch.setattr(os, "fstat", an_editor_saves)
    data, state = vault.read("a.md")
    assert data == b"quite another text"
    assert state.size == len(data)


def test_a_listing_tells_names_that_cannot_be_served(root: Path, vault: Vault) -> None:
    if sys.platform == "linux":
        (root / os.fsdecode(b"latin-\xe9.md")).write_bytes(b"")
    (root / "back\\slash.md").write_bytes(b"")
    (root / "X (conflicted copy).md").write_bytes(b"")
    scan = vault.scan()
    assert [file.path for file in scan.files] == ["X (conflicted copy).md", "a.md"]
    kinds = {p.kind for p in scan.problems}
    assert kinds == {"backslash_name", "conflict_copy"} | ({"name_not_utf8"} if sys.platform == "linux" else set())
    assert all(p.path.isprintable() for p in scan.problems)


def test_part_of_the_folder_can_be_listed_by_itself(root: Path, vault: Vault) -> None:
    vault.create("d/e/b.md", b"")
    vault.create("d/c.md", b"")
    vault.create("dd/x.md", b"")
    scan = vault.scan("d")
    assert [file.path for file in scan.files] == ["d/c.md", "d/e/b.md"]
    assert scan.folders == ("d", "d/e")
    with pytest.raises(NotFoundError):
        vault.scan("gone")
    with pytest.raises(ForbiddenError):
        vault.scan(".trash")


def test_hazard_137_a_folder_that_went_away_is_an_error_and_no_empty_folder(root: Path, vault: Vault) -> None:
    shutil.rmtree(root)
    for act in (vault.scan, lambda: vault.stat("a.md"), lambda: vault.read("a.md"), lambda: vault.is_folder("a.md")):
        with pytest.raises(StorageError):
            act()
    with pytest.raises(StorageError):
        Vault(root)
    with pytest.raises(StorageError):
        vault.create("a.md", b"not into a folder that we make ourselves")
    assert not root.exists()


def test_hazard_137_an_empty_mount_point_is_no_empty_folder(
    root: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault.remove("a.md")
    assert vault.scan().files == ()
    monkeypatch.setattr(vault, "_device", -1)
    with pytest.raises(StorageError):
        vault.scan()


def test_the_walk_says_how_far_it_is(root: Path, vault: Vault) -> None:
    for n in range(1_001):
        (root / f"{n}.md").touch()
    counts: list[int] = []
    assert len(vault.scan(on_progress=counts.append).files) == 1_002
    assert counts == [500, 1_000]


def test_a_note_that_grows_all_the_time_is_read_as_far_as_its_state_says(
    root: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    fstat = os.fstat

    def somebody_appends(fd: int) -> os.stat_result:
        info = fstat(fd)
        with (root / "a.md").open("ab") as file:
            file.write(b"+")
        return info

    monkeypatch.setattr(os, "fstat", somebody_appends)
    data, state = vault.read("a.md")
    assert len(data) == state.size
    assert data.startswith(b"old")
