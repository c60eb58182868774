"""What people write for a moment -> nanoseconds since the epoch. Pure."""

import re
from datetime import UTC, datetime, timedelta

from notes_mcp.errors import InvalidRequestError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SHORT_DATE = re.compile(r"^\s*(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_LIMIT = (1 << 63) - 1  # what a file system, and the index, can hold: the years 1677 to 2262


def moment_ns(text: str) -> int:
    """An ISO 8601 date or time as nanoseconds since the epoch; without an offset it is local time. `2026-7-1` will do.

    One beyond what files can have is the nearest that they can. Raises InvalidRequestError for anything else.
    """
    try:
        moment = datetime.fromisoformat(_SHORT_DATE.sub(_padded, text, count=1).strip())
        if moment.tzinfo is None:
            moment = moment.astimezone()
        since = moment - _EPOCH
    except (ValueError, OverflowError, OSError):
        raise InvalidRequestError(
            f"{text!r} is not a date; write it as 2026-11-30 or 2026-11-30T08:00:00+01:00."
        ) from None
    return max(-_LIMIT, min(since // timedelta(microseconds=1) * 1_000, _LIMIT))


def _padded(found: re.Match[str]) -> str:
    return f"{found[1]}-{found[2]:0>2}-{found[3]:0>2}"
