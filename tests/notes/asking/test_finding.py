"""Search over one folder and over several: pages, filters, exact text, regular expressions, near words."""

import asyncio
import random
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from _served import brought_up, fill, folder_of, serving
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from notes_mcp.errors import ForbiddenError, InvalidRequestError, NotFoundError
from notes_mcp.notes.answers import IndexState, SearchPage
from notes_mcp.notes.asking import finding, lookup
from notes_mcp.notes.asking.finding import Asked, Finder
from notes_mcp.notes.folder import Folder
from notes_mcp.notes.shelf import Shelf

STATE = IndexState(0, 0, complete=True)


def ask(finder: Finder, query: str, *, limit: int = 10, cursor: str | None = None, state=STATE, **how) -> SearchPage:
    usual = {"folder": None, "tags": (), "properties": (), "modified_after": None, "mode": "words", "sort": "relevance"}
    return finder.search(Asked(query, **{**usual, **how}), limit, cursor, state)  # type: ignore[arg-type]


def found(page: SearchPage) -> list[str]:
    return [hit.note.path for hit in page.hits]


def finder_over(tmp_path: Path, *folders: dict[str, str]) -> Finder:
    names = ("Work", "Home", "日记")
    named = zip(names, folders, strict=False)
    return Finder(Shelf([brought_up(folder_of(fill(tmp_path / name, notes), name=name)) for name, notes in named]))


NOTES = {
    "Garden.md": "---\nstatus: open\n---\n# Garden\n\n## Tools\n\nThe garden needs a spade.\nA Spade, a garden.\n",
    "Soup.md": "# Soup\n\nlentils #food\n",
    "Projects/Plan.md": "# Plan\n\ngarden plan, 适者生存\n",
    "Projects/deep/Old.md": "nothing here\n",
}


@pytest.fixture
def one(tmp_path: Path) -> Finder:
    return finder_over(tmp_path, NOTES)


@pytest.fixture
def two(tmp_path: Path) -> Finder:
    return finder_over(tmp_path, NOTES, {"Soup.md": "soup with garden herbs\n", "Projects/Own.md": "own garden\n"})


def test_hits_have_lines_and_headings_from_the_file_as_it_is_now(one: Finder, tmp_path: Path) -> None:
    (hit,) = ask(one, "spade").hits
    assert [(match.line, match.heading) for match in hit.matches] == [(8, "Tools"), (9, "Tools")]
    fill(tmp_path / "Work", {"Garden.md": "# New\n\nspade\n"})
    (hit,) = ask(one, "spade").hits
    assert [(match.line, match.heading, match.text) for match in hit.matches] == [(3, "New", "spade")]
    (tmp_path / "Work/Garden.md").unlink()
    (hit,) = ask(one, "spade").hits
    assert hit.matches == ()


def test_filters_narrow(one: Finder) -> None:
    assert found(ask(one, "garden", folder="Projects")) == ["Projects/Plan.md"]
    assert found(ask(one, "", tags=("food",))) == ["Soup.md"]
    assert found(ask(one, "", properties=(("status", "open"),))) == ["Garden.md"]
    assert found(ask(one, "garden", modified_after="2999-01-01")) == []
    assert len(found(ask(one, "garden", modified_after="1999-01-01"))) == 2


@pytest.mark.parametrize(
    "how", [{"modified_after": "soon"}, {"mode": "fuzzy"}, {"sort": "size of it"}, {"cursor": "x"}]
)
def test_what_means_nothing_is_refused(one: Finder, how: dict[str, str]) -> None:
    with pytest.raises(InvalidRequestError):
        ask(one, "garden", **how)


@pytest.mark.parametrize(
    "folder", ["Projects", "projects", "PROJECTS/", "/Projects/"[1:], "Projects\\deep", "./Projects"]
)
def test_a_folder_is_known_in_other_spellings(one: Finder, folder: str) -> None:
    assert all(path.startswith("Projects/") for path in found(ask(one, "", folder=folder)))
    assert found(ask(one, "", folder=folder))


def test_a_folder_that_is_not_there_is_an_error_with_the_nearest(one: Finder, two: Finder) -> None:
    with pytest.raises(NotFoundError) as error:
        ask(one, "garden", folder="Projets")
    assert error.value.nearest[0] == "Projects" and "Projects" in str(error.value)
    with pytest.raises(NotFoundError) as error:
        ask(two, "garden", folder="work/Projets")
    assert error.value.nearest[0] == "Work/Projects"
    with pytest.raises(NotFoundError, match="list_notes"):
        ask(one, "garden", folder="qqqq")
    with pytest.raises(ForbiddenError):
        ask(one, "garden", folder="../x")
    with pytest.raises(InvalidRequestError):
        ask(one, "garden", folder="Garden.md")


def test_a_decomposed_folder_is_found_by_its_composed_name(tmp_path: Path) -> None:
    finder = finder_over(tmp_path, {"Cafe\u0301/a.md": "x"})
    assert found(ask(finder, "x", folder="Café")) == found(ask(finder, "x", folder="café")) == ["Cafe\u0301/a.md"]


def test_several_folders_are_searched_as_one(two: Finder, tmp_path: Path) -> None:
    assert set(found(ask(two, "garden"))) == {
        "Work/Garden.md", "Work/Projects/Plan.md", "Home/Soup.md", "Home/Projects/Own.md",
    }  # fmt: skip
    assert set(found(ask(two, "garden", folder="home/"))) == {"Home/Soup.md", "Home/Projects/Own.md"}
    assert set(found(ask(two, "garden", folder="Work/Projects"))) == {"Work/Projects/Plan.md"}
    assert set(found(ask(two, "garden", folder="Projects"))) == {"Work/Projects/Plan.md", "Home/Projects/Own.md"}
    assert found(ask(two, "garden", folder=str(tmp_path / "Home" / "Projects"))) == ["Home/Projects/Own.md"]


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("garden path:work", {"Work/Garden.md", "Work/Projects/Plan.md"}),
        ("garden -path:work", {"Home/Soup.md", "Home/Projects/Own.md"}),
        ("garden path:work/proj", {"Work/Projects/Plan.md"}),
        ("garden -path:work/proj path:plan", set()),
        ("garden path:projects", {"Work/Projects/Plan.md", "Home/Projects/Own.md"}),
    ],
)
def test_path_filters_see_the_folders_names(two: Finder, query: str, paths: set[str]) -> None:
    assert set(found(ask(two, query))) == paths


def test_some_words_count_only_where_no_folder_has_all_of_them(two: Finder) -> None:
    page = ask(two, "garden spade")
    assert (found(page), page.total, page.relaxed) == (["Work/Garden.md"], 1, False)
    page = ask(two, "garden zeppelin")
    assert page.relaxed and page.total == 4


def test_a_misspelt_word_gets_the_nearest_also_beside_hits_for_the_others(one: Finder, two: Finder) -> None:
    assert ask(one, "lentisl").did_you_mean == ("lentils",)
    page = ask(two, "gardne soup")
    assert page.relaxed and "garden" in page.did_you_mean
    assert ask(one, "garden").did_you_mean == ()
    assert ask(one, "lentisl", state=IndexState(1, 9, complete=False)).did_you_mean == ()
    assert len(ask(one, "gardne lentisl spdae palne").did_you_mean) <= 3


# -- exact and regex ---------------------------------------------------------------------------------


def test_exact_finds_what_stands_in_the_file_front_matter_and_parts_of_words_too(one: Finder) -> None:
    assert found(ask(one, "status: open", mode="exact")) == ["Garden.md"]
    assert set(found(ask(one, "arden", mode="exact"))) == {"Garden.md", "Projects/Plan.md"}
    assert found(ask(one, "A Spade", mode="exact")) == ["Garden.md"]
    assert found(ask(one, "a SPADE", mode="exact")) == []
    assert found(ask(one, "者生", mode="exact")) == ["Projects/Plan.md"]
    (hit,) = ask(one, "spade.\nA Spade", mode="exact").hits
    assert [(match.line, match.heading) for match in hit.matches] == [(8, "Tools")]
    assert ask(one, "lentisl", mode="exact").did_you_mean == ()


def test_regex_is_line_by_line_and_ranks_by_the_lines_that_match(one: Finder) -> None:
    page = ask(one, r"(?i)\bgarden\b", mode="regex")
    assert found(page) == ["Garden.md", "Projects/Plan.md"]
    assert page.hits[0].score == 3.0 and page.total == 2
    assert [match.line for match in page.hits[0].matches] == [4, 8, 9]
    assert found(ask(one, "garden$", mode="regex", folder="Projects")) == []
    assert found(ask(one, "^#", mode="regex", tags=("food",))) == ["Soup.md"]
    with pytest.raises(InvalidRequestError, match="regular expression"):
        ask(one, "(", mode="regex")


def test_the_lines_that_are_not_shown_are_counted(tmp_path: Path) -> None:
    finder = finder_over(tmp_path, {"a.md": "x\n" * 9})
    for mode in ("exact", "regex"):
        (hit,) = ask(finder, "x", mode=mode).hits
        assert (len(hit.matches), hit.more) == (finding.MATCHES_SHOWN, 9 - finding.MATCHES_SHOWN)


def test_a_search_that_takes_too_long_says_where_and_how_far(tmp_path: Path, monkeypatch) -> None:
    finder = finder_over(tmp_path, {"a.md": "fine\n", "b.md": "a" * 5_000 + "\n", "c.md": "fine\n"})
    began = time.monotonic()
    with pytest.raises(InvalidRequestError, match=r"stopped at b\.md, after 1 of 3 notes"):
        ask(finder, r"(?:a|a)*(?:a|aa)*\d$", mode="regex")
    assert time.monotonic() - began < 20
    monkeypatch.setattr(finding, "Deadline", lambda: lookup.Deadline(0))
    for mode in ("exact", "regex"):
        with pytest.raises(InvalidRequestError, match="after 0 of 3 notes"):
            ask(finder, "fine", mode=mode)


def test_notes_that_cannot_be_read_are_passed_over(one: Finder, tmp_path: Path) -> None:
    (tmp_path / "Work/Garden.md").unlink()
    assert found(ask(one, "garden", mode="exact")) == ["Projects/Plan.md"]


def test_lines_of_a_note_that_grew_too_slow_meanwhile_are_left_out(one: Finder, monkeypatch) -> None:
    texts = lookup.lines
    rounds = []

    def slow(pattern, text, deadline):
        rounds.append(text)
        if len(rounds) > 4:
            raise lookup.TooSlowError
        return texts(pattern, text, deadline)

    monkeypatch.setattr(lookup, "lines", slow)
    hits = ask(one, "garden", mode="regex").hits
    assert len(hits) == 2 and all(hit.matches == () for hit in hits)


async def test_the_modes_are_reached_through_the_library(tmp_path: Path) -> None:
    async with serving(tmp_path, fill(tmp_path / "notes", NOTES)) as (library, _):
        exact, regex, words = await asyncio.gather(
            library.search("status: open", mode="exact"),
            library.search(r"spade\.", mode="regex"),
            library.search("garden", properties={"status": "open"}),
        )
        assert found(exact) == found(regex) == found(words) == ["Garden.md"]


# -- pages -------------------------------------------------------------------------------------------


def pages(finder: Finder, query: str, sizes: Sequence[int], between=lambda number: None, **how) -> list[list[str]]:
    given_out, cursor = [], None
    for number in range(500):
        page = ask(finder, query, limit=sizes[number % len(sizes)], cursor=cursor, **how)
        given_out.append(found(page))
        cursor = page.next_cursor
        if cursor is None:
            return given_out
        between(number)
    raise AssertionError("the pages never end")


WORDS = ("garden", "garden garden soup", "soup", "a garden that is long " + "x " * 30)
FOLDERS = st.lists(
    st.dictionaries(
        st.sampled_from([f"{d}{n}.md" for d in ("", "a/", "b/") for n in range(5)]), st.sampled_from(WORDS)
    ),
    min_size=1,
    max_size=3,
)
HOW = st.sampled_from(
    [
        {"query": "garden"}, {"query": "garden soup"}, {"query": "garden", "sort": "path"}, {"query": "-zebra"},
        {"query": "garden", "sort": "modified"}, {"query": "garden", "mode": "exact"},
        {"query": "garden", "mode": "exact", "sort": "modified"}, {"query": "so?up", "mode": "regex"},
    ]
)  # fmt: skip


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(FOLDERS, HOW, st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_pages_give_each_hit_once_and_in_the_order_of_one_page(tmp_path_factory, folders, how, sizes) -> None:
    finder = finder_over(tmp_path_factory.mktemp("pages"), *folders)
    whole = ask(finder, limit=1_000, **how)
    given_out = pages(finder, sizes=sizes, **how)
    assert [path for page in given_out for path in page] == found(whole)
    assert whole.total == len(found(whole)) and whole.next_cursor is None


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(FOLDERS, HOW, st.lists(st.integers(1, 3), min_size=1, max_size=3), st.integers(0, 1_000_000))
def test_pages_give_each_note_that_stays_once_while_others_come_and_go(
    tmp_path_factory, folders, how, sizes, seed
) -> None:
    root = tmp_path_factory.mktemp("moving")
    finder = finder_over(root, *folders)
    strict = "soup" not in how["query"] or how.get("mode") == "regex"
    shelf: list[Folder] = list(finder._shelf)
    before = set(found(ask(finder, limit=1_000, **how)))
    rng = random.Random(seed)
    gone: set[str] = set()

    def between(number: int) -> None:
        folder = rng.choice(shelf)
        if rng.random() < 0.5:
            fill(folder.vault.root, {f"new {number}.md": rng.choice(WORDS) if strict else "garden " * 3})
            folder.refresh([f"new {number}.md"])
        elif known := folder.index.below(""):
            path = rng.choice(known)
            (folder.vault.root / path).unlink()
            folder.refresh([path], sure=True)
            gone.add(finder._shelf.label(folder, path))

    given_out = [path for page in pages(finder, sizes=sizes, between=between, **how) for path in page]
    assert len(given_out) == len(set(given_out))
    if strict:  # whether all the words or some are asked for may change with the notes
        assert before - gone <= set(given_out)


def test_a_ranking_that_is_forgotten_goes_on_behind_its_last_row(one: Finder, monkeypatch) -> None:
    monkeypatch.setattr(finding, "RANKINGS_REMEMBERED", 1)
    whole = found(ask(one, ""))
    first = ask(one, "", limit=1)
    second = ask(one, "garden", limit=1)
    assert len(one._shown) == 1  # the first one is forgotten
    assert found(ask(one, "", limit=9, cursor=first.next_cursor)) == whole[1:]
    assert found(first) + found(ask(one, "", limit=9, cursor=first.next_cursor)) == whole
    assert len(found(ask(one, "garden", limit=9, cursor=second.next_cursor))) == 1


def test_a_cursor_belongs_to_its_question(one: Finder) -> None:
    cursor = ask(one, "garden", limit=1).next_cursor
    assert cursor is not None
    for how in ({"query": "soup"}, {"query": "garden", "folder": "Projects"}, {"query": "garden", "sort": "path"}):
        with pytest.raises(InvalidRequestError):
            ask(one, cursor=cursor, **how)


def test_a_date_beyond_all_measure_is_one_like_others(one: Finder) -> None:
    assert found(ask(one, "garden", modified_after="9999-12-31")) == []
    assert found(ask(one, "spade", modified_after="0001-01-02")) == ["Garden.md"]
