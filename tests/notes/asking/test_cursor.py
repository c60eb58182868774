"""notes/cursor: what comes back is what went in, and nothing else is taken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notes_mcp.errors import InvalidRequestError
from notes_mcp.notes.asking import cursor


@given(st.integers(), st.text())
def test_a_key_survives_the_round_trip(number, text):
    sealed = cursor.encode("q", [number, text])
    assert cursor.decode("q", sealed, (int, str)) == [number, text]


def test_no_cursor_is_the_first_page():
    assert cursor.decode("q", None, (int,)) is None


def test_a_cursor_of_another_question_is_refused():
    with pytest.raises(InvalidRequestError, match="cursor"):
        cursor.decode("other", cursor.encode("q", [1]), (int,))


@given(st.text())
def test_any_damaged_cursor_is_refused_and_never_crashes(text):
    with pytest.raises(InvalidRequestError):
        cursor.decode("q", text, (int, str))


@pytest.mark.parametrize("key", [[], [1], ["1", "a"], [True, "a"], [1, "a", 2]])
def test_a_key_of_another_shape_is_refused(key):
    with pytest.raises(InvalidRequestError):
        cursor.decode("q", cursor.encode("q", key), (int, str))
