"""Times as people and models read them: ISO 8601, local time with its offset. Pure.

Times inside the program are nanoseconds since the epoch. `stamp` takes the formats of Moment.js, as
Obsidian's templates do.
"""

import re
from datetime import UTC, datetime

from notes_mcp.notes import daily

_LATEST_S = 253_402_214_400  # 9999-12-31: what a damaged clock may put beyond that is shown as that
_TIME_TOKENS = re.compile(r"\[[^\]]*\]|HH|H|hh|h|kk|k|mm|m|ss|s|SSS|SS|S|A|a|ZZ|Z|X|x")
_SHORT_FORMS = re.compile(r"\[[^\]]*\]|LTS|LT|LLLL|LLL|LL|L|llll|lll|ll|l")
_LONG_FORMS = {  # of Moment's default locale
    "LTS": "h:mm:ss A",
    "LT": "h:mm A",
    "L": "MM/DD/YYYY",
    "LL": "MMMM D, YYYY",
    "LLL": "MMMM D, YYYY h:mm A",
    "LLLL": "dddd, MMMM D, YYYY h:mm A",
    "l": "M/D/YYYY",
    "ll": "MMM D, YYYY",
    "lll": "MMM D, YYYY h:mm A",
    "llll": "ddd, MMM D, YYYY h:mm A",
}


def iso(time_ns: int) -> str:
    """`2026-07-29T14:05:09+02:00`: local time, to the second."""
    seconds = min(max(time_ns // 1_000_000_000, -62_135_510_400), _LATEST_S)
    try:
        return datetime.fromtimestamp(seconds, UTC).astimezone().isoformat(timespec="seconds")
    except (OverflowError, ValueError, OSError):
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def stamp(moment: datetime, pattern: str) -> str:
    """`moment` in a Moment.js format such as `YYYY-MM-DD HH:mm`; `[text]` stands for itself."""
    pattern = _SHORT_FORMS.sub(lambda found: _LONG_FORMS.get(found[0], found[0]), pattern)
    hour12 = moment.hour % 12 or 12
    offset = f"{moment.astimezone():%z}"
    seconds = int(moment.timestamp())
    values = {
        "HH": f"{moment.hour:02}",
        "H": str(moment.hour),
        "hh": f"{hour12:02}",
        "h": str(hour12),
        "kk": f"{moment.hour or 24:02}",
        "k": str(moment.hour or 24),
        "mm": f"{moment.minute:02}",
        "m": str(moment.minute),
        "ss": f"{moment.second:02}",
        "s": str(moment.second),
        "SSS": f"{moment.microsecond // 1_000:03}",
        "SS": f"{moment.microsecond // 10_000:02}",
        "S": str(moment.microsecond // 100_000),
        "A": "AM" if moment.hour < 12 else "PM",
        "a": "am" if moment.hour < 12 else "pm",
        "ZZ": offset[:5],
        "Z": f"{offset[:3]}:{offset[3:5]}",
        "X": str(seconds),
        "x": str(seconds * 1_000 + moment.microsecond // 1_000),
    }
    # In brackets, or the "M" of "AM" would be taken for a month.
    dated = _TIME_TOKENS.sub(lambda found: f"[{values[found[0]]}]" if found[0] in values else found[0], pattern)
    return daily.moment(moment.date(), dated)
