"""notes/uris: paths and URIs are one-to-one, in every form that is accepted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notes_mcp.errors import InvalidRequestError
from notes_mcp.notes import uris


def test_a_path_becomes_percent_encoded_utf8():
    assert uris.to_uri("Projects/计划.md") == "notes:///Projects/%E8%AE%A1%E5%88%92.md"
    assert uris.to_uri("a b#c?d%e.md") == "notes:///a%20b%23c%3Fd%25e.md"


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_path_survives_the_round_trip(path):
    assert uris.parse(uris.to_uri(path)) == ("path", path)


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("notes:///A/b.md", ("path", "A/b.md")),
        ("NOTES:///b.md", ("path", "b.md")),
        ("file://notes/A/b%20c.md", ("path", "A/b c.md")),
        ("file:///home/me/b.md", ("absolute", "/home/me/b.md")),
        ("file://localhost/home/b.md", ("absolute", "/home/b.md")),
        ("file:///C:/notes/b.md", ("absolute", "C:/notes/b.md")),
        ("notes:///a.md#Heading", ("path", "a.md")),
        ("notes:///What?.md", ("path", "What?.md")),
        ("notes://host/a.md", None),
        ("file://elsewhere/a.md", None),
        ("https://example.com/a.md", None),
        ("a.md", None),
        ("", None),
    ],
)
def test_each_form_is_told_apart(uri, expected):
    assert uris.parse(uri) == expected


def test_bytes_that_are_not_utf8_are_an_error_that_says_so():
    with pytest.raises(InvalidRequestError, match="UTF-8"):
        uris.parse("notes:///%FF.md")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.md", "text/markdown"),
        ("A.MARKDOWN", "text/markdown"),
        ("a.txt", "text/plain"),
        ("a.png", "image/png"),
        ("dir.md/file", "application/octet-stream"),
        ("a.unknown-ext", "application/octet-stream"),
    ],
)
def test_the_media_type_follows_the_extension(path, expected):
    assert uris.mime_type(path) == expected
