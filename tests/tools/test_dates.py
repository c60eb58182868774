"""Dates as tools write them."""

from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.tools._dates import iso, stamp

WHEN = datetime(2026, 7, 9, 14, 5, 8)


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("YYYY-MM-DD HH:mm", "2026-07-09 14:05"),
        ("D.M.YY, H:m:s", "9.7.26, 14:5:8"),
        ("hh:mm A", "02:05 PM"),
        ("h a", "2 pm"),
        ("[at] HH [h]", "at 14 h"),
        ("YYYY年MM月DD日", "2026年07月09日"),
        ("", ""),
    ],
)
def test_a_moment_is_written_in_the_format_asked_for(pattern: str, wanted: str) -> None:
    assert stamp(WHEN, pattern) == wanted


def test_midnight_and_noon_are_twelve() -> None:
    assert stamp(WHEN.replace(hour=0), "h A") == "12 AM"
    assert stamp(WHEN.replace(hour=12), "h A") == "12 PM"


@settings(max_examples=200, deadline=None)
@given(st.integers(-(2**63), 2**63 - 1))
def test_any_file_time_is_shown_with_its_offset(time_ns: int) -> None:
    assert datetime.fromisoformat(iso(time_ns)).utcoffset() is not None
