"""The real library over folders on disk, for tests of tools. Ended within a deadline."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from notes_mcp.notes.library import Library
from notes_mcp.settings import Settings

DEADLINE_S = 30


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """The files in `folder`, which is made; text as UTF-8."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


@asynccontextmanager
async def serving(home: Path, *folders: Path) -> AsyncIterator[Library]:
    """A library that has indexed the folders; what it keeps beside them is in `home`."""
    library = Library(Settings(folders=folders, cache_dir=home / "cache", state_dir=home / "state"))
    # A task of its own: fixtures are set up and torn down in different tasks, where no task group may span.
    running = asyncio.create_task(library.run())
    with anyio.fail_after(DEADLINE_S):
        while not (await library.settle()).complete:
            pass
    yield library
    with anyio.fail_after(DEADLINE_S):
        await library.close()
        await running
