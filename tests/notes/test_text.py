import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.errors import InvalidRequestError, NotTextError
from notes_mcp.notes.text import Text, etag

BOMS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}
WORDS = st.text(st.sampled_from("ab \r\n\té中あ😀\u2028\x00\ufeff"), max_size=40)
ENCODED = st.builds(lambda text, encoding: BOMS[encoding] + text.encode(encoding), WORDS, st.sampled_from(sorted(BOMS)))
BYTES = st.one_of(st.binary(max_size=60), WORDS.map(str.encode), ENCODED)
quick = settings(max_examples=200, deadline=None)


@st.composite
def spliced(draw):
    """Bytes of a valid note, and edits on character borders that do not overlap."""
    text = Text.decode(draw(st.one_of(WORDS.map(str.encode), ENCODED)))
    borders = [len(text.text[:i].encode()) for i in range(len(text.text) + 1)]
    cuts = sorted(draw(st.lists(st.sampled_from(borders), max_size=6)))
    spans = list(zip(cuts[::2], cuts[1::2], strict=False))
    return text, [(start, end, draw(WORDS)) for start, end in spans]


@quick
@given(BYTES)
def test_any_bytes_come_back_unchanged_when_nothing_is_edited(data):
    text = Text.decode(data)
    assert text.data == data
    if text.valid:
        assert text.splice([]) == data
        assert text.splice([(0, len(text.utf8), text.utf8)]) == data
        assert text.text.encode() == text.utf8
        assert text.bom + text.text.encode(text.encoding) == data
    else:
        assert "\ufffd" in text.text
        with pytest.raises(NotTextError):
            text.splice([])


@quick
@given(spliced())
def test_a_splice_touches_nothing_outside_its_spans(case):
    text, edits = case
    expected, done = "", 0
    for start, end, new in edits:
        expected += text.utf8[done:start].decode() + new
        done = end
    expected += text.utf8[done:].decode()
    assert text.splice(list(reversed(edits)) if len({e[0] for e in edits}) == len(edits) else edits) == (
        text.bom + expected.encode(text.encoding)
    )


@quick
@given(BYTES)
def test_line_spans_cover_the_note_and_agree_with_line_of(data):
    text = Text.decode(data)
    spans = [text.line_span(line) for line in range(1, text.line_count + 1)]
    assert b"".join(text.utf8[start:end] for start, end in spans) == text.utf8
    for line, (start, end) in enumerate(spans, 1):
        assert text.line_of(start) == line
        assert all(text.line_of(offset) == line for offset in range(start, end))
    assert text.line_of(len(text.utf8)) == text.line_count
    for outside in (0, text.line_count + 1):
        with pytest.raises(IndexError):
            text.line_span(outside)


def test_lf_crlf_and_cr_end_a_line_and_nothing_else_does():
    text = Text.decode("a\x0b\x0c\x1c\x85\u2028\u2029\r\nb\r\rc\n".encode())
    assert [text.utf8[slice(*text.line_span(line))][-2:] for line in range(1, text.line_count + 1)] == [
        b"\r\n",
        b"b\r",
        b"\r",
        b"c\n",
    ]


@quick
@given(WORDS, st.sampled_from(["\n", "\r\n", "\r"]))
def test_new_text_takes_the_line_ends_of_the_note(new, newline):
    adapted = Text.decode(f"a{newline}b".encode()).adapt(new)
    rest = adapted.replace(newline, "")
    assert "\n" not in rest and "\r" not in rest
    assert adapted.replace(newline, "\n") == new.replace("\r\n", "\n").replace("\r", "\n")


@quick
@given(WORDS, st.integers(0, 40), st.integers(1, 8))
def test_a_piece_of_the_text_is_found_where_it_stands_whatever_the_line_ends(body, at, length):
    plain = body.replace("\r\n", "\n").replace("\r", "\n")
    needle = plain[at : at + length]
    for newline in ("\n", "\r\n", "\r"):
        text = Text.decode(plain.replace("\n", newline).encode())
        spans = text.occurrences(needle)
        assert len(spans) == (plain.removeprefix("\ufeff").count(needle) if needle else 0)
        for start, end in spans:
            assert text.utf8[start:end].decode().replace(newline, "\n") == needle


@pytest.mark.parametrize(
    ("data", "encoding", "bom", "shown"),
    [
        (b"", "utf-8", b"", ""),
        (codecs.BOM_UTF8, "utf-8", codecs.BOM_UTF8, ""),
        (codecs.BOM_UTF16_LE, "utf-16-le", codecs.BOM_UTF16_LE, ""),
        (codecs.BOM_UTF32_LE, "utf-32-le", codecs.BOM_UTF32_LE, ""),
        (codecs.BOM_UTF16_LE + "\x00a".encode("utf-16-le"), "utf-16-le", codecs.BOM_UTF16_LE, "\x00a"),
        (codecs.BOM_UTF16_BE + "中😀".encode("utf-16-be"), "utf-16-be", codecs.BOM_UTF16_BE, "中😀"),
        (codecs.BOM_UTF8 + codecs.BOM_UTF8 + b"a", "utf-8", codecs.BOM_UTF8, "\ufeffa"),
    ],
)
def test_the_encoding_is_told_by_the_mark(data, encoding, bom, shown):
    text = Text.decode(data)
    assert (text.encoding, text.bom, text.text, text.valid) == (encoding, bom, shown, True)


@pytest.mark.parametrize(
    "data",
    [
        "ž Latin".encode("iso-8859-2"),
        "简体".encode("gbk"),
        codecs.BOM_UTF16_LE + b"a",
        codecs.BOM_UTF16_LE + b"\x00\xd8a\x00",
        codecs.BOM_UTF32_BE + b"\x00\x00\x00",
        b"\xed\xa0\x80 a surrogate in UTF-8",
    ],
)
def test_hazard_073_a_note_in_an_unknown_encoding_is_shown_marked_and_never_edited(data):
    text = Text.decode(data)
    assert not text.valid and "\ufffd" in text.text
    with pytest.raises(NotTextError):
        text.splice([(0, 0, "x")])


def test_hazard_070_one_word_of_a_crlf_note_changes_alone():
    data = codecs.BOM_UTF8 + b"one\r\ntwo\nthree\r\n"
    text = Text.decode(data)
    [(start, end)] = text.occurrences("two")
    assert text.splice([(start, end, "2")]) == codecs.BOM_UTF8 + b"one\r\n2\nthree\r\n"


def test_hazard_071_text_sent_with_lf_is_found_in_a_crlf_note_and_the_other_way_round():
    text = Text.decode(b"a\r\nb\r\na\nb")
    assert text.occurrences("a\nb") == text.occurrences("a\r\nb") == [(0, 4), (6, 9)]


def test_a_line_feed_alone_is_not_found_inside_crlf():
    text = Text.decode(b"a\r\nb\nc\r")
    assert text.occurrences("\n") == text.occurrences("\r") == [(1, 3), (4, 5), (6, 7)]
    assert text.occurrences("\nb") == [(1, 4)]
    assert text.occurrences("") == text.occurrences("\ud800") == []


def test_pattern_characters_in_the_needle_are_literal():
    assert Text.decode(b"a.c a+c (a|c)\\n").occurrences("a.c") == [(0, 3)]
    assert Text.decode(b"x $1 \\n .* x").occurrences("\\n .*") == [(5, 10)]


@pytest.mark.parametrize(
    ("data", "newline"),
    [
        (b"", "\n"),
        (b"a", "\n"),
        (b"a\r\nb\nc\r\n", "\r\n"),
        (b"a\rb\r\n\r", "\r"),
        (b"a\nb\r\n", "\n"),
        (b"\r\n\n", "\r\n"),
    ],
)
def test_the_line_end_used_most_is_the_note_s_own(data, newline):
    assert Text.decode(data).newline == newline


def test_a_final_newline_is_seen_in_every_encoding():
    for encoding, bom in BOMS.items():
        assert Text.decode(bom + "a\n".encode(encoding)).final_newline
        assert not Text.decode(bom + "a\n中".encode(encoding)).final_newline


@pytest.mark.parametrize("edits", [[(0, 2, ""), (1, 3, "")], [(2, 1, "")], [(0, 99, "")], [(-1, 0, "")], [(4, 4, "x")]])
def test_spans_that_overlap_lie_outside_or_cut_a_character_are_refused(edits):
    with pytest.raises(ValueError):
        Text.decode("abc中".encode()).splice(edits)


def test_new_text_that_is_not_text_is_refused():
    text = Text.decode(b"abc")
    with pytest.raises(InvalidRequestError):
        text.splice([(0, 1, "\ud83d")])
    with pytest.raises(UnicodeDecodeError):
        text.splice([(0, 1, b"\xff")])


def test_the_etag_is_sixteen_hex_digits_of_the_bytes():
    assert etag(b"") != etag(b"\n")
    assert Text.decode(b"abc").etag == etag(b"abc")
    assert len(etag(b"abc")) == 16 and int(etag(b"abc"), 16) >= 0


@quick
@given(WORDS, WORDS, WORDS, st.text("ab \n", min_size=1, max_size=3))
def test_looking_within_a_span_is_looking_in_a_note_of_its_own(before, within, after, needle):
    before, within = before + "\n", "|" + within + "|"
    text = Text.decode(b"|" + (before + within + after).encode())
    start = 1 + len(before.encode())
    end = start + len(within.encode())
    alone = Text.decode(within.encode()).occurrences(needle)
    assert text.occurrences(needle, start, end) == [(start + left, start + right) for left, right in alone]


def test_a_passage_of_many_equal_lines_is_looked_for_in_linear_time():
    text = Text.decode(b"a\r\n" * 300_000)
    assert text.occurrences("a\n" * 30_000 + "b") == []
