"""The order of hits: what a title, alias, tag, heading or path is worth beside the text; words that stand together."""

from collections.abc import Iterator

import pytest
from _entries import note

from notes_mcp.notes.index import ranking
from notes_mcp.notes.index.index import Index
from notes_mcp.notes.index.query import parse
from notes_mcp.notes.records import Batch, Entry

FILLER = "other words of a text that says nothing about it " * 5
STUFFED = "budget 预算 " * 40 + FILLER


@pytest.fixture
def index() -> Iterator[Index]:
    opened = Index.open(None)
    yield opened
    opened.close()


def put(index: Index, *entries: Entry) -> None:
    # Many more without the words, as in real folders: a word of half of the notes says nothing.
    others = [note(f"other/{number}.md", FILLER) for number in range(30)]
    index.apply(Batch((*entries, *others)))


def found(index: Index, query: str) -> list[str]:
    return [hit.note.path for hit in index.search(parse(query), limit=50).hits]


@pytest.mark.parametrize("word", ["budget", "预算"])
@pytest.mark.parametrize("where", ["title", "aliases", "tags", "headings", "path"])
def test_a_word_in_a_name_or_heading_counts_more_than_many_in_the_text(index: Index, where: str, word: str) -> None:
    path = f"{word} of b.md" if where == "path" else "b.md"
    value = {"title": f"The {word} of it"}.get(where, [f"the {word}"])
    named = {} if where == "path" else {where: value}
    put(index, note("a.md", STUFFED), note(path, FILLER, **{"title": "x", **named}))  # type: ignore[arg-type]
    assert found(index, word) == [path, "a.md"]


@pytest.mark.parametrize("query", ["Garden plan", "gárden-plan", "花园计划", "花园 计划"])
@pytest.mark.parametrize("where", ["title", "aliases"])
def test_an_exact_title_or_alias_is_first(index: Index, query: str, where: str) -> None:
    words = "garden plan garden plan 花园计划 "
    name = "Garden plan" if query.isascii() or "-" in query else "花园计划"
    named = {"title": name} if where == "title" else {"aliases": ["x", name]}
    put(
        index,
        note("a.md", words * 30, title=f"{name}: {name} and {name}", headings=[name] * 5, tags=[name]),
        note("b.md", FILLER * 20 + words, **named),  # type: ignore[arg-type]
    )
    assert found(index, query) == ["b.md", "a.md"]


def test_words_that_stand_together_beat_scattered_ones_and_in_order_still_more(index: Index) -> None:
    apart = "copper " + FILLER + "lantern " + FILLER
    put(
        index,
        note("scattered.md", apart * 3),
        note("near.md", FILLER * 3 + "lantern of some copper " + FILLER * 3),
        note("in order.md", FILLER * 3 + "copper lantern and more " + FILLER * 3),
    )
    assert found(index, "copper lantern") == ["in order.md", "near.md", "scattered.md"]


@pytest.mark.parametrize("query", ["word", "word other", "词"])
def test_of_equal_hits_the_newest_is_first(index: Index, query: str) -> None:
    put(index, *(note(f"{n}.md", "word other 词", title="x", modified_ns=10 + n * 7 % 5) for n in range(5)))
    times = [hit.note.modified_ns for hit in index.search(parse(query), limit=50).hits if "/" not in hit.note.path]
    assert times == sorted(times, reverse=True)
    assert len(set(times)) == 5


@pytest.mark.parametrize("query", ["alpha", "alpha beta", "词", "alpha missing"])
def test_words_of_very_many_notes_are_ranked_where_they_tell_something_and_all_are_found(
    index: Index, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking, "MOST_WORK", 12)
    plain = [note(f"{n:02}.md", "alpha beta 词", title="x", modified_ns=n) for n in range(40)]
    put(index, *plain, note("named.md", "beta", title="Alpha beta 词", modified_ns=0))
    seen, last = [], None
    while True:
        page = index.search(parse(query), limit=7, after=last)
        seen += [hit.note.path for hit in page.hits]
        last = page.after
        if last is None:
            break
    ours = [path for path in seen if not path.startswith("other/")]
    assert ours == ["named.md", *(f"{n:02}.md" for n in reversed(range(40)))]
    assert len(seen) == len(set(seen)) == page.total
    assert found(index, f"{query} -title:beta")[0] == "39.md"
