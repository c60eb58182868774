"""The life of a library: opening, failing to open, closing, and what may be asked at each of these times."""

import asyncio
import threading
from collections.abc import Awaitable
from pathlib import Path

import anyio
import pytest
from _served import DEADLINE_S, fill, serving

from notes_mcp.errors import NotFoundError, StorageError
from notes_mcp.notes import opening
from notes_mcp.notes.library import Library
from notes_mcp.notes.workers import Workers
from notes_mcp.settings import Settings


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return fill(tmp_path / "notes", {"a.md": "alpha\n", "b.md": "beta\n"})


async def test_what_is_asked_before_the_folders_are_open_is_answered_then(root: Path, tmp_path: Path) -> None:
    async with serving(tmp_path, root, settled=False, index_wait_ms=DEADLINE_S * 1000) as (library, _):
        async with anyio.create_task_group() as tasks:
            for ask in (library.state, library.settle, library.info, library.list_notes):
                tasks.start_soon(ask)
            tasks.start_soon(library.read, "a.md")
            tasks.start_soon(library.watch, ["notes:///a.md"])
            tasks.start_soon(library.search, "alpha")
            tasks.start_soon(library.names, "paths", "a", 5)
            tasks.start_soon(lambda: library.create("c.md", "", tool="t"))
        assert (await library.list_notes()).total == 3


async def test_a_folder_that_is_not_there_fails_every_question_and_the_run(tmp_path: Path) -> None:
    library = Library(Settings(folders=(tmp_path / "nowhere",), cache_dir=tmp_path / "cache"))
    waiting = asyncio.create_task(library.read("a.md"))
    with pytest.raises(StorageError):
        await library.run()
    for ask in (waiting, library.info(), library.watch([])):
        with pytest.raises(StorageError):
            await ask
    with anyio.fail_after(DEADLINE_S):
        await library.close()


async def test_a_run_that_is_cancelled_while_opening_fails_those_who_wait(
    root: Path, tmp_path: Path, monkeypatch
) -> None:
    inside, let_go = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def slow(settings: Settings):
        loop.call_soon_threadsafe(inside.set)
        assert let_go.wait(DEADLINE_S)
        return []

    monkeypatch.setattr(opening, "open_all", slow)
    library = Library(Settings(folders=(root,), cache_dir=tmp_path / "cache"))
    running = asyncio.create_task(library.run())
    waiting = asyncio.create_task(library.read("a.md"))
    await inside.wait()
    running.cancel()
    let_go.set()
    await asyncio.wait([running, waiting])
    assert running.cancelled()
    with pytest.raises(RuntimeError):
        await waiting
    await library.close()


async def test_a_run_that_is_cancelled_closes_the_index_all_the_same(root: Path, tmp_path: Path) -> None:
    library = Library(Settings(folders=(root,), cache_dir=tmp_path / "cache"))
    running = asyncio.create_task(library.run())
    await library.settle()
    (folder,) = library._shelf
    running.cancel()
    with anyio.fail_after(DEADLINE_S):
        await asyncio.wait([running])
        await library.close()
    assert folder.index._closed


async def test_an_index_that_becomes_whole_while_a_note_is_looked_for_is_asked_again(
    root: Path, tmp_path: Path
) -> None:
    looked, let_go = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()
    async with serving(tmp_path, root, settled=False, index_wait_ms=DEADLINE_S * 1000) as (library, _):
        await library.settle()
        library._keeper.complete = anyio.Event()
        resolve, asked = library._answers.resolve, []

        def too_early(ref: str, *, for_write: bool) -> str:
            asked.append(ref)
            if len(asked) == 1:
                loop.call_soon_threadsafe(looked.set)
                assert let_go.wait(DEADLINE_S)
                raise NotFoundError(ref)
            return resolve(ref, for_write=for_write)

        library._answers.resolve = too_early  # type: ignore[method-assign]
        async with anyio.create_task_group() as tasks:
            found = []
            tasks.start_soon(lambda: _into(found, library.resolve("a")))
            await looked.wait()
            library._keeper.complete.set()
            let_go.set()
        assert found == ["a.md"]


async def _into(found: list[str], asked: Awaitable[str]) -> None:
    found.append(await asked)


async def test_an_index_that_is_there_needs_no_waiting(root: Path, tmp_path: Path) -> None:
    async with serving(tmp_path, root) as (library, _):
        state = await library.settle()
        assert state.complete and state == await library.state()


def test_any_uri_that_can_be_ours_has_one_form(root: Path, tmp_path: Path) -> None:
    library = Library(Settings(folders=(root,)))
    assert library.uri("笔记 1.md") == "notes:///%E7%AC%94%E8%AE%B0%201.md"
    for uri in ("notes:///a%20b.md", "file://notes/a b.md", f"file://{root}/a%20b.md"):
        assert library.canonical(uri) == "notes:///a%20b.md"
    for uri in ("https://x/a.md", "file:///etc/passwd", f"file://{root}/../x", "a.md"):
        assert library.canonical(uri) is None
    several = Library(Settings(folders=(root, tmp_path / "other")))
    assert several.canonical(f"file://{tmp_path}/other/a.md") == "notes:///other/a.md"


async def test_writes_come_one_at_a_time_and_reads_beside_them() -> None:
    workers = Workers()
    at_once, most, lock = 0, 0, threading.Lock()
    writing, let_go = threading.Event(), threading.Event()

    def write() -> None:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        writing.set()
        assert let_go.wait(DEADLINE_S)
        with lock:
            at_once -= 1

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(workers.write, write)
        assert await workers.read(lambda: writing.wait(DEADLINE_S))
        let_go.set()
    assert most == 1
    await workers.drained()
