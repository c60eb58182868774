"""A byte stream cut into lines, whatever its chunks. Pure: no I/O, and nothing is held beyond one line and one chunk.

Flow: chunks -> `Splitter.feed` -> lines without their ends, or `Oversized` in place of one that is too long.
"""

from dataclasses import dataclass

BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Oversized:
    """Stands for a line over the limit, whose bytes were let go."""


class Splitter:
    """Cuts a byte stream into lines of at most `max_line_bytes`, whatever its chunks.

    LF ends a line, CR LF too; blank lines are skipped; a BOM at the very start is taken off (RFC 8259
    section 8.1 lets a reader ignore it, and Windows shells write one). It never holds more than the
    limit and one chunk: a longer line becomes one `Oversized`, told as soon as it is known.
    """

    def __init__(self, max_line_bytes: int) -> None:
        self._limit = max_line_bytes
        self._rest: list[bytes] = []
        self._size = 0
        self._skipping = False
        self._first = True

    def feed(self, chunk: bytes) -> list[bytes | Oversized]:
        """The lines, without line ends, that `chunk` completes."""
        *complete, rest = chunk.split(b"\n")
        lines: list[bytes | Oversized] = []
        for part in complete:
            self._add(part, lines)
            self._close(lines)
        self._add(rest, lines)
        return lines

    def end(self) -> list[bytes | Oversized]:
        """The last line if the stream ended without a line end. Nothing may be fed afterwards."""
        lines: list[bytes | Oversized] = []
        self._close(lines)
        return lines

    def _add(self, part: bytes, lines: list[bytes | Oversized]) -> None:
        if self._skipping or not part:
            return
        self._rest.append(part)
        self._size += len(part)
        # A BOM and the CR of a CR LF do not count, and may be in here.
        if self._size > self._limit + len(BOM) + 1:
            self._rest.clear()
            self._size = 0
            self._skipping = True
            lines.append(Oversized())

    def _close(self, lines: list[bytes | Oversized]) -> None:
        if not self._skipping:
            line = b"".join(self._rest)
            if self._first:
                line = line.removeprefix(BOM)
            line = line.removesuffix(b"\r")
            if len(line) > self._limit:
                lines.append(Oversized())
            elif line.strip(b" \t\r"):
                lines.append(line)
        self._rest.clear()
        self._size = 0
        self._skipping = False
        self._first = False
