"""Writes of ours: under the lock, on the bytes as they are, told in full or not at all; between processes too."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from _served import DEADLINE_S, brought_up, fill, folder_of, serving

from notes_mcp.errors import (
    BusyError,
    ExistsError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    ReadOnlyError,
    StaleError,
    TooLargeError,
)
from notes_mcp.notes.changes.journal import Journal
from notes_mcp.notes.changes.transaction import Transactions
from notes_mcp.notes.changes.writing import ATTEMPTS, Writer
from notes_mcp.notes.disk.writelock import WriteLock
from notes_mcp.notes.folder import Folder
from notes_mcp.notes.index.index import IndexResetError
from notes_mcp.notes.records import FileState
from notes_mcp.notes.text import etag


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return fill(tmp_path / "notes", {"a.md": "one\n", "sub/b.md": "[[a]]\n", "p.png": b"\x89" * 200})


@pytest.fixture
def folder(root: Path) -> Folder:
    return brought_up(folder_of(root, max_note_bytes=100))


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "state" / "journal")


def writer_of(folder: Folder, journal: Journal | None, tmp_path: Path, *, read_only: bool = False) -> Writer:
    lock = WriteLock(folder.vault.root, tmp_path / "locks")
    return Writer(folder, Transactions(folder, journal, lock), read_only=read_only)


@pytest.fixture
def writer(folder: Folder, journal: Journal, tmp_path: Path) -> Writer:
    return writer_of(folder, journal, tmp_path)


def more(text: bytes):
    return lambda state, data: data + text


def edit(writer: Writer, path: str, transform, *, if_match=None, dry_run=False, start=None):
    return writer.edit(path, transform, if_match=if_match, dry_run=dry_run, tool="t", start=start)


def delete(writer: Writer, path: str, *, permanent=False, if_match=None, dry_run=False):
    return writer.delete(path, permanent=permanent, if_match=if_match, dry_run=dry_run, tool="t")


def kinds(folder: Folder) -> list[tuple[str, str]]:
    return [(change.kind, change.path) for change in folder.news()[0]]


def test_a_write_is_on_disk_in_the_journal_and_in_the_index(
    writer: Writer, folder: Folder, journal: Journal, root: Path
) -> None:
    made = writer.create("new/c.md", b"see\n", dry_run=False, tool="create_note")
    assert (root / "new/c.md").read_bytes() == b"see\n" and made.before is None and made.changed
    done = edit(writer, "a.md", more(b"two\n"))
    assert (done.before, done.after) == (b"one\n", b"one\ntwo\n")
    gone = delete(writer, "sub/b.md")
    assert gone.moved_to == ".trash/sub/b.md" and (root / ".trash/sub/b.md").is_file()
    assert kinds(folder) == [("created", "new/c.md"), ("updated", "a.md"), ("deleted", "sub/b.md")]
    assert [change.change_id for change in journal.recent(9)] == [gone.change_id, done.change_id, made.change_id]
    assert journal.pending() == []


@pytest.mark.parametrize("what", ["a.md", "sub", "A.md" if sys.platform in ("win32", "darwin") else "a.md"])
def test_hazard_140_create_never_overwrites_and_says_so_before_too(writer: Writer, root: Path, what: str) -> None:
    for dry_run in (True, False):
        with pytest.raises(ExistsError):
            writer.create(what, b"x", dry_run=dry_run, tool="t")
    assert (root / "a.md").read_bytes() == b"one\n"


def test_dry_runs_write_nothing_anywhere(writer: Writer, folder: Folder, journal: Journal, root: Path) -> None:
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    made = writer.create("new.md", b"x", dry_run=True, tool="t")
    done = edit(writer, "a.md", more(b"two"), dry_run=True)
    started = edit(writer, "daily.md", more(b"two"), dry_run=True, start=b"# D\n")
    gone = delete(writer, "sub/b.md", dry_run=True)
    for_good = delete(writer, "sub/b.md", dry_run=True, permanent=True)
    assert (made.after, done.after, started.after) == (b"x", b"one\ntwo", b"# D\ntwo")
    assert gone.moved_to == ".trash/sub/b.md" and for_good.moved_to is None
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
    assert kinds(folder) == [] and journal.recent(9) == [] and journal.pending() == []


def test_a_dry_run_says_where_the_note_would_really_lie_in_the_trash(writer: Writer, root: Path) -> None:
    fill(root, {".trash/sub/b.md": "older\n"})
    said = delete(writer, "sub/b.md", dry_run=True).moved_to
    assert said == ".trash/sub/b 2.md" == delete(writer, "sub/b.md").moved_to
    fill(root, {"x/c.md": "c\n", ".trash/x": "a file in the way\n"})
    said = delete(writer, "x/c.md", dry_run=True).moved_to
    assert said == ".trash/c.md" == delete(writer, "x/c.md").moved_to


def test_an_edit_that_changes_no_byte_writes_nothing(writer: Writer, journal: Journal, root: Path) -> None:
    before = (root / "a.md").stat().st_mtime_ns
    done = edit(writer, "a.md", lambda state, data: data)
    assert not done.changed and done.change_id is None
    assert (root / "a.md").stat().st_mtime_ns == before and journal.recent(9) == []


def test_hazard_104_a_stale_etag_refuses_and_names_the_current_one(writer: Writer, root: Path) -> None:
    held = etag(b"one\n")
    edit(writer, "a.md", more(b"two\n"), if_match=held)
    with pytest.raises(StaleError) as refused:
        edit(writer, "a.md", more(b"two\n"), if_match=held)
    assert refused.value.etag == etag(b"one\ntwo\n") and (root / "a.md").read_bytes() == b"one\ntwo\n"
    with pytest.raises(StaleError):
        delete(writer, "a.md", if_match=held)
    (root / "a.md").unlink()
    with pytest.raises(StaleError) as refused:
        edit(writer, "a.md", more(b"x"), if_match=held)
    assert refused.value.etag is None
    with pytest.raises(NotFoundError):
        edit(writer, "a.md", more(b"x"))


def test_an_editor_that_saves_in_between_keeps_its_words(writer: Writer, root: Path) -> None:
    saves = [b"saved by an editor\n", b"saved again\n"]

    def transform(state: FileState, data: bytes) -> bytes:
        if saves:
            (root / "a.md").write_bytes(saves.pop(0))
        return data + b"ours\n"

    done = edit(writer, "a.md", transform)
    assert (root / "a.md").read_bytes() == b"saved again\nours\n" == done.after


def test_a_note_that_never_stands_still_is_busy(writer: Writer, journal: Journal, root: Path) -> None:
    rounds = []

    def transform(state: FileState, data: bytes) -> bytes:
        rounds.append(data)
        (root / "a.md").write_bytes(b"x" * len(rounds))
        return data + b"ours\n"

    with pytest.raises(BusyError):
        edit(writer, "a.md", transform)
    assert len(rounds) == ATTEMPTS and journal.recent(9) == [] and journal.pending() == []


def test_a_note_made_by_somebody_else_at_the_same_moment_is_added_to(writer: Writer, root: Path) -> None:
    made = [b"theirs\n"]

    def transform(state: FileState, data: bytes) -> bytes:
        if made:
            (root / "daily.md").write_bytes(made.pop())
        return data + b"ours\n"

    done = edit(writer, "daily.md", transform, start=b"# Day\n")
    assert done.after == b"theirs\nours\n" == (root / "daily.md").read_bytes()


def test_a_start_whose_name_is_taken_by_a_folder_says_so(writer: Writer, root: Path, monkeypatch) -> None:
    def taken(path: str, data: bytes, **how):
        raise ExistsError("taken", "Daily.md")

    monkeypatch.setattr(writer._vault, "create", taken)
    with pytest.raises(ExistsError):
        edit(writer, "daily.md", more(b"x"), start=b"")


def test_what_a_transform_raises_leaves_everything_as_it_was(writer: Writer, journal: Journal, root: Path) -> None:
    def refusing(state: FileState, data: bytes) -> bytes:
        raise InvalidRequestError("no such section")

    with pytest.raises(InvalidRequestError):
        edit(writer, "a.md", refusing)
    edit(writer, "a.md", more(b"two\n"))  # the lock is free again
    assert (root / "a.md").read_bytes() == b"one\ntwo\n" and len(journal.recent(9)) == 1


def test_a_failed_write_leaves_no_record(writer: Writer, journal: Journal, monkeypatch) -> None:
    def failing(path: str, data: bytes, **how):
        raise BusyError("in use")

    monkeypatch.setattr(writer._vault, "replace", failing)
    with pytest.raises(BusyError):
        edit(writer, "a.md", more(b"x"))
    assert journal.recent(9) == [] and journal.pending() == []


def test_a_journal_that_fails_does_not_block_the_write(
    folder: Folder, tmp_path: Path, root: Path, monkeypatch, caplog
) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_bytes(b"a file where the journal should be")
    writer = writer_of(folder, Journal(blocked / "journal"), tmp_path)
    assert edit(writer, "a.md", more(b"two\n")).change_id is None
    assert (root / "a.md").read_bytes() == b"one\ntwo\n" and "cannot be undone" in caplog.text
    assert writer_of(folder, None, tmp_path).create("n.md", b"", dry_run=False, tool="t").change_id is None


def test_a_journal_that_cannot_be_closed_does_not_make_the_write_fail(
    writer: Writer, journal: Journal, root: Path, monkeypatch, caplog
) -> None:
    def failing(change_id: str) -> None:
        raise OSError("full")

    monkeypatch.setattr(journal, "commit", failing)
    assert edit(writer, "a.md", more(b"two\n")).change_id
    assert "brought up to date" in caplog.text


@pytest.mark.parametrize("error", [BusyError("index"), IndexResetError("anew"), RuntimeError("bug")])
def test_hazard_029_a_write_that_happened_is_never_told_as_failed(
    writer: Writer, folder: Folder, root: Path, monkeypatch, error: Exception
) -> None:
    def failing(paths, **how):
        raise error

    monkeypatch.setattr(folder, "refresh", failing)
    assert edit(writer, "a.md", more(b"two\n")).changed
    assert delete(writer, "sub/b.md").moved_to
    assert folder.owed() == {"a.md", "sub/b.md"}


def test_a_large_attachment_goes_to_the_trash_and_its_bytes_not_to_the_journal(
    writer: Writer, journal: Journal, root: Path
) -> None:
    with pytest.raises(TooLargeError):
        delete(writer, "p.png", if_match="0" * 16)
    assert delete(writer, "p.png", dry_run=True).moved_to == ".trash/p.png"
    gone = delete(writer, "p.png")
    assert (root / ".trash/p.png").is_file() and journal.get(str(gone.change_id)).images[0].before is None
    fill(root, {"big.md": "x" * 200})
    with pytest.raises(TooLargeError):
        delete(writer, "big.md")


def test_permanent_means_off_the_disk(writer: Writer, root: Path) -> None:
    assert delete(writer, "a.md", permanent=True).moved_to is None
    assert not (root / "a.md").exists() and not (root / ".trash").exists()


def test_a_read_only_server_writes_nothing(folder: Folder, journal: Journal, tmp_path: Path) -> None:
    writer = writer_of(folder, journal, tmp_path, read_only=True)
    with pytest.raises(ReadOnlyError):
        writer.create("n.md", b"", dry_run=True, tool="t")
    with pytest.raises(ReadOnlyError):
        edit(writer, "a.md", more(b"x"), dry_run=True)
    with pytest.raises(ReadOnlyError):
        delete(writer, "a.md", dry_run=True)


def test_the_gate_holds_for_writes(writer: Writer) -> None:
    for path in ("../x.md", ".obsidian/x.md", "/etc/x.md"):
        with pytest.raises(ForbiddenError):
            writer.create(path, b"", dry_run=False, tool="t")


APPENDING = """
import asyncio, sys
from pathlib import Path
from notes_mcp.notes.library import Library
from notes_mcp.settings import Settings

async def main(root, cache, state, who):
    library = Library(Settings(folders=(Path(root),), cache_dir=Path(cache), state_dir=Path(state)))
    running = asyncio.create_task(library.run())
    def add(number):
        return library.edit("log.md", lambda document: document.data + f"{who}{number}\\n".encode(), tool="t")
    await asyncio.gather(*map(add, range(20)))
    await library.close()
    await running

asyncio.run(main(*sys.argv[1:]))
"""


def test_hazard_136_two_processes_append_to_one_note_and_every_line_survives(root: Path, tmp_path: Path) -> None:
    fill(root, {"log.md": ""})
    started = [
        subprocess.Popen([sys.executable, "-c", APPENDING, root, tmp_path / f"cache{other}", tmp_path / "state", who])
        for who, other in (("a", 0), ("b", 1))
    ]
    assert [process.wait(DEADLINE_S * 2) for process in started] == [0, 0]
    lines = (root / "log.md").read_text("utf-8").split()
    assert sorted(lines) == sorted(f"{who}{number}" for who in "ab" for number in range(20))


async def test_hazard_134_parallel_calls_of_one_server_lose_nothing(root: Path, tmp_path: Path) -> None:
    async with serving(tmp_path, root) as (library, _):

        def add(number: int):
            return library.edit("a.md", lambda document: document.data + b"%d\n" % number, tool="t")

        written = await asyncio.gather(*map(add, range(20)))
        assert len({one.change_id for one in written}) == 20
        assert sorted((root / "a.md").read_text("utf-8").split()[1:], key=int) == [str(n) for n in range(20)]


@pytest.mark.parametrize("how", ["scope", "task"])
async def test_a_caller_that_is_cancelled_while_the_text_is_made_leaves_no_write_and_the_next_goes_on(
    root: Path, tmp_path: Path, monkeypatch, how: str
) -> None:
    import anyio

    async with serving(tmp_path, root) as (library, heard):
        loop, inside, let_go = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()

        def transform(document) -> bytes:
            loop.call_soon_threadsafe(inside.set)
            asyncio.run_coroutine_threadsafe(let_go.wait(), loop).result(DEADLINE_S)
            return document.data + b"two\n"

        scope = anyio.CancelScope()

        async def call() -> None:
            with scope:
                await library.edit("a.md", transform, tool="t")

        task = asyncio.create_task(call())
        await inside.wait()
        if how == "scope":
            scope.cancel()
        else:
            task.cancel()
        await asyncio.wait([task])
        second = asyncio.create_task(library.edit("a.md", lambda document: document.data + b"three\n", tool="t"))
        let_go.set()
        await second
        await heard.until(lambda _: heard.kinds() == [("updated", "a.md")])
        assert (root / "a.md").read_bytes() == b"one\nthree\n"


async def test_a_write_that_fails_after_its_caller_left_disturbs_nobody(root: Path, tmp_path: Path) -> None:
    async with serving(tmp_path, root) as (library, _):
        loop, inside, let_go = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()

        def transform(document) -> bytes:
            loop.call_soon_threadsafe(inside.set)
            asyncio.run_coroutine_threadsafe(let_go.wait(), loop).result(DEADLINE_S)
            raise InvalidRequestError("no")

        task = asyncio.create_task(library.edit("a.md", transform, tool="t"))
        await inside.wait()
        task.cancel()
        await asyncio.wait([task])
        let_go.set()


async def test_closing_waits_for_the_write_under_way(root: Path, tmp_path: Path) -> None:
    async with serving(tmp_path, root) as (library, heard):
        loop, inside, let_go = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()

        def transform(document) -> bytes:
            loop.call_soon_threadsafe(inside.set)
            asyncio.run_coroutine_threadsafe(let_go.wait(), loop).result(DEADLINE_S)
            return document.data + b"two\n"

        task = asyncio.create_task(library.edit("a.md", transform, tool="t"))
        await inside.wait()
        closing = asyncio.create_task(library.close())
        await asyncio.sleep(0)
        let_go.set()
        await closing
        assert (await task).changed
        assert heard.kinds() == [("updated", "a.md")]


async def test_what_the_index_could_not_take_in_at_once_is_made_good(root: Path, tmp_path: Path, monkeypatch) -> None:
    async with serving(tmp_path, root) as (library, heard):
        refresh, left = Folder.refresh, [BusyError("busy")]

        def failing(folder: Folder, paths=(), **how):
            if left:
                raise left.pop()
            return refresh(folder, paths, **how)

        monkeypatch.setattr(Folder, "refresh", failing)
        monkeypatch.setattr("notes_mcp.notes.keeping.watch", None)
        assert (await library.edit("a.md", lambda document: b"zebra\n", tool="t")).changed
        await heard.until(lambda _: heard.kinds() == [("updated", "a.md")])
        assert (await library.search("zebra")).total == 1
