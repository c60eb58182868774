"""Where the passage that an edit quotes stands in a note: exactly so many times, or an error that helps.

Exact but for line ends; never a guess: `aa` in `aaa` is refused, since which of the two would be a coin toss.
What resembles a passage that is not there is `nearest`'s to tell. Pure.
"""

from notes_mcp.errors import InvalidRequestError
from notes_mcp.notes.edits.nearest import nearest
from notes_mcp.notes.text import Text

Span = tuple[int, int]

_MAX_LINES_TOLD = 20


def find(text: Text, passage: str, count: int, within: Span | None = None, *, home: str = "the note") -> list[Span]:
    """The spans of `passage`, if there are exactly `count` (in bytes of `text.utf8`, left to right).

    `within` limits where it may stand; `home` names that place. Raises InvalidRequestError with the lines of
    all there are, or for none with the nearest place and what differs.
    """
    start, end = within or (0, len(text.utf8))
    spans = text.occurrences(passage, start, end)
    if not spans:
        raise InvalidRequestError(f"old_text is nowhere in {home}. {_elsewhere(text, passage, (start, end))}")
    overlapping = _overlapping(text, passage, spans, end) if len(spans) <= count else []
    if overlapping:
        spans = sorted({*spans, *overlapping})
        raise InvalidRequestError(
            f"old_text stands {_times(len(spans))} in {home} ({_lines(text, spans)}), at places that overlap, so "
            "it cannot be told which are meant: quote more of the text around."
        )
    if len(spans) == count:
        return spans
    there = f"old_text stands {_times(len(spans))} in {home} ({_lines(text, spans)}), but count says {count}"
    if len(spans) < count:
        raise InvalidRequestError(f"{there}. Send count={len(spans)}, or quote less of the text.")
    narrower = "" if within else ", name its section"
    raise InvalidRequestError(
        f"{there}: quote more of the text around the one you mean{narrower}, or send count={len(spans)} to change all."
    )


def _overlapping(text: Text, passage: str, spans: list[Span], stop: int) -> list[Span]:
    """The finds that begin inside of one that was found already."""
    more: list[Span] = []
    for start, end in spans:
        past_first = start + (2 if text.utf8.startswith(b"\r\n", start) else 1)
        reach = min(stop, end + 2 * (end - start))  # an LF in the one find may be a CRLF in the other
        if text.utf8[reach - 1 : reach + 1] == b"\r\n":
            reach += 1
        more += [found for found in text.occurrences(passage, past_first, reach) if found[0] < end]
    return more


def _elsewhere(text: Text, passage: str, within: Span) -> str:
    outside = [span for span in text.occurrences(passage) if not (within[0] <= span[0] and span[1] <= within[1])]
    if outside:
        return f"It stands outside of it: {_lines(text, outside)}."
    return nearest(text, passage, within)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _lines(text: Text, spans: list[Span]) -> str:
    lines = list(dict.fromkeys(text.line_of(start) for start, _ in spans[: 50 * _MAX_LINES_TOLD]))
    more = ", …" if len(lines) > _MAX_LINES_TOLD or len(spans) > 50 * _MAX_LINES_TOLD else ""
    return f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines[:_MAX_LINES_TOLD]))}{more}"
