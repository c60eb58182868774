"""Titles and the file names they make."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.errors import InvalidRequestError
from notes_mcp.tools._names import MAX_NAME_BYTES, fitted, named, place_of, stem_of, twins


def path_of(title: str, folder: str | None) -> tuple[str, list[str]]:
    """What create_note does where nothing is there yet."""
    said: list[str] = []
    parts = place_of(title, folder).split("/")
    return named("/".join(part if part in ("", "..") else fitted(part, said) for part in parts), said), said


@pytest.mark.parametrize(
    ("title", "folder", "path"),
    [
        ("MCP学习笔记", None, "MCP学习笔记.md"),
        ("Projects/Plan", None, "Projects/Plan.md"),
        ("Projects\\Plan", None, "Projects/Plan.md"),
        ("Plan", "Projects", "Projects/Plan.md"),
        ("Plan.md", None, "Plan.md"),
        ("Plan.MD", None, "Plan.MD"),
        ("list.txt", None, "list.txt"),
        ("v1.2", None, "v1.2.md"),
        ("..dots", None, "..dots.md"),
        (" a / b ", None, "a/b.md"),
        ("a//b", None, "a/b.md"),
        ("👩‍💻 エンジニア", None, "👩‍💻 エンジニア.md"),
        ("Cafe\u0301", None, "Caf\u00e9.md"),
        ("a  b\tc", None, "a b c.md"),
    ],
)
def test_a_title_makes_the_expected_path_and_nothing_is_said_of_it(title: str, folder: str | None, path: str) -> None:
    assert path_of(title, folder) == (path, [])


@pytest.mark.parametrize(
    ("title", "path", "named"),
    [
        ("Plan: v2", "Plan- v2.md", ":"),
        ("What is AI?", "What is AI.md", "?"),
        ('Say "hi"', "Say 'hi'.md", '"'),
        ("a\u202eb", "ab.md", "U+202E"),
        ("a\x00b", "ab.md", "U+0000"),
        ("x" * 500, "x" * (MAX_NAME_BYTES - 3) + ".md", "too long"),
        ("笔" * 200, "笔" * 79 + ".md", "too long"),
    ],
)
def test_what_is_not_fit_for_a_file_name_is_changed_and_named(title: str, path: str, named: str) -> None:
    made, said = path_of(title, None)
    assert made == path
    assert any(named in line for line in said)


def test_a_name_that_breaks_links_is_kept_and_said() -> None:
    made, said = path_of("C# tips", None)
    assert made == "C# tips.md"
    assert "#" in said[0]


@pytest.mark.parametrize("title", ["../x", "a/../b", "/etc/x", ".obsidian/x"])
def test_hazard_046_segments_for_the_path_gate_reach_it_unchanged(title: str) -> None:
    assert path_of(title, None)[0] == title + ".md"


@pytest.mark.parametrize("title", ["", " ", "/", "a/", ".", "???", "\u202e", "a/*"])
def test_a_title_without_a_name_is_refused(title: str) -> None:
    with pytest.raises(InvalidRequestError):
        path_of(title, None)


def test_hazard_061_twins_differ_in_case_spaces_and_hyphens_only() -> None:
    others = ["My Note.md", "Archive/my_note.md", "My Notes.md", "MYNOTE.txt", "my-note.md"]
    assert twins("my-note.md", others) == ["My Note.md", "Archive/my_note.md", "MYNOTE.txt"]


def test_the_stem_is_the_name_without_a_notes_extension() -> None:
    assert stem_of("a/b.c.md") == "b.c"
    assert stem_of("a/v1.2") == "v1.2"
    assert stem_of(".md") == ".md"


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=100))
def test_any_title_makes_a_name_every_system_takes_or_is_refused(title: str) -> None:
    try:
        path, _ = path_of(title, None)
    except InvalidRequestError:
        return
    name = path.rpartition("/")[2]
    assert name.lower().endswith((".md", ".markdown", ".txt", ".org", ".rst"))
    assert len(name.encode()) <= MAX_NAME_BYTES
    assert not set(name) & set('<>:"|?*\\\r\n\t\0')
