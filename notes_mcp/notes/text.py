"""Bytes <-> text without loss: byte order mark, encoding, line ends, final newline; spans and splices.

`Text.decode(data)` never fails; everything after it works on `utf8`, the note in UTF-8 without its
mark, whatever the file itself is in. `splice` turns replaced byte spans of `utf8` back into file
bytes: what lies outside the spans comes out as it went in. Pure: no I/O, no Markdown, no YAML.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate
from typing import Literal, TypeAlias

from notes_mcp.errors import InvalidRequestError, NotTextError

Newline: TypeAlias = Literal["\n", "\r\n", "\r"]
Edit: TypeAlias = tuple[int, int, bytes | str]
"""Start and end byte offsets into `Text.utf8`, and what takes the place of the bytes between them."""

_UTF8_MARK = b"\xef\xbb\xbf"
# The 32-bit marks first: FF FE 00 00 begins with the 16-bit FF FE.
_WIDE_MARKS = (
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_LINE_END = re.compile(rb"\r\n|\n|\r")
_LINE_END_TEXT = re.compile(r"\r\n|\n|\r")


def etag(data: bytes) -> str:
    """The hash of a file's bytes that clients see: 16 hex digits."""
    hashed = new_hash()
    hashed.update(data)
    return hashed.hexdigest()


def new_hash() -> blake2b:
    """What `etag` feeds the bytes to; for files that are read in parts."""
    return blake2b(digest_size=8)


@dataclass(frozen=True)
class Text:
    """One note's bytes and their reading. All offsets are bytes of `utf8`; lines are 1-based.

    A line ends with LF, CRLF or a lone CR (CommonMark 0.31 section 2.1) and includes its end.
    """

    data: bytes  # the file, every byte
    encoding: str  # "utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"
    bom: bytes  # the byte order mark the file begins with, or b""
    utf8: bytes  # the text in UTF-8, without the mark; if not valid UTF-8, the bytes as they are
    text: str  # the text for showing; what is not valid is marked with U+FFFD
    valid: bool  # False: may be shown, must not be edited

    @classmethod
    def decode(cls, data: bytes) -> "Text":
        """Any bytes -> their `Text`. Wide encodings are known by their mark, all else is UTF-8."""
        wide = [(mark, encoding) for mark, encoding in _WIDE_MARKS if data.startswith(mark)]
        for mark, encoding in wide:
            try:
                text = data[len(mark) :].decode(encoding)
            except UnicodeDecodeError:
                continue
            return cls(data, encoding, mark, text.encode(), text, True)
        if wide:  # Cut short or damaged: the shorter mark is the likelier one.
            mark, encoding = wide[-1]
            text = data[len(mark) :].decode(encoding, "replace")
            return cls(data, encoding, mark, text.encode(), text, False)
        mark = _UTF8_MARK if data.startswith(_UTF8_MARK) else b""
        utf8 = data[len(mark) :]
        try:
            return cls(data, "utf-8", mark, utf8, utf8.decode(), True)
        except UnicodeDecodeError:
            return cls(data, "utf-8", mark, utf8, utf8.decode("utf-8", "replace"), False)

    @cached_property
    def newline(self) -> Newline:
        """The line end this note uses most; the first one it uses if two tie; LF if it has none."""
        pairs = self.utf8.count(b"\r\n")
        counts: dict[Newline, int] = {
            "\r\n": pairs,
            "\n": self.utf8.count(b"\n") - pairs,
            "\r": self.utf8.count(b"\r") - pairs,
        }
        most = max(counts.values())
        if most == 0:
            return "\n"
        best = [newline for newline, count in counts.items() if count == most]
        if len(best) == 1:
            return best[0]
        return next(newline for newline in map(_as_newline, _LINE_END.finditer(self.utf8)) if newline in best)

    @cached_property
    def final_newline(self) -> bool:
        """Whether the last line is ended. False for an empty note."""
        return self.utf8.endswith((b"\n", b"\r"))

    @cached_property
    def etag(self) -> str:
        """`etag(data)`."""
        return etag(self.data)

    @cached_property
    def _starts(self) -> list[int]:
        # Bytes, unlike str, split at LF, CR LF and CR alone: in a tenth of the time that a pattern takes.
        lines = self.utf8.splitlines(keepends=True)
        return list(accumulate(map(len, lines[:-1]), initial=0))

    @property
    def line_count(self) -> int:
        """How many lines there are; an empty note has one, and a final newline opens no further one."""
        return len(self._starts)

    def line_of(self, offset: int) -> int:
        """The line that holds the byte at `offset`; the last line for the end of the note."""
        return bisect_right(self._starts, offset)

    def line_span(self, line: int) -> tuple[int, int]:
        """Where a line starts and ends, its line end included. Raises IndexError if there is no such line."""
        if not 1 <= line <= len(self._starts):
            raise IndexError(f"line {line} of {len(self._starts)}")
        end = self._starts[line] if line < len(self._starts) else len(self.utf8)
        return self._starts[line - 1], end

    def adapt(self, new: str) -> str:
        """`new` with every line end in it turned into this note's."""
        return _LINE_END_TEXT.sub(self.newline, new)

    def occurrences(self, needle: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
        """The spans within `start:end` where `needle` stands, left to right, not overlapping; all line ends are equal.

        An empty needle stands nowhere. A note that is not valid is searched byte by byte as well. Takes time
        in proportion to the note. `start` and `end` must not part the two halves of a CRLF.
        """
        try:
            wanted = _LINE_END.sub(b"\n", needle.encode())
        except UnicodeEncodeError:
            return []
        if not wanted:
            return []
        within, pairs = self._unified
        at = start - bisect_left(pairs, start)
        stop = len(within) if end is None else end - bisect_left(pairs, end)
        spans: list[tuple[int, int]] = []
        while (at := within.find(wanted, at, stop)) >= 0:
            past = at + len(wanted)
            spans.append((self._parted(at), self._parted(past)))
            at = past
        return spans

    @cached_property
    def _unified(self) -> tuple[bytes, list[int]]:
        """`utf8` with every line end an LF, and where in `utf8` the CRs stand that this leaves out."""
        if b"\r" not in self.utf8:
            return self.utf8, []
        pairs = [found.start() for found in re.finditer(rb"\r\n", self.utf8)]
        return self.utf8.replace(b"\r\n", b"\n").replace(b"\r", b"\n"), pairs

    def _parted(self, offset: int) -> int:
        """The place in `utf8` of an offset into its unified form."""
        pairs = self._unified[1]
        return offset + bisect_left(range(len(pairs)), offset, key=lambda at: pairs[at] - at)

    def require_valid(self) -> None:
        """Raises NotTextError if the note is not valid in its encoding, so that no edit is even tried."""
        if not self.valid:
            raise NotTextError(
                f"The note is not valid {self.encoding.upper()}, so editing it could destroy what it says. "
                "Nothing was changed; convert the file to UTF-8 first."
            )

    def splice(self, edits: Sequence[Edit]) -> bytes:
        """The file's bytes after replacing spans of `utf8`, in its own encoding, with its mark.

        Edits may come in any order; insertions at one place keep theirs. Raises NotTextError if the
        note is not valid in its encoding, InvalidRequestError if new text has half a surrogate pair,
        ValueError for spans that overlap, lie outside or cut a character (a fault of the caller).
        """
        self.require_valid()
        pieces: list[bytes] = []
        done = 0
        for start, end, new in sorted(edits, key=lambda edit: (edit[0], edit[1])):
            if not done <= start <= end <= len(self.utf8):
                raise ValueError(f"span {start}:{end} overlaps another or lies outside of {len(self.utf8)} bytes")
            if self._inside_character(start) or self._inside_character(end):
                raise ValueError(f"span {start}:{end} cuts a character")
            pieces += (self.utf8[done:start], _encoded(new))
            done = end
        pieces.append(self.utf8[done:])
        utf8 = b"".join(pieces)
        return self.bom + (utf8 if self.encoding == "utf-8" else utf8.decode().encode(self.encoding))

    def _inside_character(self, offset: int) -> bool:
        return offset < len(self.utf8) and self.utf8[offset] & 0xC0 == 0x80


def _as_newline(match: re.Match[bytes]) -> Newline:
    found = match.group()
    return "\r\n" if found == b"\r\n" else "\n" if found == b"\n" else "\r"


def _encoded(new: bytes | str) -> bytes:
    if isinstance(new, bytes):
        new.decode()
        return new
    try:
        return new.encode()
    except UnicodeEncodeError as error:
        raise InvalidRequestError(
            f"The new text holds half of a surrogate pair (U+{ord(new[error.start]):04X} at character "
            f"{error.start}), which no file can hold. Send the whole character."
        ) from None
