"""list_tags and get_links on a real folder, through the real library."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Caller
from served import serving, write

from notes_mcp.errors import InvalidArguments, InvalidRequestError, NotFoundError

NOTES = {
    "Home.md": "# Home\n\n[[Plan]] [[Plan#Steps|steps]] [p](Projects/Plan.md)\n![[pic.png]] [[Nowhere]] [x](none.md)\n",
    "Projects/Plan.md": "---\naliases: [Blueprint]\n---\n# The Plan\n\n[[Home]] [[#The Plan]] #work/big\n",
    "Projects/笔记.md": "---\ntags: [work, 学习]\n---\n[[Blueprint]] and the plan and blueprint\n\n`The Plan`\n",
    "Alone.md": "Reads the Plan. [[Alone]] #work #only\n\n```\n#define #ff00aa\n```\n",
    "My Note.md": "[a](My%20Note.md) [b](<Projects/笔记.md>) #2024 #ff00aa\n",
    "pic.png": b"\x89PNG\xff",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "Notes", NOTES)


@pytest.fixture
async def call(folder: Path, tmp_path: Path) -> AsyncIterator[Caller]:
    async with serving(tmp_path, folder) as library:
        yield Caller(library)


async def answer(call: Caller, tool_name: str, **arguments: Any) -> dict[str, Any]:
    found: dict[str, Any] = (await call(tool_name, **arguments))["structuredContent"]
    return found


async def links(call: Caller, kind: str, path: str | None = None, **arguments: Any) -> list[tuple[str, str, int]]:
    page = await answer(call, "get_links", kind=kind, path=path, **arguments)
    assert page["total"] == len(page["links"])
    return [(link["from"], link["to"], link["line"]) for link in page["links"]]


async def test_backlinks_name_the_source_the_line_and_the_label(call: Caller) -> None:
    page = await answer(call, "get_links", kind="backlinks", path="Plan")
    assert page["total"] == 4
    assert page["links"][0] == {
        "from": "Home.md", "to": "Projects/Plan.md", "line": 3, "text": "Plan", "resolved": True
    }  # fmt: skip
    assert page["links"][1]["text"] == "steps"
    assert page["links"][1]["anchor"] == "Steps"


async def test_hazard_110_a_link_by_alias_says_so_and_is_not_broken(call: Caller) -> None:
    page = await answer(call, "get_links", kind="backlinks", path="Projects/Plan.md")
    by_alias = [link for link in page["links"] if link.get("via") == "alias"]
    assert [(link["from"], link["resolved"]) for link in by_alias] == [("Projects/笔记.md", True)]
    assert all(link["from"] != "Projects/笔记.md" for link in (await answer(call, "get_links", kind="broken"))["links"])


async def test_hazard_113_attachments_encoded_and_anchored_links_reach_their_targets(call: Caller) -> None:
    assert await links(call, "backlinks", "pic.png") == [("Home.md", "pic.png", 4)]
    assert await links(call, "backlinks", "笔记") == [("My Note.md", "Projects/笔记.md", 1)]
    assert await links(call, "outgoing", "My Note") == [
        ("My Note.md", "My Note.md", 1),
        ("My Note.md", "Projects/笔记.md", 1),
    ]


async def test_outgoing_links_come_in_order_with_what_they_reach_else_as_written(call: Caller) -> None:
    page = await answer(call, "get_links", kind="outgoing", path="Home")
    assert [(link["to"], link["resolved"]) for link in page["links"]] == [
        ("Projects/Plan.md", True),
        ("Projects/Plan.md", True),
        ("Projects/Plan.md", True),
        ("pic.png", True),
        ("Nowhere", False),
        ("none.md", False),
    ]


async def test_broken_links_are_those_that_lead_nowhere_in_all_notes_a_folder_or_one(call: Caller) -> None:
    broken = [("Home.md", "Nowhere", 4), ("Home.md", "none.md", 4)]
    assert await links(call, "broken") == broken
    assert await links(call, "broken", "Home") == broken
    assert await links(call, "broken", "Projects") == []
    assert await links(call, "broken", "/") == broken


async def test_orphans_are_notes_that_no_other_note_links_to(call: Caller) -> None:
    assert await links(call, "orphans") == [("", "Alone.md", 1), ("", "My Note.md", 1)]
    assert await links(call, "orphans", "Projects/") == []
    assert await links(call, "orphans", "Alone") == [("", "Alone.md", 1)]
    page = await answer(call, "get_links", kind="orphans", limit=1)
    assert page["links"][0]["text"] == "Alone"


async def test_mentions_are_names_in_the_text_that_are_no_links(call: Caller) -> None:
    assert await links(call, "mentions", "Plan") == [
        ("Alone.md", "Projects/Plan.md", 1),
        ("Projects/笔记.md", "Projects/Plan.md", 4),
    ]
    page = await answer(call, "get_links", kind="mentions", path="Plan")
    assert page["links"][0]["resolved"] is False
    assert page["links"][0]["text"].startswith("Reads the Plan.")


async def test_mentions_are_looked_for_in_the_file_as_it_is(call: Caller, folder: Path) -> None:
    (folder / "Alone.md").write_bytes(b"nothing of it\n")
    assert await links(call, "mentions", "Plan") == [("Projects/笔记.md", "Projects/Plan.md", 4)]


@pytest.mark.parametrize("kind", ["backlinks", "outgoing", "mentions"])
async def test_a_kind_about_one_note_needs_it(call: Caller, kind: str) -> None:
    with pytest.raises(InvalidRequestError, match="path"):
        await call("get_links", kind=kind)
    with pytest.raises(NotFoundError) as caught:
        await call("get_links", kind=kind, path="Projects/Pla")
    assert "Projects/Plan.md" in caught.value.nearest


async def test_a_place_that_is_not_there_is_an_error_with_the_nearest(call: Caller) -> None:
    for kind in ("broken", "orphans"):
        with pytest.raises(NotFoundError):
            await call("get_links", kind=kind, path="Projcts")


async def test_a_kind_that_is_none_is_named_with_the_nearest(call: Caller) -> None:
    with pytest.raises(InvalidArguments, match="nearest is backlinks"):
        await call("get_links", kind="backlink")


async def test_hazard_040_pages_of_links_go_on_where_they_stop(call: Caller) -> None:
    whole = await answer(call, "get_links", kind="outgoing", path="Home")
    seen: list[dict[str, Any]] = []
    cursor = None
    while True:
        page = await answer(call, "get_links", kind="outgoing", path="Home", limit=2, cursor=cursor)
        assert page["total"] == 6
        seen += page["links"]
        cursor = page.get("next_cursor")
        if cursor is None:
            break
    assert seen == whole["links"]
    with pytest.raises(InvalidRequestError, match="cursor"):
        await call("get_links", kind="broken", cursor=page.get("next_cursor") or "nonsense")


async def test_hazard_154_links_of_a_deleted_note_are_gone(call: Caller) -> None:
    await call("delete_note", path="Home")
    assert await links(call, "backlinks", "pic.png") == []
    assert await links(call, "broken") == [("Projects/Plan.md", "Home", 6)]


async def test_links_follow_a_write_at_once(call: Caller) -> None:
    await call("edit_note", path="Alone", edits=[{"op": "append", "text": "[[My Note]]"}])
    assert ("Alone.md", "My Note.md", 6) in await links(call, "backlinks", "My Note")


async def test_tags_come_most_used_first_with_those_below_counted(call: Caller) -> None:
    listed = await answer(call, "list_tags")
    assert listed["tags"][0] == {"tag": "work", "notes": 3}
    assert {row["tag"]: row["notes"] for row in listed["tags"]} == {
        "work": 3, "work/big": 1, "学习": 1, "only": 1, "ff00aa": 1
    }  # fmt: skip
    assert listed["total"] == 5


async def test_hazard_115_116_code_and_numbers_are_no_tags(call: Caller) -> None:
    tags = {row["tag"] for row in (await answer(call, "list_tags"))["tags"]}
    assert not tags & {"define", "2024"}


@pytest.mark.parametrize(
    ("arguments", "tags"),
    [
        ({"prefix": "#work/"}, ["work/big"]),
        ({"prefix": "WORK"}, ["work", "work/big"]),
        ({"prefix": "学"}, ["学习"]),
        ({"prefix": "nope"}, []),
        ({"folder": "Projects/"}, ["work", "work/big", "学习"]),
        ({"folder": "projects", "prefix": "work"}, ["work", "work/big"]),
    ],
)
async def test_tags_by_their_beginning_and_folder(call: Caller, arguments: dict[str, str], tags: list[str]) -> None:
    assert [row["tag"] for row in (await answer(call, "list_tags", **arguments))["tags"]] == tags


async def test_pages_of_tags_go_on_where_they_stop(call: Caller) -> None:
    seen: list[str] = []
    cursor = None
    while True:
        page = await answer(call, "list_tags", limit="2", cursor=cursor)
        assert page["total"] == 5
        seen += [row["tag"] for row in page["tags"]]
        cursor = page.get("next_cursor")
        if cursor is None:
            break
    assert seen == [row["tag"] for row in (await answer(call, "list_tags"))["tags"]]
    with pytest.raises(InvalidRequestError, match="cursor"):
        await call("list_tags", cursor="nonsense")
    with pytest.raises(NotFoundError):
        await call("list_tags", folder="Nowhere")


async def test_hazard_035_thousands_of_links_and_tags_are_cut_and_go_on(call: Caller, folder: Path) -> None:
    text = "\n".join(f"[[Nowhere {number} {'中' * 60}]] #t{number}{'x' * 90}" for number in range(300))
    await call("create_note", title="Many", content=text)
    page = await answer(call, "get_links", kind="outgoing", path="Many", limit=200)
    assert len(page["links"]) < 200
    assert page["total"] == 300
    following = await answer(call, "get_links", kind="outgoing", path="Many", limit=200, cursor=page["next_cursor"])
    assert following["links"][0]["line"] == len(page["links"]) + 1
    tags = await answer(call, "list_tags", limit=500)
    assert len(tags["tags"]) < 305
    assert tags["total"] == 305
    assert tags["next_cursor"]


async def test_several_folders_are_answered_as_one(tmp_path: Path) -> None:
    one = write(tmp_path / "Work", {"a.md": "[[b]] [[none]] #x\n", "b.md": "#x/y\n"})
    two = write(tmp_path / "Home", {"a.md": "[[b]] #X the b of it\n", "b.md": "\n"})
    async with serving(tmp_path / "state", one, two) as library:
        call = Caller(library)
        assert (await answer(call, "list_tags"))["tags"][0] == {"tag": "x", "notes": 3}
        assert (await answer(call, "list_tags", folder="Home"))["tags"] == [{"tag": "X", "notes": 1}]
        assert await links(call, "backlinks", "Home/b.md") == [("Home/a.md", "Home/b.md", 1)]
        assert await links(call, "broken") == [("Work/a.md", "none", 1)]
        assert await links(call, "orphans") == [("", "Home/a.md", 1), ("", "Work/a.md", 1)]
        assert await links(call, "orphans", "Home") == [("", "Home/a.md", 1)]
        assert await links(call, "mentions", "Home/b") == [("Home/a.md", "Home/b.md", 1)]
