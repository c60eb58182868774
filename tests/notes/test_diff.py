import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.notes.diff import unified

TEXT = st.lists(st.sampled_from(["a\n", "b\n", "中\n", "\n", "a\r\n", "b\r", "c", "--- x\n", "@@\n"]), max_size=30).map(
    "".join
)
LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


def applied(before, diff):
    """Applies a diff of a text with LF only, the way `patch` does; fails if it does not fit."""
    old, new, at = LINE.findall(before), [], 0
    lines = diff.splitlines(keepends=True)[2:]
    for place, line in enumerate(lines):
        bare = place + 1 < len(lines) and lines[place + 1].startswith("\\")
        text = line[1:].removesuffix("\n") if bare else line[1:]
        if line.startswith("@@"):
            start, length = re.match(r"@@ -(\d+)(?:,(\d+))? ", line).groups()
            upto = int(start) - (length != "0")
            new += old[at:upto]
            at = upto
        elif line[0] in " -":
            assert old[at] == text
            at += 1
        if line[0] in " +":
            new.append(text)
    return "".join(new + old[at:])


@settings(max_examples=200, deadline=None)
@given(TEXT.map(lambda text: text.replace("\r", "")), TEXT.map(lambda text: text.replace("\r", "")))
def test_a_diff_turns_the_old_text_into_the_new(before, after):
    diff = unified(before, after, "a.md", max_chars=1_000_000)
    assert (diff == "") == (before == after)
    if diff:
        assert diff.startswith("--- a/a.md\n+++ b/a.md\n@@ ")
        assert applied(before, diff) == after


@settings(max_examples=100, deadline=None)
@given(TEXT, TEXT, st.integers(80, 300))
def test_no_diff_is_longer_than_allowed_and_a_cut_one_says_so(before, after, max_chars):
    whole = unified(before, after, "a.md", max_chars=1_000_000)
    diff = unified(before, after, "a.md", max_chars=max_chars)
    assert len(diff) <= max_chars
    if len(whole) <= max_chars:
        assert diff == whole
    else:
        kept, left_out = diff.count("\n") - 1, int(re.search(r"… (\d+) more lines", diff).group(1))
        assert kept + left_out == whole.count("\n") and whole.startswith("".join(diff.splitlines(keepends=True)[:-1]))


def test_one_edit_in_a_long_note_shows_three_lines_around_it():
    before = "".join(f"line {n}\n" for n in range(1, 101))
    assert unified(before, before.replace("line 50\n", "new\n"), "n/x.md") == (
        "--- a/n/x.md\n+++ b/n/x.md\n@@ -47,7 +47,7 @@\n line 47\n line 48\n line 49\n"
        "-line 50\n+new\n line 51\n line 52\n line 53\n"
    )


def test_edits_far_apart_are_two_hunks_and_near_ones_are_one():
    before = "".join(f"{n}\n" for n in range(1, 41))
    assert unified(before, before.replace("\n5\n", "\nx\n").replace("\n30\n", "\ny\n"), "a").count("@@ -") == 2
    assert unified(before, before.replace("\n5\n", "\nx\n").replace("\n12\n", "\ny\n"), "a").count("@@ -") == 1


def test_a_note_that_is_new_or_gone_is_compared_with_dev_null():
    assert unified(None, "a\n", "x.md") == "--- /dev/null\n+++ b/x.md\n@@ -0,0 +1 @@\n+a\n"
    assert unified("a\n", None, "x.md") == "--- a/x.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"


def test_a_missing_final_newline_is_said():
    assert unified("a", "a\n", "x") == "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"


def test_line_ends_are_shown_only_where_they_differ():
    assert "␍" not in unified("a\r\nb\r\n", "a\r\nc\r\n", "x")
    assert unified("a\r\nb\n", "a\nb\n", "x").splitlines()[3:] == ["-a␍", "+a", " b"]


def test_of_a_very_long_line_the_part_around_the_change_is_shown():
    before, after = "x" * 9000 + "old" + "y" * 9000 + "\n", "x" * 9000 + "new" + "y" * 9000 + "\n"
    removed, added = unified(before, after, "x").splitlines()[3:]
    assert removed.startswith("-…xxx") and added.startswith("+…xxx") and added.endswith("y…")
    assert "xoldy" in removed and "xnewy" in added and len(added) < 600


def test_a_path_cannot_break_the_header():
    assert unified("a\n", "b\n", "x\ny.md").splitlines()[:2] == ["--- a/x?y.md", "+++ b/x?y.md"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("".join(f"a{n}\n" for n in range(100_000)), "".join(f"b{n}\n" for n in range(100_000))),
        ("".join(f"{n}\n\n" for n in range(300)), "".join(f"\n{n + 1000}\n" for n in range(300))),
        ("a\nb\n" * 5000, "b\na\n" * 5000),
        ("x" * 5_000_000 + "a", "x" * 5_000_000 + "b"),
        ("\n" * 500_000, "\n" * 500_001),
    ],
)
def test_no_change_takes_long_to_show(before, after):
    start = time.monotonic()
    assert 0 < len(unified(before, after, "x")) <= 4000
    assert time.monotonic() - start < 10  # quadratic behaviour takes minutes here
