import datetime

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from notes_mcp.errors import InvalidRequestError, NotTextError
from notes_mcp.notes.markup.markdown import front_matter
from notes_mcp.notes.properties import properties
from notes_mcp.notes.properties.propertyedit import edit_tags, render, set_keys
from notes_mcp.notes.properties.tagsplice import TagChange
from notes_mcp.notes.text import Text

quick = settings(max_examples=200, deadline=None)

# Every way to write an entry that people use; {} is the key.
ENTRIES = [
    "{}: text\n",
    "{}: text # why\n",
    "{}: 'it''s'\n",
    '{}: "q\\n" # c\n',
    "{}: 1.10\n",
    "{}: 2024-01-02\n",
    "{}: yes\n",
    "{}:\n",
    "{}: # nothing\n",
    "{}: ~\n",
    "{}: [a, 'b',  c] # list\n",
    "{}: []\n",
    "{}: [\n  a, # one\n  b,\n]\n",
    "{}: {{a: 1, b: [x]}}\n",
    "{}:\n- a\n- b # c\n",
    "{}:\n  - a\n\n  # between\n  - 'b'\n",
    "{}:\n    -   a\n    -\n",
    "{}:\n  - k: 1\n    l: 2\n  - m\n",
    "{}:\n  sub: 1 # c\n  # in between\n  other:\n    - x\n",
    "{}: |\n  one\n  two\n\n",
    "{}: |+ # keep\n  one\n\n\n",
    "{}: >-\n  folded\n  text\n",
    "{}: plain over\n  two lines\n",
    '{}: "double over\n  two lines"\n',
    "{}: !!str 12\n",
    "{}:   spaced   \n",
    "{} : before colon\n",
    "{}: https://x.y/#z\n",
    "{}: [[Note]]\n",
    "{}: |2\n   indented\n  text\n",
    "{}:\n  - a\n  # tail\n",
    "{}: &own anchored\n",
]
OTHERS = ["# comment: not a key\n", "\n", "#\n", "# - item\n", "  \n"]
KEYS = ["a", "'quoted key'", '"d q"', "键", "Ünï", "a b", "x/y", "1", "true", "2024-01-02", "k-1", "😀"]
TEXT = st.text(st.sampled_from("ab1 -:#'\"[]{}&*!|>%@`,?\\\n\r\t\u2028\x07\x85\xa0é中😀=~.<_/"), max_size=14)
WORDS = st.sampled_from(
    [
        "2024-13-45",
        "2024-02-30T10:00:00",
        "2024-1-2",
        "2024-01-02 10:00:00",
        "",
        "no",
        "1.10",
        "~",
        "---",
        "a\n---\nb",
        "...",
        "- x",
        "#x",
        "12:30",
        "0x1F",
        "1_0",
        "<<",
        "=",
        ".inf",
        "007",
        "-",
        "a: b",
        "x #y",
        "[[N]]",
        "{{d}}",
        "a\n\nb\n",
        "a\nb",
        "\na",
        "a\n\n",
        " a\nb",
        "a\n b\n",
        "2024-01-02",
        "null",
        "TRUE",
        "1e5",
        "y",
        "'",
        '"',
        "x:",
        "?",
    ]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT | WORDS
NAMES = st.one_of(TEXT, WORDS).filter(str.strip)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=6
)


def exactly(value):
    return repr(value)


@st.composite
def blocks(draw):
    """A block as a list of (key or None, text)."""
    keys = draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=5, unique=True))
    pieces = []
    for key in keys:
        pieces += [(None, text) for text in draw(st.lists(st.sampled_from(OTHERS), max_size=2))]
        entry = draw(st.sampled_from(ENTRIES))
        pieces.append((key.strip("'\""), entry.format(key)))
    pieces += [(None, text) for text in draw(st.lists(st.sampled_from(OTHERS), max_size=2))]
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    return [(key, text.replace("\n", newline)) for key, text in pieces], newline


def fenced(inner, newline="\n", body="# Body\n\n---\nx: y\n---\n", encoding="utf-8", bom=b""):
    return Text.decode(bom + f"---{newline}{inner}---{newline}{body}".encode(encoding))


def after(text, edits):
    """The note after the edits; its front matter must still be found, and where it was."""
    return Text.decode(text.splice(edits))


@quick
@given(blocks(), st.data(), VALUES)
def test_setting_a_key_gives_exactly_the_value_and_leaves_every_byte_of_the_others(case, data, value):
    pieces, newline = case
    at = data.draw(st.sampled_from([place for place, (key, _) in enumerate(pieces) if key is not None]))
    key = pieces[at][0]
    before, behind = ("".join(text for _, text in part) for part in (pieces[:at], pieces[at + 1 :]))
    note = fenced(before + pieces[at][1] + behind, newline)
    if "|+" in pieces[at][1]:
        behind = behind.lstrip(" \r\n")  # to such a text the blank lines below it belong
    was = properties.of(note)
    assert was.error is None and key in was.values
    now = after(note, set_keys(note, {key: value}))
    found = properties.of(now)
    assert exactly(found.values) == exactly({**was.values, key: value})
    assert now.text.startswith(f"---{newline}{before}")
    assert now.text.endswith(f"{behind}---{newline}# Body\n\n---\nx: y\n---\n")
    assert set_keys(now, {key: value}) == []


@quick
@given(blocks(), NAMES, VALUES)
def test_a_new_key_comes_last_and_changes_nothing_before_it(case, name, value):
    pieces, newline = case
    inner = "".join(text for _, text in pieces)
    note = fenced(inner, newline)
    was = properties.of(note)
    assume(name not in was.values and not properties.TAG_KEYS.fullmatch(name))
    now = after(note, set_keys(note, {name: value}))
    assert exactly(properties.of(now).values) == exactly({**was.values, name: value})
    assert now.text.startswith(f"---{newline}{inner}") and now.text.endswith(f"---{newline}# Body\n\n---\nx: y\n---\n")
    added = now.text[len(f"---{newline}{inner}") : -len("---\n# Body\n\n---\nx: y\n---\n")]
    assert newline == "\n" or "\n" not in added.replace("\r\n", "")


@quick
@given(blocks(), st.data())
def test_removing_a_key_leaves_every_other_entry_as_it_was(case, data):
    pieces, newline = case
    at = data.draw(st.sampled_from([place for place, (key, _) in enumerate(pieces) if key is not None]))
    key = pieces[at][0]
    note = fenced("".join(text for _, text in pieces), newline)
    was = properties.of(note).values
    now = after(note, set_keys(note, {}, [key]))
    assert exactly(properties.of(now).values) == exactly({name: was[name] for name in was if name != key})
    for name, text in pieces:
        assert name in (None, key) or text.rstrip() in now.text
    assert now.text.endswith("# Body\n\n---\nx: y\n---\n")
    assert set_keys(now, {}, [key]) == []


@quick
@given(
    st.dictionaries(NAMES.filter(lambda name: not properties.TAG_KEYS.fullmatch(name)), VALUES, max_size=4),
    st.booleans(),
)
def test_a_note_without_front_matter_gets_a_block_that_reads_as_wanted(values, crlf):
    body = "# Title\r\ntext\r\n" if crlf else "# Title\ntext"
    note = Text.decode(body.encode())
    now = after(note, set_keys(note, values))
    assert exactly(properties.of(now).values) == exactly(values)
    assert now.text == render(values, note.newline) + body
    span = front_matter(now.utf8)
    assert (span is None) == (not values)
    assert span is None or now.utf8[span[1] :].decode() == body


def test_a_new_block_never_melts_with_the_line_end_that_follows_it():
    note = Text.decode(b"\nmostly\rlone\rCR\r")
    now = after(note, set_keys(note, {"a": 1}))
    assert now.utf8 == b"---\na: 1\n---\n" + note.utf8
    assert after(now, set_keys(now, {}, ["a"])).utf8 == note.utf8


@quick
@given(NAMES, TEXT | WORDS)
def test_text_is_text_to_yaml_1_1_readers_too(name, value):
    [(key, read)] = yaml.safe_load(render({name: value}).removeprefix("---\n").removesuffix("---\n")).items()
    if isinstance(read, datetime.date):
        assert str(read)[:10] == value[:10]
    else:
        assert read == value
    assert key == name or str(key) == name


@quick
@given(st.text(st.sampled_from("ab:-#'\"[]{}&*|>?, \n\r\té\u2028"), max_size=30), NAMES, VALUES)
def test_whatever_the_block_is_it_is_changed_as_wanted_or_refused(front, name, value):
    note = fenced(front if front.endswith("\n") or not front else front + "\n")
    was = properties.of(note)
    for wanted, gone in (({name: value}, ()), ({"a": value}, ()), ({}, ("a",))):
        if any(properties.TAG_KEYS.fullmatch(key) for key in wanted):
            continue
        try:
            edits = set_keys(note, wanted, gone)
        except InvalidRequestError:
            continue
        found = properties.of(after(note, edits)).values
        kept = {key: old for key, old in was.values.items() if key not in gone}
        assert {k: exactly(v) for k, v in found.items()} == {k: exactly(v) for k, v in (kept | wanted).items()}


def edited(front, wanted=None, remove=()):
    note = fenced(front)
    return (
        after(note, set_keys(note, wanted or {}, remove))
        .text.removeprefix("---\n")
        .removesuffix("---\n# Body\n\n---\nx: y\n---\n")
    )


PEOPLE_S = (
    "# about\nversion: 1.10\npublished: yes\ntags: [a, b]   # mine\n\n"
    "quoted: 'x'\nlist:\n- one\n- two\ndate: 2024-01-02\n"
)


def test_hazard_080_comments_numbers_words_and_list_style_stay_when_another_key_is_set():
    assert edited(PEOPLE_S, {"status": "done"}) == PEOPLE_S + "status: done\n"
    assert edited(PEOPLE_S, {"quoted": "y"}) == PEOPLE_S.replace("'x'", "'y'")
    assert edited(PEOPLE_S, {"tags": ["a", "c"]}) == PEOPLE_S.replace("[a, b]", "[a, c]")


def test_hazard_079_quotes_of_untouched_keys_stay():
    front = "a: \"x\"\nb: 'y'\nc: z\n"
    assert edited(front, {"c": "w"}) == "a: \"x\"\nb: 'y'\nc: w\n"


@pytest.mark.parametrize(
    "front", ["a: \tb\n\tc: d\n", "a: 'open\n", 'a: "b" c\n', "a: [b\n", "- a\n- b\n", "just text\n", "a: b: c\n"]
)
def test_hazard_083_a_block_that_does_not_parse_is_not_touched(front):
    for change in (lambda note: set_keys(note, {"x": 1}), lambda note: set_keys(note, {}, ["a"])):
        with pytest.raises(InvalidRequestError, match="Nothing was changed"):
            change(fenced(front))
    with pytest.raises(InvalidRequestError, match="edit_note"):
        edit_tags(fenced(front), TagChange(add=("x",)))


def test_hazard_082_there_is_one_block_only():
    for note in (
        "---\na: 1\n---\n",
        "---\n---\n",
        "---\n---",
        "---\n# c\n---\n",
        "---\r\n---\r\nbody",
        "\ufeff---\na: 1\n...\n",
    ):
        text = Text.decode(note.encode())
        now = after(text, set_keys(text, {"b": 2}))
        assert now.text.count("---") <= 2 and properties.of(now).values["b"] == 2


def test_hazard_068_a_crlf_note_stays_one():
    note = Text.decode(b"---\r\ntags:\r\n  - a\r\n---\r\nbody\r\n")
    now = after(note, set_keys(note, {"list": ["x", "y"], "text": "one\ntwo", "tags": ["a", "b"]}))
    assert now.data == (
        b"---\r\ntags:\r\n  - a\r\n  - b\r\nlist:\r\n  - x\r\n  - y\r\ntext: |-\r\n  one\r\n  two\r\n---\r\nbody\r\n"
    )


def test_a_block_takes_its_own_line_ends_in_a_note_that_mixes_them():
    note = Text.decode(b"---\r\na: 1\r\n---\r\none\ntwo\nthree\nfour\n")
    assert after(note, set_keys(note, {"b": 2})).data == b"---\r\na: 1\r\nb: 2\r\n---\r\none\ntwo\nthree\nfour\n"


def test_hazard_088_the_closing_fence_stays_on_its_own_line():
    for front in ("a: 1\n", "a: |\n  x\n", "a:\n  - x\n", "a:\n", "# c\n"):
        assert edited(front, {"b": 2}).endswith("\nb: 2\n")


@pytest.mark.parametrize(
    ("encoding", "bom"), [("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff")]
)
def test_the_encoding_and_its_mark_stay(encoding, bom):
    note = fenced("键: 值\n", encoding=encoding, bom=bom)
    now = after(note, set_keys(note, {"键": "新", "b": [1]}))
    assert now.data.startswith(bom) and now.encoding == encoding
    assert properties.of(now).values == {"键": "新", "b": [1]}


def test_a_note_that_is_not_valid_is_not_edited():
    with pytest.raises(NotTextError):
        set_keys(Text.decode(b"---\na: \xff\n---\n"), {"a": 1})
    with pytest.raises(NotTextError):
        edit_tags(Text.decode(b"\xff"), TagChange(add=("a",)))


def test_with_the_last_key_the_block_goes_unless_something_else_is_in_it():
    note = fenced("a: 1\n", body="text\n")
    assert after(note, set_keys(note, {}, ["a"])).text == "text\n"
    assert edited("# kept\na: 1\n", remove=["a"]) == "# kept\n"
    assert edited("a: 1\nb: 2\n", {"c": 3}, ["a", "b"]) == "c: 3\n"


def test_a_block_stays_empty_if_the_text_below_would_be_taken_for_one():
    note = fenced("a: 1\n", body="---\nx: y\n---\n")
    now = after(note, set_keys(note, {}, ["a"]))
    assert now.text == "---\n---\n---\nx: y\n---\n" and properties.of(now).values == {}


def test_a_key_that_is_there_twice_is_there_once_after():
    assert edited("a: 1\nb: x\na: 2\n", {"a": 3}) == "b: x\na: 3\n"
    assert edited("a: 1\nb: x\na: 2\n", {"b": "y"}) == "a: 1\nb: y\na: 2\n"
    assert edited("a: 1\nb: x\na: 2\n", remove=["a"]) == "b: x\n"


def test_an_anchor_that_others_use_is_not_lost():
    front = "a: &x [1, 2]\nb: *x\nc: 3\n"
    for change in ({"wanted": {"a": 5}}, {"remove": ["a"]}):
        with pytest.raises(InvalidRequestError, match="anchor &x"):
            edited(front, **change)
    assert edited(front, {"b": 4}) == "a: &x [1, 2]\nb: 4\nc: 3\n"
    assert edited(front, {"a": [1, 2], "c": 4}) == "a: &x [1, 2]\nb: *x\nc: 4\n"
    assert edited("a: &x 1\nb: 2\n", {"a": 5}) == "a: 5\nb: 2\n"


def test_an_anchor_that_is_used_under_the_same_name_twice_keeps_its_meaning():
    with pytest.raises(InvalidRequestError):
        edited("a: &x 1\nb: &x 2\nc: *x\n", {"b": 5})


def test_an_alias_bomb_is_refused_at_once():
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12)
    )
    with pytest.raises(InvalidRequestError, match="aliases"):
        edited(bomb, {"b": 1})


def test_a_block_in_braces_is_edited_in_braces():
    front = "{a: 1, 'b': [x], c: {d: e}}\n"
    assert edited(front, {"a": "x, y", "n": ["q"]}) == "{a: \"x, y\", 'b': [x], c: {d: e}, n: [q]}\n"
    assert edited(front, {}, ["b"]) == "{a: 1, c: {d: e}}\n"
    assert edited("{}\n", {"a": 1}) == "{a: 1}\n"
    assert edited('{"a":1,"b":2}\n', {"b": [3]}) == '{"a":1,"b": [3]}\n'


def test_explicit_keys_and_document_ends_are_survived():
    assert edited("? a\n: 1\nb: 2\n", {"a": 3}) == "? a\n: 3\nb: 2\n"
    assert edited("  a: 1\n  b: 2\n", {"c": ["x"]}) == "  a: 1\n  b: 2\n  c:\n    - x\n"


def test_a_removed_entry_does_not_leave_its_blank_lines_to_a_text_that_keeps_them():
    assert edited("p: |+\n  x\n\na: 1\n\nb: 2\n", remove=["a"]) == "p: |+\n  x\n\nb: 2\n"


def test_an_equal_value_is_no_edit_and_bool_int_and_float_are_not_equal():
    for value, written in ((1, "1"), (True, "true"), (1.0, "1.0"), ("1", '"1"'), (None, "")):
        note = fenced(f"a: {written}\n")
        assert set_keys(note, {"a": value}) == []
        for other in (1, True, 1.0, "1", None):
            if exactly(other) != exactly(value):
                assert exactly(properties.of(after(note, set_keys(note, {"a": other}))).values) == exactly({"a": other})


def test_what_was_read_as_text_may_be_written_back_as_it_was():
    assert edited("v: 1.10\nd: 2024-01-02\nw: no\n", {"v": "1.20", "d": "2024-02-03", "w": "yes"}) == (
        "v: 1.20\nd: 2024-02-03\nw: yes\n"
    )
    assert edited("a: b\n", {"v": "1.20", "w": "yes", "d": datetime.date(2024, 2, 3)}) == (
        'a: b\nv: "1.20"\nw: "yes"\nd: 2024-02-03\n'
    )


def test_items_of_a_list_that_stay_keep_their_comments_and_quotes():
    front = "l:\n  - 'a' # first\n  # on b\n  - b\n  -   c: 1 # deep\n"
    assert (
        edited(front, {"l": ["a", "x", {"c": 1}, "y"]})
        == "l:\n  - 'a' # first\n  # on b\n  - x\n  -   c: 1 # deep\n  - y\n"
    )
    assert edited(front, {"l": ["b", {"c": 1}]}) == "l:\n  # on b\n  - b\n  -   c: 1 # deep\n"
    assert edited(front, {"l": []}) == "l: []\n  # on b\n"
    assert edited("l: [a, # one\n  b, c]\n", {"l": ["z", "a", "c", "d"]}) == "l: [z, a, # one\n  c, d]\n"


def test_new_lists_look_like_the_lists_that_are_there():
    assert edited("l: [a]\n", {"m": ["b", "c"]}) == "l: [a]\nm: [b, c]\n"
    assert edited("l:\n- a\n", {"m": ["b"]}) == "l:\n- a\nm:\n- b\n"
    assert edited("l:\n    - a\n", {"m": ["b"]}) == "l:\n    - a\nm:\n    - b\n"
    assert edited("l: x\n", {"m": ["b"]}) == "l: x\nm:\n  - b\n"


@pytest.mark.parametrize(
    "wanted",
    [
        {"": 1},
        {" ": 1},
        {"\ud800": 1},
        {"a": "\udfff"},
        {"a": float("inf")},
        {"a": float("nan")},
        {"a": {1: 2}},
        {"a": b"x"},
        {"a": object()},
        {"k" * 600: 1},
        {"\x01" * 400: 1},
        {"a": {"b": {1, 2}}},
    ],
)
def test_what_no_property_can_hold_is_refused(wanted):
    with pytest.raises(InvalidRequestError):
        edited("x: 1\n", wanted)
    with pytest.raises(InvalidRequestError):
        render(wanted)


def test_nesting_beyond_sense_is_refused():
    value = "x"
    for _ in range(80):
        value = [value]
    with pytest.raises(InvalidRequestError, match="nested"):
        edited("x: 1\n", {"a": value})


def test_a_key_both_set_and_removed_is_refused():
    with pytest.raises(InvalidRequestError, match="both"):
        edited("a: 1\n", {"a": 2}, ["a"])


def retagged(front, **change):
    note = fenced(front)
    edits, count = edit_tags(note, TagChange(**change))
    return after(note, edits).text.removeprefix("---\n").removesuffix("---\n# Body\n\n---\nx: y\n---\n"), count


@pytest.mark.parametrize(
    ("front", "expected"),
    [
        ("tags: [a, b]\n", "tags: [a, b, x]\n"),
        ("tags:\n- a\n- b # c\n", "tags:\n- a\n- b # c\n- x\n"),
        ("tags:\n    - 'a'\n", "tags:\n    - 'a'\n    - 'x'\n"),
        ("tags: a, b\n", "tags: a, b, x\n"),
        ("tags: a b\n", "tags: a b x\n"),
        ("tags: a\n", "tags:\n  - a\n  - x\n"),
        ("tags: 2024\nl: [y]\n", "tags: [2024, x]\nl: [y]\n"),
        ("tags: [] # none yet\n", "tags: [x] # none yet\n"),
        ("tags:\nb: 1\n", "tags:\n  - x\nb: 1\n"),
        ("b: 1\n", "b: 1\ntags:\n  - x\n"),
        ("Tag: [a]\n", "Tag: [a, x]\n"),
        ("", "tags:\n  - x\n"),
    ],
)
def test_hazard_085_a_tag_is_added_without_its_mark_in_the_style_of_the_list(front, expected):
    assert retagged(front, add=("#x",)) == (expected, 1)
    assert retagged(expected, add=("X",)) == (expected, 0)


def test_tags_set_as_a_property_lose_their_mark():
    assert edited("a: 1\n", {"tags": ["#x", "y", "#z/w"]}) == "a: 1\ntags:\n  - x\n  - y\n  - z/w\n"


def test_hazard_088_removing_a_tag_leaves_the_alias_of_the_same_name():
    front = "aliases: [x, y]\ntags: [x, y]\nother:\n- x\n"
    assert retagged(front, remove=("x",)) == ("aliases: [x, y]\ntags: [y]\nother:\n- x\n", 1)
    assert retagged(front, remove=("#X", "y")) == ("aliases: [x, y]\ntags: []\nother:\n- x\n", 2)
    assert retagged("tags: a, b c\n", remove=("b",)) == ("tags: a, c\n", 1)
    assert retagged("tags:\n  - a # c\n  - b\naliases:\n  - a\n", remove=("a",)) == (
        "tags:\n  - b\naliases:\n  - a\n",
        1,
    )


def test_a_renamed_tag_takes_its_children_along_and_meets_no_double():
    front = "tags:\n- a # c\n- '#a/b'\n- ab\n- A/B/C\n- z\n"
    renamed = "tags:\n- new/t # c\n- '#new/t/b'\n- ab\n- new/t/B/C\n- z\n"
    assert retagged(front, rename=(("a", "new/t"),)) == (renamed, 3)
    assert retagged("tags: [a, b, a/c]\n", rename=(("a", "b"),)) == ("tags: [b, b/c]\n", 2)
    assert retagged("tags: [b]\n", rename=(("a", "c"),)) == ("tags: [b]\n", 0)
    assert retagged("tags: [a]\ntag: a\n", rename=(("a", "A"),)) == ("tags: [A]\ntag: []\n", 2)


def test_tags_that_stand_behind_an_alias_leave_the_anchored_list_alone():
    assert retagged("l: &x [a]\ntags: *x\n", add=("c",)) == ("l: &x [a]\ntags: [a, c]\n", 1)


def test_a_mapping_of_tags_is_not_touched():
    assert retagged("tags: {a: b}\n", remove=("a",)) == ("tags: {a: b}\n", 0)
    with pytest.raises(InvalidRequestError):
        retagged("tags: {a: b}\n", add=("c",))


@pytest.mark.parametrize("tag", ["", "#", "a b", "a,b", "/", "[a]", "a\nb", '"a"', "a#b"])
def test_what_is_no_tag_is_not_added(tag):
    with pytest.raises(InvalidRequestError):
        retagged("a: 1\n", add=(tag,))
    with pytest.raises(InvalidRequestError):
        retagged("tags: [a]\n", rename=(("a", tag),))


@quick
@given(
    st.lists(st.sampled_from(["a", "a/b", "B", "c", "项目", "x-1"]), unique=True, max_size=5),
    st.sampled_from(["flow", "block", "text"]),
    st.sampled_from(["a", "b", "c", "new"]),
    st.sampled_from(["z", "b", "A"]),
)
def test_after_any_change_the_tags_are_those_wanted_and_the_rest_is_untouched(tags, style, gone, new):
    written = {
        "flow": f"tags: [{', '.join(tags)}]\n",
        "block": "tags:\n" + "".join(f"  - {tag}\n" for tag in tags),
        "text": f"tags: {', '.join(tags)}\n",
    }[style]
    around = ("aliases: [a, b] # c\n", "z: |\n  a\n")
    front, count = retagged(around[0] + written + around[1], remove=(gone,), add=(new,))
    expected = [tag for tag in tags if tag.casefold() != gone.casefold()]
    expected += [] if new.casefold() in [tag.casefold() for tag in expected] else [new]
    assert list(properties.parse(front).tags) == expected
    assert front.startswith(around[0]) and front.endswith(around[1])
    changed = [tag for tag in tags if tag.casefold() == gone.casefold()]
    assert count == len(changed) + (new in expected and new not in tags)
