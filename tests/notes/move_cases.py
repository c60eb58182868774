"""A folder of notes in memory that is moved about, as a mover with an index would do it."""

from dataclasses import dataclass, field

from notes_mcp.notes.index.segment import key
from notes_mcp.notes.links.links import name_key, resolve, without_extension
from notes_mcp.notes.links.relinking import Ambiguous, Moved, plan, rewrite
from notes_mcp.notes.markup.facts import extract

MARKDOWN_KINDS = ("markdown", "image", "reference")

# Link as written in journal/x.md, and what it is after work/Old Note.md went to archive/2024/New Name.md
TO_THE_NOTE = [
    ("[[Old Note]]", "[[New Name]]"),
    ("[[old note]]", "[[New Name]]"),
    ("[[Old Note.md]]", "[[New Name.md]]"),
    ("[[Old%20Note]]", "[[New%20Name]]"),
    ("[[work/Old Note]]", "[[archive/2024/New Name]]"),
    ("[[work\\Old Note]]", "[[archive\\2024\\New Name]]"),
    ("[[/work/Old Note]]", "[[/archive/2024/New Name]]"),
    ("[[../work/Old Note]]", "[[../archive/2024/New Name]]"),
    ("[[ Old Note |x]]", "[[ New Name |x]]"),
    ("[[Old Note|Old Note]]", "[[New Name|Old Note]]"),
    ("[[Old Note#Head ing]]", "[[New Name#Head ing]]"),
    ("[[Old Note#^block|x]]", "[[New Name#^block|x]]"),
    ("![[Old Note]]", "![[New Name]]"),
    ("![[Old Note#^b|200]]", "![[New Name#^b|200]]"),
    ("[t](../work/Old%20Note.md)", "[t](../archive/2024/New%20Name.md)"),
    ("[t](<../work/Old Note.md>)", "[t](<../archive/2024/New Name.md>)"),
    ("[t](<../work/Old%20Note.md> 'title')", "[t](<../archive/2024/New Name.md> 'title')"),
    ('[t](../work/Old%20Note.md#a%20b "Old Note.md")', '[t](../archive/2024/New%20Name.md#a%20b "Old Note.md")'),
    ("[t](/work/Old%20Note.md)", "[t](/archive/2024/New%20Name.md)"),
    ("[t](work/Old%20Note.md)", "[t](archive/2024/New%20Name.md)"),
    ("[t](Old%20Note.md)", "[t](New%20Name.md)"),
    ("[t](Old%20Note)", "[t](New%20Name)"),
    ("[t](../work/Old%20Note)", "[t](../archive/2024/New%20Name)"),
    ("[t](./../work/Old%20Note.md)", "[t](./../archive/2024/New%20Name.md)"),
    ("![i](../work/Old%20Note.md)", "![i](../archive/2024/New%20Name.md)"),
    ("[![i](../work/Old%20Note.md)](Old%20Note.md)", "[![i](../archive/2024/New%20Name.md)](New%20Name.md)"),
]

FRONT = """\
---
# up: "[[Old Note]]"
up: "[[Old Note#h|x]]"   # [[Old Note]]
list:
  - '[[work/Old Note]]'
  - see [[Old Note]] and [[Other]]
flow: ["[[Old Note]]", '![[i.png]]']
old: [[Old Note]]
text: |
  [[Old Note]]
1.10: yes
---
[[Old Note]]
"""


@dataclass(frozen=True)
class Row:
    source: str
    path: str | None


class Folder:
    """`files`: path -> bytes. Is the `Lookup` and the index of them."""

    def __init__(self, files):
        self.files = {path: data.encode() if isinstance(data, str) else data for path, data in files.items()}
        self.facts = {path: extract(path, data) for path, data in self.files.items() if path.endswith(".md")}

    def by_path_key(self, path_key):
        return [path for path in self.files if key(path) == path_key]

    def by_name_key(self, name):
        return [path for path in self.files if name_key(path) == name]

    def by_alias_key(self, alias):
        return [path for path, facts in self.facts.items() if alias in map(key, facts.aliases)]

    def names(self):
        return [(path, without_extension(path)) for path in self.files]

    def below(self, folder):
        return sorted(path for path in self.files if not folder or path.startswith(folder + "/"))

    def links(self):
        """(source, target, where it leads) of every link that leads somewhere."""
        found = []
        for source, facts in self.facts.items():
            for link in facts.links:
                leads = resolve(link.target, source, self, markdown=link.kind in MARKDOWN_KINDS)
                if leads.path is not None:
                    found.append((source, link.target, leads.path))
        return found

    def backlinks(self, path):
        return [Row(source, path) for source, _, leads in self.links() if leads == path and source != path]


@dataclass
class Outcome:
    folder: Folder
    counts: dict[str, int] = field(default_factory=dict)
    ambiguous: list[tuple[str, Ambiguous]] = field(default_factory=list)


def move(folder, moves):
    """The folder after `moves`, as a mover does it: plan, rewrite what is planned, put everything in its place."""
    after = Moved(folder, moves)
    outcome = Outcome(folder)
    files = dict(folder.files)
    for path in plan(moves, folder, folder):
        found = rewrite(path, moves.get(path, path), files[path], folder, after, moves)
        assert (found.count == 0) == (found.data == files[path])
        files[path] = found.data
        if found.count:
            outcome.counts[path] = found.count
        outcome.ambiguous += [(path, one) for one in found.ambiguous]
    outcome.folder = Folder({moves.get(path, path): data for path, data in files.items()})
    return outcome


def back(moves):
    return {new: old for old, new in moves.items()}


def folder_move(folder, old, new):
    return {path: new + path[len(old) :] for path in folder.below(old)}


def text(outcome, path):
    return outcome.folder.files[path].decode()
