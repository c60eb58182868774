"""What a move of files does to the rest: the index as it will be, and which files need a look.

`moves` are old real path -> new real path of notes and attachments; a folder that moves is many of them,
a swap of names is two. `Moved` answers like the index will once all of them have happened. `plan` finds
the files whose links could then lead elsewhere; `relinking` rewrites them. Pure, over what an index answers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from notes_mcp.notes.index.segment import key
from notes_mcp.notes.links.links import Lookup, Resolution, name_key, resolve, without_extension

Moves: TypeAlias = Mapping[str, str]

CANVAS = ".canvas"
MARKDOWN = (".md", ".markdown")


class Backlink(Protocol):
    """A link in the file `source` (real path)."""

    @property
    def source(self) -> str: ...


class Linked(Protocol):
    """What `plan` asks of an index; `Index` is one."""

    def backlinks(self, path: str) -> Iterable[Backlink]:
        """The links in other notes that lead to `path`."""
        ...

    def below(self, folder: str) -> Iterable[str]:
        """Real paths of all files in a folder and below it."""
        ...


class Moved:
    """The `Lookup` over the files of `before` once `moves` have happened."""

    def __init__(self, before: Lookup, moves: Moves) -> None:
        self._before = before
        self._moves = moves
        self._paths: dict[str, list[str]] = {}
        self._names: dict[str, list[str]] = {}
        for new in moves.values():
            self._paths.setdefault(key(new), []).append(new)
            self._names.setdefault(name_key(new), []).append(new)

    def by_path_key(self, path_key: str) -> Sequence[str]:
        """Files whose folded path this will be."""
        return self._after(self._before.by_path_key(path_key), self._paths.get(path_key, ()))

    def by_name_key(self, name: str) -> Sequence[str]:
        """Files whose `name_key` this will be."""
        return self._after(self._before.by_name_key(name), self._names.get(name, ()))

    def by_alias_key(self, alias: str) -> Sequence[str]:
        """Notes that have this alias, where they will be; under another extension than Markdown's they lose it."""
        found = (self._moves.get(path, path) for path in self._before.by_alias_key(alias))
        return [path for path in found if path.lower().endswith(MARKDOWN)]

    def names(self) -> Iterable[tuple[str, str]]:
        """`(path, title)` of every file, where it will be; titles that are file names are still the old ones."""
        return ((self._moves.get(path, path), title) for path, title in self._before.names())

    def _after(self, before: Iterable[str], arrived: Iterable[str]) -> list[str]:
        return list(dict.fromkeys((*(path for path in before if path not in self._moves), *arrived)))


@dataclass(frozen=True, slots=True)
class Journey:
    """One file at `path`, at `new_path` afterwards (the same if it stays), and the files around it then and now."""

    path: str
    new_path: str
    before: Lookup
    after: Lookup
    moves: Moves

    def was(self, target: str, *, markdown: bool) -> Resolution:
        """Where a link with this target leads before the move."""
        return resolve(target, self.path, self.before, markdown=markdown)

    def now(self, target: str, *, markdown: bool) -> Resolution:
        """Where it leads after the move."""
        return resolve(target, self.new_path, self.after, markdown=markdown)

    def goal(self, path: str) -> str:
        """Where the file at `path` will be."""
        return self.moves.get(path, path)


def has_links(path: str) -> bool:
    """Whether a file of this name is one whose links are rewritten."""
    return path.lower().endswith((*MARKDOWN, CANVAS))


def plan(moves: Moves, before: Lookup, index: Linked) -> tuple[str, ...]:
    """The files (real paths before the move, sorted) whose links may have to change.

    Those are the moved notes, the notes whose name or alias a moved file takes (it could catch their links), what
    links to any of them, and every canvas, since the index does not know what those show.
    """
    targets = {*moves, *_namesakes(moves, before)}
    wanted = {path for path in targets if has_links(path)}  # a note may link to itself by its name
    wanted.update(path for path in index.below("") if path.lower().endswith(CANVAS))
    for target in targets:
        wanted.update(link.source for link in index.backlinks(target))
    return tuple(sorted(wanted))


def _namesakes(moves: Moves, before: Lookup) -> Iterable[str]:
    for old, new in moves.items():
        name = key(new.rpartition("/")[2])
        # A link's order of choice depends on the folder as well, so a new place with the old name counts.
        for wanted in {name_key(new), name, name_key(without_extension(new))}:
            yield from (path for path in before.by_name_key(wanted) if path != old)
            yield from before.by_alias_key(wanted)
