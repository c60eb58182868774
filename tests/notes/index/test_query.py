import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.notes.index.query import Filter, Query, can_relax, parse, phrase, to_fts, tokenize

GRAMMAR = st.lists(
    st.one_of(
        st.sampled_from(
            ['"', "-", "*", "tag:", "path:", "title:", "[", "]", ":", "(", ")", "OR", "AND", "NOT", "NEAR", "^", "+",
             "{", "}", "'", "“", "”", "\\", "\0", " ", "\n", "#", "/", "|", "中文", "ที่", "🎉", "a", "word", "İ", "ß"]
        ),
        st.text(st.characters(), max_size=4),
    ),
    max_size=25,
).map("".join)  # fmt: skip


@pytest.fixture(scope="module")
def table() -> apsw.Connection:
    db = apsw.Connection(":memory:")
    db.execute("CREATE VIRTUAL TABLE words USING fts5(title, aliases, tags, headings, path, body)")
    return db


def words(query: Query) -> list[list[tuple[str, ...]]]:
    return [[term.tokens for term in clause] for clause in query.clauses]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("two words", [[("two",)], [("words",)]]),
        ('"a phrase" more', [[("a", "phrase")], [("more",)]]),
        ("“curly quotes”", [[("curly", "quotes")]]),
        ("«guillemets ici»", [[("guillemets", "ici")]]),
        ("「成语接龙」", [[("成", "语", "接", "龙")]]),
        ('a"b c"d', [[("a",)], [("b", "c")], [("d",)]]),
        ("foo-bar", [[("foo", "bar")]]),
        ('"a | user', [[("a",)], [("user",)]]),
        ("don't", [[("don", "t")]]),
        ("重跑gen后", [[("重", "跑", "gen", "后")]]),
        ("a OR b c", [[("a",), ("b",)], [("c",)]]),
        ("a AND b", [[("a",)], [("b",)]]),
        ("OR", [[("or",)]]),
        ("this or that", [[("this",)], [("or",)], [("that",)]]),
        ("C++ C#", [[("c",)], [("c",)]]),
        ("[x] [[Link]] [a](b:c)", [[("x",)], [("link",)], [("a", "b", "c")]]),
        ("12:30 http://x.y/z", [[("12", "30")], [("http", "x", "y", "z")]]),
        ("tag: foo", [[("tag",)], [("foo",)]]),
        ("a - b", [[("a",)], [("b",)]]),
        ("NOT NEAR(x y)", [[("not",)], [("near", "x")], [("y",)]]),
        ("???", []),
        ("", []),
    ],
)
def test_words_and_phrases(text: str, expected: list[list[tuple[str, ...]]]) -> None:
    assert words(parse(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tag:a/b", Filter("tag", "a/b")),
        ("TAG:#Work", Filter("tag", "work")),
        ("-tag:x", Filter("tag", "x", negative=True)),
        ("tag:项目", Filter("tag", "项目")),
        ("path:Projects/Plan", Filter("path", "projects/plan")),
        ('path:"My Folder"', Filter("path", "my folder")),
        ("[status:in progress]", Filter("property", "status", "in progress")),
        ('[status:"done"]', Filter("property", "status", "done")),
        ("-[status:done]", Filter("property", "status", "done", negative=True)),
        ("[due:]", Filter("property", "due", "")),
        ("[time: 12:30]", Filter("property", "time", "12:30")),
    ],
)
def test_filters(text: str, expected: Filter) -> None:
    query = parse(text)
    assert query.filters == (expected,)
    assert query.wordless and not query.clauses


def test_exclusions_prefixes_and_title_words() -> None:
    query = parse('plan* -draft -"old stuff" title:"big plan" title:road*')
    assert [term.tokens for term in query.excluded] == [("draft",), ("old", "stuff")]
    prefix, title, road = query.terms()
    assert (prefix.tokens, prefix.prefix, prefix.column) == (("plan",), True, "")
    assert (title.tokens, title.quoted, title.column) == (("big", "plan"), True, "title")
    assert (road.prefix, road.column) == (True, "title")


def test_a_prefix_of_an_unspaced_script_is_a_plain_phrase() -> None:
    (term,) = parse("成语*").terms()
    assert not term.prefix


def test_text_without_words_differs_from_no_text() -> None:
    assert parse("").wordless
    assert parse("tag:a -b").wordless
    assert not parse("???").wordless
    assert to_fts(parse("???")) is None


def test_relaxing_takes_words_apart_but_not_phrases() -> None:
    assert to_fts(parse("foo-bar 成语接龙"), relaxed=True) == '"foo" OR "bar" OR "成 语" OR "语 接" OR "接 龙"'
    assert not can_relax(parse('"foo bar"'))
    assert not can_relax(parse("foo"))
    assert can_relax(parse("foo-bar")) and can_relax(parse("foo bar"))


def test_a_phrase_query_knows_no_grammar() -> None:
    assert words(phrase('-foo "bar tag:x')) == [[("foo", "bar", "tag", "x")]]


def test_hazard_128_user_text_is_never_query_syntax(table: apsw.Connection) -> None:
    for text in ("foo-bar", '"a | user', "a AND", "(", "body:x", "NEAR(a b, 3)", "^a", "a + b", "*", "{title}: x", "'"):
        expression = to_fts(parse(text))
        if expression is not None:
            table.execute("SELECT rowid FROM words WHERE words MATCH ?", (expression,)).fetchall()


@settings(deadline=None, max_examples=200)
@given(GRAMMAR)
def test_any_string_is_a_safe_query(table: apsw.Connection, text: str) -> None:
    query = parse(text)
    for expression in (to_fts(query), to_fts(query, relaxed=True), to_fts(phrase(text))):
        if expression is not None:
            table.execute("SELECT rowid FROM words WHERE words MATCH ?", (expression,)).fetchall()


@pytest.mark.parametrize("text", ["a " * 5_000, "中" * 5_000, "a-" * 5_000, "a OR " * 3_000, "x* " * 3_000, '"' * 999])
def test_a_giant_query_is_cut_and_runs(table: apsw.Connection, text: str) -> None:
    query = parse(text)
    for relaxed in (False, True):
        expression = to_fts(query, relaxed=relaxed)
        if expression is not None:
            table.execute("SELECT rowid FROM words WHERE words MATCH ?", (expression,)).fetchall()


def test_tokens_are_folded_words() -> None:
    assert tokenize("Café-Bar, 重跑gen_后 x²") == ("cafe", "bar", "重", "跑", "gen", "后", "x2")
