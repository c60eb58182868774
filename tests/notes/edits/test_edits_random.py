"""Random notes, random edits: what lies outside of an edit stays, and what can be taken back comes back."""

import codecs

from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from notes_mcp.errors import NoteError
from notes_mcp.notes.edits.edits import Edit, apply
from notes_mcp.notes.markup import markdown, sections
from notes_mcp.notes.text import Text

quick = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])

MARKS = {
    "utf-8": (b"", codecs.BOM_UTF8),
    "utf-16-le": (codecs.BOM_UTF16_LE,),
    "utf-16-be": (codecs.BOM_UTF16_BE,),
    "utf-32-le": (codecs.BOM_UTF32_LE,),
}
LINES = st.sampled_from(
    "|| word|two words|中文 😀|é é|- item|# A|## B|### C|T¶===|> # q|```|a ^id|^id|%%|<!-- x|-->|&a&b&¶&-&-&|---|"
    "tags: [a]|x\u2028y|  |\t|$& \\1|<!-- ## D -->".replace("|", "\0")
    .replace("&", "|")
    .replace("¶", "\n")
    .split("\0")
)
NEWLINES = st.sampled_from(["\n", "\r\n", "\r"])
FRONTS = st.sampled_from(["", "", "---\ntitle: x # why\n---\n", "---\na: [\n...\n", "---\n---\n"])
WORDS = st.lists(LINES, max_size=4).map("\n".join)


@st.composite
def notes(draw, uniform=False):
    """A note's bytes: any line ends (one kind if `uniform`), mark, encoding, front matter, final line end or none."""
    lines = (
        draw(FRONTS) + draw(st.lists(LINES, max_size=12).map("\n".join)) + draw(st.sampled_from(["", "\n"]))
    ).split("\n")
    newline = draw(NEWLINES)
    text = lines[0] + "".join((newline if uniform else draw(NEWLINES)) + line for line in lines[1:])
    encoding = draw(st.sampled_from(sorted(MARKS)))
    return draw(st.sampled_from(MARKS[encoding])) + text.encode(encoding)


OPS = ["append", "prepend", "insert_before", "insert_after", "replace_section", "delete_section"]


def names(note):
    """The sections of a note that can be named without doubt, and one that is not there."""
    scan = markdown.scan(Text.decode(note).utf8)
    marks = [f"^{block.id}" for block in scan.blocks]
    return st.sampled_from([*sections.outline(scan), *marks, "Nope"])


@st.composite
def edits(draw, note, ops=("replace", *OPS)):
    """An edit that is likely to fit the note."""
    text = Text.decode(note)
    plain = unified(text.text)
    start = draw(st.integers(0, len(plain)))
    quote = plain[start : start + draw(st.integers(1, 12))] or "\n"
    section = draw(st.one_of(st.none(), names(note)))
    op = draw(st.sampled_from(ops))
    if op == "delete_section":
        return Edit(op, section=section)
    if op == "replace" or (op.startswith("insert") and draw(st.booleans())):
        count = draw(st.sampled_from([max(1, len(text.occurrences(quote))), 1]))
        return Edit(op, draw(WORDS), quote, draw(st.sampled_from([None, section])), count)
    if op.startswith("insert") and section is None:
        section = "Nope"
    return Edit(op, draw(WORDS), section=section)


def tried(data, *wanted, path="n.md"):
    try:
        return apply(path, data, wanted)
    except NoteError:
        assume(False)
        raise


def common(before, after):
    """How many bytes are equal at the front, and how many of the rest at the back."""
    front = 0
    while front < min(len(before), len(after)) and before[front] == after[front]:
        front += 1
    back = 0
    while back < min(len(before), len(after)) - front and before[-1 - back] == after[-1 - back]:
        back += 1
    return front, back


def unified(text):
    return text.replace("\r\n", "\n").replace("\r", "\n")


@quick
@given(st.data())
def test_any_edit_either_works_or_is_refused_in_words(data):
    note = data.draw(notes())
    wanted = [data.draw(edits(note)) for _ in range(data.draw(st.integers(1, 3)))]
    before = Text.decode(note)
    try:
        done = apply("n.md", note, wanted)
    except NoteError as error:
        assert "othing was written" in str(error) and len(str(error)) < 2_000
        return
    after = Text.decode(done.data)
    assert after.valid and (after.encoding, after.bom) == (before.encoding, before.bom)
    assert [applied.op for applied in done.applied] == [edit.op for edit in wanted]
    assert all(1 <= applied.line <= after.line_count for applied in done.applied)


@quick
@given(st.data())
def test_a_replacement_leaves_every_byte_outside_of_the_quote(data):
    note = data.draw(notes())
    before = Text.decode(note)
    start = data.draw(st.integers(0, len(before.text)))
    end = data.draw(st.integers(start, len(before.text)))
    quote = before.text[start:end]
    assume(quote and len(before.occurrences(quote)) == 1)
    new = data.draw(WORDS)
    after = Text.decode(tried(note, Edit("replace", new, quote)).data)
    first, last = before.text[:start], before.text[end:]
    cut = (before.text[start - 1 : start + 1], before.text[end - 1 : end + 1])
    assume("\r\n" not in cut)
    assert after.text.startswith(first) and after.text.endswith(last)
    middle = after.text[len(first) : len(after.text) - len(last)]
    assert unified(middle) == unified(new)


@quick
@given(st.data())
def test_what_is_added_is_all_that_is_added(data):
    note = data.draw(notes())
    op = data.draw(st.sampled_from(["append", "prepend", "insert_before", "insert_after"]))
    edit = data.draw(edits(note, (op,)))
    assume(edit.count == 1)
    before, after = Text.decode(note), Text.decode(tried(note, edit).data)
    front, back = common(before.utf8, after.utf8)
    assert front + back == len(before.utf8)
    added = unified(after.utf8[front : len(after.utf8) - back].decode("utf-8", "replace"))
    assert len(added) >= len(edit.text)
    assert sorted(unified(after.text).replace("\n", "")) == sorted((unified(before.text) + edit.text).replace("\n", ""))


@quick
@given(st.data())
def test_an_edit_in_a_section_leaves_every_byte_outside_of_it(data):
    note = data.draw(notes())
    op = data.draw(st.sampled_from(["replace_section", "append", "prepend"]))
    before = Text.decode(note)
    scan = markdown.scan(before.utf8)
    assume(scan.headings)
    at = data.draw(st.integers(0, len(scan.headings) - 1))
    heading = scan.headings[at]
    end = next((other.start for other in scan.headings[at + 1 :] if other.level <= heading.level), len(before.utf8))
    name = f"{'#' * heading.level} {heading.text}".rstrip() + f" (line {heading.line})"
    new = data.draw(WORDS.filter(lambda words: not words.lstrip().startswith(("#", "T"))))
    after = Text.decode(tried(note, Edit(op, new, section=name)).data)
    assert after.utf8.startswith(before.utf8[: heading.end])
    assert after.utf8.endswith(before.utf8[end:])


@quick
@given(st.data())
def test_deleting_a_section_takes_out_one_stretch_that_begins_with_its_heading_or_blank_lines_before(data):
    note = data.draw(notes())
    before = Text.decode(note)
    scan = markdown.scan(before.utf8)
    assume(scan.headings)
    heading = data.draw(st.sampled_from(scan.headings))
    name = f"{'#' * heading.level} {heading.text}".rstrip() + f" (line {heading.line})"
    after = Text.decode(tried(note, Edit("delete_section", section=name)).data)
    following = [other for other in scan.headings if other.start > heading.start and other.level <= heading.level]
    if following:
        assert after.utf8 == before.utf8[: heading.start] + before.utf8[following[0].start :]
    else:
        assert before.utf8.startswith(after.utf8)
        assert not before.utf8[len(after.utf8) : heading.start].strip()
        assert scan.body_start <= len(after.utf8) <= heading.start


@quick
@given(notes(uniform=True), st.data())
@example(b"a\r\nb", None)
def test_a_replacement_and_its_inverse_give_the_very_bytes_back(note, data):
    before = Text.decode(note)
    old = "b" if data is None else data.draw(st.sampled_from(unified(before.text).split("\n")).filter(bool))
    new = "\n\u2603x\n" if data is None else data.draw(WORDS.map(lambda words: f"\u2603{words}\u2603"))
    assume(len(before.occurrences(old)) == 1)
    there = tried(note, Edit("replace", new, old)).data
    assert apply("n.md", there, [Edit("replace", old, new)]).data == note


@quick
@given(notes(uniform=True), WORDS.filter(str.strip))
def test_an_append_and_its_inverse_give_the_very_bytes_back(note, words):
    before = Text.decode(note)
    new = f"\u2603{words}\u2603"
    there = tried(note, Edit("append", new)).data
    glued = bool(before.utf8) and not before.final_newline
    quote = f"\n{new}" if glued else f"{new}\n" if before.utf8 else new
    assert apply("n.md", there, [Edit("replace", "", quote)]).data == note


@quick
@given(st.data())
def test_edits_together_are_the_edits_one_after_the_other(data):
    note = data.draw(notes())
    wanted = [data.draw(edits(note)), data.draw(edits(note))]
    together = tried(note, *wanted).data
    assert apply("n.md", apply("n.md", note, wanted[:1]).data, wanted[1:]).data == together


@quick
@given(st.data())
def test_front_matter_stays_whole_and_first_through_every_edit_but_a_replacement_in_it(data):
    note = data.draw(notes())
    before = Text.decode(note)
    front = markdown.front_matter(before.utf8)
    assume(front is not None)
    edit = data.draw(edits(note))
    assume(edit.old_text is None)
    after = Text.decode(tried(note, edit).data)
    assert after.utf8.startswith(before.utf8[: front[1]].rstrip(b"\r\n"))
    assert markdown.front_matter(after.utf8) is not None
