import contextlib
import errno
import logging
import os
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
import watchfiles
from disk_rights import without_root_rights

from notes_mcp.notes.watcher import Paths, is_remote, watch
from notes_mcp.settings import Settings

DEADLINE_S = 20


class Heard:
    """Collects what the watcher tells; `until` waits for a condition on it, with a deadline."""

    def __init__(self) -> None:
        self.calls: list[Paths] = []
        self.modes: list[tuple[Path, str]] = []
        self.armed = anyio.Event()
        self._more = anyio.Event()

    async def __call__(self, paths: Paths) -> None:
        self.calls.append(paths)
        self._more.set()

    async def until(self, condition) -> None:
        with anyio.fail_after(DEADLINE_S):
            while not condition():
                self._more = anyio.Event()
                await self._more.wait()

    def paths(self) -> set[str]:
        return {path for call in self.calls for paths in call.values() if paths is not None for path in paths}

    def comparisons(self) -> int:
        return sum(paths is None for call in self.calls for paths in call.values())

    def forget(self) -> None:
        self.calls.clear()


@contextlib.asynccontextmanager
async def watching(*roots: Path, **settings: int) -> AsyncIterator[Heard]:
    heard = Heard()
    async with anyio.create_task_group() as tasks:

        async def run() -> None:
            await watch(
                roots,
                heard,
                settings=Settings(folders=roots, **settings),
                armed=heard.armed,
                on_mode=lambda root, mode: heard.modes.append((root, mode)),
            )

        tasks.start_soon(run)
        with anyio.fail_after(DEADLINE_S):
            await heard.armed.wait()
        await heard.until(lambda: heard.comparisons() >= len(roots))
        heard.forget()
        yield heard
        tasks.cancel_scope.cancel()


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


async def test_more_changes_at_once_than_the_kernel_may_hold_ask_for_a_whole_comparison(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def burst(*_args: object, stop_event, **_options: object):
        stop_event.is_set()
        yield {(watchfiles.Change.added, str(root / f"{n}.md")) for n in range(3_000)}
        await anyio.sleep_forever()

    monkeypatch.setattr(watchfiles, "awatch", burst)
    heard = Heard()
    async with anyio.create_task_group() as tasks:

        async def run() -> None:
            await watch([root], heard, settings=Settings(folders=(root,)), armed=heard.armed)

        tasks.start_soon(run)
        await heard.until(lambda: heard.comparisons() >= 1 and heard.armed.is_set())
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "OS file watch limit reached."),
        OSError(errno.EMFILE, "Too many open files"),
        RuntimeError("error in underlying watcher"),
    ],
)
async def test_hazard_148_without_events_the_folder_is_compared_again_and_again_and_that_is_said_once(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    async def refused(*_args: object, **_options: object):
        raise error
        yield

    monkeypatch.setattr(watchfiles, "awatch", refused)
    async with watching(root, watch_poll_ms=5) as heard:
        await heard.until(lambda: heard.comparisons() >= 4)
        assert heard.modes == [(root, "events"), (root, "polling")]
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert len(warnings) == 1
    assert str(root) in warnings[0].getMessage()


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux")
def test_hazard_148_a_real_inotify_limit_falls_back_to_polling(root: Path) -> None:
    for n in range(100):
        (root / f"d{n}").mkdir()
    program = textwrap.dedent("""
        import anyio, pathlib, sys
        from notes_mcp.notes.watcher import watch
        from notes_mcp.settings import Settings
        pathlib.Path("/proc/sys/user/max_inotify_watches").write_text("8")
        root = pathlib.Path(sys.argv[1])
        async def main():
            seen, modes = [], []
            async def told(paths):
                seen.append(paths)
                if len(seen) > 3:
                    print(modes)
                    tasks.cancel_scope.cancel()
            async with anyio.create_task_group() as tasks:
                with anyio.fail_after(20):
                    await watch([root], told, settings=Settings(folders=(root,)), armed=anyio.Event(),
                                on_mode=lambda root, mode: modes.append(mode))
        anyio.run(main)
    """)
    # A user namespace has its own limit, so nobody else's is touched.
    run = subprocess.run(
        ["unshare", "--user", "--map-root-user", sys.executable, "-c", program, str(root)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.stdout.strip() == "['events', 'polling']", run.stderr


async def test_a_folder_that_may_not_be_read_leaves_the_others_watched(
    root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("a", "locked", "z"):
        (root / name).mkdir()
    (root / "locked").chmod(0)
    with without_root_rights():
        async with watching(root, watch_poll_ms=5) as heard:
            assert heard.modes == [(root, "events"), (root, "polling")]
            await heard.until(lambda: heard.comparisons() >= 3)
    (root / "locked").chmod(0o700)
    assert len([record for record in caplog.records if record.levelno == logging.WARNING]) == 1


async def test_stopping_is_immediate(root: Path) -> None:
    async with watching(root):
        began = time.monotonic()
    # A cancelled awatch alone takes up to 5 s; a generous bound still tells the two apart.
    assert time.monotonic() - began < 2.5


async def test_hazard_151_an_idle_folder_costs_next_to_nothing(root: Path) -> None:
    async with watching(root, watch_step_ms=20):
        before, began = time.process_time(), time.monotonic()
        with anyio.move_on_after(2):
            await anyio.sleep_forever()
        used, wall = time.process_time() - before, time.monotonic() - began
    assert used / wall < 0.05


def test_several_mounts_the_innermost_decides_whether_a_folder_is_remote(tmp_path: Path) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "40 22 0:50 / /mnt/my\\040share rw shared:1 - cifs //host/share rw\n"
        "41 40 8:2 / /mnt/my\\040share/local rw - ext4 /dev/sdb1 rw\n"
        "42 22 0:51 / /mnt/f rw - fuse.sshfs host: rw\n"
    )
    assert not is_remote(Path("/home/notes"), mounts=str(mounts))
    assert is_remote(Path("/mnt/my share/notes"), mounts=str(mounts))
    assert not is_remote(Path("/mnt/my share/local/notes"), mounts=str(mounts))
    assert not is_remote(Path("/mnt/foo"), mounts=str(mounts))
    assert is_remote(Path("/mnt/f"), mounts=str(mounts))
    assert not is_remote(Path("/x"), mounts=str(tmp_path / "none"))
