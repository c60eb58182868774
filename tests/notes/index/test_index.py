from collections.abc import Iterator

import pytest
from _entries import attachment, link, note

from notes_mcp.errors import AmbiguousError, InvalidRequestError, NotFoundError
from notes_mcp.notes.index import rows
from notes_mcp.notes.index.index import Index
from notes_mcp.notes.index.query import parse
from notes_mcp.notes.records import Batch, Change, Entry


@pytest.fixture(params=["file", "memory"])
def index(request: pytest.FixtureRequest, tmp_path) -> Iterator[Index]:
    opened = Index.open(tmp_path / "cache" / "index.db" if request.param == "file" else None)
    yield opened
    opened.close()


def put(index: Index, *entries: Entry, gone: tuple[str, ...] = (), quiet: bool = False) -> list[tuple[str, str]]:
    return brief(index.apply(Batch(entries, gone, quiet)))


def brief(changes: list[Change]) -> list[tuple[str, str]]:
    return [(change.kind, change.path) for change in changes]


# -- what a batch means ------------------------------------------------------------------------------


def test_a_new_an_altered_and_a_gone_file_are_told_apart(index: Index) -> None:
    assert put(index, note("a.md", "one"), note("b.md", "two")) == [("created", "a.md"), ("created", "b.md")]
    assert put(index, note("a.md", "other"), gone=("b.md",)) == [("deleted", "b.md"), ("updated", "a.md")]
    assert index.get("b.md") is None
    assert index.count() == 1


def test_the_same_bytes_are_no_change_but_their_time_is_kept(index: Index) -> None:
    put(index, note("a.md", "one", modified_ns=1, inode=5))
    before = index.last_seq()
    assert put(index, note("a.md", "one", modified_ns=2, inode=6)) == []
    assert index.known()["a.md"][:3] == (3, 2, 6)
    assert index.last_seq() == before


def test_a_first_sighting_can_be_quiet_but_nothing_else(index: Index) -> None:
    assert put(index, note("a.md", "one"), note("b.md", "b"), quiet=True) == []
    assert put(index, note("a.md", "two"), gone=("b.md",), quiet=True) == [("deleted", "b.md"), ("updated", "a.md")]
    assert index.count() == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (note("a.md", "text", inode=7), note("x/b.md", "text", inode=7)),
        (note("a.md", "text", inode=7), note("b.md", "text", inode=8)),
        (note("a.md", "text", inode=7), note("b.md", "text, edited on the way", inode=7)),
        (note("a.md", "", inode=7), note("b.md", "", inode=7)),
        (attachment("a.png", inode=7), attachment("b.png", inode=7)),
    ],
)
def test_hazard_149_a_rename_is_seen_by_inode_or_bytes(index: Index, old: Entry, new: Entry) -> None:
    put(index, old)
    (change,) = index.apply(Batch((new,), (old.state.path,)))
    assert (change.kind, change.old_path, change.path) == ("renamed", old.state.path, new.state.path)
    assert list(index.known()) == [new.state.path]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (note("a.md", "text", inode=7), note("b.md", "other", inode=8)),
        (note("a.md", "text"), note("b.md", "other")),
        (note("a.md", ""), note("b.md", "")),
        (note("a.md", "text", inode=7), attachment("b.png", inode=7)),
    ],
)
def test_what_has_nothing_in_common_is_no_rename(index: Index, old: Entry, new: Entry) -> None:
    put(index, old)
    assert put(index, new, gone=(old.state.path,)) == [("deleted", old.state.path), ("created", new.state.path)]


def test_of_several_gone_files_the_most_alike_was_renamed(index: Index) -> None:
    put(index, note("a.md", "text", inode=1), note("b.md", "text", inode=2), note("c.md", "text", inode=3))
    changes = index.apply(Batch((note("d.md", "text", inode=2),), ("a.md", "b.md", "c.md")))
    assert [(change.kind, change.old_path or change.path) for change in changes] == [
        ("renamed", "b.md"), ("deleted", "a.md"), ("deleted", "c.md"),
    ]  # fmt: skip


def test_a_file_moved_onto_another_deletes_one_and_updates_the_other(index: Index) -> None:
    put(index, note("a.md", "one", inode=1), note("b.md", "two", inode=2))
    assert put(index, note("b.md", "one", inode=1), gone=("a.md",)) == [("deleted", "a.md"), ("updated", "b.md")]


def test_a_path_both_there_and_gone_is_there(index: Index) -> None:
    put(index, note("a.md", "one"))
    assert put(index, note("a.md", "one"), gone=("a.md",)) == []
    assert index.count() == 1


def test_a_gone_folder_takes_along_what_is_below_and_nothing_else(index: Index) -> None:
    put(
        index,
        note("d/a.md", "1"),
        note("d/e/b.md", "2"),
        note("d.md", "3"),
        note("da/c.md", "4"),
        attachment("d-x.png"),
    )
    assert put(index, gone=("d",)) == [("deleted", "d/a.md"), ("deleted", "d/e/b.md")]
    assert sorted(index.known()) == ["d-x.png", "d.md", "da/c.md"]


def test_hazard_137_only_what_is_proven_gone_is_dropped(index: Index) -> None:
    put(index, note("a.md", "1"), note("locked/b.md", "2"))
    assert put(index, note("a.md", "changed")) == [("updated", "a.md")]
    assert put(index, gone=("never-there.md", "locked/other.md")) == []
    assert sorted(index.known()) == ["a.md", "locked/b.md"]


def test_hazard_133_the_index_holds_what_it_was_given_and_nothing_else(index: Index) -> None:
    put(index, note("a.md", "visible", links=[".obsidian/app", "../outside"]), attachment("i.png"))
    assert sorted(index.known()) == ["a.md", "i.png"]
    assert [row.resolution.path for row in index.outgoing("a.md")] == [None, None]
    assert index.below("") == ["a.md", "i.png"]
    assert index.folders(recursive=True) == []


def test_inodes_of_any_size_come_back_as_they_were(index: Index) -> None:
    inodes = {"a.md": 2**63, "b.md": 2**128 - 1, "c.md": 2**63 - 1, "d.md": 0}
    put(index, *(note(path, inode=inode) for path, inode in inodes.items()))
    assert {path: stamp[2] for path, stamp in index.known().items()} == inodes


def test_text_that_is_no_unicode_is_stored_marked(index: Index) -> None:
    put(index, note("a.md", "x\ud800y\0z", title="\udfff", tags=["t\ud801"], properties=[("k\ud802", "v\ud803")],
                    links=[link("\ud804", text="\ud805")], aliases=["\ud806"], headings=["\ud807"]))  # fmt: skip
    found = index.get("a.md")
    assert found is not None and found.title == "\ufffd" and found.tags == ("t\ufffd",)
    assert index.get("\ud800") is None
    assert index.search(parse("z")).total == 1


# -- the log -----------------------------------------------------------------------------------------


def test_the_log_tells_what_came_after_a_number(index: Index) -> None:
    start = index.last_seq()
    changes = index.apply(Batch((note("a.md", "1"), attachment("b.png"))))
    assert index.changes_since(start) == changes
    assert [change.file_kind for change in changes] == ["note", "attachment"]
    assert index.changes_since(changes[0].seq) == changes[1:]
    assert index.last_seq() == changes[-1].seq
    assert index.changes_since(index.last_seq()) == []


def test_the_log_is_pruned_but_keeps_counting(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("notes_mcp.notes.index.filing.LOG_KEPT", 3)
    start = index.last_seq()
    for number in range(6):
        put(index, note("a.md", str(number)))
    assert [change.seq for change in index.changes_since(start)] == [start + 4, start + 5, start + 6]


# -- lists -------------------------------------------------------------------------------------------


@pytest.fixture
def shelf(index: Index) -> Index:
    put(
        index,
        note("Projects/Plan.md", "p" * 30, tags=["Work", "work/urgent"], modified_ns=300),
        note("Projects/Old/Done.md", "d" * 20, tags=["work/old/x"], modified_ns=100),
        note("Home.md", "h" * 10, tags=["home", "项目/一"], modified_ns=200),
        note("笔记/日.md", "n" * 30, tags=["workshop", "项目"], modified_ns=300),
        attachment("Projects/i.png", modified_ns=999),
    )
    return index


def paths(page) -> list[str]:
    return [one.path for one in page.notes]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("path", ["Home.md", "Projects/Old/Done.md", "Projects/Plan.md", "笔记/日.md"]),
        ("modified", ["Projects/Plan.md", "笔记/日.md", "Home.md", "Projects/Old/Done.md"]),
        ("size", ["Projects/Plan.md", "笔记/日.md", "Projects/Old/Done.md", "Home.md"]),
    ],
)
def test_pages_follow_each_other_in_every_order(shelf: Index, order: str, expected: list[str]) -> None:
    assert paths(shelf.notes(order)) == expected
    seen, after = [], None
    for _ in range(len(expected)):
        page = shelf.notes(order, after=after, limit=1)
        assert page.total == 4
        seen += paths(page)
        after = page.after
    assert seen == expected and after is None


def test_a_page_stays_right_while_notes_come_and_go(shelf: Index) -> None:
    first = shelf.notes(limit=2)
    put(shelf, note("A.md", "new"), note("Projects/P.md", "new"), gone=("Projects/Old/Done.md",))
    assert paths(shelf.notes(after=first.after)) == ["Projects/P.md", "Projects/Plan.md", "笔记/日.md"]


@pytest.mark.parametrize("after", [("x", 1), (1,), (), (True, "x"), (2**70, "x"), ("a", "b", "c")])
def test_a_key_of_another_shape_is_refused(shelf: Index, after: tuple[object, ...]) -> None:
    with pytest.raises(InvalidRequestError):
        shelf.notes("modified", after=after)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"folder": "Projects"}, ["Projects/Old/Done.md", "Projects/Plan.md"]),
        ({"folder": "projects/"}, ["Projects/Old/Done.md", "Projects/Plan.md"]),
        ({"folder": "Projects", "recursive": False}, ["Projects/Plan.md"]),
        ({"folder": "", "recursive": False}, ["Home.md"]),
        ({"folder": "Proj"}, []),
        ({"tag": "work"}, ["Projects/Old/Done.md", "Projects/Plan.md"]),
        ({"tag": "#WORK/old"}, ["Projects/Old/Done.md"]),
        ({"tag": "项目"}, ["Home.md", "笔记/日.md"]),
        ({"glob": "**/*.md", "folder": "Projects"}, ["Projects/Old/Done.md", "Projects/Plan.md"]),
        ({"glob": "projects/*"}, ["Projects/Plan.md"]),
        ({"glob": "D*"}, ["Projects/Old/Done.md"]),
        ({"glob": "*.png", "kind": None}, ["Projects/i.png"]),
        ({"kind": "attachment"}, ["Projects/i.png"]),
    ],
)
def test_lists_are_narrowed(shelf: Index, asked: dict[str, object], expected: list[str]) -> None:
    page = shelf.notes(**asked)  # type: ignore[arg-type]
    assert (paths(page), page.total) == (expected, len(expected))


def test_folders_count_the_notes_in_and_below_them(shelf: Index) -> None:
    assert shelf.folders() == [("Projects", 2), ("笔记", 1)]
    assert shelf.folders("Projects") == [("Projects/Old", 1)]
    assert shelf.folders(recursive=True) == [("Projects", 2), ("Projects/Old", 1), ("笔记", 1)]
    assert shelf.folders("Projects/Old") == []
    assert shelf.folder("PROJECTS/old") == "Projects/Old"


def test_hazard_118_tags_have_borders_and_parents(shelf: Index) -> None:
    assert shelf.tags() == [("Work", 2), ("项目", 2), ("home", 1), ("work/old/x", 1), ("work/urgent", 1),
                            ("workshop", 1), ("项目/一", 1)]  # fmt: skip
    assert shelf.tags("work/") == [("work/old/x", 1), ("work/urgent", 1)]
    assert shelf.tags("#WO", folder="Projects") == [("Work", 2), ("work/old/x", 1), ("work/urgent", 1)]
    put(shelf, note("x.md", "C#foo", tags=["foobar"]))
    assert shelf.search(parse("tag:foo")).total == 0
    assert shelf.search(parse("tag:foobar")).total == 1


def test_counts_are_by_kind(shelf: Index) -> None:
    assert (shelf.count(), shelf.count("note"), shelf.count("attachment")) == (5, 4, 1)


# -- links -------------------------------------------------------------------------------------------


@pytest.fixture
def web(index: Index) -> Index:
    put(
        index,
        note("a/Hub.md", "x", aliases=["Centre"]),
        note("b/One.md", "x", links=[link("hub", line=3), link("Nowhere", line=4)]),
        note("Two.md", "x", links=[link("a/Hub.md", "markdown", line=2, text="see"), link("Centre")]),
        note("Three.md", "x", links=[link("i.png", "embed"), link("", anchor="Top"), link("b/Hub")]),
        attachment("img/i.png"),
    )
    return index


def test_backlinks_are_those_that_resolve_to_the_note(web: Index) -> None:
    found = [(row.source, row.line, row.target, row.resolution.via) for row in web.backlinks("a/Hub.md")]
    assert found == [
        ("Two.md", 2, "a/Hub.md", "relative"),
        ("Two.md", 1, "Centre", "alias"),
        ("b/One.md", 3, "hub", "name"),
    ]
    assert [row.source for row in web.backlinks("img/i.png")] == ["Three.md"]
    assert web.backlinks("Three.md") == []


def test_outgoing_links_say_where_they_lead(web: Index) -> None:
    assert [(row.target, row.resolution.path) for row in web.outgoing("Three.md")] == [
        ("i.png", "img/i.png"), ("", "Three.md"), ("b/Hub", None),
    ]  # fmt: skip
    assert len(web.all_links()) == 7
    assert [row.source for row in web.all_links("b")] == ["b/One.md", "b/One.md"]


def test_backlinks_follow_when_a_nearer_note_of_the_name_appears(web: Index) -> None:
    put(web, note("b/Hub.md", "nearer"))
    assert [row.source for row in web.backlinks("b/Hub.md")] == ["Three.md", "b/One.md"]
    assert [row.source for row in web.backlinks("a/Hub.md")] == ["Two.md", "Two.md"]


def test_hazard_154_links_of_a_deleted_note_are_gone(web: Index) -> None:
    put(web, gone=("Two.md",))
    assert [row.source for row in web.backlinks("a/Hub.md")] == ["b/One.md"]
    put(web, gone=("a/Hub.md",))
    assert web.backlinks("a/Hub.md") == []
    assert [row.resolution.path for row in web.outgoing("b/One.md")] == [None, None]
    put(web, note("b/One.md", "no links now"))
    assert web.outgoing("b/One.md") == []


def test_links_by_encoded_and_percent_names_are_backlinks(index: Index) -> None:
    put(index, note("My Note.md"), note("100%.md"), note("x.md", links=[link("My%20Note.md", "markdown"), "100%"]))
    assert [row.target for row in index.backlinks("My Note.md")] == ["My%20Note.md"]
    assert [row.target for row in index.backlinks("100%.md")] == ["100%"]


def test_references_are_resolved_by_the_index(web: Index) -> None:
    assert web.resolve_ref("centre") == "a/Hub.md"
    assert web.resolve_link("Hub", "b/One.md").path == "a/Hub.md"
    with pytest.raises(NotFoundError) as told:
        web.resolve_ref("Hubb")
    assert told.value.nearest[0] == "a/Hub.md"
    put(web, note("c/Hub.md"))
    with pytest.raises(AmbiguousError):
        web.resolve_ref("Hub")


def test_a_reference_by_title_is_at_least_near(index: Index) -> None:
    put(index, note("2024-01-01.md", title="The great migration"))
    assert index.nearest("great migration") == ("2024-01-01.md",)


@pytest.mark.parametrize("modified_ns", [2**63, 2**63 + 1, 2**75, -1, -(2**63) - 1, -(2**80)])
def test_a_note_of_a_time_beyond_all_measure_is_listed_and_found(index: Index, modified_ns: int) -> None:
    strange = note("strange.md", "word", modified_ns=modified_ns)
    assert put(index, note("a.md", "word"), strange) == [("created", "a.md"), ("created", "strange.md")]
    assert put(index, strange) == []
    listed = paths(index.notes("modified"))
    assert listed == (["strange.md", "a.md"] if modified_ns > 0 else ["a.md", "strange.md"])
    assert sorted(hit.note.path for hit in index.search(parse("word")).hits) == ["a.md", "strange.md"]
    for order in ("modified", "path"):
        first = index.notes(order, limit=1)
        assert paths(index.notes(order, after=first.after)) == sorted({"a.md", "strange.md"} - set(paths(first)))


@pytest.mark.parametrize("order", ["path", "modified", "size"])
def test_pages_by_tag_are_the_same_whether_few_or_many_have_it(
    index: Index, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(30):
        put(index, note(f"{n:02}.md", "x" * (n % 7), tags=["x", "x/y"] if n % 3 else ["z"], modified_ns=n * 7 % 30))

    def walked() -> list[str]:
        seen, last = [], None
        while True:
            page = index.notes(order, tag="x", limit=4, after=last)
            seen += paths(page)
            last = page.after
            if last is None:
                return seen

    few = walked()
    monkeypatch.setattr(rows, "MANY_PAGES", 0)
    assert walked() == few
    assert sorted(few) == [f"{n:02}.md" for n in range(30) if n % 3]


@pytest.mark.parametrize("prefix", ["", "a", "a/", "b", "no"])
def test_tags_in_a_folder_are_counted_as_those_of_an_index_of_that_folder_alone(index: Index, prefix: str) -> None:
    tags = [["a"], ["a/b", "a/c"], ["a/b/c"], ["A", "b"], ["b/x", "a/b/c"], [], ["c"], ["a/b", "A/B/d"]]
    inside = [note(f"d/{n}.md", f"{n}", tags=own) for n, own in enumerate(tags)]
    outside = [note(f"{n}.md", f"{n}", tags=[*own, "z"]) for n, own in enumerate(tags)]
    put(index, *inside)
    alone = index.tags(prefix)
    put(index, *outside)
    assert index.tags(prefix, folder="D") == alone
    assert index.tags(prefix) != alone or prefix == "no"
