"""Which target a link gets when its old one no longer leads where it should. Pure; no bytes, no syntax.

Keeps the style of the old target: from the root stays from the root, relative stays relative, a name or
partial path stays as short as it was if that is clear, else grows as far as it must; the extension is there
or not as before. Where a form of one style also is another's (`[[a/N]]` is the whole path, and the shortest
that is unique), the shorter style wins, as Obsidian writes it. What nearness alone decided has `rivals`.
"""

from collections.abc import Callable, Sequence
from itertools import takewhile
from urllib.parse import unquote

from notes_mcp.notes.index.segment import key
from notes_mcp.notes.links.links import Resolution, without_extension
from notes_mcp.notes.links.moves import Journey

Resolve = Callable[[str], Resolution]


def stays(target: str, was: Resolution, want: str, journey: Journey, *, markdown: bool) -> bool:
    """Whether the link, left as it is, leads to `want` after the move, in the way it did before.

    A relative path must still be one, for readers that know no other, and climb no further than it must if it
    did not; a path (not a name) that was spelled exactly must be so again, for disks where case counts.
    """
    now = journey.now(target, markdown=markdown)
    if now.path != want or was.path is None:
        return False
    if was.via == "relative":
        spare = _spare(target, was.path, journey.path)
        if now.via != "relative" or (not spare and _spare(target, want, journey.new_path)):
            return False
    elif not target.startswith("/"):
        return True
    return _exact(target, want, journey.new_path) or not _exact(target, was.path, journey.path)


def rivals(target: str, found: Resolution, from_path: str) -> tuple[str, ...]:
    """The candidates between which nothing but distance or length of path decided; () if the choice is clear.

    Clear is: the only candidate, the one at exactly this path, the one in the linking note's own folder, the
    one spelled the same way, and `.md` before other notes where the extension is left out.
    """
    if len(found.candidates) < 2 or found.path is None:
        return ()
    best, others = found.path, [path for path in found.candidates if path != found.path]
    wanted = target.strip().replace("\\", "/")
    folder = from_path.rpartition("/")[0]
    if found.via == "alias":
        return tuple(others)
    if _hides_extension(wanted, best) and best.lower().endswith(".md"):
        others = [path for path in others if path.lower().endswith(".md")]
    name = wanted.rpartition("/")[2]
    if _named(best, name):
        others = [path for path in others if _named(path, name)]
    whole = key(joined(folder if found.via == "relative" else "", wanted))
    if _is_at(best, whole):
        others = [path for path in others if _is_at(path, whole)]
    elif best.rpartition("/")[0] == folder:
        others = [path for path in others if path.rpartition("/")[0] == folder]
    return tuple(others)


def respelled(target: str, was: Resolution, want: str, journey: Journey, *, markdown: bool) -> str | None:
    """The target, "/"-separated and not encoded, that leads to `want` after the move; None if no form does."""
    assert was.path is not None
    written = target.strip().replace("\\", "/")
    endings = [(was.path, want)]
    if _hides_extension(written, was.path) or (not markdown and without_extension(was.path) == was.path):
        endings.insert(0, (without_extension(was.path), without_extension(want)))

    def now(candidate: str) -> Resolution:
        return journey.now(candidate, markdown=markdown)

    def before(candidate: str) -> Resolution:
        return journey.was(candidate, markdown=markdown)

    for old, new in endings:
        if written.startswith("/"):
            form = "/" + new
            if now(form).path == want:
                return form
        elif was.via == "relative":
            form = _relative(written, old, new, journey, markdown=markdown)
            found = now(form)
            if (found.path, found.via) == (want, "relative"):
                return form
        elif tail := _tail(names_of(written), (was.path, old), (want, new), before, now, journey.new_path):
            return tail
    return "/" + want if now("/" + want).path == want else None


def beside(from_path: str, to_path: str) -> str:
    """The relative path from the folder of one file to another, without `./`."""
    climb, folder = _climb(from_path, to_path)
    return "../" * climb + "/".join(to_path.split("/")[len(folder) - climb :])


def names_of(target: str) -> list[str]:
    """The components of a target that name something, behind the last `..`."""
    names: list[str] = []
    for name in target.split("/"):
        if name == "..":
            names.clear()
        elif name not in ("", "."):
            names.append(name)
    return names


def joined(folder: str, target: str) -> str:
    """`target` seen from `folder`, without dots; what leads out of the root is cut off there."""
    names = folder.split("/") if folder and not target.startswith("/") else []
    for name in target.split("/"):
        if name == "..":
            del names[-1:]
        elif name not in ("", "."):
            names.append(name)
    return "/".join(names)


def _tail(
    written: Sequence[str],
    old: tuple[str, str],
    new: tuple[str, str],
    before: Resolve,
    now: Resolve,
    from_path: str,
) -> str | None:
    """A name or partial path; `old` and `new` are path and path as it is to be written."""
    had, parts = old[1].split("/"), new[1].split("/")
    least = next((n for n in range(1, len(had)) if _unique(before("/".join(had[-n:])), old[0])), len(had))
    size = len(written)
    if size == 1 or size < least:
        form = "/".join(parts[-size:])
        found = now(form)
        if found.path == new[0] and not rivals(form, found, from_path):
            return form
    for n in range(_fewest(size, least, len(had), len(parts)), len(parts) + 1):
        form = "/".join(parts[-n:])
        found = now(form)
        if _unique(found, new[0]) or (n == len(parts) and found.path == new[0]):
            return form
    return None


def _fewest(size: int, least: int, had: int, parts: int) -> int:
    """With how many components to begin: those of a path that was longer than it had to be, or 1."""
    if size <= least:
        return 1
    return parts if size == had else min(size, parts)


def _unique(found: Resolution, path: str) -> bool:
    return found.path == path and len(found.candidates) == 1 and found.via != "relative"


def _relative(written: str, old: str, new: str, journey: Journey, *, markdown: bool) -> str:
    """The way from the new folder to `new`; it climbs as much higher than it must as the written one did."""
    climb, folder = _climb(journey.new_path, new)
    climb = min(climb + max(_spare(written, old, journey.path), 0), len(folder))
    form = "../" * climb + "/".join(new.split("/")[len(folder) - climb :])
    if markdown:
        return "./" + form if written.startswith("./") else form
    return form if climb else "./" + form  # without dots it would be a name


def _climb(from_path: str, to_path: str) -> tuple[int, list[str]]:
    """How many folders up from the note until `to_path` lies below; and the note's folders."""
    folder, aim = from_path.split("/")[:-1], to_path.split("/")[:-1]
    shared = 0
    while shared < min(len(folder), len(aim)) and folder[shared] == aim[shared]:
        shared += 1
    return len(folder) - shared, folder


def _spare(written: str, path: str, from_path: str) -> int:
    """How many folders further up than it must a relative path climbs."""
    names = (name for name in written.strip().replace("\\", "/").split("/") if name not in ("", "."))
    return sum(1 for _ in takewhile("..".__eq__, names)) - _climb(from_path, path)[0]


def _hides_extension(target: str, path: str) -> bool:
    """Whether `target`, which leads to the note at `path`, leaves its extension out."""
    name = target.rstrip("/").rpartition("/")[2]
    return without_extension(path) != path and key(path.rpartition("/")[2]) not in (key(name), key(unquote(name)))


def _exact(target: str, path: str, from_path: str) -> bool:
    return joined(from_path.rpartition("/")[0], target.strip().replace("\\", "/")) in (path, without_extension(path))


def _named(path: str, name: str) -> bool:
    own = path.rpartition("/")[2]
    return name in (own, without_extension(own))


def _is_at(path: str, whole: str) -> bool:
    return key(path) == whole or key(without_extension(path)) == whole
