"""A folder on disk under a `Folder`, and a whole library that follows folders, for the tests that need one."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from notes_mcp.notes.disk.vault import Vault
from notes_mcp.notes.folder import Folder
from notes_mcp.notes.index.index import Index
from notes_mcp.notes.library import Library
from notes_mcp.notes.records import Change
from notes_mcp.settings import Settings

DEADLINE_S = 30


def fill(root: Path, notes: Mapping[str, str | bytes]) -> Path:
    for path, text in notes.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


def folder_of(
    root: Path, *, name: str = "notes", ignore: Sequence[str] = (), max_note_bytes: int = 1_000_000
) -> Folder:
    root.mkdir(exist_ok=True)
    return Folder(name, Vault(root, ignore=ignore, max_note_bytes=max_note_bytes), Index.open(None))


def brought_up(folder: Folder) -> Folder:
    """Everything on disk taken in, as the keeper does it at the start."""
    survey = folder.survey()
    for portion in folder.chunks(survey):
        folder.refresh(seen=portion, quiet=survey.first)
    folder.refresh(survey.missing, sure=True)
    folder.finish()
    folder.news()
    return folder


class Heard:
    """What a library tells, and a way to wait for it."""

    def __init__(self, library: Library) -> None:
        self.changes: list[Change] = []
        self.incomplete = 0
        self._more = anyio.Event()
        library.on_change(self._take)

    def _take(self, changes: Sequence[Change], complete: bool) -> None:
        self.changes += changes
        self.incomplete += not complete
        self._more.set()
        self._more = anyio.Event()

    async def until(self, seen: Callable[[list[Change]], object]) -> list[Change]:
        """All changes so far, once they are `seen`."""
        with anyio.fail_after(DEADLINE_S):
            while not seen(self.changes):
                await self._more.wait()
        return self.changes

    def kinds(self) -> list[tuple[str, str]]:
        return [(change.kind, change.path) for change in self.changes]


@asynccontextmanager
async def serving(
    tmp_path: Path, *roots: Path, settled: bool = True, **settings: object
) -> AsyncIterator[tuple[Library, Heard]]:
    """A library over these folders that runs, completely indexed if `settled`."""
    usual = {"cache_dir": tmp_path / "cache", "state_dir": tmp_path / "state", "vanish_ms": 20, "watch_debounce_ms": 50}
    made = Settings(folders=roots, **{**usual, **settings})  # type: ignore[arg-type]
    library = Library(made)
    heard = Heard(library)
    running = asyncio.create_task(library.run())
    try:
        if settled:
            with anyio.fail_after(DEADLINE_S):
                while not (await library.settle()).complete:
                    pass
        yield library, heard
    finally:
        with anyio.fail_after(DEADLINE_S):
            await library.close()
            await asyncio.wait([running])
    await running
