import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.notes.index.query import parse, phrase
from notes_mcp.notes.index.snippets import (
    EXCERPT_CHARS,
    MAX_LINES_SEEN,
    MAX_TRIES_IN_VAIN,
    Effort,
    Excerpts,
    Heading,
    excerpts,
    matches,
    nearest_form,
)


def lines(text: str, query: str, limit: int = 10) -> list[int]:
    return [one.line for one in matches(text, parse(query), [], limit).shown]


@pytest.mark.parametrize(
    ("line", "query"),
    [
        ("We went running.", "run"),
        ("We run.", "running"),
        ("Relational algebra", "relation"),
        ("HAPPINESS is", "happy"),
        ("Un café noir", "cafe"),
        ("Cafe\u0301", "CAFÉ"),
        ("Straße", "strasse"),
        ("text 即适者生存，end", "适者生存"),
        ("适者，生存", "适者生存"),
        ("先止损", "止损"),
        ("重跑gen后", "gen"),
        ("重跑gen后", "gen后"),
        ("しりとりをする", "しりとり"),
        ("끝말잇기를", "끝말잇기"),
        ("ภาษาไทยเป็น", "เป็น"),
        ("हिन्दी भाषा।", "भाषा"),
        ("मैं। तुम", '"मैं तुम"'),
        ("မြန်မာ၊စာ", "မြန်မာစာ"),
        ("עִברית", "עברית"),
        ("العَربية، كتاب", "العربية"),
        ("ＭＣＰ server", "mcp"),
        ("ｶﾞｽ", "ガス"),
        ("party 🎉!", "🎉"),
        ("a ☕️ break", "☕"),
        ("foo_bar", "foo"),
        ("foo-bar", '"foo bar"'),
        ("foo, (bar)", '"foo bar"'),
        ("programming", "programm*"),
        ("transportation", "transpor*"),
        ("Δt is small", "Δt"),
        ("don’t", "don't"),
        ("x² + y²", "x2"),
        ("Ёлка", "елка"),
        ("xfoo foo bar", '"foo bar"'),
    ],
)
def test_a_line_is_found_as_the_index_finds_it(line: str, query: str) -> None:
    found = matches(f"first\n\n{line}\nlast", parse(query), [], 5)
    assert [(one.line, one.text) for one in found.shown] == [(3, line)]


@pytest.mark.parametrize(
    ("line", "query"),
    [
        ("outrun", "run"),
        ("foobar", "foo"),
        ("适 xx 者", "适者"),
        ("ที่", "ท่"),
        ("bar foo", '"foo bar"'),
        ("rune", "run"),
        ("ท่ี", "ที"),
    ],
)
def test_a_line_without_the_word_is_not_found(line: str, query: str) -> None:
    assert matches(line, parse(query), [], 5) == Excerpts()


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_lines_count_from_the_top_whatever_ends_them(line_end: str) -> None:
    text = line_end.join(["---", "title: x", "---", "", "word", "other", "a word"])
    found = matches(text, parse("word"), [], 5)
    assert [(one.line, one.text) for one in found.shown] == [(5, "word"), (7, "a word")]


def test_each_line_names_the_nearest_heading_above() -> None:
    text = "word\n# One word\n\nword\n## Two\nword"
    headings = [Heading(2, "One word"), Heading(5, "Two")]
    shown = matches(text, parse("word"), headings, 9).shown
    assert [(one.line, one.heading) for one in shown] == [(1, ""), (2, "One word"), (4, "One word"), (6, "Two")]


def test_lines_with_most_of_the_terms_are_shown_in_order_and_the_rest_is_counted() -> None:
    text = "alpha\nbeta\nalpha beta\ngamma\nalpha\nbeta alpha"
    found = matches(text, parse("alpha beta"), [], 3)
    assert [one.line for one in found.shown] == [1, 3, 6]
    assert found.more == 2


@pytest.mark.parametrize("filler", ["word ", "多", "ẞtraße ", "e\u0301", "\u0130"])
def test_a_long_line_is_cut_around_what_was_found(filler: str) -> None:
    text = filler * 400 + " needle " + filler * 400
    (one,) = matches(text, parse("needle"), [], 1).shown
    assert "needle" in one.text
    assert one.text.startswith("…") and one.text.endswith("…")
    assert "\n" not in one.text and len(one.text) <= EXCERPT_CHARS + 2


def test_a_long_run_without_blanks_is_cut_too() -> None:
    text = "的" * 500 + "成语接龙" + "了" * 500
    (one,) = matches(text, parse("成语接龙"), [], 1).shown
    assert "成语接龙" in one.text


def test_blanks_in_an_excerpt_are_single() -> None:
    (one,) = matches("\t- [ ]  a   word\t\there  ", parse("word"), [], 1).shown
    assert one.text == "- [ ] a word here"


def test_given_places_become_excerpts_under_their_headings() -> None:
    found = excerpts("a1\r\nb\r\na2\r\na3", [(1, 0, 2), (3, 0, 2), (4, 0, 2)], [Heading(2, "b")], 2)
    assert [(one.line, one.heading, one.text) for one in found.shown] == [(1, "", "a1"), (3, "b", "a2")]
    assert found.more == 1


def test_the_written_form_of_a_stem_is_found() -> None:
    assert nearest_form("Plans are planned; planning helps", "plan", "plannig") == "planning"
    assert nearest_form("nothing", "plan", "plan") is None


def test_a_note_without_the_words_gives_no_lines() -> None:
    assert matches("text", parse("tag:x -text"), [], 3) == Excerpts()
    assert matches("", parse("a"), [], 3) == Excerpts()


WORDS = st.sampled_from(
    ["run", "running", "Café", "naïve", "成语", "接", "しり", "끝말", "ไทย", "हिन्दी", "Δt", "мир", "x2", "🎉", "don't",
     "a_b", "İs", "ß", "happy", "happiness", "ةكلمة", "foo-bar"]
)  # fmt: skip
GAPS = st.sampled_from([" ", ", ", "\n", "\r\n", "", "-", "。", "** ", "(", " — "])


@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(WORDS, GAPS), min_size=1, max_size=12), st.data())
def test_every_written_stretch_is_found_at_a_line_that_exists(
    parts: list[tuple[str, str]], data: st.DataObject
) -> None:
    text = "".join(word + gap for word, gap in parts)
    start = data.draw(st.integers(0, len(parts) - 1))
    end = data.draw(st.integers(start + 1, len(parts)))
    stretch = "".join(word + gap for word, gap in parts[start:end])
    glued = start > 0 and not parts[start - 1][1], end < len(parts) and not parts[end - 1][1]
    query = phrase(stretch)
    if not query.clauses or any(glued):
        return
    shown = matches(text, query, [], 50).shown
    assert shown
    assert all(1 <= one.line <= text.count("\n") + 1 for one in shown)


@settings(deadline=None, max_examples=200)
@given(st.text(st.characters(), max_size=60), st.text(st.characters(), max_size=12), st.integers(0, 3))
def test_any_text_and_query_are_safe(text: str, query: str, limit: int) -> None:
    found = matches(text, parse(query), [], limit)
    assert len(found.shown) <= limit
    assert not any("\n" in one.text or "\r" in one.text for one in found.shown)


@pytest.mark.parametrize(
    ("text", "query", "found"),
    [
        ("x2हिन्दी", "x2", True),
        ("x2हिन्दी", "हिन्दी", True),
        ("हिन्दी2x", "x", True),
        ("हिन्दी2x", "2x", False),
        ("22हिन्दी", "हिन्दी", False),
        ("中22हिन्दी", "हिन्दी", False),
        ("हिन्दीहिन्दी", "हिन्दी", False),
        ("runrun", "running*", True),
        ("xrun", "run", False),
    ],
)
def test_digits_belong_to_the_word_before_them_as_in_the_index(text: str, query: str, found: bool) -> None:
    assert bool(matches(text, parse(query), [], 1).shown) is found


@pytest.mark.parametrize("text", ["x " * 250_000, "x\n" * 500_000, "适x" * 100_000, "xa\u0301 " * 100_000])
def test_a_note_full_of_the_word_is_not_looked_through_to_its_end(text: str) -> None:
    effort = Effort()
    found = matches(text, parse("x*"), [], 3, effort)
    assert [each.line for each in found.shown] == list(range(1, 1 + len(found.shown)))
    assert found.shown
    assert effort.in_vain > MAX_TRIES_IN_VAIN - 10
    assert found.more <= MAX_LINES_SEEN


def test_places_that_only_look_like_the_word_are_bounded_too() -> None:
    effort = Effort()
    assert matches("xxy " * 250_000, parse("xxx"), [], 3, effort) == Excerpts()
    assert matches("xxx", parse("xxx"), [], 3, effort) == Excerpts()  # nothing is left for the rest of the page
    assert matches("xxx", parse("xxx"), [], 3).shown


def test_a_line_is_counted_once_however_often_it_has_the_word() -> None:
    found = matches("a b a\na\n", parse("a b"), [], 3)
    assert [each.line for each in found.shown] == [1, 2]
    assert found.more == 0


def test_a_phrase_that_runs_over_a_line_break_hides_none_after_it() -> None:
    assert lines("a\nb a b\n", '"a b"') == [1, 2]
    assert lines("a\na a\n", '"a a"') == [1]


@given(st.text(st.sampled_from("ab ﬃ\u0301\u200dé適한Σß"), max_size=60), st.integers(0, 40))
@settings(max_examples=100, deadline=None)
def test_a_place_far_into_a_long_line_is_shown(piece: str, repeats: int) -> None:
    line = f"{piece} " * (repeats * 20) + "Nadel " + piece
    (one,) = matches(line, parse("nadel"), [], 3).shown
    assert "Nadel" in one.text
