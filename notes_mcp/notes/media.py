"""What an attachment's bytes are: by its name, unless the bytes say otherwise. Pure; looks at the start only.

Clients hand pictures and sounds to models that refuse the whole answer if the type is not that of the bytes.
Signatures: those of the WHATWG's MIME Sniffing Standard, sections 6.1 and 6.2, and of the formats themselves.
"""

import codecs
import re

from notes_mcp.notes import uris

_HEAD_BYTES = 1024
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (rb"\x89PNG", "image/png"),
    (rb"\xff\xd8\xff", "image/jpeg"),
    (rb"GIF8[79]a", "image/gif"),
    (rb"RIFF....WEBP", "image/webp"),
    (rb"II\*\0|MM\0\*", "image/tiff"),
    (rb"....ftyp(?:heic|heix|hevc|mif1)", "image/heic"),
    (rb"....ftypavif", "image/avif"),
    (rb"....ftypM4[AB] ", "audio/mp4"),
    (rb"RIFF....WAVE", "audio/wav"),
    (rb"ID3", "audio/mpeg"),
    (rb"fLaC", "audio/flac"),
    (rb"OggS", "audio/ogg"),
    (rb"%PDF-", "application/pdf"),
    (rb"PK\x03\x04", "application/zip"),
)
_KNOWN = tuple((re.compile(start, re.DOTALL), mime) for start, mime in _SIGNATURES)
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_SAME = {"audio/x-wav": "audio/wav", "audio/x-flac": "audio/flac", "audio/mp4a-latm": "audio/mp4"}


def mime_type(path: str, data: bytes) -> str:
    """The media type of an attachment. A picture or sound by name whose bytes are those of another type is that;
    one whose bytes are text (a page saved under the wrong name, a pointer of Git LFS) is `text/plain`."""
    named = uris.mime_type(path)
    family = named.partition("/")[0]
    if family not in ("image", "audio") or named == "image/svg+xml":
        return named
    seen = next((mime for pattern, mime in _KNOWN if pattern.match(data)), None)
    if seen is None:
        return "text/plain" if _is_text(data[:_HEAD_BYTES]) else named
    # An .oga or .opus file is an Ogg file as well: the name says more than the bytes then.
    return named if _SAME.get(named, named) == seen or (family, seen) == ("audio", "audio/ogg") else seen


def _is_text(head: bytes) -> bool:
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return bool(text.strip()) and not _CONTROL.search(text)
