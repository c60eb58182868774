from collections.abc import Iterator

import pytest
from _entries import attachment, note

from notes_mcp.errors import InvalidRequestError
from notes_mcp.notes.index import ranking
from notes_mcp.notes.index.index import Index
from notes_mcp.notes.index.query import parse
from notes_mcp.notes.markup.facts import extract
from notes_mcp.notes.records import Batch, Entry


@pytest.fixture
def index(tmp_path) -> Iterator[Index]:
    opened = Index.open(tmp_path / "index.db")
    yield opened
    opened.close()


def put(index: Index, *entries: Entry, gone: tuple[str, ...] = ()) -> None:
    index.apply(Batch(entries, gone))


def found(index: Index, query: str, **narrowed: object) -> list[str]:
    return [hit.note.path for hit in index.search(parse(query), **narrowed).hits]  # type: ignore[arg-type]


def test_hazard_121_words_inside_a_chinese_run_are_found(index: Index) -> None:
    put(index, note("a.md", "物竞天择，即适者生存，古今皆然。"), note("b.md", "严格止损"), note("c.md", "者适存生"))
    assert found(index, "适者生存") == ["a.md"]
    assert found(index, "止损") == ["b.md"]
    assert sorted(found(index, "存")) == ["a.md", "c.md"]
    assert found(index, "适生") == []


@pytest.mark.parametrize("query", ["しりとり", "끝말잇기", "成语接龙"])
def test_hazard_122_japanese_korean_and_chinese_are_found(index: Index, query: str) -> None:
    put(index, note("a.md", "あしりとりを。끝말잇기를 했다 玩成语接龙吧"), note("b.md", "other"))
    assert found(index, query) == ["a.md"]


@pytest.mark.parametrize("query", ["gen", "重跑", "gen后", "重跑gen"])
def test_hazard_124_a_change_of_script_is_a_word_border(index: Index, query: str) -> None:
    put(index, note("a.md", "先重跑gen后再看"), note("b.md", "generation"))
    assert found(index, query) == ["a.md"]


def test_hazard_125_each_of_three_chinese_queries_answers(index: Index) -> None:
    put(index, note("a.md", "学习计划"), note("b.md", "会议记录"), note("c.md", "项目计划"))
    assert [sorted(found(index, query)) for query in ("学习", "计划", "会议记录")] == [
        ["a.md"],
        ["a.md", "c.md"],
        ["b.md"],
    ]


@pytest.mark.parametrize(
    ("body", "query"),
    [
        ("Съешь ещё этих мягких булок", "еще булок"),
        ("Η γρήγορη αλεπού", "γρηγορη"),
        ("עברית עם נִקּוּד", "נקוד עברית"),
        ("اللُّغَة العربية", "اللغة"),
        ("ภาษาไทยเป็นภาษา", "เป็น ไทย"),
        ("हिन्दी भाषा", "भाषा"),
        ("ខ្មែរ", "ខ្មែរ"),
        ("Tiếng Việt", "tieng viet"),
        ("ÅNGSTRÖM", "angstrom"),
    ],
)
def test_hazard_127_every_script_is_searched_alike(index: Index, body: str, query: str) -> None:
    put(index, note("a.md", body), note("b.md", "other"))
    assert found(index, query) == ["a.md"]
    assert found(index, f"{query} missing") == ["a.md"]  # relaxed


def test_hazard_128_hyphens_and_quotes_are_harmless(index: Index) -> None:
    put(index, note("a.md", "a foo-bar here"), note("b.md", "foo and bar"))
    assert found(index, "foo-bar") == ["a.md"]
    assert found(index, '"a | user') == ["a.md"]
    assert sorted(found(index, "foo AND (bar*")) == ["a.md", "b.md"]


def test_hazard_130_a_search_is_narrowed_to_a_folder(index: Index) -> None:
    put(index, note("x/a.md", "word"), note("x/y/b.md", "word"), note("xy/c.md", "word"), note("d.md", "word"))
    assert found(index, "word", folder="x") == ["x/a.md", "x/y/b.md"]
    assert found(index, "word", folder="X/") == ["x/a.md", "x/y/b.md"]
    assert index.search(parse("word"), folder="").total == 4


def test_words_are_anded_and_relaxed_only_if_nothing_has_them_all(index: Index) -> None:
    put(index, note("a.md", "alpha beta"), note("b.md", "beta gamma"))
    strict = index.search(parse("alpha beta"))
    assert ([hit.note.path for hit in strict.hits], strict.relaxed) == (["a.md"], False)
    relaxed = index.search(parse("alpha gamma"))
    assert (relaxed.total, relaxed.relaxed) == (2, True)
    nothing = index.search(parse("delta epsilon"))
    assert (nothing.total, nothing.relaxed) == (0, False)


def test_a_long_chinese_question_is_relaxed_to_its_pairs(index: Index) -> None:
    put(index, note("a.md", "写计划的方法"), note("b.md", "划船"))
    result = index.search(parse("如何写计划"))
    assert ([hit.note.path for hit in result.hits], result.relaxed) == (["a.md"], True)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('"quick fox"', ["b.md"]),
        ("fox -quick", ["c.md"]),
        ('fox -"quick fox"', ["a.md", "c.md"]),
        ("-fox", ["d.md"]),
        ("-fox -tag:x", []),
        ("qui*", ["a.md", "b.md"]),
        ("title:fox", ["c.md"]),
        ("-title:fox fox", ["a.md", "b.md"]),
        ("tag:x", ["c.md", "d.md"]),
        ("tag:x -tag:x/y", ["d.md"]),
        ("fox tag:x", ["c.md"]),
        ("path:c.m", ["c.md"]),
        ("[status:done]", ["a.md"]),
        ("[STATUS:Done] fox", ["a.md"]),
        ("[status:]", ["a.md", "b.md"]),
        ("-[status:] fox", ["c.md"]),
        ("[done:status]", []),
        ("fox OR bear", ["a.md", "b.md", "c.md", "d.md"]),
        ("???", []),
        ("", ["a.md", "b.md", "c.md", "d.md"]),
    ],
)
def test_the_grammar_reaches_the_index(index: Index, query: str, expected: list[str]) -> None:
    put(
        index,
        note("a.md", "quick brown fox", properties=[("Status", "done"), ("n", "1.10")]),
        note("b.md", "quick fox", properties=[("status", "open")]),
        note("c.md", "the", title="fox", tags=["x/y"]),
        note("d.md", "bear", tags=["X"]),
        attachment("e.png"),
    )
    assert sorted(found(index, query)) == expected


def test_arguments_narrow_as_the_grammar_does(index: Index) -> None:
    put(
        index,
        note("a.md", "w", tags=["x", "y"], properties=[("p", "1"), ("p", "2"), ("b", "true")], modified_ns=10),
        note("b.md", "w", tags=["x"], properties=[("p", "1")], modified_ns=20),
    )
    assert found(index, "w", tags=["x", "#Y"]) == ["a.md"]
    assert found(index, "w", properties={"p": 1}, sort="path") == ["a.md", "b.md"]
    assert found(index, "w", properties={"P": ["1", "2"]}) == ["a.md"]
    assert found(index, "w", properties={"b": True}) == ["a.md"]
    assert found(index, "w", properties={"b": None}) == ["a.md"]
    assert found(index, "w", modified_after_ns=10) == ["b.md"]
    assert found(index, "", tags=["y"]) == ["a.md"]


def test_english_words_are_found_by_their_stem_and_by_prefixes_beyond_it(index: Index) -> None:
    put(index, note("a.md", "relational programming, running"))
    for query in ("relations", "programs", "runs", "relatio*", "programm*", "runnin*", '"relation program"'):
        assert found(index, query) == ["a.md"], query


def test_a_title_counts_more_than_the_text(index: Index) -> None:
    put(
        index,
        note("a.md", "budget budget budget"),
        note("b.md", "text", title="Budget"),
        note("c.md", "x", tags=["budget"]),
    )
    assert found(index, "budget")[:2] == ["b.md", "c.md"]


def test_aliases_tags_headings_and_paths_are_searched(index: Index) -> None:
    put(
        index,
        note("Reports/2024.md", "x", aliases=["Annual"], tags=["finance/q1"], headings=["Outlook"]),
        note("b.md", "x"),
    )
    for query in ("annual", "finance", "q1", "outlook", "reports", "2024"):
        assert found(index, query) == ["Reports/2024.md"]


def test_an_emoji_is_found(index: Index) -> None:
    put(index, note("a.md", "done🎉"), note("b.md", "done🎊"))
    assert found(index, "🎉") == ["a.md"]


@pytest.mark.parametrize("sort", ["relevance", "modified", "path", "size"])
@pytest.mark.parametrize("query", ["word", "", "word other*", "tag:t"])
def test_pages_of_hits_follow_each_other(index: Index, sort: str, query: str) -> None:
    bodies = ["word other", "word word", "word", "word", "a word in a longer text"]
    put(index, *(note(f"{n}.md", bodies[n % 5], tags=["t"], modified_ns=1_700_000_000_123_456_789 + n % 4 * 1_000)
                 for n in range(20)))  # fmt: skip
    whole = index.search(parse(query), sort=sort, limit=50)
    seen, after = [], None
    while True:
        page = index.search(parse(query), sort=sort, limit=3, after=after)
        assert page.total == whole.total
        seen += [hit.note.path for hit in page.hits]
        after = page.after
        if after is None:
            break
    assert seen == [hit.note.path for hit in whole.hits]
    assert len(seen) == len(set(seen)) == whole.total


def test_newest_first_where_nothing_is_ranked(index: Index) -> None:
    put(
        index,
        note("a.md", "x", modified_ns=1),
        note("b.md", "x", modified_ns=5_000_000),
        note("c.md", modified_ns=-9_999),
    )
    assert found(index, "") == ["b.md", "a.md", "c.md"]
    assert found(index, "x", sort="modified") == ["b.md", "a.md"]


@pytest.mark.parametrize("query", ["word", "", "absent"])
def test_a_wrong_key_is_refused_by_every_search(index: Index, query: str) -> None:
    with pytest.raises(InvalidRequestError):
        index.search(parse(query), after=("x",))


def test_the_index_follows_an_edit_and_a_deletion(index: Index) -> None:
    put(index, note("a.md", "before"))
    put(index, note("a.md", "after"))
    assert (found(index, "before"), found(index, "after")) == ([], ["a.md"])
    put(index, gone=("a.md",))
    assert found(index, "after") == []


def test_near_words_are_offered_as_notes_write_them(index: Index) -> None:
    texts = {"a.md": "Planning the Receipts", "b.md": "naïve café"}
    put(index, *(note(path, body) for path, body in texts.items()))
    assert index.did_you_mean(parse("plannig"), texts.get)[0] == "planning"
    assert index.did_you_mean(parse("reciepts"), texts.get)[0] == "receipts"
    assert index.did_you_mean(parse("niave"), texts.get)[0] == "naive"
    assert index.did_you_mean(parse("planning 计划 zzzz qq"), texts.get) == ()
    assert index.did_you_mean(parse("receits"), lambda path: None)[0].startswith("receipt")


@pytest.mark.parametrize("text", ["\ud800", "tag:\ud800", "[\ud800:\udfff]", "path:\ud800", "\0", "-\0", "title:\0 x"])
def test_text_that_is_no_unicode_is_a_query_too(index: Index, text: str) -> None:
    put(index, note("a.md", "x"))
    assert index.search(parse(text), folder="\ud800", tags=["\ud800"], properties={"\ud800": "\ud800"}).total == 0


def test_a_condition_said_a_thousand_times_is_one(index: Index) -> None:
    put(index, note("a.md", "word", tags=["x"], properties=[("k", "v")]), note("b.md", "word"))
    assert found(index, "word", tags=["x", "#X"] * 1_000, properties={"k": ["v"] * 1_000}) == ["a.md"]


@pytest.mark.parametrize(
    "narrowed",
    [
        {"tags": [f"t{n}" for n in range(1_000)]},
        {"properties": {f"p{n}": 1 for n in range(1_000)}},
        {"properties": {"p": list(range(1_000))}},
    ],
)
def test_more_conditions_than_a_statement_can_hold_are_refused(index: Index, narrowed: dict[str, object]) -> None:
    put(index, note("a.md", "word"))
    for query in ("word", ""):
        with pytest.raises(InvalidRequestError, match="At most 200"):
            index.search(parse(query), **narrowed)  # type: ignore[arg-type]


def test_as_many_conditions_as_are_let_through_can_be_asked(index: Index) -> None:
    tags = [f"t{n}" for n in range(190)]
    put(index, note("a.md", "word", tags=tags))
    assert found(index, "word -tag:no", tags=tags, sort="path") == ["a.md"]
    assert found(index, "-tag:no", tags=tags) == ["a.md"]
    assert found(index, " ".join(f"tag:t{n}" for n in range(1_000)) + " word") == ["a.md"]


def test_pages_of_a_ranking_are_taken_from_one(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    original = ranking._scores
    monkeypatch.setattr(ranking, "_scores", lambda *args: asked.append(args[1]) or original(*args))
    monkeypatch.setattr(ranking, "KEPT", 20)
    # Some alike, so that there are equal scores within pages, between them, and where the ranking is cut.
    put(index, *(note(f"{n:02}.md", "word " * (1 + n // 3) + "other " * (n // 3)) for n in range(60)))

    def pages(limit: int) -> list[str]:
        paths, last = [], None
        while True:
            page = index.search(parse("word"), limit=limit, after=last)
            assert page.total == 60
            paths += [hit.note.path for hit in page.hits]
            last = page.after
            if last is None:
                return paths

    whole = [hit.note.path for hit in index.search(parse("word"), limit=60).hits]
    del asked[:]
    assert pages(7) == whole
    assert 0 < len(asked) <= 8
    del asked[:]
    assert [hit.note.path for hit in index.search(parse("word"), limit=7).hits] == whole[:7]
    assert asked == []


def test_a_ranking_is_made_anew_after_every_change(index: Index) -> None:
    put(index, note("a.md", "word word"), note("b.md", "word other"))
    assert found(index, "word") == ["a.md", "b.md"]
    put(index, note("a.md", "nothing"))
    assert found(index, "word") == ["b.md"]
    index.apply(Batch((note("c.md", "word word word"),), (), quiet=True))
    assert found(index, "word") == ["c.md", "b.md"]
    put(index, gone=("c.md",))
    assert found(index, "word") == ["b.md"]
    put(index, note("d.md", "word other"), gone=("b.md",))
    assert found(index, "word") == ["d.md"]
    put(index, note("d.md", "word other", modified_ns=7))
    (hit,) = index.search(parse("word")).hits
    assert hit.note.modified_ns == 7


@pytest.mark.parametrize("written", ["caf\u00e9/\u304c", "cafe\u0301/\u304b\u3099"])
@pytest.mark.parametrize("asked", ["Caf\u00e9", "CAFE\u0301", "caf\u00e9/\u304c", "cafe\u0301/\u304b\u3099"])
def test_a_tag_is_the_same_in_every_normal_form(index: Index, written: str, asked: str) -> None:
    tags = extract("a.md", f"text #{written}\n".encode()).tags
    assert tags == (written,)
    put(index, note("a.md", "text", tags=tags), note("b.md", "text", tags=["cafe"]))
    assert found(index, f"tag:{asked}") == found(index, "text", tags=[asked]) == ["a.md"]
    assert [note.path for note in index.notes(tag=asked).notes] == ["a.md"]
    assert [tag for tag, _ in index.tags(asked)] == [written]


def test_a_misspelt_chinese_phrase_is_offered_as_a_note_writes_it(index: Index) -> None:
    texts = {"a.md": "物竞天择，适者生存，古今皆然", "b.md": "今天的会议记录", "c.md": "しりとりをした"}
    put(index, *(note(path, body) for path, body in texts.items()))
    assert index.did_you_mean(parse("适者生寸"), texts.get) == ("适者生存",)
    assert index.did_you_mean(parse("会仪记录"), texts.get) == ("会议记录",)
    assert index.did_you_mean(parse("しりとい"), texts.get) == ("しりとり",)
    assert index.did_you_mean(parse("适者生存 会议"), texts.get) == ()
    assert index.did_you_mean(parse("完全不同"), texts.get) == ()
    assert index.did_you_mean(parse("适者生寸"), lambda path: None) == ()


def test_a_misspelt_word_of_another_alphabet_is_offered(index: Index) -> None:
    texts = {"a.md": "Съешь ещё мягких булок", "b.md": "γρήγορη αλεπού"}
    put(index, *(note(path, body) for path, body in texts.items()))
    assert index.did_you_mean(parse("мягкик"), texts.get) == ("мягких",)
    assert index.did_you_mean(parse("γρηγορα"), texts.get) == ("γρηγορη",)
