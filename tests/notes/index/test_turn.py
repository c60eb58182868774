"""Turns among servers, also among those that hang or die."""

import contextlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from notes_mcp.notes.index import turn
from notes_mcp.notes.index.index import Index
from notes_mcp.notes.index.turn import Turn

DEADLINE_S = 30
HOLDER = """
import sys
from pathlib import Path
from notes_mcp.notes.index.turn import Turn

with Turn(Path(sys.argv[1])).taken() as ours:
    print(ours, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "index.db"


@contextlib.contextmanager
def held_elsewhere(file: Path):
    """A process whose turn it is, until it is killed."""
    command = [sys.executable, "-c", HOLDER, str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == "True\n"
            yield process
        finally:
            process.kill()


def test_a_turn_ends_with_the_process_also_when_it_is_killed(file: Path) -> None:
    with held_elsewhere(file) as process:
        taken = threading.Event()

        def take() -> None:
            with Turn(file).taken() as ours:
                assert ours
                taken.set()

        waiting = threading.Thread(target=take)
        waiting.start()
        assert not taken.is_set()
        process.kill()
        assert taken.wait(DEADLINE_S)
        waiting.join()


def test_one_that_hangs_is_waited_for_once_and_not_again_until_it_let_go(file: Path, monkeypatch) -> None:
    monkeypatch.setattr(turn, "WAIT_S", 0.05)
    mine, pauses = Turn(file), []
    sleep = turn.time.sleep
    monkeypatch.setattr(turn.time, "sleep", lambda seconds: (pauses.append(seconds), sleep(seconds)))
    with held_elsewhere(file) as process:
        with mine.taken() as ours:
            assert not ours and pauses
        pauses.clear()
        with mine.taken() as ours:
            assert not ours and not pauses
        process.kill()
        process.wait()
    with mine.taken() as ours:
        assert ours
    with held_elsewhere(file), mine.taken() as ours:
        assert not ours and pauses


def test_who_waits_comes_before_the_one_that_had_the_turn(file: Path) -> None:
    """Else a server with much to read would keep every other one from a single save."""
    order: list[str] = []
    first, second = Turn(file), Turn(file)
    waits = threading.Event()

    def wait() -> None:
        waits.set()
        with second.taken():
            order.append("second")

    waiting = threading.Thread(target=wait)
    with first.taken():
        waiting.start()
        waits.wait(DEADLINE_S)
        while (fd := _try(file.with_suffix(".next"))) is not None:  # until it stands in line
            os.close(fd)
    with first.taken():
        order.append("first")
    waiting.join(DEADLINE_S)
    assert order == ["second", "first"]


def _try(file: Path) -> int | None:
    fd = os.open(file, os.O_RDWR | os.O_CREAT)
    try:
        turn._claim(fd)
    except OSError:
        os.close(fd)
        return None
    return fd


def test_without_a_place_for_locks_there_is_no_turn_to_wait_for(tmp_path: Path) -> None:
    with Turn(tmp_path / "nowhere" / "index.db").taken() as ours:
        assert not ours


def test_a_disk_without_locks_is_not_waited_for(file: Path, monkeypatch) -> None:
    def unsupported(fd: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(turn, "_claim", unsupported)
    with Turn(file).taken() as ours:
        assert not ours


@pytest.mark.skipif(os.name == "nt", reason="modes are of POSIX")
def test_the_locks_are_private_and_an_index_in_memory_has_none(file: Path) -> None:
    with Turn(file).taken():
        pass
    assert {path.name: path.stat().st_mode & 0o777 for path in file.parent.iterdir()} == {
        "index.next": 0o600,
        "index.turn": 0o600,
    }
    index = Index.open(None)
    with index.turn():
        pass
    index.close()
