"""completion/complete for the resource template's path and for prompt arguments (server/utilities/completion).

Paths, tags and folders come from the library, behind the same gate as everything else; days and weeks
from the calendar. Knows prompts by their specs alone.
"""

import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from notes_mcp.errors import InvalidParams, NoteError
from notes_mcp.events import Handler, Report
from notes_mcp.features import _dates, _params
from notes_mcp.features._spec import Completes, Spec
from notes_mcp.features.changes import is_note
from notes_mcp.notes.uris import TEMPLATE

if TYPE_CHECKING:
    from notes_mcp.features.prompts import Prompts
    from notes_mcp.notes.library import Library

MOST_VALUES = 100  # schema: CompleteResult.completion.values
_MOST_TYPED = 1000
_DAILY = re.compile(r"(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)", re.ASCII)


class Completion:
    """`methods` for the protocol's table."""

    def __init__(self, library: "Library", prompts: "Prompts", today: Callable[[], date] = date.today) -> None:
        self._library = library
        self._prompts = prompts
        self._today = today
        self.methods: dict[str, Handler] = {"completion/complete": self.complete}

    async def complete(self, params: dict[str, Any], report: Report) -> dict[str, Any]:
        """`{completion: {values, total, hasMore}}`, best first; no values for an argument that takes any text.

        Raises InvalidParams for a `ref` that names no prompt or template of ours, or an argument it has not.
        """
        ref, argument = _params.mapping(params, "ref"), _params.mapping(params, "argument")
        name, typed = _params.text(argument, "name"), _params.text(argument, "value")[:_MOST_TYPED]
        _params.mapping(_params.mapping(params, "context"), "arguments")
        try:
            match ref.get("type"):
                case "ref/resource":
                    values, total = await self._template(_params.text(ref, "uri"), name, typed)
                case "ref/prompt":
                    values, total = await self._prompt(await self._spec(ref), name, typed)
                case other:
                    raise InvalidParams(f"`ref.type` must be ref/prompt or ref/resource, not {str(other)[:40]!r}.")
        except NoteError as error:
            raise _params.refusal(error) from None
        return {"completion": {"values": list(values), "total": total, "hasMore": total > len(values)}}

    async def _spec(self, ref: dict[str, Any]) -> Spec:
        return await self._prompts.spec(_params.text(ref, "name"))

    async def _template(self, uri: str, name: str, typed: str) -> tuple[Sequence[str], int]:
        if uri != TEMPLATE and self._library.canonical(uri) is None:
            raise InvalidParams(f"There is no resource template {uri[:100]!r}.", {"templates": [TEMPLATE]})
        if name != "path":
            raise InvalidParams(f"The template {TEMPLATE} has no {name[:100]!r}. Did you mean `path`?")
        values, total = await self._library.names("paths", unquote(typed), MOST_VALUES)
        # {+path} leaves "%" and "#" as they are, so they must come encoded (RFC 6570 section 3.2.3).
        return [value.replace("%", "%25").replace("#", "%23") for value in values], total

    async def _prompt(self, spec: Spec, name: str, typed: str) -> tuple[Sequence[str], int]:
        kind = spec.argument(name).completes
        match kind:
            case None:
                return (), 0
            case "dates" | "weeks":
                return _best(typed, await self._calendar(kind, typed))
            case "tags":
                mark = "#" if typed.startswith("#") else ""
                values, total = await self._library.names("tags", typed.removeprefix("#"), MOST_VALUES)
                return [mark + value for value in values], total
            case "paths":
                values, total = await self._library.names("paths", typed, MOST_VALUES)
                notes = [value for value in values if is_note(value)]
                return notes, total - len(values) + len(notes)
        return await self._library.names(kind, typed, MOST_VALUES)

    async def _calendar(self, kind: Completes, typed: str) -> list[str]:
        today = self._today()
        if kind == "weeks":
            return _dates.suggested_weeks(today)
        paths, _ = await self._library.names("paths", typed, MOST_VALUES)
        return _dates.suggested_days(typed, today, _noted(paths))


def _noted(paths: Sequence[str]) -> list[date]:
    """The days that file names speak of."""
    found: list[date] = []
    for path in paths:
        for text in _DAILY.findall(path.rpartition("/")[2]):
            try:
                found.append(date.fromisoformat(text))
            except ValueError:
                continue
    return found


def _best(typed: str, offered: Sequence[str]) -> tuple[list[str], int]:
    """Those that hold what was typed, in order and perhaps with gaps; a beginning, then a part, then the rest."""
    wanted = typed.strip().casefold()
    ranked: list[tuple[int, int, str]] = []
    for place, value in enumerate(offered):
        at = value.casefold().find(wanted)
        if at >= 0 or _scattered(wanted, value.casefold()):
            ranked.append((0 if at == 0 else 1 if at > 0 else 2, place, value))
    values = [value for _, _, value in sorted(ranked)]
    return values[:MOST_VALUES], len(values)


def _scattered(wanted: str, value: str) -> bool:
    rest = iter(value)
    return all(char in rest for char in wanted)
