"""One index file and several servers; files that are damaged, old, full or cannot be."""

import os
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import apsw
import pytest
from _entries import note
from disk_rights import without_root_rights

from notes_mcp.errors import BusyError
from notes_mcp.notes.index import schema, searching
from notes_mcp.notes.index.index import Index, IndexResetError
from notes_mcp.notes.index.query import parse
from notes_mcp.notes.records import Batch

HERE = Path(__file__).parents[1]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "index.db"


def filled(file: Path | None, number: int = 3) -> Index:
    index = Index.open(file)
    index.apply(Batch(tuple(note(f"{n}.md", f"word {n} " + f"filler{n} " * 50) for n in range(number))))
    return index


def server(file: Path, name: str, number: int) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(HERE), str(HERE.parents[1])])
    command = [sys.executable, str(HERE / "index_writer.py"), str(file), name, str(number)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path}
    )


def test_hazard_013_servers_on_one_folder_share_the_index_without_a_fight(file: Path) -> None:
    mine = Index.open(file)
    start = mine.last_seq()
    servers = [server(file, name, 30) for name in ("one", "two")]
    for process in servers:
        assert process.stdout is not None and process.stdout.readline().split() == ["ready", str(mine.file)]
    for process in servers:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    mine.apply(Batch(tuple(note(f"mine/{n}.md", "written by me") for n in range(30))))
    for process in servers:
        out, _ = process.communicate(timeout=60)
        assert (process.returncode, out.strip()) == (0, "done")
    assert mine.count() == 91
    assert mine.search(parse("written")).total == 90
    changes = mine.changes_since(start)
    assert [change.seq for change in changes] == list(range(start + 1, start + 1 + len(changes)))
    assert sum(change.kind == "created" for change in changes) == 91
    mine.close()


def test_servers_that_start_at_once_make_one_index(file: Path) -> None:
    servers = [server(file, name, 3) for name in ("one", "two", "three")]
    outs = [process.communicate("go\n", timeout=60)[0] for process in servers]
    assert [process.returncode for process in servers] == [0, 0, 0]
    assert len({out.splitlines()[0] for out in outs}) == 1
    index = Index.open(file)
    assert index.count() == 10
    index.close()


def test_what_one_server_applied_is_no_change_for_the_next(file: Path) -> None:
    one, two = Index.open(file), Index.open(file)
    batch = Batch((note("a.md", "text"),))
    assert len(one.apply(batch)) == 1
    start = one.last_seq()
    assert two.apply(batch) == []
    assert two.last_seq() == start
    assert two.search(parse("text")).total == 1
    one.close()
    two.close()


def test_a_writer_that_finds_the_file_taken_says_so(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "BUSY_MS", 50)
    index = filled(file)
    other = apsw.Connection(str(index.file))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(BusyError) as told:
        index.apply(Batch((note("x.md", "x"),)))
    assert not isinstance(told.value, IndexResetError)
    assert index.search(parse("word")).total == 3  # reading goes on
    other.execute("ROLLBACK")
    assert len(index.apply(Batch((note("x.md", "x"),)))) == 1
    other.close()
    index.close()


def test_threads_read_while_one_writes(file: Path) -> None:
    index = filled(file, 50)
    stop = threading.Event()
    failures: list[BaseException] = []

    def read() -> None:
        try:
            while not stop.is_set():
                assert index.search(parse("word"), limit=5).total >= 50
                assert len(index.known()) >= 50
                assert index.notes(limit=3).total >= 50
        except BaseException as error:
            failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(6)]
    for reader in readers:
        reader.start()
    for number in range(40):
        index.apply(Batch((note(f"new/{number}.md", "word"),)))
    stop.set()
    for reader in readers:
        reader.join(30)
    assert failures == []
    index.close()


def test_an_index_in_memory_serves_threads_too() -> None:
    index = filled(None)
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(index.search(parse("word")).total)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert found == [3] * 8
    index.close()


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_only_the_owner_can_read_the_index(file: Path) -> None:
    before = os.umask(0)
    try:
        index = filled(file)
        assert {path.stat().st_mode & 0o777 for path in file.parent.iterdir()} == {0o600}
        assert len(list(file.parent.iterdir())) == 3
        assert file.parent.stat().st_mode & 0o777 == 0o700
        index.close()
        assert index.file is not None
        index.file.chmod(0o644)
        Index.open(file).close()
        assert index.file.stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)


def test_an_index_is_found_again(file: Path) -> None:
    filled(file).close()
    again = Index.open(file)
    assert (again.count(), again.in_memory, again.resets) == (3, False, 0)
    again.close()


# -- files that fail ---------------------------------------------------------------------------------


def overwrite(path: Path, start: int = 0) -> None:
    with path.open("r+b") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(start)
        stream.write(b"\x5a" * (size - start))


@pytest.mark.parametrize("kind", ["noise", "header", "middle", "short", "foreign"])
def test_a_damaged_file_is_left_and_a_new_one_made(file: Path, kind: str) -> None:
    index = filled(file, 200)
    last = index.last_seq()
    index.close()
    old = index.file
    assert old is not None
    if kind == "short":
        os.truncate(old, 5_000)
    elif kind == "foreign":
        old.unlink()
        foreign = apsw.Connection(str(old))
        foreign.execute("CREATE TABLE theirs(x)")
        foreign.close()
    else:
        overwrite(old, {"noise": 0, "header": 60, "middle": 4096}[kind])
    again = Index.open(file)
    try:
        count = again.count()
    except IndexResetError:
        count = again.count()
    assert (count, again.in_memory) == (0, False)
    assert again.file is not None and again.file != old
    assert again.last_seq() > last  # other servers remember the last number they saw
    assert len(again.apply(Batch((note("a.md", "word"),)))) == 1
    assert again.search(parse("word")).total == 1
    again.close()


def test_damage_met_while_running_starts_an_empty_index_and_says_so(file: Path) -> None:
    index = filled(file, 300)
    index.close()
    index = Index.open(file)
    other = Index.open(file)
    assert index.count() == other.count() == 300
    assert index.file is not None
    overwrite(index.file, 4096)
    index._readers.get_nowait()[1].close()
    with pytest.raises(IndexResetError):
        index.known()
    assert (index.count(), index.resets, index.in_memory) == (0, 1, False)
    assert index.file.exists()
    index.apply(Batch((note("a.md", "word"),)))
    # The other server meets the same damage and moves over to the same new file: they share again.
    other._readers.get_nowait()[1].close()
    with pytest.raises(IndexResetError):
        other.search(parse("filler7"))
    assert other.file == index.file
    assert other.search(parse("word")).total == 1
    index.close()
    other.close()


def test_damage_met_by_the_writer_too(file: Path) -> None:
    index = filled(file, 300)
    index.close()
    index = Index.open(file)
    assert index.file is not None
    overwrite(index.file, 4096)
    batch = Batch((note("5.md", "new text"),))
    with pytest.raises(IndexResetError):
        index.apply(batch)
    assert index.apply(batch)[0].kind == "created"
    index.close()


def test_a_cache_that_was_wiped_while_running_is_made_again(file: Path) -> None:
    index = filled(file)
    for path in list(file.parent.iterdir()):
        path.unlink()
    file.parent.rmdir()
    with pytest.raises(IndexResetError):  # a further connection finds no file, and must not make an empty one
        index.count()
    assert (index.count(), index.in_memory) == (0, False)
    assert index.file is not None and index.file.exists()
    index.close()


@pytest.mark.parametrize("act", [Index.count, lambda index: index.apply(Batch((note("b.md", "two"),)))])
@pytest.mark.parametrize("by", ["copy", "nothing"])
def test_an_index_file_that_is_replaced_while_running_is_given_up_for_a_new_one(file: Path, by: str, act) -> None:
    index, other = filled(file), Index.open(file)
    assert index.file is not None and other.count() == 3
    copy = index.file.with_name("copy")
    shutil.copy(index.file, copy)
    if by == "copy":
        copy.replace(index.file)
    else:
        index.file.unlink()
    for server in (index, other):
        with pytest.raises(IndexResetError):
            act(server)
        assert (server.count(), server.in_memory) == (0, False)
    assert index.file == other.file
    index.apply(Batch((note("c.md", "shared again"),)))
    assert other.search(parse("again")).total == 1
    index.close()
    other.close()


def test_an_empty_file_in_the_place_of_the_index_becomes_one(file: Path) -> None:
    index = filled(file)
    index.close()
    assert index.file is not None
    index.file.write_bytes(b"")
    again = filled(file, 1)
    assert (again.count(), again.in_memory, again.file) == (1, False, index.file)
    again.close()


@pytest.mark.skipif(os.name == "nt", reason="modes are of POSIX")
def test_an_index_that_was_made_read_only_is_made_ours_again(file: Path) -> None:
    index = filled(file)
    index.close()
    assert index.file is not None
    index.file.chmod(0o400)
    with without_root_rights():
        again = Index.open(file)
        assert (again.in_memory, again.count()) == (False, 3)
        assert len(again.apply(Batch((note("b.md", "two"),)))) == 1
        again.close()


def test_an_older_version_is_left_alone_until_nobody_uses_it(file: Path) -> None:
    file.parent.mkdir(parents=True)
    old = file.parent / "index-v0-0.db"
    unrelated = [file.parent / name for name in ("index.db", "other-v0-0.db", "indexes.txt", "index-vx")]
    for path in (old, *unrelated):
        path.write_text("old")
    index = filled(file)
    assert old.exists()
    index.close()
    past = time.time() - schema.KEEP_OLD_VERSION_SECONDS - 60
    for path in (old, *unrelated):
        os.utime(path, (past, past))
    Index.open(file).close()
    assert not old.exists()
    assert all(path.exists() for path in unrelated[:3])


def test_a_newer_version_starts_its_own_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = filled(file)
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)
    new = Index.open(file)
    assert (new.count(), new.in_memory) == (0, False)
    assert old.count() == 3
    new.close()
    old.close()


def test_a_file_of_our_name_but_another_version_inside_is_not_touched(file: Path) -> None:
    index = filled(file)
    index.close()
    db = apsw.Connection(str(index.file))
    db.execute("PRAGMA user_version=99")
    db.close()
    again = Index.open(file)
    assert (again.count(), again.in_memory) == (0, False)
    assert again.file != index.file
    again.close()


def test_names_with_pattern_characters_are_taken_literally(tmp_path: Path) -> None:
    file = tmp_path / "[x]*" / "in[d]ex?.db" if os.name == "posix" else tmp_path / "[x]" / "in[d]ex.db"
    filled(file).close()
    again = Index.open(file)
    assert again.count() == 3
    again.close()


@pytest.mark.parametrize("place", ["none", "below a file", "no such device", "surrogates"])
def test_without_a_usable_place_the_index_is_in_memory(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("x")
    where = {
        "none": None,
        "below a file": tmp_path / "file" / "index.db",
        "no such device": tmp_path / ("x" * 300) / "index.db",
        "surrogates": tmp_path / "\ud800" / "index.db",
    }[place]
    index = filled(where)
    assert index.in_memory and index.reason and index.file is None
    assert index.search(parse("word")).total == 3
    index.close()


def test_a_full_disk_moves_the_index_into_memory(file: Path) -> None:
    index = filled(file)
    index._store.writer.execute("PRAGMA max_page_count=10")
    big = Batch(tuple(note(f"big/{n}.md", f"word{n} " * 2_000) for n in range(30)))
    with pytest.raises(IndexResetError):
        index.apply(big)
    assert index.in_memory and "full" in index.reason
    assert (index.count(), index.resets) == (0, 1)
    assert len(index.apply(big)) == 30
    index.close()


def test_a_batch_that_fails_leaves_nothing_behind(file: Path) -> None:
    index = filled(file)
    fine = note("x.md", "x")
    broken = replace(fine, etag=None)  # type: ignore[arg-type]
    with pytest.raises(apsw.ConstraintError):
        index.apply(Batch((note("a.md", "y"), broken, note("0.md", "changed"))))
    assert sorted(index.known()) == ["0.md", "1.md", "2.md"]
    assert index.search(parse("changed")).total == 0
    assert (index.resets, len(index.apply(Batch((note("a.md", "y"),))))) == (0, 1)
    index.close()


def test_one_answer_sees_one_state_whatever_is_written_in_between(file: Path, monkeypatch) -> None:
    index = Index.open(file)
    index.apply(Batch((note("a.md", "saved"),)))
    scalar = schema.scalar

    def written_meanwhile(db, sql, values=()):
        index.apply(Batch((note("a.md", "gone", etag="2"),)))
        return scalar(db, sql, values)

    monkeypatch.setattr(searching, "scalar", written_meanwhile)
    assert index.did_you_mean(parse("savedx"), lambda path: "saved") == ("saved",)
    assert index.did_you_mean(parse("savedx"), lambda path: "saved") == ()
    index.close()
