"""Days and weeks as people type them into a prompt, and the suggestions for them. Pure: today is a parameter."""

import re
from collections.abc import Iterable
from datetime import date, datetime, timedelta

from notes_mcp.errors import InvalidParams

_WORDS = {"today": 0, "yesterday": -1, "今天": 0, "昨天": -1, "今日": 0, "昨日": -1}
_WEEK_WORDS = {"this week": 0, "last week": -7, "本周": 0, "上周": -7, "今週": 0, "先週": -7}
_RECENT_DAYS = 120
_RECENT_WEEKS = 53
_LAST = date(9999, 12, 25)  # later days belong to a week of the year 10000, which no date can hold
_MONTH = re.compile(r"(\d{4})-(\d{2})(?:-\d?)?$", re.ASCII)


def day(text: str | None, today: date) -> date:
    """`2026-07-29`, `today`, `yesterday`; today if left out. Raises InvalidParams."""
    if text is None:
        return today
    try:
        asked = today + timedelta(_WORDS[text.strip().lower()]) if text.strip().lower() in _WORDS else _iso(text)
    except (ValueError, OverflowError):
        raise InvalidParams(f"`date` is not a date: {text[:60]!r}. Write it as 2026-07-29, or leave it out.") from None
    if asked > _LAST:
        raise InvalidParams(f"`date` is too late: {text[:60]!r}. The last day there can be is {_LAST.isoformat()}.")
    return asked


def week(text: str | None, today: date) -> tuple[date, date]:
    """Monday and Sunday of `2026-W31`, `last week`, or the week of a date; this week if left out.

    Raises InvalidParams.
    """
    try:
        if text is None:
            inside = today
        elif text.strip().lower() in _WEEK_WORDS:
            inside = today + timedelta(_WEEK_WORDS[text.strip().lower()])
        else:
            inside = _iso(text)
        monday = inside - timedelta(inside.weekday())
    except (ValueError, OverflowError):
        raise InvalidParams(
            f"`week` is not a week: {text[:60] if text else text!r}. Write 2026-W31, or any date in it."
        ) from None
    if monday > _LAST - timedelta(6):
        raise InvalidParams(f"`week` is too late: {text!r:.60}. It must end by {_LAST.isoformat()}.")
    return monday, monday + timedelta(6)


def local_day(time_ns: int) -> date | None:
    """The local date of a file time, None for a time no calendar has."""
    try:
        return datetime.fromtimestamp(time_ns / 1_000_000_000).date()
    except (OverflowError, ValueError, OSError):
        return None


def suggested_days(typed: str, today: date, noted: Iterable[date]) -> list[str]:
    """Today, the days before it, the days there are notes for, and all days of a month being typed."""
    days = {today - timedelta(back) for back in range(min(_RECENT_DAYS, today.toordinal()))}
    days.update(noted)
    month = _MONTH.match(typed.strip())
    if month:
        days.update(_days_of(int(month[1]), int(month[2])))
    ahead = sorted(found for found in days if found > today)
    return [found.isoformat() for found in sorted(days - set(ahead), reverse=True) + ahead]


def suggested_weeks(today: date) -> list[str]:
    """This week and the year before it, newest first."""
    return [iso_week(today - timedelta(7 * back)) for back in range(min(_RECENT_WEEKS, today.toordinal() // 7))]


def iso_week(inside: date) -> str:
    """`2026-W31`."""
    year, number, _ = inside.isocalendar()
    return f"{year:04}-W{number:02}"


def _iso(text: str) -> date:
    return date.fromisoformat(text.strip())


def _days_of(year: int, month: int) -> list[date]:
    found: list[date] = []
    for number in range(1, 32):
        try:
            found.append(date(year, month, number))
        except ValueError:
            break
    return [each for each in found if each <= _LAST]
