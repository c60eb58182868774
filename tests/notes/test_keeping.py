"""The index in step with the disk, through watchers, failures and folders that come and go."""

import asyncio
import errno
import os
import shutil
from pathlib import Path

import anyio
import apsw
import pytest
from _served import DEADLINE_S, fill, serving
from disk_rights import without_root_rights

from notes_mcp.errors import BusyError, NotFoundError
from notes_mcp.notes import keeping
from notes_mcp.notes.folder import Folder
from notes_mcp.notes.index import searching
from notes_mcp.notes.index.index import IndexResetError
from notes_mcp.notes.library import Library


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return fill(tmp_path / "notes", {"a.md": "alpha\n", "b.md": "beta\n", "sub/c.md": "gamma\n"})


@pytest.fixture(autouse=True)
def quick(monkeypatch) -> None:
    monkeypatch.setattr(keeping, "RETRY_S", 0.01)
    monkeypatch.setattr(keeping, "MAX_RETRY_S", 0.05)


def folder_of(library: Library) -> Folder:
    (folder,) = library._shelf
    return folder


async def total(library: Library, wanted: int) -> None:
    """Until so many notes are listed."""
    with anyio.fail_after(DEADLINE_S):
        while (await library.list_notes()).total != wanted:
            await anyio.sleep(0)


async def test_the_first_index_is_told_as_one_thing_and_later_changes_one_by_one(root: Path, tmp_path: Path) -> None:
    async with serving(tmp_path, root) as (library, heard):
        assert heard.changes == [] and heard.incomplete == 1
        await library.watch([])
        fill(root, {"a.md": "alpha two\n", "new.md": "new\n"})
        await heard.until(lambda _: {("updated", "a.md"), ("created", "new.md")} <= set(heard.kinds()))
        assert len(heard.changes) == 2 and heard.incomplete == 1


async def test_a_second_start_finds_what_changed_while_nobody_looked(root: Path, tmp_path: Path) -> None:
    async with serving(tmp_path, root):
        pass
    fill(root, {"a.md": "alpha two\n"})
    (root / "b.md").unlink()
    (root / "sub/c.md").rename(root / "c.md")
    async with serving(tmp_path, root) as (_, heard):
        await heard.until(lambda _: len(heard.changes) == 3)
        assert set(heard.kinds()) == {("updated", "a.md"), ("deleted", "b.md"), ("renamed", "c.md")}
        assert heard.incomplete == 0


async def test_before_the_count_the_total_is_unknown_and_what_an_earlier_index_held_is_said(
    root: Path, tmp_path: Path, monkeypatch
) -> None:
    async with serving(tmp_path, root):
        pass
    held = anyio.Event()
    survey = Folder.survey
    let_go = asyncio.Event()
    loop = asyncio.get_running_loop()

    def waiting(folder: Folder):
        loop.call_soon_threadsafe(held.set)
        asyncio.run_coroutine_threadsafe(let_go.wait(), loop).result(DEADLINE_S)
        return survey(folder)

    monkeypatch.setattr(Folder, "survey", waiting)
    async with serving(tmp_path, root, settled=False, index_wait_ms=10) as (library, _):
        await held.wait()
        state = await library.state()
        assert (state.indexed, state.total, state.complete) == (3, None, False)
        page = await library.search("nothingatall")
        assert page.total == 0 and not page.state.complete and page.did_you_mean == ()
        with pytest.raises(NotFoundError, match="still being built \\(3 files, not counted yet\\)"):
            await library.read("nowhere")
        assert (await library.read("a.md")).path == "a.md"  # what is there needs no index
        let_go.set()
        assert (await library.settle()) == await library.state()


async def test_hazard_131_while_the_index_is_built_every_answer_says_how_far_it_is(
    root: Path, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr("notes_mcp.notes.folder.CHUNK_FILES", 1)
    for number, name in enumerate(("a.md", "b.md", "sub/c.md")):
        os.utime(root / name, (1000 - number, 1000 - number))
    let_go = asyncio.Event()
    loop = asyncio.get_running_loop()
    refresh = Folder.refresh

    def slow(folder: Folder, paths=(), **how):
        if any(file.path == "b.md" for file in how.get("seen", ())):
            asyncio.run_coroutine_threadsafe(let_go.wait(), loop).result(DEADLINE_S)
        return refresh(folder, paths, **how)

    monkeypatch.setattr(Folder, "refresh", slow)
    async with serving(tmp_path, root, settled=False, index_wait_ms=1) as (library, _):
        with anyio.fail_after(DEADLINE_S):
            while (await library.state()).indexed != 1:
                await anyio.sleep(0)
        page = await library.list_notes()
        assert (page.state.indexed, page.state.total, page.state.complete) == (1, 3, False)
        assert [note.path for note in page.notes] == ["a.md"]
        with pytest.raises(NotFoundError, match="\\(1 files, of 3\\)"):
            await library.resolve("c")
        info = await library.info()
        assert info.state.complete is False
        let_go.set()
        with anyio.fail_after(DEADLINE_S):
            while not (await library.settle()).complete:
                pass
        assert (await library.resolve("c")) == "sub/c.md"
        info = await library.info()
        assert (info.state.indexed, info.state.total, info.state.complete) == (3, 3, True)


async def test_a_note_asked_for_too_early_is_found_once_the_index_is_there(root: Path, tmp_path: Path) -> None:
    async with serving(tmp_path, root, settled=False, index_wait_ms=DEADLINE_S * 1000) as (library, _):
        assert (await library.read("c")).path == "sub/c.md"


async def test_a_survey_that_fails_is_tried_until_it_works_and_said_once(
    root: Path, tmp_path: Path, monkeypatch, caplog
) -> None:
    survey = Folder.survey
    failures: list[Exception] = [BusyError("the index is busy"), BusyError("the index is busy"), RuntimeError("bug")]

    def failing(folder: Folder):
        if failures:
            raise failures.pop(0)
        return survey(folder)

    monkeypatch.setattr(Folder, "survey", failing)
    async with serving(tmp_path, root) as (library, _):
        assert (await library.list_notes()).total == 3
    said = [record.getMessage() for record in caplog.records]
    assert said == ["notes: the index is busy", "notes: bug", "notes: in step with the disk again"]


async def test_a_failing_refresh_is_made_good_by_a_comparison(root: Path, tmp_path: Path, monkeypatch, caplog) -> None:
    async with serving(tmp_path, root) as (library, heard):
        await library.watch([])
        refresh = Folder.refresh
        left = [RuntimeError("bug"), BusyError("busy")]

        def failing(folder: Folder, paths=(), **how):
            paths = list(paths)
            if left and (paths or how.get("seen")):
                raise left.pop()
            return refresh(folder, paths, **how)

        monkeypatch.setattr(Folder, "refresh", failing)
        fill(root, {"a.md": "alpha two\n"})
        await heard.until(lambda _: ("updated", "a.md") in heard.kinds())
        assert left == []


async def test_a_second_look_that_fails_is_made_good_too(root: Path, tmp_path: Path, monkeypatch) -> None:
    async with serving(tmp_path, root) as (library, heard):
        await library.watch([])
        refresh = Folder.refresh
        left = [BusyError("busy")]

        def failing(folder: Folder, paths=(), *, sure=False, **how):
            if sure and left:
                raise left.pop()
            return refresh(folder, paths, sure=sure, **how)

        monkeypatch.setattr(Folder, "refresh", failing)
        (root / "a.md").unlink()
        await heard.until(lambda _: heard.kinds() == [("deleted", "a.md")])
        assert left == []


async def test_a_locked_file_is_asked_for_until_it_opens(root: Path, tmp_path: Path, monkeypatch) -> None:
    async with serving(tmp_path, root) as (library, heard):
        await library.watch([])
        folder = folder_of(library)
        read, left = folder.vault.read, [1, 2, 3]

        def locked(path: str):
            if left and path == "a.md":
                left.pop()
                raise BusyError("in use")
            return read(path)

        monkeypatch.setattr(folder.vault, "read", locked)
        fill(root, {"a.md": "alpha two\n"})
        await heard.until(lambda _: ("updated", "a.md") in heard.kinds())
        assert left == []


async def test_an_index_that_had_to_start_anew_is_built_again(root: Path, tmp_path: Path, monkeypatch) -> None:
    async with serving(tmp_path, root, index_wait_ms=DEADLINE_S * 1000) as (library, heard):
        await library.watch([])
        folder = folder_of(library)
        search, left = searching.search, [1]

        def damaged(*args, **how):
            if left:
                left.pop()
                raise apsw.CorruptError("damaged")
            return search(*args, **how)

        monkeypatch.setattr(searching, "search", damaged)
        assert (await library.search("gamma")).total == 1  # asked again of the index that is built anew
        assert folder.index.resets == 1
        assert heard.incomplete == 2  # whoever holds a list is told that it may be another one
        fill(root, {"a.md": "alpha two\n"})
        await heard.until(lambda _: ("updated", "a.md") in heard.kinds())


async def test_an_index_that_starts_anew_in_the_middle_of_the_first_survey_is_not_taken_for_complete(
    root: Path, tmp_path: Path, monkeypatch
) -> None:
    survey = Folder.survey
    left = [1]

    def resetting(folder: Folder):
        found = survey(folder)
        if left:
            left.pop()
            folder.index.resets += 1  # what was taken in before is lost; the survey itself went well
            return found.__class__((), (), found.total, found.first)
        return found

    monkeypatch.setattr(Folder, "survey", resetting)
    async with serving(tmp_path, root) as (library, _):
        assert (await library.list_notes()).total == 3


async def test_a_reset_met_by_a_reference_is_waited_for(root: Path, tmp_path: Path, monkeypatch) -> None:
    async with serving(tmp_path, root, index_wait_ms=DEADLINE_S * 1000) as (library, _):
        folder = folder_of(library)
        ask, left = folder.index.resolve_ref, [1]

        def resetting(ref: str, *, for_write: bool = False) -> str:
            if left:
                left.pop()
                folder.index.resets += 1
                raise IndexResetError("anew")
            return ask(ref, for_write=for_write)

        monkeypatch.setattr(folder.index, "resolve_ref", resetting)
        assert await library.resolve("c") == "sub/c.md"


async def test_a_watcher_that_fails_is_started_again(root: Path, tmp_path: Path, monkeypatch, caplog) -> None:
    watch, left = keeping.watch, [OSError(errno.EIO, "broken")]

    async def failing(*args, **how) -> None:
        if left:
            raise left.pop()
        await watch(*args, **how)

    monkeypatch.setattr(keeping, "watch", failing)
    async with serving(tmp_path, root) as (library, heard):
        await library.watch([])  # answered although the first watcher never got there
        with anyio.fail_after(DEADLINE_S):
            while (await library.info()).folders[0].watching == "off":
                await anyio.sleep(0)
        fill(root, {"a.md": "alpha two\n"})
        await heard.until(lambda _: ("updated", "a.md") in heard.kinds())
    assert "the watcher failed" in caplog.text


async def test_a_listener_that_fails_ends_nothing(root: Path, tmp_path: Path) -> None:
    async with serving(tmp_path, root) as (library, heard):
        await library.watch([])
        left = [RuntimeError("listener")]

        def failing(changes, complete) -> None:
            if left:
                raise left.pop()

        library.on_change(failing)
        fill(root, {"a.md": "alpha two\n"})
        await heard.until(lambda _: ("updated", "a.md") in heard.kinds())
        fill(root, {"b.md": "beta two\n"})
        await heard.until(lambda _: ("updated", "b.md") in heard.kinds())
        assert left == []


async def test_a_folder_that_goes_away_and_comes_back_loses_nothing(root: Path, tmp_path: Path) -> None:
    async with serving(tmp_path, root, watch_poll_ms=50) as (library, heard):
        await library.watch([])
        away = root.with_name("away")
        root.rename(away)
        with anyio.fail_after(DEADLINE_S):
            while not library._keeper._said:
                await anyio.sleep(0)
        assert (await library.list_notes()).total == 3
        fill(away, {"a.md": "alpha two\n"})
        away.rename(root)
        await heard.until(lambda _: ("updated", "a.md") in heard.kinds())
        assert heard.kinds() == [("updated", "a.md")]


async def test_a_folder_that_is_deleted_and_restored_is_told_note_by_note(root: Path, tmp_path: Path) -> None:
    async with serving(tmp_path, root, watch_poll_ms=50) as (library, heard):
        await library.watch([])
        shutil.copytree(root, tmp_path / "backup")
        shutil.rmtree(root)
        shutil.copytree(tmp_path / "backup", root)
        fill(root, {"d.md": "delta\n"})
        await heard.until(lambda _: ("created", "d.md") in heard.kinds())
        await total(library, 4)


async def test_hazard_137_an_unreadable_subfolder_keeps_its_notes(root: Path, tmp_path: Path) -> None:
    with without_root_rights():
        async with serving(tmp_path, root) as (library, heard):
            await library.watch([])
            (root / "sub").chmod(0)
            try:
                fill(root, {"a.md": "alpha two\n"})
                await heard.until(lambda _: ("updated", "a.md") in heard.kinds())
                await library._keeper._compare(folder_of(library)).wait()
                assert (await library.search("gamma")).total == 1
                assert "unreadable_folder" in {problem.kind for problem in (await library.info()).problems}
            finally:
                (root / "sub").chmod(0o755)
            fill(root, {"sub/c.md": "gamma two\n"})
            await heard.until(lambda _: ("updated", "sub/c.md") in heard.kinds())
            assert not any(change.kind == "deleted" for change in heard.changes)


async def test_a_move_and_an_atomic_save_are_seen_as_what_they_are(root: Path, tmp_path: Path) -> None:
    async with serving(tmp_path, root) as (library, heard):
        await library.watch([])
        (root / "a.md").rename(root / "sub/moved.md")
        changes = await heard.until(lambda _: heard.changes)
        assert [(one.kind, one.old_path, one.path) for one in changes] == [("renamed", "a.md", "sub/moved.md")]
        fill(root, {"b.md.tmp": "beta two\n"})
        (root / "b.md.tmp").replace(root / "b.md")
        await heard.until(lambda _: ("updated", "b.md") in heard.kinds())
        (root / "b.md").unlink()
        fill(root, {"b.md": "beta three\n"})
        fill(root, {"end.md": "end\n"})
        await heard.until(lambda _: ("created", "end.md") in heard.kinds())
        assert heard.kinds()[1:].count(("updated", "b.md")) == 2
        assert not {kind for kind, _ in heard.kinds()} & {"deleted"}


async def test_an_edit_of_notesignore_hides_and_shows_at_once(root: Path, tmp_path: Path) -> None:
    async with serving(tmp_path, root) as (library, heard):
        await library.watch([])
        fill(root, {".notesignore": "sub/\n"})
        await heard.until(lambda _: ("deleted", "sub/c.md") in heard.kinds())
        assert (await library.search("gamma")).total == 0
        (root / ".notesignore").unlink()
        await heard.until(lambda _: ("created", "sub/c.md") in heard.kinds())
        assert (await library.search("gamma")).total == 1


async def test_what_is_watched_is_known_as_it_was_when_the_answer_came(root: Path, tmp_path: Path) -> None:
    """Also while the first index is built, and for a note that is not there yet."""
    async with serving(tmp_path, root, settled=False) as (library, heard):
        found = await library.watch(
            ["notes:///a.md", "notes:///later.md", "notes:///.trash/x.md", "https://x/", "a.md"]
        )
        assert found == {"notes:///a.md": "notes:///a.md", "notes:///later.md": "notes:///later.md"}
        fill(root, {"a.md": "alpha two\n", "later.md": "later\n"})
        await heard.until(lambda _: {("updated", "a.md"), ("created", "later.md")} <= set(heard.kinds()))


async def test_a_subscription_is_accepted_while_the_index_is_busy(root: Path, tmp_path: Path, monkeypatch) -> None:
    async with serving(tmp_path, root) as (library, heard):
        refresh, left = Folder.refresh, [BusyError("busy")]

        def failing(folder: Folder, paths=(), **how):
            if left:
                raise left.pop()
            return refresh(folder, paths, **how)

        monkeypatch.setattr(Folder, "refresh", failing)
        assert await library.watch(["notes:///a.md"]) == {"notes:///a.md": "notes:///a.md"}
        fill(root, {"a.md": "alpha two\n"})
        await heard.until(lambda _: ("updated", "a.md") in heard.kinds())


async def test_two_servers_on_one_folder_both_tell_one_save(root: Path, tmp_path: Path) -> None:
    async with serving(tmp_path, root) as (first, heard_first), serving(tmp_path, root) as (second, heard_second):
        await first.watch([])
        await second.watch([])
        fill(root, {"a.md": "alpha two\n"})
        for heard in (heard_first, heard_second):
            await heard.until(lambda _, heard=heard: ("updated", "a.md") in heard.kinds())
        await first.create("own.md", "own\n", tool="t")
        for heard in (heard_first, heard_second):
            await heard.until(lambda _, heard=heard: ("created", "own.md") in heard.kinds())
            assert heard.kinds() == [("updated", "a.md"), ("created", "own.md")]


async def test_one_folder_that_fails_does_not_keep_the_other_back(root: Path, tmp_path: Path, monkeypatch) -> None:
    other = fill(tmp_path / "other", {"x.md": "x\n"})
    survey, left = Folder.survey, [BusyError("busy")] * 3

    def failing(folder: Folder):
        if folder.name == "notes" and left:
            raise left.pop()
        return survey(folder)

    monkeypatch.setattr(Folder, "survey", failing)
    async with serving(tmp_path, root, other) as (library, _):
        assert (await library.list_notes()).total == 4
        state = await library.state()
        assert (state.indexed, state.total, state.complete) == (4, 4, True)
