"""Keeps the index of every folder in step with the disk, on the loop: first index, watcher, second looks.

One task a folder walks it whenever that is wanted (at the start, when the watcher or a failure asks for a
comparison, when the index had to start anew) and reads what is stale in portions that let others in. After
each refresh, what is new in the change log is told, whoever wrote it. Nothing that goes wrong ends a task:
it is said, and the folder is compared again later. Does no I/O: `write` runs work in the writer thread.
"""

import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

import anyio
from anyio.abc import TaskGroup

from notes_mcp.errors import NoteError
from notes_mcp.notes.answers import IndexState, Watching
from notes_mcp.notes.disk.box import Paths
from notes_mcp.notes.disk.watcher import Mode, watch
from notes_mcp.notes.folder import Folder
from notes_mcp.notes.opening import Served
from notes_mcp.notes.records import Change, FileState
from notes_mcp.settings import Settings

RETRY_S = 0.25  # after a failure; doubled up to
MAX_RETRY_S = 30.0
T = TypeVar("T")
News = tuple[Sequence[Change], bool]

_log = logging.getLogger(__name__)


class Write(Protocol):
    """Runs work in the writer thread and gives back what it returns."""

    def __call__(self, work: Callable[[], T]) -> Awaitable[T]: ...


class Keeper:
    """`tell(folder, changes, complete)` hears what changed, on the loop; `complete` is false when more may have.

    `armed` is set once every change from then on will be seen; `complete` while the index holds all there is.
    """

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
        self._building: dict[Folder, tuple[int, int | None]] = {
            folder: (folder.held, None) for folder in self._folders.values()
        }
        self._totals: dict[Folder, int] = {}
        self._resets = {folder: folder.index.resets for folder in self._folders.values()}
        self._wanted = {folder: anyio.Event() for folder in self._folders.values()}
        self._compared = {folder: anyio.Event() for folder in self._folders.values()}
        self._said: dict[Folder, str] = {}
        self.armed = anyio.Event()
        self.complete = anyio.Event()

    def start(self, tasks: TaskGroup) -> None:
        """Follow the disk until `tasks` are cancelled."""
        self._tasks = tasks
        tasks.start_soon(self._watch)
        for folder in self._folders.values():
            self._compare(folder)
            tasks.start_soon(self._keep, folder)

    def state(self) -> IndexState:
        """How many files the index holds of how many there are, over all folders; None before they are counted."""
        indexed = total = 0
        counted = True
        for folder in self._folders.values():
            number = self._totals.get(folder, 0)
            done, of = self._building.get(folder, (number, number))
            indexed += done
            total += of or 0
            counted = counted and of is not None
        return IndexState(indexed, total if counted else None, complete=self.complete.is_set())

    def watching(self, root: Path) -> Watching:
        """How changes below `root` are noticed just now."""
        return self._modes.get(root, "off")

    def renew(self) -> None:
        """To be called when an index may have had to start anew: what it lost is read again."""
        for folder in self._folders.values():
            if folder.index.resets == self._resets[folder]:
                continue
            self._resets[folder] = folder.index.resets
            self._building.setdefault(folder, (0, None))
            if self.complete.is_set():
                self.complete = anyio.Event()
            self._compare(folder)

    async def refresh(self, folder: Folder, paths: Iterable[str]) -> None:
        """Look at these paths now. One that is gone is looked for once more a little later, before it counts.

        Should one of them appear that is not there, that is news, also while the first index is built.
        """
        await self._try(folder, partial(_refresh_awaited, folder, tuple(paths)))

    async def announce(self, folder: Folder) -> None:
        """Tell what is new in the change log, after a write of ours."""
        await self._try(folder, partial(_news_and_owed, folder))

    async def _watch(self) -> None:
        pause = RETRY_S
        while True:
            try:
                await watch(
                    list(self._folders),
                    self._look,
                    settings=self._settings,
                    armed=self.armed,
                    policy=lambda root: self._folders[root].vault.policy,
                    on_mode=self._modes.__setitem__,
                )
            except Exception:
                _log.exception("the watcher failed; starting it again")
            self._modes.clear()
            self.armed.set()  # nobody shall wait for it for ever; what is missed is compared once it is back
            await anyio.sleep(pause)
            pause = min(pause * 2, MAX_RETRY_S)

    async def _keep(self, folder: Folder) -> None:
        """Compares the folder with its index each time that is wanted, and until it works."""
        pause = RETRY_S
        while True:
            await self._wanted[folder].wait()
            self._wanted[folder] = anyio.Event()
            compared, self._compared[folder] = self._compared[folder], anyio.Event()
            resets = folder.index.resets
            try:
                await self._survey(folder)
            except Exception as error:
                self._say(folder, error)
                self._wanted[folder].set()
            self.renew()
            compared.set()
            if self._wanted[folder].is_set() and folder in self._said:
                await anyio.sleep(pause)
                pause = min(pause * 2, MAX_RETRY_S)
            elif folder.index.resets == resets:
                pause = RETRY_S
                self._building.pop(folder, None)
                if not self._building:
                    self.complete.set()

    async def _survey(self, folder: Folder) -> None:
        """Walk one folder and bring the index up to date, newest notes first, in portions that let others in."""
        survey = await self._write(folder.survey)
        done = survey.total - len(survey.stale)
        self._totals[folder] = survey.total
        for portion in folder.chunks(survey):
            if folder in self._building:
                self._building[folder] = (done, survey.total)
            await self._take(folder, partial(_refresh, folder, seen=portion, quiet=survey.first))
            done += len(portion)
        if survey.missing:
            # The second look belongs to the comparison: an index that holds what is long gone is not complete.
            await anyio.sleep(self._settings.vanish_ms / 1000)
            await self._take(folder, partial(_refresh, folder, survey.missing, sure=True))
        await self._write(folder.finish)
        if survey.first:
            self._tell(folder, [], False)
        if self._said.pop(folder, None):
            _log.warning("%s: in step with the disk again", folder.name)

    async def _look(self, found: Paths) -> None:
        """What the watcher asks for: absolute paths, or a whole comparison."""
        for root, paths in found.items():
            folder = self._folders[root]
            if paths is not None:
                await self._try(folder, partial(_refresh_absolute, folder, paths))
                continue
            compared = self._compare(folder)
            if folder not in self._building:  # the first index takes long; what changes meanwhile must get through
                await compared.wait()

    async def _look_again(self, folder: Folder, paths: frozenset[str]) -> None:
        """A second look is enough to tell that a file is gone; one that is locked is asked for until it opens."""
        pause = self._settings.vanish_ms / 1000
        while paths:
            await anyio.sleep(pause)
            pause = min(max(pause * 2, RETRY_S), MAX_RETRY_S)
            try:
                paths, news = await self._write(partial(_refresh, folder, paths, sure=True))
                self._announce(folder, news)
            except Exception as error:
                self._fail(folder, error)
                return

    async def _try(self, folder: Folder, work: Callable[[], tuple[frozenset[str], News]]) -> None:
        try:
            await self._take(folder, work)
        except Exception as error:
            self._fail(folder, error)

    async def _take(self, folder: Folder, work: Callable[[], tuple[frozenset[str], News]]) -> None:
        again, news = await self._write(work)
        if again:
            self._tasks.start_soon(self._look_again, folder, again)
        self._announce(folder, news)

    def _announce(self, folder: Folder, news: News) -> None:
        changes, complete = news
        if changes:
            self._tell(folder, changes, complete)

    def _compare(self, folder: Folder) -> anyio.Event:
        """Have the folder compared with its index; the event is set when that is done, or failed."""
        self._wanted[folder].set()
        return self._compared[folder]

    def _fail(self, folder: Folder, error: Exception) -> None:
        """What could not be taken in now is found by a comparison."""
        self._say(folder, error)
        self.renew()
        self._compare(folder)

    def _say(self, folder: Folder, error: Exception) -> None:
        """Once for each failure that is not the same as the last."""
        said = f"{type(error).__name__}: {error}"
        if self._said.get(folder) != said:
            self._said[folder] = said
            _log.warning("%s: %s", folder.name, error, exc_info=None if isinstance(error, NoteError) else error)


def _refresh(
    folder: Folder,
    paths: Iterable[str] = (),
    *,
    seen: Iterable[FileState] = (),
    sure: bool = False,
    quiet: bool = False,
) -> tuple[frozenset[str], News]:
    """One hop to the writer thread for both."""
    return folder.refresh(paths, seen=seen, sure=sure, quiet=quiet), folder.news()


def _refresh_absolute(folder: Folder, paths: Iterable[str]) -> tuple[frozenset[str], News]:
    return _refresh(folder, folder.relative(paths))


def _refresh_awaited(folder: Folder, paths: Sequence[str]) -> tuple[frozenset[str], News]:
    found = _refresh(folder, paths, quiet=True)
    folder.await_news(paths)
    return found


def _news_and_owed(folder: Folder) -> tuple[frozenset[str], News]:
    return folder.owed(), folder.news()
