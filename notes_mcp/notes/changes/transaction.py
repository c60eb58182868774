"""Changes of one folder, of one file or of many: all of it or nothing, also across kill -9.

Runs in the writer thread, under the folder's lock. The images go to the journal (on disk, pending), then
each step through `steps`, then the change is done. What fails is taken back at once; what a crash cut
short is finished or taken back by `recover`, before anything else is written. Never over what somebody
else wrote since. The index follows each time. Sync.
"""

import contextlib
import logging
from collections.abc import Iterable, Iterator, Sequence

from notes_mcp.errors import (
    ExistsError,
    ForbiddenError,
    NoteError,
    NotFoundError,
    ReadOnlyError,
    StaleError,
    StorageError,
)
from notes_mcp.notes import patience
from notes_mcp.notes.changes import steps as stepping
from notes_mcp.notes.changes.changefile import Image
from notes_mcp.notes.changes.journal import Journal, Record
from notes_mcp.notes.changes.steps import State, Step
from notes_mcp.notes.disk.writelock import WriteLock
from notes_mcp.notes.folder import Folder
from notes_mcp.notes.text import etag

_OVERTAKEN = (StaleError, ExistsError, NotFoundError, ReadOnlyError, ForbiddenError)

_log = logging.getLogger(__name__)


class Transactions:
    """The one way to write in a folder. `journal` is None where none can be kept: then undo and recovery are off."""

    def __init__(self, folder: Folder, journal: Journal | None, lock: WriteLock) -> None:
        self._folder = folder
        self._vault = folder.vault
        self._journal = journal
        self._lock = lock

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """The folder is ours alone inside, and whole. BusyError if another server has it for too long."""
        with self._lock:
            self._recover()
            yield

    def recover(self, lock: WriteLock | None = None) -> None:
        """Finishes or takes back what a crash cut short, if anything; for opening. Never raises: `writing` does too.

        What is pending may also be a change that another server is at just now: then `lock`, in place of the
        usual one, says how long to wait for it.
        """
        try:
            if self._pending():
                with lock or self._lock:
                    self._recover()
        except NoteError as error:
            _log.warning("an unfinished change is left for later: %s", error)

    def apply(self, tool: str, steps: Sequence[Step], *, undoes: str | None = None) -> str | None:
        """All steps, in order, within `writing`; or none, and what stopped them is raised: also that nobody wants
        them any more (`patience`), which is asked before each.

        Gives the change's id; None if there is no journal. A change of a single file is made even where the
        journal fails; one of several is not: StorageError, as a crash could leave it half done.
        """
        images = [step.image for step in steps]
        change_id = self._begin(tool, images, undoes)
        taken = 0
        try:
            for step in patience.each(steps, "files written"):
                stepping.take(self._vault, step)
                taken += 1
        except BaseException as error:
            self._fail(change_id, images[: taken + 1], error)
            raise
        self._settle(change_id, done=True)
        self._follow(images)
        return change_id

    def _fail(self, change_id: str | None, images: Sequence[Image], error: BaseException) -> None:
        """Takes back what was done up to the last of `images`, whose step failed."""
        try:
            states = stepping.states(self._vault, images)
            if states[-1] == "other" or isinstance(error, (*_OVERTAKEN, patience.UnwantedError)):
                # The step did nothing: what is there is somebody else's, even if it is what we would have written.
                states[-1] = "before"
            whole = self._take_back(images, states)
        except NoteError as another:
            # Left pending: whoever writes next, or opens the folder, tries again.
            self._follow(images)
            if not isinstance(error, Exception) or len(images) == 1:
                return
            raise StorageError(
                f"{error} What was changed before that could not be taken back ({another}); "
                "this is done as soon as it can be, before anything else is written."
            ) from error
        self._settle(change_id, done=not whole)
        self._follow(images)

    def _recover(self) -> None:
        for change_id in reversed(self._pending()):
            try:
                self._finish(change_id)
            except (NoteError, OSError) as error:
                _log.warning("the unfinished change %s is left for later: %s", change_id, error)

    def _finish(self, change_id: str) -> None:
        assert self._journal is not None  # it named the change
        try:
            record = self._journal.get_pending(change_id)
        except NotFoundError as error:
            _log.warning("%s It is left as it is.", error)
            self._settle(change_id, done=True)
            return
        images = record.images
        states = stepping.states(self._vault, images)
        self._clear(record, states)
        if all(state == "after" for state in states):
            self._settle(change_id, done=True)
        else:
            whole = self._take_back(images, _settled(states))
            if not whole:
                _log.warning("change %s was cut short, and files of it were changed since; they are kept", change_id)
            self._settle(change_id, done=not whole)
        self._follow(images)

    def _clear(self, record: Record, states: Sequence[State]) -> None:
        """Removes the unfinished files that a crash left of this change."""
        images = record.images
        known = {image.after_etag or "" for image in images}
        known |= {etag(image.before) for image in images if image.before is not None}
        untouched = all(state == "before" for state in states)
        for path in {path for image in images for path in (image.path, image.moved_from, image.trash) if path}:
            self._vault.clear(path, record.when_ns, None if untouched else known)

    def _take_back(self, images: Sequence[Image], states: Sequence[State]) -> bool:
        """Backwards, what is still as we wrote it. Whether nothing of the change is left. Raises what disks do."""
        whole = True
        for image, state in zip(reversed(images), reversed(states), strict=True):
            try:
                if state == "half":
                    stepping.take_back_half(self._vault, image)
                elif state == "after":
                    stepping.take_back(self._vault, image)
                elif state == "other":
                    whole = False
                elif image.made:  # for a file that did not come
                    self._vault.unmake_folders(image.path, image.made)
            except _OVERTAKEN as error:
                _log.warning("%s is left as it is: %s", image.path, error)
                whole = False
        return whole

    # -- journal and index: what fails there must not make a write that happened look as if it had not --------

    def _begin(self, tool: str, images: Sequence[Image], undoes: str | None) -> str | None:
        if self._journal is None:
            return None
        try:
            return self._journal.begin(tool, images, undoes=undoes)
        except (OSError, NoteError) as error:
            if len(images) > 1:
                raise StorageError(
                    f"The change journal cannot be written ({getattr(error, 'strerror', None) or error}), and a "
                    f"change of {len(images)} files is not made without it. Nothing was changed."
                ) from error
            _log.warning("the change journal cannot be written (%s); this change cannot be undone", error)
            return None

    def _settle(self, change_id: str | None, *, done: bool) -> None:
        if change_id is None or self._journal is None:
            return
        try:
            (self._journal.commit if done else self._journal.discard)(change_id)
        except OSError as error:
            _log.warning("the change journal cannot be brought up to date (%s)", error)

    def _pending(self) -> list[str]:
        if self._journal is None:
            return []
        try:
            return self._journal.pending()
        except OSError as error:
            _log.warning("the change journal cannot be read (%s)", error)
            return []

    def _follow(self, images: Iterable[Image]) -> None:
        paths = {path for image in images for path in (image.path, image.moved_from) if path is not None}
        try:
            self._folder.refresh(sorted(paths), sure=True)
        except Exception as error:
            _log.warning("written, but not in the index yet: %s", error)
            for path in paths:
                self._folder.owe(path)


def _settled(states: Sequence[State]) -> list[State]:
    """Behind the last step that may have been taken, what differs from before is somebody else's, not in doubt."""
    taken = max((place + 1 for place, state in enumerate(states) if state in ("after", "half")), default=0)
    reached = max(taken, states.index("before") if "before" in states else len(states))
    unreached: list[State] = ["before"] * (len(states) - reached)
    return [*states[:reached], *unreached]
