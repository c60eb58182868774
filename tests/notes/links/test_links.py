"""Links in a text: every form, what it points to, and where exactly its target is written."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.notes.markup.markdown import Link, scan


def links(text: str) -> list[Link]:
    found = scan(text.encode()).links
    return list(found)


def written(text: str, link: Link) -> str:
    return text.encode()[link.target_start : link.target_end].decode()


def facts(text: str) -> list[tuple[str, str, str, str]]:
    return [(link.kind, link.target, link.anchor, link.text) for link in links(text)]


FORMS = [
    ("[[n]]", "wiki", "n", "", "n", "n", "wiki"),
    ("[[n|alias]]", "wiki", "n", "", "alias", "n", "wiki"),
    ("[[n#h]]", "wiki", "n", "h", "n#h", "n", "wiki"),
    ("[[n#h|a|b]]", "wiki", "n", "h", "a|b", "n", "wiki"),
    ("[[n#^b]]", "wiki", "n", "^b", "n#^b", "n", "wiki"),
    ("[[n#a#b]]", "wiki", "n", "a#b", "n#a#b", "n", "wiki"),
    ("[[#h]]", "wiki", "", "h", "#h", "", "wiki"),
    ("[[folder/n.md]]", "wiki", "folder/n.md", "", "folder/n.md", "folder/n.md", "wiki"),
    ("[[ my note |x]]", "wiki", "my note", "", "x", "my note", "wiki"),
    ("[[笔记#标题|别名]]", "wiki", "笔记", "标题", "别名", "笔记", "wiki"),
    ("[[a%20b & c]]", "wiki", "a%20b & c", "", "a%20b & c", "a%20b & c", "wiki"),
    ("[[Re: it]]", "wiki", "Re: it", "", "Re: it", "Re: it", "wiki"),
    ("[[n\\|x]]", "wiki", "n", "", "x", "n", "wiki"),
    ("![[img.png|200]]", "embed", "img.png", "", "200", "img.png", "wiki"),
    ("![[n#^b]]", "embed", "n", "^b", "n#^b", "n", "wiki"),
    ("[t](n.md)", "markdown", "n.md", "", "t", "n.md", "bare"),
    ("[t](a%20b.md)", "markdown", "a b.md", "", "t", "a%20b.md", "bare"),
    ("[t](%E7%AC%94%E8%AE%B0.md)", "markdown", "笔记.md", "", "t", "%E7%AC%94%E8%AE%B0.md", "bare"),
    ("[t](笔记.md)", "markdown", "笔记.md", "", "t", "笔记.md", "bare"),
    ("[t](<a b.md>)", "markdown", "a b.md", "", "t", "a b.md", "angle"),
    ("[t](<a b.md#c d> 'x')", "markdown", "a b.md", "c d", "t", "a b.md", "angle"),
    ('[t](n.md#h "title")', "markdown", "n.md", "h", "t", "n.md", "bare"),
    ("[t](n.md#a%20b)", "markdown", "n.md", "a b", "t", "n.md", "bare"),
    ("[t](n.md#^b)", "markdown", "n.md", "^b", "t", "n.md", "bare"),
    ("[t](#h)", "markdown", "", "h", "t", "", "bare"),
    ("[t](a(b).md)", "markdown", "a(b).md", "", "t", "a(b).md", "bare"),
    ("[t](a\\)b.md)", "markdown", "a)b.md", "", "t", "a\\)b.md", "bare"),
    ("[t](a&amp;b.md#c)", "markdown", "a&b.md", "c", "t", "a&amp;b.md", "bare"),
    ("[t](a%23b.md#c)", "markdown", "a#b.md", "c", "t", "a%23b.md", "bare"),
    ("[t](100%.md)", "markdown", "100%.md", "", "t", "100%.md", "bare"),
    ("[t]( n.md )", "markdown", "n.md", "", "t", "n.md", "bare"),
    ("[t](\n  n.md\n  'x')", "markdown", "n.md", "", "t", "n.md", "bare"),
    ("[a *b* `](c)`](n.md)", "markdown", "n.md", "", "a *b* `](c)`", "n.md", "bare"),
    ("[a\\](b](n.md)", "markdown", "n.md", "", "a\\](b", "n.md", "bare"),
    ("[](n.md)", "markdown", "n.md", "", "", "n.md", "bare"),
    ("[t](C:/n.md)", "markdown", "C:/n.md", "", "t", "C:/n.md", "bare"),
    ("[t](<Re: it.md>)", "markdown", "Re: it.md", "", "t", "Re: it.md", "angle"),
    ("![alt](i.png)", "image", "i.png", "", "alt", "i.png", "bare"),
    ("![](<i j.png>)", "image", "i j.png", "", "", "i j.png", "angle"),
]


@pytest.mark.parametrize(("source", "kind", "target", "anchor", "text", "source_target", "form"), FORMS)
@pytest.mark.parametrize(
    "around",
    ["{}", "é {} 中", "- {}\n", "> {}\n", "| a | b |\n|---|---|\n| {} | x |\n", "# {}\n", "**{}**", "\\[[x]] {}"],
)
def test_hazard_107_every_form_of_link_is_found_with_its_target(
    source, kind, target, anchor, text, source_target, form, around
):
    in_table = around.startswith("|")
    if "\n" in source and around not in ("{}", "é {} 中", "**{}**", "\\[[x]] {}"):
        source = source.replace("\n  ", " ")
    if in_table and "|" in source.replace("\\|", ""):
        source = source.replace("|", "\\|")
        text = text.replace("|", "\\|")
    whole = around.format(source)
    (link,) = links(whole)
    assert (link.kind, link.target, link.anchor, link.text, link.form) == (kind, target, anchor, text, form)
    assert whole.encode()[link.start : link.end].decode() == source
    assert written(whole, link) == source_target


@pytest.mark.parametrize(
    "text",
    [
        "[t](http://x.y/n.md) ![i](https://x/i.png) [m](mailto:a@b.c) [o](obsidian://open) [p](//x.y/z)",
        "<http://x.y> <a@b.c> http://x.y/n.md www.x.y",
        "[[http://x.y/z]] [r] [s]\n\n[r]: https://x.y\n[s]: <ftp://x.y/a b>\n",
        "`[[n]]` ``[t](n.md)`` $[[n]]$\n\n```\n[[n]]\n```\n\n    [t](n.md)\n",
        "%%[[n]]%% <!-- [[n]] --> <a href='n.md'>x</a>\n\n<div>\n[[n]]\n</div>\n",
        "\\[[n]] [[]] [[|x]] [[ ]] [[n] ] [t] (n.md) [t]() [t](<>) [t][u] [[a\nb]]",
        "[^1] [x]\n\n[^1]: note\n",
        "---\nx: 1\n# [[n]]\ny: z # [[n]]\n---\n",
    ],
)
def test_web_addresses_and_what_only_looks_like_a_link_are_none(text):
    assert links(text) == []


def test_the_use_of_a_reference_has_the_target_of_its_definition():
    text = "[one][Ref] [ref][] ![REF] [web]\n\n> [ref]: <a b.md#h> 'title'\n\n[web]: http://x\n[unused]:\n  c%20d.md\n"
    found = links(text)
    assert [(link.kind, link.target, link.anchor, link.text, link.line) for link in found] == [
        ("reference", "a b.md", "h", "one", 1),
        ("reference", "a b.md", "h", "ref", 1),
        ("reference", "a b.md", "h", "REF", 1),
        ("definition", "a b.md", "h", "ref", 3),
        ("definition", "c d.md", "", "unused", 6),
    ]
    assert [written(text, link) for link in found] == ["a b.md"] * 4 + ["c%20d.md"]
    assert [text[link.start : link.end] for link in found[:3]] == ["[one][Ref]", "[ref][]", "![REF]"]


def test_an_image_in_a_link_gives_both():
    assert facts("[![i](i.png)](n.md)") == [("markdown", "n.md", "", "![i](i.png)"), ("image", "i.png", "", "i")]


def test_links_in_footnotes_and_task_items_are_found():
    assert [link.target for link in links("- [ ] [[a]] x[^1]\n\n[^1]: see [b](b.md)\n")] == ["a", "b.md"]


def test_links_in_front_matter_values_are_found_as_property_links():
    text = '---\nup: "[[A#h|b]]"\nalso:\n'
    text += "  - '[[笔记]]' # [[no]]\n  - see [[C]] and ![[d.png]]\nq: '#x [[E]]'\n---\n[[F]]\n"
    assert [(link.kind, link.target, link.anchor, link.text, link.line) for link in links(text)] == [
        ("property", "A", "h", "b", 2),
        ("property", "笔记", "", "笔记", 4),
        ("property", "C", "", "C", 5),
        ("property", "d.png", "", "d.png", 5),
        ("property", "E", "", "E", 6),
        ("wiki", "F", "", "F", 8),
    ]
    assert [written(text, link) for link in links(text)] == ["A", "笔记", "C", "d.png", "E", "F"]


def test_hazard_113_encoded_anchored_image_and_unicode_links_are_decoded():
    text = "[x](My%20Note.md) [[n#s]] ![](i.png) [[笔记]]"
    assert [(link.target, link.anchor) for link in links(text)] == [
        ("My Note.md", ""),
        ("n", "s"),
        ("i.png", ""),
        ("笔记", ""),
    ]


NAMES = st.text(st.sampled_from("aé中😀 -_.()'&%"), min_size=1, max_size=8).map(str.strip).filter(bool)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from([form[0] for form in FORMS if form[2]]), NAMES, st.sampled_from(["", "中 ", "- ", "> "]))
def test_hazard_106_a_new_name_written_over_the_target_is_what_the_link_points_to(source, name, before):
    text = f"{before}{source} end\n"
    (link,) = links(text)
    new = name
    if link.form == "bare":
        new = "".join(f"%{byte:02X}" for byte in name.encode())
    elif link.form == "angle":
        new = name.replace("%", "%25").replace("&", "&amp;")
    changed = text.encode()[: link.target_start] + new.encode() + text.encode()[link.target_end :]
    (after,) = scan(changed).links
    assert after.target == name
    assert (after.kind, after.anchor, after.form) == (link.kind, link.anchor, link.form)
