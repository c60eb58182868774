"""What people write for a moment -> nanoseconds since the epoch. Pure."""

from datetime import datetime

from notes_mcp.errors import InvalidRequestError


def moment_ns(text: str) -> int:
    """An ISO 8601 date or time as nanoseconds since the epoch; without an offset it is local time."""
    try:
        moment = datetime.fromisoformat(text.strip())
        return int(moment.timestamp()) * 1_000_000_000
    except (ValueError, OverflowError, OSError):
        raise InvalidRequestError(
            f"{text!r} is not a date; write it as 2026-11-30 or 2026-11-30T08:00:00+01:00."
        ) from None
