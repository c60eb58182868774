import logging
import os
import shutil
from pathlib import Path

import anyio
import pytest
from watch_cases import DEADLINE_S, Heard, watching

from notes_mcp.notes.disk.box import Paths
from notes_mcp.notes.disk.watcher import watch
from notes_mcp.settings import Settings


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


async def test_one_comparison_follows_arming_so_that_nothing_falls_between_scan_and_watch(root: Path) -> None:
    heard = Heard()
    async with anyio.create_task_group() as tasks:

        async def run() -> None:
            await watch([root], heard, settings=Settings(folders=(root,)), armed=heard.armed)

        tasks.start_soon(run)
        await heard.until(lambda: heard.comparisons() == 1)
        assert heard.armed.is_set()
        assert heard.calls == [{root: None}]
        tasks.cancel_scope.cancel()


async def test_a_write_in_place_is_told_by_its_path(root: Path) -> None:
    (root / "a.md").write_text("1")
    async with watching(root) as heard:
        with (root / "a.md").open("a") as file:
            file.write("2")
        await heard.until(lambda: str(root / "a.md") in heard.paths())
    assert heard.paths() == {str(root / "a.md")}


async def test_hazard_152_an_atomic_save_is_told_once_and_its_temp_file_never(root: Path) -> None:
    (root / "a.md").write_text("1")
    async with watching(root) as heard:
        for temp in (".a.md.swp", "a.md~", "4913", "a.md.tmp", "a.md.tmp.123.456", ".goutputstream-X1", "#a.md#"):
            (root / temp).write_text("2")
            (root / temp).replace(root / "a.md")
        (root / "last.md").write_text("3")
        await heard.until(lambda: str(root / "last.md") in heard.paths())
    assert heard.paths() == {str(root / "a.md"), str(root / "last.md")}


async def test_a_rename_tells_both_paths(root: Path) -> None:
    (root / "a.md").write_text("1")
    async with watching(root) as heard:
        (root / "a.md").rename(root / "b.md")
        await heard.until(lambda: heard.paths() >= {str(root / "a.md"), str(root / "b.md")})


async def test_a_deleted_note_is_told(root: Path) -> None:
    (root / "a.md").write_text("1")
    async with watching(root) as heard:
        (root / "a.md").unlink()
        await heard.until(lambda: str(root / "a.md") in heard.paths())


async def test_a_folder_made_with_files_inside_is_looked_into_a_second_time(root: Path) -> None:
    async with watching(root) as heard:
        (root / "deep/er").mkdir(parents=True)
        (root / "deep/er/a.md").write_text("1")
        await heard.until(lambda: sum(str(root / "deep") in (call[root] or ()) for call in heard.calls) >= 2)


async def test_a_folder_moved_in_is_told(root: Path, tmp_path: Path) -> None:
    (tmp_path / "other/sub").mkdir(parents=True)
    (tmp_path / "other/sub/a.md").write_text("1")
    async with watching(root) as heard:
        (tmp_path / "other").rename(root / "other")
        await heard.until(lambda: str(root / "other") in heard.paths())
        heard.forget()
        (root / "other/sub/a.md").write_text("2")
        await heard.until(lambda: str(root / "other/sub/a.md") in heard.paths())


async def test_a_burst_like_a_git_checkout_loses_nothing_and_makes_few_calls(root: Path) -> None:
    wanted = set()
    async with watching(root) as heard:
        (root / ".git/objects").mkdir(parents=True)
        for i in range(1_000):
            folder = root / f"d{i % 20}"
            folder.mkdir(exist_ok=True)
            (folder / f"{i}.md").write_text(str(i))
            (root / f".git/objects/{i}").write_text(str(i))
            wanted.add(str(folder / f"{i}.md"))

        def covered() -> bool:
            seen = heard.paths()
            # A folder stands for what is in it: whoever is told looks inside.
            return all(path in seen or os.path.dirname(path) in seen for path in wanted)

        await heard.until(covered)
    assert len(heard.calls) < 60
    assert not [path for path in heard.paths() if "/.git" in path]


async def test_changes_while_the_callback_is_busy_are_merged_into_its_next_call(root: Path) -> None:
    gate, entered, done = anyio.Event(), anyio.Event(), anyio.Event()
    told: list[Paths] = []
    armed = anyio.Event()

    async def slow(paths: Paths) -> None:
        told.append(paths)
        entered.set()
        await gate.wait()
        if {str(root / f"{n}.md") for n in range(3)} <= {p for call in told[1:] for p in call[root] or ()}:
            done.set()

    async with anyio.create_task_group() as tasks:

        async def run() -> None:
            await watch([root], slow, settings=Settings(folders=(root,)), armed=armed)

        tasks.start_soon(run)
        with anyio.fail_after(DEADLINE_S):
            await entered.wait()
            for n in range(3):
                (root / f"{n}.md").write_text("1")
            gate.set()
            await done.wait()
        tasks.cancel_scope.cancel()


async def test_what_the_callback_raises_is_logged_and_the_watch_goes_on(
    root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    second = anyio.Event()
    armed = anyio.Event()

    async def fails_once(paths: Paths) -> None:
        if paths[root] is None:
            raise ValueError("once")
        second.set()

    async with anyio.create_task_group() as tasks:

        async def run() -> None:
            await watch([root], fails_once, settings=Settings(folders=(root,)), armed=armed)

        tasks.start_soon(run)
        with anyio.fail_after(DEADLINE_S):
            await armed.wait()
            (root / "a.md").write_text("1")
            await second.wait()
        tasks.cancel_scope.cancel()
    assert [record.levelno for record in caplog.records if record.exc_info] == [logging.ERROR]


async def test_the_folder_deleted_and_made_again_is_watched_again(root: Path) -> None:
    (root / "a.md").write_text("1")
    async with watching(root) as heard:
        shutil.rmtree(root)
        await heard.until(lambda: heard.comparisons() >= 1)
        heard.forget()
        root.mkdir()
        await heard.until(lambda: heard.comparisons() >= 1)
        await anyio.lowlevel.checkpoint()
        # The comparison after re-arming covers what came before; what comes after must be an event.
        heard.forget()
        (root / "b.md").write_text("2")
        await heard.until(lambda: str(root / "b.md") in heard.paths() or heard.comparisons() >= 1)
        heard.forget()
        (root / "c.md").write_text("2")
        await heard.until(lambda: str(root / "c.md") in heard.paths())


async def test_the_folder_swapped_for_another_is_watched_in_its_place(root: Path, tmp_path: Path) -> None:
    async with watching(root) as heard:
        other = tmp_path / "other"
        other.mkdir()
        root.rename(tmp_path / "away")
        other.rename(root)
        await heard.until(lambda: heard.comparisons() >= 2)
        heard.forget()
        (root / "b.md").write_text("2")
        await heard.until(lambda: str(root / "b.md") in heard.paths() or heard.comparisons() >= 1)


async def test_a_folder_that_is_not_there_yet_does_not_hold_up_arming(tmp_path: Path) -> None:
    heard, there, missing = Heard(), tmp_path / "there", tmp_path / "missing"
    there.mkdir()
    async with anyio.create_task_group() as tasks:

        async def run() -> None:
            settings = Settings(folders=(there, missing))
            await watch([there, missing], heard, settings=settings, armed=heard.armed)

        tasks.start_soon(run)
        with anyio.fail_after(DEADLINE_S):
            await heard.armed.wait()
        missing.mkdir()
        await heard.until(lambda: any(missing in call for call in heard.calls))
        tasks.cancel_scope.cancel()


async def test_a_change_of_the_ignore_file_asks_for_a_whole_comparison(root: Path) -> None:
    async with watching(root) as heard:
        (root / ".notesignore").write_text("private/\n")
        await heard.until(lambda: heard.comparisons() >= 1)
    assert heard.paths() == set()


async def test_a_cloud_placeholder_is_told_though_its_name_starts_with_a_dot(root: Path) -> None:
    async with watching(root) as heard:
        (root / ".a.md.icloud").write_text("")
        await heard.until(lambda: str(root / ".a.md.icloud") in heard.paths())
