"""Parameters of the shared methods, checked by hand, and what a domain error means as one of a parameter.

Pure. Read by every file of this room but `tools`; knows no method by name.
"""

from collections.abc import Iterable
from typing import Any

from notes_mcp.errors import (
    AmbiguousError,
    BusyError,
    InternalError,
    InvalidParams,
    NoteError,
    NotFoundError,
    RpcError,
    StorageError,
    UnreadableError,
)


def text(params: dict[str, Any], key: str) -> str:
    """The string under `key`. Raises InvalidParams naming the key."""
    value = params.get(key)
    if not isinstance(value, str):
        raise InvalidParams(f"`{key}` must be a string, not {_kind(value)}.")
    return value


def cursor(params: dict[str, Any]) -> str | None:
    """The paging cursor, None on the first page; the empty string is a cursor (server/utilities/pagination)."""
    return None if params.get("cursor") is None else text(params, "cursor")


def mapping(params: dict[str, Any], key: str) -> dict[str, Any]:
    """The object under `key`, {} if it is left out. Raises InvalidParams."""
    value = params.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidParams(f"`{key}` must be an object, not {_kind(value)}.")
    return value


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The one of `known` that resembles `word` most, or None if none does."""
    from rapidfuzz import fuzz, process, utils

    found = process.extractOne(
        word[:200], list(known), scorer=fuzz.ratio, processor=utils.default_process, score_cutoff=50
    )
    return None if found is None else str(found[0])


def refusal(error: NoteError) -> RpcError:
    """What a domain error becomes where a parameter named the note, folder or date it is about."""
    match error:
        case NotFoundError():
            return InvalidParams(str(error), {"nearest": list(error.nearest)})
        case AmbiguousError():
            return InvalidParams(str(error), {"candidates": list(error.candidates)})
        case BusyError() | UnreadableError() | StorageError():
            return InternalError(str(error), {"reason": str(error)})
    return InvalidParams(str(error))


def _kind(value: object) -> str:
    names = {dict: "an object", list: "an array", bool: "a boolean", int: "a number", float: "a number"}
    return "missing" if value is None else names.get(type(value), "a string")
