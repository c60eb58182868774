"""Lines <-> JSON-RPC 2.0 messages. Pure: no I/O, no threads, no state.

Owns what a valid message is and how ours are spelt; knows no method. Flow: a line -> `decode` -> a `Message`;
results, errors and notifications -> `encode_*` -> one line without its LF. Nothing a client can send makes
`decode` raise.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from notes_mcp.errors import InvalidParams, InvalidRequest, ParseError, RpcError

MAX_DEPTH = 200
MAX_INT_DIGITS = 4300
MAX_BATCH_ITEMS = 10_000

RequestId: TypeAlias = int | str


@dataclass(frozen=True, slots=True)
class Request:
    """A message that must be answered once, under `id`. `params` is {} when the client sent none."""

    id: RequestId
    method: str
    params: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Notification:
    """A message that must never be answered."""

    method: str
    params: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Ignored:
    """A message with no answer and no effect: a client's response, or a misshapen notification."""

    why: str


@dataclass(frozen=True, slots=True)
class Invalid:
    """A line, or an item of a batch, to be answered with `error`; `id` is None where none could be read."""

    id: RequestId | None
    error: RpcError


@dataclass(frozen=True, slots=True)
class Batch:
    """Several messages in one array (JSON-RPC 2.0 section 6; MCP had them in 2025-03-26 only). Never nested."""

    items: list[Request | Notification | Ignored | Invalid]


Message: TypeAlias = Request | Notification | Ignored | Invalid | Batch


def decode(line: bytes) -> Message:
    """What one line says. Never raises: what is wrong comes back as `Invalid` with its `RpcError`.

    `ParseError`, id None: not UTF-8, not JSON (RFC 8259: no NaN, no Infinity), numbers beyond a double or
    4,300 digits, unpaired surrogates, more than 200 levels. `InvalidRequest`: JSON but no request (section 4);
    a key that occurs twice; an id that is neither string nor integer (MCP basic, "Requests"), which is then None.
    `InvalidParams`: parameters by position, which MCP has not. A notification is never answered, so a misshapen
    one is `Ignored`, unless it lacks even a method.
    """
    repeated: list[_Repeated] = []
    try:
        value = _parse(line, repeated)
    except (ValueError, RecursionError) as error:
        return Invalid(None, ParseError(f"the line is not valid JSON: {_reason(error)}"))
    if not isinstance(value, list):
        return _message(value, suspect=bool(repeated))
    if len(value) > MAX_BATCH_ITEMS:
        return Invalid(None, InvalidRequest(f"a batch holds at most {MAX_BATCH_ITEMS} messages"))
    return Batch([_message(item, suspect=bool(repeated)) for item in value])


def encode_result(request_id: RequestId, result: dict[str, Any]) -> bytes:
    """A response line without LF. Raises ValueError (NaN), TypeError or RecursionError if `result` is not JSON."""
    return _encode({"jsonrpc": "2.0", "id": request_id, "result": result})


def encode_error(request_id: RequestId | None, error: RpcError) -> bytes:
    """An error line without LF; id null where the request's id is not known (JSON-RPC 2.0 section 5)."""
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return _encode({"jsonrpc": "2.0", "id": request_id, "error": body})


def encode_notification(method: str, params: dict[str, Any] | None = None) -> bytes:
    """A notification line without LF; without a `params` member if `params` is None."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    return _encode(message)


class _Repeated(dict[str, Any]):
    """An object in which keys occur more than once: those in `twice`."""

    twice: frozenset[str] = frozenset()


_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")


class _RepeatedKeyError(Exception):
    """Some object has a key more than once."""


def _parse(line: bytes, repeated: list[_Repeated]) -> Any:
    text = line.decode("utf-8")
    try:
        value = _plain_decoder.decode(text)
    except _RepeatedKeyError:
        value = _marking_decoder(repeated).decode(text)  # read once more, to say which
    if line.count(b"[") + line.count(b"{") > MAX_DEPTH and _deeper_than(value, MAX_DEPTH):
        raise ValueError(f"more than {MAX_DEPTH} levels")
    if _SURROGATE_ESCAPE.search(line):
        # Only an unpaired surrogate survives the decoder; it has no UTF-8 form, so encoding finds it.
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def _without_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) != len(pairs):
        raise _RepeatedKeyError
    return built


def _marking_decoder(repeated: list[_Repeated]) -> json.JSONDecoder:
    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(pairs)
        if len(built) == len(pairs):
            return built
        marked = _Repeated(built)
        marked.twice = frozenset(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        repeated.append(marked)
        return marked

    return _decoder(build)


def _decoder(build: Callable[[list[tuple[str, Any]]], dict[str, Any]]) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=build, parse_float=_finite, parse_int=_integer, parse_constant=_no_constant
    )


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("a number is too large")
    return number


def _integer(text: str) -> int:
    if len(text) > MAX_INT_DIGITS:
        raise ValueError("an integer has too many digits")
    return int(text)


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


_plain_decoder = _decoder(_without_repeated)  # made once: a line is read in half the time


def _deeper_than(value: Any, depth: int) -> bool:
    level = [value]
    for _ in range(depth):
        level = [child for parent in level for child in _children(parent) if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def _children(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _repeats(value: Any) -> bool:
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, _Repeated):
            return True
        todo.extend(child for child in _children(item) if isinstance(child, dict | list))
    return False


def _reason(error: Exception) -> str:
    match error:
        case UnicodeDecodeError():
            return f"byte {error.start} is not UTF-8"
        case UnicodeEncodeError():
            return "it holds an unpaired surrogate"
        case json.JSONDecodeError():
            return f"{error.msg} at character {error.pos}"
        case RecursionError():
            return f"more than {MAX_DEPTH} levels"
        case _:
            return str(error)


def _message(value: Any, *, suspect: bool) -> Request | Notification | Ignored | Invalid:
    """One message out of parsed JSON; `suspect` says that some key on this line occurs twice."""
    if not isinstance(value, dict):
        return Invalid(None, InvalidRequest("a message must be a JSON object"))
    method = value.get("method")
    if "method" not in value and ("result" in value or "error" in value):
        return Ignored("a response, and we ask nothing")
    fault = _fault(value, method, suspect=suspect)
    if "id" in value:
        request_id = value["id"]
        ambiguous = isinstance(value, _Repeated) and "id" in value.twice
        if type(request_id) not in (int, str) or ambiguous:
            return Invalid(None, InvalidRequest("id must be one string or integer"))
        if fault is not None:
            return Invalid(request_id, fault)
        return Request(request_id, str(method), value.get("params", {}))
    if not isinstance(method, str):
        return Invalid(None, InvalidRequest("method must be a string"))
    if fault is not None:
        return Ignored(f"a notification that is not one: {fault}")
    return Notification(method, value.get("params", {}))


def _fault(value: dict[str, Any], method: Any, *, suspect: bool) -> RpcError | None:
    if suspect and _repeats(value):
        return InvalidRequest("a key occurs more than once in one object")
    if value.get("jsonrpc") != "2.0":
        return InvalidRequest('jsonrpc must be "2.0"')
    if not isinstance(method, str):
        return InvalidRequest("method must be a string")
    params = value.get("params", {})
    if isinstance(params, list):
        return InvalidParams("params must be an object: parameters by position are not supported")
    if not isinstance(params, dict):
        return InvalidRequest("params must be an object")
    return None


# Cycles end in RecursionError, which callers treat like any other unencodable value.
_to_json: Callable[[Any], str] = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")
).encode

# Line ends to some readers (Node's readline, Python's splitlines), plain characters to JSON.
_LINE_SEPARATORS = {"\u2028": "\\u2028", "\u2029": "\\u2029", "\x85": "\\u0085"}


def _encode(message: dict[str, Any]) -> bytes:
    text = _to_json(message)
    for character, escape in _LINE_SEPARATORS.items():
        if character in text:
            text = text.replace(character, escape)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        # By way of UTF-16, halves that belong together meet, and single ones become U+FFFD.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode("utf-8")
