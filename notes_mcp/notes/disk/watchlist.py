"""Which folders the kernel is asked to watch, found without following a link.

inotify watches single folders, and a recursive watch by watchfiles follows links: one to /usr costs 15,000
watches. So on Linux the folders are listed here and watched one by one. Hidden and ignored folders hold
nothing that clients may see, and are left out. Reads directories only.
"""

import asyncio
import os
import stat
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import anyio

LISTED = sys.platform.startswith("linux")
"""Whether folders are watched one by one. Elsewhere the system watches a tree by itself, without following links."""


@dataclass(slots=True)
class Watchlist:
    """Folders to watch, and those among them that cannot be listed, which nobody can watch."""

    folders: list[str] = field(default_factory=list)
    locked: list[str] = field(default_factory=list)


def below(*tops: str, visible: Callable[[str], bool]) -> Watchlist:
    """Each of `tops` that is a folder, not a link to one, and every `visible` folder below. In no order."""
    found = Watchlist()
    todo = [top for top in tops if is_folder(top)]
    while todo:
        path = todo.pop()
        try:
            with os.scandir(path) as entries:
                todo += [entry.path for entry in entries if _is_ours(entry) and visible(entry.path)]
        except PermissionError:
            found.locked.append(path)
        except OSError:
            continue  # gone, or became something else
        else:
            found.folders.append(path)
    return found


def is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def folders_among(paths: Iterable[str]) -> frozenset[str]:
    """Those that are folders now, not links to folders."""
    return frozenset(path for path in paths if is_folder(path))


def _is_ours(entry: "os.DirEntry[str]") -> bool:
    if not entry.is_dir(follow_symlinks=False):
        return False
    try:
        entry.path.encode()  # watchfiles takes text only, and no note is found by a name that is none
    except UnicodeEncodeError:
        return False
    return True


class Stop:
    """The stop event that awatch polls from its thread; the first look means that the kernel is watching."""

    def __init__(self) -> None:
        self._set = False
        self._seen = False
        self.looked = anyio.Event()
        self._loop = asyncio.get_running_loop()

    def is_set(self) -> bool:
        if not self._seen:
            self._seen = True
            self._loop.call_soon_threadsafe(self.looked.set)
        return self._set

    def set(self) -> None:
        self._set = True


class Asked:
    """Folders that are to be watched, gathered until they are taken."""

    def __init__(self) -> None:
        self._folders: set[str] = set()
        self._some = anyio.Event()

    def add(self, folders: Iterable[str]) -> None:
        self._folders.update(folders)
        if self._folders:
            self._some.set()

    async def taken(self) -> frozenset[str]:
        """All of them, at least one; waits for it."""
        await self._some.wait()
        folders, self._folders, self._some = frozenset(self._folders), set(), anyio.Event()
        return folders
