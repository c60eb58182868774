"""Dates as people write them."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notes_mcp.errors import InvalidRequestError
from notes_mcp.notes.asking.moment import moment_ns


def test_dates_are_local_and_times_may_have_an_offset() -> None:
    assert moment_ns(" 2026-11-30 ") == int(datetime(2026, 11, 30).timestamp()) * 10**9
    assert moment_ns("2026-11-30T08:00:00+01:00") == 1_796_022_000_000_000_000
    assert moment_ns("1970-01-01T00:00:00.5Z") == 500_000_000


def test_dates_no_file_can_have_are_the_nearest_that_one_can() -> None:
    for text in ("2999-01-01", "9999-12-31", "9999-12-31T23:59:59-12:00"):
        assert moment_ns(text) == 2**63 - 1
    assert moment_ns("0003-01-01T00:00:00Z") == -(2**63 - 1)


@given(st.text(max_size=12) | st.sampled_from(["", "soon", "2026-13-01", "30.11.2026"]))
def test_anything_else_is_refused_with_the_way_to_write_it(text: str) -> None:
    try:
        assert isinstance(moment_ns(text), int)
    except InvalidRequestError as error:
        assert "2026-11-30" in str(error)


@pytest.mark.parametrize(
    ("short", "whole"),
    [
        ("2026-7-1", "2026-07-01"),
        ("2026/7/1", "2026-07-01"),
        ("2026-7-1T08:00", "2026-07-01T08:00"),
        (" 2026-07-1", "2026-07-01"),
    ],
)
def test_months_and_days_of_one_digit_are_taken(short: str, whole: str) -> None:
    assert moment_ns(short) == moment_ns(whole)


@pytest.mark.parametrize("text", ["2026-7-123", "2026-13-1", "2026-7-32", "26-7-1"])
def test_what_is_no_date_is_none_with_short_numbers_either(text: str) -> None:
    with pytest.raises(InvalidRequestError):
        moment_ns(text)
