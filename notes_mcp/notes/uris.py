"""Paths <-> URIs. Pure: no disk, no index.

A note's URI is `notes:///` + its path, percent-encoded UTF-8 (RFC 3986 section 2.5). What comes in may
also be `file:///absolute/path` or the older `file://notes/path`; `parse` says which of them it is.
"""

import mimetypes
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import quote, unquote_to_bytes

from notes_mcp.errors import InvalidRequestError

PREFIX = "notes:///"
TEMPLATE = "notes:///{+path}"

# RFC 3986 section 3.3: pchar and "/" need no encoding in a path; "%" always does.
_SAFE = "/!$&'()*+,;=:@~-._"

NOTE_TYPES = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".txt": "text/plain",
    ".org": "text/org",
    ".rst": "text/x-rst",
}

Parsed: TypeAlias = tuple[Literal["path", "absolute"], str]


def to_uri(path: str) -> str:
    """`Projects/计划.md` -> `notes:///Projects/%E8%AE%A1%E5%88%92.md`."""
    return PREFIX + quote(path, safe=_SAFE)


def parse(uri: str) -> Parsed | None:
    """A URI -> ("path", path as clients see it) or ("absolute", path on disk); None: not one of ours.

    Raises InvalidRequestError when the scheme is ours but the encoding is not valid UTF-8.
    """
    scheme, colon, rest = uri.partition(":")
    if not colon or not rest.startswith("//"):
        return None
    authority, _, path = rest[2:].partition("/")
    path = path.partition("#")[0]  # we define no query: a bare "?" can only be part of a name
    match scheme.lower(), authority.lower():
        case "notes", "":
            return "path", _decode(path, uri)
        case "file", "notes":
            return "path", _decode(path, uri)
        case "file", "" | "localhost":
            decoded = _decode(path, uri)
            drive = len(decoded) > 1 and decoded[1] == ":"
            return "absolute", decoded if drive else "/" + decoded
    return None


def below(root: Path, absolute: str) -> str | None:
    """The path of an absolute file name within `root`, by whole components; None if it lies elsewhere."""
    try:
        inside = Path(absolute).relative_to(root)
    except ValueError:
        return None
    return None if ".." in inside.parts else inside.as_posix()


def mime_type(path: str) -> str:
    """The media type of a note or attachment, by its extension (RFC 7763 for Markdown)."""
    dot = path.rfind(".")
    known = NOTE_TYPES.get(path[dot:].lower()) if dot > path.rfind("/") else None
    return known or mimetypes.guess_type(path, strict=False)[0] or "application/octet-stream"


def _decode(path: str, uri: str) -> str:
    try:
        return unquote_to_bytes(path).decode("utf-8")
    except UnicodeError:
        raise InvalidRequestError(f"The URI {uri!r} is not percent-encoded UTF-8; encode the path as UTF-8.") from None
