"""Moves rewrite every link to what moved, and in what moved, and nothing else."""

import unicodedata

import pytest
from move_cases import FRONT, TO_THE_NOTE, Folder, back, folder_move, move, text

from notes_mcp.notes.links import mending
from notes_mcp.notes.links.relinking import NOT_TEXT, Moved, plan, rewrite

VAULT = {"work/Old Note.md": "# Old\n", "work/Other.md": "", "img/i.png": b"\x89PNG", "top.md": ""}
MOVES = {"work/Old Note.md": "archive/2024/New Name.md"}


def moved(written, moves, source="journal/x.md", vault=VAULT):
    outcome = move(Folder({**vault, source: written}), moves)
    return text(outcome, moves.get(source, source))


@pytest.mark.parametrize(("written", "expected"), TO_THE_NOTE)
@pytest.mark.parametrize(
    "around", ["{}", "é {} 中 [[Other]]", "- [ ] {}\r\n", "> {}\n", "# {}\n", "| a | b |\n|--|--|\n| {} | x |\n"]
)
def test_hazard_107_every_form_of_link_follows_and_keeps_its_style(written, expected, around):
    if around.startswith("|"):
        written, expected = written.replace("|", "\\|"), expected.replace("|", "\\|")
    folder = Folder({**VAULT, "journal/x.md": around.format(written)})
    outcome = move(folder, MOVES)
    assert text(outcome, "journal/x.md") == around.format(expected)
    assert outcome.ambiguous == []
    assert set(outcome.counts) == {"journal/x.md"}
    again = move(outcome.folder, back(MOVES))
    if "%20Note.md>" not in written and "old note" not in written:  # these were not spelled as the disk does
        assert again.folder.files == folder.files


def test_a_reference_definition_is_rewritten_once_for_all_its_uses():
    written = "[a][r] [r][] [r] ![x][R]\n\n[r]: <../work/Old Note.md#h> 'Old Note'\n[u]:\n  /work/Old%20Note.md\n"
    outcome = move(Folder({**VAULT, "journal/x.md": written}), MOVES)
    assert text(outcome, "journal/x.md") == (
        "[a][r] [r][] [r] ![x][R]\n\n[r]: <../archive/2024/New Name.md#h> 'Old Note'\n"
        "[u]:\n  /archive/2024/New%20Name.md\n"
    )
    assert outcome.counts == {"journal/x.md": 2}


def test_links_in_properties_follow_and_all_else_in_them_stays():
    folder = Folder({**VAULT, "journal/x.md": FRONT})
    outcome = move(folder, MOVES)
    assert text(outcome, "journal/x.md") == (
        FRONT.replace("work/Old Note", "archive/2024/New Name")
        .replace("Old Note", "New Name")
        .replace('# up: "[[New Name]]"', '# up: "[[Old Note]]"')
        .replace("# [[New Name]]", "# [[Old Note]]")
    )
    assert move(outcome.folder, back(MOVES)).folder.files == folder.files


@pytest.mark.parametrize(
    ("quoted", "expected"),
    [
        ("'[[Old Note]]'", "'[[It''s \"so\"]]'"),
        ('"[[Old Note]]"', '"[[It\'s \\"so\\"]]"'),
        ("see [[Old Note]]", 'see [[It\'s "so"]]'),
    ],
)
def test_a_name_with_quotes_is_escaped_as_the_quotes_around_the_property_ask(quoted, expected):
    folder = Folder({**VAULT, "x.md": f"---\nup: {quoted}\n---\n"})
    moves = {"work/Old Note.md": 'work/It\'s "so".md'}
    outcome = move(folder, moves)
    assert text(outcome, "x.md") == f"---\nup: {expected}\n---\n"
    after = Moved(outcome.folder, back(moves))
    there = rewrite("x.md", "x.md", outcome.folder.files["x.md"], outcome.folder, after, back(moves))
    assert (there.data, there.count) == (folder.files["x.md"], 1)


def test_a_name_that_is_no_plain_yaml_is_encoded_where_there_are_no_quotes():
    moves = {"work/Old Note.md": "work/a, b: c & d.md"}
    outcome = move(Folder({**VAULT, "x.md": "---\nup: [[Old Note]]\nalso: see [[Old Note]]\n---\n"}), moves)
    assert text(outcome, "x.md") == "---\nup: [[a%2C b%3A c %26 d]]\nalso: see [[a%2C b%3A c %26 d]]\n---\n"


def test_what_is_no_part_of_one_value_of_the_properties_is_told_of():
    written = '---\n"[[Old Note]]": x\nup: [[Old Note]]\n---\n'
    outcome = move(Folder({**VAULT, "x.md": written}), MOVES)
    assert text(outcome, "x.md") == written.replace("up: [[Old Note]]", "up: [[New Name]]")
    ((_, one),) = outcome.ambiguous
    assert (one.line, one.reason) == (2, mending.UNWRITABLE)


def test_front_matter_that_does_not_parse_is_left_alone_and_the_body_is_not():
    written = '---\nup: "[[Old Note]]"\n\tbad: [\n---\n[[Old Note]]\n'
    outcome = move(Folder({**VAULT, "x.md": written}), MOVES)
    assert text(outcome, "x.md") == written.replace("---\n[[Old Note]]", "---\n[[New Name]]")
    ((path, one),) = outcome.ambiguous
    assert (path, one.line, one.written, one.candidates) == ("x.md", 2, "[[Old Note]]", ("archive/2024/New Name.md",))


@pytest.mark.parametrize(
    "written",
    [
        "`[[Old Note]]` ``[t](../work/Old%20Note.md)``\n\n```\n[[Old Note]]\n```\n\n    [[Old Note]]\n",
        "%%[[Old Note]]%% <!-- [[Old Note]] --> <a href='../work/Old%20Note.md'>x</a> $[[Old Note]]$\n",
        "Old Note, work/Old Note.md, \\[[Old Note]] [Old Note] [[Nowhere]] [t](Nowhere.md)\n",
        "[t](https://x.y/work/Old%20Note.md) [[Other]] [t](../work/Other.md) ![[i.png]]\n",
        "[[#Old Note]] [t](#Old%20Note) [[x]] [[x#Old Note]]\n",
    ],
)
def test_what_is_no_link_to_the_moved_note_stays(written):
    assert moved(written, MOVES) == written


def test_only_files_that_could_be_concerned_are_looked_at():
    folder = Folder(
        {
            **VAULT,
            "a.md": "[[Old Note]]",
            "b.md": "[[Other]]",
            "c.md": "[[Taken]]",
            "Taken.md": "---\naliases: [Said]\n---\n",
            "d.md": "[[Said]]",
            "e.canvas": "{}",
            "deep/f.canvas": "{}",
            "g.md": "![[i.png]]",
        }
    )

    def planned(old, new):
        return " ".join(sorted({*plan({old: new}, folder, folder)} - {"e.canvas", "deep/f.canvas"}))

    assert {"e.canvas", "deep/f.canvas"} <= {*plan({"top.md": "x.md"}, folder, folder)}
    assert planned("work/Old Note.md", "work/New.md") == "a.md work/Old Note.md"
    assert planned("work/Old Note.md", "Said.md") == "Taken.md a.md c.md d.md work/Old Note.md"
    assert planned("work/Other.md", "x/Taken.md") == "Taken.md b.md c.md d.md work/Other.md"
    assert planned("img/i.png", "j.png") == "g.md"


# -- what moves has links of its own -----------------------------------------------------------------


def test_the_relative_links_of_a_moved_note_are_led_right():
    written = (
        "[a](y.md) [b](sub/z.md) [c](../top.md) [d](<../img/i.png>) ![](./y.md) [e](/top.md) "
        "[[y]] [[sub/z]] [[./y]] [[../top]]\n"
    )
    folder = Folder({**VAULT, "journal/x.md": written, "journal/y.md": "", "journal/sub/z.md": ""})
    moves = {"journal/x.md": "deep/er/x.md"}
    outcome = move(folder, moves)
    assert text(outcome, "deep/er/x.md") == (
        "[a](../../journal/y.md) [b](../../journal/sub/z.md) [c](../../top.md) [d](<../../img/i.png>) "
        "![](./../../journal/y.md) [e](/top.md) [[y]] [[sub/z]] [[../../journal/y]] [[../../top]]\n"
    )
    assert move(outcome.folder, back(moves)).folder.files == folder.files


def test_links_among_files_that_move_together_stay():
    written = "[a](y.md) [b](sub/z.md) [[y]] [[sub/z]] ![[pic.png]] ![](pic.png) [[./y]] [up](../top.md) [[trip/y]]\n"
    folder = Folder(
        {**VAULT, "trip/x.md": written, "trip/y.md": "[[x]]", "trip/sub/z.md": "[x](../x.md)", "trip/pic.png": b""}
    )
    moves = folder_move(folder, "trip", "old/trips/2024")
    outcome = move(folder, moves)
    assert text(outcome, "old/trips/2024/x.md") == written.replace("../top", "../../../top").replace(
        "trip/y", "old/trips/2024/y"
    )
    assert outcome.counts == {"trip/x.md": 2}
    assert move(outcome.folder, back(moves)).folder.files == folder.files


def test_a_relative_link_stays_relative_even_where_the_name_alone_would_be_found():
    assert moved("[t](y.md)", {"a/x.md": "b/x.md"}, "a/x.md", {"a/y.md": ""}) == "[t](../a/y.md)"
    assert moved("[[y]]", {"a/x.md": "b/x.md"}, "a/x.md", {"a/y.md": ""}) == "[[y]]"


def test_a_link_by_name_to_the_note_it_stands_in_follows_its_new_name():
    assert (
        moved("[[x]] [[#h]] [[x#h|y]] [s](x.md)", {"a/x.md": "a/z.md"}, "a/x.md", {})
        == "[[z]] [[#h]] [[z#h|y]] [s](z.md)"
    )


def test_a_path_that_climbs_more_than_it_must_still_does():
    assert (
        moved("[t](../journal/y.md)", {"journal/y.md": "journal/z.md"}, vault={"journal/y.md": ""})
        == "[t](../journal/z.md)"
    )


def test_two_notes_that_swap_names_swap_their_links():
    folder = Folder({"a.md": "[[b]]", "b.md": "[x](a.md)", "c.md": "[[a]] [[b]]"})
    moves = {"a.md": "b.md", "b.md": "a.md"}
    outcome = move(folder, moves)
    assert {path: data.decode() for path, data in outcome.folder.files.items()} == {
        "b.md": "[[a]]", "a.md": "[x](b.md)", "c.md": "[[b]] [[a]]",
    }  # fmt: skip
    assert move(outcome.folder, moves).folder.files == folder.files


# -- names that several files have ---------------------------------------------------------------------


def test_hazard_109_a_bare_name_stays_bare_while_it_leads_there():
    assert moved("[[Old Note]]", {"work/Old Note.md": "archive/Old Note.md"}) == "[[Old Note]]"
    assert moved("[[Old Note]]", {"work/Old Note.md": "journal/Other.md"}) == "[[Other]]"  # the one in its own folder
    assert moved("[[Old Note]]", {"work/Old Note.md": "Other.md"}) == "[[Other]]"  # a whole path


def test_hazard_109_a_bare_name_grows_into_the_shortest_path_that_is_unique():
    vault = {"work/Old.md": "", "a/b/Note.md": "", "c/Note.md": ""}
    folder = Folder({**vault, "j/x.md": "[[Old]] [t](Old.md)"})
    moves = {"work/Old.md": "d/a/b/Note.md"}
    outcome = move(folder, moves)
    assert text(outcome, "j/x.md") == "[[d/a/b/Note]] [t](d/a/b/Note.md)"
    assert move(outcome.folder, back(moves)).folder.files == folder.files
    assert moved("[[Old]]", {"work/Old.md": "d/e/Note.md"}, "x.md", vault) == "[[e/Note]]"


def test_hazard_109_a_note_that_takes_a_name_does_not_catch_the_links_to_its_namesake():
    vault = {"work/deep/Note.md": "", "x.md": ""}
    folder = Folder({**vault, "journal/y.md": "[[Note]] [t](Note.md) [[deep/Note]]", "n.md": ""})
    moves = {"n.md": "Note.md"}
    outcome = move(folder, moves)
    assert text(outcome, "journal/y.md") == "[[deep/Note]] [t](deep/Note.md) [[deep/Note]]"
    assert move(outcome.folder, back(moves)).counts == {}  # those links are right as they are
    moves = {"x.md": "deep/Note.md"}
    assert text(move(folder, moves), "journal/y.md") == "[[work/deep/Note]] [t](work/deep/Note.md) [[work/deep/Note]]"


def test_hazard_109_what_only_nearness_decided_is_told_and_not_touched():
    folder = Folder({"a/Note.md": "", "bb/Note.md": "", "x/y.md": "[[Note]]\n[[a/Note]]\n![[bb/Note#h]]\n"})
    outcome = move(folder, {"a/Note.md": "ccc/Note.md"})
    assert text(outcome, "x/y.md") == "[[Note]]\n[[ccc/Note]]\n![[bb/Note#h]]\n"
    ((path, one),) = outcome.ambiguous
    assert (path, one.line, one.written, one.reason) == ("x/y.md", 1, "[[Note]]", mending.SEVERAL)
    assert one.candidates == ("ccc/Note.md", "bb/Note.md")


def test_a_clear_choice_among_namesakes_is_followed():
    vault = {"a/Note.md": "", "b/Note.md": "", "Note.md": ""}
    assert moved("[[Note]]", {"a/Note.md": "c/Note.md"}, "a/x.md", {**vault, "Note.md": ""}) == "[[Note]]"  # the root's
    del vault["Note.md"]
    assert moved("[[Note]]", {"a/Note.md": "c/Note.md"}, "a/x.md", vault) == "[[c/Note]]"
    assert moved("[n](Note.md)", {"a/Note.md": "c/Note.md"}, "a/x.md", vault) == "[n](../c/Note.md)"
    vault = {"a/Plan.md": "", "a/Plan.txt": ""}
    assert moved("[[Plan]] [[Plan.txt]]", {"a/Plan.md": "c/Old.md"}, "x.md", vault) == "[[Old]] [[Plan.txt]]"


def test_a_note_moved_next_to_its_namesake_is_told_apart():
    vault = {"a/Note.md": "", "b/other.md": "", "b/Note.txt": ""}
    assert moved("[[a/Note]] [[Note.txt]]", {"a/Note.md": "b/Note.md"}, "x.md", vault) == "[[b/Note]] [[Note.txt]]"
    assert moved("[[other]]", {"b/other.md": "a/Note.org"}, "x.md", vault) == "[[Note.org]]"


def test_a_moved_note_keeps_leading_to_the_namesake_it_led_to():
    vault = {"a/Note.md": "", "b/Note.md": ""}
    folder = Folder({**vault, "a/x.md": "[[Note]]"})
    outcome = move(folder, {"a/x.md": "b/x.md"})
    assert text(outcome, "b/x.md") == "[[a/Note]]"


def test_hazard_110_a_link_by_alias_stays():
    vault = {"work/Old.md": "---\naliases: [The Alias]\n---\n", "n.md": ""}
    folder = Folder({**vault, "x.md": "[[The Alias]] [[Old]]"})
    outcome = move(folder, {"work/Old.md": "deep/New.md"})
    assert text(outcome, "x.md") == "[[The Alias]] [[New]]"
    assert outcome.ambiguous == []
    # A note that takes the alias for its name would catch the link.
    outcome = move(folder, {"n.md": "The Alias.md"})
    assert text(outcome, "x.md") == "[[The Alias]] [[Old]]"
    ((_, one),) = outcome.ambiguous
    assert (one.written, one.candidates, one.reason) == ("[[The Alias]]", ("work/Old.md",), mending.ALIAS)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("[[b/Note]]", "[[e/Note]]"),  # one of two folders was written, though the name is unique
        ("[[a/b/Note]]", "[[d/e/Note]]"),
        ("[[b/Note.md|x]]", "[[e/Note.md|x]]"),
        ("[t](b/Note.md)", "[t](e/Note.md)"),
        ("[[Note]]", "[[Note]]"),
        ("[[B/note]]", "[[e/note]]"),
    ],
)
def test_hazard_112_a_partial_path_stays_partial(written, expected):
    folder = Folder({"a/b/Note.md": "", "x/y.md": written})
    outcome = move(folder, {"a/b/Note.md": "d/e/Note.md"})
    assert text(outcome, "x/y.md") == expected


def test_hazard_112_a_path_to_a_note_that_comes_to_the_root_is_its_name():
    folder = Folder({"a/Note.md": "", "x/y.md": "[[a/Note]] [[/a/Note]] [t](../a/Note.md)"})
    assert text(move(folder, {"a/Note.md": "Note.md"}), "x/y.md") == "[[Note]] [[/Note]] [t](../Note.md)"


# -- names of all kinds --------------------------------------------------------------------------------

NAMES = [
    "笔记.md", "日記 の ノート.md", "a (b).md", "a (b.md", "a [b].md", "a [[b.md", "C#.md", "C# [x] (y) 100%.md",
    "100%.md", "a%20b.md", "a%41.md", "a&amp;b.md", "a & b.md", "Re: it.md", "ab:c.md", "what?.md", "it's.md",
    'say "x".md', "a`b.md", "a*b_c*.md", "a|b.md", "$5 and $6.md", "<a>.md", "x^y.md", "a;b,c.md", "v1.2.md",
    "a.md.md", "Cafe\u0301.md", "Café.md",
    "a\u00a0b.md", "😀.md", "~x!.md", "- x.md", "@me.md", "#tag.md", "a=b.md", "{x}.md", "n.markdown", "n.txt", "i.pdf",
]  # fmt: skip
FORMS = (
    "[[Old]] ![[Old|x]] [t](Old.md) [t](<Old.md#h> 'x') [[work/Old#h]] [r]\n\n"
    "| a |\n|--|\n| [[Old\\|x]] |\n| [t](work/Old.md) |\n\n"
    "[r]: ../work/Old.md\n"
)
PROPERTIES = "---\na: \"[[Old]]\"\nb: '[[Old]]'\n---\n"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("place", ["work/", "a b/", "计划/"])
def test_hazard_113_a_name_of_any_kind_is_written_so_that_the_link_leads_there(name, place):
    folder = Folder({"work/Old.md": "", "j/x.md": FORMS, "j/p.md": PROPERTIES})
    moves = {"work/Old.md": place + name}
    outcome = move(folder, moves)
    fits = not set(name) & set("#^[]|")
    told = [(path, one.reason) for path, one in outcome.ambiguous]
    assert told == [] if fits else told == [("j/p.md", mending.NOT_IN_WIKILINK)] * 2
    read = [
        leads
        for source, _, leads in outcome.folder.links()
        if source != "j/p.md" or (fits and not set(name) & set("'\""))
    ]
    assert set(read) <= {place + name}
    assert outcome.counts.get("j/x.md", 0) >= 6
    if name.endswith(".md"):
        after = Moved(outcome.folder, back(moves))
        for path in ("j/x.md", "j/p.md"):
            found = rewrite(path, path, outcome.folder.files[path], outcome.folder, after, back(moves))
            assert found.data == folder.files[path] or (not fits and path == "j/x.md")


@pytest.mark.parametrize(
    ("name", "path"),
    [("C# notes", "C%23%20notes"), ("a|b", "a%7Cb"), ("x[y]", "x%5By%5D"), ("a^b", "a%5Eb")],
)
def test_a_wikilink_to_a_name_that_it_cannot_hold_becomes_a_markdown_link_that_shows_the_same(name, path):
    written = "[[Old]] ![[Old|200]] [[Old#a b#c|x *y*]] [[Old#^id|z]]\n\n| a |\n|--|\n| [[Old\\|x]] |\n"
    folder = Folder({"work/Old.md": "[[Old|me]]\n\nb ^id\n", "j/x.md": written, "j/p.md": PROPERTIES})
    moves = {"work/Old.md": f"work/{name}.md"}
    outcome = move(folder, moves)
    shown = "".join(f"\\{char}" if char in "#|[]^" else char for char in name)
    assert text(outcome, "j/x.md") == (
        f"[{shown}](../work/{path}.md) ![200](../work/{path}.md) [x \\*y\\*](../work/{path}.md#a%20b#c)"
        f" [z](../work/{path}.md#^id)\n\n| a |\n|--|\n| [x](../work/{path}.md) |\n"
    )
    assert text(outcome, f"work/{name}.md") == f"[me]({path}.md)\n\nb ^id\n"
    assert [(one.written, one.candidates) for _, one in outcome.ambiguous] == [("[[Old]]", (f"work/{name}.md",))] * 2
    assert text(outcome, "j/p.md") == PROPERTIES
    assert {leads for source, _, leads in outcome.folder.links() if source != "j/p.md"} == {f"work/{name}.md"}
    again = move(outcome.folder, back(moves))
    assert again.ambiguous == []
    assert {leads for _, _, leads in again.folder.links()} == {"work/Old.md"}


@pytest.mark.parametrize("name", NAMES)
def test_hazard_113_a_folder_moves_under_a_name_of_any_kind_and_back(name):
    names = [f"[[{name[:-3]}]]"] if name.endswith(".md") and not set(name) & set("#[]|`<$") else []
    links = [
        *names,
        *(f"[t](<{form}{name}>)" for form in ("", "../work/", "/work/") if not set(name) & set("<#&%")),
        "[[z]]",
    ]
    folder = Folder(
        {
            f"work/{name}": "",
            "work/z.md": " ".join(links),
            "j/x.md": " ".join(links[:-1]).replace("](<n", "](<../work/n"),
        }
    )
    moves = folder_move(folder, "work", "a b/" + name.removesuffix(".md"))
    outcome = move(folder, moves)
    assert outcome.ambiguous == []
    assert move(outcome.folder, back(moves)).folder.files == folder.files


def test_the_way_a_name_was_encoded_stays_when_only_its_folder_changes():
    written = "[1](%E7%AC%94%E8%AE%B0.md) [2](笔记.md) [3](a\\(b.md) [4](x&amp;y.md) [5](Re:%20it.md) [6](./a[1].md)\n"
    vault = {f"w/{name}.md": "" for name in ("笔记", "a(b", "x&y", "Re: it", "a[1]")}
    vault["w/n.md"] = written.replace("[5](Re", "[5](./Re")
    folder = Folder(vault)
    moves = {"w/n.md": "deep/n.md"}
    outcome = move(folder, moves)
    assert text(outcome, "deep/n.md") == (
        "[1](../w/%E7%AC%94%E8%AE%B0.md) [2](../w/笔记.md) [3](../w/a\\(b.md) [4](../w/x&amp;y.md) "
        "[5](./../w/Re:%20it.md) [6](./../w/a[1].md)\n"
    )
    assert move(outcome.folder, back(moves)).folder.files == folder.files


def test_letters_stay_encoded_or_not_as_the_link_had_them():
    vault = {"笔.md": ""}
    assert moved("[t](%E7%AC%94.md) [t](笔.md)", {"笔.md": "记 录.md"}, "x.md", vault) == (
        "[t](%E8%AE%B0%20%E5%BD%95.md) [t](记%20录.md)"
    )


def test_normal_forms_of_a_name_are_one_name_and_what_was_written_stays():
    nfd, nfc = unicodedata.normalize("NFD", "Café"), unicodedata.normalize("NFC", "Café")
    vault = {f"a/{nfd}.md": ""}
    written = f"[[{nfc}]] [[a/{nfc}]] [t](../a/{nfc}.md) [[a/{nfd}]]"
    outcome = move(Folder({**vault, "j/x.md": written}), {f"a/{nfd}.md": f"b/{nfd}.md"})
    assert text(outcome, "j/x.md") == written.replace("a/", "b/")
    outcome = move(Folder({**vault, "j/x.md": written}), {f"a/{nfd}.md": f"a/{nfc}.md"})
    assert text(outcome, "j/x.md") == written


def test_a_change_of_case_alone_leaves_names_and_mends_exact_paths():
    written = "[[note]] [[Note]] [[a/note]] [t](../a/note.md) [t](/a/note.md) [t](../a/NOTE.md) [t](note.md)"
    folder = Folder({"a/note.md": "", "j/x.md": written})
    moves = {"a/note.md": "a/Note.md"}
    outcome = move(folder, moves)
    assert text(outcome, "j/x.md") == written.replace("a/note.md", "a/Note.md")
    assert move(outcome.folder, back(moves)).folder.files == folder.files


def test_a_change_of_extension_is_followed_where_it_shows():
    written = "[[n]] [[n.md]] [t](n.md) [t](../a/n.md#h) [t](../a/n)"
    folder = Folder({"a/n.md": "", "j/x.md": written})
    moves = {"a/n.md": "a/n.txt"}
    outcome = move(folder, moves)
    assert text(outcome, "j/x.md") == "[[n]] [[n.txt]] [t](n.txt) [t](../a/n.txt#h) [t](../a/n)"
    assert move(outcome.folder, back(moves)).folder.files == folder.files
    assert (
        text(move(folder, {"a/n.md": "a/n.pdf"}), "j/x.md")
        == "[[n.pdf]] [[n.pdf]] [t](n.pdf) [t](../a/n.pdf#h) [t](../a/n.pdf)"
    )


def test_hazard_113_attachments_move_like_notes():
    written = "![[i.png]] ![[i.png|200]] ![](../img/i.png) ![x](<../img/i.png> 'i.png') [[img/i.png]] [f](i.png)"
    folder = Folder({**VAULT, "j/x.md": written})
    moves = {"img/i.png": "media/my pic.png"}
    outcome = move(folder, moves)
    assert text(outcome, "j/x.md") == (
        "![[my pic.png]] ![[my pic.png|200]] ![](../media/my%20pic.png) ![x](<../media/my pic.png> 'i.png') "
        "[[media/my pic.png]] [f](my%20pic.png)"
    )
    assert move(outcome.folder, back(moves)).folder.files == folder.files


# -- bytes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("mark", "encoding"),
    [(b"", "utf-8"), (b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")],
)
def test_line_ends_encoding_and_byte_order_mark_stay(newline, mark, encoding):
    written = '---\nup: "[[Old Note]]" # 😀\n---\n\n😀 [[Old Note]]\n\n[t](../work/Old%20Note.md)'.replace(
        "\n", newline
    )
    data = mark + written.encode(encoding)
    folder = Folder({**VAULT, "journal/x.md": data})
    outcome = move(folder, MOVES)
    expected = written.replace("../work/Old%20Note", "../archive/2024/New%20Name").replace("Old Note", "New Name")
    assert outcome.folder.files["journal/x.md"] == mark + expected.encode(encoding)
    assert move(outcome.folder, back(MOVES)).folder.files == folder.files


def test_hazard_074_a_note_that_is_not_valid_text_is_told_of_and_the_others_are_rewritten():
    folder = Folder({**VAULT, "bad.md": b"\xe9\n[[Old Note]]\n", "good.md": "[[Old Note]]"})
    outcome = move(folder, MOVES)
    assert outcome.folder.files["bad.md"] == folder.files["bad.md"]
    assert text(outcome, "good.md") == "[[New Name]]"
    ((path, one),) = outcome.ambiguous
    assert (path, one.line, one.reason) == ("bad.md", 2, NOT_TEXT)


def test_hazard_106_links_are_found_in_the_bytes_as_they_are_now():
    folder = Folder({**VAULT, "journal/x.md": "[[Old Note]]"})
    after = Moved(folder, MOVES)
    since = b"edited since: Old Note\n\n```\n[[Old Note]]\n```\n[[Old Note]] [[Other]]\n"
    found = rewrite("journal/x.md", "journal/x.md", since, folder, after, MOVES)
    assert found.data == since.replace(b"[[Old Note]] [[Other", b"[[New Name]] [[Other")
    assert found.count == 1
    assert rewrite("journal/x.md", "journal/x.md", found.data, folder, after, MOVES).count == 0


def test_hazard_106_an_edit_that_would_not_read_as_the_link_meant_is_taken_back():
    # The parser decides: no spelling of this name can stand in a wikilink or a plain flow list.
    moves = {"work/Old Note.md": "work/ x\ny .md"}
    outcome = move(Folder({**VAULT, "journal/x.md": "[[Old Note]] [t](Old%20Note.md) [[Other]]"}), moves)
    written = text(outcome, "journal/x.md")
    assert written.endswith(" [[Other]]")
    led = {leads for _, target, leads in outcome.folder.links() if target != "Other"}
    assert led <= {"work/ x\ny .md"}
    assert len(outcome.ambiguous) + outcome.counts.get("journal/x.md", 0) == 2
