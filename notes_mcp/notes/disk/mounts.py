"""Which disk a folder lies on: whether it is still mounted, and whether others may write behind the kernel's back.

Looks at device numbers and the mount table only; knows no notes. A folder whose disk went away can still be
there, empty, on the disk below: whatever was written then would vanish when the disk comes back.
"""

import contextlib
import os
import select
import sys
from collections.abc import Sequence
from pathlib import Path

MOUNTS = "/proc/self/mountinfo"

# Linux file systems where others may write without the kernel telling us.
_REMOTE = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "drvfs", "vboxsf", "prl_fs", "virtiofs", "afs", "ceph"}
)


class Mount:
    """The disk that `root` lay on when this was made. Raises OSError if `root` is not there.

    It starts at `root` or somewhere above, where the device number changes; what matters later is that `root`
    is on another device than the folder above that place. After a remount the number may be a new one.
    """

    def __init__(self, root: str) -> None:
        self.device = os.stat(root).st_dev
        here, above = root, os.path.dirname(root)
        while above != here and os.stat(above).st_dev == self.device:
            here, above = above, os.path.dirname(above)
        self._above = None if above == here else above  # None: the top of all, which is never unmounted

    def is_away(self, device: int) -> bool:
        """Whether a `root` on that device is only the place where the disk used to be mounted. OSError if even
        what is above it is gone."""
        return self._above is not None and device == os.stat(self._above).st_dev


class InnerDisks:
    """Disks that were seen mounted somewhere below `root`. One that went away leaves an empty folder on the disk
    around it, which is no proof that anything is gone."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._seen: dict[tuple[str, ...], Mount] = {}

    def add(self, parts: tuple[str, ...]) -> None:
        """A folder that lies on another device than the one above it. Raises OSError if it is not there."""
        self._seen[parts] = Mount(os.path.join(self._root, *parts))

    def away(self, parts: Sequence[str]) -> str | None:
        """The place of the disk that `parts` would lie on, "/"-separated, if that is not mounted now."""
        for place, mount in self._seen.items():
            if tuple(parts[: len(place)]) == place and self._is_away(place, mount):
                return "/".join(place)
        return None

    def _is_away(self, place: tuple[str, ...], mount: Mount) -> bool:
        path = os.path.join(self._root, *place)
        try:
            return mount.is_away(os.lstat(path).st_dev) and not os.listdir(path)
        except OSError:
            return False  # gone itself, or something else now


class MountTable:
    """Tells whether anything was mounted or unmounted since it was asked last. proc(5), mountinfo: poll it."""

    def __init__(self) -> None:
        self._file: int | None = None
        if sys.platform == "linux":
            with contextlib.suppress(OSError):
                self._file = os.open(MOUNTS, os.O_RDONLY | os.O_CLOEXEC)
        if self._file is not None:
            self._poll = select.poll()
            self._poll.register(self._file, select.POLLPRI)
            self._poll.poll(0)

    def changed(self) -> bool:
        return self._file is not None and bool(self._poll.poll(0))

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def may_be_unwatched(root: Path) -> bool:
    """After a change of the mount table: whether this process may have lost its watch on `root` or on a disk below.

    The disk may be back with all its old numbers, and only its inotify watches are gone. proc(5), fdinfo:
    `inotify wd:… ino:… sdev:…`, in hexadecimal.
    """
    info = os.stat(root)
    wanted = f" ino:{info.st_ino:x} sdev:{os.major(info.st_dev) << 20 | os.minor(info.st_dev):x} "
    with os.scandir("/proc/self/fdinfo") as entries:
        watched = any(wanted in text for text in map(_read, entries))
    return not watched or any(point != root and point.is_relative_to(root) for point, _ in _mounts(MOUNTS))


def _read(entry: "os.DirEntry[str]") -> str:
    try:
        return Path(entry.path).read_text("ascii", "replace")
    except OSError:
        return ""  # closed meanwhile


def is_remote(path: Path, *, mounts: str = MOUNTS) -> bool:
    """Whether others may change the folder without this kernel knowing."""
    best, kind = Path(), ""
    for point, its_kind in _mounts(mounts):
        if path.is_relative_to(point) and len(point.parts) >= len(best.parts):
            best, kind = point, its_kind
    return kind in _REMOTE or kind.startswith("fuse")


def _mounts(table: str) -> list[tuple[Path, str]]:
    """Mount points and their file system types, none where there is no such table. proc(5), mountinfo: field 5
    is the mount point, the field after " - " the type."""
    if sys.platform != "linux":
        return []
    try:
        lines = Path(table).read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        fields, _, rest = line.partition(" - ")
        point = fields.split(" ")[4].replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
        found.append((Path(point), rest.split(" ")[0]))
    return found
