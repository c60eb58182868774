import os
import sys
from pathlib import Path

import pytest
from vault_cases import tree

from notes_mcp.errors import (
    NotFoundError,
    ReadOnlyError,
    StaleError,
)
from notes_mcp.notes.disk import files
from notes_mcp.notes.disk.vault import Vault
from notes_mcp.notes.text import etag


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


def test_replacing_keeps_what_belongs_to_the_file(root: Path, vault: Vault) -> None:
    (root / "a.md").chmod(0o640)
    state = vault.replace("a.md", b"new")
    assert (root / "a.md").read_bytes() == b"new"
    assert (root / "a.md").stat().st_mode & 0o7777 == 0o640
    assert state == vault.stat("a.md")
    assert os.listdir(root) == ["a.md"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o700, 0o200 | 0o400])
def test_hazard_076_the_mode_stays(root: Path, vault: Vault, mode: int) -> None:
    (root / "a.md").chmod(mode)
    vault.replace("a.md", b"new")
    assert (root / "a.md").stat().st_mode & 0o7777 == mode


def test_hazard_076_through_a_link_its_target_is_written_and_the_link_stays(root: Path, vault: Vault) -> None:
    (root / "sub").mkdir()
    (root / "link.md").symlink_to("a.md")
    (root / "sub/up.md").symlink_to("../link.md")
    for path in ("link.md", "sub/up.md"):
        assert vault.replace(path, path.encode()).path == "a.md"
        assert (root / "link.md").is_symlink()
        assert (root / "a.md").read_bytes() == path.encode()


@pytest.mark.skipif(sys.platform != "linux", reason="os.setxattr is Linux")
def test_hazard_076_extended_attributes_stay(root: Path, vault: Vault) -> None:
    os.setxattr(root / "a.md", "user.colour", b"green")
    vault.replace("a.md", b"new")
    assert os.getxattr(root / "a.md", "user.colour") == b"green"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_hazard_076_the_owner_stays(root: Path, vault: Vault) -> None:
    os.chown(root / "a.md", 1234, 2345)
    vault.replace("a.md", b"new")
    info = (root / "a.md").stat()
    assert (info.st_uid, info.st_gid) == (1234, 2345)


def test_a_private_note_is_never_readable_by_others_not_even_for_a_moment(
    root: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.md").chmod(0o600)
    seen = []
    write = os.write

    def look(fd: int, data: bytes) -> int:
        seen.append(os.fstat(fd).st_mode & 0o077)
        return write(fd, data)

    monkeypatch.setattr(os, "write", look)
    vault.replace("a.md", b"new")
    assert seen and not any(seen)


def test_a_stale_etag_stops_the_write_and_gives_the_current_one(root: Path, vault: Vault) -> None:
    (root / "a.md").write_bytes(b"theirs")
    for act in (
        lambda: vault.replace("a.md", b"new", expect=etag(b"old")),
        lambda: vault.trash("a.md", expect=etag(b"old")),
        lambda: vault.remove("a.md", expect=etag(b"old")),
        lambda: vault.move("a.md", "b.md", expect=etag(b"old")),
    ):
        with pytest.raises(StaleError) as caught:
            act()
        assert caught.value.etag == etag(b"theirs")
        assert tree(root) == {"a.md": b"theirs"}
    assert vault.replace("a.md", b"new", expect=etag(b"theirs")).size == 3


def test_a_change_while_the_new_text_is_written_is_not_lost(
    root: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync = os.fsync

    def an_editor_saves(fd: int) -> None:
        fsync(fd)
        (root / "a.md").write_bytes(b"theirs")

    monkeypatch.setattr(os, "fsync", an_editor_saves)
    with pytest.raises(StaleError):
        vault.replace("a.md", b"ours", expect=etag(b"old"))
    assert tree(root) == {"a.md": b"theirs"}


def test_a_note_that_is_gone_is_stale_if_its_etag_was_asked_for_and_else_not_found(root: Path, vault: Vault) -> None:
    (root / "a.md").unlink()
    with pytest.raises(StaleError) as caught:
        vault.replace("a.md", b"new", expect=etag(b"old"))
    assert caught.value.etag is None
    with pytest.raises(NotFoundError):
        vault.replace("a.md", b"new")
    assert tree(root) == {}


def test_a_note_marked_read_only_is_not_replaced_or_removed(root: Path, vault: Vault) -> None:
    (root / "a.md").chmod(0o444)
    for act in (lambda: vault.replace("a.md", b"new"), lambda: vault.remove("a.md")):
        with pytest.raises(ReadOnlyError):
            act()
    assert tree(root) == {"a.md": b"old"}
