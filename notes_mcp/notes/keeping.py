"""Keeps the index of every folder in step with the disk, on the loop: first index, watcher, second looks.

Arms the watcher, walks each folder and reads what is stale in portions that let others in, then follows
the watcher. After each refresh, what the change log holds that is new is told, whoever wrote it. Does no
I/O itself: `write` runs work in the writer thread.
"""

import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

import anyio

from notes_mcp.errors import NoteError
from notes_mcp.notes.answers import IndexState, Watching
from notes_mcp.notes.folder import Folder
from notes_mcp.notes.opening import Served
from notes_mcp.notes.records import Change
from notes_mcp.notes.watcher import Mode, Paths, watch
from notes_mcp.settings import Settings

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Write(Protocol):
    """Runs work in the writer thread and gives back what it returns."""

    def __call__(self, work: Callable[[], T]) -> Awaitable[T]: ...


class Keeper:
    """`tell(folder, changes, complete)` hears what changed, on the loop; `complete` is false when more may have."""

    def __init__(
        self,
        served: Sequence[Served],
        write: Write,
        tell: Callable[[Folder, Sequence[Change], bool], None],
        settings: Settings,
    ) -> None:
        self._folders = {each.root: each.folder for each in served}
        self._write = write
        self._tell = tell
        self._settings = settings
        self._modes: dict[Path, Mode] = {}
        self._building: dict[str, tuple[int, int]] = {each.folder.name: (0, 0) for each in served}
        self._totals: dict[str, int] = {}
        self.armed = anyio.Event()
        self.complete = anyio.Event()

    async def run(self) -> None:
        """Until cancelled."""
        async with anyio.create_task_group() as self._tasks:
            self._tasks.start_soon(
                partial(
                    watch,
                    list(self._folders),
                    self._look,
                    settings=self._settings,
                    armed=self.armed,
                    on_mode=self._modes.__setitem__,
                )
            )
            for folder in self._folders.values():
                await self._survey(folder)
                self._building.pop(folder.name, None)
            self.complete.set()

    def state(self) -> IndexState:
        """How many files the index holds of how many there are, over all folders."""
        indexed = sum(done for done, _ in self._building.values())
        total = sum(count for _, count in self._building.values())
        steady = sum(count for name, count in self._totals.items() if name not in self._building)
        return IndexState(indexed + steady, total + steady, complete=self.complete.is_set())

    def watching(self, root: Path) -> Watching:
        """How changes below `root` are noticed just now."""
        return self._modes.get(root, "off")

    async def refresh(self, folder: Folder, paths: Iterable[str], *, quiet: bool = False) -> None:
        """Look at these paths now. One that is gone is looked for once more a little later, before it counts."""
        suspects, changes = await self._write(partial(_refresh, folder, paths, sure=False, quiet=quiet))
        self._announce(folder, changes)
        if suspects:
            self._tasks.start_soon(self._look_again, folder, suspects)

    async def announce(self, folder: Folder) -> None:
        """Tell what is new in the change log, after a write of ours."""
        self._announce(folder, await self._write(folder.news))

    async def _survey(self, folder: Folder) -> None:
        """Walk one folder and bring the index up to date, newest notes first, in portions that let others in."""
        try:
            survey = await self._write(folder.survey)
        except NoteError as error:
            _log.warning("%s", error)
            return
        done = survey.total - len(survey.stale)
        self._totals[folder.name] = survey.total
        for portion in folder.chunks(survey):
            if folder.name in self._building:
                self._building[folder.name] = (done, survey.total)
            await self.refresh(folder, portion, quiet=survey.first)
            done += len(portion)
        if survey.missing:
            await self.refresh(folder, survey.missing)
        if survey.first and survey.stale:
            self._tell(folder, [], False)

    async def _look(self, found: Paths) -> None:
        """What the watcher asks for: absolute paths, or a whole comparison."""
        for root, paths in found.items():
            folder = self._folders[root]
            if paths is not None:
                await self.refresh(folder, await self._write(partial(folder.relative, paths)))
            elif self.complete.is_set():
                await self._survey(folder)
            else:
                # Armed before the first walk is through: what it has passed already is compared after it.
                self._tasks.start_soon(self._survey_later, folder)

    async def _survey_later(self, folder: Folder) -> None:
        await self.complete.wait()
        await self._survey(folder)

    async def _look_again(self, folder: Folder, suspects: frozenset[str]) -> None:
        await anyio.sleep(self._settings.vanish_ms / 1000)
        _, changes = await self._write(partial(_refresh, folder, suspects, sure=True, quiet=False))
        self._announce(folder, changes)

    def _announce(self, folder: Folder, changes: Sequence[Change]) -> None:
        if changes:
            self._tell(folder, changes, True)


def _refresh(
    folder: Folder, paths: Iterable[str], *, sure: bool, quiet: bool
) -> tuple[frozenset[str], Sequence[Change]]:
    """One hop to the writer thread for both."""
    return folder.refresh(paths, sure=sure, quiet=quiet), folder.news()
