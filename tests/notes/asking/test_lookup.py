"""Exact text and regular expressions over a note, in bounded time."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notes_mcp.errors import InvalidRequestError
from notes_mcp.notes.asking import lookup
from notes_mcp.notes.asking.lookup import Deadline, TooSlowError, exact, lines, may_match, regular


def places(pattern, text: str) -> list[tuple[int, int, int]]:
    found = [tuple(place) for place in lines(pattern, text, Deadline())]
    assert bool(found) == may_match(pattern, text, Deadline()) or pattern.lines
    return found


def test_exact_text_is_literal_and_smart_about_case() -> None:
    assert places(exact("a.b"), "axb\nA.B a.b\r\na.b") == [(2, 0, 3), (3, 0, 3)]
    assert places(exact("Plan"), "plan\nPlan") == [(2, 0, 4)]
    assert places(exact("止损"), "先止损，再说") == [(1, 1, 3)]
    assert places(exact("$& (x"), "$& (X") == [(1, 0, 5)]
    assert places(exact("über"), "ÜBER") == [(1, 0, 4)]


def test_exact_text_is_the_same_in_every_normal_form() -> None:
    assert places(exact("Cafe\u0301"), "im Café") == [(1, 3, 7)]
    assert places(exact("café"), "cafe\u0301") == [(1, 0, 4)]


def test_exact_text_of_several_lines_is_found_over_any_line_ends() -> None:
    text = "zero\r\none\r\ntwo\r\nthree\rone\ntwo"
    assert places(exact("one\ntwo"), text) == [(2, 0, 3), (5, 0, 3)]
    assert places(exact("ne\r\ntwo"), text) == [(2, 1, 3), (5, 1, 3)]
    assert places(exact("two\nthree\n"), text) == [(3, 0, 3)]


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_exact_needs_some_text(text: str) -> None:
    with pytest.raises(InvalidRequestError):
        exact(text)


def test_a_regular_expression_is_looked_for_line_by_line_as_written() -> None:
    assert places(regular(r"^b.*\d$"), "b1\r\nb2\nxb3\nB4") == [(1, 0, 2), (2, 0, 2)]
    assert places(regular(r"(?i)^b\d"), "B4") == [(1, 0, 2)]
    assert places(regular(r"a\s+b"), "a\nb") == []
    assert places(regular(r"\p{Han}{2}"), "x 止损") == [(1, 2, 4)]


@pytest.mark.parametrize("text", ["(", "[a", "*", "a{2,1}", r"\p{Nothing}", "(?P<x", r"\1", "(" * 900, ""])
def test_what_is_no_regular_expression_is_refused_with_the_reason(text: str) -> None:
    with pytest.raises(InvalidRequestError) as error:
        regular(text)
    assert "regular expression" in str(error.value)


def test_patterns_have_a_length() -> None:
    for make in (exact, regular):
        with pytest.raises(InvalidRequestError, match="1,000"):
            make("x" * 1_001)


def test_a_catastrophic_pattern_is_stopped() -> None:
    began = time.monotonic()
    with pytest.raises(TooSlowError):
        list(lines(regular(r"(?:a|a)*(?:a|aa)*\d$"), "a" * 5_000, Deadline()))
    with pytest.raises(TooSlowError):
        may_match(regular(r"(?:a|a)*(?:a|aa)*\d$"), "a" * 5_000, Deadline())
    assert time.monotonic() - began < 20


def test_no_line_is_looked_at_once_time_is_up(monkeypatch) -> None:
    over = Deadline(0)
    with pytest.raises(TooSlowError):
        list(lines(regular("x"), "a\nb", over))
    with pytest.raises(TooSlowError):
        list(lines(exact("a\nb"), "a\nb", over))
    with pytest.raises(TooSlowError):
        may_match(exact("a"), "a", over)
    assert over.left() == 0.0 and lookup.SEARCH_MS > 0


@given(st.text(alphabet="ab \n.é", max_size=30), st.text(alphabet="ab \n.é", min_size=1, max_size=4))
def test_exact_finds_what_is_there_and_nothing_else(text: str, wanted: str) -> None:
    if not wanted.strip():
        return
    found = places(exact(wanted), text)
    assert bool(found) == (wanted in text)
    if "\n" not in wanted:
        assert [line for line, _, _ in found] == [
            n for n, line in enumerate(text.split("\n"), 1) if re.search(re.escape(wanted), line)
        ]
