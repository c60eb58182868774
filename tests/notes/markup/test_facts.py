import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.notes.markup.facts import bare_facts, extract
from notes_mcp.notes.records import LinkFact

NOTE = """\
---
title: The Title
aliases: [Other, 別名]
tags: [work, '#home/a']
rating: 1.10
---
# First

text #Work #new [[n#h|a]] and [use][r]

## Second

%% # hidden #no [[no]] %%

[r]: a%20b.md
[unused]: c.md
"""


def test_all_that_the_index_keeps_is_read_from_a_note():
    facts = extract("Folder/name.md", NOTE.encode())
    assert facts.title == "The Title"
    assert facts.aliases == ("Other", "別名")
    assert facts.tags == ("work", "home/a", "new")
    assert facts.headings == ("First", "Second")
    assert facts.links == (
        LinkFact("wiki", "n", "h", "a", 9),
        LinkFact("reference", "a b.md", "", "use", 9),
        LinkFact("reference", "c.md", "", "unused", 16),
    )
    assert ("rating", "1.10") in facts.properties
    assert facts.body == NOTE[NOTE.index("# First") :]
    assert facts.valid_text


@pytest.mark.parametrize(
    ("path", "text", "title"),
    [
        ("a/My Note.md", "", "My Note"),
        ("a/My Note.md", "## two\n\n# *One*\n\n# other\n", "One"),
        ("a/My Note.md", "#\n\n# One\n", "One"),
        ("a/My Note.md", "```\n# code\n```\n", "My Note"),
        ("a/My Note.md", "---\ntitle: Told\n---\n# One\n", "Told"),
        ("a/My Note.md", "---\ntitle: ''\n---\n# One\n", "One"),
        ("a/My Note.md", "---\ntitle: [\n---\n# One\n", "One"),
        ("MCP学习笔记.md", "text\n", "MCP学习笔记"),
        ("v1.2 plan.MARKDOWN", "text\n", "v1.2 plan"),
        ("x.txt", "# not a heading\n", "x"),
        ("x.org", "#+TITLE: Garden\n* One\n", "Garden"),
        ("x.org", "* TODO One :tag:\n", "One"),
        ("x.rst", "=====\nTitle\n=====\n\nSub\n---\n", "Title"),
        ("x.rst", "text only\n", "x"),
    ],
)
def test_the_title_is_the_property_the_first_heading_or_the_name(path, text, title):
    assert extract(path, text.encode()).title == title


def test_other_kinds_of_note_have_headings_by_their_own_rule_and_neither_links_nor_tags():
    org = extract("x.org", b"* One\ntext #tag [[link]]\n#+begin_src sh\n* no\n#+end_src\n** DONE Two  :a:b:\n**no\n")
    assert (org.headings, org.links, org.tags) == (("One", "Two"), (), ())
    rst = extract("x.rst", "Över\n====\n\n日本語\n======\n\nno\n--\n\na\nb\n===\n\n| x\n----\n".encode())
    assert rst.headings == ("Över", "日本語", "| x")
    text = extract("x.txt", b"# no #tag [[link]]\n---\n")
    assert (text.headings, text.links, text.tags, text.body) == ((), (), (), "# no #tag [[link]]\n---\n")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_does_not_hide_the_front_matter(encoding):
    facts = extract("n.md", NOTE.encode(encoding))
    assert facts == extract("n.md", NOTE.encode())


def test_hazard_074_bytes_that_are_not_text_are_told_and_the_rest_is_read():
    facts = extract("n.md", "---\ntitle: caf\u00e9\n---\n# H\n\n[[n]] #t na\u00efve\n".encode("latin-1"))
    assert not facts.valid_text
    assert (facts.headings, facts.tags, [link.target for link in facts.links]) == (("H",), ("t",), ["n"])
    assert facts.body.endswith("na\ufffdve\n")
    assert not extract("n.md", codecs.BOM_UTF16_LE + b"a").valid_text


def test_hazard_083_front_matter_that_does_not_parse_leaves_the_rest_readable():
    facts = extract("n.md", b"---\na: [\n\tb: 'c\n---\n# H\n\n#t [[n]]\n")
    assert (facts.title, facts.tags, facts.properties) == ("H", ("t",), ())
    assert [link.target for link in facts.links] == ["n"]


def test_a_note_that_is_not_read_has_its_name_as_title():
    facts = bare_facts("a/b.c.md")
    assert (facts.title, facts.body, facts.links) == ("b.c", "", ())


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["n.md", "n.txt", "n.org", "n.rst"]), st.one_of(st.binary(max_size=80), st.text().map(str.encode))
)
def test_any_bytes_have_facts(path, data):
    facts = extract(path, data)
    assert facts.title
    assert len({tag.casefold() for tag in facts.tags}) == len(facts.tags)
