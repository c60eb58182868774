"""An editor that saves in the very instant of our write: its words stay, and we are told."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from notes_mcp.errors import NotFoundError, StaleError
from notes_mcp.notes.disk import files, swapping
from notes_mcp.notes.disk.vault import Vault
from notes_mcp.notes.text import etag

Step = Callable[[], None]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_bytes(b"old")
    return folder


def save(root: Path, data: bytes) -> None:
    """As editors do: a new file, renamed over the old one."""
    (root / "editor.new").write_bytes(data)
    os.replace(root / "editor.new", root / "a.md")


def around_exchanges(patch: pytest.MonkeyPatch, before: list[Step], after: list[Step]) -> None:
    real = files.exchange

    def exchange(folder: files.Folder, name: str, other: str) -> bool:
        if before:
            before.pop(0)()
        done = real(folder, name, other)
        if after:
            after.pop(0)()
        return done

    patch.setattr(swapping, "exchange", exchange)


def replace(root: Path) -> None:
    Vault(root).replace("a.md", b"ours", expect=etag(b"old"))


def test_a_file_that_is_as_expected_is_replaced_and_nothing_is_left_beside_it(root: Path) -> None:
    os.chmod(root / "a.md", 0o640)
    replace(root)
    assert (root / "a.md").read_bytes() == b"ours" and os.listdir(root) == ["a.md"]
    assert (root / "a.md").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("saves", [1, 2, 3, 6])
def test_what_an_editor_saves_after_the_last_look_stays_however_often_it_saves(
    root: Path, monkeypatch, saves: int
) -> None:
    around_exchanges(monkeypatch, [lambda n=n: save(root, b"saved %d" % n) for n in range(saves)], [])
    with pytest.raises(StaleError) as caught:
        replace(root)
    assert caught.value.etag == etag(b"saved 0")
    assert (root / "a.md").read_bytes() == b"saved %d" % (saves - 1)
    assert os.listdir(root) == ["a.md"]


def test_what_an_editor_writes_into_the_open_file_stays(root: Path, monkeypatch) -> None:
    editor = os.open(root / "a.md", os.O_WRONLY)
    around_exchanges(monkeypatch, [], [lambda: os.write(editor, b"new words") and None])
    with pytest.raises(StaleError):
        replace(root)
    os.close(editor)
    assert (root / "a.md").read_bytes() == b"new words" and os.listdir(root) == ["a.md"]


def test_a_note_that_is_deleted_in_the_very_instant_stays_deleted(root: Path, monkeypatch) -> None:
    around_exchanges(monkeypatch, [lambda: (root / "a.md").unlink()], [])
    with pytest.raises(NotFoundError):
        replace(root)
    assert os.listdir(root) == []


def test_deleting_what_was_saved_in_between_is_not_undone_by_us(root: Path, monkeypatch) -> None:
    around_exchanges(monkeypatch, [lambda: save(root, b"saved"), lambda: (root / "a.md").unlink()], [])
    with pytest.raises(StaleError):
        replace(root)
    assert os.listdir(root) == []


def test_without_such_an_exchange_the_file_is_replaced_all_the_same(root: Path, monkeypatch) -> None:
    monkeypatch.setattr(files, "_exchange_call", lambda: None)
    replace(root)
    assert (root / "a.md").read_bytes() == b"ours" and os.listdir(root) == ["a.md"]
    with pytest.raises(StaleError):
        replace(root)
