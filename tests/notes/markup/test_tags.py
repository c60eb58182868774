import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.notes.markup.markdown import scan
from notes_mcp.notes.markup.tags import is_tag


def tags(text: str) -> list[str]:
    found = scan(text.encode()).tags
    for tag in found:
        assert text.encode()[tag.start : tag.end].decode() == f"#{tag.name}"
    return [tag.name for tag in found]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("#a", ["a"]),
        ("#project/Q3_plan-b #x1 #1x", ["project/Q3_plan-b", "x1", "1x"]),
        (
            "#中文标签，后面 #日本語/タグ。 #한국어 #ไทย่ #हिन्दी #café",
            ["中文标签", "日本語/タグ", "한국어", "ไทย่", "हिन्दी", "café"],
        ),
        ("，#标签 “#引用” （#括号）", ["标签", "引用", "括号"]),
        ("#🎉party #a️", ["🎉party", "a️"]),
        ("(#a) [#b] {#c} #d, #e. #f; #g! #h? '#no' #i:", ["a", "b", "c", "d", "e", "f", "g", "h", "i"]),
        ("**#bold** _#em_ ==#mark== ~~#gone~~", ["bold", "em", "mark", "gone"]),
        ("# Title #tag\n\n## #only", ["tag", "only"]),
        ("- #item\n- [ ] #task\n> #quote\n>#tight\n", ["item", "task", "quote", "tight"]),
        ("| #cell | x |\n|---|---|\n|#tight|y|\n", ["cell", "tight"]),
        ("#a/ #b//c #/d #e/f/", ["a", "e/f"]),
        ("#a#b ##c #", ["a"]),
        ("#a\\_b #c`d`", ["a", "c"]),
        ("text\n#line\r\n#next", ["line", "next"]),
        ("#tag_with_underscores_", ["tag_with_underscores_"]),
    ],
)
def test_tags_follow_the_rule_of_obsidian(text, names):
    assert tags(text) == names


def test_hazard_115_code_and_comments_hold_no_tags():
    text = "```c\n#define X\n```\n\n    #indented\n\n`#code` %%#c%% <!-- #h --> $#m$ <a href='#top'> #中文标签\n"
    assert tags(text) == ["中文标签"]


@pytest.mark.parametrize("text", ["#2024", "#1", "#1/2", "#-", "#_", "#/", "#٣", "#１２"])
def test_a_number_is_no_tag(text):
    assert tags(text) == []


def test_hazard_116_a_colour_is_a_tag_that_says_it_is_like_a_colour():
    found = scan(b"#ff00aa #ACE #bad #facade #ff00aacc #ff00a #y2024\n").tags
    assert [(tag.name, tag.colour_like) for tag in found] == [
        ("ff00aa", True),
        ("ACE", False),
        ("bad", False),
        ("facade", True),
        ("ff00aacc", True),
        ("ff00a", False),
        ("y2024", False),
    ]


@pytest.mark.parametrize("before", ["C", "foo", "中文", "é", "1", "\\", "&", "a/", "=", '"', "@", "a.", "#"])
def test_hazard_118_a_tag_begins_at_a_border(before):
    assert tags(f"{before}#foo") == []


def test_hazard_119_a_tag_of_one_letter_ends():
    assert tags("#a") == ["a"]
    assert tags("#a #b#c #d") == ["a", "b", "d"]


@pytest.mark.parametrize(
    "text",
    [
        "[[n#h]] [[#h]] ![[n#^b]] [[n|#alias]]",
        "[#label](x.md) [t](x.md#h) [t](#h) ![#alt](i.png)",
        "[#l][r]\n\n[r]: x.md#h '#t'",
        "http://x.y/#h https://x/?(#h <http://x/#h> obsidian://o?(#x",
        "---\nx: #y\ntags: '#z'\n---\n",
    ],
)
def test_links_addresses_and_front_matter_hold_no_tags(text):
    assert tags(text) == []


def test_what_follows_a_link_may_be_a_tag():
    assert tags("[[n]] #a [t](u.md), #b http://x/ #c") == ["a", "b", "c"]


@pytest.mark.parametrize("name", ["", "/a", "a/", "a//b", "a b", "a,b", "12", "-", "a#b", "a。", "a\n"])
def test_names_that_are_no_tags_are_told(name):
    assert not is_tag(name)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=12).map(lambda name: name.replace("_", "-")))  # `#_a_` is emphasis to CommonMark
def test_a_name_is_a_tag_exactly_if_it_is_found_as_one(name):
    assert is_tag(name) == (tags(f"x #{name} y") == [name])
