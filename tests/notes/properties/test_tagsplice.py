"""A change of tags in the front matter touches the names of those tags, and nothing else of the file."""

from dataclasses import dataclass, replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from notes_mcp.notes.properties import properties
from notes_mcp.notes.properties.propertyedit import edit_tags
from notes_mcp.notes.properties.tagsplice import TagChange
from notes_mcp.notes.text import Text


def changed(front, **change):
    """(the block after, how many tags changed)."""
    text = Text.decode(f"---\n{front}---\nbody # x\n".encode())
    edits, count = edit_tags(text, TagChange(**change))
    return text.splice(edits).decode().removeprefix("---\n").removesuffix("---\nbody # x\n"), count


@pytest.mark.parametrize(
    ("front", "after"),
    [
        ("tags:\n- old\n- old/sub   # keep me\n- other\n", "tags:\n- other/sub   # keep me\n- other\n"),
        ('tags: [old, "old/sub"]\n', 'tags: [other, "other/sub"]\n'),
        ("tags: old, other\n", "tags: other\n"),
        ("tags: other old\n", "tags: other\n"),
        ("tags: '#old,  x,other' # c\n", "tags: 'x,other' # c\n"),
        ("tag: old # c\n", "tag: other # c\n"),
        ("Tags: \"old\"\n", 'Tags: "other"\n'),
        ("tag: old\ntags: [other]\n", "tag: []\ntags: [other]\n"),
        ('tags: "\\u00e9 old"\n', 'tags: "\\u00e9 other"\n'),
        ('tags: "\\u00e9 \\x6fld/x"\n', 'tags: "\\u00e9 other/x"\n'),
        ('tags:\n- "\\u00e9"\n- "old/\\u00e9"\n', 'tags:\n- "\\u00e9"\n- "other/\\u00e9"\n'),
        ("tags: >-\n  x old\n  y\n", "tags: >-\n  x other\n  y\n"),
        ("tags: |\n  old\n  x\n", "tags: |\n  other\n  x\n"),
        ("tags:\n  - [old,  x]\n  - '#old/y/'\n", "tags:\n  - [other,  x]\n  - '#other/y/'\n"),
        ("tags:\n- !!str old # c\n- &a x\n", "tags:\n- !!str other # c\n- &a x\n"),
        ("tags: [Old, OLD/x]\n", "tags: [other, other/x]\n"),
        ("l: &a [old]\ntags: *a\n", "l: &a [old]\ntags: [other]\n"),
        ("tags: [\n  a, # one\n  # two\n  old # three\n  # four\n]\n",
         "tags: [\n  a, # one\n  # two\n  other # three\n  # four\n]\n"),
        ("tags: [\n  old, # one\n  # two\n  other, # three\n]\n", "tags: [\n  # two\n  other, # three\n]\n"),
        ("tags: [\n  other, # one\n  # two\n  old # three\n]\n", "tags: [\n  other # one\n  # two\n]\n"),
        ("tags: [ # key\n  old, # one\n  other\n]\n", "tags: [ # key\n  other\n]\n"),
        ("{tags: [old, other], x: [1]}\n", "{tags: [other], x: [1]}\n"),
    ],
)  # fmt: skip
def test_a_rename_changes_the_name_where_it_stands(front, after):
    assert changed(front, rename=(("old", "other"),))[0] == after
    assert changed(after, rename=(("old", "other"),)) == (after, 0)


@pytest.mark.parametrize("new", ["yes", "true", "null", "1e5", "0x1f"])
def test_a_new_name_that_yaml_takes_for_something_else_gets_quotes(new):
    for front in ("tags: [old, x] # c\n", "tags:\n- old # c\n- x\n", "tags: old # c\n"):
        after, _ = changed(front, rename=(("old", new),))
        assert after == front.replace("old", f'"{new}"')


def test_a_rename_that_differs_in_letter_case_alone_never_leaves_the_tag_twice():
    assert changed("tags: [Foo, foo]\n", rename=(("foo", "foo"),)) == ("tags: [foo]\n", 1)
    assert changed("tags: [Foo]\n", rename=(("foo", "foo"),)) == ("tags: [foo]\n", 1)


@dataclass(frozen=True)
class Item:
    tag: str
    quote: str
    mark: str
    above: str  # a comment line before it
    behind: str  # a comment in its line
    comma: str

    @property
    def text(self):
        return f"{self.quote}{self.mark}{self.tag}{self.quote}"


ITEMS = st.lists(
    st.tuples(
        st.sampled_from(["a", "a/b", "A/c/d", "B", "b/b", "c", "项目", "项目/a", "x-1"]),
        st.sampled_from(["", "'", '"']),
        st.booleans(),
        st.sampled_from(["", "", "  # a, above\n"]),
        st.sampled_from(["", "", "   # a, [x"]),
        st.sampled_from([", ", ",", ",   "]),
    ).map(lambda of: Item(of[0], of[1], "#" if of[1] and of[2] else "", *of[3:])),
    min_size=1,
    max_size=6,
    unique_by=lambda item: item.tag.casefold(),
)


def separated(items):
    """Items as they stand in one line; one that is None goes with its comma, or the one before it."""
    last = max((at for at, (_, now) in enumerate(items) if now), default=-1)
    pieces = [now.text + (was.comma if at < last else "") for at, (was, now) in enumerate(items) if now]
    return "".join(pieces)


def lines(items, trailing):
    """Items as they stand one a line between brackets."""
    last = max((at for at, (_, now) in enumerate(items) if now), default=-1)
    return "".join(
        was.above + (f"  {now.text}{',' if at < last or trailing else ''}{was.behind}\n" if now else "")
        for at, (was, now) in enumerate(items)
    )


def written(style, items):
    """The entry with these `(item, the same after the change or None)`."""
    left = any(now for _, now in items)
    if style == "block":
        body = "".join(was.above + (f"  -  {now.text}{was.behind}\n" if now else "") for was, now in items)
        return f"tags:{'' if left else ' []'} # key\n{body}"
    if style == "flow":
        return f"tags: [{separated(items)}] # key\n"
    if style == "text":
        return f"tag: '{separated(items)}' # key\n" if left else "tag: [] # key\n"
    return f"tags: [ # key\n{lines(items, style == 'trailing')}]\n"


@settings(max_examples=200, deadline=None)
@given(
    ITEMS,
    st.sampled_from(["block", "flow", "text", "lines", "trailing"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([("a", None), ("b", None), ("a", "b"), ("a", "c/项"), ("A/b", "x-1"), ("项目", "A"), ("b", "B")]),
)
@example([Item("a", "", "", "", "", ", ")], "lines", "\n", ("a", None))
def test_no_byte_but_the_names_of_those_tags_and_the_lines_of_removed_ones_changes(items, style, newline, change):
    old, new = change
    if style == "text":
        items = [replace(item, quote="", mark="") for item in items]

    def name(tag):
        below = tag.casefold() == old.casefold() or tag.casefold().startswith(old.casefold() + "/")
        if new is None:
            return None if tag.casefold() == old.casefold() else tag
        return new + tag[len(old) :] if below else tag

    there = {item.tag.casefold() for item in items if name(item.tag) == item.tag}
    pairs, count = [], 0
    for item in items:
        now = name(item.tag)
        count += now != item.tag
        gone = now is None or (now != item.tag and now.casefold() in there)
        there |= {now.casefold()} if now else set()
        pairs.append((item, None if gone else replace(item, tag=now)))
    around = "aliases: [a, b] # a\n", "z: |\n  a\n"
    before, expected = (
        written(style, shown).join(around).replace("\n", newline) for shown in ([(i, i) for i in items], pairs)
    )
    data = f"---{newline}{before}---{newline}#\n".encode()
    text = Text.decode(data)
    asked = TagChange(remove=(old,)) if new is None else TagChange(rename=((old, new),))
    edits, changes = edit_tags(text, asked)
    after = text.splice(edits)
    assert after.decode() == f"---{newline}{expected}---{newline}#\n"
    assert changes == count
    assert list(properties.of(Text.decode(after)).tags) == [now.tag for _, now in pairs if now]
