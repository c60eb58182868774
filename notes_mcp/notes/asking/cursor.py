"""Opaque paging cursors: where a page ended, sealed to the question it belongs to. Pure.

A cursor is base64url JSON `[fingerprint of the question, sort key of the last row]`, so that it stays
right while notes come and go, and cannot be used with another question.
"""

import base64
import hashlib
import json
from typing import Any

from notes_mcp.errors import InvalidRequestError

_WHY = "This cursor is not valid here; leave it out to start from the first page, with the same other arguments."


def encode(question: object, key: list[Any]) -> str:
    """The cursor after the row whose sort key is `key` (JSON values), for `question` (anything with a repr)."""
    text = json.dumps([_fingerprint(question), key], ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode("utf-8", "surrogatepass")).decode("ascii").rstrip("=")


def decode(question: object, cursor: str | None, shape: tuple[type, ...]) -> list[Any] | None:
    """The key inside, or None without a cursor.

    `shape` gives the type of each part of the key. Raises InvalidRequestError for a cursor that is damaged or
    belongs to another question.
    """
    if cursor is None:
        return None
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        fingerprint, key = json.loads(raw.decode("utf-8", "surrogatepass"))
    except (ValueError, TypeError, RecursionError):
        raise InvalidRequestError(_WHY) from None
    fits = isinstance(key, list) and len(key) == len(shape)
    if not fits or fingerprint != _fingerprint(question):
        raise InvalidRequestError(_WHY)
    if not all(isinstance(part, kind) and not isinstance(part, bool) for part, kind in zip(key, shape, strict=True)):
        raise InvalidRequestError(_WHY)
    return list(key)


def _fingerprint(question: object) -> str:
    return hashlib.blake2b(repr(question).encode("utf-8", "backslashreplace"), digest_size=6).hexdigest()
