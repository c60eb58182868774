import pytest
from editing import NOTE, at, edited, refused, replace

from notes_mcp.errors import AmbiguousError, NotFoundError
from notes_mcp.notes.markup import markdown, sections


def test_append_to_a_section_goes_behind_the_last_words_of_it_and_its_sub_sections():
    assert edited(NOTE, at("append", "Log", "- new")) == NOTE.replace("- Ann\n", "- Ann\n- new\n")
    assert edited(NOTE, at("append", "Next", "new")) == NOTE + "new\n"


def test_prepend_goes_below_the_heading_and_its_blank_lines():
    assert edited(NOTE, at("prepend", "Log", "- new")) == NOTE.replace("- one", "- new\n- one")
    assert edited(NOTE, {"op": "prepend", "text": "new"}) == NOTE.replace("# Top", "new\n\n# Top")
    assert edited("# T\nx\n", {"op": "prepend", "text": "new"}) == "new\n# T\nx\n"
    assert edited("---\na: 1\n---\n# T\n", {"op": "prepend", "text": "new"}) == "---\na: 1\n---\nnew\n# T\n"
    assert edited("---\na: 1\n---\nx\n", {"op": "prepend", "text": "new"}, path="n.txt") == "new\n---\na: 1\n---\nx\n"


def test_text_put_into_or_beside_a_section_is_parted_from_the_next_as_that_was():
    assert edited("# A\n\n# B\n", at("append", "A", "x")) == "# A\n\nx\n\n# B\n"
    assert edited("# A\n# B\n", at("append", "A", "x")) == "# A\nx\n# B\n"
    assert edited("# A\n\n## C\ny\n", at("prepend", "A", "x")) == "# A\n\nx\n\n## C\ny\n"
    assert edited("# A", at("append", "A", "x")) == "# A\nx"
    assert edited(NOTE, at("insert_after", "Log", "## New\n\nx")) == NOTE.replace("## Next", "## New\n\nx\n\n## Next")
    assert edited(NOTE, at("insert_before", "Log", "x")) == NOTE.replace("## Log", "x\n\n## Log")
    assert edited("A\n=\nB\n-\n", at("append", "A", "x")) == "A\n=\nB\n-\nx\n"
    assert edited("# A\nB\n=\n", at("append", "A", "x")) == "# A\nx\n\nB\n=\n"


@pytest.mark.parametrize(
    "hidden",
    [
        "| a | b |\n|---|---|\n| `## x` | y |\n",
        "```\n## x\n```\n",
        "    ## x\n",
        "<!--\n## x\n-->\n",
        "%%\n## x\n%%\n",
        "text ` ## x`\n",
    ],
)
def test_hazard_097_what_is_hidden_in_code_tables_or_comments_ends_no_section(hidden):
    data = f"## A\n\n{hidden}\nmore\n\n## B\n\nb\n"
    assert edited(data, at("replace_section", "A", "new")) == "## A\n\nnew\n\n## B\n\nb\n"
    assert edited(data, at("delete_section", "A")) == "## B\n\nb\n"
    assert edited(data, at("append", "A", "new")) == data.replace("more\n", "more\nnew\n")
    refused(data, at("append", "x", "new"), error=NotFoundError)


@pytest.mark.parametrize(
    "name", ["### People", "People", " people ", "###People", "Log > People", "### People (line 17)"]
)
def test_hazard_098_a_section_is_found_with_and_without_its_marks(name):
    assert edited(NOTE, at("replace_section", name, "- Bob")) == NOTE.replace("- Ann", "- Bob")


def test_hazard_101_replacing_a_section_takes_its_sub_sections_along():
    wanted = NOTE.replace("- one\n\n### People\n\n- Ann", "new")
    assert edited(NOTE, at("replace_section", "Log", "new")) == wanted
    assert edited(NOTE, at("replace_section", "Log", "\n\nnew\n\n\n")) == wanted


@pytest.mark.parametrize("sent", ["## Log\n\nnew\n", "\n## Log\nnew", "## Log ##\nnew", "Log\n---\nnew"])
def test_a_heading_sent_with_the_text_of_its_section_is_not_doubled(sent):
    assert edited(NOTE, at("replace_section", "Log", sent)) == NOTE.replace("- one\n\n### People\n\n- Ann", "new")


def test_a_heading_sent_in_another_spelling_or_level_takes_the_place_of_the_old_one():
    assert edited("## Log\nx\n# B\n", at("replace_section", "log", "# LOG\ny")) == "# LOG\ny\n# B\n"
    assert edited("## Log\nx\n# B\n", at("replace_section", "Log", "## Other\ny")) == "## Log\n## Other\ny\n# B\n"


def test_hazard_103_every_line_of_the_outline_names_its_section():
    data = "# Log\na\n## Log (line 9)\nb\n# Log\nc\n"
    scan = markdown.scan(data.encode())
    for line, words in zip(sections.outline(scan), "abc", strict=True):
        after = edited(data, at("prepend", line, "new"))
        assert after == data.replace(f"{words}\n", f"new\n{words}\n")


def test_two_sections_of_one_name_are_never_guessed_between():
    with pytest.raises(AmbiguousError, match=r"Edit 1 of 1 .*Nothing was written") as caught:
        edited("# A\n# A\n", at("append", "A", "x"))
    assert len(caught.value.candidates) == 2


def test_deleting_a_section_takes_heading_text_and_sub_sections():
    assert edited(NOTE, at("delete_section", "Log")) == NOTE.replace("## Log\n\n- one\n\n### People\n\n- Ann\n\n", "")
    assert edited(NOTE, at("delete_section", "Next")) == NOTE.removesuffix("\n## Next\n\nlast\n")
    assert edited("# A\nx\n", at("delete_section", "A")) == ""
    assert edited("---\na: 1\n---\n# A\nx\n", at("delete_section", "A")) == "---\na: 1\n---\n"


BLOCKS = "p\n\npara ^id\n\n- a ^i\n  - c\n- b\n\n^list\n\nend\n"


@pytest.mark.parametrize(
    ("edit", "wanted"),
    [
        (at("replace_section", "^id", "new"), BLOCKS.replace("para", "new")),
        (at("replace_section", "^id", "\nnew ^id\n\n"), BLOCKS.replace("para", "new")),
        (at("replace_section", "^id", "```\nx\n```"), BLOCKS.replace("para ^id", "```\nx\n```\n\n^id")),
        (at("replace_section", "^i", "- x\n  - y"), BLOCKS.replace("- a ^i\n  - c", "- x ^i\n  - y")),
        (at("replace_section", "^list", "1. x"), BLOCKS.replace("- a ^i\n  - c\n- b", "1. x")),
        (at("replace_section", "^list", "1. x\n\n^list"), BLOCKS.replace("- a ^i\n  - c\n- b", "1. x")),
        (at("append", "^list", "- x"), BLOCKS.replace("- b\n", "- b\n- x\n")),
        (at("append", "^id", "x"), BLOCKS.replace("^id\n", "^id\n\nx\n")),
        (at("insert_after", "^i", "- x"), BLOCKS.replace("  - c\n", "  - c\n- x\n")),
        (at("insert_after", "^list", "x"), BLOCKS.replace("^list\n", "^list\n\nx\n")),
        (at("insert_before", "^id", "x"), BLOCKS.replace("para", "x\n\npara")),
        (at("prepend", "^i", "- x"), BLOCKS.replace("- a", "- x\n- a")),
        (at("delete_section", "^id"), BLOCKS.replace("para ^id\n\n", "")),
        (at("delete_section", "^i"), BLOCKS.replace("- a ^i\n  - c\n", "")),
        (at("delete_section", "^list"), "p\n\npara ^id\n\nend\n"),
        (replace("a", "x", section="^i"), BLOCKS.replace("- a", "- x")),
    ],
)
def test_a_block_is_edited_exactly_and_keeps_its_mark(edit, wanted):
    assert edited(BLOCKS, edit) == wanted


def test_a_block_is_not_emptied_by_accident_nor_its_mark_lost():
    refused(BLOCKS, at("replace_section", "^id", " \n"))
    refused(BLOCKS, at("replace_section", "^id", "<!-- never closed"))
