import os
import stat
from pathlib import Path

import pytest
from disk_rights import without_root_rights
from vault_cases import SECRET, attempt

from notes_mcp.errors import (
    BusyError,
    ForbiddenError,
    InvalidRequestError,
    UnreadableError,
)
from notes_mcp.notes.disk.vault import Vault


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.md").write_bytes(SECRET)
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_bytes(b"a")
    return folder


def test_the_ignore_file_counts_from_the_moment_it_changes(root: Path) -> None:
    vault = Vault(root, ignore=["*.log"])
    (root / "x.log").write_bytes(b"")
    (root / "secret").mkdir()
    (root / "secret/s.md").write_bytes(b"s")
    assert vault.read("secret/s.md")[0] == b"s"
    (root / ".notesignore").write_text("secret/\n!x.log\n")
    with pytest.raises(ForbiddenError):
        vault.read("secret/s.md")
    assert [file.path for file in vault.scan().files] == ["a.md", "x.log"]
    (root / ".notesignore").unlink()
    assert vault.read("secret/s.md")[0] == b"s"
    with pytest.raises(ForbiddenError):
        vault.read("x.log")


def test_a_line_of_the_ignore_file_that_means_nothing_is_told(root: Path) -> None:
    (root / ".notesignore").write_text("!\nb.md\n")
    scan = Vault(root).scan()
    assert [(p.kind, p.path) for p in scan.problems] == [("ignore_pattern", "!")]
    with pytest.raises(InvalidRequestError):
        Vault(root, ignore=["x[a"])


def test_an_ignore_file_that_cannot_be_read_opens_nothing(root: Path) -> None:
    (root / ".notesignore").write_text("a.md\n")
    (root / ".notesignore").chmod(0)
    with without_root_rights():
        for operation in ("read", "replace", "create"):
            with pytest.raises(UnreadableError):
                attempt(Vault(root), operation, "a.md")
        with pytest.raises(UnreadableError):
            Vault(root).scan()
    (root / ".notesignore").unlink()
    (root / ".notesignore").symlink_to("gone")
    with pytest.raises(UnreadableError):
        Vault(root).read("a.md")


def test_an_ignore_file_that_is_a_pipe_or_a_folder_is_none(root: Path) -> None:
    (root / ".notesignore").mkdir()
    assert Vault(root).read("a.md")[0] == b"a"
    if hasattr(os, "mkfifo"):
        (root / ".notesignore").rmdir()
        os.mkfifo(root / ".notesignore")
        assert Vault(root).read("a.md")[0] == b"a"


def test_a_file_or_folder_that_may_not_be_read_is_told_from_one_that_is_not_there(root: Path) -> None:
    (root / "locked").mkdir()
    (root / "locked/x.md").write_bytes(b"x")
    (root / "locked").chmod(0)
    (root / "b.md").write_bytes(b"b")
    (root / "b.md").chmod(0)
    vault = Vault(root)
    with without_root_rights():
        for path in ("b.md", "locked/x.md", "locked/none.md"):
            with pytest.raises(UnreadableError):
                vault.read(path)
        with pytest.raises(UnreadableError):
            vault.stat("locked/x.md")
        state = vault.stat("b.md")
        assert state is not None and state.size == 1
        scan = vault.scan()
    (root / "locked").chmod(stat.S_IRWXU)
    assert scan.unreadable == ("locked",)
    assert [file.path for file in scan.files] == ["a.md", "b.md"]
    assert [(p.kind, p.path) for p in scan.problems] == [("unreadable_folder", "locked")]


def test_hazard_139_a_cloud_placeholder_is_listed_and_never_opened_or_overwritten(root: Path) -> None:
    (root / ".Later.md.icloud").write_bytes(b"bplist")
    vault = Vault(root)
    scan = vault.scan()
    assert [(file.path, file.downloaded) for file in scan.files] == [("Later.md", False), ("a.md", True)]
    state = vault.stat("Later.md")
    assert state is not None and not state.downloaded
    for operation in ("read", "locate", "replace", "trash", "remove", "create"):
        with pytest.raises(BusyError):
            attempt(vault, operation, "Later.md")
    with pytest.raises(ForbiddenError):
        vault.read(".Later.md.icloud")
    assert os.listdir(root).count("Later.md") == 0


def test_a_folder_or_link_with_the_name_of_a_placeholder_stands_for_nothing(root: Path) -> None:
    (root / ".Later.md.icloud").mkdir()
    (root / ".Other.md.icloud").symlink_to("a.md")
    vault = Vault(root)
    assert [file.path for file in vault.scan().files] == ["a.md"]
    for path in ("Later.md", "Other.md"):
        assert vault.stat(path) is None
        assert vault.create(path, b"new").path == path


def test_a_setting_is_read_for_us_alone(root: Path, outside: Path) -> None:
    vault = Vault(root)
    assert vault.read_setting(".obsidian/daily-notes.json") is None
    (root / ".obsidian").mkdir()
    (root / ".obsidian/daily-notes.json").write_bytes(b"{}")
    assert vault.read_setting(".obsidian/daily-notes.json") == b"{}"
    (root / ".obsidian/x.json").symlink_to(outside / "secret.md")
    assert vault.read_setting(".obsidian/x.json") is None
    for path in ("a.md", ".obsidian/../a.md", ".git/config"):
        with pytest.raises(ForbiddenError):
            vault.read_setting(path)


def test_what_patterns_hide_is_counted_by_pattern_and_the_last_one_that_speaks_has_it(tmp_path: Path) -> None:
    for name in ("a.log", "sub/b.log", "sub/keep.log", "private/x.md", "private/y/z.md", "node_modules/m.md", ".git/c"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"x")
    (tmp_path / ".notesignore").write_bytes(b"*.log\n/sub/*.log\nprivate/ \n!keep.log\n")
    scan = Vault(tmp_path).scan()
    assert [file.path for file in scan.files] == ["sub/keep.log"]
    assert scan.ignored == (("*.log", 1, 0), ("/sub/*.log", 1, 0), ("node_modules", 0, 1), ("private/", 0, 1))
