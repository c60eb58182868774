"""Headings, tasks, blocks, comments and front matter; links and tags have files of their own."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.notes.markup.markdown import front_matter, scan
from notes_mcp.notes.markup.tags import is_tag


def headings(text: str) -> list[tuple[int, str, int]]:
    return [(heading.level, heading.text, heading.line) for heading in scan(text.encode()).headings]


def test_atx_and_setext_headings_are_found_with_level_and_line():
    text = "# One\n\n   ### Three ###\nTwo\nlines\n---\n\n# \n#no\n####### seven\n\nOne\n===\n"
    assert headings(text) == [(1, "One", 1), (3, "Three", 3), (2, "Two lines", 4), (1, "", 8), (1, "One", 12)]


def test_a_heading_tells_what_is_read_and_what_is_written():
    text = "## A *big* `x` [[Note#h|alias]] [t](u.md) $y$ &amp; <b>z</b> ^mark\n"
    heading = scan(text.encode()).headings[0]
    assert heading.text == "A big x alias t y & z"
    assert heading.raw == text[3:-1]
    assert text.encode()[heading.start : heading.end].decode() == text


@pytest.mark.parametrize(
    "text",
    [
        "```\n# no\n```\n",
        "~~~md\n# no\n~~~\n",
        "    # no\n",
        "<div>\n# no\n</div>\n",
        "<!--\n\n# no\n\n-->\n",
        "%%\n# no\n%%\n",
        "---\n# no\n---\n",
        "> # no\n",
        "- # no\n",
        "[^1]\n\n[^1]: x\n\n    # no\n",
        "a `\n# no\n` b".replace("\n# no\n", " # no "),
        "$$\n# no\n$$\n".replace("\n", " "),
        "\\# no\n",
        "| a |\n|---|\n| # no |\n",
    ],
)
def test_what_only_looks_like_a_heading_is_none(text):
    assert headings(text) == []


def test_hazard_097_code_and_tables_and_comments_do_not_end_a_section():
    text = "# A\n\n| cell | other |\n|---|---|\n| `## x` | ## y |\n\n```\n## z\n```\n\n<!-- ## c -->\n\n# B\n"
    assert headings(text) == [(1, "A", 1), (1, "B", 13)]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_are_counted_from_the_top_of_the_file_whatever_ends_them(newline):
    text = "---\na: b\n---\n\n# H\n\nx [[n]] #t\n- [ ] task\n".replace("\n", newline).encode()
    found = scan(text)
    assert [found.headings[0].line, found.links[0].line, found.tags[0].line, found.tasks[0].line] == [5, 7, 7, 8]
    assert text[found.headings[0].start : found.headings[0].end] == b"# H" + newline.encode()


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("---\na: b\n---\nx", 13),
        ("---\n---\n", 8),
        ("---\r\na: b\r\n---\r\nx", 16),
        ("---\ra: b\r---\rx", 13),
        ("---  \na: b\n---\t\nx", 16),
        ("---\na: b\n...\nx\n---\n", 13),
        ("---\na: b\n---", 12),
        ("---\na: |\n  ---\n---\n", 19),
        ("--- a\nb\n---\n", None),
        ("----\na: b\n----\n", None),
        ("\n---\na: b\n---\n", None),
        ("---\na: b\n", None),
        ("---\na: b\n----\n", None),
        ("", None),
        ("---", None),
    ],
)
def test_front_matter_is_what_stands_between_the_first_line_and_its_closing_fence(text, length):
    assert front_matter(text.encode()) == (None if length is None else (0, length))


def test_a_metadata_block_in_the_middle_is_a_heading_and_a_rule():
    assert headings("x\n\n---\na: b\n---\n# H\n") == [(2, "a: b", 4), (1, "H", 6)]


def test_tasks_are_list_items_with_a_box_of_any_status():
    text = (
        "- [ ] open\n* [x] done\n  1. [X] deep\n+ [/] half\n- [-] off\n- [x]no\n- [[n]]\n[ ] no\n- [🎉] new \n- [ ]\n"
    )
    found = [(task.done, task.status, task.text, task.line) for task in scan(text.encode()).tasks]
    assert found == [
        (False, " ", "open", 1),
        (True, "x", "done", 2),
        (True, "X", "deep", 3),
        (False, "/", "half", 4),
        (True, "-", "off", 5),
        (False, "🎉", "new", 9),
        (False, " ", "", 10),
    ]
    for task in scan(text.encode()).tasks:
        assert text.encode()[task.status_start : task.status_end].decode() == task.status


@pytest.mark.parametrize(
    "text", ["```\n- [ ] no\n```\n", "%%\n- [ ] no\n%%\n", "---\n- [ ] no\n---\n", "<p>\n- [ ] no\n</p>"]
)
def test_tasks_in_code_comments_and_front_matter_are_none(text):
    assert scan(text.encode()).tasks == ()


def blocks(text: str) -> dict[str, str]:
    found = scan(text.encode())
    for block in found.blocks:
        assert text.encode()[block.mark_start : block.mark_end].decode() == f"^{block.id}"
    return {block.id: text.encode()[block.start : block.end].decode() for block in found.blocks}


def test_a_mark_at_the_end_of_a_line_names_its_paragraph_heading_or_list_item():
    text = "# H ^h\n\none\ntwo ^p  \n\n- a ^a\n  - b ^b\n- c\n\n  d\n- e ^e-1\n"
    assert blocks(text) == {
        "h": "# H ^h\n",
        "p": "one\ntwo ^p  \n",
        "a": "- a ^a\n  - b ^b\n",
        "b": "  - b ^b\n",
        "e-1": "- e ^e-1\n",
    }


def test_a_mark_that_stands_alone_names_the_block_before():
    table = "| a |\n|---|\n| b |\n"
    assert blocks(f"x\n\n{table}\n^t\n\n- l\n- m\n\n^l\n\n```\ncode\n```\n\n^c\n\n> q\n\n^q\n") == {
        "t": table,
        "l": "- l\n- m\n",
        "c": "```\ncode\n```\n",
        "q": "> q\n",
    }
    assert blocks(f"{table}^t\n") == {"t": f"{table}^t\n"}
    assert blocks("^only\n") == {"only": "^only\n"}


def test_marks_in_the_middle_of_a_line_in_code_or_with_other_letters_are_none():
    assert blocks("a ^b c\n\nx^2\n\n`^c`\n\n```\nd ^d\n```\n\ne ^e_f\n\n[^1]\n\n%% ^g %%\n\n^ü\n") == {}


def comments(text: str) -> list[str]:
    return [text.encode()[start:end].decode() for start, end in scan(text.encode()).comments]


def test_comments_are_found_within_a_line_and_over_lines():
    assert comments("a %%b%% c %%d\ne%% f\n\n%%\nx\n\ny\n%%\nz\n") == ["%%b%%", "%%d\ne%%", "%%\nx\n\ny\n%%"]


def test_two_percent_signs_in_prose_are_no_comment():
    text = "I am 100%% sure [[a]] #a\n\nand 50%% [[b]] #b\n"
    assert comments(text) == []
    assert [link.target for link in scan(text.encode()).links] == ["a", "b"]


def test_a_comment_that_is_never_closed_reaches_to_the_end():
    found = scan(b"# A\n\n%%\n# B\n\n[[x]] #t\n")
    assert [heading.text for heading in found.headings] == ["A"]
    assert (found.links, found.tags) == ((), ())


def test_half_a_fence_in_a_comment_hides_nothing_behind_it():
    text = "%%\n```\n%%\n\n# A\n\nx %%[[no]]%% [[yes]]\n"
    assert headings(text) == [(1, "A", 5)]
    assert [link.target for link in scan(text.encode()).links] == ["yes"]


def test_percent_signs_in_code_links_and_html_open_no_comment():
    text = "`%%` [[a]] `%%`\n\n```\n%%\n```\n\n[[b %% c]] <i x='%%'> [[d]]\n\n\\%% [[e]] \\%%\n"
    assert comments(text) == []
    assert [link.target for link in scan(text.encode()).links] == ["a", "b %% c", "d", "e"]


def test_a_comment_is_not_part_of_what_a_heading_says():
    heading = scan(b"# Plan %%secret%%\n").headings[0]
    assert (heading.text, heading.raw) == ("Plan", "Plan %%secret%%")


def test_bytes_that_are_not_utf8_keep_every_offset():
    text = "# caf\u00e9 \u00fc\n\nna\u00efve [[caf\u00e9]] #t\n".encode("latin-1")
    found = scan(text)
    assert found.headings[0].text == "caf\ufffd \ufffd"
    assert text[found.links[0].target_start : found.links[0].target_end] == b"caf\xe9"
    assert text[found.tags[0].start : found.tags[0].end] == b"#t"


MARKS = "# |## |#|#t|#标签/a|[[|]]|![[|[|](|]|)|(|<|>|\\|`|```|~~~|%%|<!--|-->|---|===|^id|$|$$|*|_|~~".split("|")
MARKS += "- |- [ ] |1. |> |[^1]|: |]: |\t|    | |a|n.md|a%20b.md|&amp;|#h|http://x/|é|あ|😀".split("|")
MARKS += "\u2028|\0|\1|\x1a|\ufeff|/|\"|'|,|。".split("|")
MARKS += ["|", "\n", "\n\n", "\r\n", "\r", "| a |\n|---|\n", "<div>", "---\n", "[r]: n.md\n", "[r]"]
MARKDOWN = st.one_of(st.lists(st.sampled_from(MARKS), max_size=40).map("".join), st.text(max_size=60))
SOURCES = st.one_of(MARKDOWN.map(lambda text: text.encode()), st.binary(max_size=60))


@settings(max_examples=200, deadline=None)
@given(SOURCES)
def test_every_span_lies_in_the_text_in_order_and_holds_what_it_says(source):
    found = scan(source)
    for spans in (found.headings, found.links, found.tags, found.tasks):
        starts = [span.start for span in spans]
        assert starts == sorted(starts)
    for span in (*found.headings, *found.links, *found.tags, *found.tasks, *found.blocks):
        assert 0 <= span.start < span.end <= len(source) == found.size
        assert 1 <= span.line <= source.count(b"\n") + source.count(b"\r") + 1
    for heading in found.headings:
        assert heading.start <= heading.raw_start <= heading.raw_end <= heading.end
        assert source[heading.raw_start : heading.raw_end].decode("utf-8", "replace") == heading.raw
        assert heading.start >= found.body_start
    for link in found.links:
        written = source[link.target_start : link.target_end]
        assert link.kind == "reference" or link.start <= link.target_start <= link.target_end <= link.end
        if link.form == "wiki":
            assert written.decode("utf-8", "replace") == link.target
            assert source[link.start : link.end].endswith(b"]]")
        else:
            assert bool(written) == bool(link.target)
    for tag in found.tags:
        assert source[tag.start : tag.end].decode() == f"#{tag.name}"
        assert is_tag(tag.name)
        assert tag.start >= found.body_start
    for block in found.blocks:
        assert source[block.mark_start : block.mark_end].decode() == f"^{block.id}"
        assert block.start <= block.end <= len(source)


@settings(max_examples=100, deadline=None)
@given(MARKDOWN)
def test_a_text_without_percent_signs_is_the_same_before_and_after_a_comment(text):
    text = text.replace("%", "")
    plain = scan(f"\n\n\n{text}".encode())
    commented = scan(f"\n%%%%\n\n{text}".encode())
    assert [heading.text for heading in plain.headings] == [heading.text for heading in commented.headings]
    assert [link.target for link in plain.links] == [link.target for link in commented.links]
    assert [tag.name for tag in plain.tags] == [tag.name for tag in commented.tags]


HOSTILE = {
    "brackets": "[" * 200_000,
    "wikilinks that never close": "[[a " * 50_000,
    "number signs": "#" * 1_000_000,
    "percent signs": "%%" * 500_000,
    "comments that never close": "x %%a\n\n" * 100_000,
    "nested images": "![" * 50_000 + "a" + "](a)" * 50_000,
    "nested quotes": ">" * 200_000,
    "marks alone": "^a\n\n" * 50_000,
    "tags without blanks": "(#a" * 100_000,
    "front matter of links on one line": "---\na: " + "[[b]] " * 50_000 + "\n---\n",
    "backticks": "".join("`" * count + " " for count in range(1, 1_000)),
    "addresses": "a://#b" * 100_000,
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_scanned_to_the_end(source):
    assert scan(source.encode()).size == len(source)
