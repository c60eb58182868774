"""Every kind of change on disks that are full, read-only, locked or gone: a clear error, nothing lost, no end."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from disk_rights import without_root_rights
from folder_cases import House, house, opened

from notes_mcp.errors import BusyError, NoteError, StorageError, UnreadableError
from notes_mcp.notes.changes import steps
from notes_mcp.notes.changes.moving import Mover
from notes_mcp.notes.changes.sweeping import Sweeper
from notes_mcp.notes.changes.writing import Writer
from notes_mcp.notes.disk import files
from notes_mcp.notes.records import FileState

FILES = {"a.md": b"[[b]] #old\n", "b.md": b"[[a]] #old\n", "d/c.md": b"[[a]] [x](../b.md)\n", "d/p.png": b"\x89png"}


def louder(state: FileState, data: bytes) -> tuple[bytes, int]:
    return data.replace(b"#old", b"#new"), 1


def move(home: House, path: str, new_path: str) -> None:
    mover = Mover(home.folder, home.transactions, read_only=False)
    mover.move(path, new_path, update_links=True, if_match=None, dry_run=False, tool="t")


def writer(home: House) -> Writer:
    return Writer(home.folder, home.transactions, read_only=False)


def edit(home: House) -> None:
    writer(home).edit("a.md", lambda state, data: data + b"more\n", if_match=None, dry_run=False, tool="t")


def delete(home: House, *, permanent: bool) -> None:
    writer(home).delete("d/c.md", permanent=permanent, if_match=None, dry_run=False, tool="t")


def sweep(home: House) -> None:
    sweeper = Sweeper(home.folder, home.transactions, read_only=False)
    sweeper.sweep(louder, paths=None, tags=["old"], dry_run=False, tool="t")


CHANGES: dict[str, Callable[[House], object]] = {
    "create": lambda home: writer(home).create("x/y/new.md", b"new", dry_run=False, tool="t"),
    "edit": edit,
    "trash": lambda home: delete(home, permanent=False),
    "remove": lambda home: delete(home, permanent=True),
    "move": lambda home: move(home, "a.md", "x/z"),
    "move folder": lambda home: move(home, "d", "x/e"),
    "tags": sweep,
    "undo": lambda home: home.undoer.undo(),
}


def prepared(base: Path, change: str) -> House:
    home = house(base, FILES)
    if change == "undo":
        move(home, "a.md", "x/z")
    return home


def after(base: Path, change: str) -> dict[str, bytes]:
    home = prepared(base / "done", change)
    CHANGES[change](home)
    return home.files()


class Full:
    """A disk that takes no more from the `start`-th time on that something is put on it: once, or from then on."""

    def __init__(self, patch: pytest.MonkeyPatch, start: int, code: int, *, lasting: bool) -> None:
        self.count = 0
        self.hit = False

        def failing(real: Callable[..., object]) -> Callable[..., object]:
            def call(*args: object, **options: object) -> object:
                self.count += 1
                if self.count == start or (lasting and self.count > start):
                    self.hit = True
                    raise OSError(code, os.strerror(code))
                return real(*args, **options)

            return call

        for name in ("write", "fsync", "mkdir", "replace", "fchmod"):
            patch.setattr(os, name, failing(getattr(os, name)))
        patch.setattr(files, "_renamed", failing(files._renamed))


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_full_disk_at_any_step_loses_nothing_and_the_next_write_works(tmp_path: Path, change: str, lasting) -> None:
    done = after(tmp_path, change)
    hits = 0
    for start in range(1, 200):
        home = prepared(tmp_path / str(start), change)
        before = home.files()
        with pytest.MonkeyPatch.context() as patch:
            full = Full(patch, start, errno.ENOSPC, lasting=lasting)
            try:
                CHANGES[change](home)
                failed = False
            except StorageError as error:
                failed = True
                assert "full" in str(error) or "No space" in str(error)
        home.transactions.recover()
        assert home.files() == (before if failed else done), f"full at step {start}"
        assert home.journal.pending() == [] and home.indexed().items() >= home.on_disk().items()
        hits += full.hit
        if not full.hit:
            break
        if failed:
            CHANGES[change](home)
            assert home.files() == done, f"full at step {start}, then tried again"
    else:
        pytest.fail("it never came to its end")
    assert hits >= 3


@pytest.mark.parametrize("change", CHANGES)
def test_a_folder_made_read_only_is_left_as_it_is_and_says_so(tmp_path: Path, change: str) -> None:
    home = prepared(tmp_path, change)
    done, before = after(tmp_path, change), home.files()
    folders = [home.root, *(path for path in home.root.rglob("*") if path.is_dir())]
    with without_root_rights():
        for folder in folders:
            folder.chmod(0o555)
        try:
            with pytest.raises(UnreadableError, match="denies"):
                CHANGES[change](home)
        finally:
            for folder in folders:
                folder.chmod(0o755)
        assert home.files() == before
        CHANGES[change](home)
        assert home.files() == done and home.journal.pending() == []


@pytest.mark.parametrize("change", ["move", "tags", "undo"])
def test_a_note_that_may_not_be_read_does_not_hold_up_or_break_a_change_of_many(tmp_path: Path, change: str) -> None:
    home = prepared(tmp_path, change)
    with without_root_rights():
        (home.root / "b.md").chmod(0)
        before = _readable(home.root)
        try:
            CHANGES[change](home)
        except NoteError:
            assert _readable(home.root) == before
        assert home.journal.pending() == []
        (home.root / "b.md").chmod(0o644)
    assert b"[[" in (home.root / "b.md").read_bytes()


def _readable(root: Path) -> dict[str, bytes]:
    found = {}
    for path in root.rglob("*"):
        if path.is_file() and path.name != "b.md":
            found[str(path.relative_to(root))] = path.read_bytes()
    return found


@pytest.mark.parametrize("change", ["edit", "move", "tags", "undo"])
def test_a_note_locked_by_another_program_is_busy_and_nothing_is_changed(
    tmp_path: Path, monkeypatch, change: str
) -> None:
    home = prepared(tmp_path, change)
    before = home.files()

    def locked(*args: object, **options: object) -> None:
        raise PermissionError(errno.EBUSY, os.strerror(errno.EBUSY))

    with monkeypatch.context() as patch:
        patch.setattr("notes_mcp.notes.disk.swapping.exchange", locked)
        with pytest.raises(BusyError):
            CHANGES[change](home)
    home.transactions.recover()
    assert home.files() == before and home.journal.pending() == []


@pytest.mark.parametrize("change", CHANGES)
def test_a_folder_that_is_gone_says_so_and_works_again_when_it_is_back(tmp_path: Path, change: str) -> None:
    home = prepared(tmp_path, change)
    done, away = after(tmp_path, change), home.root.with_name("away")
    known = home.indexed()
    home.root.rename(away)
    with pytest.raises(StorageError, match="not there"):
        CHANGES[change](home)
    assert not home.root.exists() and home.indexed() == known
    away.rename(home.root)
    CHANGES[change](home)
    assert home.files() == done and home.journal.pending() == []


@pytest.mark.parametrize("change", ["move", "move folder", "tags", "undo"])
def test_a_folder_that_goes_away_half_way_is_put_right_when_it_is_back(
    tmp_path: Path, monkeypatch, change: str
) -> None:
    home = prepared(tmp_path, change)
    before, away = home.files(), home.root.with_name("away")
    real, count = steps.take, 0

    def take(vault, step) -> None:
        nonlocal count
        count += 1
        if count == 2:
            home.root.rename(away)
        real(vault, step)

    with monkeypatch.context() as patch, pytest.raises(StorageError):
        patch.setattr(steps, "take", take)
        CHANGES[change](home)
    away.rename(home.root)
    later = opened(home.root, home.state)
    assert later.files() == before and later.journal.pending() == []
    assert later.indexed().keys() == {file.path for file in later.vault.scan().files}


def test_a_state_directory_that_is_full_stops_changes_of_many_but_not_of_one(tmp_path: Path, monkeypatch) -> None:
    home = house(tmp_path, FILES)
    blocked = tmp_path / "blocked"
    blocked.write_bytes(b"")
    monkeypatch.setattr(home.journal, "_pending", blocked / "x")
    edit(home)
    assert home.files()["a.md"].endswith(b"more\n")
    with pytest.raises(StorageError, match="journal"):
        sweep(home)
    assert home.files()["b.md"] == FILES["b.md"]
