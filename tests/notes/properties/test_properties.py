import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.notes.properties.properties import Properties, inside, of, parse
from notes_mcp.notes.text import Text

quick = settings(max_examples=200, deadline=None)

BOMB = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12)
)


def test_values_follow_the_core_schema_of_yaml_1_2_and_keep_what_was_written():
    found = parse(
        "yes: yes\nno: no\non: on\nversion: 1.10\npi: 3.14\nbig: 1e3\nexp: 1e+100\nhex: 0x1F\nzip: 007\nplus: +1\n"
        "int: -12\nyear: 2024\ndate: 2024-01-02\ntime: 12:30:00\ntrue: True\nnull: ~\nempty:\ninf: .inf\nnan: .NaN\n"
        "under: 1_000\nminus: -0\nquoted: '12'\ntagged: !!str 12\nint tag: !!int '12'\nown: !mine x\ndigits: "
        + "9"
        * 400
    )
    assert found.error is None
    assert found.values == {
        "yes": "yes", "no": "no", "on": "on", "version": "1.10", "pi": 3.14, "big": "1e3", "exp": 1e100, "hex": "0x1F",
        "zip": "007", "plus": "+1", "int": -12, "year": 2024, "date": "2024-01-02", "time": "12:30:00", "true": True,
        "null": None, "empty": None, "inf": ".inf", "nan": ".NaN", "under": "1_000", "minus": "-0", "quoted": "12",
        "tagged": "12", "int tag": 12, "own": "x", "digits": "9" * 400,
    }  # fmt: skip


def test_pairs_give_each_scalar_as_written_and_name_nested_ones_by_their_path():
    found = parse(
        "a: 1.10\nb: [x, TRUE, ~]\nc:\n  d: 2024-01-02\n  e: [1, 2]\nf: []\ng: {}\nh:\ni: &i y\nj: [*i, [z]]\n"
    )
    assert found.pairs() == (
        ("a", "1.10"), ("b", "x"), ("b", "TRUE"), ("b", ""), ("c.d", "2024-01-02"), ("c.e", "1"), ("c.e", "2"),
        ("f", ""), ("g", ""), ("h", ""), ("i", "y"), ("j", "y"), ("j", "z"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("front", "tags"),
    [
        ("tags: [a, '#b', \"#c/d\"]", ("a", "b", "c/d")),
        ("tags:\n- a\n- A\n- b/\n-\n- ''\n- '#'", ("a", "b")),
        ("tags: a, b c,,d", ("a", "b", "c", "d")),
        ("Tag: 项目/计划", ("项目/计划",)),
        ("tags: x\ntag: y\ntags: [z]", ("x", "y", "z")),
        ("tags: 2024-01-02", ("2024-01-02",)),
        ("tags: [2024, 1.10, TRUE, 2024-01-02T10:00:00Z, no]", ("2024", "1.10", "TRUE", "2024-01-02T10:00:00Z", "no")),
        ("tags: {a: b}", ()),
        ("tags: [[a, b], {c: d}, e]", ("a", "b", "e")),
        ("tags: &t [a]\ntag: *t", ("a",)),
        ("tags: []", ()),
        ("tags:", ()),
        ("tagsy: [a]", ()),
        ("tags: [\r\n  a,\r\n  b ]\r\n", ("a", "b")),
    ],
)
def test_hazard_086_tags_are_read_from_any_yaml_type(front, tags):
    assert parse(front).tags == tags


def test_hazard_068_no_carriage_return_gets_into_values():
    found = parse("title: x\r\ntags:\r\n  - a\r\n  - b\r\ntext: |\r\n  one\r\n  two\r\nflow: [c,\r\n  d]\r\n")
    assert found.values == {"title": "x", "tags": ["a", "b"], "text": "one\ntwo\n", "flow": ["c", "d"]}


@pytest.mark.parametrize(
    ("front", "aliases"),
    [
        ("aliases: [One, 'Two, too', One]", ("One", "Two, too")),
        ("alias: One, Two", ("One", "Two")),
        ("Aliases:\n  - 别名\n", ("别名",)),
        ("aliases:", ()),
    ],
)
def test_aliases_are_read_from_lists_and_text(front, aliases):
    assert parse(front).aliases == aliases


@pytest.mark.parametrize(
    ("front", "title"),
    [
        ("title: Plan", "Plan"),
        ("title: 1.10", "1.10"),
        ("title: '  x '", "x"),
        ("title: |\n  x\n", "x"),
        ("title: no", "no"),
        ("title: a\ntitle: b", "b"),
        ("x: &t T\ntitle: *t", "T"),
        ("title:", None),
        ("title: ''", None),
        ("title: [a]", None),
        ("a:\n  title: b", None),
        ("", None),
    ],
)
def test_the_title_is_what_its_scalar_says(front, title):
    assert parse(front).title == title


def test_what_is_said_is_found_where_it_stands_with_its_line_in_the_file():
    front = "é: '中😀'\r\nup: \"[[Note]]\"\r\nlist:\r\n  - &x [[A]]\r\n  - *x\r\ntext: |\r\n  one\r\n"
    found = [(said.key, front[said.start : said.end], said.line) for said in parse(front).said]
    assert found == [
        ("é", "'中😀'", 2), ("up", '"[[Note]]"', 3), ("list", "A", 5), ("text", "|\r\n  one", 7),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "front",
    [
        "a: [b\nc: d", "\ta: 1", "a: b: c", "a: 'x", 'a: "x', "a: \x07", "a: \ud800", "- a", "x", "[a]", "a: *b",
        "a: @b", "a: 1\n...\nb: 2", "a: 1\n b: 2", "%YAML 9.9\n--- a", "a: " + "[" * 5000, "- " * 5000,
        "a: " + "x" * 300_000,
    ],
)  # fmt: skip
def test_a_block_that_does_not_parse_says_so_and_says_nothing_else(front):
    found = parse(front)
    assert found.error is not None and found.error.startswith("The properties (YAML front matter) cannot be read: ")
    assert (found.values, found.pairs(), found.tags, found.aliases, found.title, found.said) == (
        {},
        (),
        (),
        (),
        None,
        (),
    )


def test_the_error_names_the_line_of_the_file():
    assert "line 4" in (parse("a: 1\nb: 2\nc: d: e\n").error or "")
    assert "line 13" in (parse("a: 1\nb: 2\nc: d: e\n", first_line=11).error or "")


@pytest.mark.parametrize(
    "front", [BOMB, "a: &x [*x]", "a: &x {b: *x}", "a: &x " + "y" * 9000 + "\nb: [" + "*x," * 9000 + "]"]
)
def test_aliases_that_expand_beyond_measure_are_refused(front):
    assert "aliases" in (parse(front).error or "")


def test_an_alias_used_soberly_is_followed():
    assert parse("a: &x [1, 2]\nb: *x\nc: {d: *x}\n*x : e").values == {
        "a": [1, 2], "b": [1, 2], "c": {"d": [1, 2]}, "*x": "e",
    }  # fmt: skip


def test_line_breaks_of_unicode_are_text_as_in_yaml_1_2():
    front = "a: x\u2028y\nb: 'p\x85q'\n\ufeffc: \u2029\nd: \U0010f000\u2028\n"
    assert parse(front).values == {"a": "x\u2028y", "b": "p\x85q", "\ufeffc": "\u2029", "d": "\U0010f000\u2028"}


@quick
@given(st.text(st.sampled_from("ab:-#'\"[]{}&*!|>%@, \n\r\t\u2028é😀\x00\ud800"), max_size=40))
def test_no_text_makes_reading_fail(front):
    found = parse(front)
    assert isinstance(found, Properties)
    assert all("\r" not in text for _, text in found.pairs())
    for said in found.said:
        assert 0 <= said.start <= said.end <= len(front) and said.line >= 2
    assert len(found.tags) >= 0 and len(found.aliases) >= 0


@pytest.mark.parametrize(
    ("note", "block"),
    [
        (b"---\na: 1\n---\nbody", b"a: 1\n"),
        (b"---\r\na: 1\r\n--- \r\n---\r\n", b"a: 1\r\n"),
        (b"---\na: 1\n...", b"a: 1\n"),
        (b"---\n---\n", b""),
        (b"---\n---", b""),
        (b"---\na: |\n  ---\n---\n", b"a: |\n  ---\n"),
        (b"---\na: 1\n", None),
        (b"\n---\na: 1\n---\n", None),
        (b"", None),
    ],
)
def test_the_block_is_what_lies_between_the_fences(note, block):
    span = inside(note)
    assert (span and note[slice(*span)]) == block


def test_the_properties_of_a_note_are_read_whatever_its_encoding():
    for encoding, bom in (("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe"), ("utf-8", b"")):
        assert of(Text.decode(bom + "---\ntitle: 中\n---\n".encode(encoding))).title == "中"
    assert of(Text.decode(b"---\ntitle: \xff\n---\n")).title == "\ufffd"
    assert of(Text.decode(b"no block")).values == {}
