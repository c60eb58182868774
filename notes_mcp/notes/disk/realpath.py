"""Where a path really leads: links followed, the disk's own spelling found, the folder never left.

Knows the disk's names, not the policy. Only looks (lstat, readlink, listdir); what it finds is opened
later without following links, so a link swapped in meanwhile leads nowhere. Data: a path that
`gate.normalise` passed -> `RealPath.trace` -> real components, missing components, state.
"""

import os
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from notes_mcp.errors import AmbiguousError, ForbiddenError, StorageError
from notes_mcp.notes.disk.files import is_link
from notes_mcp.notes.disk.gate import fold
from notes_mcp.notes.disk.mounts import Mount

_MAX_LINKS = 40  # what Linux allows on one path


@dataclass(frozen=True, slots=True)
class Trace:
    """`real` is there, link-free and spelled as on disk; `missing` is not. `info` is `real`'s own state."""

    real: tuple[str, ...]
    missing: tuple[str, ...]
    info: os.stat_result

    @property
    def path(self) -> str:
        return "/".join(self.real + self.missing)


def probe_case(root: str) -> bool:
    """Whether the disk tells "A" from "a", found out without writing: by asking for a name that is there in
    its other letter case. Names in `root` are tried first, then the folders above it."""
    with os.scandir(root) as entries:
        names = {entry.name for _, entry in zip(range(200), entries, strict=False)}
    candidates = [(root, name, names) for name in sorted(names, key=len)]
    above = root
    while (parent := os.path.dirname(above)) != above:
        candidates.append((parent, os.path.basename(above), set()))
        above = parent
    for folder, name, others in candidates:
        swapped = name.swapcase()
        if swapped == name or swapped in others or not name.isascii():
            continue
        try:
            here = os.lstat(os.path.join(folder, name))
            there = os.lstat(os.path.join(folder, swapped))
        except OSError:
            return True
        return (here.st_dev, here.st_ino) != (there.st_dev, there.st_ino)
    return sys.platform not in ("win32", "darwin")


class RealPath:
    """Traces paths below `root`, itself a real path. Raises OSError where the disk does, also when it is made."""

    def __init__(self, root: str, case_sensitive: bool) -> None:
        self.root = root
        self.mount = Mount(root)
        self._fold_case = not case_sensitive
        # Here the disk finds a name in several spellings, and only a listing tells which is its own.
        self._respell = not case_sensitive or sys.platform == "darwin"

    def absolute(self, parts: Sequence[str]) -> str:
        return os.path.join(self.root, *parts)

    def inside(self, absolute: str) -> tuple[str, ...] | None:
        """The components of `absolute` below the root, or None if it is not below it. No disk."""
        root, path = _components(self.root), _components(absolute)
        if self._fold_case:
            same = [fold(p, case=True) for p in path[: len(root)]] == [fold(p, case=True) for p in root]
        else:
            same = path[: len(root)] == root
        return tuple(path[len(root) :]) if same else None

    def trace(self, path: str, *, exact: bool = False) -> Trace:
        """Follows `path`. Without `exact`, a component that is not there stands for the only one that looks the
        same (normal form, kinds of space; letter case where the disk ignores it).

        Raises ForbiddenError if a link leads outside, AmbiguousError if several names look the same,
        StorageError if the root itself is gone or its disk is not mounted any more.
        """
        real: list[str] = []
        todo = path.split("/")[::-1] if path else []
        info, links = self.root_info(), 0
        while todo:
            name = todo.pop()
            here = self.absolute([*real, name])
            try:
                found = os.lstat(here)
            except (FileNotFoundError, NotADirectoryError):
                spelled = None if exact else self._spelling(real, name)
                if spelled is None or spelled == name:
                    return Trace(tuple(real), (name, *todo[::-1]), info)
                todo.append(spelled)
                continue
            if is_link(found):
                links += 1
                target = self._target(here, path, links)
                todo += target[::-1]
                real, info = [], self.root_info()
                continue
            if self._respell:
                spelled = self._spelling(real, name) or name
                if exact and spelled != name:
                    return Trace(tuple(real), (name, *todo[::-1]), info)
                name = spelled
            real.append(name)
            info = found
        return Trace(tuple(real), (), info)

    def root_info(self) -> os.stat_result:
        """The state of the root. StorageError if it is gone or its disk is not mounted any more: not the same as
        a note that is not there, since nothing in the folder is proven gone."""
        try:
            info = os.stat(self.root)
            away = self.mount.is_away(info.st_dev)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise StorageError(f'The notes folder "{self.root}" is not there any more.') from error
        if away:
            raise StorageError(
                f'The disk that holds "{self.root}" is not mounted any more. Nothing was changed; mount it again.'
            )
        return info

    def _target(self, link: str, path: str, links: int) -> tuple[str, ...]:
        if links > _MAX_LINKS:
            raise ForbiddenError(f'"{path}" is a link that leads in a circle.')
        target = self.inside(os.path.realpath(link))
        if target is None:
            raise ForbiddenError(f'"{path}" is a link that leads outside the notes folder; it is not followed.')
        return target

    def _spelling(self, folder: Sequence[str], name: str) -> str | None:
        """The disk's spelling of `name` in `folder`: the exact one if there, else the only one that looks the same."""
        try:
            names = os.listdir(self.absolute(folder))
        except (FileNotFoundError, NotADirectoryError):
            return None
        if name in names:
            return name
        wanted = fold(name, case=self._fold_case)
        alike = sorted(other for other in names if fold(other, case=self._fold_case) == wanted)
        if len(alike) > 1:
            candidates = ["/".join([*folder, other]) for other in alike]
            raise AmbiguousError(f'"{name}" could be any of {len(alike)} names that look the same.', candidates)
        return alike[0] if alike else None


def is_folder(info: os.stat_result) -> bool:
    return stat.S_ISDIR(info.st_mode)


def _components(path: str) -> list[str]:
    drive, rest = os.path.splitdrive(os.path.normpath(path))
    return [drive.removeprefix("\\\\?\\"), *(part for part in rest.split(os.sep) if part)]
