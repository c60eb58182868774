"""Watches folders and hands on which paths to look at; says nothing about what happened to them.

The only user of watchfiles. Reads no note and knows no index: paths go to one callback, and None
asks for a whole comparison (after arming, after a burst that may have overrun the kernel's queue,
when a folder or its disk went or came back, and on every round where there are no events to be had).
Data: `watchlist` -> awatch -> `Box` (one set per root, merged while the callback is busy) -> callback.
"""

import errno
import logging
import os
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Literal, TypeAlias

import anyio
from anyio import to_thread  # noqa: TID251 - the look at a folder may hang on a dead network drive

from notes_mcp.errors import NoteError
from notes_mcp.notes.disk.box import Box, Paths
from notes_mcp.notes.disk.gate import IGNORE_FILE, Policy, placeholder_for
from notes_mcp.notes.disk.mounts import MountTable, is_remote, may_be_unwatched
from notes_mcp.notes.disk.watchlist import LISTED, Asked, Stop, Watchlist, below, folders_among
from notes_mcp.settings import Settings

Mode: TypeAlias = Literal["events", "polling"]

_ROOT_CHECK_MS = 500  # how often we see whether the folder is still the same one
_SECOND_LOOK_MS = 250  # a new folder is looked into again: files may have come before the kernel watched it
_MOST_WATCHES = 3  # besides the first one, each a thread; beyond, a single one watches all folders anew
_BURST = 2_000  # changes at once, from which on the kernel's queue (16,384) may have overrun
_POLL_SHARE = 20  # polling takes at most one part in 20 of the time
_POLL_MAX_MS = 60_000
_ADDED = 1  # watchfiles.Change.added, without importing it
_NO_PATTERNS = Policy()

_log = logging.getLogger(__name__)


async def watch(
    roots: Sequence[Path],
    on_paths: Callable[[Paths], Awaitable[None]],
    *,
    settings: Settings,
    armed: anyio.Event,
    policy: Callable[[Path], Policy] = lambda root: _NO_PATTERNS,
    on_mode: Callable[[Path, Mode], None] = lambda root, mode: None,
) -> None:
    """Runs until cancelled, and then ends within `watch_step_ms`.

    `roots` are real paths. `on_paths` is awaited, never twice at a time; changes meanwhile are merged into
    its next call; what it raises is logged. `armed` is set once every change from then on will be seen.
    `policy` says which folders of a root are worth a watch, asked anew when its ignore file changes.
    `on_mode` hears for each root whether it is watched by events or by polling, the latter with a warning.
    """
    box = Box()
    waiting = set(roots)

    def arm(root: Path) -> None:
        waiting.discard(root)
        if not waiting:
            armed.set()

    if not roots:
        armed.set()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(box.deliver, on_paths)
        for root in roots:
            tasks.start_soon(_Root(root, box, settings, arm, policy, on_mode).follow)


class _Root:
    """One folder, through its disappearances."""

    def __init__(
        self,
        root: Path,
        box: Box,
        settings: Settings,
        arm: Callable[[Path], None],
        policy: Callable[[Path], Policy],
        on_mode: Callable[[Path, Mode], None],
    ) -> None:
        self._root = root
        self._prefix = str(root).rstrip(os.sep) + os.sep
        self._box = box
        self._settings = settings
        self._arm = arm
        self._policy = policy
        self._on_mode = on_mode
        self._mode: Mode = "events"
        self._denied = False
        self._watched: set[str] = set()

    async def follow(self) -> None:
        self._on_mode(self._root, self._mode)
        while True:
            identity = await self._identity()
            if identity is None:
                self._arm(self._root)  # nothing to miss; its return will be a whole comparison
                await anyio.sleep(self._settings.watch_poll_ms / 1000)
            elif self._mode == "events":
                await self._by_events(identity)
            else:
                self._arm(self._root)
                await self._by_polling(identity)

    async def _identity(self) -> tuple[int, int] | None:
        """Which folder stands at the path now; None for none."""
        try:
            info = await to_thread.run_sync(os.stat, self._root, abandon_on_cancel=True)
        except OSError:
            return None
        return info.st_dev, info.st_ino

    async def _by_events(self, identity: tuple[int, int]) -> None:
        """Until the folder at the path is another one, or events cannot be had, or one watch is to take over."""
        stops: list[Stop] = []
        self._watched = set()
        asked, over = Asked(), anyio.Event()
        try:
            # 50 ms that the loop need not wait
            awatch = (watchfiles := await to_thread.run_sync(import_module, "watchfiles")).awatch
            deleted = watchfiles.Change.deleted, str(self._root)
            folders = await self._listed(str(self._root))
            async with anyio.create_task_group() as tasks:

                async def listen(folders: Sequence[str], stop: Stop) -> None:
                    async for changes in awatch(
                        *folders,
                        watch_filter=None,
                        step=self._settings.watch_step_ms,
                        debounce=self._settings.watch_debounce_ms,
                        stop_event=stop,
                        force_polling=False,
                        recursive=not LISTED,
                        # With True it would also pass over a reached inotify limit, and then tell nothing.
                        ignore_permission_denied=self._denied and not LISTED,
                    ):
                        tasks.start_soon(self._take, changes, asked)
                        # A new folder at the path may even get the same inode; other patterns, other watches.
                        if deleted in changes or (LISTED and self._patterns_in(changes)):
                            over.set()

                async def arm(folders: Sequence[str]) -> None:
                    stops.append(Stop())
                    tasks.start_soon(listen, folders, stops[-1])
                    await stops[-1].looked.wait()
                    self._watched.update(folders)

                tasks.start_soon(self._guard, identity, over, stops)
                if self._denied or await to_thread.run_sync(is_remote, self._root, abandon_on_cancel=True):
                    tasks.start_soon(self._rounds)
                await arm(folders)
                self._box.put(self._root, None)
                self._arm(self._root)
                tasks.start_soon(self._extend, asked, arm, over)
                asked.add([str(self._root)])  # what was made between listing and arming
                await over.wait()
                tasks.cancel_scope.cancel()
        except* FileNotFoundError:
            # A folder went away while we armed; if it is the root, `follow` waits for it.
            await anyio.sleep(self._settings.watch_step_ms / 1000)
        except* PermissionError as errors:
            # One folder that may not be read ends the arming of all that follow it: what events there are
            # stay welcome for their speed, and comparing finds the rest.
            self._degrade(errors.exceptions[0], stay_with_events=not self._denied)
            self._denied = True
        except* Exception as errors:
            # Whatever it is, also a library that does not load here: noticing later is better than not at all.
            self._degrade(errors.exceptions[0])
        self._box.put(self._root, None)

    async def _listed(self, *tops: str) -> list[str]:
        """The folders to watch from these on. Those that cannot be listed are compared in rounds."""
        if not LISTED:
            return list(tops)
        found = await to_thread.run_sync(self._below, tops, abandon_on_cancel=True)
        if str(self._root) in tops and not found.folders:
            os.scandir(self._root).close()  # raises what is the matter with it
        if found.locked and not self._denied:
            self._degrade(
                PermissionError(errno.EACCES, os.strerror(errno.EACCES), found.locked[0]), stay_with_events=True
            )
            self._denied = True
        return found.folders

    def _below(self, tops: Sequence[str]) -> Watchlist:
        try:
            policy = self._policy(self._root)
        except NoteError:
            policy = _NO_PATTERNS  # what the ignore file hides is not known just now

        def visible(path: str) -> bool:
            return policy.visible(self._inside(path), True)

        return below(*filter(visible, tops), visible=visible)

    async def _extend(self, asked: Asked, arm: Callable[[Sequence[str]], Awaitable[None]], over: anyio.Event) -> None:
        """Watches the folders that came, and looks into them once they are watched; ends all watches by `over`
        when they have become too many."""
        for _ in range(_MOST_WATCHES):
            new: set[str] = set()
            while not new:
                tops = await asked.taken()
                new = set(await self._listed(*tops)) - self._watched
            await arm(sorted(new))
            self._box.put(self._root, frozenset(path for path in new if os.path.dirname(path) not in new))
            asked.add(new)  # what was made in them between listing and arming
        await asked.taken()
        over.set()

    def _degrade(self, error: BaseException, *, stay_with_events: bool = False) -> None:
        self._mode = "events" if stay_with_events else "polling"
        _log.warning(
            "%s: no file events for the whole folder (%s); comparing it every %d ms or more instead. "
            "If a limit was reached: on Linux, raise fs.inotify.max_user_watches.",
            self._root,
            error,
            self._settings.watch_poll_ms,
        )
        self._on_mode(self._root, "polling")

    async def _guard(self, identity: tuple[int, int], over: anyio.Event, stops: Sequence[Stop]) -> None:
        """Ends the watches when the folder at the path is another one. Also when cancelled: awatch itself would
        only notice after seconds."""
        try:
            await self._until_other(identity)
            over.set()
            await anyio.sleep_forever()
        finally:
            for stop in stops:
                stop.set()

    async def _until_other(self, identity: tuple[int, int]) -> None:
        table = MountTable()
        try:
            while True:
                await anyio.sleep(_ROOT_CHECK_MS / 1000)
                remounted = table.changed() and await to_thread.run_sync(self._unwatched, abandon_on_cancel=True)
                if remounted or await self._identity() != identity:
                    return
        finally:
            table.close()

    def _unwatched(self) -> bool:
        try:
            return may_be_unwatched(self._root)
        except OSError:
            return True

    async def _by_polling(self, identity: tuple[int, int]) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._rounds)
            await self._until_other(identity)
            tasks.cancel_scope.cancel()
        self._box.put(self._root, None)

    async def _rounds(self) -> None:
        """A whole comparison again and again, the slower the longer one takes."""
        while True:
            began = anyio.current_time()
            await self._box.put(self._root, None).wait()
            took_ms = (anyio.current_time() - began) * 1000
            await anyio.sleep(min(max(self._settings.watch_poll_ms, took_ms * _POLL_SHARE), _POLL_MAX_MS) / 1000)

    async def _take(self, changes: set[tuple[int, str]], asked: Asked) -> None:
        if len(changes) >= _BURST or self._patterns_in(changes):
            self._box.put(self._root, None)
        paths = frozenset(path for _, path in changes if self._matters(path))
        if not paths:
            return
        self._box.put(self._root, paths)
        folders = await to_thread.run_sync(folders_among, paths, abandon_on_cancel=True)
        if LISTED:
            for path in folders.intersection(path for change, path in changes if change == _ADDED):
                # One that was watched may have been moved away, with its watch, and another one come in its place.
                self._watched -= {old for old in self._watched if old == path or old.startswith(path + os.sep)}
            asked.add(folders - self._watched)
        elif folders:
            await anyio.sleep(_SECOND_LOOK_MS / 1000)
            self._box.put(self._root, folders)

    def _patterns_in(self, changes: set[tuple[int, str]]) -> bool:
        return any(path == self._prefix + IGNORE_FILE for _, path in changes)

    def _inside(self, path: str) -> str:
        """An absolute path in the folder, relative to it; "" for the folder itself."""
        return path[len(self._prefix) :].replace(os.sep, "/")

    def _matters(self, path: str) -> bool:
        """Cheap and without the user's own patterns: hidden folders and temp files make most of the noise."""
        if not path.startswith(self._prefix):
            return False  # the folder itself
        folder, slash, name = self._inside(path).rpartition("/")
        return _NO_PATTERNS.visible(f"{folder}{slash}{placeholder_for(name) or name}", False)
