import errno
import logging
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import anyio
import pytest
import watchfiles
from disk_rights import without_root_rights
from watch_cases import Heard, watching

from notes_mcp.notes.disk.mounts import is_remote
from notes_mcp.notes.disk.watcher import watch
from notes_mcp.settings import Settings


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


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


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EINVAL, "this share knows no events"),
        OSError(errno.ENOSYS, "Function not implemented"),
        RuntimeError("the watcher died"),
        ImportError("DLL load failed"),
        ValueError("a path that it does not understand"),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("at", ["arming", "work"])
async def test_hazard_065_a_watcher_that_fails_is_replaced_by_polling_and_that_is_said(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception, at: str
) -> None:
    async def fails(*_args: object, stop_event, **_options: object):
        if at == "work":
            stop_event.is_set()
            await anyio.sleep(0)
            yield {(watchfiles.Change.added, str(root / "a.md"))}
        raise error

    monkeypatch.setattr(watchfiles, "awatch", fails)
    async with watching(root, watch_poll_ms=5) as heard:
        await heard.until(lambda: heard.comparisons() >= 4)
        assert heard.modes == [(root, "events"), (root, "polling")]
    [warning] = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert str(root) in warning.getMessage() and str(error) in warning.getMessage()


async def test_hazard_065_a_watcher_that_is_not_there_is_replaced_by_polling(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    async with watching(root, watch_poll_ms=5) as heard:
        await heard.until(lambda: heard.comparisons() >= 4)
        assert heard.modes == [(root, "events"), (root, "polling")]


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux")
def test_hazard_148_a_real_inotify_limit_falls_back_to_polling(root: Path) -> None:
    for n in range(100):
        (root / f"d{n}").mkdir()
    program = textwrap.dedent("""
        import anyio, pathlib, sys
        from notes_mcp.notes.disk.watcher import watch
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
