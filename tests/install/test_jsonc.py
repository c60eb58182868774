"""JSON with comments: what is read, what is refused and where, and that nothing valid is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notes_mcp.install.jsonc import DEEPEST, scan
from notes_mcp.install.unfit import Unfit

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_whatever_json_writes_is_read_alike(value, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    node = scan(f" {text}\r\n")
    assert node.value == value
    assert f" {text}\r\n"[node.start : node.end] == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("/* a */ {} // b", {}),
        ('{"a": 1,}', {"a": 1}),
        ("[1, 2,\n]", [1, 2]),
        ('{"a" /* { */ : /* , */ 1 // }\n, "b": "// no comment"}', {"a": 1, "b": "// no comment"}),
        ('{"a": "/* no comment */", "b": "\\""}', {"a": "/* no comment */", "b": '"'}),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ("-0.5e+3", -500.0),
        ("[true, false, null]", [True, False, None]),
        ("/**/[/***/]", []),
    ],
)
def test_comments_and_last_commas_say_nothing(text, value):
    assert scan(text).value == value


@pytest.mark.parametrize("text", ["", " \r\n\t", "// only\n/* this */", "// and no line end"])
def test_nothing_but_blanks_is_nothing(text):
    assert scan(text) is None


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"),
    [
        ('{"a": 1\n "b": 2}', 2, 2, "comma or }"),
        ('{\r\n  "a": 1,\r\n  b: 2\r\n}', 3, 3, '"key" or }'),
        ('{"a" 1}', 1, 6, "colon"),
        ('{"a": }', 1, 7, "value is missing"),
        ('{"a": nul}', 1, 7, "nul is no value"),
        ('{"a": NaN}', 1, 7, "NaN is no value"),
        ('{"a": "b\nc"}', 1, 7, "never ends"),
        ('{"a": "\\x"}', 1, 7, "escape"),
        ("{'a': 1}", 1, 2, '"key"'),
        ("[1 2]", 1, 4, "comma or ]"),
        ("[,]", 1, 2, "value is missing"),
        ('{"中": 1, , }', 1, 10, '"key"'),
        ("{} {}", 1, 4, "follows"),
        ("{", 1, 2, '"key" or }'),
        ("[1", 1, 3, "comma or ]"),
        ('{"a": 1 /* never\n', 1, 9, "comment that never ends"),
        ("[01]", 1, 3, "comma or ]"),
        ("[" * (DEEPEST + 2), 1, DEEPEST + 2, "deeply"),
    ],
)
def test_what_is_broken_is_told_with_its_place(text, line, column, reason):
    with pytest.raises(Unfit) as caught:
        scan(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert reason in caught.value.reason


@given(st.text(alphabet='{}[]":,/*\\ \n1a', max_size=30))
def test_no_text_ends_it_with_anything_but_a_word_about_it(text):
    try:
        scan(text)
    except Unfit as unfit:
        assert unfit.line >= 1 and unfit.column >= 1


def test_every_member_has_its_span_and_its_comma():
    text = '{"a": {"b": [1]} , /* c */ "d": 2}'
    first, second = scan(text).members
    assert (text[first.start :][:3], text[first.node.start : first.node.end], text[first.comma]) == (
        '"a"',
        '{"b": [1]}',
        ",",
    )
    assert (second.key, second.comma) == ("d", None)
