"""What exact text and patterns are sure to need, against what they really match in notes of an index."""

import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from notes_mcp.errors import InvalidRequestError
from notes_mcp.notes.asking import lookup
from notes_mcp.notes.index import narrowing
from notes_mcp.notes.index.index import Index
from notes_mcp.notes.index.query import Query
from notes_mcp.notes.markup.facts import extract
from notes_mcp.notes.records import Batch, Entry, FileState

TEXTS = [
    "---\ntitle: Meeting notes\nstatus: 进行中 # a comment here\n---\nA short meeting note, foo_bar_baz and foo-bar.\n",
    "先重跑gen后再看：适者生存，古今皆然。 Relational meetings ran\n",
    "パーティ会議 ｶﾞｷﾞ がぎ か\u3099 カ゛ 끝말잇기를 했다 ที่นี่ ΣΊΣΥΦΟΣ ſtraße K ı İ I i\u0307 Åse A\u030a ½ ™ … ﬁne",
    "no front -- café cafe\u0301 naïve \u200bzero\u200dwidth tat\u0640weel =\u0338 ≠ x\u0301 今\u0301天 🎉done x²y",
    "\n\n   blank   lines\t tabs\nfoo bar\r\nbaz qux\rquux 한글ㄱ 중간",
]
PIECES = [
    *("foo", "bar", "_", "-", " ", "\n", "meeting", "Meeting", "notes", "适", "者", "生", "存", "进行中", "gen", "后"),
    *("か", "\u3099", "ｶ", "ﾞ", "が", "カ", "ı", "İ", "I", "i", "ſ", "s", "K", "k", "\u0301", "今", "天", "é", "e", "½"),
    *(
        "1",
        "2",
        "a",
        "x",
        "끝",
        "말",
        "ㄱ",
        "글",
        "---",
        ":",
        "#",
        "🎉",
        "done",
        "\u200b",
        "\u0640",
        "Σ",
        "ς",
        "≠",
        "=",
    ),
]
PATTERNS = [*PIECES, "(", ")", "[", "]", "|", "?", "*", "+", "{2}", "{", "}", "\\", "\\w", "\\b", ".", "^", "$", "(?i)"]


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    opened = Index.open(None)
    entries = []
    for number, text in enumerate(TEXTS):
        path, data = f"{number}.md", text.encode()
        entries.append(Entry(FileState(path, "note", len(data), 1, 0), str(number), extract(path, data)))
    opened.apply(Batch(tuple(entries)))
    yield opened
    opened.close()


def narrowed(index: Index, phrases: list[tuple[str, ...]]) -> set[str]:
    return {hit.note.path for hit in index.search(Query(sure=tuple(phrases)), sort="path", limit=50).hits}


def matching(pattern: lookup.Pattern) -> set[str]:
    return {f"{number}.md" for number, text in enumerate(TEXTS) if any(lookup.lines(pattern, text, lookup.Deadline()))}


def slices() -> st.SearchStrategy[str]:
    """Stretches of the notes themselves, as they stand or in another case."""
    cut = st.tuples(st.sampled_from(TEXTS), st.integers(0, 90), st.integers(1, 30))
    return st.tuples(
        cut.map(lambda at: at[0][at[1] : at[1] + at[2]]), st.sampled_from([str, str.upper, str.lower])
    ).map(lambda pair: pair[1](pair[0]))


@settings(max_examples=400, deadline=None)
@given(st.one_of(slices(), st.lists(st.sampled_from(PIECES), max_size=6).map("".join)))
@example("か")
@example("ｶ")
@example(" ı ")
@example("meeting")
@example("a comment here")
@example("here\n---\nA short")
def test_no_note_with_the_exact_text_is_left_out(index: Index, text: str) -> None:
    try:
        pattern = lookup.exact(text)
    except InvalidRequestError:
        return
    assert matching(pattern) <= narrowed(index, narrowing.of_text(lookup.plain(text)))


@settings(max_examples=400, deadline=None)
@given(st.one_of(slices(), st.lists(st.sampled_from(PATTERNS), max_size=8).map("".join)))
@example("(?i) I ")
@example("适者?生存")
@example("foo|bar baz")
@example("a{2} short")
@example("[[:alpha:]]eeting note")
@example("x(?#a) b")
@example("\\x41 short")
def test_no_note_in_which_the_pattern_matches_is_left_out(index: Index, text: str) -> None:
    try:
        pattern = lookup.regular(text)
        found = matching(pattern)
    except (InvalidRequestError, lookup.TooSlowError):
        return
    assert found <= narrowed(index, narrowing.of_pattern(lookup.plain(text)))


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("适者生存", [("适", "者", "生", "存")]),
        ("the short meeting note", [("short", "meeting")]),
        ("foo_bar_baz", [("bar",)]),
        (" done ", [("done",)]),
        ("がぎ", [("が",)]),
        ("meeting", []),
        ("a I b", []),
        ("x\n---\ny", []),
    ],
)
def test_what_is_sure_of_a_text(text: str, phrases: list[tuple[str, ...]]) -> None:
    assert narrowing.of_text(unicodedata.normalize("NFC", text)) == phrases


@pytest.mark.parametrize(
    ("pattern", "phrases"),
    [
        (r"会议.*项目", [("会", "议"), ("项", "目")]),
        (r"适者?生存", [("适",), ("生", "存")]),
        (r"(a|b) hello there (x)", [("hello", "there")]),
        (r"(?i) foo \w+", [("foo",)]),
        (r"(?<=x) foo\. bar", [("foo",)]),
        (r"今+天", [("今",), ("天",)]),
        (r"a{2,3} bc d", [("bc",)]),
        (r"[^\]a] bc d", [("bc",)]),
        *((pattern, []) for pattern in (" foo | bar ", r"\x41 foo b", r"\p{Han} foo b", "(?x) foo b", "[[:a:]] foo b")),
        *((pattern, []) for pattern in ("(?e) foo b", "( foo b", "[ foo b", "{ foo b", "(?P=a) foo b", "foo")),
    ],
)
def test_what_is_sure_of_a_pattern(pattern: str, phrases: list[tuple[str, ...]]) -> None:
    assert narrowing.of_pattern(pattern) == phrases


def test_of_many_notes_only_those_that_can_match_are_left(index: Index) -> None:
    assert narrowed(index, narrowing.of_text("适者生存")) == {"1.md"}
    assert narrowed(index, narrowing.of_text("进行中")) == {"0.md"}  # in front matter
    assert narrowed(index, narrowing.of_text(" comment ")) == {"0.md"}
    assert narrowed(index, narrowing.of_text("meeting")) == {f"{number}.md" for number in range(len(TEXTS))}
