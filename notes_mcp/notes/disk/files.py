"""Directories as descriptors, and the few steps on which safe writing rests. No policy, no paths of clients.

A `Folder` is opened from the root one component at a time without following links, so what was
checked is what is used; where the platform has no directory descriptors it falls back to paths.
Data: `open_folder` -> `Folder` -> `write_temp` -> `rename_over` or `rename_new`. Raises OSError only.
"""

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from types import TracebackType

from notes_mcp.notes.disk.gate import TEMP_PREFIX, TEMP_SUFFIX
from notes_mcp.notes.disk.syscalls import Rename, flagged_rename

NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
_CLOEXEC: int = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)
READ: int = os.O_RDONLY | NOFOLLOW | _CLOEXEC | getattr(os, "O_NONBLOCK", 0)  # a FIFO must not hang us
_DIRECTORY: int = os.O_RDONLY | NOFOLLOW | _CLOEXEC | getattr(os, "O_DIRECTORY", 0)

BY_DESCRIPTOR = bool(NOFOLLOW) and {os.open, os.stat, os.mkdir, os.unlink, os.rename, os.link} <= os.supports_dir_fd

_UNSUPPORTED = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})
_NO_LINKS = _UNSUPPORTED | {errno.EPERM, errno.EMLINK, errno.EACCES}


class Folder:
    """One open directory. Every name passed in is a single component; links are never followed."""

    def __init__(self, path: str, fd: int | None) -> None:
        self._path = path
        self.fd = fd

    def __enter__(self) -> "Folder":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def device(self) -> int:
        return os.stat(self._path if self.fd is None else self.fd).st_dev

    def close(self) -> None:
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None

    def at(self, name: str) -> str:
        """What to hand to an `os` function together with `dir_fd=self.fd`."""
        return name if self.fd is not None else os.path.join(self._path, name)

    def child(self, name: str) -> "Folder":
        path = os.path.join(self._path, name)
        if self.fd is not None:
            return Folder(path, os.open(name, _DIRECTORY, dir_fd=self.fd))
        info = os.lstat(path)
        if is_link(info):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        if not stat.S_ISDIR(info.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        return Folder(path, None)

    def stat(self, name: str) -> os.stat_result:
        return os.stat(self.at(name), dir_fd=self.fd, follow_symlinks=False)

    def names(self) -> list[str]:
        return os.listdir(self._path if self.fd is None else self.fd)

    def scan(self) -> "os._ScandirIterator[str]":
        return os.scandir(self._path) if self.fd is None else os.scandir(self.fd)

    def open(self, name: str, flags: int, mode: int = 0o600) -> int:
        if self.fd is None and flags & os.O_CREAT == 0 and is_link(self.stat(name)):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
        return os.open(self.at(name), flags, mode, dir_fd=self.fd)

    def mkdir(self, name: str) -> None:
        os.mkdir(self.at(name), dir_fd=self.fd)

    def rmdir(self, name: str) -> None:
        os.rmdir(self.at(name), dir_fd=self.fd)

    def unlink(self, name: str) -> None:
        os.unlink(self.at(name), dir_fd=self.fd)

    def sync(self) -> None:
        """Asks for the directory itself to reach the disk. What it holds is already right for every reader."""
        if self.fd is not None:
            # Called after the rename that did the work: a file system that cannot sync directories
            # (many network ones) must not turn a write that happened into an error.
            with contextlib.suppress(OSError):
                os.fsync(self.fd)


def is_link(info: os.stat_result) -> bool:
    """A symbolic link, or a Windows junction."""
    tag = getattr(info, "st_reparse_tag", 0)
    return stat.S_ISLNK(info.st_mode) or tag == getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", -1)


def open_folder(root: str, parts: Sequence[str]) -> Folder:
    """The directory `parts` below `root`, reached without following a link. The caller closes it."""
    here = Folder(root, os.open(root, _DIRECTORY) if BY_DESCRIPTOR else None)
    for part in parts:
        with here:
            here = here.child(part)
    return here


def make_folders(root: str, parts: Sequence[str]) -> tuple[Folder, int]:
    """Like `open_folder`, making what is missing; also how many of the last components were made."""
    here, made = Folder(root, os.open(root, _DIRECTORY) if BY_DESCRIPTOR else None), 0
    try:
        for part in parts:
            try:
                there = here.child(part)
            except FileNotFoundError:
                with contextlib.suppress(FileExistsError):  # another writer was first: use theirs
                    here.mkdir(part)
                    made += 1
                    here.sync()
                there = here.child(part)
            here.close()
            here = there
    except BaseException:
        here.close()
        unmake_folders(root, parts, made)
        raise
    return here, made


def unmake_folders(root: str, parts: Sequence[str], count: int) -> None:
    """Takes back the last `count` folders if they are still empty: a failed write leaves nothing behind."""
    for end in range(len(parts), len(parts) - count, -1):
        try:
            with open_folder(root, parts[: end - 1]) as above:
                above.rmdir(parts[end - 1])
        except FileNotFoundError:
            continue
        except OSError:
            return  # somebody put a file there meanwhile


@contextlib.contextmanager
def write_temp(
    folder: Folder, data: bytes, like: str | None = None, like_in: Folder | None = None, mode: int | None = None
) -> Iterator[tuple[str, os.stat_result]]:
    """A hidden file with `data`, safely on disk, beside where it will go; removed unless it was renamed away.

    Yields its name and its state. `like` names a file (in `like_in`, else in the same folder) whose mode,
    owner and extended attributes it takes over; without, `mode` or a new file's usual one. A kill at any
    instant leaves at most this hidden file.
    """
    name = f"{TEMP_PREFIX}{os.urandom(8).hex()}{TEMP_SUFFIX}"
    ours = 0o666 if like is None and mode is None else 0o600
    fd = folder.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | NOFOLLOW | _CLOEXEC, ours)
    try:
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
            if like is not None:
                _copy_traits(like_in or folder, like, fd)
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(fd, mode)
            os.fsync(fd)
            info = os.fstat(fd)
        finally:
            os.close(fd)
        yield name, info
    finally:
        with contextlib.suppress(FileNotFoundError):
            folder.unlink(name)


def _copy_traits(folder: Folder, name: str, to: int) -> None:
    source = folder.open(name, READ)
    try:
        info, ours = os.fstat(source), os.fstat(to)
        if hasattr(os, "fchown") and (info.st_uid, info.st_gid) != (ours.st_uid, ours.st_gid):
            # Only root may give files away; then at least the group, else our own.
            try:
                os.fchown(to, info.st_uid, info.st_gid)
            except OSError:
                with contextlib.suppress(OSError):
                    os.fchown(to, -1, info.st_gid)
        if hasattr(os, "fchmod"):
            os.fchmod(to, stat.S_IMODE(info.st_mode))
        _copy_attributes(source, to)
    finally:
        os.close(source)


def _copy_attributes(source: int, to: int) -> None:
    if sys.platform == "linux":
        try:
            names = os.listxattr(source)
        except OSError:
            return  # a file system without extended attributes
        for name in names:
            # Some, like security.*, are the system's to set.
            with contextlib.suppress(OSError):
                os.setxattr(to, name, os.getxattr(source, name))
    elif sys.platform == "darwin":
        import ctypes

        acl_and_xattr = (1 << 0) | (1 << 2)
        ctypes.CDLL(None).fcopyfile(source, to, None, acl_and_xattr)


def rename_over(folder: Folder, name: str, to: Folder, new: str) -> None:
    """Atomic: readers see the old file or the new one."""
    os.replace(folder.at(name), to.at(new), src_dir_fd=folder.fd, dst_dir_fd=to.fd)
    to.sync()
    if to is not folder:
        folder.sync()


def rename_new(folder: Folder, name: str, to: Folder, new: str) -> None:
    """Atomic, and FileExistsError if `new` is there, also when it appeared this very moment.

    By the kernel's own no-replace rename; where it or the file system has none, by a hard link (which
    also fails on an existing name), and without those by claiming the name first.
    """
    if os.name == "nt":
        os.rename(folder.at(name), to.at(new))
        return
    if not _rename_noreplace(folder, name, to, new):
        if stat.S_ISDIR(folder.stat(name).st_mode):
            to.mkdir(new)  # the claim; an empty directory is what rename(2) replaces
            os.rename(folder.at(name), to.at(new), src_dir_fd=folder.fd, dst_dir_fd=to.fd)
        else:
            _link_new(folder, name, to, new)
    to.sync()
    if to is not folder:
        folder.sync()


def carry_new(folder: Folder, name: str, to: Folder, new: str) -> None:
    """`rename_new` that also takes a file to another disk: copied, safely there, then removed here."""
    try:
        rename_new(folder, name, to, new)
    except OSError as error:
        if error.errno != errno.EXDEV or not stat.S_ISREG(folder.stat(name).st_mode):
            raise
        with open(folder.open(name, READ), "rb") as source:
            data = source.read()
        with write_temp(to, data, like=name, like_in=folder) as (temp, _):
            rename_new(to, temp, to, new)
        folder.unlink(name)
        folder.sync()


def _rename_noreplace(folder: Folder, name: str, to: Folder, new: str) -> bool:
    return _renamed(_noreplace_call(), folder, name, to, new)


def exchange(folder: Folder, name: str, other: str) -> bool:
    """Gives two files in one folder each other's name, in one step. False if that is not known how here."""
    return _renamed(_exchange_call(), folder, name, folder, other)


def _renamed(call: Rename | None, folder: Folder, name: str, to: Folder, new: str) -> bool:
    """False if the kernel or the file system does not know how."""
    if call is None or folder.fd is None or to.fd is None:
        return False
    code = call(folder.fd, os.fsencode(name), to.fd, os.fsencode(new))
    if code in _UNSUPPORTED:
        return False
    if code:
        raise OSError(code, os.strerror(code), new)
    return True


def _noreplace_call() -> Rename | None:
    return flagged_rename("never replace")


def _exchange_call() -> Rename | None:
    return flagged_rename("exchange")


def _link_new(folder: Folder, name: str, to: Folder, new: str) -> None:
    try:
        os.link(folder.at(name), to.at(new), src_dir_fd=folder.fd, dst_dir_fd=to.fd, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        os.close(to.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW | _CLOEXEC))
        os.replace(folder.at(name), to.at(new), src_dir_fd=folder.fd, dst_dir_fd=to.fd)
    else:
        folder.unlink(name)
