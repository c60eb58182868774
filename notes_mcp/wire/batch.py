"""The answer to one JSON-RPC batch: gathers the answers of its items and writes them as one array line.

Owns only what is gathered; the limit of a line holds at every moment, so a batch cannot collect more than that.
"""

import heapq
from collections.abc import Callable

from notes_mcp.errors import InternalError
from notes_mcp.wire.jsonrpc import RequestId, encode_error


class Gathering:
    """Takes one answer, or None, for each of `expected` items; at the last one writes the array, unless it is empty.

    Answers stand in the order of their requests. Where they would pass `max_line_bytes` together, the biggest
    become errors.
    """

    def __init__(self, expected: int, write: Callable[[bytes], None], max_line_bytes: int) -> None:
        self._missing = expected
        self._write = write
        self._limit = max_line_bytes
        self._answers: dict[int, tuple[RequestId | None, bytes]] = {}
        self._by_size: list[tuple[int, int]] = []
        self._size = len(b"[]")

    def take(self, index: int, request_id: RequestId | None, frame: bytes | None) -> None:
        """The answer to item `index`, or None if it has none."""
        if frame is not None:
            self._answers[index] = (request_id, frame)
            heapq.heappush(self._by_size, (-len(frame), index))
            self._size += len(frame) + len(b",")
            while self._size > self._limit and self._by_size:
                self._replace_biggest()
        self._missing -= 1
        if self._missing == 0 and self._answers:
            frames = [frame for _, (_, frame) in sorted(self._answers.items())]
            line = b"[" + b",".join(frames) + b"]"
            self._write(line if len(line) <= self._limit else encode_error(None, self._over_limit()))

    def _replace_biggest(self) -> None:
        _, index = heapq.heappop(self._by_size)
        request_id, frame = self._answers[index]
        short = encode_error(request_id, self._over_limit())
        if len(short) < len(frame):
            self._answers[index] = (request_id, short)
            self._size += len(short) - len(frame)

    def _over_limit(self) -> InternalError:
        return InternalError(f"the answers of this batch are over the limit of {self._limit} bytes together")
