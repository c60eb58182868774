"""One step of a change: what happens to one file or folder, done, looked at afterwards, and taken back.

A step is planned under the lock from what is there. `take` goes through `Vault`, which compares etags and
never overwrites. `state` says from the disk alone whether a step was taken; `take_back` undoes it only
where the file still is what we wrote. Sync; knows no journal and no index.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from notes_mcp.notes.changes.changefile import Image
from notes_mcp.notes.disk.vault import Vault
from notes_mcp.notes.text import etag

State: TypeAlias = Literal["before", "after", "half", "other"]


@dataclass(frozen=True, slots=True)
class Step:
    """What is kept of it in the journal, and the new bytes of a file that is written."""

    image: Image
    after: bytes | None = None


def put(path: str, before: bytes, after: bytes) -> Step:
    """New bytes for a file that is there with exactly the bytes `before`."""
    return Step(Image(path, before, etag(after)), after)


def create(vault: Vault, path: str, after: bytes, *, mode: int | None = None) -> Step:
    """A new file where none is; `mode`: its permissions, else the usual."""
    return Step(Image(path, None, etag(after), mode=mode, made=vault.missing_folders(path)), after)


def trash(vault: Vault, path: str, before: bytes | None) -> Step:
    """The file into the trash; `before` is None if it is too large to be kept twice."""
    return Step(Image(path, before, None, trash=vault.trash_place(path), mode=vault.mode(path)))


def remove(vault: Vault, path: str, before: bytes | None) -> Step:
    """The file off the disk."""
    return Step(Image(path, before, None, mode=vault.mode(path)))


def restore(vault: Vault, place: str, path: str, tag: str) -> Step:
    """The file with the etag `tag` from its `place` in the trash back to `path`."""
    return Step(Image(path, None, tag, trash=place, made=vault.missing_folders(path)))


def move(vault: Vault, path: str, new_path: str, tag: str | None, *, folder: bool = False) -> Step:
    """A file, or a folder with all that is in it, to a path that is free. `tag`: the etag the file must have.

    In a change the moves come first; the steps behind them speak of the paths as they are then.
    """
    made = vault.missing_folders(new_path)
    return Step(Image(new_path, None, tag, moved_from=path, made=made, folder=folder))


def take(vault: Vault, step: Step) -> None:
    """Does it. Raises StaleError, ExistsError or NotFoundError if the file is not as planned, and what disks do."""
    image = step.image
    expect = None if image.before is None else etag(image.before)
    match image.kind:
        case "put":
            vault.replace(image.path, step.after or b"", expect=expect)
        case "create":
            vault.create(image.path, step.after or b"", mode=image.mode)
        case "trash":
            vault.trash(image.path, expect=expect, to=image.trash)
        case "remove":
            vault.remove(image.path, expect=expect)
        case "restore":
            vault.restore(image.trash or "", image.path, expect=image.after_etag)
        case "move":
            vault.move(image.moved_from or "", image.path, expect=image.after_etag)


def take_back(vault: Vault, image: Image) -> None:
    """Undoes a step that was taken. Raises like `take` where somebody else has written since."""
    match image.kind:
        case "put":
            vault.replace(image.path, image.before or b"", expect=image.after_etag)
        case "create":
            vault.remove(image.path, expect=image.after_etag)
        case "trash":
            vault.restore(image.trash or "", image.path, expect=None if image.before is None else etag(image.before))
        case "remove":
            if image.before is not None:
                vault.create(image.path, image.before, mode=image.mode)
        case "restore":
            vault.trash(image.path, expect=image.after_etag, to=image.trash)
        case "move":
            vault.move(image.path, image.moved_from or "")
    if image.made:
        vault.unmake_folders(image.path, image.made)


def take_back_half(vault: Vault, image: Image) -> None:
    """Undoes a move that was cut short in between: the second name of the file goes, or the claim of a folder's."""
    if image.folder:
        vault.unmake_folders(f"{image.path}/claimed", 1)
    else:
        vault.remove(image.path)
    vault.unmake_folders(image.path, image.made)


def states(vault: Vault, images: Sequence[Image]) -> list[State]:
    """How far a change got, by what is on disk now: for each image whether its step was taken.

    "half": a file stands under both names, or a folder's new name is claimed by an empty one, which is how they
    are carried over where the system knows no better way. "other": neither, since somebody else wrote there.
    """
    found: list[State] = []
    unmoved: list[Image] = []
    for image in images:
        here = image
        for move in reversed(unmoved):
            here = replace(here, path=_back(here.path, move))
        state = _move_state(vault, here) if here.kind == "move" else _state(vault, here)
        if here.kind == "move" and state in ("before", "half"):
            unmoved.append(image)
        found.append(state)
    return found


def _back(path: str, move: Image) -> str:
    """Where the file at `path` was before the move."""
    if path == move.path or path.startswith(move.path + "/"):
        return (move.moved_from or "") + path[len(move.path) :]
    return path


def _state(vault: Vault, image: Image) -> State:
    now = vault.etag(image.path)
    before = None if image.before is None else etag(image.before)
    if image.kind == "trash":
        place = vault.trashed_etag(image.trash or "")
        if now is None:
            return "after" if place is not None and before in (None, place) else "other"
        return "before" if before in (None, now) else "other"
    if now == image.after_etag:
        return "after"
    unknown = image.kind == "remove" and before is None
    return "before" if now == before or unknown else "other"


def _move_state(vault: Vault, image: Image) -> State:
    old, new = image.moved_from or "", image.path
    here, there = _is_there(vault, old, image.folder), _is_there(vault, new, image.folder)
    if here and there:
        ours = _is_empty(vault, new) if image.folder else vault.is_same_file(old, new)
        return "half" if ours else "other"
    return "after" if there else "before" if here else "other"


def _is_there(vault: Vault, path: str, folder: bool) -> bool:
    return vault.is_folder(path) if folder else vault.stat(path) is not None


def _is_empty(vault: Vault, folder: str) -> bool:
    found = vault.scan(folder)
    return not found.files and not found.unreadable and found.folders == (folder,)
