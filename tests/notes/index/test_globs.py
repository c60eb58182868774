import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.errors import InvalidRequestError
from notes_mcp.notes.index.globs import MAX_CHARS, literal_folder, matches
from notes_mcp.notes.index.segment import key


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.md", "a.md", True),
        ("*.md", "deep/er/a.md", True),
        ("/*.md", "deep/a.md", False),
        ("Projects/*.md", "Projects/Plan.md", True),
        ("Projects/*.md", "Projects/x/Plan.md", False),
        ("Projects/*.md", "Old/Projects/Plan.md", False),
        ("Projects/**", "Projects/x/Plan.md", True),
        ("Projects/**", "Projects.md", False),
        ("Projects/", "Projects/x/Plan.md", True),
        ("**/Plan.md", "Plan.md", True),
        ("**/Plan.md", "a/b/Plan.md", True),
        ("a/**/b/*.md", "a/b/x.md", True),
        ("a/**/b/*.md", "a/1/2/b/x.md", True),
        ("a/**/b/*.md", "a/1/2/c/x.md", False),
        ("202?-*.md", "log/2024-05.md", True),
        ("[!a]*.md", "bcd.md", True),
        ("[!a]*.md", "abc.md", False),
        ("*.{md,txt}", "x.txt", True),
        ("{a,b}/*.md", "b/x.md", True),
        ("{a,b}/*.md", "c/x.md", False),
        ("projects/*", "Projects/Plan.md", True),
        ("caf\u00e9*", "Cafe\u0301 list.md", True),
        ("计划*", "笔记/计划一.md", True),
        ("[", "[", True),
        ("a[b.md", "a[b.md", True),
        ("{a", "{a", True),
        ("Projects\\*.md", "Projects/a.md", True),
        ("./a/*.md", "a/b.md", True),
        ("", "a.md", True),
    ],
)  # fmt: skip
def test_globs_mean_what_shells_mean(pattern: str, path: str, expected: bool) -> None:
    assert matches(pattern, path) is expected


@settings(deadline=None)
@given(st.text("ab*?[]{},!-^/.\\&|~", max_size=30), st.text("ab/.", max_size=30))
def test_any_pattern_is_safe_and_its_folder_holds_all_matches(pattern: str, path: str) -> None:
    if matches(pattern, path):
        folder = literal_folder(pattern)
        assert not folder or key(path).startswith(folder + "/")


def test_many_wildcards_stay_fast_on_a_path_that_almost_matches() -> None:
    assert not matches("*a" * 40 + "b", "a" * 200)
    assert not matches("**/" * 40 + "b", "a/" * 60 + "a")
    assert matches("{a,b}" * 30, "a" * 30) in (True, False)


def test_a_pattern_longer_than_any_path_is_refused_before_it_is_compiled_and_kept():
    assert not matches("a" * MAX_CHARS, "a.md")
    with pytest.raises(InvalidRequestError, match="4,001 characters"):
        matches("a" * (MAX_CHARS + 1), "a.md")
