"""One folder and its index, without a loop: what counts as changed, moved, gone, unreadable."""

import logging
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from _served import brought_up, fill, folder_of
from disk_rights import without_root_rights

from notes_mcp.errors import BusyError, StorageError, UnreadableError
from notes_mcp.notes import folder as folder_module
from notes_mcp.notes import intake
from notes_mcp.notes.disk import listing
from notes_mcp.notes.folder import Folder
from notes_mcp.notes.index.index import Index, IndexResetError
from notes_mcp.notes.records import Batch


def kinds(folder: Folder) -> list[tuple[str, str]]:
    return [(change.kind, change.path) for change in folder.news()[0]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return fill(
        tmp_path / "notes", {"a.md": "alpha\n", "sub/b.md": "beta\n", "sub/deep/c.md": "gamma\n", "p.png": b"x"}
    )


@pytest.fixture
def folder(root: Path) -> Folder:
    return brought_up(folder_of(root))


def paths(folder: Folder) -> list[str]:
    return folder.index.below("")


def test_the_first_survey_finds_everything_and_none_of_it_is_news(root: Path) -> None:
    folder = folder_of(root)
    survey = folder.survey()
    assert (survey.first, survey.total, survey.missing) == (True, 4, ())
    for portion in folder.chunks(survey):
        assert folder.refresh(seen=portion, quiet=True) == frozenset()
    assert kinds(folder) == []
    assert paths(folder) == ["a.md", "p.png", "sub/b.md", "sub/deep/c.md"]
    again = folder.survey()
    assert (again.first, again.stale) == (False, ())


def test_chunks_hold_the_newest_first_and_are_bounded_in_number_and_bytes(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(folder_module, "CHUNK_FILES", 2)
    monkeypatch.setattr(folder_module, "CHUNK_BYTES", 100)
    root = fill(tmp_path / "notes", {f"{n}.md": "x" * (200 if n == 4 else 1) for n in range(6)})
    (root / "big.png").write_bytes(b"x" * 1000)
    for n in range(6):
        os.utime(root / f"{n}.md", (1000 + n, 1000 + n))
    os.utime(root / "big.png", (1, 1))
    folder = folder_of(root)
    assert [[file.path for file in portion] for portion in folder.chunks(folder.survey())] == [
        ["5.md", "4.md"], ["3.md", "2.md"], ["1.md", "0.md"], ["big.png"],
    ]  # fmt: skip
    monkeypatch.setattr(folder_module, "CHUNK_FILES", 100)
    assert len(next(iter(folder.chunks(folder.survey())))) == 2  # 201 bytes of notes are enough


def test_a_change_and_a_new_note_are_told_once(folder: Folder, root: Path) -> None:
    fill(root, {"a.md": "alpha two\n", "new.md": "new\n"})
    folder.refresh(["a.md", "new.md"])
    folder.refresh(["a.md", "new.md"])
    assert kinds(folder) == [("updated", "a.md"), ("created", "new.md")]
    assert kinds(folder) == []


def test_hazard_137_a_note_that_is_gone_at_one_look_is_only_under_suspicion(folder: Folder, root: Path) -> None:
    (root / "a.md").unlink()
    assert folder.refresh(["a.md"]) == {"a.md"}
    assert kinds(folder) == [] and "a.md" in paths(folder)
    assert folder.refresh(["a.md"], sure=True) == frozenset()
    assert kinds(folder) == [("deleted", "a.md")]
    assert folder.refresh(["a.md"]) == frozenset()  # nothing is known of it any more


def test_hazard_152_a_save_by_delete_and_create_is_one_update(folder: Folder, root: Path) -> None:
    (root / "a.md").unlink()
    suspects = folder.refresh(["a.md"])
    fill(root, {"a.md": "alpha saved\n"})
    folder.refresh(["a.md"])
    folder.refresh(suspects, sure=True)
    assert kinds(folder) == [("updated", "a.md")]


def test_a_note_that_comes_back_as_it_was_is_no_news(folder: Folder, root: Path) -> None:
    (root / "a.md").rename(root / ".aside")
    suspects = folder.refresh(["a.md"])
    (root / ".aside").rename(root / "a.md")
    assert folder.refresh(suspects, sure=True) == frozenset()
    assert kinds(folder) == []


def test_hazard_149_a_move_seen_in_two_parts_is_a_rename(folder: Folder, root: Path) -> None:
    (root / "a.md").rename(root / "sub/moved.md")
    assert folder.refresh(["a.md"]) == {"a.md"}
    assert folder.refresh(["sub/moved.md"]) == frozenset()
    (change,) = folder.news()[0]
    assert (change.kind, change.old_path, change.path) == ("renamed", "a.md", "sub/moved.md")
    assert folder.refresh(["a.md"], sure=True) == frozenset()
    assert kinds(folder) == []


def test_a_move_is_a_rename_in_one_part_and_for_a_whole_folder(folder: Folder, root: Path) -> None:
    (root / "sub").rename(root / "other")
    folder.refresh(["sub", "other"])
    changes = folder.news()[0]
    assert {(change.old_path, change.path) for change in changes} == {
        ("sub/b.md", "other/b.md"), ("sub/deep/c.md", "other/deep/c.md"),
    }  # fmt: skip
    assert {change.kind for change in changes} == {"renamed"}


def test_what_moved_while_nobody_looked_is_a_rename(folder: Folder, root: Path) -> None:
    (root / "sub").rename(root / "other")
    brought = folder.survey()
    for portion in folder.chunks(brought):
        folder.refresh(seen=portion)
    assert {(change.kind, change.old_path) for change in folder.news()[0]} == {
        ("renamed", "sub/b.md"), ("renamed", "sub/deep/c.md"),
    }  # fmt: skip


def test_a_copy_is_no_move_and_empty_notes_are_no_evidence(folder: Folder, root: Path) -> None:
    shutil.copy2(root / "a.md", root / "copy.md")
    folder.refresh(["copy.md", "a.md"])
    assert kinds(folder) == [("created", "copy.md")]
    fill(root, {"empty.md": ""})
    folder.refresh(["empty.md"])
    (root / "empty.md").unlink()
    folder.news()
    assert folder.refresh(["empty.md"]) == {"empty.md"}
    fill(root, {"empty2.md": ""})
    folder.refresh(["empty2.md"])
    assert kinds(folder) == [("created", "empty2.md")]


def test_a_suspect_whose_folder_cannot_be_looked_into_has_not_moved(folder: Folder, root: Path) -> None:
    shutil.copy2(root / "sub/b.md", root / "copy.md")
    os.rename(root / "sub/b.md", root / "sub/.b")
    assert folder.refresh(["sub/b.md"]) == {"sub/b.md"}
    (root / "sub").chmod(0)
    try:
        with without_root_rights():
            folder.refresh(["copy.md"])
    finally:
        (root / "sub").chmod(0o755)
    assert kinds(folder) == [("created", "copy.md")]


def test_hazard_137_nothing_below_an_unreadable_folder_is_dropped(folder: Folder, root: Path) -> None:
    fill(root, {"a.md": "alpha two\n"})
    (root / "sub").chmod(0)
    try:
        with without_root_rights():
            survey = folder.survey()
            assert survey.missing == ()
            # The one that cannot be told keeps no other back, whichever way it is asked for.
            folder.refresh(["sub/b.md", "sub", "sub/deep", "sub/deep/c.md", "a.md"], sure=True)
            (root / "p.png").unlink()
            folder.refresh(["", "p.png"], sure=True)
    finally:
        (root / "sub").chmod(0o755)
    assert kinds(folder) == [("updated", "a.md"), ("deleted", "p.png")]
    assert "sub/b.md" in paths(folder) and "sub/deep/c.md" in paths(folder)
    assert [problem.kind for problem in folder.problems()] == ["unreadable_folder"]


def test_an_unreadable_note_keeps_what_was_known_and_a_new_one_is_listed_until_it_can_be_read(
    folder: Folder, root: Path
) -> None:
    fill(root, {"new.md": "# Title\n", "a.md": "alpha changed\n"})
    for name in ("new.md", "a.md"):
        (root / name).chmod(0)
    try:
        with without_root_rights():
            folder.refresh(["new.md", "a.md"])
            problems = {(problem.kind, problem.path) for problem in folder.problems()}
            assert problems == {("unreadable", "new.md"), ("unreadable", "a.md")}
    finally:
        for name in ("new.md", "a.md"):
            (root / name).chmod(0o644)
    note = folder.index.get("new.md")
    assert note is not None and note.title == "new"
    brought_up(folder)  # chmod changes neither size nor time: every survey tries again
    note = folder.index.get("new.md")
    assert note is not None and note.title == "Title"
    assert folder.problems() == ()


def test_a_note_over_the_limit_is_listed_and_read_once_the_limit_allows(tmp_path: Path) -> None:
    root = fill(tmp_path / "notes", {"big.md": "# Big\n" + "x" * 100})
    folder = brought_up(folder_of(root, max_note_bytes=50))
    note = folder.index.get("big.md")
    assert note is not None and note.title == "big"
    assert [problem.kind for problem in folder.problems()] == ["too_large"]
    (root / "big.md").unlink()
    folder.refresh(["big.md"], sure=True)
    assert folder.problems() == ()


def test_hazard_139_a_cloud_placeholder_is_listed_and_not_read(tmp_path: Path) -> None:
    root = fill(tmp_path / "notes", {".far.md.icloud": b"bplist"})
    folder = brought_up(folder_of(root))
    assert paths(folder) == ["far.md"]
    fill(root, {"far.md": "# Here\n"})
    (root / ".far.md.icloud").unlink()
    brought_up(folder)
    note = folder.index.get("far.md")
    assert note is not None and note.title == "Here"


@pytest.mark.parametrize(
    ("state", "here"),
    [
        ({"st_flags": 0x40000000}, False),  # macOS: SF_DATALESS
        ({"st_flags": 0x20}, True),  # compressed
        ({"st_file_attributes": 0x1000}, False),  # Windows: FILE_ATTRIBUTE_OFFLINE
        ({"st_file_attributes": 0x40000}, False),  # RECALL_ON_OPEN
        ({"st_file_attributes": 0x400000}, False),  # RECALL_ON_DATA_ACCESS
        ({"st_file_attributes": 0x20 | 0x80000}, True),  # kept on this device
        ({}, True),
    ],
)
def test_hazard_139_the_state_of_a_file_says_whether_its_bytes_are_here(state: dict[str, int], here: bool) -> None:
    assert listing.downloaded(SimpleNamespace(**state)) is here


def test_hazard_139_a_note_whose_bytes_are_in_the_cloud_is_listed_and_never_opened(
    root: Path, monkeypatch, folder: Folder
) -> None:
    opened: list[str] = []
    read = folder.vault.read
    monkeypatch.setattr(folder.vault, "read", lambda path: (opened.append(path), read(path))[1])
    fill(root, {"far.md": "x" * 777, "near.md": "near\n"})
    with monkeypatch.context() as away:
        away.setattr(listing, "downloaded", lambda info: info.st_size != 777)
        for _ in range(2):
            brought_up(folder)
            folder.refresh(["far.md", ""], sure=True)
        assert opened == ["near.md"] and {"far.md", "near.md"} <= set(paths(folder))
        assert [(problem.kind, problem.path) for problem in folder.problems()] == [("not_downloaded", "far.md")]
    brought_up(folder)
    assert opened == ["near.md", "far.md"] and folder.problems() == ()


def test_a_locked_file_is_asked_for_again_and_keeps_no_other_back(folder: Folder, root: Path, monkeypatch) -> None:
    read, stat = folder.vault.read, folder.vault.stat
    fill(root, {"a.md": "alpha two\n", "locked.md": "locked\n", "busy.md": "busy\n"})

    def locked_read(path: str):
        if path == "locked.md":
            raise BusyError("in use")
        return read(path)

    def locked_stat(path: str):
        if path == "busy.md":
            raise BusyError("in use")
        return stat(path)

    monkeypatch.setattr(folder.vault, "read", locked_read)
    monkeypatch.setattr(folder.vault, "stat", locked_stat)
    assert folder.refresh(["busy.md", "locked.md", "a.md"]) == {"busy.md", "locked.md"}
    assert set(kinds(folder)) == {("updated", "a.md"), ("created", "locked.md")}
    monkeypatch.undo()
    assert folder.refresh(["busy.md", "locked.md"], sure=True) == frozenset()
    assert set(kinds(folder)) == {("created", "busy.md"), ("updated", "locked.md")}
    assert folder.problems() == ()


def test_a_note_that_cannot_be_taken_apart_is_found_by_its_name(
    folder: Folder, root: Path, monkeypatch, caplog
) -> None:
    extract = intake.extract

    def failing(path: str, data: bytes):
        if path == "odd.md":
            raise RecursionError
        return extract(path, data)

    monkeypatch.setattr(intake, "extract", failing)
    fill(root, {"odd.md": "odd\n", "even.md": "even\n"})
    folder.refresh(["odd.md", "even.md"])
    assert set(kinds(folder)) == {("created", "odd.md"), ("created", "even.md")}
    assert [problem.kind for problem in folder.problems()] == ["not_understood"]
    assert "odd.md" in caplog.text


def test_one_note_that_the_index_refuses_keeps_no_other_back(folder: Folder, root: Path, monkeypatch, caplog) -> None:
    apply = folder.index.apply

    def picky(batch: Batch):
        if any(entry.state.path == "odd.md" for entry in batch.entries):
            raise ValueError("odd")
        return apply(batch)

    monkeypatch.setattr(folder.index, "apply", picky)
    fill(root, {"odd.md": "odd\n", "even.md": "even\n"})
    (root / "a.md").unlink()
    folder.refresh(["odd.md", "even.md", "a.md"], sure=True)
    assert set(kinds(folder)) == {("created", "even.md"), ("deleted", "a.md")}
    assert [(problem.kind, problem.path) for problem in folder.problems()] == [("not_understood", "odd.md")]
    with pytest.raises(ValueError):
        folder.refresh(["odd.md"])  # alone there is nobody to spare


def test_a_busy_index_is_no_matter_of_one_note(folder: Folder, root: Path, monkeypatch) -> None:
    def busy(batch: Batch):
        raise BusyError("index")

    monkeypatch.setattr(folder.index, "apply", busy)
    fill(root, {"x.md": "x\n", "y.md": "y\n"})
    with pytest.raises(BusyError):
        folder.refresh(["x.md", "y.md"])


def test_a_folder_that_is_away_loses_nothing(folder: Folder, root: Path) -> None:
    root.rename(root.with_name("away"))
    with pytest.raises(StorageError):
        folder.survey()
    with pytest.raises(StorageError):
        folder.refresh(["a.md", "sub"], sure=True)
    os.utime(root.with_name("away") / "a.md", (1, 1))
    with pytest.raises(StorageError):
        folder.refresh(seen=[file for portion in folder.chunks(folder_of(root.with_name("away")).survey())
                             for file in portion])  # fmt: skip
    root.with_name("away").rename(root)
    assert brought_up(folder).index.count() == 4
    assert kinds(folder) == []


def test_a_disk_that_is_unmounted_between_two_looks_loses_nothing(folder: Folder, root: Path, monkeypatch) -> None:
    for entry in list(root.iterdir()):  # what stands at the place then is an empty folder of another device
        entry.rename(root.parent / f"aside-{entry.name}")
    monkeypatch.setattr(folder.vault, "_device", -1)
    with pytest.raises(StorageError):
        folder.refresh(["a.md", "sub"], sure=True)
    assert len(paths(folder)) == 4


def test_a_path_that_became_a_link_to_another_note_is_gone_as_a_note_of_its_own(folder: Folder, root: Path) -> None:
    (root / "a.md").unlink()
    (root / "a.md").symlink_to("sub/b.md")
    folder.refresh(["a.md"], sure=True)
    assert kinds(folder) == [("deleted", "a.md")]


def test_a_note_that_became_a_folder_is_gone_and_what_is_in_it_is_there(folder: Folder, root: Path) -> None:
    (root / "a.md").rename(root.parent / "kept.md")  # its inode stays taken: given to the new note, it would be a move
    fill(root, {"a.md/inside.md": "inside\n"})
    folder.refresh(["a.md"], sure=True)
    assert set(kinds(folder)) == {("deleted", "a.md"), ("created", "a.md/inside.md")}


def test_the_notes_of_a_folder_that_is_gone_are_gone(folder: Folder, root: Path) -> None:
    shutil.rmtree(root / "sub")
    assert folder.refresh(["sub"]) == {"sub/b.md", "sub/deep/c.md"}
    folder.refresh(["sub"], sure=True)
    assert set(kinds(folder)) == {("deleted", "sub/b.md"), ("deleted", "sub/deep/c.md")}


def test_a_note_waited_for_is_news_also_while_the_first_index_is_built(root: Path) -> None:
    folder = folder_of(root)
    fill(root, {"awaited.md": "one\n"})
    (root / "awaited.md").unlink()
    folder.await_news(["awaited.md", "a.md"])
    folder.refresh(["a.md"], quiet=True)
    assert kinds(folder) == [("created", "a.md")]  # it was not known when it was waited for
    fill(root, {"awaited.md": "two\n", "unawaited.md": "x\n"})
    folder.refresh(["awaited.md", "unawaited.md"], quiet=True)
    assert kinds(folder) == [("created", "awaited.md")]
    folder.await_news(["unawaited.md"])
    fill(root, {"awaited.md": "three\n"})
    folder.refresh(["awaited.md"], quiet=True)
    assert kinds(folder) == [("updated", "awaited.md")]


def test_what_is_known_already_is_not_waited_for(root: Path) -> None:
    folder = folder_of(root)
    folder.refresh(["a.md"], quiet=True)
    folder.await_news(["a.md"])
    (root / "a.md").unlink()
    folder.refresh(["a.md"], sure=True)
    folder.news()
    fill(root, {"a.md": "again\n"})
    folder.refresh(["a.md"], quiet=True)
    assert kinds(folder) == []


def test_a_new_notesignore_hides_and_shows(folder: Folder, root: Path) -> None:
    fill(root, {".notesignore": "sub/\n"})
    brought_up(folder)
    assert paths(folder) == ["a.md", "p.png"]
    (root / ".notesignore").unlink()
    brought_up(folder)
    assert len(paths(folder)) == 4


def test_an_unreadable_notesignore_leaves_everything_as_it_is(folder: Folder, root: Path) -> None:
    fill(root, {".notesignore": "sub/\n"})
    (root / ".notesignore").chmod(0)
    with without_root_rights(), pytest.raises(UnreadableError):
        folder.survey()
    with without_root_rights():
        folder.refresh(["a.md", "sub"], sure=True)
    assert len(paths(folder)) == 4


def test_news_say_when_the_log_was_cut(folder: Folder, root: Path, monkeypatch) -> None:
    fill(root, {"a.md": "one\n"})
    folder.refresh(["a.md"])
    changes, complete = folder.news()
    assert complete and len(changes) == 1
    fill(root, {"a.md": "two\n"})
    folder.refresh(["a.md"])
    fill(root, {"a.md": "three\n"})
    folder.refresh(["a.md"])
    since = folder.index.changes_since
    monkeypatch.setattr(folder.index, "changes_since", lambda seq: since(seq)[1:])
    changes, complete = folder.news()
    assert len(changes) == 1 and not complete


def test_an_index_that_starts_anew_while_it_is_opened_is_asked_again(root: Path) -> None:
    class Once:
        def __init__(self, index: Index) -> None:
            self._index, self._left = index, 1

        def last_seq(self) -> int:
            if self._left:
                self._left -= 1
                raise IndexResetError("anew")
            return self._index.last_seq()

        def count(self) -> int:
            return 7

    folder = Folder("notes", folder_of(root).vault, Once(Index.open(None)))  # type: ignore[arg-type]
    assert folder.held == 7


def test_what_is_owed_is_given_once(folder: Folder) -> None:
    folder.owe("a.md")
    assert folder.owed() == {"a.md"} and folder.owed() == frozenset()


def test_an_index_that_had_to_move_into_memory_is_a_problem(folder: Folder) -> None:
    assert folder.problems() == ()
    folder.index.resets = 1
    assert [problem.kind for problem in folder.problems()] == ["index_in_memory"]


def test_paths_that_cannot_be_looked_at_are_said_quietly(folder: Folder, root: Path, caplog) -> None:
    caplog.set_level(logging.INFO)
    (root / "sub").chmod(0)
    try:
        with without_root_rights():
            folder.refresh(["sub/b.md"])
    finally:
        (root / "sub").chmod(0o755)
    assert [record.levelname for record in caplog.records] == ["INFO"]
