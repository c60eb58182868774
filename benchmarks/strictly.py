"""A second reading of JSON-RPC lines, by RFC 8259 and our bounds alone: what `wire.jsonrpc.decode` is compared with.

Objects come as their pairs, so that a key that occurs twice can be seen. Knows no message.
"""

import json
import math
from typing import Any

from notes_mcp.wire.jsonrpc import MAX_DEPTH


class Pairs(list[Any]):
    """A JSON object as its pairs."""


def strictly(line: bytes) -> Any:
    """The line as JSON, objects as pairs. Raises ValueError or RecursionError."""

    def finite(text: str) -> float:
        if math.isinf(number := float(text)):
            raise ValueError(text)
        return number

    def constant(text: str) -> Any:
        raise ValueError(text)

    value = json.loads(line.decode(), object_pairs_hook=Pairs, parse_float=finite, parse_constant=constant)
    json.dumps(json.loads(line), ensure_ascii=False).encode()  # of a key that occurs twice the last value counts
    deepest, level = 0, [value]
    while level := [child for each in level if isinstance(each, list) for child in _inner(each)]:
        deepest += 1
    if deepest > MAX_DEPTH and not repeats(value):
        raise ValueError("too deep")
    return value


def _inner(value: list[Any]) -> list[Any]:
    return [child for _, child in value] if isinstance(value, Pairs) else value


def repeats(value: Any) -> bool:
    """Whether a key occurs twice in one object, at any level."""
    if not isinstance(value, list):
        return False
    keys = [key for key, _ in value] if isinstance(value, Pairs) else []
    return len(set(keys)) < len(keys) or any(map(repeats, _inner(value)))
