"""Two servers' views of one folder over one index: what one has read the other does not read again."""

import logging
import os
from pathlib import Path

import pytest
from _served import fill

from notes_mcp.notes import folder as folder_module
from notes_mcp.notes import intake
from notes_mcp.notes.disk.vault import Vault
from notes_mcp.notes.folder import Folder
from notes_mcp.notes.index.index import Index


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return fill(tmp_path / "notes", {f"{number}.md": f"word{number}\n" for number in range(6)})


@pytest.fixture
def two(root: Path, tmp_path: Path):
    made = [Folder(name, Vault(root), Index.open(tmp_path / "cache" / "index.db")) for name in ("one", "two")]
    yield made
    for folder in made:
        folder.index.close()


@pytest.fixture
def read(monkeypatch) -> list[str]:
    """The paths that were taken apart."""
    taken: list[str] = []
    extract = intake.extract
    monkeypatch.setattr(intake, "extract", lambda path, data: (taken.append(path), extract(path, data))[1])
    return taken


def kinds(folder: Folder) -> list[tuple[str, str]]:
    return [(change.kind, change.path) for change in folder.news()[0]]


def test_two_first_surveys_read_each_note_once_and_none_of_it_is_news(two, read, monkeypatch, caplog) -> None:
    monkeypatch.setattr(folder_module, "CHUNK_FILES", 1)
    caplog.set_level(logging.DEBUG, "notes_mcp.notes.folder")
    one, other = two
    surveys = [folder.survey() for folder in two]
    assert [len(survey.stale) for survey in surveys] == [6, 6] and all(survey.first for survey in surveys)
    for portions in zip(*(folder.chunks(survey) for folder, survey in zip(two, surveys, strict=True)), strict=True):
        for folder, portion in zip(two, portions, strict=True):
            assert folder.refresh(seen=portion, quiet=True) == frozenset()
    assert sorted(read) == [f"{number}.md" for number in range(6)]
    assert caplog.text.count("1 notes read, 0 files known by then") == 6
    assert caplog.text.count("0 notes read, 1 files known by then") == 6
    one.finish()
    assert kinds(one) == kinds(other) == []
    assert not other.survey().first


def test_a_note_that_comes_after_one_server_was_done_is_news_whichever_sees_it(two, root: Path) -> None:
    one, other = two
    first = one.survey()
    for portion in one.chunks(first):
        one.refresh(seen=portion, quiet=first.first)
    one.finish()
    fill(root, {"new.md": "new\n"})
    other.refresh(["new.md"], quiet=True)  # its own first look at the folder is still going on
    assert kinds(one) == kinds(other) == [("created", "new.md")]


def test_what_one_cut_short_the_next_one_does_not_take_for_news(two, root: Path) -> None:
    one, other = two
    one.refresh(["0.md"], quiet=True)
    assert other.survey().first and len(other.survey().stale) == 5


def test_a_save_is_taken_apart_once_and_told_by_both(two, root: Path, read: list[str]) -> None:
    one, _ = two
    one.refresh([""], quiet=True)
    one.finish()
    read.clear()
    fill(root, {"0.md": "changed\n"})
    for folder in two:
        folder.refresh(["0.md"])
        folder.refresh(["0.md"])
        assert kinds(folder) == [("updated", "0.md")]
    assert read == ["0.md"]


def test_an_edit_of_the_same_size_and_time_is_seen_by_a_comparison(two, root: Path) -> None:
    one, _ = two
    one.refresh([""], quiet=True)
    one.finish()
    before = (root / "0.md").stat()
    while (root / "0.md").stat().st_ctime_ns == before.st_ctime_ns:  # a clock that ticks in milliseconds
        (root / "0.md").write_text("drow0\n")
        os.utime(root / "0.md", ns=(before.st_atime_ns, before.st_mtime_ns))
    survey = one.survey()
    assert [file.path for file in survey.stale] == ["0.md"]
    one.refresh(seen=survey.stale)
    assert kinds(one) == [("updated", "0.md")]


def test_a_change_of_rights_alone_is_no_change(two, root: Path, read: list[str]) -> None:
    one, _ = two
    one.refresh([""], quiet=True)
    one.finish()
    read.clear()
    before = (root / "0.md").stat()
    while (root / "0.md").stat().st_ctime_ns == before.st_ctime_ns:
        (root / "0.md").chmod(0o600)
    survey = one.survey()
    one.refresh(seen=survey.stale)
    assert (kinds(one), read, one.survey().stale) == ([], [], ())


def test_bytes_known_as_those_of_a_row_that_another_server_replaced_are_left_to_it(two, root: Path) -> None:
    """Without the turn, should its holder hang, the index may change between reading and filing."""
    one, other = two
    one.refresh([""], quiet=True)
    one.finish()
    apply = one.index.apply

    def late(batch):
        fill(root, {"0.md": "newer\n"})
        other.refresh(["0.md"])
        return apply(batch)

    one.index.apply = late
    one.index._turn = other.index._turn = None
    os.utime(root / "0.md", (1, 1))
    one.refresh(["0.md"])
    assert kinds(one) == [("updated", "0.md")]
    assert one.survey().stale == ()


def test_a_note_not_understood_stays_a_problem_while_its_bytes_are_the_same(two, root: Path, monkeypatch) -> None:
    one, _ = two

    def failing(path: str, data: bytes):
        raise RecursionError

    with monkeypatch.context() as patch:
        patch.setattr(intake, "extract", failing)
        one.refresh(["0.md"])
    os.utime(root / "0.md", (1, 1))
    one.refresh(["0.md"])
    assert [problem.kind for problem in one.problems() if problem.path] == ["not_understood"]
    fill(root, {"0.md": "simple now\n"})
    one.refresh(["0.md"])
    assert [problem for problem in one.problems() if problem.path] == []
