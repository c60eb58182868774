"""add_thoughts: where the entry goes, and that nothing else moves."""

from datetime import datetime

import pytest
from conftest import Caller
from hypothesis import given, settings
from hypothesis import strategies as st
from library_fake import FakeLibrary

from notes_mcp.errors import AmbiguousError, InvalidRequestError, NotFoundError, NotTextError
from notes_mcp.notes.text import etag
from notes_mcp.tools.add_thoughts import added, entry_of

WHEN = datetime(2026, 7, 29, 14, 5)


def after(data: bytes, section: str = "Thoughts", entry: str = "- E", path: str = "a.md") -> bytes:
    return added(FakeLibrary({path: data}).document(path), entry, section)


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        (b"", b"## Thoughts\n\n- E\n"),
        (b"# Day\n", b"# Day\n\n## Thoughts\n\n- E\n"),
        (b"# Day\n\n\n", b"# Day\n\n## Thoughts\n\n- E\n\n\n"),
        (b"---\na: 1\n---\n", b"---\na: 1\n---\n## Thoughts\n\n- E\n"),
        (b"---\na: 1\n---", b"---\na: 1\n---\n## Thoughts\n\n- E"),
        (b"# Day\n\n## Thoughts\n", b"# Day\n\n## Thoughts\n\n- E\n"),
        (b"## Thoughts\n\n- D\n", b"## Thoughts\n\n- D\n- E\n"),
        (b"## Thoughts\n\n- D  \n\n## Next\nx", b"## Thoughts\n\n- D  \n- E\n\n## Next\nx"),
        (b"## Thoughts\n\n## Next\n", b"## Thoughts\n\n- E\n\n## Next\n"),
        (b"# Thoughts\n- D\n## Sub\n- S\n# Next", b"# Thoughts\n- D\n## Sub\n- S\n- E\n# Next"),
        ("## thoughts\n\n- 中\n".encode(), "## thoughts\n\n- 中\n- E\n".encode()),
        (b"Thoughts\n--------\n\nold\n", b"Thoughts\n--------\n\nold\n- E\n"),
        (b"\xef\xbb\xbf## Thoughts\n", b"\xef\xbb\xbf## Thoughts\n\n- E\n"),
    ],
)
def test_the_entry_goes_to_the_end_of_the_section(before: bytes, wanted: bytes) -> None:
    assert after(before) == wanted


def test_hazard_077_a_note_without_final_newline_gets_one_between_and_none_at_the_end() -> None:
    assert after(b"## Thoughts\nabc") == b"## Thoughts\nabc\n- E"
    assert after(b"abc") == b"abc\n\n## Thoughts\n\n- E"


def test_hazard_070_line_ends_of_the_note_are_kept_and_taken() -> None:
    assert after(b"## Thoughts\r\n\r\n- D\r\n", entry="- E\n  F") == b"## Thoughts\r\n\r\n- D\r\n- E\r\n  F\r\n"
    assert after(b"one\r\ntwo\nthree\r\n") == b"one\r\ntwo\nthree\r\n\r\n## Thoughts\r\n\r\n- E\r\n"


def test_utf_16_notes_stay_utf_16() -> None:
    before = b"\xff\xfe" + "## Thoughts\n\n- 中\n".encode("utf-16-le")
    assert after(before) == b"\xff\xfe" + "## Thoughts\n\n- 中\n- E\n".encode("utf-16-le")


def test_hazard_073_a_note_that_is_not_valid_text_is_refused() -> None:
    with pytest.raises(NotTextError):
        after(b"caf\xe9 and more\n")


def test_headings_in_code_comments_and_front_matter_are_none() -> None:
    before = b"---\nx: |\n  ## Thoughts\n---\n```\n## Thoughts\n```\n%%\n## Thoughts\n%%\n"
    assert after(before) == before + b"\n## Thoughts\n\n- E\n"


@pytest.mark.parametrize("before", [b"```\ncode\n", b"text\n%%\nhidden\n", b"<!-- open\n"])
def test_a_note_that_ends_in_code_or_a_comment_is_refused(before: bytes) -> None:
    with pytest.raises(InvalidRequestError, match="never closed"):
        after(before)


@pytest.mark.parametrize(
    ("section", "line"), [("Ideas", "## Ideas"), ("### Ideas", "### Ideas"), ("## 想法", "## 想法")]
)
def test_a_missing_section_is_made_at_the_level_it_is_written_with(section: str, line: str) -> None:
    assert after(b"# Day\n", section) == f"# Day\n\n{line}\n\n- E\n".encode()


@pytest.mark.parametrize("section", ["^none", "Day > None"])
def test_a_block_or_path_that_is_not_there_is_not_made(section: str) -> None:
    with pytest.raises(NotFoundError):
        after(b"# Day\n", section)


@pytest.mark.parametrize("section", ["", "  ", "##"])
def test_a_section_without_words_is_refused(section: str) -> None:
    with pytest.raises(InvalidRequestError):
        after(b"# Day\n", section)


def test_two_sections_of_that_name_are_never_guessed_between() -> None:
    with pytest.raises(AmbiguousError):
        after(b"## Thoughts\n\n## Thoughts\n")


def test_plain_text_notes_get_the_entry_at_their_end() -> None:
    assert after(b"abc\n", path="a.txt") == b"abc\n- E\n"
    assert after(b"", path="a.txt") == b"- E\n"


def test_an_entry_is_dated_and_its_further_lines_belong_to_it() -> None:
    assert entry_of("one", WHEN) == "- 2026-07-29 14:05 one"
    assert entry_of("one\r\n\r\ntwo\n", WHEN) == "- 2026-07-29 14:05 one\n\n  two"
    assert entry_of("- a\n- b", WHEN) == "- 2026-07-29 14:05\n  - a\n  - b"
    assert entry_of("# Big\ntext", WHEN) == "- 2026-07-29 14:05\n  # Big\n  text"


def test_a_heading_in_a_thought_does_not_end_the_section() -> None:
    first = after(b"## Thoughts\n", entry=entry_of("# Big\ntext", WHEN))
    assert after(first) == first + b"- E\n"


async def test_the_daily_note_is_made_if_missing_and_used_again(call: Caller, library: FakeLibrary) -> None:
    first = (await call("add_thoughts", thoughts="今天很好"))["structuredContent"]
    assert set(first) == {"path", "etag", "change_id", "bytes_before", "bytes_after", "diff"}
    assert first["bytes_before"] == 0
    assert datetime.strptime(first["path"], "Daily/%Y-%m-%d.md")
    second = await call("add_thoughts", content="second")
    assert second["structuredContent"]["previous_etag"] == first["etag"]
    text = library.files[first["path"]].decode()
    assert text.count("## Thoughts") == 1
    assert text.index("今天很好") < text.index("second")


async def test_the_daily_note_starts_from_its_template(call: Caller, library: FakeLibrary) -> None:
    library.template = "Templates/Day"
    library.files["Templates/Day.md"] = "---\ntags: [日记]\n---\n# {{title}} {{date:YYYY}}\n\n## Thoughts\n".encode()
    first = (await call("add_thoughts", thoughts="one"))["structuredContent"]
    assert "warnings" not in first
    assert first["bytes_before"] == 0
    text = library.files[first["path"]].decode()
    day = first["path"].removeprefix("Daily/").removesuffix(".md")
    assert text.startswith(f"---\ntags: [日记]\n---\n# {day} {day[:4]}\n\n## Thoughts\n\n- ")
    await call("add_thoughts", thoughts="two")
    assert library.files[first["path"]].decode().count("# " + day) == 1


@pytest.mark.parametrize("data", [None, b"caf\xe9 \xff"])
async def test_a_template_that_cannot_be_used_is_said_and_the_thought_is_kept(
    call: Caller, library: FakeLibrary, data: bytes | None
) -> None:
    library.template = "Templates/Day.md"
    if data is not None:
        library.files["Templates/Day.md"] = data
    told = (await call("add_thoughts", thoughts="one"))["structuredContent"]
    assert "Templates/Day.md" in told["warnings"][0]
    assert library.files[told["path"]].startswith(b"## Thoughts\n\n- ")
    assert "warnings" not in (await call("add_thoughts", thoughts="two"))["structuredContent"]


async def test_a_diff_stands_once_more_word_for_word(call: Caller) -> None:
    answer = await call("add_thoughts", thoughts="x", path="Home")
    assert answer["content"][1]["text"] == answer["structuredContent"]["diff"]


@pytest.mark.parametrize("thoughts", ["\x00\x1b[0m", "\u2028\ufffe\uffff", "👩‍👩‍👧‍👦", "x" * 500_000, "---\n---", '"}'])
async def test_hazard_029_a_write_that_happened_is_never_reported_as_failed(
    call: Caller, library: FakeLibrary, thoughts: str
) -> None:
    before = library.files["Home.md"]
    answer = await call("add_thoughts", thoughts=thoughts, path="Home")
    assert answer["isError"] is False
    assert library.files["Home.md"].startswith(before[:-1])
    assert answer["structuredContent"]["etag"] == etag(library.files["Home.md"])


async def test_a_named_note_must_be_there(call: Caller) -> None:
    with pytest.raises(NotFoundError):
        await call("add_thoughts", thoughts="x", path="Nowhere.md")


@pytest.mark.parametrize("thoughts", ["", " \n\t", "\r\n"])
async def test_thoughts_without_words_write_nothing(call: Caller, library: FakeLibrary, thoughts: str) -> None:
    before = dict(library.files)
    with pytest.raises(InvalidRequestError):
        await call("add_thoughts", thoughts=thoughts)
    assert library.files == before


LINES = st.lists(st.sampled_from(["", "a", "## Thoughts", "# X", "- i", "中", "| t |", "  x  "]), max_size=8)


@settings(max_examples=150, deadline=None)
@given(LINES, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_every_byte_of_the_note_stays_in_its_order(lines: list[str], newline: str, ended: bool) -> None:
    before = (newline.join(lines) + (newline if ended else "")).encode()
    try:
        changed = after(before)
    except AmbiguousError:
        return
    at = next((i for i in range(len(before) + 1) if changed[i : i + 1] != before[i : i + 1]), len(before))
    ends = [i for i in range(at, -1, -1) if changed.endswith(before[i:]) and changed.startswith(before[:i])]
    assert ends, (before, changed)
    assert b"- E" in changed
