import codecs

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from notes_mcp.errors import InvalidRequestError, NotTextError
from notes_mcp.notes.edits.tagging import apply, wanted
from notes_mcp.notes.markup.facts import extract
from notes_mcp.notes.markup.markdown import scan
from notes_mcp.notes.properties import properties
from notes_mcp.notes.text import Text

quick = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])


def tagged(data, action, tags, new_tag=None, path="n.md"):
    """(the note after, how many places), as text for text and bytes for bytes."""
    done = apply(path, data.encode() if isinstance(data, str) else data, wanted(action, tags, new_tag))
    return (done.data.decode() if isinstance(data, str) else done.data), done.count


# Front matter


@pytest.mark.parametrize(
    ("data", "after"),
    [
        ("---\ntags: [a,  b]  # why\n---\n", "---\ntags: [a,  b, c]  # why\n---\n"),
        ("---\ntags:\n- a\n- b\n---\n", "---\ntags:\n- a\n- b\n- c\n---\n"),
        ("---\ntags:\n    - 'a'\n    - '#b'\n---\n", "---\ntags:\n    - 'a'\n    - '#b'\n    - 'c'\n---\n"),
        ('---\ntags: ["a"]\n---\n', '---\ntags: ["a", "c"]\n---\n'),
        ("---\r\ntags:\r\n- a\r\n---\r\nx", "---\r\ntags:\r\n- a\r\n- c\r\n---\r\nx"),
        ("---\ntitle: x\n---\n", "---\ntitle: x\ntags:\n  - c\n---\n"),
        ("---\ntags: []\n---\n", "---\ntags: [c]\n---\n"),
        ("x\n", "---\ntags:\n  - c\n---\nx\n"),
        ("", "---\ntags:\n  - c\n---\n"),
    ],
)
def test_hazard_085_an_added_tag_goes_into_the_list_in_the_lists_own_style_without_its_mark(data, after):
    assert tagged(data, "add", ["#c"]) == (after, 1)


def test_hazard_068_a_crlf_note_never_gets_a_return_into_a_tag():
    after, _ = tagged(b"---\r\ntags:\r\n  - a\r\n---\r\n#a x\r\n", "rename", ["a"], "b")
    assert after == b"---\r\ntags:\r\n  - b\r\n---\r\n#b x\r\n"
    assert properties.of(Text.decode(after)).tags == ("b",)


def test_hazards_079_080_086_every_other_key_stays_as_it_was_written():
    front = "---\ntitle: 'x' # why\nversion: 1.10\non: yes\nlist: [a, b]\ndate: 2024-01-02\n{}---\n"
    data = front.format("tags: [a, 2024-01-02]\n")
    assert tagged(data, "add", ["c"]) == (front.format("tags: [a, 2024-01-02, c]\n"), 1)
    assert tagged(data, "rename", ["a"], "c") == (front.format("tags: [c, 2024-01-02]\n"), 1)
    assert tagged(data, "remove", ["2024-01-02"]) == (front.format("tags: [a]\n"), 1)


def test_hazard_082_there_is_one_front_block_after_adding():
    after, _ = tagged("---\ntitle: x\n---\n---\ny\n---\n", "add", ["c"])
    assert after == "---\ntitle: x\ntags:\n  - c\n---\n---\ny\n---\n"


@pytest.mark.parametrize("broken", ["tags: [a", "tags: 'a", "a:\tx: y\n\t- z"])
def test_hazard_083_broken_front_matter_is_never_edited_and_tags_in_the_text_still_can_be(broken):
    data = f"---\n{broken}\n---\n#a x\n"
    assert tagged(data, "rename", ["a"], "b") == (f"---\n{broken}\n---\n#b x\n", 1)
    assert tagged(data, "remove", ["a"]) == (f"---\n{broken}\n---\nx\n", 1)
    for action, tags, new in (("add", ["c"], None), ("remove", ["c"], None), ("rename", ["c"], "d")):
        with pytest.raises(InvalidRequestError, match="cannot be read"):
            tagged(data, action, tags, new)


def test_hazard_088_removing_a_tag_leaves_an_alias_of_that_name():
    data = "---\naliases: [x]\ntags: [x, y]\n---\n"
    assert tagged(data, "remove", ["x"]) == ("---\naliases: [x]\ntags: [y]\n---\n", 1)
    assert tagged("---\naliases:\n- x\ntags:\n- x\n---\n", "remove", ["x"])[0].startswith("---\naliases:\n- x\ntags:")


# In the text

HIDDEN = (
    "```\n#define #a\n```\n`#a` [x](#a) [[n#a]] <https://x.y/#a> %%#a%% <!-- #a -->\n\n    #a\n\n$#a$ \\#a x#a\n# a\n"
)


def test_hazard_115_and_097_code_links_addresses_and_comments_are_not_touched():
    for action, new in (("rename", "b"), ("remove", None)):
        assert tagged(HIDDEN, action, ["a", "define"], new) == (HIDDEN, 0)


def test_hazard_116_what_is_no_tag_is_neither_made_nor_changed():
    for name in ("2024", "a b", "a//b", "a,b", "#", "", "/", "a.b"):
        with pytest.raises(InvalidRequestError):
            wanted("add", [name])
        with pytest.raises(InvalidRequestError):
            wanted("rename", ["x"], name)
    assert tagged("#2024 and #ff00aa\n", "rename", ["2024"], "y") == ("#2024 and #ff00aa\n", 0)
    assert tagged("#ff00aa\n", "rename", ["ff00aa"], "red") == ("#red\n", 1)


def test_hazard_118_only_whole_tags_match_and_those_below_move_along():
    data = "---\ntags: [foo, foobar, foo/x]\n---\n#foo #foobar #foo/x #foo-bar #x/foo C#foo\n"
    after = "---\ntags: [new, foobar, new/x]\n---\n#new #foobar #new/x #foo-bar #x/foo C#foo\n"
    assert tagged(data, "rename", ["foo"], "new") == (after, 4)
    assert tagged(data, "remove", ["foo"]) == (
        "---\ntags: [foobar, foo/x]\n---\n#foobar #foo/x #foo-bar #x/foo C#foo\n", 2,
    )  # fmt: skip


def test_hazard_119_one_letter_tags_are_tags():
    assert tagged("#a\n", "rename", ["a"], "b") == ("#b\n", 1)


def test_letter_case_does_not_part_tags_and_what_hangs_below_keeps_its_own():
    assert tagged("#Foo/Bar #ÉTÉ\n", "rename", ["foo"], "x/y") == ("#x/y/Bar #ÉTÉ\n", 1)
    assert tagged("#Foo/Bar #ÉTÉ\n", "rename", ["été"], "夏") == ("#Foo/Bar #夏\n", 1)
    assert tagged("#Foo #foo\n", "rename", ["foo"], "foo") == ("#foo #foo\n", 1)


def test_tags_renamed_to_one_that_is_there_become_one_in_the_list():
    assert tagged("---\ntags: [a, b, c]\n---\n", "rename", ["a", "c"], "b")[0] == "---\ntags: [b]\n---\n"
    assert tagged("#a #a/b #c\n", "rename", ["a", "a/b"], "c") == ("#c #c #c\n", 2)


def test_a_tag_that_is_there_already_is_not_added_again():
    assert tagged("---\ntags: [A]\n---\n#b\n", "add", ["a", "B"]) == ("---\ntags: [A]\n---\n#b\n", 0)
    assert tagged("x\n", "add", ["c", "#c"]) == ("---\ntags:\n  - c\n---\nx\n", 1)


@pytest.mark.parametrize(
    ("data", "after"),
    [
        ("one #a two\n", "one two\n"),
        ("one #a\n", "one\n"),
        ("one #a  \nx", "one  \nx"),
        ("#a one\n", "one\n"),
        ("  #a one\n", "  one\n"),
        ("one #a, two\n", "one, two\n"),
        ("- #a, two\n", "- , two\n"),
        ("(#a)\n", "()\n"),
        ("- [ ] #a buy\n", "- [ ] buy\n"),
        ("- one\n- #a\n", "- one\n-\n"),
        ("> #a x\n", "> x\n"),
        ("## T #a\nx\n", "## T\nx\n"),
        ("**#a** x\n", "x\n"),
        ("*x #a*\n", "*x*\n"),
        ("| #a | x |\n|---|---|\n", "| | x |\n|---|---|\n"),
        ("x #a #A #b\n", "x #b\n"),
        ("x #b #a #a\n", "x #b\n"),
        ("x\n\n#a #a\n\ny\n", "x\n\ny\n"),
        ("x\n#a\ny\n", "x\ny\n"),
        ("x\n\n#a\n\n#a\n", "x\n"),
        ("x\n\n#a", "x"),
        ("x #a\r\n#a\r\n", "x\r\n"),
        ("#a", ""),
        ("---\nt: x\n---\n#a\n\ny\n", "---\nt: x\n---\ny\n"),
    ],
)
def test_a_tag_taken_out_of_the_text_leaves_no_hole(data, after):
    assert tagged(data, "remove", ["a"])[0] == after


def test_encoding_and_mark_stay():
    data = codecs.BOM_UTF16_LE + "---\r\ntags: [é]\r\n---\r\n#é/中 x\r\n".encode("utf-16-le")
    wanted_data = codecs.BOM_UTF16_LE + "---\r\ntags: [夏]\r\n---\r\n#夏/中 x\r\n".encode("utf-16-le")
    assert tagged(data, "rename", ["É"], "夏") == (wanted_data, 2)


def test_a_note_that_is_not_valid_or_not_markdown_is_refused():
    with pytest.raises(NotTextError):
        tagged(b"#a \xff", "rename", ["a"], "b")
    for path in ("n.txt", "n.org", "n.rst"):
        with pytest.raises(InvalidRequestError):
            tagged("#a\n", "rename", ["a"], "b", path)


@pytest.mark.parametrize(
    ("action", "tags", "new_tag"),
    [("add", [], None), ("remove", [""], None), ("rename", ["a"], None), ("rename", ["a"], ""), ("add", ["a"], "b")],
)
def test_what_does_not_fit_the_action_is_refused(action, tags, new_tag):
    with pytest.raises(InvalidRequestError):
        wanted(action, tags, new_tag)


LINES = st.sampled_from(
    "|#a|#a/x #b|text #a more|x #A, y|**#a** #b|- #a|- [ ] #b #a|## H #a|`#a` #c|```|%%|> #a|[l](#a) #a/x/y|word|#a #a"
    "|中文 #中文/a #a|  |<!-- #a|-->|T #a\n===".split("|")
)
FRONTS = st.sampled_from(
    [
        "",
        "",
        "---\ntags: [a, b]\n---\n",
        "---\ntags:\n- a/x\n- a\n---\n",
        "---\ntags: a, c\ntitle: a\n---\n",
        "---\na: [\n---\n",
    ]
)


@st.composite
def notes(draw):
    text = draw(FRONTS) + draw(st.lists(LINES, max_size=10).map("\n".join)) + draw(st.sampled_from(["", "\n"]))
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n", "\r"])))
    return draw(st.sampled_from([b"", codecs.BOM_UTF8])) + text.encode()


def names(data):
    return {tag.casefold() for tag in extract("n.md", data).tags}


def spoken(data):
    """All tags in the text, in order."""
    return [tag.name.casefold() for tag in scan(Text.decode(data).utf8).tags]


def unsaid(data):
    """The body without its tags."""
    text = Text.decode(data)
    found = scan(text.utf8)
    bare = text.splice([(tag.start, tag.end, "") for tag in found.tags])
    return bare[len(text.bom) + found.body_start :]


def moved(tag, old, new):
    return new + tag[len(old) :] if tag == old or tag.startswith(old + "/") else tag


def done_to(data, *change):
    try:
        return tagged(data, *change)
    except InvalidRequestError:
        assume(False)
        raise


@quick
@given(notes(), st.sampled_from(["b", "a/x", "new", "新/b"]))
@example(b"---\ntags: [a/x, a]\n---\n", "a/x")
def test_a_rename_changes_those_tags_and_no_other_byte(data, new):
    after, count = done_to(data, "rename", ["a"], new)
    assert names(after) == {moved(tag, "a", new) for tag in names(data)}
    assert spoken(after) == [moved(tag, "a", new) for tag in spoken(data)]
    assert (count == 0) == (after == data)
    assert unsaid(after) == unsaid(data)


@quick
@given(notes())
def test_a_rename_and_its_inverse_give_the_very_bytes_back(data):
    assume(b"A" not in data and properties.of(Text.decode(data)).values.get("tags") != "a, c")
    after, _ = done_to(data, "rename", ["a"], "new")
    assert tagged(after, "rename", ["new"], "a")[0] == data


@quick
@given(notes())
def test_a_removed_tag_is_gone_and_the_others_and_the_words_stay(data):
    after, count = done_to(data, "remove", ["a"])
    assert names(after) == names(data) - {"a"}
    assert spoken(after) == [tag for tag in spoken(data) if tag != "a"]
    assert (count == 0) == (after == data)
    now = Text.decode(after)
    if now.utf8[scan(now.utf8).body_start :]:
        assert now.final_newline == Text.decode(data).final_newline
    assert after.count(b"word") == data.count(b"word") and after.count(b"text more") >= data.count(b"text more")
    if properties.of(now).error is None:
        assert tagged(after, "remove", ["a"]) == (after, 0)


@quick
@given(notes())
def test_an_added_tag_is_there_and_taking_it_out_again_leaves_the_body(data):
    after, count = done_to(data, "add", ["new"])
    assert count == 1 and names(after) == names(data) | {"new"}
    again, _ = tagged(after, "remove", ["new"])
    body, same = (Text.decode(note).utf8[scan(Text.decode(note).utf8).body_start :] for note in (data, again))
    assert same == body
