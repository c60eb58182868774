"""Pure: what a link, or a `path` argument, means among the files there are. No I/O.

`resolve` follows Obsidian: a name counts in the whole folder, below the linking note before elsewhere,
the shortest path first, without regard to case; a partial path must match whole components; the
extension of a note may be left out. `resolve_ref` is for tools: unique or an error that shows the way.
Both see the files through a `Lookup`, which the index gives.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias
from urllib.parse import unquote

from notes_mcp.errors import AmbiguousError, InvalidRequestError, NotFoundError
from notes_mcp.notes.index.segment import key
from notes_mcp.notes.uris import NOTE_TYPES, parse

NOTE_EXTENSIONS = tuple(NOTE_TYPES)
MAX_NEAREST = 5
MIN_LIKENESS = 60.0  # of 100
MIN_PART = 80.0
MIN_PART_CHARS = 4

Via: TypeAlias = Literal["self", "path", "relative", "name", "alias", "none"]


class Lookup(Protocol):
    """The files there are. Keys are made by `segment.key`; answers are real paths, in no certain order."""

    def by_path_key(self, path_key: str) -> Sequence[str]: ...

    def by_name_key(self, name: str) -> Sequence[str]:
        """Files whose `name_key` this is."""
        ...

    def by_alias_key(self, alias: str) -> Sequence[str]: ...

    def names(self) -> Iterable[tuple[str, str]]:
        """`(path, title)` of everything."""
        ...


@dataclass(frozen=True, slots=True)
class Resolution:
    """Where a link leads: `path` is None if nowhere. `candidates`: all that would answer to it, best first."""

    path: str | None
    via: Via
    candidates: tuple[str, ...] = ()


NOWHERE = Resolution(None, "none")


def without_extension(path: str) -> str:
    """`path` without the extension of a note; other extensions stay."""
    for extension in NOTE_EXTENSIONS:
        if len(path) > len(extension) and path[-len(extension) :].lower() == extension:
            rest = path[: -len(extension)]
            return path if rest.endswith("/") else rest
    return path


def name_key(path: str) -> str:
    """The key under which a file, or the target of a link, is found by its name: `a/My%20Note.md` -> "my note"."""
    name = path.rpartition("/")[2]
    return key(without_extension(unquote(name) if "%" in name else name))


def resolve(target: str, from_path: str, lookup: Lookup, *, markdown: bool = False) -> Resolution:
    """What a link's `target` (decoded, without anchor) leads to, in a note at `from_path`.

    `markdown`: the link is `[text](target)`, whose target is first a path relative to the note, as
    CommonMark readers take it; then it is looked up like a wikilink, as Obsidian does.
    """
    target = _plain(target)
    if not target:
        return Resolution(from_path, "self", (from_path,))
    folder = from_path.rpartition("/")[0]
    found = _resolve(target, folder, lookup, markdown=markdown)
    if found is NOWHERE and "%" in target:
        found = _resolve(unquote(target), folder, lookup, markdown=markdown)
    return found


def resolve_ref(ref: str, lookup: Lookup, *, for_write: bool = False) -> str:
    """The real path that a tool's `path` argument means: a path, with or without extension, in any normal form;
    a bare name or alias; a wikilink or its target; a `notes:///` URI.

    `for_write` takes nothing that is guessed beyond extension, normal form and a unique bare name.
    Raises AmbiguousError with the candidates, NotFoundError with the nearest paths.
    """
    wanted = _as_path(ref)
    steps: list[Callable[[str, Lookup], Iterable[str]]] = [_exactly, _with_extension, _folded, _by_name]
    if not for_write:
        steps += [_by_tail, _by_alias]
    spellings = [wanted, *([unquote(wanted)] if "%" in wanted else [])]
    if not for_write and "#" in wanted:
        spellings.append(wanted.partition("#")[0].rstrip())
    for spelling in filter(None, spellings):
        for step in steps:
            found = tuple(dict.fromkeys(step(spelling, lookup)))
            if len(found) == 1:
                return found[0]
            if found:
                raise _ambiguous(ref, found)
    raise not_found(ref, lookup)


def not_found(ref: str, lookup: Lookup) -> NotFoundError:
    """The error for a reference that nothing answers to, with the nearest paths."""
    near = nearest(_as_path(ref), lookup)
    hint = f" Nearest: {', '.join(near)}." if near else " list_notes shows what there is."
    return NotFoundError(f"There is no note or file {ref!r}.{hint}", near)


def nearest(wanted: str, lookup: Lookup, limit: int = MAX_NEAREST) -> tuple[str, ...]:
    """Up to `limit` real paths that resemble `wanted` by path, name or title, best first."""
    from rapidfuzz import fuzz, process

    files = list(lookup.names())
    asked = key(without_extension(wanted))
    name = asked.rpartition("/")[2]
    best: dict[str, float] = {}
    for query, choices in (
        (asked, [key(without_extension(path)) for path, _ in files]),
        (name, [key(without_extension(path.rpartition("/")[2])) for path, _ in files]),
        (name, [key(title) for _, title in files]),
    ):
        for _, score, at in process.extract(
            query, choices, scorer=fuzz.ratio, limit=limit * 2, score_cutoff=MIN_LIKENESS
        ):
            path = files[at][0]
            best[path] = max(best.get(path, 0.0), score)
    if len(best) < limit and len(name) >= MIN_PART_CHARS:
        # A misspelt word of a longer name. A name shorter than what was asked for would be a part of that.
        longer = [(key(without_extension(path.rpartition("/")[2])), path) for path, _ in files]
        longer = [(choice, path) for choice, path in longer if len(choice) > len(name)]
        for _, _, at in process.extract(
            name, [choice for choice, _ in longer], scorer=fuzz.partial_ratio, limit=limit, score_cutoff=MIN_PART
        ):
            best.setdefault(longer[at][1], MIN_LIKENESS)
    if len(best) < limit and name:
        parts = (path for path, title in files if name in key(path) or name in key(title))
        for path in sorted(parts, key=lambda path: (len(path), path))[:limit]:
            best.setdefault(path, MIN_LIKENESS)
    return tuple(sorted(best, key=lambda path: (-best[path], len(path), path))[:limit])


def _resolve(target: str, folder: str, lookup: Lookup, *, markdown: bool) -> Resolution:
    explicit = target.startswith(("./", "../"))
    if (markdown or explicit) and not target.startswith("/"):
        joined = _join(folder, target)
        found = _at(joined, lookup) if joined is not None else []
        if found:
            return Resolution(found[0], "relative", tuple(found))
    bare = _join("", target.lstrip("/")) if explicit or target.startswith("/") or "/./" in target else target
    if not bare:
        return NOWHERE
    found = _at(bare, lookup) if "/" in target else []
    if found or target.startswith("/"):
        return Resolution(found[0], "path", tuple(found)) if found else NOWHERE
    found = _by_suffix(bare, folder, lookup)
    if found:
        return Resolution(found[0], "path" if "/" in bare else "name", tuple(found))
    aliased = sorted(lookup.by_alias_key(key(target)), key=lambda path: (len(path), path))
    return Resolution(aliased[0], "alias", tuple(aliased)) if aliased else NOWHERE


def _at(path: str, lookup: Lookup) -> list[str]:
    """Files at exactly this path but for case, normal form and a note's extension; the most exact first."""
    forms = (path, *(path + extension for extension in NOTE_EXTENSIONS))
    found = [place for form in forms for place in _folded_at(form, lookup)]
    return sorted(dict.fromkeys(found), key=lambda place: place not in forms)


def _folded_at(path: str, lookup: Lookup) -> list[str]:
    return sorted(lookup.by_path_key(key(path)))


def _by_suffix(target: str, folder: str, lookup: Lookup) -> list[str]:
    """Files whose path ends with the whole components of `target`, in Obsidian's order."""
    wanted = key(target)
    below = folder + "/" if folder else ""
    found = []
    for path in _named(target, lookup):
        whole = key(path)
        if any(form == wanted or form.endswith("/" + wanted) for form in (whole, without_extension(whole))):
            at_root = "/" not in path and "/" not in target
            found.append((not at_root, not path.startswith(below), len(path), not _spelled(path, target), path))
    return [entry[-1] for entry in sorted(found)]


def _spelled(path: str, target: str) -> bool:
    return path.endswith(target) or without_extension(path).endswith(target)


def _named(target: str, lookup: Lookup) -> list[str]:
    """Files by the name of `target`, also where the name itself ends like a note's extension (`a.md.md`)."""
    name = target.rpartition("/")[2]
    keys = dict.fromkeys((name_key(name), key(name)))
    return list(dict.fromkeys(path for wanted in keys for path in lookup.by_name_key(wanted)))


def _join(folder: str, target: str) -> str | None:
    """`target` seen from `folder`; None if it leads out of the root."""
    parts = folder.split("/") if folder else []
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _plain(target: str) -> str:
    try:
        parsed = parse(target)
    except InvalidRequestError:
        parsed = None
    if parsed is not None and parsed[0] == "path":
        return "/" + parsed[1]
    return target.strip().replace("\\", "/")


def _as_path(ref: str) -> str:
    """The path or name in a reference: brackets of a wikilink, scheme of a URI and root slash taken off."""
    text = ref.strip()
    parsed = parse(text)
    if parsed is not None and parsed[0] == "path":
        return parsed[1].strip("/")
    inside = text.removeprefix("!")
    if inside.startswith("[[") and inside.endswith("]]"):
        text = inside[2:-2].partition("|")[0].partition("#")[0].strip()
    text = text.replace("\\", "/").strip("/")
    while text.startswith("./"):
        text = text[2:].lstrip("/")
    return text


def _exactly(wanted: str, lookup: Lookup) -> Iterable[str]:
    return [path for path in lookup.by_path_key(key(wanted)) if path == wanted]


def _with_extension(wanted: str, lookup: Lookup) -> Iterable[str]:
    return [path for extension in NOTE_EXTENSIONS for path in _exactly(wanted + extension, lookup)]


def _folded(wanted: str, lookup: Lookup) -> Iterable[str]:
    return _folded_at(wanted, lookup) or [
        path for extension in NOTE_EXTENSIONS for path in _folded_at(wanted + extension, lookup)
    ]


def _by_name(wanted: str, lookup: Lookup) -> Iterable[str]:
    if "/" in wanted:
        return []
    exact = without_extension(wanted) != wanted
    found = [path for path in _named(wanted, lookup) if not exact or key(path.rpartition("/")[2]) == key(wanted)]
    same_case = [path for path in found if _spelled("/" + path, "/" + wanted)]
    return same_case or found


def _by_tail(wanted: str, lookup: Lookup) -> Iterable[str]:
    return _by_suffix(wanted, "", lookup) if "/" in wanted else []


def _by_alias(wanted: str, lookup: Lookup) -> Iterable[str]:
    return sorted(lookup.by_alias_key(key(wanted)))


def _ambiguous(ref: str, found: Sequence[str]) -> AmbiguousError:
    candidates = sorted(found)
    shown = ", ".join(candidates[:10]) + (", …" if len(candidates) > 10 else "")
    return AmbiguousError(f"{ref!r} could be any of {len(candidates)}: {shown}. Give the whole path.", candidates)
