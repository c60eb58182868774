"""Which note is a day's: what `.obsidian/daily-notes.json` says, else `Daily/YYYY-MM-DD.md`. Pure.

The format is Moment.js's (momentjs.com/docs, "Format"), as Obsidian's core plugin reads it; English names.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from notes_mcp.notes import obsidian

SETTINGS = ".obsidian/daily-notes.json"
DEFAULT_FOLDER = "Daily"
DEFAULT_FORMAT = "YYYY-MM-DD"
_ONE_DAY = timedelta(days=1)
_MAX_YEARS = 3

_TOKEN = re.compile(
    r"\[([^\]]*)\]|YYYY|YY|GGGG|GG|gggg|gg|Q|MMMM|MMM|MM|Mo|M|DDDD|DDDo|DDD|DD|Do|D|dddd|ddd|dd|do|d|"
    r"E|e|WW|Wo|W|ww|wo|w"
)
_MONTHS = "January February March April May June July August September October November December".split()
_DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split()


@dataclass(frozen=True, slots=True)
class DailyNotes:
    """Where daily notes are kept. `template` is the path of the note that new ones start from, or ""."""

    folder: str = DEFAULT_FOLDER
    format: str = DEFAULT_FORMAT
    template: str = ""
    problem: str = ""

    @classmethod
    def read(cls, data: bytes | None) -> "DailyNotes":
        """From the bytes of the settings file; None, or a file that cannot be read, gives the defaults, and
        `problem` says why."""
        said, problem = obsidian.texts(data, ("folder", "format", "template"))
        if data is None:
            return cls()
        # With a settings file, an empty folder means the top of the vault.
        return cls(
            said.get("folder", DEFAULT_FOLDER if problem else "").strip("/"),
            said.get("format") or DEFAULT_FORMAT,
            said.get("template", ""),
            problem and f"{problem}, so that part is as without the file. Correct it in Obsidian's settings",
        )

    def path(self, day: date) -> str:
        """The path of that day's note, with extension."""
        name = moment(day, self.format).strip("/")
        return f"{self.folder}/{name}.md" if self.folder else f"{name}.md"

    def day_of(self, path: str) -> date | None:
        """The day whose note that path is, with or without extension, or whose name it is; None if it is no day's."""
        asked = path if path.lower().endswith(".md") else f"{path}.md"
        by_name = "/" not in self.format  # else the name alone is that of many days
        for year in dict.fromkeys(_years(asked)):
            day = date(year, 1, 1)
            while day.year == year:
                whole = self.path(day)
                if asked == whole or (by_name and asked == whole.rpartition("/")[2]):
                    return day
                day += _ONE_DAY
        return None


def _years(path: str) -> Iterator[int]:
    """The years that may be meant: four digits are one, two are one of this century."""
    for digits in re.findall(r"\d{4}", path)[:_MAX_YEARS]:
        if date.min.year <= int(digits) < date.max.year:  # the weeks of the last one end beyond it
            yield int(digits)
    for digits in re.findall(r"(?<!\d)\d{2}", path)[:_MAX_YEARS]:
        yield 2000 + int(digits)


def moment(day: date, pattern: str) -> str:
    """`day` in Moment.js's format; what is no date token stays as it is, as does text in [brackets]."""
    return _TOKEN.sub(lambda match: match[1] if match[1] is not None else _token(day, match[0]), pattern)


def _token(day: date, token: str) -> str:
    year, week, weekday = day.isocalendar()
    sunday = day.isoweekday() % 7
    # Moment's default locale: weeks start on Sunday, and the one with January 1 is the first.
    week_year = day.year + (day.month == 12 and day.day - sunday > 25)
    first = date(week_year, 1, 1)
    local_week = (day.toordinal() - first.toordinal() + (first.isoweekday() % 7)) // 7 + 1
    day_of_year = day.timetuple().tm_yday
    values = {
        "YYYY": f"{day.year:04}",
        "YY": f"{day.year % 100:02}",
        "GGGG": f"{year:04}",
        "GG": f"{year % 100:02}",
        "gggg": f"{week_year:04}",
        "gg": f"{week_year % 100:02}",
        "Q": str((day.month + 2) // 3),
        "MMMM": _MONTHS[day.month - 1],
        "MMM": _MONTHS[day.month - 1][:3],
        "MM": f"{day.month:02}",
        "Mo": _ordinal(day.month),
        "M": str(day.month),
        "DDDD": f"{day_of_year:03}",
        "DDDo": _ordinal(day_of_year),
        "DDD": str(day_of_year),
        "DD": f"{day.day:02}",
        "Do": _ordinal(day.day),
        "D": str(day.day),
        "dddd": _DAYS[sunday],
        "ddd": _DAYS[sunday][:3],
        "dd": _DAYS[sunday][:2],
        "do": _ordinal(sunday),
        "d": str(sunday),
        "E": str(weekday),
        "e": str(sunday),
        "WW": f"{week:02}",
        "Wo": _ordinal(week),
        "W": str(week),
        "ww": f"{local_week:02}",
        "wo": _ordinal(local_week),
        "w": str(local_week),
    }
    return values[token]


def _ordinal(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"
