"""The file of one change in the journal: what it says of each file that the change touched. Pure.

A magic line, one line of JSON (tool, time, and an entry for each image, in order), then the compressed
bytes of the images. `Image`s -> `encode` -> bytes -> `decode` -> the same `Image`s.
"""

import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

MAGIC = b"notes-mcp change 2\n"

Kind: TypeAlias = Literal["put", "create", "trash", "restore", "remove", "move"]


@dataclass(frozen=True, slots=True)
class Image:
    """One file of a change: its bytes before (None: it was not there) and its etag after (None: it is gone).

    `moved_from` is where the file, or the whole `folder`, was before, if the change moved it to `path`.
    `trash` is where in the trash it went, or came back from. `mode` are the permissions of a file that is
    gone, `made` how many folders above `path` the change made. What is moved, and what is too large to be
    kept, has no bytes here.
    """

    path: str
    before: bytes | None
    after_etag: str | None
    moved_from: str | None = None
    trash: str | None = None
    mode: int | None = None
    made: int = 0
    folder: bool = False

    @property
    def kind(self) -> Kind:
        """What the change does to the file."""
        if self.moved_from is not None:
            return "move"
        if self.after_etag is None:
            return "remove" if self.trash is None else "trash"
        if self.before is None:
            return "create" if self.trash is None else "restore"
        return "put"


def encode(tool: str, when_ns: int, undoes: str | None, images: Sequence[Image]) -> bytes:
    """The whole file."""
    blobs = [b"" if image.before is None else zlib.compress(image.before, 3) for image in images]
    header = {
        "tool": tool,
        "when_ns": when_ns,
        "undoes": undoes,
        "images": [_described(image, len(blob)) for image, blob in zip(images, blobs, strict=True)],
    }
    return b"".join((MAGIC, json.dumps(header, separators=(",", ":")).encode(), b"\n", *blobs))


def decode(content: bytes) -> tuple[dict[str, Any], tuple[Image, ...]]:
    """The header ("tool", "when_ns", "undoes") and the images. Raises ValueError if the file is damaged."""
    header, start = head(content)
    try:
        return header, tuple(_images(header, content, start))
    except (TypeError, KeyError, AttributeError, zlib.error) as error:
        raise ValueError("damaged") from error


def head(content: bytes) -> tuple[dict[str, Any], int]:
    """The line of JSON and where the images begin. Raises ValueError if this is no record."""
    start = content.find(b"\n", len(MAGIC)) + 1
    if not content.startswith(MAGIC) or not start:
        raise ValueError("not a record")
    header = json.loads(content[len(MAGIC) : start])
    if not isinstance(header, dict) or not header.keys() >= {"tool", "when_ns", "undoes", "images"}:
        raise ValueError("not a record")
    return header, start


def _described(image: Image, size: int) -> dict[str, Any]:
    """The line of JSON's share of an image; what has its usual value is left out."""
    whole = {
        "path": image.path,
        "size": None if image.before is None else size,
        "etag": image.after_etag,
        "from": image.moved_from,
        "trash": image.trash,
        "mode": image.mode,
        "made": image.made or None,
        "folder": image.folder or None,
    }
    return {key: value for key, value in whole.items() if value is not None}


def _images(header: dict[str, Any], content: bytes, start: int) -> Iterator[Image]:
    for kept in header["images"]:
        size = kept.get("size")
        end = start + (size or 0)
        if end > len(content):
            raise ValueError("cut short")
        yield Image(
            path=kept["path"],
            before=None if size is None else zlib.decompress(content[start:end]),
            after_etag=kept.get("etag"),
            moved_from=kept.get("from"),
            trash=kept.get("trash"),
            mode=kept.get("mode"),
            made=kept.get("made", 0),
            folder=kept.get("folder", False),
        )
        start = end
