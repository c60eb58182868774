"""Dates as tools write them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.tools._dates import iso, stamp

WHEN = datetime(2026, 7, 9, 14, 5, 8, 42_000)


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("YYYY-MM-DD HH:mm", "2026-07-09 14:05"),
        ("D.M.YY, H:m:s", "9.7.26, 14:5:8"),
        ("hh:mm A", "02:05 PM"),
        ("h a", "2 pm"),
        ("[at] HH [h]", "at 14 h"),
        ("YYYY年MM月DD日", "2026年07月09日"),
        ("kk k SSS SS S", "14 14 042 04 0"),
        ("LT [LT] LTS", "2:05 PM LT 2:05:08 PM"),
        ("L l", "07/09/2026 7/9/2026"),
        ("LL ll", "July 9, 2026 Jul 9, 2026"),
        ("LLL | lll", "July 9, 2026 2:05 PM | Jul 9, 2026 2:05 PM"),
        ("LLLL | llll", "Thursday, July 9, 2026 2:05 PM | Thu, Jul 9, 2026 2:05 PM"),
        ("", ""),
    ],
)
def test_a_moment_is_written_in_the_format_asked_for(pattern: str, wanted: str) -> None:
    assert stamp(WHEN, pattern) == wanted


def test_a_moment_knows_its_offset_and_its_place_in_time() -> None:
    there = WHEN.replace(tzinfo=UTC).astimezone()
    assert datetime.fromisoformat(f"2026-07-09T14:05:08{stamp(WHEN.astimezone(), 'Z')}") == WHEN.astimezone().replace(
        microsecond=0
    )
    assert stamp(WHEN.astimezone(), "ZZ") == stamp(WHEN.astimezone(), "Z").replace(":", "")
    assert stamp(there, "X x") == "1783605908 1783605908042"


def test_midnight_and_noon_are_twelve() -> None:
    assert stamp(WHEN.replace(hour=0), "h A") == "12 AM"
    assert stamp(WHEN.replace(hour=0), "kk k") == "24 24"
    assert stamp(WHEN.replace(hour=12), "h A") == "12 PM"


@settings(max_examples=200, deadline=None)
@given(st.integers(-(2**63), 2**63 - 1))
def test_any_file_time_is_shown_with_its_offset(time_ns: int) -> None:
    assert datetime.fromisoformat(iso(time_ns)).utcoffset() is not None
