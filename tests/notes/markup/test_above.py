"""The headings above some lines are those of a scan of the whole note."""

from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.notes.markup import above, markdown
from notes_mcp.notes.markup.above import MAX_SCANNED_BYTES, headings

PIECES = st.sampled_from(
    "# one|## two ##|   ### three|three words|===|---|- item|  # in item|> # quoted|```|~~~|%%|<!--|-->|<div>|$$|"
    "# [ref]|[ref]: /url|[^1]: note|[^1]|    # code|#tag|#|words #|\t# tab|| |a|b|\\|-|-|".split("|")
)
ENDS = st.sampled_from(["\n", "\n", "\n", "\n\n", "\r\n", "\r"])


def above_line(found: object, line: int) -> str:
    texts = [each.text for each in found if each.line <= line]  # type: ignore[attr-defined]
    return texts[-1] if texts else ""


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(PIECES, ENDS), max_size=12), st.sampled_from(["", "---\na: 1\n# no\n---\n"]), st.data())
def test_they_are_those_of_the_whole_note(pieces: list[tuple[str, str]], front: str, data: st.DataObject) -> None:
    text = front + "".join(a + b for a, b in pieces)
    line = data.draw(st.integers(1, text.count("\n") + text.count("\r") + 1))
    whole = markdown.scan(text.encode()).headings
    assert above_line(headings(text.encode(), [line]), line) == above_line(whole, line)


def test_nothing_behind_the_lines_is_scanned(monkeypatch) -> None:
    scanned: list[int] = []

    def counting(utf8: bytes) -> markdown.MarkdownScan:
        scanned.append(len(utf8))
        return markdown.scan(utf8)

    monkeypatch.setattr(above, "scan", counting)
    note = b"# top\n\nword\n\n" + b"more\n\n" * 20_000
    assert above_line(headings(note, [3]), 3) == "top"
    assert headings(b"word\n" * 200_000, [100_000]) == ()
    assert sum(scanned) < 100


def test_in_a_very_long_note_what_looks_like_a_heading_is_taken() -> None:
    note = b"# top #\n```\n# code\n```\n" + b"word\n" * MAX_SCANNED_BYTES
    assert above_line(headings(note, [200_000]), 200_000) == "top"


def test_no_line_has_no_heading() -> None:
    assert headings(b"# a\n", []) == ()
