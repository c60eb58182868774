"""What counts as naming a note without linking to it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.notes.markup import markdown, mentions


def lines(text: str | bytes, *names: str, path: str = "a.md") -> list[int]:
    data = text if isinstance(text, bytes) else text.encode()
    return [found.line for found in mentions.find(path, data, mentions.pattern(names))]


@pytest.mark.parametrize(
    "text",
    [
        "see My Note",
        "see my note.",
        "(MY NOTE)",
        "my  note",
        "# About My Note",
        "- My Note, again",
        "| My Note | x |\n|---|---|\n",
        "**My Note**",
        "> My Note",
        "笔记My Note笔记",
        "cafe\u0301 My Note",
    ],
)
def test_a_name_as_whole_words_in_prose_is_a_mention(text: str) -> None:
    assert lines(text, "My Note") == [1]


@pytest.mark.parametrize(
    "text",
    [
        "[[My Note]]",
        "[[Other|My Note]]",
        "![[My Note]]",
        "[My Note](other.md)",
        "`My Note`",
        "```\nMy Note\n```",
        "    My Note",
        "%%My Note%%",
        "%%\nMy Note\n%%",
        "<!-- My Note -->",
        "---\ntitle: My Note\n---\n",
        "My Notes",
        "xMy Note",
        "my_note",
        "$My Note$",
    ],
)
def test_what_is_in_links_code_comments_and_front_matter_or_part_of_a_word_is_none(text: str) -> None:
    assert lines(text, "My Note") == []


@pytest.mark.parametrize(
    "text", ["#plan", "#plan/a", "https://example.com/plan", "see http://plan/x now", "<https://plan>"]
)
def test_tags_and_web_addresses_are_no_mentions(text: str) -> None:
    assert lines(text, "plan") == []


def test_names_in_scripts_without_spaces_are_found_within_a_run() -> None:
    assert lines("今天学习笔记很多", "学习笔记") == [1]
    assert lines("重跑gen后", "gen") == [1]
    assert lines("regenerate", "gen") == []


def test_normal_forms_and_case_do_not_count() -> None:
    assert lines("cafe\u0301", "Caf\u00e9") == [1]
    assert lines("caf\u00e9", "CAFE\u0301") == [1]
    assert lines("ПЛАН", "план") == [1]


def test_a_line_counts_once_and_lines_count_from_the_top_of_the_file() -> None:
    assert lines("---\na: 1\n---\nplan plan\n\n[[plan]] plan\r\nplan", "plan") == [4, 6, 7]


def test_the_longest_name_is_taken_and_any_of_them_counts() -> None:
    assert lines("Big Plan\nplan\nthe Alias", "plan", "Big Plan", "alias") == [1, 2, 3]


def test_plain_text_notes_are_prose_throughout() -> None:
    assert lines("`plan` [[plan]]", "plan", path="a.txt") == [1]


def test_text_that_is_not_valid_is_read_as_it_is_shown() -> None:
    assert lines(b"caf\xe9\n\xff plan\n", "plan") == [2]


def test_what_is_shown_is_the_line_or_the_part_around_the_name() -> None:
    found = list(mentions.find("a.md", ("x " * 5_000 + "plan" + " y" * 5_000).encode(), mentions.pattern(["plan"])))
    assert len(found) == 1
    assert "plan" in found[0].text
    assert len(found[0].text) <= mentions.MAX_TEXT_CHARS + 2


def test_a_note_is_called_by_title_file_name_and_aliases_each_once() -> None:
    assert mentions.names("a/My Note.md", "my  note", ("Other", "!!", "")) == ("my note", "Other")
    assert mentions.names("a/v1.2.md", "T", ()) == ("T", "v1.2")


def test_nothing_to_look_for_finds_nothing() -> None:
    assert lines("plan", *()) == []


PIECES = st.lists(
    st.sampled_from(
        [
            "plan",
            " ",
            "\n",
            "`",
            "```\n",
            "[[",
            "]]",
            "%%",
            "#",
            "中",
            "<!--",
            "-->",
            "é",
            "\r\n",
            "$",
            "](",
            "[",
            "---\n",
        ]
    ),
    max_size=30,
)


@settings(max_examples=200, deadline=None)
@given(PIECES)
def test_prose_is_sorted_and_disjoint_and_never_in_a_link_tag_or_comment(pieces: list[str]) -> None:
    source = "".join(pieces).encode()
    scan = markdown.scan(source)
    done = 0
    for start, end in markdown.prose(source):
        assert done <= start < end <= len(source)
        done = end
        assert start >= scan.body_start
        for taken, over in (*((link.start, link.end) for link in scan.links), *scan.comments):
            assert end <= taken or over <= start
        assert all(end <= tag.start or tag.end <= start for tag in scan.tags)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=40), st.text(max_size=8))
def test_any_bytes_and_any_names_are_safe(data: bytes, name: str) -> None:
    called = mentions.names("a.md", name, (name,))
    assert all(
        line >= 1 for line, _ in mentions.find("a.md", data + name.encode("utf-8", "replace"), mentions.pattern(called))
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[[My Note]] and My Note", [1]),
        ("![[My Note]]\n\nMy Note", [3]),
        ("`[[My Note]]`", []),
        ("\\[[My Note]]", [1]),
        ("[[My Note]", [1]),
    ],
)
def test_wikilinks_are_passed_over_without_a_scan_and_nothing_else_is(text: str, found: list[int]) -> None:
    assert lines(text, "My Note") == found


@settings(max_examples=200)
@given(st.lists(st.sampled_from(["[", "[[", "]]", "]", "\\", "!", "|", "`", " ", "\n", "My Note", "%%"]), max_size=9))
def test_passing_over_wikilinks_changes_no_answer(parts: list[str]) -> None:
    text = "".join(parts)
    with pytest.MonkeyPatch.context() as patched:
        quick = lines(text, "My Note")
        patched.setattr(mentions, "_is_wikilink", lambda text, match: False)
        assert quick == lines(text, "My Note")
