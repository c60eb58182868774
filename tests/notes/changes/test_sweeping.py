import errno
import os

import pytest
from folder_cases import Crash, House, crash_before, house, opened

from notes_mcp.errors import NotTextError, ReadOnlyError, StorageError
from notes_mcp.notes.changes.sweeping import Skipped, Sweep, Sweeper
from notes_mcp.notes.edits import tagging
from notes_mcp.notes.properties.propertyedit import TagChange
from notes_mcp.notes.records import FileState

FILES = {
    "a.md": b"---\ntags: [old, x]\n---\ntext #old\n",
    "b/c.md": b"#old/below here\r\n",
    "d.md": b"no tag\n",
    "e.md": b"#other `#old`\n",
}
RENAMED = {**FILES, "a.md": b"---\ntags: [new, x]\n---\ntext #new\n", "b/c.md": b"#new/below here\r\n"}


@pytest.fixture
def home(tmp_path) -> House:
    return house(tmp_path, FILES)


def renaming(state: FileState, data: bytes) -> tuple[bytes, int]:
    tagged = tagging.apply(state.path, data, TagChange(rename=(("old", "new"),)))
    return tagged.data, tagged.count


def sweep(home: House, transform=renaming, *, paths=None, tags=("old",), dry_run=False) -> Sweep:
    sweeper = Sweeper(home.folder, home.transactions, read_only=False)
    return sweeper.sweep(transform, paths=paths, tags=tags, dry_run=dry_run, tool="update_tags")


def test_a_tag_is_renamed_everywhere_as_one_change_that_can_be_undone(home: House) -> None:
    swept = sweep(home)
    assert [(each.path, each.count) for each in swept.changed] == [("a.md", 2), ("b/c.md", 1)]
    assert home.files() == RENAMED and dict(home.folder.index.tags())["new"] == 2
    undone = home.undoer.undo(swept.change_id)
    assert undone.restored == ("b/c.md", "a.md") and home.files() == FILES
    home.undoer.undo(undone.change_id)
    assert home.files() == RENAMED


def test_a_dry_run_changes_nothing_and_tells_what_is_then_done(home: House) -> None:
    shown = sweep(home, dry_run=True)
    assert home.files() == FILES and shown.change_id is None and home.journal.latest() is None
    done = sweep(home)
    assert (shown.changed, shown.skipped) == (done.changed, done.skipped)
    assert {each.path: each.after for each in shown.changed}.items() <= home.files().items()


def test_only_the_notes_named_are_changed_and_each_once(home: House) -> None:
    swept = sweep(home, paths=["b/c.md", "d.md", "b/c.md"])
    assert [each.path for each in swept.changed] == ["b/c.md"]
    assert home.files() == {**FILES, "b/c.md": RENAMED["b/c.md"]}


def test_a_tag_written_a_moment_ago_is_renamed_too(home: House) -> None:
    (home.root / "fresh.md").write_bytes(b"#old")
    sweep(home)
    assert home.files()["fresh.md"] == b"#new"


def test_without_tags_every_note_is_asked(home: House) -> None:
    asked = []

    def look(state: FileState, data: bytes) -> tuple[bytes, int]:
        asked.append(state.path)
        return data, 0

    assert sweep(home, look, tags=()) == Sweep((), ())
    assert asked == sorted(FILES)
    assert home.journal.latest() is None, "what changes no byte writes nothing"


def test_more_notes_than_a_page_of_the_index_are_all_reached(tmp_path) -> None:
    many = house(tmp_path, {f"{n:04}.md": b"#old" for n in range(1100)})
    assert len(sweep(many, dry_run=True).changed) == 1100


def test_hazard_074_notes_that_are_not_text_or_not_there_are_skipped_and_told_of(home: House) -> None:
    (home.root / "latin.md").write_bytes(b"#old gr\xfc\xdfe")

    def strict(state: FileState, data: bytes) -> tuple[bytes, int]:
        if state.path == "latin.md":
            raise NotTextError("not valid text")
        return renaming(state, data)

    swept = sweep(home, strict, paths=["latin.md", "gone.md", "a.md"])
    assert [each.path for each in swept.changed] == ["a.md"]
    assert swept.skipped[0] == Skipped("latin.md", "not valid text") and swept.skipped[1].path == "gone.md"
    assert home.files()["latin.md"] == b"#old gr\xfc\xdfe"


def test_a_note_saved_by_an_editor_in_between_keeps_what_was_saved(home: House) -> None:
    calls = []

    def transform(state: FileState, data: bytes) -> tuple[bytes, int]:
        if state.path == "b/c.md":
            calls.append(data)
            if len(calls) == 1:
                (home.root / "b/c.md").write_bytes(b"saved #old")
        return renaming(state, data)

    sweep(home, transform)
    assert home.files() == {**RENAMED, "b/c.md": b"saved #new"} and len(calls) == 2


def test_a_disk_that_is_full_half_way_leaves_every_note_as_it_was(home: House, monkeypatch) -> None:
    real, count = os.fsync, 0

    def fsync(descriptor: int) -> None:
        nonlocal count
        count += 1
        if count == 5:  # record, its directory, first note, its directory, second note
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    with monkeypatch.context() as patch, pytest.raises(StorageError, match="full"):
        patch.setattr(os, "fsync", fsync)
        sweep(home)
    assert home.files() == FILES and home.journal.latest() is None
    sweep(home)
    assert home.files() == RENAMED


@pytest.mark.parametrize("crashed_at", [0, 1, -1])
def test_cut_short_it_is_all_or_nothing(home: House, monkeypatch, crashed_at: int) -> None:
    with monkeypatch.context() as patch, pytest.raises(Crash):
        crash_before(patch, crashed_at)
        sweep(home)
    later = opened(home.root, home.state)
    assert later.files() == (RENAMED if crashed_at < 0 else FILES)
    assert (later.journal.latest() is not None) == (crashed_at < 0)


def test_a_server_that_only_reads_changes_nothing(home: House) -> None:
    with pytest.raises(ReadOnlyError):
        Sweeper(home.folder, home.transactions, read_only=True).sweep(
            renaming, paths=None, tags=("old",), dry_run=True, tool="update_tags"
        )
