import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from vault_cases import tree

from notes_mcp.errors import (
    ExistsError,
    InvalidRequestError,
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


def test_a_new_note_is_made_with_its_folders_and_gives_its_state(root: Path, vault: Vault) -> None:
    state = vault.create("Projects/Deep/Plan.md", b"# Plan\n")
    assert (root / "Projects/Deep/Plan.md").read_bytes() == b"# Plan\n"
    assert state == vault.stat("Projects/Deep/Plan.md")
    assert vault.read("Projects/Deep/Plan.md") == (b"# Plan\n", state)
    assert os.listdir(root / "Projects/Deep") == ["Plan.md"]


def test_a_new_note_has_the_mode_the_user_gives_new_files(root: Path, vault: Vault) -> None:
    (root / "made by hand.md").touch()
    vault.create("b.md", b"")
    assert (root / "b.md").stat().st_mode == (root / "made by hand.md").stat().st_mode


@pytest.mark.parametrize("what", ["file", "folder"])
def test_an_existing_name_is_never_overwritten(root: Path, vault: Vault, what: str) -> None:
    if what == "folder":
        (root / "a.md").unlink()
        (root / "a.md").mkdir()
    with pytest.raises(ExistsError) as caught:
        vault.create("a.md", b"new")
    assert caught.value.path == "a.md"
    assert tree(root) == ({"a.md": b"old"} if what == "file" else {})


Downgrade = Callable[[pytest.MonkeyPatch], None]


def no_special_rename(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(files, "_noreplace_call", lambda: None)


def special_rename_not_on_this_disk(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(files, "_noreplace_call", lambda: lambda *_: errno.EINVAL)


def no_hard_links_either(patch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object, **_options: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    no_special_rename(patch)
    patch.setattr(os, "link", refuse)


def as_the_platform_has_it(patch: pytest.MonkeyPatch) -> None:
    del patch


DOWNGRADES = [as_the_platform_has_it, no_special_rename, special_rename_not_on_this_disk, no_hard_links_either]


@pytest.mark.parametrize("downgrade", DOWNGRADES)
def test_hazard_089_a_name_that_appears_at_the_last_moment_is_not_overwritten(
    root: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch, downgrade: Downgrade
) -> None:
    downgrade(monkeypatch)
    fsync = os.fsync

    def somebody_else_is_faster(fd: int) -> None:
        (root / "b.md").write_bytes(b"theirs")
        (root / "moved.md").write_bytes(b"theirs")
        fsync(fd)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", somebody_else_is_faster)
        with pytest.raises(ExistsError):
            vault.create("b.md", b"ours")
    rename_new = files.rename_new

    def somebody_else_first(*args: object) -> None:
        (root / "moved.md").write_bytes(b"theirs")
        rename_new(*args)  # type: ignore[arg-type]

    (root / "moved.md").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(files, "rename_new", somebody_else_first)
        with pytest.raises(ExistsError):
            vault.move("a.md", "moved.md")
    assert tree(root) == {"a.md": b"old", "b.md": b"theirs", "moved.md": b"theirs"}


@pytest.mark.parametrize("downgrade", DOWNGRADES)
def test_creating_and_moving_work_on_every_kind_of_disk(
    root: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch, downgrade: Downgrade
) -> None:
    downgrade(monkeypatch)
    vault.create("d/b.md", b"b")
    assert vault.move("d/b.md", "e/c.md") == "e/c.md"
    assert vault.move("e", "f") == "f"
    (root / "g").mkdir()
    with pytest.raises(ExistsError):
        vault.move("f", "g")
    assert tree(root) == {"a.md": b"old", "f/c.md": b"b"}
    assert sorted(os.listdir(root)) == ["a.md", "d", "f", "g"]


@pytest.mark.parametrize("downgrade", DOWNGRADES)
def test_of_many_who_make_one_name_at_once_exactly_one_wins(
    root: Path, monkeypatch: pytest.MonkeyPatch, downgrade: Downgrade
) -> None:
    downgrade(monkeypatch)
    won: list[bytes] = []
    start = threading.Barrier(8)

    def make(text: bytes) -> None:
        vault = Vault(root)
        start.wait()
        try:
            vault.create("new/one.md", text)
        except ExistsError:
            return
        won.append(text)

    threads = [threading.Thread(target=make, args=(str(n).encode(),)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert tree(root / "new") == {"one.md": won[0]}


@pytest.mark.parametrize("name", ["a\nb.md", "tab\t.md", "\x1b[31m.md"])
def test_control_characters_are_read_where_they_are_but_not_made(root: Path, vault: Vault, name: str) -> None:
    (root / name).write_bytes(b"x")
    assert vault.read(name)[0] == b"x"
    with pytest.raises(InvalidRequestError):
        vault.create("new " + name, b"")
