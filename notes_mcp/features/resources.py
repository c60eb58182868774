"""Notes as MCP resources: list, templates and read (server/resources of both revisions, same shapes).

Owns what a resource looks like and which JSON-RPC error a note that cannot be read becomes. Touches
nothing but the library; what changes there goes through `changes` to `publish`.
"""

import base64
import json
import math
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import anyio

from notes_mcp.errors import (
    AmbiguousError,
    ForbiddenError,
    HiddenError,
    InternalError,
    InvalidParams,
    InvalidRequestError,
    NoteError,
    NotFoundError,
    ResourceBusy,
    ResourceForbidden,
    ResourceNotFound,
    RpcError,
    TooLargeError,
    UnreadableError,
)
from notes_mcp.events import Event, Handler, Report
from notes_mcp.features import _params
from notes_mcp.features._gather import is_template
from notes_mcp.features.changes import Announcer
from notes_mcp.notes.index.segment import key
from notes_mcp.notes.uris import TEMPLATE, mime_type, parse
from notes_mcp.settings import Settings

if TYPE_CHECKING:
    from notes_mcp.notes.answers import Document
    from notes_mcp.notes.library import Library
    from notes_mcp.notes.records import Note

_DAY_NS = 86_400 * 1_000_000_000
_HALF_LIFE_DAYS = 30
_FRAME_BYTES = 4096  # what a result adds around the text: envelope, `_meta`, a URI

TEMPLATES: tuple[dict[str, Any], ...] = (
    {
        "uriTemplate": TEMPLATE,
        "name": "note",
        "title": "Note or attachment",
        "description": "Any file of the served folders, by its path with extension, e.g. Projects/Plan.md.",
    },
)


class Resources:
    """`methods` for the protocol's table; `accept` for its subscriptions (`protocol.values.Watched`).

    `publish` hears, on the loop, what changed in the library; `run` keeps the lists' quiet time.
    """

    def __init__(
        self,
        library: "Library",
        settings: Settings,
        publish: Callable[[Event], None],
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._library = library
        self._settings = settings
        self._now_ns = now_ns
        self._announcer = Announcer(
            library.uri,
            publish,
            quiet_ms=settings.list_changed_ms,
            several_folders=len(settings.folders) > 1,
        )
        library.on_change(self._announcer)
        self.methods: dict[str, Handler] = {
            "resources/list": self.page,
            "resources/templates/list": self.templates,
            "resources/read": self.read,
        }

    async def run(self) -> None:
        """Waits until it is cancelled; then no list change is announced any more."""
        try:
            await anyio.sleep_forever()
        finally:
            self._announcer.close()

    async def accept(self, uris: Sequence[str]) -> dict[str, str]:
        """The client's URIs that can be ours -> their canonical form, once any later change will be seen."""
        return await self._library.watch(uris)

    async def page(self, params: dict[str, Any], report: Report) -> dict[str, Any]:
        """`{resources, nextCursor?}`: every note, the newest first, `resource_page` a page.

        While the index is being built, `_meta` says how many notes it holds of how many. Raises
        InvalidParams for a bad cursor.
        """
        try:
            page = await self._library.recent(self._settings.resource_page, _params.cursor(params))
        except NoteError as error:
            raise _params.refusal(error) from None
        now = self._now_ns()
        result: dict[str, Any] = {"resources": [self._entry(note, now) for note in page.notes]}
        if page.next_cursor is not None:
            result["nextCursor"] = page.next_cursor
        if not page.state.complete:
            result["_meta"] = {"notes-mcp/index": {"indexed": page.state.indexed, "total": page.state.total}}
        return result

    async def templates(self, params: dict[str, Any], report: Report) -> dict[str, Any]:
        """`{resourceTemplates}`, all on one page. Raises InvalidParams for any cursor."""
        if _params.cursor(params) is not None:
            raise InvalidParams("There is only one page of resource templates; leave `cursor` out.")
        return {"resourceTemplates": [dict(template) for template in TEMPLATES]}

    async def read(self, params: dict[str, Any], report: Report) -> dict[str, Any]:
        """`{contents: [one]}` under the URI the client used: notes as text, attachments as base64 `blob`.

        Raises ResourceNotFound, ResourceForbidden, ResourceBusy, InternalError (too large) or
        InvalidParams (a URI that is none).
        """
        uri = _params.text(params, "uri")
        try:
            return {"contents": [await self._contents(uri)]}
        except NoteError as error:
            raise _refusal(error, uri) from None

    async def _contents(self, uri: str) -> dict[str, Any]:
        canonical = self._library.canonical(uri)
        if canonical is None:
            raise NotFoundError("It is not in the folders served here.")
        document = await self._library.read(canonical)
        if _elsewhere(canonical, document.path):
            raise NotFoundError("It is not there; another note has its name.", [document.path])
        self._fit(document)
        body = (
            {"blob": base64.b64encode(document.data).decode("ascii")}
            if document.text is None
            else {"text": document.text.text}
        )
        return {"uri": uri, "mimeType": document.mime_type, **body}

    def _fit(self, document: "Document") -> None:
        if document.text is None:
            limit = self._settings.max_resource_bytes
            if document.size > limit:
                raise TooLargeError(f"{document.path} has {document.size:,} bytes; attachments go up to {limit:,}.")
            return
        limit = self._settings.max_line_out_bytes - _FRAME_BYTES
        # JSON makes at most six bytes of one: only then is the exact length worth its time.
        if document.size * 6 > limit and len(json.dumps(document.text.text, ensure_ascii=False).encode()) > limit:
            raise TooLargeError(
                f"{document.path} is too long for one message ({document.size:,} bytes, {limit:,} fit); "
                "read it in parts with the read_note tool."
            )

    def _entry(self, note: "Note", now_ns: int) -> dict[str, Any]:
        annotations: dict[str, Any] = {"priority": _priority(note, now_ns)}
        modified = _utc(note.modified_ns)
        if modified is not None:
            annotations["lastModified"] = modified
        return {
            "uri": self._library.uri(note.path),
            "name": note.path.rpartition("/")[2],
            "title": note.title,
            "mimeType": mime_type(note.path),
            "size": note.size,
            "annotations": annotations,
        }


def _elsewhere(canonical: str, path: str) -> bool:
    """Whether a note of the same name was found in another folder: an argument may mean it, a URI never does.

    A note that was deleted or moved away must be gone for those who hold its URI.
    """
    parsed = parse(canonical)
    return parsed is not None and key(path).endswith("/" + key(parsed[1]).strip("/"))


def _priority(note: "Note", now_ns: int) -> float:
    """From 0.9 for a note written just now towards 0.1; templates are nobody's context."""
    if is_template(note.path):
        return 0.1
    age_days = max(0, now_ns - note.modified_ns) / _DAY_NS
    return round(0.1 + 0.8 * math.exp2(-age_days / _HALF_LIFE_DAYS), 2)


def _utc(time_ns: int) -> str | None:
    """`2025-01-12T15:00:58Z`, or None for a time no calendar has (a damaged clock)."""
    try:
        moment = datetime.fromtimestamp(time_ns // 1_000_000_000, UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return moment.replace(tzinfo=None).isoformat() + "Z"


def _refusal(error: NoteError, uri: str) -> RpcError:
    message = str(error)
    match error:
        case NotFoundError() | HiddenError():
            # In the same words, whatever the reason: nobody learns whether something hidden is there.
            return ResourceNotFound(f"There is no {uri[:200]}; resources/list names what there is.", {"uri": uri})
        case AmbiguousError():
            return ResourceNotFound(message, {"uri": uri})
        case InvalidRequestError():
            return InvalidParams(message, {"uri": uri})
        case ForbiddenError() | UnreadableError():
            return ResourceForbidden(message, {"uri": uri, "reason": message})
        case TooLargeError():
            return InternalError(message, {"uri": uri, "reason": message})
    return ResourceBusy(message, {"uri": uri, "reason": message})
