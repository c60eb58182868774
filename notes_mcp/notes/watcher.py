"""Watches folders and hands on which paths to look at; says nothing about what happened to them.

The only user of watchfiles. Reads no note and knows no index: paths go to one callback, and None
asks for a whole comparison (after arming, after a burst that may have overrun the kernel's queue,
when a folder went away or came back, and on every round where there are no events to be had).
Data: kernel -> awatch -> `_Box` (one set per root, merged while the callback is busy) -> callback.
"""

import asyncio
import logging
import os
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Literal, TypeAlias

import anyio
from anyio import to_thread  # noqa: TID251 - the look at a folder may hang on a dead network drive

from notes_mcp.notes.gate import IGNORE_FILE, Policy, placeholder_for
from notes_mcp.settings import Settings

Mode: TypeAlias = Literal["events", "polling"]
Paths: TypeAlias = Mapping[Path, frozenset[str] | None]
"""For each root the absolute paths to look at (files or folders, there or not); None: compare everything."""

_ROOT_CHECK_MS = 500  # how often we see whether the folder is still the same one
_SECOND_LOOK_MS = 250  # a new folder is looked into again: files may have come before the kernel watched it
_BURST = 2_000  # changes at once, from which on the kernel's queue (16,384) may have overrun
_POLL_SHARE = 20  # polling takes at most one part in 20 of the time
_POLL_MAX_MS = 60_000
_NO_PATTERNS = Policy()

# Linux file systems where others may write without the kernel telling us.
_REMOTE = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "drvfs", "vboxsf", "prl_fs", "virtiofs", "afs", "ceph"}
)

_log = logging.getLogger(__name__)


async def watch(
    roots: Sequence[Path],
    on_paths: Callable[[Paths], Awaitable[None]],
    *,
    settings: Settings,
    armed: anyio.Event,
    on_mode: Callable[[Path, Mode], None] = lambda root, mode: None,
) -> None:
    """Runs until cancelled, and then ends within `watch_step_ms`.

    `roots` are real paths. `on_paths` is awaited, never twice at a time; changes meanwhile are merged into
    its next call; what it raises is logged. `armed` is set once every change from then on will be seen.
    `on_mode` hears for each root whether it is watched by events or by polling, the latter with a warning.
    """
    box = _Box()
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
            tasks.start_soon(_Root(root, box, settings, arm, on_mode).follow)


class _Box:
    """What is to be told, merged by root. `put` gives an event that is set when it was told."""

    def __init__(self) -> None:
        self._pending: dict[Path, frozenset[str] | None] = {}
        self._full = anyio.Event()
        self._told = anyio.Event()

    def put(self, root: Path, paths: frozenset[str] | None) -> anyio.Event:
        before = self._pending.get(root, frozenset())
        self._pending[root] = None if paths is None or before is None else before | paths
        self._full.set()
        return self._told

    async def deliver(self, on_paths: Callable[[Paths], Awaitable[None]]) -> None:
        while True:
            await self._full.wait()
            paths, told = self._pending, self._told
            self._pending, self._told, self._full = {}, anyio.Event(), anyio.Event()
            try:
                await on_paths(paths)
            except Exception:
                _log.exception("a change could not be taken in; going on")
            told.set()


class _Stop:
    """The stop event that awatch polls from its thread; the first look means that the kernel is watching."""

    def __init__(self, on_first_look: Callable[[], None]) -> None:
        self._set = False
        self._on_first_look: Callable[[], None] | None = on_first_look
        self._loop = asyncio.get_running_loop()

    def is_set(self) -> bool:
        if self._on_first_look is not None:
            self._loop.call_soon_threadsafe(self._on_first_look)
            self._on_first_look = None
        return self._set

    def set(self) -> None:
        self._set = True


class _Root:
    """One folder, through its disappearances."""

    def __init__(
        self,
        root: Path,
        box: _Box,
        settings: Settings,
        arm: Callable[[Path], None],
        on_mode: Callable[[Path, Mode], None],
    ) -> None:
        self._root = root
        self._prefix = str(root).rstrip(os.sep) + os.sep
        self._box = box
        self._settings = settings
        self._arm = arm
        self._on_mode = on_mode
        self._mode: Mode = "events"
        self._denied = False

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
        """Until the folder at the path is another one, or events cannot be had."""
        watchfiles = await to_thread.run_sync(import_module, "watchfiles")  # 50 ms that the loop need not wait
        stop = _Stop(self._armed)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._guard, identity, stop)
                if self._denied or await to_thread.run_sync(is_remote, self._root, abandon_on_cancel=True):
                    tasks.start_soon(self._rounds)
                async for changes in watchfiles.awatch(
                    self._root,
                    watch_filter=None,
                    step=self._settings.watch_step_ms,
                    debounce=self._settings.watch_debounce_ms,
                    stop_event=stop,
                    force_polling=False,
                    # With True it would also pass over a reached inotify limit, and then tell nothing.
                    ignore_permission_denied=self._denied,
                ):
                    tasks.start_soon(self._take, changes)
                    if (watchfiles.Change.deleted, str(self._root)) in changes:
                        stop.set()  # a new folder at the path may even get the same inode
                tasks.cancel_scope.cancel()
        except* FileNotFoundError:
            pass  # it went away while we armed: `follow` waits for it
        except* PermissionError as errors:
            # One folder that may not be read ends the arming of all that follow it: what events there are
            # stay welcome for their speed, and comparing finds the rest.
            self._degrade(errors.exceptions[0], stay_with_events=not self._denied)
            self._denied = True
        except* (OSError, RuntimeError) as errors:
            self._degrade(errors.exceptions[0])
        self._box.put(self._root, None)

    def _armed(self) -> None:
        self._box.put(self._root, None)
        self._arm(self._root)

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

    async def _guard(self, identity: tuple[int, int], stop: _Stop) -> None:
        """Ends the watch when the folder at the path is another one. Also when cancelled: awatch itself would
        only notice after seconds."""
        try:
            await self._until_other(identity)
        finally:
            stop.set()

    async def _until_other(self, identity: tuple[int, int]) -> None:
        while True:
            await anyio.sleep(_ROOT_CHECK_MS / 1000)
            if await self._identity() != identity:
                return

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

    async def _take(self, changes: set[tuple[int, str]]) -> None:
        if len(changes) >= _BURST or any(path == self._prefix + IGNORE_FILE for _, path in changes):
            self._box.put(self._root, None)
        paths = frozenset(path for _, path in changes if self._matters(path))
        if not paths:
            return
        self._box.put(self._root, paths)
        folders = await to_thread.run_sync(_folders_among, paths, abandon_on_cancel=True)
        if folders:
            await anyio.sleep(_SECOND_LOOK_MS / 1000)
            self._box.put(self._root, folders)

    def _matters(self, path: str) -> bool:
        """Cheap and without the user's own patterns: hidden folders and temp files make most of the noise."""
        if not path.startswith(self._prefix):
            return False  # the folder itself
        folder, slash, name = path.removeprefix(self._prefix).replace(os.sep, "/").rpartition("/")
        return _NO_PATTERNS.visible(f"{folder}{slash}{placeholder_for(name) or name}", False)


def _folders_among(paths: Iterable[str]) -> frozenset[str]:
    return frozenset(path for path in paths if os.path.isdir(path))


def is_remote(path: Path, *, mounts: str = "/proc/self/mountinfo") -> bool:
    """Whether others may change the folder without this kernel knowing. proc(5), mountinfo: field 5 is the
    mount point, the field after " - " the file system type."""
    if sys.platform != "linux":
        return False
    best, kind = "", ""
    try:
        lines = Path(mounts).read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return False
    for line in lines:
        fields, _, rest = line.partition(" - ")
        point = fields.split(" ")[4].replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
        if len(point) >= len(best) and path.is_relative_to(point):
            best, kind = point, rest.split(" ")[0]
    return kind in _REMOTE or kind.startswith("fuse")
