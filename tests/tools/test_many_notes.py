"""update_tags, move_note and undo_change on a real folder, through the real library."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Caller
from served import serving, write

from notes_mcp.errors import (
    ExistsError,
    ForbiddenError,
    InvalidArguments,
    InvalidRequestError,
    NotFoundError,
    StaleError,
)
from notes_mcp.features.tools import Tools
from notes_mcp.notes.text import etag

NOTES: dict[str, str | bytes] = {
    "Home.md": "# Home\n\n[[Plan]] ![[Plan#Steps]] [p](Projects/Plan.md) `[[Plan]]` #work\n",
    "Projects/Plan.md": (
        "---\r\ntags: [work/big, x]\r\naliases: [x]\r\n---\r\n# The Plan\r\n\r\n## Steps\r\n\r\n[[Home]]\r\n"
    ),
    "Projects/笔记.md": "---\ntags:\n  - Work  # kept\n---\n工作 #work/小 #workshop `#work`\n",
    "bad.md": b"#work caf\xe9\n",
    "list.txt": "#work\n",
    "pic.png": b"\x89PNG\xff",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "Notes", NOTES)


@pytest.fixture
async def call(folder: Path, tmp_path: Path) -> AsyncIterator[Caller]:
    async with serving(tmp_path, folder) as library:
        yield Caller(library)


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".trash" not in path.parts
    }


async def answer(call: Caller, tool_name: str, **arguments: Any) -> dict[str, Any]:
    found: dict[str, Any] = (await call(tool_name, **arguments))["structuredContent"]
    return found


# -- update_tags -----------------------------------------------------------------------------------


async def test_a_tag_is_renamed_everywhere_with_those_below_it(call: Caller, folder: Path) -> None:
    before = files(folder)
    told = await answer(call, "update_tags", action="rename", tags=["#work"], new_tag="job")
    assert {row["path"]: row["count"] for row in told["changed"]} == {
        "Home.md": 1, "Projects/Plan.md": 1, "Projects/笔记.md": 2
    }  # fmt: skip
    now = files(folder)
    assert now["Home.md"] == before["Home.md"].replace(b"#work", b"#job")
    assert now["Projects/Plan.md"] == before["Projects/Plan.md"].replace(b"work/big", b"job/big")
    assert now["Projects/笔记.md"].decode() == "---\ntags:\n  - job  # kept\n---\n工作 #job/小 #workshop `#work`\n"
    assert [row["path"] for row in told["skipped"]] == ["bad.md"]
    tags = {row["tag"] for row in (await answer(call, "list_tags"))["tags"]}
    assert {"job", "job/big", "job/小"} <= tags
    undone = await answer(call, "undo_change", change_id=told["change_id"])
    assert files(folder) == before
    assert set(undone["restored"]) == {"Home.md", "Projects/Plan.md", "Projects/笔记.md"}


async def test_hazard_074_a_note_that_is_not_text_is_told_of_and_holds_nothing_up(call: Caller, folder: Path) -> None:
    told = await answer(call, "update_tags", action="add", tags=["new"], paths=["bad.md", "list.txt", "Home"])
    assert [row["path"] for row in told["changed"]] == ["Home.md"]
    assert [row["path"] for row in told["skipped"]] == ["bad.md", "list.txt"]
    assert files(folder)["bad.md"] == NOTES["bad.md"]


async def test_hazard_088_removing_a_tag_leaves_the_alias_of_that_name(call: Caller, folder: Path) -> None:
    told = await answer(call, "update_tags", action="remove", tags=["x"], paths=["Plan"])
    assert told["changed"] == [{"path": "Projects/Plan.md", "count": 1}]
    assert files(folder)["Projects/Plan.md"].startswith(b"---\r\ntags: [work/big]\r\naliases: [x]\r\n---\r\n")


@pytest.mark.parametrize("arguments", [{"tags": '["#neu"]', "paths": '["Plan"]'}, {"tag": ["neu"], "files": ["Plan"]}])
async def test_hazard_019_085_clumsy_arguments_add_a_bare_tag_in_the_style_of_the_list(
    call: Caller, folder: Path, arguments: dict[str, Any]
) -> None:
    await call("update_tags", action="Add", **arguments)
    assert files(folder)["Projects/Plan.md"].startswith(b"---\r\ntags: [work/big, x, neu]\r\n")


async def test_what_is_so_already_writes_nothing_and_says_so(call: Caller, folder: Path) -> None:
    before = files(folder)
    told = await answer(call, "update_tags", action="add", tags=["WORK"], paths=["Home"])
    assert told["changed"] == []
    assert "change_id" not in told
    assert "nothing was written" in told["warnings"][0]
    assert files(folder) == before


async def test_a_dry_run_of_tags_shows_what_the_write_then_does(call: Caller, folder: Path) -> None:
    before = files(folder)
    arguments = {"action": "rename", "tags": ["work"], "new_tag": "job"}
    shown = await answer(call, "update_tags", **arguments, dry_run=True)
    assert files(folder) == before
    assert "+" in shown["diff"]
    assert "change_id" not in shown
    assert (await answer(call, "update_tags", **arguments))["changed"] == shown["changed"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"action": "add", "tags": ["a"]}, InvalidRequestError),
        ({"action": "remove", "tags": ["work"]}, InvalidRequestError),
        ({"action": "rename", "tags": ["work"]}, InvalidRequestError),
        ({"action": "rename", "tags": ["wrok"], "new_tag": "job"}, NotFoundError),
        ({"action": "add", "tags": ["2024"], "paths": ["Home"]}, InvalidRequestError),
        ({"action": "add", "tags": ["a b"], "paths": ["Home"]}, InvalidRequestError),
        ({"action": "add", "tags": [" "], "paths": ["Home"]}, InvalidRequestError),
        ({"action": "add", "tags": ["a"], "paths": ["pic.png"]}, InvalidRequestError),
        ({"action": "add", "tags": ["a"], "paths": ["Home", "Nowhere.md"]}, NotFoundError),
        ({"action": "add", "tags": ["a"], "new_tag": "b", "paths": ["Home"]}, InvalidRequestError),
        ({"action": "add", "tags": [], "paths": ["Home"]}, InvalidArguments),
        ({"action": "replace", "tags": ["a"], "paths": ["Home"]}, InvalidArguments),
        ({"action": "add", "tags": "a", "paths": ["Home"]}, InvalidArguments),
    ],
)
async def test_what_cannot_be_meant_is_an_error_and_nothing_is_written(
    call: Caller, folder: Path, arguments: dict[str, Any], error: type[Exception]
) -> None:
    before = files(folder)
    with pytest.raises(error):
        await call("update_tags", **arguments)
    assert files(folder) == before


async def test_a_tag_that_no_note_has_is_an_error_with_the_nearest(call: Caller) -> None:
    with pytest.raises(NotFoundError) as caught:
        await call("update_tags", action="rename", tags=["worksho"], new_tag="job")
    assert "workshop" in caught.value.nearest


# -- move_note -------------------------------------------------------------------------------------


async def test_a_move_rewrites_every_link_and_undo_gives_back_every_byte(call: Caller, folder: Path) -> None:
    before = files(folder)
    told = await answer(call, "move_note", path="Plan", new_path="Archive/Old Plan")
    assert (told["path"], told["new_path"]) == ("Projects/Plan.md", "Archive/Old Plan.md")
    assert {"path": "Home.md", "count": 3} in told["links_updated"]
    assert told["ambiguous"] == []
    text = files(folder)["Home.md"].decode()
    assert "[[Old Plan]] ![[Old Plan#Steps]]" in text
    assert "`[[Plan]]`" in text
    assert "Archive/Old%20Plan.md" in text
    links = (await answer(call, "get_links", kind="backlinks", path="Archive/Old Plan.md"))["links"]
    assert len(links) == 3
    await call("undo_change")
    assert files(folder) == before


async def test_a_folder_moves_with_all_that_is_in_it(call: Caller, folder: Path) -> None:
    before = files(folder)
    told = await answer(call, "move_note", path="Projects", new_path="Work/Old")
    assert told["new_path"] == "Work/Old"
    assert {"Work/Old/Plan.md", "Work/Old/笔记.md"} <= files(folder).keys()
    await call("undo_change", change_id=told["change_id"])
    assert files(folder) == before


async def test_hazard_089_a_move_never_overwrites(call: Caller, folder: Path) -> None:
    before = files(folder)
    for new_path in ("Projects/笔记.md", "Projects/笔记"):
        with pytest.raises(ExistsError):
            await call("move_note", path="Home", new_path=new_path)
    assert files(folder) == before


async def test_links_stay_as_they_are_if_asked(call: Caller, folder: Path) -> None:
    told = await answer(call, "move_note", path="Plan", destination="Plan2.md", update_links="false")
    assert told["links_updated"] == []
    assert files(folder)["Home.md"] == NOTES["Home.md"].encode()  # type: ignore[union-attr]


async def test_dry_run_and_if_match_of_a_move(call: Caller, folder: Path) -> None:
    before = files(folder)
    shown = await answer(call, "move_note", path="Plan", new_path="New", dry_run=True)
    assert "Home.md" in shown["diff"]
    assert "change_id" not in shown
    with pytest.raises(StaleError) as caught:
        await call("move_note", path="Plan", new_path="New", if_match="0" * 16)
    assert caught.value.etag == etag(before["Projects/Plan.md"])
    assert files(folder) == before
    moved = await answer(call, "move_note", path="Plan", new_path="New", if_match=caught.value.etag)
    assert moved["links_updated"] == shown["links_updated"]


@pytest.mark.parametrize(
    ("path", "new_path", "error"),
    [
        ("Nowhere", "x", NotFoundError),
        ("Home", "../x", ForbiddenError),
        ("Home", ".obsidian/x", ForbiddenError),
        ("Home", " ", InvalidRequestError),
        ("/", "x", ForbiddenError),
    ],
)
async def test_what_cannot_be_moved_stays(
    call: Caller, folder: Path, path: str, new_path: str, error: type[Exception]
) -> None:
    before = files(folder)
    with pytest.raises(error):
        await call("move_note", path=path, new_path=new_path)
    assert files(folder) == before


# -- undo_change -----------------------------------------------------------------------------------


async def test_every_writing_tool_is_undone_to_the_byte_and_redone(call: Caller, folder: Path) -> None:
    before = files(folder)
    writes: list[tuple[str, dict[str, Any]]] = [
        ("create_note", {"title": "New", "content": "x"}),
        ("add_thoughts", {"thoughts": "x", "path": "Home"}),
        ("add_thoughts", {"thoughts": "x"}),
        ("edit_note", {"path": "Plan", "edits": [{"op": "append", "section": "Steps", "text": "x"}]}),
        ("set_properties", {"path": "Plan", "set": {"a": 1}}),
        ("update_tags", {"action": "rename", "tags": ["work"], "new_tag": "job"}),
        ("move_note", {"path": "Plan", "new_path": "Moved"}),
        ("delete_note", {"path": "Home"}),
        ("delete_note", {"path": "Plan", "permanent": True}),
    ]
    for name, arguments in writes:
        done = await answer(call, name, **arguments)
        after = files(folder)
        assert after != before, name
        undone = await answer(call, "undo_change", change_id=done["change_id"])
        assert files(folder) == before, name
        assert (undone["undoes"], undone["tool"], undone["refused"]) == (done["change_id"], name, [])
        await call("undo_change", change_id=undone["change_id"])
        assert files(folder) == after, name
        await call("undo_change")
        assert files(folder) == before, name


async def test_a_file_changed_since_is_refused_with_the_reason(call: Caller, folder: Path) -> None:
    done = await answer(call, "update_tags", action="rename", tags=["work"], new_tag="job")
    (folder / "Home.md").write_bytes(b"mine now\n")
    told = await answer(call, "undo_change", change_id=done["change_id"])
    assert [row["path"] for row in told["refused"]] == ["Home.md"]
    assert told["refused"][0]["reason"]
    assert "Projects/Plan.md" in told["restored"]
    assert (folder / "Home.md").read_bytes() == b"mine now\n"


async def test_nothing_undone_is_said(call: Caller, folder: Path) -> None:
    await call("add_thoughts", thoughts="x", path="Home")
    (folder / "Home.md").write_bytes(b"mine now\n")
    told = await answer(call, "undo_change")
    assert told["restored"] == []
    assert "change_id" not in told
    assert told["warnings"]


async def test_a_dry_run_of_an_undo_writes_nothing(call: Caller, folder: Path) -> None:
    await call("add_thoughts", thoughts="x", path="Home")
    after = files(folder)
    told = await answer(call, "undo_change", dry_run=True)
    assert told["restored"] == ["Home.md"]
    assert files(folder) == after


async def test_a_change_that_is_not_there_is_an_error_that_names_the_latest(call: Caller) -> None:
    with pytest.raises(NotFoundError):
        await call("undo_change")
    done = await answer(call, "add_thoughts", thoughts="x", path="Home")
    with pytest.raises(NotFoundError) as caught:
        await call("undo_change", change_id="nope")
    assert done["change_id"] in str(caught.value)


# -- all of them -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("edit_note", {"path": "Hom", "edits": [{"op": "append", "text": "x"}]}, "Home.md"),
        ("edit_note", {"path": "Home", "old_text": "# Hmoe", "text": "x"}, "# Home"),
        ("edit_note", {"path": "Home", "edits": [{"op": "append", "text": "x", "section": "Hom"}]}, "Home"),
        (
            "edit_note",
            {"path": "Home", "old_text": "# Home", "text": "x", "if_match": "0"},
            etag(NOTES["Home.md"].encode()),
        ),  # type: ignore[union-attr]
        ("set_properties", {"path": "Projects/Pla", "set": {"a": 1}}, "Projects/Plan.md"),
        ("update_tags", {"action": "rename", "tags": ["workshp"], "new_tag": "b"}, "list_tags"),
        ("move_note", {"path": "Home", "new_path": "Projects/Plan.md"}, "Projects/Plan.md"),
        ("undo_change", {"change_id": "zz"}, "journal"),
        ("get_links", {"kind": "backlinks"}, "path"),
        ("list_tags", {"folder": "Project"}, "Projects"),
    ],
)
async def test_every_error_is_a_result_that_shows_the_way_out(
    call: Caller, name: str, arguments: dict[str, Any], said: str
) -> None:
    tools = Tools(call.library, call.library.settings)
    told = await tools.call({"name": name, "arguments": arguments}, lambda *_: None)
    assert told["isError"] is True
    assert said in told["content"][0]["text"]
    assert "structuredContent" not in told
