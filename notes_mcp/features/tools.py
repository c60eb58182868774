"""tools/list and tools/call for both eras: finds the tool, runs it, turns NoteErrors into tool results.

Importing this file is cheap; the tools (and pydantic) are imported by `load`, at the latest with the
first tools request. Bad arguments leave as InvalidArguments, which each era reports in its own way.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from notes_mcp.errors import AmbiguousError, InvalidParams, NoteError, NotFoundError, ReadOnlyError, StaleError
from notes_mcp.events import Handler, Report
from notes_mcp.notes import patience
from notes_mcp.settings import Settings
from notes_mcp.tools import _catalog

if TYPE_CHECKING:
    from notes_mcp.notes.library import Library
    from notes_mcp.tools._tool import Tool


_MAX_ERROR_CHARS = 4_000


class Tools:
    """The tools of one library. `methods` holds the handlers of "tools/list" and "tools/call"."""

    def __init__(self, library: "Library", settings: Settings) -> None:
        self._library = library
        self._settings = settings
        self._tools: dict[str, Tool] | None = None
        self._listed = ""
        self.methods: dict[str, Handler] = {"tools/list": self.list, "tools/call": self.call}

    def load(self) -> dict[str, "Tool"]:
        """Import the chosen tools; the first time takes some 200 ms and may be done in any thread."""
        if self._tools is None:
            tools = _catalog.load(self._settings.tools)
            shown = [tool for tool in tools.values() if tool.read_only or not self._settings.read_only]
            self._listed = json.dumps([tool.definition() for tool in shown])
            self._tools = tools
        return self._tools

    async def list(self, params: dict[str, Any], report: Report) -> dict[str, Any]:
        """All tools on one page, sorted by name (2026-07-28 server/tools, "Listing Tools").

        Raises InvalidParams for a cursor: none was ever given out.
        """
        if params.get("cursor") is not None:
            raise InvalidParams("this cursor is not valid: the list of tools is one page")
        self.load()
        return {"tools": json.loads(self._listed)}

    async def call(self, params: dict[str, Any], report: Report) -> dict[str, Any]:
        """One CallToolResult (2026-07-28 server/tools, "Calling Tools" and "Error Handling").

        Raises InvalidParams for a malformed call or an unknown tool (`data.tools` lists those there are),
        InvalidArguments for arguments that do not fit the tool's schema.
        """
        patience.follow(report)
        tool = self._find(params.get("name"))
        arguments = _arguments_of(params)
        try:
            if self._settings.read_only and not tool.read_only:
                raise ReadOnlyError(
                    f"{tool.name} is not available: this server was started read-only. "
                    "Nothing was changed; only a person can restart it without --read-only."
                )
            return await tool.run(arguments, self._library, report)
        except NoteError as error:
            return {"content": [{"type": "text", "text": _bounded(explain(error))}], "isError": True}

    def _find(self, name: Any) -> "Tool":
        if not isinstance(name, str):
            raise InvalidParams("tools/call needs the name of a tool, a string")
        tools = self.load()
        if name not in tools:
            there = [tool.name for tool in tools.values() if tool.read_only or not self._settings.read_only]
            raise InvalidParams(f"Unknown tool: {name[:100]}. There are: {', '.join(there)}", {"tools": there})
        return tools[name]


def explain(error: NoteError) -> str:
    """What went wrong in words a model can act on: the sentence, and what the error knows beyond it."""
    sentence = str(error)
    match error:
        case NotFoundError(nearest=names) if names:
            return _with_names(sentence, "Nearest", names)
        case AmbiguousError(candidates=names) if names:
            return _with_names(sentence, "Candidates", names)
        case StaleError(etag=etag) if etag is not None and etag not in sentence:
            return f"{sentence} Its etag is now {etag}."
    return sentence


def _bounded(sentence: str) -> str:
    """An error may quote what was sent, which may be endless: then its middle is left out."""
    half = _MAX_ERROR_CHARS // 2
    return sentence if len(sentence) <= 2 * half else f"{sentence[:half]} … {sentence[-half:]}"


def _with_names(sentence: str, label: str, names: tuple[str, ...]) -> str:
    missing = [name for name in names if name not in sentence]
    if not missing:
        return sentence
    shown = missing[:20]
    more = f" and {len(missing) - len(shown)} more" if len(missing) > len(shown) else ""
    return f"{sentence} {label}: {', '.join(shown)}{more}."


def _arguments_of(params: Mapping[str, Any]) -> dict[str, Any]:
    arguments = params.get("arguments")
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError):
            raise InvalidParams("arguments must be an object") from None
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        raise InvalidParams("arguments must be an object")
    return arguments
