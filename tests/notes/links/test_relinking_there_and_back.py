"""A folder with every form of link, and small random ones, are the same after they were moved there and back."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from move_cases import FRONT, TO_THE_NOTE, Folder, back, folder_move, move


def canvas(*nodes):
    return json.dumps({"nodes": list(nodes), "edges": []}, ensure_ascii=False, indent="\t")


# An angle link with needless %20, a name in other letters and a wikilink with %20 are not spelled as we would.
OWN = [
    written for written, _ in TO_THE_NOTE if not any(odd in written for odd in ("<../work/Old%", "old note", "[Old%"))
]
FIXTURE = {
    "Home.md": "# Home\n\n" + " ".join(written for written in OWN if "../" not in written),
    "journal/x.md": "\n".join(OWN),
    # What is found by its name alone would be relative, too, in the folder of its note.
    "journal/relative.md": "\n".join(written for written in OWN if "../" in written and "](Old%" not in written),
    "journal/front.md": FRONT,
    "journal/crlf.md": FRONT.replace("\n", "\r\n"),
    "work/Old Note.md": "# Old\n[[#Old]] [[Old Note#Old]] [o](Other.md) ![](../img/i.png) ![[i.png]] [[x]]\n"
    "[h](../Home.md)\n",
    "work/Other.md": "[[Old Note]] [o](Old%20Note.md) [o](<./Old Note.md>) [r]\n\n[r]: Old%20Note.md 'x'\n",
    "work/sub/Deep.md": "[o](../Old%20Note.md) [[../Old Note]] [[work/Old Note|w]]\n",
    "work/笔记.md": "![[i.png|200]] [[Old Note]] | [[笔记]]\n",
    "twins/a/Note.md": "[[twins/a/Note]] [[b/Note]]\n",
    "twins/b/Note.md": "[[a/Note]]\n",
    "img/i.png": b"\x89PNG\r\n\x1a\n\xff",
    "board.canvas": canvas(
        {"id": "1", "type": "file", "file": "work/Old Note.md", "subpath": "#Old"},
        {"id": "2", "type": "file", "file": "img/i.png"},
        {"id": "3", "type": "text", "text": "# Card\n[[Old Note]] \"q\" [[笔记]]\n[o](work/Old%20Note.md)"},
        {"id": "4", "type": "group", "background": "img/i.png"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    "moves",
    [
        {"work/Old Note.md": "archive/2024/New Name.md"},
        {"work/Old Note.md": "work/Renamed.md"},
        {"work/Old Note.md": "work/sub/Old Note.md"},
        {"work/Old Note.md": "work/C++ (draft) 100%.md", "work/笔记.md": "计划/笔记.md"},
        {"img/i.png": "work/pics/图.png"},
        {"journal/relative.md": "work/relative.md"},
        {"journal/relative.md": "relative.md", "work/Old Note.md": "work/sub/Old Note.md"},
        {"twins/a/Note.md": "twins/c/Note.md"},
        {"twins/b/Note.md": "twins/b/Paper.md"},
        {"board.canvas": "work/board.canvas"},
        "work", "journal", "img", "twins/a", "twins",
    ],
)  # fmt: skip
def test_a_folder_with_every_form_of_link_is_the_same_after_there_and_back(moves):
    folder = Folder(FIXTURE)
    if isinstance(moves, str):
        moves = folder_move(folder, moves, "new place/" + moves.rpartition("/")[2] + " 2")
    outcome = move(folder, moves)
    assert outcome.ambiguous == []
    led = sorted((moves.get(source, source), moves.get(leads, leads)) for source, _, leads in folder.links())
    assert sorted((source, leads) for source, _, leads in outcome.folder.links()) == led
    assert move(outcome.folder, back(moves)).folder.files == folder.files


# Folders and names without letters of two cases, so that each file is spelled in one way.
PLACES = st.sampled_from(["", "a/", "a/b/", "c/", "d e/", "计/划/"])
STEMS = st.sampled_from(["n", "m", "n o", "笔记", "x(1)", "it's", "v1.2", "100%", "x#y", "[z]"])
ENDS = st.sampled_from([".md", ".md", ".md", ".png", ".txt"])
PATHS = st.builds(lambda place, stem, end: place + stem + end, PLACES, STEMS, ENDS)
WIKI = ["[[{}]]", "![[{}|2]]", "[[{}#h]]", "| a |\n|--|\n| [[{}\\|x]] |\n", "- [ ] [[{}]]", '`[[{}]]` "{}"']
MARKDOWN = ["[t]({})", "![]({} 'x')", "[t](<{}>)", "> [r]\n\n[r]: {}\n"]


def written(draw, source, path):
    """A link from `source` to `path` in a style that tells itself from others: by name, from the root, relative."""
    stem = path.removesuffix(".md") if draw(st.booleans()) else path
    form = draw(st.sampled_from([*WIKI, *MARKDOWN]))
    if form in WIKI:
        target = draw(st.sampled_from([stem.rpartition("/")[2], "/" + stem]))
        return "" if set(target) & set("#[]") else form.replace("{}", target)
    ups = source.count("/")
    while ups and source.split("/")[: source.count("/") - ups + 1] == path.split("/")[: source.count("/") - ups + 1]:
        ups -= 1
    target = "../" * ups + "/".join(stem.split("/")[source.count("/") - ups :])
    target = draw(st.sampled_from([target, "/" + stem]))
    marks = {"%": "%25", "#": "%23"} if "<" in form else {"%": "%25", "#": "%23", " ": "%20"}
    return form.replace("{}", "".join(marks.get(char, char) for char in target))


@st.composite
def folders(draw):
    paths = draw(
        st.lists(PATHS, min_size=2, max_size=6, unique_by=lambda path: path.rpartition("/")[2].rpartition(".")[0])
    )
    files = {}
    for source in paths:
        links = [written(draw, source, draw(st.sampled_from(paths))) for _ in range(draw(st.integers(0, 5)))]
        newline = draw(st.sampled_from(["\n", "\r\n"]))
        files[source] = "\n\n".join(links).replace("\n", newline) if source.endswith(".md") else b""
    moving = draw(st.lists(st.sampled_from(paths), min_size=1, max_size=3, unique=True))
    moves = {}
    for old in moving:
        # A new name that nothing else has: a name that is taken turns names into paths for good.
        place, end = draw(PLACES), old[old.rindex(".") :]
        name = draw(st.sampled_from([old.rpartition("/")[2].removesuffix(end), f"new {len(moves)}", f"新{len(moves)}"]))
        moves[old] = place + name + end
    return Folder(files), {old: new for old, new in moves.items() if old != new}


@settings(max_examples=200, deadline=None)
@given(folders())
def test_any_small_folder_is_the_same_after_there_and_back(drawn):
    folder, moves = drawn
    outcome = move(folder, moves)
    assert outcome.ambiguous == []
    led = sorted((moves.get(source, source), moves.get(leads, leads)) for source, _, leads in folder.links())
    assert sorted((source, leads) for source, _, leads in outcome.folder.links()) == led
    assert move(outcome.folder, back(moves)).folder.files == folder.files


MANY = st.sampled_from(
    ["a/n.md", "b/n.md", "a/b/n.md", "n.md", "m.md", "a/m.md", "a/M.md", "b/n.txt", "b/n.png", "a/n.md.md"]
)
TARGETS = st.sampled_from(
    ["n", "m", "a/n", "b/n", "n.md", "./n", "../n", "../b/n.md", "/n", "/a/b/n", "a/M", "M", "n.png", "n.txt", "al"]
)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_whatever_shares_a_name_no_link_silently_leads_elsewhere(data):
    paths = data.draw(st.lists(MANY, min_size=2, max_size=7, unique=True))
    form = st.sampled_from(["[[{}]]", "[t]({})", "![[{}#h|x]]"])
    files = {
        path: " ".join(data.draw(form).format(data.draw(TARGETS)) for _ in range(4)) if path.endswith(".md") else b""
        for path in paths
    }
    if "m.md" in files:
        files["m.md"] = "---\naliases: [al, n]\n---\n" + files["m.md"]
    old = data.draw(st.sampled_from(paths))
    free = [
        path
        for path in ("c/n.md", "c/n.txt", "b/m.md", "al.md", "a/al.md", "b/b/n.md", *MANY.elements)
        if path not in files
    ]
    moves = {old: data.draw(st.sampled_from(free))}
    folder = Folder(files)
    outcome = move(folder, moves)
    was = [(moves.get(source, source), moves.get(leads, leads)) for source, _, leads in folder.links()]
    was = [(source, leads) for source, leads in was if source.endswith(".md")]  # other notes have no links
    now = [(source, leads) for source, _, leads in outcome.folder.links()]
    strayed = [pair for pair in was if not (pair in now and now.remove(pair) is None)]
    assert len(strayed) <= len(outcome.ambiguous)


LINKS = "[[w/Old]] [[Old|x]] [[Old#h]] ![[Old]] [t](w/Old.md) [t](<w/Old.md>'Old') [r] [t][r] Old".split(" ")
MARKS = "` $ %% <!-- --> <b> [ ] ( ) [[ ]] ! \\ | ' \" # #tag ^b x 中 😀 &amp; * ~".split(" ")
LINES = ["[r]: w/Old.md\n", "```\n", "---\n", "a: ", "- ", "> ", "\n", "\n\n", "\r\n", "    ", " "]
PIECES = st.sampled_from([*LINKS, *MARKS, *LINES])


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=30).map("".join), st.binary(max_size=4), st.sampled_from([".md", ".canvas", ".txt"]))
def test_in_any_text_only_targets_change_and_all_links_lead_where_they_led(text, tail, extension):
    if extension == ".canvas":
        text = json.dumps({"nodes": [{"text": text}]})
    folder = Folder({"w/Old.md": "", "j" + extension: text.encode() + tail})
    moves = {"w/Old.md": "w/Ny.md"}
    outcome = move(folder, moves)
    there = outcome.folder.files["j" + extension]
    assert there.replace(b"Ny", b"Old") == folder.files["j" + extension]
    led = sorted((source, moves.get(leads, leads)) for source, _, leads in folder.links())
    now = sorted((source, leads) for source, _, leads in outcome.folder.links())
    assert now == led or outcome.ambiguous
