"""The one gate between clients and a folder on disk: `gate`'s rules and `realpath`'s findings, asked together.

No file is opened here. A path as it came must be visible, and so must the one it turns out to be once
links are resolved; everything `Vault` does starts with one of these questions. Raises NoteErrors only.
"""

import errno
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from notes_mcp.errors import (
    BusyError,
    ForbiddenError,
    HiddenError,
    InvalidRequestError,
    NotFoundError,
    StorageError,
    UnreadableError,
)
from notes_mcp.notes.disk import gate
from notes_mcp.notes.disk.files import Folder, open_folder
from notes_mcp.notes.disk.gate import Policy
from notes_mcp.notes.disk.mounts import InnerDisks
from notes_mcp.notes.disk.realpath import RealPath, Trace, is_folder, probe_case
from notes_mcp.notes.disk.told import told

_MAX_PATH_BYTES = 4_000  # PATH_MAX of Linux less a temp name; what is deeper could be made, but not opened by others


class Door:
    """One folder of notes. `root` is its real path; `case_sensitive` whether its disk tells "A" from "a".

    `ignore` are gitignore patterns, followed by those of `.notesignore` at the top, read again whenever
    that file changes. Raises StorageError or UnreadableError if the folder is not there or not readable,
    InvalidRequestError for an `ignore` pattern that means nothing.
    """

    def __init__(self, root: Path, *, ignore: Sequence[str] = ()) -> None:
        real = os.path.realpath(gate.fit_root(str(root)))
        if not os.path.isdir(real):
            what = "is not a folder" if os.path.lexists(real) else "is not there"
            raise StorageError(f'The notes folder "{root}" {what}. Check the path.')
        with told(str(root)):
            self.case_sensitive = probe_case(real)
            self._real = RealPath(real, self.case_sensitive)
        self.root = Path(real)
        self._device = self._real.mount.device  # where it was seen last
        self._disks = InnerDisks(real)
        self._ignore = tuple(ignore)
        self._ignore_file = os.path.join(real, gate.IGNORE_FILE)
        if rejected := Policy(self._ignore).rejected:
            raise InvalidRequestError(f"Not a gitignore pattern: {rejected[0]!r}.")
        self._policy_of: tuple[tuple[int, int, int] | None, Policy] | None = None

    @property
    def policy(self) -> Policy:
        """What is visible now. UnreadableError if `.notesignore` cannot be read: then nothing is known to be."""
        path = self._ignore_file
        try:
            info = os.stat(path)
            version = (info.st_mtime_ns, info.st_size, info.st_ino) if stat.S_ISREG(info.st_mode) else None
            if self._policy_of is None or self._policy_of[0] != version:
                lines = [] if version is None else gate.read_patterns(Path(path).read_bytes())
                self._policy_of = (version, Policy([*self._ignore, *lines], fold_case=not self.case_sensitive))
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR) or os.path.islink(path):
                raise UnreadableError(f"{gate.IGNORE_FILE} cannot be read, so what to hide is not known.") from error
            if self._policy_of is None or self._policy_of[0] is not None:
                self._policy_of = (None, Policy(self._ignore, fold_case=not self.case_sensitive))
        return self._policy_of[1]

    def _open(self, parts: Sequence[str]) -> Folder:
        """The directory `parts`, link-free; the caller closes it. Its disk was still mounted once it was open."""
        try:
            folder = open_folder(str(self.root), parts)
        except OSError:
            self._real.root_info()  # what is not there may be on the disk that is away
            raise
        try:
            self._real.root_info()
        except BaseException:
            folder.close()
            raise
        return folder

    def _trace(self, path: str, *, exact: bool = False) -> Trace:
        """The one gate. The path as it came must be visible, and so must the one it turns out to be."""
        asked = gate.normalise(path)
        policy = self.policy
        if not policy.visible(asked, True):
            self._require_visible(policy, asked, False, path)
        trace = self._real.trace(asked, exact=exact)
        self._require_visible(policy, trace.path, not trace.missing and is_folder(trace.info), path)
        if (away := self._disks.away(trace.real)) is not None:
            raise StorageError(f'The disk at "{away}" is not mounted any more. Nothing was changed; mount it again.')
        return trace

    @staticmethod
    def _require_visible(policy: Policy, real: str, is_dir: bool, path: str) -> None:
        if not policy.visible(real, is_dir):
            raise HiddenError(f'"{path}" is hidden or ignored, so it is not part of these notes.')

    def _existing(self, path: str) -> Trace:
        trace = self._trace(path)
        if trace.missing:
            self._refuse_placeholder(trace)
            raise NotFoundError(f'There is no "{path}" in the notes folder.')
        return trace

    def _file(self, path: str) -> Trace:
        trace = self._existing(path)
        if is_folder(trace.info):
            raise InvalidRequestError(f'"{path or "/"}" is a folder, not a file.')
        if not stat.S_ISREG(trace.info.st_mode):
            raise ForbiddenError(f'"{path}" is a pipe, socket or device, not a file.')
        return trace

    def _placeholder(self, trace: Trace) -> os.stat_result | None:
        """The state of the cloud placeholder that stands for a file that is missing here."""
        if len(trace.missing) != 1:
            return None
        try:
            info = os.lstat(self._real.absolute([*trace.real, f".{trace.missing[0]}.icloud"]))
        except (FileNotFoundError, NotADirectoryError):
            return None
        return info if stat.S_ISREG(info.st_mode) else None

    def _refuse_placeholder(self, trace: Trace) -> None:
        if self._placeholder(trace) is not None:
            raise BusyError(f'"{trace.path}" is in iCloud and not on this computer yet. Download it, then try again.')

    def locate(self, path: str) -> str:
        """The real path of the file that `path` reaches. NotFoundError, ForbiddenError, AmbiguousError,
        InvalidRequestError (a folder), BusyError (in the cloud only)."""
        with told(path):
            return self._file(path).path

    def locate_folder(self, path: str) -> str:
        """The real path of the folder that `path` reaches, "" for the top. Raises like `locate`."""
        with told(path):
            trace = self._existing(path)
            if not is_folder(trace.info):
                raise InvalidRequestError(f'"{path}" is a file, not a folder.')
            return trace.path

    def is_folder(self, path: str) -> bool:
        """Whether `path`, spelled exactly so, is a visible folder. UnreadableError if that cannot be told."""
        with told(path):
            try:
                trace = self._trace(path, exact=True)
            except ForbiddenError:
                return False
            return not trace.missing and is_folder(trace.info)

    def place(self, path: str) -> str:
        """The real path of a file that need not exist: links in the folders above it are resolved, and a name
        that only looks different (normal form, spaces) is the one that is there. Raises like `locate`."""
        with told(path):
            return self._placed(path).path

    def _placed(self, path: str) -> Trace:
        trace = self._trace(path)
        if not trace.path:
            raise InvalidRequestError("A file needs a name.")
        if trace.missing and not is_folder(trace.info):
            raise InvalidRequestError(f'"{"/".join(trace.real)}" is a file, not a folder.')
        for name in trace.missing:
            gate.check_new_name(name)
        if trace.missing and len(os.fsencode(self._real.absolute(trace.real + trace.missing))) > _MAX_PATH_BYTES:
            raise InvalidRequestError(f"The path is longer than {_MAX_PATH_BYTES:,} bytes; use fewer folders.")
        return trace

    def relative(self, absolute: str) -> str | None:
        """The path of an absolute file name, whether or not it exists; None if it is outside, hidden or ignored.
        A cloud placeholder's is that of the file it stands for. Links in it are not resolved."""
        parts = self._real.inside(absolute)
        if parts is None:
            folder, name = os.path.split(absolute)
            try:
                parts = self._real.inside(os.path.join(os.path.realpath(folder), name))
            except ValueError:
                return None  # a NUL or half a surrogate pair: no name on any disk
        if not parts or any("\\" in part or "\0" in part for part in parts):
            return None
        path = "/".join((*parts[:-1], gate.placeholder_for(parts[-1]) or parts[-1]))
        try:
            path.encode()
        except UnicodeEncodeError:
            return None
        return path if self.policy.visible(path, False) else None
