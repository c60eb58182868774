import codecs

import pytest
from editing import NOTE, at, edited, refused, replace

from notes_mcp.errors import NotTextError
from notes_mcp.notes.edits.edits import Edit, apply
from notes_mcp.notes.text import Text, etag

# Encoding, line ends, bytes


@pytest.mark.parametrize("op", ["append", "prepend", "insert_before", "insert_after", "replace_section"])
def test_hazard_068_a_note_with_crlf_gets_no_other_line_end_by_any_edit(op):
    data = NOTE.replace("\n", "\r\n").encode()
    after = edited(data, at(op, "Log", "a\nb\r\nc\rd"))
    assert after.count(b"\n") == after.count(b"\r") == after.count(b"\r\n")
    assert b"a\r\nb\r\nc\r\nd\r\n" in after
    assert b"\ntags: [x,  y]\r\n" in after


def test_hazard_070_one_small_edit_changes_its_own_bytes_only():
    data = b"one\r\ntwo\nthree\rfour\r\n"
    assert edited(data, replace("two", "zwei")) == b"one\r\nzwei\nthree\rfour\r\n"
    assert edited(data, replace("one\ntwo\nthree", "one\nzwei\nthree")) == b"one\r\nzwei\nthree\rfour\r\n"
    assert edited(data, replace("three\nfour", "three\nvier\nfour")) == b"one\r\ntwo\nthree\rvier\r\nfour\r\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("sent", ["\n", "\r\n", "\r"])
def test_hazard_071_quoted_text_matches_across_line_ends(newline, sent):
    data = newline.join(("a", "b", "", "c", ""))
    assert edited(data, replace(f"a{sent}b{sent}{sent}c", f"x{sent}y")) == f"x{newline}y{newline}"
    assert edited(data, {"op": "insert_after", "old_text": f"a{sent}b", "text": "x"}) == data.replace(
        f"b{newline}", f"b{newline}x{newline}"
    )


@pytest.mark.parametrize(
    "data",
    ["word 中文".encode("gbk"), "word é".encode("latin-1"), codecs.BOM_UTF16_LE + b"w\0o\0r\0d\0\0", b"word \xff"],
)
@pytest.mark.parametrize("edit", [replace("word", "x"), {"op": "append", "text": "x"}, at("delete_section", "A")])
def test_hazard_073_a_note_that_is_not_valid_in_its_encoding_is_never_edited(data, edit):
    with pytest.raises(NotTextError, match="Nothing was changed"):
        edited(data, edit)


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8", codecs.BOM_UTF8),
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
        ("utf-32-le", codecs.BOM_UTF32_LE),
    ],
)
def test_byte_order_mark_and_encoding_stay_and_front_matter_behind_them_is_seen(encoding, mark):
    data = mark + NOTE.replace("\n", "\r\n").encode(encoding)
    after = edited(data, {"op": "prepend", "text": "中 😀"}, replace("- one", "- 一"), at("delete_section", "Next"))
    wanted = NOTE.replace("# Top", "中 😀\n\n# Top").replace("- one", "- 一").removesuffix("\n## Next\n\nlast\n")
    assert after == mark + wanted.replace("\n", "\r\n").encode(encoding)


@pytest.mark.parametrize(
    ("data", "text", "wanted"),
    [
        ("abc", "def", "abc\ndef"),
        ("abc\n", "def", "abc\ndef\n"),
        ("abc\n", "def\n", "abc\ndef\n"),
        ("abc", "def\n", "abc\ndef\n"),
        ("abc\r\nx", "def", "abc\r\nx\r\ndef"),
        ("abc\r", "def", "abc\rdef\r"),
        ("abc\n\n", "def", "abc\n\ndef\n"),
        ("abc", "\ndef", "abc\n\ndef"),
        ("abc\n", "\ndef", "abc\n\ndef\n"),
        ("", "def", "def"),
        ("\n", "def", "\ndef\n"),
        ("---\na: 1\n---", "def", "---\na: 1\n---\ndef"),
    ],
)
def test_hazard_077_append_puts_one_line_end_between_and_keeps_the_end_of_the_note(data, text, wanted):
    assert edited(data, {"op": "append", "text": text}) == wanted


def test_hazard_077_no_edit_adds_or_takes_a_final_line_end():
    for data in ("# A\nx\n# B\ny", "# A\nx\n# B\ny\n"):
        ended = data.endswith("\n")
        for edit in (
            at("append", "B", "z"), at("insert_after", "B", "z"), at("replace_section", "B", "z"),
            at("delete_section", "B"), at("prepend", "B", "z"), replace("y", "z"),
            {"op": "insert_after", "old_text": "y", "text": "z"},
        ):  # fmt: skip
            assert edited(data, edit).endswith("\n") == ended, edit


def test_a_byte_order_mark_is_never_made_by_an_edit():
    refused("x\ufeffabc", replace("x", ""))
    refused("abc", {"op": "prepend", "text": "\ufeff# T\n"})
    assert edited("abc\n", {"op": "append", "text": "\ufeffx"}) == "abc\n\ufeffx\n"


def test_half_a_surrogate_pair_is_refused():
    for edit in (replace("abc", "\ud83d"), {"op": "append", "text": "\ud83d"}, at("replace_section", "A", "\ud83d")):
        refused("# A\nabc\n", edit)
    refused("# A\nabc ^x\n", at("replace_section", "^x", "\ud83d"))
    refused("abc\n", replace("\ud83d", "x"))


def test_line_ends_of_two_kinds_side_by_side_do_not_melt_into_one():
    assert edited(b"a\r\rx\n\r", replace("x", "b\n")) == b"a\r\rb\r\n\n\r"


# Front matter, where editing is concerned


def test_hazard_079_and_080_front_matter_is_untouched_by_edits_below_it():
    front = NOTE[: NOTE.index("\n# Top")]
    for edit in (
        {"op": "prepend", "text": "new"}, {"op": "append", "text": "new"}, at("append", "Log", "new"),
        at("prepend", "Top", "new"), at("replace_section", "Top", "new"), at("delete_section", "Top"),
        at("insert_before", "Top", "new"), replace("intro", "new"),
    ):  # fmt: skip
        assert edited(NOTE, edit).startswith(front), edit


def test_text_in_front_matter_can_be_replaced_word_for_word():
    assert edited(NOTE, replace("version: 1.10", "version: 1.11")) == NOTE.replace("1.10", "1.11")


def test_hazard_082_a_second_front_block_is_never_put_before_the_first():
    block = "---\nstatus: x\n---\n"
    refused(NOTE, {"op": "prepend", "text": block + "more"})
    refused(NOTE, {"op": "insert_before", "old_text": "---\ntitle", "text": block})
    refused(NOTE, {"op": "insert_before", "old_text": "---\ntitle", "text": "more"})
    assert edited("# T\n", {"op": "prepend", "text": block}) == block + "# T\n"


@pytest.mark.parametrize("broken", ["a: [x", 'a: "x', "a:\tx: y\n\t- z", "a: b: c", "- x\n- y"])
def test_hazard_083_below_front_matter_that_does_not_parse_the_body_can_be_edited(broken):
    data = f"---\n{broken}\n---\n# T\n\nx\n"
    assert edited(data, replace("x\n", "y\n", section="T"), {"op": "prepend", "text": "p"}) == (
        f"---\n{broken}\n---\np\n# T\n\ny\n"
    )


# Editing by text


def test_hazard_091_a_failing_edit_leaves_nothing_of_the_others_and_is_named():
    said = refused("a b c\n", replace("a", "x"), replace("nope", "y"), replace("c", "z"))
    assert "Edit 2 of 3 (replace)" in said


def test_edits_see_what_those_before_them_did():
    assert edited(
        "a\n", replace("a", "b"), replace("b", "c"), {"op": "append", "text": "# H"}, at("append", "H", "x")
    ) == ("c\n# H\nx\n")
    said = refused("a\n", replace("a", "b"), replace("a", "c"))
    assert "It was there before the edits in front of this one" in said


def test_hazard_092_two_equal_passages_are_an_error_with_count_and_lines():
    data = "same\nx\nsame\n"
    said = refused(data, replace("same", "y"))
    assert "2 times" in said and "lines 1, 3" in said and "count=2" in said
    assert edited(data, replace("same", "y", count=2)) == "y\nx\ny\n"
    assert "2 times" in refused(data, replace("same", "y", count=3))
    assert "once" in refused(data, replace("x", "y", count=2))
    assert "2 times" in refused(data, {"op": "insert_after", "old_text": "same", "text": "y"})
    assert edited(data, {"op": "insert_after", "old_text": "same", "text": "y", "count": 2}) == "same\ny\nx\nsame\ny\n"


@pytest.mark.parametrize(
    ("data", "old_text"),
    [("aaa", "aa"), ("- x\n- x\n- x\n", "- x\n- x"), ("a\r\n\r\n\n", "\n\n"), ("ababa", "aba")],
)
@pytest.mark.parametrize("count", [1, 2])
def test_finds_that_overlap_are_ambiguous_however_many_are_wanted(data, old_text, count):
    assert "2 times" in refused(data, replace(old_text, "y", count=count))


def test_many_finds_are_told_in_few_words():
    assert len(refused("e\n" * 100_000, replace("e", "x"))) < 500


@pytest.mark.parametrize("text", ["$& $1 $$ $`", r"\1 \g<0> \n", "{0} {x} %s %(a)s", "&amp; <b>"])
def test_hazard_094_new_text_is_literal(text):
    assert edited("a X b\n", replace("X", text)) == f"a {text} b\n"
    assert edited("# X\nb\n", at("replace_section", "X", text)) == f"# X\n{text}\n"


def test_quoted_text_is_literal():
    assert edited("a.c (x) [y]* abc\n", replace("a.c (x) [y]*", "z")) == "z abc\n"


def test_hazard_095_empty_text_deletes():
    assert edited("a x b\n", replace(" x", "")) == "a b\n"
    assert edited("a\nx\nb\n", replace("x\n", "")) == "a\nb\n"
    assert edited("x", replace("x", "")) == ""
    assert edited("# A\n\nx\n\n# B\n", at("replace_section", "A", "")) == "# A\n\n# B\n"
    assert edited("# A\nx\n# B\n", at("replace_section", "A", "")) == "# A\n# B\n"


def test_hazard_100_an_edit_that_changes_nothing_gives_the_very_bytes_back():
    data = b"a\r\nb\nc"
    assert edited(data, replace("a\nb\nc", "a\nb\nc")) == data
    assert edited(b"# A\r\n\r\nx\r\n", at("replace_section", "A", "x")) == b"# A\r\n\r\nx\r\n"


def test_hazard_104_the_same_append_sent_again_meets_another_etag():
    data = b"a\n"
    once = edited(data, {"op": "append", "text": "x"})
    assert etag(once) != etag(data)
    assert edited(once, {"op": "append", "text": "x"}) != once


def test_a_search_for_text_can_be_limited_to_a_section():
    data = "# A\nsame\n## C\nx\n# B\nsame\n"
    assert edited(data, replace("same", "y", section="B")) == "# A\nsame\n## C\nx\n# B\ny\n"
    assert edited(data, replace("x", "y", section="A")) == data.replace("x", "y")
    assert edited(data, {"op": "insert_before", "old_text": "same", "section": "B", "text": "y"}) == (
        "# A\nsame\n## C\nx\n# B\ny\nsame\n"
    )
    assert "outside of it: line 4" in refused(data, replace("x", "y", section="B"))


def test_insertions_are_whole_lines_around_the_quoted_text():
    data = "one two\nthree four\nfive\n"
    assert edited(data, {"op": "insert_before", "old_text": "two\nthree", "text": "x"}) == "x\n" + data
    assert edited(data, {"op": "insert_after", "old_text": "two\nthree", "text": "x\n"}) == (
        "one two\nthree four\nx\nfive\n"
    )
    assert (
        edited(data, {"op": "insert_after", "old_text": "one two\n", "text": "x"}) == "one two\nx\nthree four\nfive\n"
    )
    assert edited("a\nb", {"op": "insert_after", "old_text": "b", "text": "x"}) == "a\nb\nx"


def test_an_insertion_never_breaks_a_heading_of_two_lines():
    data = "a\n\nTitle\n=====\nb\n"
    assert edited(data, {"op": "insert_after", "old_text": "Title", "text": "x"}) == "a\n\nTitle\n=====\nx\nb\n"
    assert edited(data, {"op": "insert_before", "old_text": "=====", "text": "x"}) == "a\n\nx\n\nTitle\n=====\nb\n"
    assert edited("Title\n===\n", {"op": "prepend", "text": "x"}) == "x\n\nTitle\n===\n"


def test_lines_told_are_those_of_the_note_after_all_edits():
    done = apply(
        "n.md",
        b"a\nb\nc",
        [Edit("replace", "B", "b"), Edit("prepend", "x\ny"), Edit("append", "z"), Edit("replace", "", "c\n")],
    )
    assert done.data == b"x\ny\na\nB\nz"
    assert [(applied.op, applied.line) for applied in done.applied] == [
        ("replace", 4), ("prepend", 1), ("append", 5), ("replace", 5),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "edit",
    [
        {"op": "replace", "old_text": "a"},
        {"op": "replace", "text": "a"},
        {"op": "replace", "old_text": "", "text": "a"},
        {"op": "replace", "section": "A", "text": "a"},
        {"op": "append"},
        {"op": "append", "text": ""},
        {"op": "append", "text": "a", "old_text": "b"},
        {"op": "append", "text": "a", "count": 2},
        {"op": "insert_after", "text": "a"},
        {"op": "insert_before", "old_text": "x"},
        {"op": "replace_section", "text": "a"},
        {"op": "replace_section", "section": "A"},
        {"op": "replace_section", "section": "A", "text": "a", "old_text": "x"},
        {"op": "delete_section"},
        {"op": "delete_section", "section": "A", "text": "a"},
        {"op": "replace", "old_text": "x", "text": "a", "count": 0},
        {"op": "erase", "old_text": "x"},
    ],
)
def test_an_edit_whose_parts_do_not_fit_is_refused(edit):
    assert "Edit 1 of 1" in refused("# A\nx\n", edit)


def test_a_note_that_is_not_markdown_has_no_sections_and_can_be_edited_by_text():
    for path in ("n.txt", "n.org", "n.rst"):
        refused("# A\nx\n", at("append", "A", "y"), path=path)
        assert edited("# A\nx\n", replace("x", "y"), {"op": "append", "text": "z"}, path=path) == "# A\ny\nz\n"
        assert edited("T\n=\nx\n", {"op": "insert_after", "old_text": "T", "text": "y"}, path=path) == "T\ny\n=\nx\n"


def test_a_large_note_takes_fifty_edits():
    data = "".join(f"## H{at}\n\ntext {at} 中文\n\n" for at in range(5_000))
    after = edited(data, *[replace(f"text {number} 中", f"new {number}") for number in range(1_000, 1_050)])
    assert Text.decode(after.encode()).line_count == 20_000
    assert after.count("new ") == 50
