import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.errors import InvalidRequestError
from notes_mcp.notes.edits.nearest import nearest
from notes_mcp.notes.edits.passages import find
from notes_mcp.notes.text import Text

quick = settings(max_examples=200, deadline=None)


def told(note, passage, within=None):
    """What is said of a passage that is not in the note."""
    text = Text.decode(note.encode())
    assert text.occurrences(passage, *(within or ())) == []
    return nearest(text, passage, within or (0, len(text.utf8)))


@pytest.mark.parametrize(
    ("note", "passage", "line", "differs"),
    [
        ("x\nfoo  bar\n", "foo bar", 2, "white space"),
        ("x\nfoo\tbar\n", "foo bar", 2, "white space"),
        ("x\nfoo\u00a0bar\n", "foo bar", 2, "white space"),
        ("x\nfoo\u3000bar\n", "foo bar", 2, "white space"),
        ("x\n  foo\n    bar\n", "foo\nbar", 2, "white space"),
        ("x\nfoo   \nbar\n", "foo\nbar", 2, "white space"),
        ("x\nfoo\n\nbar\n", "foo\nbar", 2, "white space"),
        ("x\nfoo bar\n", "foo\nbar", 2, "white space"),
        ("x\nFoo Bar\n", "foo bar", 2, "upper and lower case"),
        ("x\nСТРАНИЦА\n", "страница", 2, "upper and lower case"),
        ("x\n\u201cfoo\u201d\n", '"foo"', 2, "quotation marks"),
        ("x\nit\u2019s\n", "it's", 2, "quotation marks"),
        ("x\na \u2013 b\n", "a - b", 2, "quotation marks, dashes or dots"),
        ("x\nwait\u2026\n", "wait...", 2, "quotation marks, dashes or dots"),
        ("x\ncafe\u0301\n", "caf\u00e9", 2, "the Unicode normal form"),
        ("x\ncaf\u00e9\n", "cafe\u0301", 2, "the Unicode normal form"),
        ("x\n\ud55c\uae00\n", "\u1112\u1161\u11ab\u1100\u1173\u11af", 2, "the Unicode normal form"),
        ("x\nfoo\u200bbar\n", "foobar", 2, "characters that cannot be seen"),
        ("x\n你好，世界\n", "你好,世界", 2, "the width or form of characters"),
        (
            "x\n\u201cFoo  bar\u201d\n",
            '"foo bar"',
            2,
            "white space and quotation marks, dashes or dots and upper and lower case",
        ),
    ],
)
def test_the_same_text_in_another_form_is_named_with_its_line_and_what_differs(note, passage, line, differs):
    said = told(note, passage)
    assert f"line{'s' * ('-' in said.split(',')[0])} {line}" in said
    assert f"differs in {differs}" in said


def test_what_cannot_be_seen_is_shown():
    assert "foo\\u00a0bar" in told("foo\u00a0bar\n", "foo bar")
    assert "foo\\tbar" in told("foo\tbar\n", "foo bar")


@pytest.mark.parametrize(
    ("note", "passage", "slip"),
    [
        ("a\nb\n", "a\\nb", "escapes"),
        ('say "x"\n', 'say \\"x\\"', "escapes"),
        ("a & b < c\n", "a &amp; b &lt; c", "HTML entities"),
        ("one\ntwo\n", "1: one\n2: two", "line numbers"),
        ("one\ntwo\n", "  1\tone\n  2\ttwo", "line numbers"),
    ],
)
def test_slips_of_quoting_are_named(note, passage, slip):
    said = told(note, passage)
    assert slip in said and "line 1" in said


def test_the_line_that_differs_in_a_longer_quote_is_named():
    note = "intro\nalpha one\nbeta two\ngamma three\nend\n"
    said = told(note, "alpha one\nbeta 2\ngamma three")
    assert "lines 2-4" in said and "line 3 differs" in said and '"beta two"' in said and '"beta 2"' in said
    assert "line 4 differs" in told(note, "one\nbeta two\ngamma tree\nend")
    assert "line 2 differs" not in told(note, "one\nbeta two\ngamma tree\nend")
    assert "lines 4-5" in told(note, "gamma three\nend\nand one more\nand more")


def test_a_typing_error_is_found_in_a_short_line_and_in_a_long_one():
    assert "line 2." in told("x\nThe quick brown fox\ny\n", "The quick brwon fox")
    long = "lorem ipsum " * 300
    said = told(f"x\n{long} The quick brown fox jumps {long}\n", "The quick brwon fox jumps")
    assert "line 2." in said and "brown fox" in said and len(said) < 500


def test_nothing_alike_is_said_to_be_so():
    assert "Nothing there resembles it" in told("abc\n", "zzzzzzzzzzzzzzz")
    assert "Nothing there resembles it" in told("", "x")
    assert "white space" in told("abc\n", "\t")


def test_only_the_given_place_is_looked_at():
    note = "Foo bar\n# A\nfoo  bar\n"
    said = told(note, "foo bar", (8, len(note)))
    assert "line 3" in said and "white space" in said


@quick
@given(
    st.text("aA bB\n\t\"'é\u0301中\u200b\\&;1:", max_size=60),
    st.text("aA bB\n\t\"'é\u0301中\u200b\\&;1:", min_size=1, max_size=20),
)
def test_any_note_and_any_quote_give_one_short_answer(note, passage):
    text = Text.decode(note.encode())
    if text.occurrences(passage):
        return
    said = nearest(text, passage, (0, len(text.utf8)))
    assert said and len(said) < 1_000 and "\n" not in said
    with pytest.raises(InvalidRequestError, match="nowhere"):
        find(text, passage, 1)


@pytest.mark.parametrize(
    ("note", "passage"),
    [
        ("word " * 2_000_000, "wodr " * 2_000),
        ("a\n" * 5_000_000, "a\n" * 5_000 + "b"),
        ("".join(f"line {at} of the note\n" for at in range(400_000)), "lnie of teh note nowhere"),
        ("中" * 3_000_000, "中" * 5_000 + "文"),
        (" " * 9_000_000, "a" + " " * 9_000 + "b"),
    ],
    ids=["long line", "equal lines", "many lines", "one character", "blanks"],
)
def test_the_largest_notes_are_looked_through_in_bounded_time(note, passage):
    text = Text.decode(note.encode())
    started = time.monotonic()
    assert nearest(text, passage, (0, len(text.utf8)))
    assert time.monotonic() - started < 60  # it would be hours in any other than linear time
