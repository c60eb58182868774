"""notes/daily: which note is a day's."""

import json
from datetime import date

import pytest

from notes_mcp.notes.daily import DailyNotes, moment

DAY = date(2026, 11, 30)  # a Monday


def test_without_settings_it_is_the_daily_folder_and_the_iso_date():
    assert DailyNotes.read(None).path(DAY) == "Daily/2026-11-30.md"


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b'{"folder": 1, "format": null}', b"[" * 100_000])
def test_settings_that_make_no_sense_never_raise(data):
    assert DailyNotes.read(data).path(DAY).endswith("2026-11-30.md")


def test_obsidians_settings_are_followed():
    said = json.dumps({"folder": "/日记/", "format": "YYYY/MM/YYYY-MM-DD dddd", "template": "Templates/Day"})
    daily = DailyNotes.read(said.encode())
    assert daily.path(DAY) == "日记/2026/11/2026-11-30 Monday.md"
    assert daily.template == "Templates/Day"


def test_an_empty_folder_is_the_top_of_the_vault():
    assert DailyNotes.read(b'{"folder": ""}').path(DAY) == "2026-11-30.md"


@pytest.mark.parametrize(
    ("day", "pattern", "expected"),
    [
        (DAY, "D MMM YY", "30 Nov 26"),
        (DAY, "MMMM Do, YYYY", "November 30th, 2026"),
        (DAY, "[week] W [of] GGGG", "week 49 of 2026"),
        (DAY, "YYYY年M月D日", "2026年11月30日"),
        (DAY, "Q E d e DDD DDDD", "4 1 1 1 334 334"),
        (date(2027, 1, 1), "GGGG-[W]WW", "2026-W53"),
        (date(2025, 12, 31), "gggg-ww", "2026-01"),
        (date(2026, 1, 1), "gggg-ww w wo", "2026-01 1 1st"),
        (date(2026, 1, 11), "ww do dd ddd", "03 0th Su Sun"),
        (date(2026, 3, 2), "Do Mo", "2nd 3rd"),
        (date(2026, 3, 11), "Do", "11th"),
        (date(2026, 2, 3), "DDDo Wo GG gg", "34th 6th 26 26"),
    ],
)
def test_the_format_is_that_of_moment(day, pattern, expected):
    assert moment(day, pattern) == expected


@pytest.mark.parametrize("pattern", ["YYYY-MM-DD", "MMMM Do, YYYY", "YYYY/MM/DD", "gggg-[W]ww", "DD.MM.YY"])
def test_the_day_of_a_path_is_the_one_whose_note_it_is(pattern: str) -> None:
    daily = DailyNotes("Journal", pattern)
    path = daily.path(date(2026, 7, 5))
    name = path.rpartition("/")[2]
    for asked in (path, path.removesuffix(".md")):
        assert daily.day_of(asked) == date(2026, 7, 5)
    assert daily.day_of(name) == (None if "/" in pattern else date(2026, 7, 5))
    assert daily.day_of(f"Other/{name}") is None
    assert daily.day_of("Journal/0000.md") is None
    assert daily.day_of("Journal/9999-99-99.md") is None
