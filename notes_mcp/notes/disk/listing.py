"""One walk of a folder: every visible file with its state, and what a person should look at.

Reads directories only, never file contents, and never writes. Each directory is opened from the
root without following links; a link inside the folder adds nothing (its target is listed where it
is), one that leads outside is a problem. Data: `Vault` hands in root, policy, resolver -> `Scan`.
"""

import os
import stat
from collections import Counter
from collections.abc import Callable, Sequence

from notes_mcp.notes.disk.files import Folder, is_link, open_folder
from notes_mcp.notes.disk.gate import Policy, fold, is_conflict_copy, is_hidden, is_own_temp, kind_of, placeholder_for
from notes_mcp.notes.disk.mounts import InnerDisks
from notes_mcp.notes.records import FileState, Problem, Scan

_PROGRESS_STEP = 500
_MACOS_DATALESS = 0x40000000  # st_flags: the contents are in the cloud
_WINDOWS_RECALL = 0x1000 | 0x40000 | 0x400000  # st_file_attributes: OFFLINE, RECALL_ON_OPEN, RECALL_ON_DATA_ACCESS
_IN_CLOUD = "listed, but not read: its bytes are only in the cloud. Have the sync tool keep it on this device"


def downloaded(info: os.stat_result) -> bool:
    """False if the bytes are not on this disk and opening the file would fetch them from a cloud drive."""
    in_cloud = (
        getattr(info, "st_flags", 0) & _MACOS_DATALESS or getattr(info, "st_file_attributes", 0) & _WINDOWS_RECALL
    )
    return not in_cloud


def state_of(path: str, info: os.stat_result, *, present: bool = True) -> FileState:
    """The FileState of the file at `path`, which `info` describes."""
    there = present and downloaded(info)
    changed_ns = 0 if os.name == "nt" else info.st_ctime_ns  # Windows gives the time it was made
    return FileState(path, kind_of(path), info.st_size, info.st_mtime_ns, info.st_ino, there, changed_ns)


class Listing:
    """A walk in progress: `run`, then `result`. `leftovers` are our own temp files it met.

    `link_target` says where a link leads (real path, whether something is there; None: outside).
    `progress` is told now and then how many files were seen so far.
    """

    def __init__(
        self,
        root: str,
        policy: Policy,
        disks: InnerDisks,
        link_target: Callable[[str], tuple[str, bool] | None],
        progress: Callable[[int], None] | None,
    ) -> None:
        self._root = root
        self._policy = policy
        self._disks = disks
        self._link_target = link_target
        self._progress = progress
        self._files: list[FileState] = []
        self._folders: list[str] = []
        self._unreadable: list[str] = []
        self._problems: list[Problem] = [
            Problem("ignore_pattern", pattern, "not a gitignore pattern, so it is left out: correct it")
            for pattern in policy.rejected
        ]
        self._ignored: Counter[tuple[str, bool]] = Counter()  # by rule, and whether it was a folder
        self.leftovers: list[str] = []

    def run(self, under: str) -> None:
        """Walks `under` ("" is everything). OSError if that very folder cannot be listed."""
        todo: list[tuple[str, int | None]] = [(under, None)]
        while todo:
            path, above = todo.pop()
            parts = tuple(path.split("/")) if path else ()
            try:
                with open_folder(self._root, parts) as folder:
                    device = folder.device()
                    if above not in (None, device):
                        self._disks.add(parts)
                    found = self._list(path, folder)
            except (FileNotFoundError, NotADirectoryError):
                if path == under:
                    raise
                continue  # gone, or became something else, since its parent was listed
            except OSError as error:
                if path == under:
                    raise
                self._unreadable.append(path)
                self._problem(
                    "unreadable_folder",
                    path,
                    f"cannot be listed ({error.strerror}): give this user the right to, or ignore it",
                )
                continue
            if path:
                self._folders.append(path)
            if not found and self._disks.away(parts) == path:
                self._unreadable.append(path)
                self._problem(
                    "unreadable_folder", path, "its disk is not mounted: mount it again, or restart if it never will be"
                )
            todo += ((one, device) for one in found)

    def result(self) -> Scan:
        self._files.sort(key=lambda state: state.path)
        rules = sorted({rule for rule, _ in self._ignored} - {""})
        return Scan(
            tuple(self._files),
            tuple(sorted(self._folders)),
            tuple(self._unreadable),
            tuple(self._problems),
            tuple((rule, self._ignored[rule, False], self._ignored[rule, True]) for rule in rules),
        )

    def _problem(self, kind: str, path: str, advice: str) -> None:
        self._problems.append(Problem(kind, path, advice))

    def _list(self, path: str, folder: Folder) -> list[str]:
        """Takes in one folder's files; gives its visible sub-folders."""
        prefix = path + "/" if path else ""
        shows = self._policy.shows
        names: list[str] = []
        folders: list[str] = []
        with folder.scan() as entries:
            for entry in entries:
                name = entry.name
                if is_hidden(name):
                    self._dotted(prefix, name, entry)
                    continue
                if not self._nameable(prefix, name):
                    continue
                here = prefix + name
                is_dir = entry.is_dir(follow_symlinks=False)
                if (not is_dir and entry.is_symlink()) or (is_dir and os.name == "nt" and is_link(entry.stat())):
                    self._link(here)
                elif not shows(here, name, is_dir):
                    self._ignored[self._policy.rule(here, name, is_dir), is_dir] += 1
                elif is_dir:
                    names.append(name)
                    folders.append(here)
                elif entry.is_file(follow_symlinks=False):
                    names.append(name)
                    self._file(here, entry)
                else:
                    self._problem("not_a_file", here, "a pipe, socket or device, so it is left out: nothing to do")
        self._twins(prefix, names)
        return folders

    def _file(self, path: str, entry: "os.DirEntry[str]") -> None:
        try:
            info = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return  # deleted while we looked
        if not stat.S_ISREG(info.st_mode):
            return  # replaced while we looked
        state = state_of(path, info)
        self._files.append(state)
        if not state.downloaded:
            self._problem("not_downloaded", path, _IN_CLOUD)
        if is_conflict_copy(path):
            self._problem(
                "conflict_copy", path, "two devices edited the note: bring both texts together, then delete this one"
            )
        if self._progress is not None and len(self._files) % _PROGRESS_STEP == 0:
            self._progress(len(self._files))

    def _dotted(self, prefix: str, name: str, entry: "os.DirEntry[str]") -> None:
        if is_own_temp(name):
            self.leftovers.append(prefix + name)
        elif (real := placeholder_for(name)) and self._policy.shows(prefix + real, real, False):
            try:
                info = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                return  # just downloaded
            if stat.S_ISREG(info.st_mode):
                self._files.append(state_of(prefix + real, info, present=False))
                self._problem("not_downloaded", prefix + real, _IN_CLOUD)

    def _nameable(self, prefix: str, name: str) -> bool:
        if "\\" in name and os.sep != "\\":
            self._problem(
                "backslash_name",
                prefix + name,
                'left out, since a name with "\\" cannot be told from a path: rename it',
            )
            return False
        if name.isascii():
            return True
        try:
            name.encode()
        except UnicodeEncodeError:
            shown = os.fsencode(prefix + name).decode("utf-8", "replace")
            self._problem("name_not_utf8", shown, "left out, since its name is not UTF-8: rename it")
            return False
        return True

    def _link(self, path: str) -> None:
        if not self._policy.visible(path, False):
            return
        target = self._link_target(path)
        if target is None:
            self._problem(
                "link_outside",
                path,
                "leads outside the folder or in a circle, so it is not followed: copy here what it leads to",
            )
        elif not target[1]:
            self._problem("link_broken", path, "leads nowhere: delete the link, or bring its target back")

    def _twins(self, prefix: str, names: Sequence[str]) -> None:
        seen: dict[str, str] = {}
        for name in names:
            other = seen.setdefault(name.lower() if name.isascii() else fold(name, case=True), name)
            if other is not name:
                first, second = sorted((other, name))
                kind = "lookalike_names" if fold(first, case=False) == fold(second, case=False) else "case_twins"
                self._problem(
                    kind, prefix + second, f'beside "{first}": other devices may keep only one of the two. Rename one'
                )
