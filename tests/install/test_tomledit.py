"""TOML configs changed by spans: each form an entry may have, and any layout at all."""

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.install import tomledit
from notes_mcp.install.editing import TOML, put, take, undone
from notes_mcp.install.tomlscan import Header, Pair, scan
from notes_mcp.install.unfit import Unfit

ENTRY = {"command": "c", "args": ["f"]}
BLOCK = '[s.n]\ncommand = "c"\nargs = ["f"]\n'

PLACES = [
    # before, after: where a new entry goes
    ("", BLOCK),
    ("\n", "\n\n" + BLOCK),
    ("a = 1\n", "a = 1\n\n" + BLOCK),
    ("a = 1", "a = 1\n\n" + BLOCK.removesuffix("\n")),
    ("a = 1\n\n\n", "a = 1\n\n\n\n" + BLOCK),
    ("# only\n", "# only\n\n" + BLOCK),
    ("a = 1\r\n", ("a = 1\n\n" + BLOCK).replace("\n", "\r\n")),
    ('[s.o]\ncommand = "x"\n', '[s.o]\ncommand = "x"\n\n' + BLOCK),
    ('[s]\n\n[s.o]\n[t]\ns.n.x = "no"\n', '[s]\n\n[s.o]\n[t]\ns.n.x = "no"\n\n' + BLOCK),
    ('s.o.command = "x"\n', 's.o.command = "x"\n\n' + BLOCK),
]


@pytest.mark.parametrize(("before", "after"), PLACES)
def test_a_new_entry_is_a_table_at_the_end_and_goes_without_a_trace(before, after):
    assert put(TOML, before, "s", "n", ENTRY) == after
    assert take(TOML, after, "s", "n") == before


UPDATES = [
    ("[s.n]\ncommand = 'c'\nargs = [ \"f\" ]\n", "[s.n]\ncommand = 'c'\nargs = [ \"f\" ]\n"),
    ("[t]\n[s.n]\n[u]\n", '[t]\n[s.n]\ncommand = "c"\nargs = ["f"]\n[u]\n'),
    (
        '[s.n]\ncommand = "old" # mine\nargs = [\n  "old", # ]\n]\nenabled = false\n',
        '[s.n]\ncommand = "c" # mine\nargs = ["f"]\nenabled = false\n',
    ),
    ('[s.n]\nargs = ["f"]\n[t]\n', '[s.n]\nargs = ["f"]\ncommand = "c"\n[t]\n'),
    ('[s.n]\n  cwd = "/" # here', '[s.n]\n  cwd = "/" # here\n  command = "c"\n  args = ["f"]'),
    ("  [s.n]\n[t]\n", '  [s.n]\n  command = "c"\n  args = ["f"]\n[t]\n'),
    ('[s.n]\r\ncommand = "c"\r\n', '[s.n]\r\ncommand = "c"\r\nargs = ["f"]\r\n'),
    ('["s".\'n\']\n"command" = """\nold\n"""\n', '["s".\'n\']\n"command" = "c"\nargs = ["f"]\n'),
    ('[s]\nn = {command = "old", env = {A = "}"}}\n', '[s]\nn = {command = "c", env = {A = "}"}, args = ["f"]}\n'),
    ('s = { n = { args = ["x"] }, o = {} }\n', 's = { n = { args = ["f"], command = "c" }, o = {} }\n'),
    ('s.n.command = "old"\ns.o.command = "x"\n', 's.n.command = "c"\ns.n.args = ["f"]\ns.o.command = "x"\n'),
    ('[s]\nn.command = "c"\nn.args=[]\n', '[s]\nn.command = "c"\nn.args=["f"]\n'),
    ('[s.n.env]\nA = "1"\n[s.n]\ncommand = "x"\n', '[s.n.env]\nA = "1"\n[s.n]\ncommand = "c"\nargs = ["f"]\n'),
    (
        '[[a]]\ncommand = "x"\n[s.n]\ncommand = "y"\nargs = ["f"]\n',
        '[[a]]\ncommand = "x"\n[s.n]\ncommand = "c"\nargs = ["f"]\n',
    ),
]


@pytest.mark.parametrize(("before", "after"), UPDATES)
def test_an_entry_is_brought_up_to_date_in_the_form_it_has(before, after):
    updated = put(TOML, before, "s", "n", ENTRY)
    assert updated == after
    assert put(TOML, updated, "s", "n", ENTRY) == updated


GOING = [
    # before, after: what goes with an entry
    ('a = 1\n\ns.n.command = "c"\nb = 2\n', "a = 1\n\nb = 2\n"),
    ('a = 1\n\n[s.n]\ncommand = "c"\n[t]', "a = 1\n[t]"),
    ('a = 1\n\n[s.n]\ncommand = "c"\n\n[s.n.env]\nA = 1\n\n[t]\n', "a = 1\n\n[t]\n"),
    ('[s.n]\ncommand = "c" # mine\n\n# about t\n[t]\n', "\n# about t\n[t]\n"),
    ('# about it\n[s.n]\n# inside\ncommand = "c"\n', "# about it\n"),
    ('[s]\nn = {command = "c"} # mine\no = {}\n', "[s]\no = {}\n"),
    ('s.n.command = "c"\ns.o.command = "x"\ns.n.args = []\n', 's.o.command = "x"\n'),
    ('[s.n]\ncommand = "c"\n[s.o]\n[s.n.env]\nA = 1\n[t]\n', "[s.o]\n[t]\n"),
    ("[s.n]", ""),
    ("a = 1\r\n\r\n[s.n]\r\n", "a = 1\r\n"),
    ("[s.n]\nargs = [\n  1, # ]\n]\nb = '''\n[t]\n'''\n[u]\n", "[u]\n"),
]


@pytest.mark.parametrize(("before", "after"), GOING)
def test_an_entry_goes_with_its_tables_and_the_comments_in_them(before, after):
    assert take(TOML, before, "s", "n") == after


@pytest.mark.parametrize(
    "text",
    [
        "s = {}\n",
        "s = { o = {} }\n",
        "s = 1\n",
        "[[s]]\n",
        "s.n = 1\n",
        "[s]\nn = {}\n",
        "[s.n.env]\nA = 1\n",
        "[s.n.command]\npath = 1\n",
    ],
)
def test_what_is_written_in_another_form_is_left_alone(text):
    with pytest.raises(Unfit, match=r"no table|cannot be changed|not changed here"):
        put(TOML, text, "s", "n", ENTRY)


def test_an_entry_on_a_line_with_others_is_not_taken():
    with pytest.raises(Unfit, match="longer line") as caught:
        take(TOML, "a = 1\ns = { n = {}, o = {} }\n", "s", "n")
    assert (caught.value.line, caught.value.column) == (2, 7)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a = \n", 1, 5),
        ("a = 1\nb = [1,\n", 3, 1),
        ("a = 1\na = 2\n", 2, 6),
        ("[t]\n[t]\n", 2, 3),
        ("\ufeffa = 1\n", 1, 1),
        ('a = "\n"\n', 1, 6),
    ],
)
def test_what_is_broken_is_told_with_its_place(text, line, column):
    with pytest.raises(Unfit) as caught:
        tomledit.read(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert "line" not in caught.value.reason


def test_what_is_nested_without_end_is_told():
    with pytest.raises(Unfit):
        tomledit.read("a = " + "[" * 100_000)


@pytest.mark.parametrize("text", ["\x7f", 'C:\\Users\\李 "x"', "a\tb\nc", "\u2028", "'''", "𝄞"])
def test_any_text_is_written_so_that_it_reads_the_same(text):
    assert tomllib.loads(put(TOML, "", "s", "n", {"command": text, "args": [text]}))["s"]["n"]["args"] == [text]


def test_the_scan_finds_every_pair_with_its_whole_path():
    text = 'a.b = 1 # x\n[t."u v"]\nc = {d = [{e = 1}], "f" = {g = 2}}\n[[w]]\nh = """a"""" # y\n'
    found = [(part.path, isinstance(part, Header)) for part in scan(text)]
    assert found == [
        (("a", "b"), False),
        (("t", "u v"), True),
        (("t", "u v", "c"), False),
        (("t", "u v", "c", "d"), False),
        (("t", "u v", "c", "f"), False),
        (("t", "u v", "c", "f", "g"), False),
        (("w",), True),
        (("w", "h"), False),
    ]
    values = [text[part.value : part.value_end] for part in scan(text) if isinstance(part, Pair)]
    assert values == ["1", '{d = [{e = 1}], "f" = {g = 2}}', "[{e = 1}]", "{g = 2}", "2", '"""a""""']


VALUES = st.sampled_from(
    [
        "1",
        "nan",
        "1979-05-27T07:32:00Z",
        '"a # [b] \\" ="',
        "'c:\\d'",
        '"""\n[s.n]\n\\""" """',
        "'''\n# x\n'''''",
        "[1, 2]",
        '[\n  "]", # ]\n  [1],\n]',
        "{x = 1, y = { z = '}' }}",
        "{}",
    ]
)
NAMES = st.sampled_from(["a", "b-c", '"q u"', "'l'", '"中文"', "s", "n"])
LINES = st.one_of(
    st.sampled_from(["", "  ", "# comment [s.n]", "\t# 中文"]),
    st.builds(
        "{}{}{}{}{}".format,
        st.sampled_from(["", "  "]),
        st.lists(NAMES, min_size=1, max_size=2).map(".".join),
        st.sampled_from(["=", " = "]),
        VALUES,
        st.sampled_from(["", " ", " # x"]),
    ),
    st.lists(NAMES, min_size=1, max_size=3).map(lambda names: f"[{'.'.join(names)}]"),
    NAMES.map(lambda name: f"[[{name}]]"),
)


def usable(text):
    """Whether it is TOML without our entry, and `s` takes tables."""
    try:
        put(TOML, text, "s", "n", ENTRY)
    except Unfit:
        return False
    return "n" not in tomllib.loads(text).get("s", {})


@settings(max_examples=100, deadline=None)
@given(st.lists(LINES, max_size=8), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_in_any_layout_an_entry_comes_and_goes_and_the_rest_stays(lines, eol, ended):
    kept = []
    for line in lines:
        if usable("\n".join([*kept, line])):
            kept.append(line)
    text = "\n".join(kept).replace("\n", eol) + (eol if ended else "")
    after = put(TOML, text, "s", "n", ENTRY)
    assert tomllib.loads(after)["s"]["n"] == ENTRY
    assert take(TOML, after, "s", "n") == text
    assert undone(TOML, after, text, "s", "n")
    assert put(TOML, after, "s", "n", ENTRY) == after
    updated = put(TOML, after, "s", "n", {"args": ["other"]})
    assert updated == after.replace('args = ["f"]', 'args = ["other"]')
