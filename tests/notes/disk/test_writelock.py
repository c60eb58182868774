import errno
import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from notes_mcp.errors import BusyError
from notes_mcp.notes.disk.vault import Vault
from notes_mcp.notes.disk.writelock import WriteLock

HOLDER = """
    import sys
    from pathlib import Path
    from notes_mcp.notes.disk.writelock import WriteLock
    with WriteLock(Path(sys.argv[1]), Path(sys.argv[2]) if sys.argv[2] else None):
        print("held", flush=True)
        sys.stdin.read()
"""

APPENDER = """
    import sys
    from pathlib import Path
    from notes_mcp.notes.text import etag
    from notes_mcp.notes.disk.vault import Vault
    from notes_mcp.notes.disk.writelock import WriteLock
    root, cache, name, times = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    vault = Vault(root)
    for n in range(times):
        with WriteLock(root, cache, timeout_ms=60_000):
            data, _ = vault.read("log.md")
            vault.replace("log.md", data + f"{name}.{n}\\n".encode(), expect=etag(data))
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache/locks"


def python(program: str, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )


def test_the_lock_leaves_nothing_in_the_notes_folder_and_its_file_is_private(root: Path, cache: Path) -> None:
    with WriteLock(root, cache):
        held = list(cache.iterdir())
        assert os.listdir(root) == []
        assert [stat.S_IMODE(path.stat().st_mode) for path in held] == [0o600]
        assert stat.S_IMODE(cache.stat().st_mode) == 0o700


@pytest.mark.parametrize("where", ["same cache", "another cache", "no cache"])
def test_hazard_013_a_second_process_waits_whatever_its_cache_directory(
    root: Path, cache: Path, tmp_path: Path, where: str
) -> None:
    theirs = {"same cache": str(cache), "another cache": str(tmp_path / "other"), "no cache": ""}[where]
    with python(HOLDER, str(root), theirs) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        with pytest.raises(BusyError), WriteLock(root, cache, timeout_ms=50):
            pytest.fail("both held it")
        with WriteLock(tmp_path / "elsewhere", cache, timeout_ms=50):
            pass  # another folder is another lock
        holder.communicate("")
        assert holder.returncode == 0
    with WriteLock(root, cache, timeout_ms=20_000):
        pass


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="SIGKILL")
def test_a_killed_holder_holds_nothing(root: Path, cache: Path) -> None:
    with python(HOLDER, str(root), str(cache)) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        holder.kill()
        holder.communicate()
    with WriteLock(root, cache, timeout_ms=20_000):
        pass


def test_threads_exclude_each_other_too(root: Path, cache: Path) -> None:
    inside, most = 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(20):
            with WriteLock(root, cache, timeout_ms=60_000):
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_one_object_serves_one_write_after_another(root: Path, cache: Path) -> None:
    lock = WriteLock(root, cache)
    for _ in range(3):
        with lock:
            pass
        with pytest.raises(ValueError, match="x"), lock:
            raise ValueError("x")
    with WriteLock(root, cache, timeout_ms=0):
        pass


@pytest.mark.parametrize("where", ["a file", "below a file"])
def test_a_cache_directory_that_cannot_be_used_leaves_the_lock_on_the_folder(
    root: Path, tmp_path: Path, where: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    cache = tmp_path / "file" if where == "a file" else tmp_path / "file/locks"
    lock = WriteLock(root, cache)
    for _ in range(2):
        with lock, pytest.raises(BusyError), WriteLock(root, None, timeout_ms=0):
            pytest.fail("both held it")
    assert len(caplog.records) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="flock")
def test_a_network_folder_that_cannot_be_locked_leaves_the_lock_in_the_cache(
    root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    real = fcntl.flock

    def only_files(fd: int, operation: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(errno.EBADF, "Bad file descriptor")
        real(fd, operation)

    monkeypatch.setattr(fcntl, "flock", only_files)
    with WriteLock(root, cache), pytest.raises(BusyError), WriteLock(root, cache, timeout_ms=0):
        pytest.fail("both held it")


def test_hazard_136_of_many_appends_by_many_processes_all_survive(root: Path, cache: Path) -> None:
    (root / "log.md").write_bytes(b"")
    writers = [python(APPENDER, str(root), str(cache), str(n), "20") for n in range(5)]
    for writer in writers:
        _, error = writer.communicate(timeout=120)
        assert writer.returncode == 0, error
    lines = (root / "log.md").read_text().splitlines()
    assert sorted(lines) == sorted(f"{name}.{n}" for name in range(5) for n in range(20))
    assert os.listdir(root) == ["log.md"]


def test_hazard_134_of_many_appends_by_many_threads_all_survive(root: Path, cache: Path) -> None:
    vault = Vault(root)
    vault.create("log.md", b"")

    def append(text: bytes) -> None:
        with WriteLock(root, cache, timeout_ms=60_000):
            vault.replace("log.md", vault.read("log.md")[0] + text)

    threads = [threading.Thread(target=append, args=(f"{n}\n".encode(),)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(vault.read("log.md")[0].split()) == sorted(str(n).encode() for n in range(20))
