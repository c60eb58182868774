import os
import stat

import pytest
from folder_cases import House, house, opened
from hypothesis import given, settings
from hypothesis import strategies as st
from vault_cases import everything

from notes_mcp.errors import NotFoundError, ReadOnlyError
from notes_mcp.notes.changes import steps
from notes_mcp.notes.changes.transaction import Transactions
from notes_mcp.notes.changes.undoing import Refusal, Undoer, Undone
from notes_mcp.notes.text import etag

FILES = {"a.md": b"a", "b.md": b"b", "d/c.md": b"c", "d/pic.png": b"\x89png"}


@pytest.fixture
def home(tmp_path) -> House:
    return house(tmp_path, FILES)


def move_of_the_folder(home: House) -> str | None:
    return home.apply(
        steps.move(home.vault, "d", "e/f", None, folder=True),
        steps.put("e/f/c.md", b"c", b"c, links mended"),
        steps.put("b.md", b"b", b"b, links mended"),
    )


def move_of_a_note(home: House) -> str | None:
    return home.apply(
        steps.move(home.vault, "a.md", "New/z.md", etag(b"a")),
        steps.put("New/z.md", b"a", b"a, links mended"),
        steps.put("b.md", b"b", b"b, links mended"),
    )


CHANGES = {
    "edit": lambda home: home.apply(steps.put("a.md", b"a", b"new")),
    "edit of many": lambda home: home.apply(steps.put("a.md", b"a", b"1"), steps.put("b.md", b"b", b"2")),
    "create": lambda home: home.apply(steps.create(home.vault, "x/y/new.md", b"new")),
    "trash": lambda home: home.apply(steps.trash(home.vault, "d/c.md", b"c")),
    "remove": lambda home: home.apply(steps.remove(home.vault, "d/c.md", b"c")),
    "move of a note": move_of_a_note,
    "move of a folder": move_of_the_folder,
    "move of a picture": lambda home: home.apply(steps.move(home.vault, "d/pic.png", "pics/p.png", None)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_undoing_gives_back_the_very_bytes_and_undoing_that_redoes(home: House, change: str) -> None:
    change_id = CHANGES[change](home)
    after = home.files()
    assert after != FILES
    preview = home.undoer.undo(dry_run=True)
    assert home.files() == after and preview.change_id is None
    undone = home.undoer.undo()
    assert undone.undoes == change_id and undone.refused == ()
    assert (undone.restored, undone.tool) == (preview.restored, "test")
    assert {path: data for path, data in home.files().items() if not path.startswith(".trash/")} == FILES
    redone = home.undoer.undo(undone.change_id)
    assert redone.refused == ()
    if change == "remove":  # what is taken back is never off the disk for good
        after[".trash/d/c.md"] = b"c"
    assert home.files() == after
    again = home.undoer.undo(redone.change_id)
    assert again.refused == ()
    assert {path: data for path, data in home.files().items() if not path.startswith(".trash/")} == FILES
    assert home.indexed().keys() == FILES.keys()
    assert opened(home.root, home.state).journal.pending() == []


def test_what_was_trashed_comes_back_and_leaves_the_trash_with_its_mode_and_time(home: House) -> None:
    note = home.root / "a.md"
    os.chmod(note, 0o600)
    os.utime(note, ns=(1_600_000_000_000_000_000,) * 2)
    home.apply(steps.trash(home.vault, "a.md", b"a"))
    assert home.undoer.undo().restored == ("a.md",)
    assert home.files() == FILES
    assert (stat.S_IMODE(note.stat().st_mode), note.stat().st_mtime) == (0o600, 1_600_000_000)


@pytest.mark.parametrize("what", ["emptied", "changed"])
def test_what_was_trashed_comes_back_from_the_journal_if_its_copy_is_not_ours_any_more(home: House, what: str) -> None:
    os.chmod(home.root / "a.md", 0o600)
    home.apply(steps.trash(home.vault, "a.md", b"a"))
    copy = home.root / ".trash/a.md"
    if what == "emptied":
        copy.unlink()
    else:
        copy.write_bytes(b"changed in the trash")
    assert home.undoer.undo().refused == ()
    assert (home.root / "a.md").read_bytes() == b"a"
    assert stat.S_IMODE((home.root / "a.md").stat().st_mode) == 0o600
    assert what == "emptied" or copy.read_bytes() == b"changed in the trash"


def test_what_was_removed_comes_back_with_its_mode(home: House) -> None:
    os.chmod(home.root / "a.md", 0o640)
    home.apply(steps.remove(home.vault, "a.md", b"a"))
    assert home.undoer.undo().restored == ("a.md",)
    assert stat.S_IMODE((home.root / "a.md").stat().st_mode) == 0o640


def test_a_note_made_by_us_goes_to_the_trash_only_if_it_is_unchanged(home: House) -> None:
    home.apply(steps.create(home.vault, "x/y/new.md", b"new"))
    (home.root / "x/y/new.md").write_bytes(b"more words")
    undone = home.undoer.undo()
    assert undone.restored == () and undone.change_id is None
    [refusal] = undone.refused
    assert refusal.path == "x/y/new.md" and etag(b"more words") in refusal.reason
    (home.root / "x/y/new.md").write_bytes(b"new")
    assert home.undoer.undo().removed == ("x/y/new.md",)
    assert home.files() == {**FILES, ".trash/x/y/new.md": b"new"}
    assert not (home.root / "x").exists(), "the folders that were made for it are gone too"


@pytest.mark.parametrize("now", [b"changed since", None])
def test_a_file_changed_since_is_refused_and_the_others_are_restored(home: House, now: bytes | None) -> None:
    change_id = CHANGES["edit of many"](home)
    if now is None:
        (home.root / "b.md").unlink()
    else:
        (home.root / "b.md").write_bytes(now)
    undone = home.undoer.undo()
    assert undone.restored == ("a.md",) and [refusal.path for refusal in undone.refused] == ["b.md"]
    assert ("gone" if now is None else "changed since") in undone.refused[0].reason
    expected = {**FILES, "b.md": now}
    assert home.files() == {path: data for path, data in expected.items() if data is not None}
    # The rest can be asked for again once it is as the change left it.
    (home.root / "b.md").write_bytes(b"2")
    again = home.undoer.undo(change_id)
    assert again.restored == ("b.md",) and [refusal.path for refusal in again.refused] == ["a.md"]
    assert home.files() == FILES


def test_nothing_of_a_move_is_undone_if_the_note_was_changed_since(home: House) -> None:
    move_of_a_note(home)
    (home.root / "New/z.md").write_bytes(b"more words")
    after = home.files()
    undone = home.undoer.undo()
    assert undone.restored == () and undone.change_id is None
    assert {refusal.path for refusal in undone.refused} == {"New/z.md", "b.md"}
    assert home.files() == after


@pytest.mark.parametrize("move", [move_of_a_note, move_of_the_folder])
def test_nothing_of_a_move_is_undone_if_its_old_place_is_taken(home: House, move) -> None:
    move(home)
    old = home.root / ("a.md" if move is move_of_a_note else "d")
    old.write_bytes(b"somebody else's")
    after = home.files()
    undone = home.undoer.undo()
    assert undone.restored == () and "is at" in undone.refused[0].reason
    assert home.files() == after


def test_a_folder_goes_back_with_what_was_put_into_it_since(home: House) -> None:
    move_of_the_folder(home)
    (home.root / "e/f/later.md").write_bytes(b"later")
    (home.root / "e/f/c.md").write_bytes(b"changed since")
    undone = home.undoer.undo()
    assert undone.restored == ("d", "b.md") and [refusal.path for refusal in undone.refused] == ["e/f/c.md"]
    assert home.files() == {**FILES, "d/c.md": b"changed since", "d/later.md": b"later"}
    assert not (home.root / "e").exists()


def test_a_note_made_again_at_the_path_of_a_deleted_one_is_not_overwritten(home: House) -> None:
    home.apply(steps.trash(home.vault, "a.md", b"a"))
    (home.root / "a.md").write_bytes(b"made again")
    undone = home.undoer.undo()
    assert [refusal.path for refusal in undone.refused] == ["a.md"]
    assert home.files() == {**FILES, "a.md": b"made again", ".trash/a.md": b"a"}


def test_what_is_undone_already_is_refused_with_the_change_that_did_it(home: House) -> None:
    change_id = CHANGES["edit"](home)
    undone = home.undoer.undo(change_id)
    again = home.undoer.undo(change_id)
    assert again.restored == () and str(undone.change_id) in again.refused[0].reason


def test_an_edit_put_back_by_hand_is_nothing_to_undo(home: House) -> None:
    change_id = CHANGES["edit"](home)
    (home.root / "a.md").write_bytes(b"a")
    undone = home.undoer.undo(change_id)
    assert undone == Undone(str(change_id), "test", (), (Refusal("a.md", "it is as it was before already"),), None)


def test_an_older_change_can_be_undone_while_newer_ones_stay(home: House) -> None:
    first = home.apply(steps.put("a.md", b"a", b"1"))
    home.apply(steps.put("b.md", b"b", b"2"))
    assert home.undoer.undo(first).restored == ("a.md",)
    assert home.files() == {**FILES, "b.md": b"2"}


def test_an_unknown_change_an_empty_journal_and_none_at_all_are_not_found(home: House) -> None:
    for change_id in (None, "0" * 15, "../x"):
        with pytest.raises(NotFoundError):
            home.undoer.undo(change_id)
    with pytest.raises(NotFoundError):
        Undoer(home.folder, None, home.transactions, read_only=False).undo()
    with pytest.raises(ReadOnlyError):
        Undoer(home.folder, home.journal, home.transactions, read_only=True).undo()


def test_an_editor_that_saves_while_we_undo_is_not_overwritten(home: House, monkeypatch) -> None:
    CHANGES["edit of many"](home)
    real, calls = Transactions.apply, 0

    def apply(self, tool, planned, *, undoes=None):
        nonlocal calls
        calls += 1
        if calls == 1:
            (home.root / "b.md").write_bytes(b"saved in between")
        return real(self, tool, planned, undoes=undoes)

    monkeypatch.setattr(Transactions, "apply", apply)
    undone = home.undoer.undo()
    assert undone.restored == ("a.md",) and [refusal.path for refusal in undone.refused] == ["b.md"]
    assert home.files() == {**FILES, "b.md": b"saved in between"}


OPERATIONS = st.lists(
    st.tuples(st.sampled_from(["put", "create", "trash", "remove", "move"]), st.integers(0, 9), st.binary(max_size=9)),
    min_size=1,
    max_size=8,
)


@settings(max_examples=30, deadline=None)
@given(operations=OPERATIONS)
def test_undoing_everything_backwards_gives_back_the_very_folder(tmp_path_factory, operations) -> None:
    home = house(tmp_path_factory.mktemp("h"), FILES)
    done, before = [], []
    for number, (kind, pick, data) in enumerate(operations):
        now = {path: bytes for path, bytes in everything(home.root).items() if not path.startswith(".trash/")}
        path = sorted(now)[pick % len(now)] if now else None
        step = None
        if kind == "create":
            step = steps.create(home.vault, f"made{pick}/{number}.md", data)
        elif path is not None and kind == "put" and now[path] != data:
            step = steps.put(path, now[path], data)
        elif path is not None and kind == "trash":
            step = steps.trash(home.vault, path, now[path])
        elif path is not None and kind == "remove":
            step = steps.remove(home.vault, path, now[path])
        elif path is not None and kind == "move":
            step = steps.move(home.vault, path, f"moved{pick}/{number}.md", etag(now[path]))
        if step is not None:
            before.append(now)
            done.append(home.apply(step))
    for change_id, expected in zip(reversed(done), reversed(before), strict=True):
        assert home.undoer.undo(change_id).refused == ()
        assert {p: d for p, d in everything(home.root).items() if not p.startswith(".trash/")} == expected
