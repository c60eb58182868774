"""Unfinished files of a change that a crash cut short go with its recovery; those of others stay."""

import os
from collections.abc import Callable

import pytest
from folder_cases import Crash, House, house, opened

from notes_mcp.notes.changes import steps
from notes_mcp.notes.changes.transaction import Transactions
from notes_mcp.notes.disk import files, swapping

FILES = {"d/a.md": b"old" * 1000, "other/b.md": b"b"}
THEIRS = ".notes-mcp-0123456789abcdef.tmp"
STEPS: dict[str, Callable[[House], steps.Step]] = {
    "put": lambda home: steps.put("d/a.md", FILES["d/a.md"], b"new" * 1000),
    "create": lambda home: steps.create(home.vault, "d/n.md", b"new" * 1000),
}


@pytest.fixture
def home(tmp_path) -> House:
    return house(tmp_path, FILES)


class Half:
    """`os` as `files` sees it, where a write ends in its middle."""

    def __getattr__(self, name: str) -> object:
        return getattr(os, name)

    def write(self, fd: int, data: memoryview) -> int:
        os.write(fd, data[: len(data) // 2])
        raise Crash


def killed(home: House, monkeypatch, step: steps.Step, place: object, name: str) -> None:
    """The process ends as it comes to call `name` of `place` (within the write for "os"), and clears nothing away."""

    def end(*_: object, **__: object) -> None:
        raise Crash

    stand_in = Half() if name == "os" else end

    with monkeypatch.context() as patch:
        patch.setattr(place, name, stand_in)
        patch.setattr(files.Folder, "unlink", lambda self, name: None)
        patch.setattr(Transactions, "_fail", lambda self, change_id, images, error: None)
        with pytest.raises(Crash):
            home.apply(step)
    assert len(home.journal.pending()) == 1


def temps(home: House) -> list[str]:
    return sorted(path for path in home.files() if ".notes-mcp-" in path)


DEATHS = [
    (kind, place, name)
    for kind in STEPS
    for place, name in [(files, "os"), (files, "_copy_traits"), (files.Folder, "sync")]
    if (kind, name) != ("create", "_copy_traits")  # a new file takes nothing over
]


@pytest.mark.parametrize(("kind", "place", "name"), DEATHS)
def test_what_a_crash_left_of_a_change_goes_at_once_with_its_recovery(
    home: House, monkeypatch, kind: str, place: object, name: str
) -> None:
    killed(home, monkeypatch, STEPS[kind](home), place, name)
    assert temps(home) or (kind, name) == ("create", "sync")
    (home.root / "other" / THEIRS).write_bytes(b"beside notes that the change does not touch")
    later = opened(home.root, home.state)
    assert later.journal.pending() == []
    assert temps(later) == [f"other/{THEIRS}"]


def test_a_file_that_another_machine_left_before_the_change_stays_for_a_minute(home: House, monkeypatch) -> None:
    (home.root / "d" / THEIRS).write_bytes(b"theirs")
    when = home.root.joinpath("d", THEIRS).stat().st_mtime_ns + 3_600_000_000_000
    monkeypatch.setattr("notes_mcp.notes.changes.journal.time.time_ns", lambda: when)
    killed(home, monkeypatch, STEPS["put"](home), files, "os")
    opened(home.root, home.state)
    assert f"d/{THEIRS}" in temps(home)


def test_what_an_editor_saved_as_the_files_were_exchanged_is_not_cleared_away(home: House, monkeypatch) -> None:
    real = swapping.exchange

    def save_then_exchange(*args: object) -> bool:
        (home.root / "d/a.md").write_bytes(b"saved in that instant")
        return real(*args)

    monkeypatch.setattr(swapping, "exchange", save_then_exchange)
    killed(home, monkeypatch, STEPS["put"](home), swapping, "_put_back")
    opened(home.root, home.state)
    assert b"saved in that instant" in home.files().values()
