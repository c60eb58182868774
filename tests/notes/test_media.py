"""The type of a picture or sound is that of its bytes, whatever its name says."""

import pytest

from notes_mcp.notes.media import mime_type

PNG = b"\x89PNG\r\n\x1a\n\0\0"
JPEG = b"\xff\xd8\xff\xe0\0\x10JFIF"


@pytest.mark.parametrize(
    ("path", "data", "wanted"),
    [
        ("a.png", PNG, "image/png"),
        ("a.PNG", JPEG, "image/jpeg"),
        ("a.jpg", b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp"),
        ("a.gif", b"GIF89a\x01", "image/gif"),
        ("photo.jpg", b"\0\0\0\x18ftypheic\0\0", "image/heic"),
        ("a.png", b"\0\0\0\x18ftypavif\0\0", "image/avif"),
        ("scan.png", b"II*\0\x08", "image/tiff"),
        ("scan.png", b"%PDF-1.7 \xff", "application/pdf"),
        ("a.mp3", b"RIFF\x10\0\0\0WAVEfmt ", "audio/wav"),
        ("a.mp3", PNG, "image/png"),
        ("a.mp3", b"\xff\xfb\x90\0", "audio/mpeg"),
        ("a.flac", b"fLaC\0", "audio/flac"),
        ("a.ogg", b"OggS\0", "audio/ogg"),
        ("a.png", b"\0\x01\xff", "image/png"),
        ("a.png", b"", "image/png"),
    ],
)
def test_the_bytes_decide_where_they_are_known(path, data, wanted):
    assert mime_type(path, data).replace("x-", "") == wanted


@pytest.mark.parametrize("data", [b"version https://git-lfs.github.com/spec/v1\n", "<p>找不到".encode() * 200, b"\n x"])
def test_text_under_the_name_of_a_picture_is_text(data):
    assert mime_type("a.png", data) == "text/plain"


@pytest.mark.parametrize(
    ("path", "wanted"), [("a.svg", "image/svg+xml"), ("a.pdf", "application/pdf"), ("a.csv", "text/csv")]
)
def test_other_files_are_what_their_names_say(path, wanted):
    assert mime_type(path, PNG) == wanted
