"""Everything that is raised on purpose, in two families that never mix.

`NoteError`: what went wrong with notes, in the user's words (what, why, what next). No codes.
`RpcError`: what the wire promises (code, message, data). `notes/` raises the first, `wire/` and
`protocol/` the second; `features/` turns the first into the second. May import nothing.
"""

from collections.abc import Sequence
from typing import Any


class NoteError(Exception):
    """A request about notes that cannot be met. `str(error)` is a full sentence: what, why, what next."""


class NotFoundError(NoteError):
    """No such note or attachment. `nearest` holds up to five real paths that resemble what was asked for."""

    def __init__(self, message: str, nearest: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.nearest = tuple(nearest)


class AmbiguousError(NoteError):
    """Several notes answer to the name. `candidates` holds their real paths, sorted."""

    def __init__(self, message: str, candidates: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.candidates = tuple(candidates)


class ExistsError(NoteError):
    """The path is taken; nothing was overwritten. `path` is the one that is there."""

    def __init__(self, message: str, path: str) -> None:
        super().__init__(message)
        self.path = path


class ForbiddenError(NoteError):
    """The path gate said no: a link that leads outside, no regular file, or what a HiddenError says."""


class HiddenError(ForbiddenError):
    """The path is hidden or ignored, or none within the folder ("..", absolute): it does not exist for clients,
    whether or not something is there."""


class ReadOnlyError(NoteError):
    """The server or the folder may not be written to."""


class UnreadableError(NoteError):
    """The operating system denied access to a file that is there."""


class BusyError(NoteError):
    """The file is locked, or cannot be read or written just now; trying again may help."""


class StorageError(NoteError):
    """The disk would not take the write (full, unmounted, quota). Nothing was changed."""


class NotTextError(NoteError):
    """The bytes are not valid in their encoding: such a note can be read (marked) but not edited."""


class TooLargeError(NoteError):
    """The file is over `max_note_bytes`."""


class StaleError(NoteError):
    """`if_match` no longer holds. `etag` is the current one, None if the note is gone."""

    def __init__(self, message: str, etag: str | None) -> None:
        super().__init__(message)
        self.etag = etag


class InvalidRequestError(NoteError):
    """An argument is well-formed but means nothing here: a bad date, cursor, section, pattern, name."""


class RpcError(Exception):
    """An error as JSON-RPC 2.0 section 5.1 shapes it; `code` is what the newest revision sends."""

    code: int = -32603

    def __init__(self, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.message = message
        self.data = data


class ParseError(RpcError):
    """Not JSON, not UTF-8, or nested beyond sense. Answered with id null."""

    code = -32700


class InvalidRequest(RpcError):
    """JSON, but not a request (JSON-RPC 2.0 section 4), or one that is not allowed just now."""

    code = -32600


class MethodNotFound(RpcError):
    """No such method in the revision the request speaks. `data` lists the methods there are."""

    code = -32601


class InvalidParams(RpcError):
    """The parameters are wrong, or name something that is not there."""

    code = -32602


class InternalError(RpcError):
    """A fault of ours. The message says nothing of the cause; the traceback is on stderr."""

    code = -32603


class UnsupportedVersion(RpcError):
    """A modern request for a revision that is not served (2026-07-28 basic/versioning)."""

    code = -32022


class InvalidArguments(InvalidParams):
    """Tool arguments that fail their schema. Each era reports them in its own way."""


class ResourceNotFound(InvalidParams):
    """`data` is `{"uri": …}`. -32602 since 2026-07-28, -32002 before."""


class ResourceForbidden(InternalError):
    """Permission denied. `data` is `{"uri", "reason"}`. -32603 since 2026-07-28, -32001 before."""


class ResourceBusy(InternalError):
    """Locked or unreadable just now. `data` is `{"uri", "reason"}`. -32603 since 2026-07-28, -32000 before."""
