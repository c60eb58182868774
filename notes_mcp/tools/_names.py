"""A title -> the path of a new note, and what had to be changed about it. Pure.

What some system cannot store in a file name (Windows and Obsidian are the strictest) is replaced, so that
the folder can be synced anywhere; each change is said. Segments like ".." are left for the path gate.
"""

import re
import unicodedata
from collections.abc import Iterable

from notes_mcp.errors import InvalidRequestError
from notes_mcp.notes.uris import NOTE_TYPES

MAX_NAME_BYTES = 240  # file systems take 255; temp names and conflict copies add to it
# As Obsidian asks and Windows demands; "\" is a separator everywhere here.
_REPLACED = {":": "-", "|": "-", "<": "(", ">": ")", '"': "'", "?": "", "*": ""}
_BREAKS_LINKS = "#^[]"


def place_of(title: str, folder: str | None) -> str:
    """`Projects / Plan`, `Work` -> `Work/Projects/Plan`. Raises InvalidRequestError if the title names nothing."""
    whole = title.replace("\\", "/")
    absolute = "/" if whole.startswith("/") else ""
    segments = [segment.strip() for segment in whole.split("/")]
    segments = [segment for segment in segments if segment not in ("", ".")]
    if not segments or whole.endswith("/"):
        raise InvalidRequestError(f"title must end with a name: {title[:100]!r} has none.")
    path = absolute + "/".join(segments)
    return f"{folder}/{path}" if folder else path


def named(path: str, said: list[str]) -> str:
    """`Plan` -> `Plan.md`: a note's extension is kept, any other name gets `.md`; one that is too long is cut."""
    folder, slash, name = path.rpartition("/")
    return folder + slash + _with_extension(name, said)


def stem_of(path: str) -> str:
    """The file name without a note's extension."""
    name = path.rpartition("/")[2]
    return name[: -len(_extension(name))] if _extension(name) else name


def twins(path: str, others: Iterable[str]) -> list[str]:
    """Those of `others` whose names differ from `path`'s in case, spaces, "-", "_" or folder only."""
    key = _key(stem_of(path))
    return [other for other in others if other != path and _key(stem_of(other)) == key]


def fitted(segment: str, said: list[str]) -> str:
    """The name of a new file or folder as every system can have it: `Plan: v2?` -> `Plan- v2`. Says what was changed.

    Raises InvalidRequestError if nothing is left of it.
    """
    segment = re.sub(r"\s+", " ", unicodedata.normalize("NFC", segment))
    unfit = sorted({char for char in segment if char in _REPLACED or _is_invisible(char)})
    name = "".join("" if _is_invisible(char) else _REPLACED.get(char, char) for char in segment)
    name = name.strip()
    if not name.strip("-()'. "):
        raise InvalidRequestError(f"No part of {segment[:100]!r} can be a file name; use letters or digits.")
    if unfit:
        shown = " ".join(char if char.isprintable() else f"U+{ord(char):04X}" for char in unfit)
        said.append(f"Not fit for a file name on every system, so changed: {shown}")
    breaking = sorted({char for char in name if char in _BREAKS_LINKS})
    if breaking:
        said.append(f"[[links]] cannot name a note with {' '.join(breaking)} in its file name")
    return name


def _is_invisible(char: str) -> bool:
    """Controls, and marks that turn the direction of writing: they make one name look like another."""
    return (
        unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")
        or char in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
    )


def _with_extension(name: str, said: list[str]) -> str:
    extension = _extension(name) or ".md"
    stem = name[: -len(extension)] if _extension(name) else name
    room = MAX_NAME_BYTES - len(extension)
    if len(stem.encode()) > room:
        stem = stem.encode()[:room].decode("utf-8", "ignore").rstrip()
        said.append(f"The title is too long for a file name, so the name ends after {len(stem)} characters")
    return stem + extension


def _extension(name: str) -> str:
    dot = name.rfind(".")
    return name[dot:] if dot > 0 and name[dot:].lower() in NOTE_TYPES else ""


def _key(stem: str) -> str:
    return re.sub(r"[\s_-]", "", unicodedata.normalize("NFKC", stem).casefold())
