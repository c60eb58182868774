"""Changes of the folder -> the protocol's events, and the quiet time before a list counts as changed.

`resources` gives an `Announcer` to `library.on_change`: each `ResourceUpdated` goes out at once, `ResourcesChanged` and
`PromptsChanged` once things have been quiet for a while. Owns one timer of the loop; does no I/O.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from notes_mcp.events import Event, PromptsChanged, ResourcesChanged, ResourceUpdated
from notes_mcp.notes.uris import NOTE_TYPES

if TYPE_CHECKING:
    from notes_mcp.notes.records import Change

PROMPTS_FOLDER = "Prompts"
_PATIENCE = 8  # under steady change, a list is announced after this many quiet times at the latest


def in_prompts(path: str, *, several_folders: bool) -> bool:
    """Whether a path as clients see it lies in the `Prompts/` of a served folder."""
    parts = path.split("/")
    return PROMPTS_FOLDER in parts[several_folders : several_folders + 1] and len(parts) > several_folders + 1


def events(
    changes: Sequence["Change"], complete: bool, *, uri: Callable[[str], str], several_folders: bool = False
) -> list[Event]:
    """What subscribers are told, each thing once, updates first.

    A renamed note is an update of both its names. `complete` false: there were more changes than
    `changes` tells, so both lists may be different.
    """
    updated: dict[str, None] = {}
    resources = prompts = not complete
    for change in changes:
        paths = [path for path in (change.old_path, change.path) if path is not None]
        updated.update(dict.fromkeys(paths))
        notes = [path for path in paths if is_note(path)]
        resources = resources or (change.kind != "updated" and bool(notes))
        prompts = prompts or any(in_prompts(path, several_folders=several_folders) for path in notes)
    found: list[Event] = [ResourceUpdated(uri(path)) for path in updated]
    if resources:
        found.append(ResourcesChanged())
    if prompts:
        found.append(PromptsChanged())
    return found


class Announcer:
    """The library's change callback. Call it, and `close` it, on the loop."""

    def __init__(
        self, uri: Callable[[str], str], publish: Callable[[Event], None], *, quiet_ms: int, several_folders: bool
    ) -> None:
        self._uri = uri
        self._publish = publish
        self._quiet_s = quiet_ms / 1000
        self._several_folders = several_folders
        self._waiting: dict[Event, None] = {}
        self._deadline = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def __call__(self, changes: Sequence["Change"], complete: bool) -> None:
        """Publish the updates, put the lists off."""
        lists: list[Event] = []
        for event in events(changes, complete, uri=self._uri, several_folders=self._several_folders):
            if isinstance(event, ResourceUpdated):
                self._publish(event)
            else:
                lists.append(event)
        if not lists or self._closed:
            return
        loop = asyncio.get_running_loop()
        if not self._waiting:
            self._deadline = loop.time() + self._quiet_s * _PATIENCE
        self._waiting.update(dict.fromkeys(lists))
        if self._timer is not None:
            if loop.time() >= self._deadline:
                return  # the timer is due; setting it anew could put it off once more, and for ever
            self._timer.cancel()
        self._timer = loop.call_at(min(loop.time() + self._quiet_s, self._deadline), self._flush)

    def close(self) -> None:
        """Stop for good; what still waits is dropped, for nobody is left to hear it."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        self._waiting.clear()

    def _flush(self) -> None:
        self._timer = None
        waiting, self._waiting = self._waiting, {}
        for event in waiting:
            self._publish(event)


def is_note(path: str) -> bool:
    """Whether a path is a note's, by its extension; all else is an attachment."""
    dot = path.rfind(".")
    return dot > path.rfind("/") and path[dot:].lower() in NOTE_TYPES
