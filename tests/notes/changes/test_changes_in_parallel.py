"""Several servers on one folder: changes of many files, moves and edits at the same time lose nothing."""

import subprocess
import sys
from pathlib import Path

import pytest
from folder_cases import Crash, crash_before, house, opened

from notes_mcp.errors import StaleError
from notes_mcp.notes.changes import steps
from notes_mcp.notes.changes.writing import Writer
from notes_mcp.notes.disk.writelock import WriteLock

DEADLINE_S = 120
ROUNDS = 12

OTHER = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from folder_cases import opened
from notes_mcp.errors import NotFoundError
from notes_mcp.notes.changes.moving import Mover
from notes_mcp.notes.changes.sweeping import Sweeper
from notes_mcp.notes.changes.writing import Writer

home = opened(Path(sys.argv[1]), Path(sys.argv[2]))
what, rounds = sys.argv[3], {ROUNDS}
if what == "moves":
    mover = Mover(home.folder, home.transactions, read_only=False)
    for n in range(rounds):
        old, new = ("d", "e") if n % 2 == 0 else ("e", "d")
        mover.move(old, new, update_links=True, if_match=None, dry_run=False, tool="t")
elif what == "tags":
    sweeper = Sweeper(home.folder, home.transactions, read_only=False)
    for n in range(rounds):
        old, new = (b"#old", b"#new") if n % 2 == 0 else (b"#new", b"#old")
        change = lambda state, data: (data.replace(old, new), 1)
        sweeper.sweep(change, paths=None, tags=[], dry_run=False, tool="t")
else:
    writer = Writer(home.folder, home.transactions, read_only=False)
    for n in range(rounds):
        for path in ("d/c.md", "e/c.md") * 1000:
            try:
                writer.edit(path, lambda state, data: data + f"{{what}} {{n}}\\n".encode(), if_match=None,
                            dry_run=False, tool="t")
                break
            except NotFoundError:
                continue
        else:
            raise SystemExit("never found")
"""


def test_hazard_013_servers_that_move_rename_tags_and_edit_at_once_lose_nothing(tmp_path: Path) -> None:
    files = {"a.md": b"[[d/c]] #old\n", "b.md": b"[c](d/c.md) #old\n", "d/c.md": b"[[a]] #old\n", "d/x.md": b"x #old\n"}
    home = house(tmp_path, files)
    whats = ["moves", "tags", "first", "second"]
    running = [subprocess.Popen([sys.executable, "-c", OTHER, str(home.root), str(home.state), what]) for what in whats]
    assert [process.wait(DEADLINE_S) for process in running] == [0, 0, 0, 0]
    now = home.files()
    lines = now["d/c.md"].decode().splitlines()
    assert lines[0] == "[[a]] #old"
    assert sorted(lines[1:]) == sorted(f"{what} {n}" for what in ("first", "second") for n in range(ROUNDS))
    assert {path: data for path, data in now.items() if path != "d/c.md"} == {
        path: data for path, data in files.items() if path != "d/c.md"
    }
    assert home.journal.pending() == [] and len(home.journal.recent(999)) == 4 * ROUNDS


def test_one_server_puts_right_what_another_left_when_it_was_killed(tmp_path: Path, monkeypatch) -> None:
    dying = house(tmp_path, {"a.md": b"a", "b.md": b"b", "c.md": b"c"})
    living = opened(dying.root, dying.state)
    with monkeypatch.context() as patch, pytest.raises(Crash):
        crash_before(patch, 1)
        dying.apply(steps.put("a.md", b"a", b"1"), steps.put("b.md", b"b", b"2"))
    assert living.files()["a.md"] == b"1"
    edited = Writer(living.folder, living.transactions, read_only=False).edit(
        "a.md", lambda state, data: data + b"!", if_match=None, dry_run=False, tool="t"
    )
    assert edited.before == b"a", "the half-done change was taken back before the note was read"
    assert living.files() == {"a.md": b"a!", "b.md": b"b", "c.md": b"c"}


def test_opening_does_not_wait_long_for_a_server_that_is_writing(tmp_path: Path, caplog) -> None:
    home = house(tmp_path, {"a.md": b"a"})
    change_id = home.journal.begin("t", [steps.put("a.md", b"a", b"1").image])
    with WriteLock(home.root, home.state):
        home.transactions.recover(WriteLock(home.root, home.state, timeout_ms=1))
    assert home.journal.pending() == [change_id] and "left for later" in caplog.text
    home.transactions.recover()
    assert home.journal.pending() == []


def test_hazard_104_a_resent_edit_with_the_same_etag_is_refused(tmp_path: Path) -> None:
    home = house(tmp_path, {"a.md": b"a\n"})
    writer = Writer(home.folder, home.transactions, read_only=False)
    tag = str(home.vault.etag("a.md"))
    for number in range(2):
        try:
            writer.edit("a.md", lambda state, data: data + b"once\n", if_match=tag, dry_run=False, tool="t")
        except StaleError as error:
            assert number == 1 and error.etag == home.vault.etag("a.md")
    assert home.files() == {"a.md": b"a\nonce\n"}
