"""What the tests of the watcher share: a listener that waits for what it wants to hear, with a deadline."""

import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import anyio

from notes_mcp.notes.disk.box import Paths
from notes_mcp.notes.disk.gate import Policy
from notes_mcp.notes.disk.watcher import watch
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
async def watching(
    *roots: Path, policy: Callable[[Path], Policy] = lambda root: Policy(), **settings: int
) -> AsyncIterator[Heard]:
    heard = Heard()
    async with anyio.create_task_group() as tasks:

        async def run() -> None:
            await watch(
                roots,
                heard,
                settings=Settings(folders=roots, **settings),
                armed=heard.armed,
                policy=policy,
                on_mode=lambda root, mode: heard.modes.append((root, mode)),
            )

        tasks.start_soon(run)
        with anyio.fail_after(DEADLINE_S):
            await heard.armed.wait()
        await heard.until(lambda: heard.comparisons() >= len(roots))
        heard.forget()
        yield heard
        tasks.cancel_scope.cancel()
