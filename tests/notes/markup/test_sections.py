import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.errors import AmbiguousError, InvalidRequestError, NotFoundError
from notes_mcp.notes.markup import sections, walk
from notes_mcp.notes.markup.markdown import scan
from notes_mcp.notes.markup.sections import find, outline

NOTE = """\
intro

# Projects

all

## Garden ##

beds

### Log

g1

## Clock

### Log

c1 ^hand

# *People* & `places`

## 日本語 ノート

### C#

x

### C

y

## What now?

- a ^a-1
- b

# Log > book

end
"""


def found(spec: str, note: str = NOTE) -> str:
    section = find(scan(note.encode()), note.encode(), spec)
    return note.encode()[section.start : section.end].decode()


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ("Garden", "## Garden ##"),
        ("## Garden", "## Garden ##"),
        ("## Garden ##", "## Garden ##"),
        ("##Garden", "## Garden ##"),
        ("  garden ", "## Garden ##"),
        ("#garden", "## Garden ##"),
        ("### Garden", "## Garden ##"),
        ("Garden > Log", "### Log"),
        ("Projects > Clock > Log", "### Log"),
        ("# Projects > ## Clock", "## Clock"),
        ("projects>clock", "## Clock"),
        ("Projects#Clock", "## Clock"),
        ("#Projects#Clock", "## Clock"),
        ("People & places", "# *People* & `places`"),
        ("# *People* & `places`", "# *People* & `places`"),
        ("日本語  ノート", "## 日本語 ノート"),
        ("C#", "### C#"),
        ("C", "### C"),
        ("What now", "## What now?"),
        ("Log > book", "# Log > book"),
        ("Garden:", "## Garden ##"),
    ],
)
def test_hazard_098_a_section_is_found_by_what_people_write(spec, line):
    assert found(spec).splitlines()[0] == line


def test_a_path_of_headings_tells_equal_names_apart():
    assert "g1" in found("Garden > Log")
    assert "c1" in found("Clock > Log")
    assert "c1" in found("Projects > Clock > Log")


def test_hazard_101_the_spans_of_a_section_with_and_without_its_children():
    source = NOTE.encode()
    section = find(scan(source), source, "Garden")
    assert source[section.start : section.body_start] == b"## Garden ##\n"
    assert source[section.body_start : section.own_end] == b"\nbeds\n\n"
    assert source[section.body_start : section.end] == b"\nbeds\n\n### Log\n\ng1\n\n"
    assert (section.heading, section.level, section.line) == ("Garden", 2, 7)


def test_the_last_section_reaches_to_the_end_and_a_setext_heading_is_two_lines():
    source = b"A\n===\n\ntext"
    section = find(scan(source), source, "a")
    assert source[section.start : section.body_start] == b"A\n===\n"
    assert section.own_end == section.end == len(source)


def test_hazard_103_every_line_of_the_outline_is_a_target():
    found_in_note = scan(NOTE.encode())
    lines = outline(found_in_note)
    assert lines[1] == "## Garden (line 7)"
    for line, heading in zip(lines, found_in_note.headings, strict=True):
        assert find(found_in_note, NOTE.encode(), line).start == heading.start


def test_a_line_note_that_is_out_of_date_does_no_harm_to_a_name_that_is_unique():
    assert found("## Garden (line 99)").startswith("## Garden")
    with pytest.raises(AmbiguousError):
        found("### Log (line 99)")


def test_a_heading_may_itself_end_in_a_line_note():
    note = "# Log (line 3)\n\n# Log\n"
    assert found("Log (line 3)", note) == "# Log (line 3)\n\n"
    assert found("# Log (line 3)", note) == "# Log\n"


@pytest.mark.parametrize("spec", ["Log", "### Log", "log", "Projects > Log"])
def test_hazard_092_equal_names_are_an_error_with_their_lines(spec):
    with pytest.raises(AmbiguousError) as error:
        found(spec)
    assert error.value.candidates == ("### Log (line 11)", "### Log (line 17)")


def test_a_level_tells_equal_names_apart():
    note = "# Log\n\n## log\n"
    assert found("# Log", note).startswith("# Log")
    assert found("## LOG", note) == "## log\n"


@pytest.mark.parametrize("spec", ["Gardening", "Clock > Garden", "C++", "^nope", "#^nope", "> x", "Garden > Nothing"])
def test_a_name_that_is_not_there_is_an_error_with_the_nearest(spec):
    with pytest.raises(NotFoundError) as error:
        found(spec)
    assert error.value.nearest
    assert all(near.startswith(("#", "^")) for near in error.value.nearest)


def test_the_nearest_heading_is_a_target():
    with pytest.raises(NotFoundError) as error:
        found("Gardn")
    assert error.value.nearest[0] == "## Garden (line 7)"


def test_a_note_without_headings_says_so():
    with pytest.raises(NotFoundError) as error:
        found("x", "text\n")
    assert error.value.nearest == ()


@pytest.mark.parametrize("spec", ["", "  ", "\n"])
def test_a_name_without_words_is_refused(spec):
    with pytest.raises(InvalidRequestError):
        found(spec)


@pytest.mark.parametrize("spec", ["^hand", "#^hand", " ^HAND ", "^hand (line 19)"])
def test_a_block_is_found_by_its_mark(spec):
    assert found(spec) == "c1 ^hand\n"


def test_a_block_is_only_what_it_names():
    assert found("^a-1") == "- a ^a-1\n"
    with pytest.raises(AmbiguousError) as error:
        found("^x", "a ^x\n\nb ^x\n")
    assert found(error.value.candidates[1], "a ^x\n\nb ^x\n") == "b ^x\n"


def test_hazard_097_what_is_in_code_or_a_comment_is_no_section():
    note = "# A\n\n```\n# B\n```\n\n%%\n# C\n%%\n\n| `## D` |\n|---|\n"
    for spec in "BCD":
        with pytest.raises(NotFoundError):
            found(spec, note)
    assert found("A", note) == note


WORDS = st.text(st.sampled_from("ab C#:>^|(1)`*中é "), max_size=8)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), WORDS), min_size=1, max_size=8))
def test_the_outline_of_any_note_is_a_list_of_targets(made):
    source = "\n".join(f"{'#' * level} {words}\ntext" for level, words in made).encode()
    scanned = scan(source)
    for line, heading in zip(outline(scanned), scanned.headings, strict=True):
        section = find(scanned, source, line)
        assert (section.start, section.line) == (heading.start, heading.line)
        assert section.start <= section.body_start <= section.own_end <= section.end <= len(source)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=20))
def test_any_name_is_found_or_refused(spec):
    try:
        section = find(scan(NOTE.encode()), NOTE.encode(), spec)
    except (NotFoundError, AmbiguousError, InvalidRequestError):
        return
    assert section.start < section.end


def test_of_very_many_headings_and_blocks_only_some_are_compared_with_a_name_that_is_not_there(monkeypatch):
    compared = []
    monkeypatch.setattr(
        sections, "_nearest", lambda name, texts, shown: compared.append(len(texts)) or ["# h (line 1)"]
    )
    many = b"# h\n" * 6_000
    with pytest.raises(NotFoundError) as error:
        find(scan(many), many, "zzz")
    assert error.value.nearest == ("# h (line 1)",)
    blocks = b"".join(b"x ^b%d\n\n" % number for number in range(6_000))
    with pytest.raises(NotFoundError):
        find(scan(blocks), blocks, "^zzz")
    assert compared == [5_000, 5_000]


def test_a_note_of_headings_alone_is_scanned_in_one_pass_of_events(monkeypatch):
    """Three events a heading, each looked at once, however many there are."""
    steps = []
    original = walk._PARSER

    class Counting:
        def events_with_range(self, *args, **how):
            for event in original.events_with_range(*args, **how):
                steps.append(1)
                yield event

    monkeypatch.setattr(walk, "_PARSER", Counting())
    counts = []
    for number in (1_000, 4_000):
        del steps[:]
        assert len(scan(b"# h\n" * number).headings) == number
        counts.append(len(steps))
    assert counts == [3_000, 12_000]
