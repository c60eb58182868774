"""What the specification asks of this server, `rows/*.toml`, and what it asks of others, `left_out.toml`.

A row is a sentence, word for word (see `spec_pages`), the places where it stands, and the tests that show that it is
followed; or, if it only SHOULD be, the reason why it is not. `overruled_by` names another row that contradicts it.
Everything else that asks has a mark in `left_out.toml`; a row comes before a mark.
"""

import ast
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from spec_pages import Sentence, asking, levels, pages

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
_PLACE = re.compile(r"((?:\d{4}-\d\d-\d\d )+)(\S+?)#(.*)")


@dataclass(frozen=True, slots=True)
class Row:
    """One sentence. `tests` are pytest node ids without parameters, relative to the repository."""

    says: str
    at: tuple[str, ...]
    tests: tuple[str, ...] = ()
    not_followed: str = ""
    overruled_by: str = ""
    why: str = ""

    def sentences(self) -> Iterator[Sentence]:
        """Where it stands: "2025-11-25 2025-06-18 basic/index#Requests" is two. Raises ValueError."""
        for place in self.at:
            found = _PLACE.fullmatch(place)
            if found is None:
                raise ValueError(f"no place: {place}")
            revisions, page, section = found.groups()
            yield from (Sentence(revision, page, section, self.says) for revision in revisions.split())

    def faults(self) -> Iterator[str]:
        """What is wrong with the row itself."""
        asked = levels(self.says)
        if not asked:
            yield "it asks for nothing"
        if not self.at:
            yield "it stands nowhere"
        if self.not_followed and asked & {"MUST", "MUST NOT", "SHALL", "SHALL NOT", "REQUIRED"}:
            yield "what MUST be cannot be left undone"
        if self.not_followed and self.overruled_by:
            yield "it is either not followed or overruled"
        if bool(self.overruled_by) != bool(self.why):
            yield "what overrules it, and why, belong together"
        if not self.tests and not self.not_followed:
            yield "no test shows it"
        yield from (f"no such test: {test}" for test in self.tests if not is_test(test))


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What is no row, and why. A sentence is covered by its page, its place, the way it begins, or word for word."""

    why: str
    pages: tuple[str, ...] = ()  # globs over "basic/index"
    places: tuple[str, ...] = ()  # globs over "basic/index#Requests"
    says: str = ""  # what it begins with, a regular expression
    unless: str = ""  # and what may then be nowhere in it
    quotes: tuple[str, ...] = ()

    def covers(self, sentence: Sentence) -> bool:
        place = f"{sentence.page}#{sentence.section}"
        return (
            sentence.text in self.quotes
            or any(fnmatchcase(sentence.page, glob) for glob in self.pages)
            or any(fnmatchcase(place, glob) for glob in self.places)
            or bool(
                self.says
                and re.match(self.says, sentence.text)
                and not (self.unless and re.search(self.unless, sentence.text))
            )
        )


def rows(folder: Path = HERE / "rows") -> list[Row]:
    """Every row, file by file. Raises TypeError for a key that no row has."""
    return [Row(**_frozen(row)) for path in sorted(folder.glob("*.toml")) for row in _read(path)["row"]]


def left_out(path: Path = HERE / "left_out.toml") -> list[LeftOut]:
    """Every mark. Raises TypeError for a key that no mark has."""
    return [LeftOut(**_frozen(mark)) for mark in _read(path)["left_out"]]


def unread(found: Sequence[Sentence], table: Sequence[Row], marks: Sequence[LeftOut]) -> list[Sentence]:
    """Those of the sentences that have neither a row nor a mark."""
    known = {sentence for row in table for sentence in row.sentences()}
    return [each for each in found if each not in known and not any(mark.covers(each) for mark in marks)]


def stale(found: Sequence[Sentence], table: Sequence[Row], marks: Sequence[LeftOut]) -> list[str]:
    """Places of rows, and quotes and globs of marks, that fit none of the sentences."""
    there, said = set(found), {sentence.text for sentence in found}
    lost = [f"{each}" for row in table for each in row.sentences() if each not in there]
    lost += [quote for mark in marks for quote in mark.quotes if quote not in said]
    for mark in marks:
        lost += [glob for glob in mark.pages if not any(fnmatchcase(each.page, glob) for each in found)]
        places = {f"{each.page}#{each.section}" for each in found}
        lost += [glob for glob in mark.places if not any(fnmatchcase(place, glob) for place in places)]
    return lost


def sentences(checkout: Path, revision: str) -> list[Sentence]:
    """Every sentence of a revision that asks. Raises OSError if the checkout has no such revision."""
    return [each for page, text in pages(checkout, revision) for each in asking(revision, page, text)]


def is_test(node_id: str) -> bool:
    """Whether a test of that name is there: `path::test_x` or `path::TestClass::test_x`."""
    path, *names = node_id.split("::")
    return names[-1].startswith("test_") and tuple(names) in _tests_in(ROOT / path)


@cache
def _tests_in(path: Path) -> frozenset[tuple[str, ...]]:
    if not path.name.startswith("test_") or not path.is_file():
        return frozenset()
    found: set[tuple[str, ...]] = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        holders = node.body if isinstance(node, ast.ClassDef) and node.name.startswith("Test") else [node]
        above = (node.name,) if isinstance(node, ast.ClassDef) else ()
        found |= {(*above, each.name) for each in holders if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}
    return frozenset(found)


def _read(path: Path) -> dict[str, list[dict[str, object]]]:
    return tomllib.loads(path.read_text("utf-8"))


def _frozen(table: dict[str, object]) -> dict[str, object]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
