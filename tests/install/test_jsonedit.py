"""JSON configs changed by spans: each layout, what goes with an entry, and any layout at all."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.install import jsonedit
from notes_mcp.install.editing import JSON, put, take, undone
from notes_mcp.install.unfit import Unfit

ENTRY = {"command": "c", "args": ["f"]}
FLAT = '"n": {"command": "c", "args": ["f"]}'


def broken(indent, unit="  ", end="\n"):
    inner = json.dumps({"n": ENTRY}, indent=unit)[2:-2].removeprefix(unit).replace("\n" + unit, end + indent)
    return inner


PLACES = [
    # before, after: where a new entry goes
    ("", '{\n  "s": {\n    ' + broken("    ") + "\n  }\n}\n"),
    ("\n\n", '{\n  "s": {\n    ' + broken("    ") + "\n  }\n}\n"),
    ("// mine", '// mine\n{\n  "s": {\n    ' + broken("    ") + "\n  }\n}\n"),
    ("// mine\n", '// mine\n{\n  "s": {\n    ' + broken("    ") + "\n  }\n}\n"),
    ("{\n\n}", '{\n  "s": {\n    ' + broken("    ") + "\n  }\n\n}"),
    ('{\n"a": 1\n}', '{\n"a": 1,\n"s": {\n  ' + broken("  ") + "\n}\n}"),
    ("{}", '{\n  "s": {\n    ' + broken("    ") + "\n  }\n}"),
    ("{ }\n", '{\n  "s": {\n    ' + broken("    ") + "\n  }\n}\n"),
    ("{\n}\n", '{\n  "s": {\n    ' + broken("    ") + "\n  }\n}\n"),
    ("{\n  // none\n}", '{\n  // none\n  "s": {\n    ' + broken("    ") + "\n  }\n}"),
    ("{ /* none */ }", '{ /* none */\n  "s": {\n    ' + broken("    ") + "\n  }\n}"),
    ('{"s": {}}', '{"s": {' + FLAT + "}}"),
    ('{"s":{"a":{}}}', '{"s":{"a":{},"n":{"command":"c","args":["f"]}}}'),
    ('{"s": {"a": 1,}, }', '{"s": {"a": 1, ' + FLAT + ",}, }"),
    ('{"a": 1}', '{"a": 1, "s": {' + FLAT + "}}"),
    ('{\n    "a": 1\n}', '{\n    "a": 1,\n    "s": {\n        ' + broken("        ", "    ") + "\n    }\n}"),
    ('{\n\t"a": 1,\n}', '{\n\t"a": 1,\n\t"s": {\n\t\t' + broken("\t\t", "\t") + "\n\t},\n}"),
    ('{\n  "a": 1 // one\n}', '{\n  "a": 1, // one\n  "s": {\n    ' + broken("    ") + "\n  }\n}"),
    ('{\n  "a": 1, // one\n}', '{\n  "a": 1, // one\n  "s": {\n    ' + broken("    ") + "\n  },\n}"),
    ('{\n  "a": 1 /* one */ // 1\n}', '{\n  "a": 1, /* one */ // 1\n  "s": {\n    ' + broken("    ") + "\n  }\n}"),
    ('{\n  "a": 1\n  // "b": 2\n}', '{\n  "a": 1,\n  "s": {\n    ' + broken("    ") + '\n  }\n  // "b": 2\n}'),
    ('{\n  "a": 1 }', '{\n  "a": 1,\n  "s": {\n    ' + broken("    ") + "\n  } }"),
    ('{\n  "s": { "a": 1 }\n}', '{\n  "s": { "a": 1, ' + FLAT + " }\n}"),
    ('{\r\n  "s": {}\r\n}', '{\r\n  "s": {\r\n    ' + broken("    ", end="\r\n") + "\r\n  }\r\n}"),
    ('{\n  "s":\n  {\n    "a": 1\n  }\n}', '{\n  "s":\n  {\n    "a": 1,\n    ' + broken("    ") + "\n  }\n}"),
]


@pytest.mark.parametrize(("before", "after"), PLACES)
def test_a_new_entry_goes_where_the_file_s_own_hand_would_put_it(before, after):
    assert put(JSON, before, "s", "n", ENTRY) == after


GOING = [
    # before, after: what goes with an entry
    ('{"s": {\n  "n": {}, }}', '{"s": {}}'),
    ('{"s": {\n  /* x */\n  "n": {} }}', '{"s": {\n  /* x */\n }}'),
    ('{"s": {"n": {}}}', '{"s": {}}'),
    ('{"s": { "n": {}, }}', '{"s": {}}'),
    ('{"s": {"n": {}, "a": 1}}', '{"s": {"a": 1}}'),
    ('{"s": {"a": 1, "n": {}}}', '{"s": {"a": 1}}'),
    ('{"s": {"a": 1, "n": {}, }}', '{"s": {"a": 1, }}'),
    ('{"s": {"a": 1, "n": {}, "b": 2}}', '{"s": {"a": 1, "b": 2}}'),
    ('{"s": {\n  "a": 1,\n  "n": {}\n}}', '{"s": {\n  "a": 1\n}}'),
    ('{"s": {\n  "a": 1,\n  "n": {},\n}}', '{"s": {\n  "a": 1,\n}}'),
    ('{"s": {\n  "n": {\n  }, // mine\n  "b": 2\n}}', '{"s": {\n  "b": 2\n}}'),
    ('{"s": {\n  "a": 1, // one\n  "n": {} // mine\n  // more\n}}', '{"s": {\n  "a": 1 // one\n  // more\n}}'),
    ('{"s": {\n  // about it\n  "n": {}\n}}', '{"s": {\n  // about it\n}}'),
    ('{"s": {\n  "a": 1 // one\n  , "n": {}\n}}', '{"s": {\n  "a": 1 // one\n  \n}}'),
    ('{"s": {\n  "n": {}\n  , "b": 2\n}}', '{"s": {\n  "b": 2\n}}'),
    ('{"s": {\r\n  "n": {},\r\n  "b": 2\r\n}}', '{"s": {\r\n  "b": 2\r\n}}'),
    ('{"s": {\n  "a": 1,\n  "n": {} }}', '{"s": {\n  "a": 1 }}'),
    ('{"s": {\n  "a": 1,\r\n  "n": {} }}', '{"s": {\n  "a": 1 }}'),
    ('{"s": {\n  "a": 1, // one\n  "n": {} }}', '{"s": {\n  "a": 1 // one\n }}'),
]


@pytest.mark.parametrize(("before", "after"), GOING)
def test_an_entry_goes_with_its_lines_its_comma_and_the_comment_behind_it(before, after):
    assert take(JSON, before, "s", "n") == after


@pytest.mark.parametrize(
    ("text", "reason", "line", "column"),
    [
        ("[]", "no object", 1, 1),
        ('\n "text"', "no object", 2, 2),
        ('{"s": []}', '"s" is no object', 1, 7),
        ('{"s": null}', '"s" is no object', 1, 7),
        ('{"s": {"n": "x"}}', '"n" is no object', 1, 13),
        ('{"s": {},\n "s": {}}', '"s" is there twice', 2, 2),
        ('{"s": {"n": {},\n "n": {}}}', '"n" is there twice', 2, 2),
        ('{"s": {"n": {"args": [],\n "args": []}}}', '"args" is there twice', 2, 2),
    ],
)
def test_what_cannot_be_changed_safely_is_told_with_its_place(text, reason, line, column):
    with pytest.raises(Unfit) as caught:
        put(JSON, text, "s", "n", ENTRY)
    assert reason in caught.value.reason
    assert (caught.value.line, caught.value.column) == (line, column)


def test_of_an_entry_that_is_there_twice_none_is_taken():
    with pytest.raises(Unfit, match="twice"):
        take(JSON, '{"s": {"n": {}, "n": {}}}', "s", "n")


def test_twice_elsewhere_is_nobody_s_business():
    assert put(JSON, '{"a": 1, "a": 2, "s": {}}', "s", "n", ENTRY).startswith('{"a": 1, "a": 2, ')


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('{"command": "c"}', '{"command": "c", "args": ["f"]}'),
        ('{"args": [ "f" ], "command":  "c"}', '{"args": [ "f" ], "command":  "c"}'),
        ("{}", '{"command": "c", "args": ["f"]}'),
        ('{"command": 1, "args": {}, "env": {"A": "b"}}', '{"command": "c", "args": ["f"], "env": {"A": "b"}}'),
    ],
)
def test_only_keys_that_differ_are_written(old, new):
    assert put(JSON, f'{{"s": {{"n": {old}}}}}', "s", "n", ENTRY) == f'{{"s": {{"n": {new}}}}}'


def test_a_list_keeps_to_its_lines():
    text = '{\n  "s": {\n    "n": {\n      "command": "c",\n      "args": [\n        "old"\n      ]\n    }\n  }\n}'
    assert put(JSON, text, "s", "n", ENTRY) == text.replace("old", "f")


BLANKS = st.lists(
    st.sampled_from([" ", "  ", "\t", "\n", "\n    ", "/* , } */", '// { " ]\n', "/* two\nlines */"]), max_size=3
).map("".join)
KEYS = st.sampled_from(["a", "s", "n", "中文", 'q"uote', "mcpServers", ""])
LEAVES = st.sampled_from(["1", "-2.5e3", "true", "null", '"x"', '"// \\" } ,"', '"中\\n"', "[]", "{}"])


@st.composite
def objects(draw, inner, keys=KEYS):
    """The text of an object in any layout: blanks and comments anywhere, perhaps a comma behind the last member."""
    names = draw(st.lists(keys, unique=True, max_size=4))
    members = [
        f"{draw(BLANKS)}{json.dumps(name, ensure_ascii=False)}{draw(BLANKS)}:{draw(BLANKS)}{draw(inner)}{draw(BLANKS)}"
        for name in names
    ]
    last = "," + draw(BLANKS) if members and draw(st.booleans()) else ""
    return "{" + ",".join(members) + last + ("" if members else draw(BLANKS)) + "}"


VALUES = st.recursive(LEAVES, lambda inner: objects(inner), max_leaves=6)
SERVERS = objects(VALUES, KEYS.filter(lambda name: name != "n"))


@st.composite
def configs(draw):
    """A config that has no entry "n" below "s", or no "s", or nothing."""
    inside = draw(objects(VALUES, KEYS.filter(lambda name: name != "s")))
    if draw(st.booleans()):
        member = f'{draw(BLANKS)}"s":{draw(BLANKS)}{draw(SERVERS)}'
        inside = "{" + member + (draw(BLANKS) if inside.strip("{}\n \t") == "" else "," + inside[1:-1]) + "}"
    text = draw(BLANKS) + (inside if draw(st.integers(0, 9)) else "") + draw(BLANKS)
    return draw(st.sampled_from([text, text.replace("\n", "\r\n")]))


def parses(text):
    try:
        jsonedit.read(text)
    except Unfit:
        return False
    return True


@settings(max_examples=100, deadline=None)
@given(configs().filter(parses))
def test_in_any_layout_an_entry_comes_and_goes_and_the_rest_stays(text):
    after = put(JSON, text, "s", "n", ENTRY)
    assert jsonedit.read(after)["s"]["n"] == ENTRY
    assert put(JSON, after, "s", "n", ENTRY) == after
    assert undone(JSON, after, text, "s", "n")
    updated = put(JSON, after, "s", "n", {"args": ["other"]})
    assert jsonedit.read(updated)["s"]["n"] == {"command": "c", "args": ["other"]}
    gone = take(JSON, after, "s", "n")
    if jsonedit.read(text).get("s"):
        assert gone == text
