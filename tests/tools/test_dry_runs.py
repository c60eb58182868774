"""What a dry run says of itself, in every writing tool, and what an undo says that did nothing or took a note away."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Caller
from served import serving, write

from notes_mcp.errors import InvalidRequestError
from notes_mcp.notes.text import etag

PLAN = "---\ntags: [work]\n---\n# Plan\n\n[[Home]]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "Notes", {"Home.md": "# Home\n\n[[Plan]]\n", "Plan.md": PLAN})


@pytest.fixture
async def call(folder: Path, tmp_path: Path) -> AsyncIterator[Caller]:
    async with serving(tmp_path, folder) as library:
        yield Caller(library)


async def answer(call: Caller, tool_name: str, **arguments: Any) -> dict[str, Any]:
    found: dict[str, Any] = (await call(tool_name, **arguments))["structuredContent"]
    return found


DRY = [
    ("create_note", {"title": "New", "content": "x"}),
    ("edit_note", {"path": "Plan", "edits": [{"op": "append", "text": "x"}]}),
    ("set_properties", {"path": "Plan", "set": {"a": 1}}),
    ("update_tags", {"action": "rename", "tags": ["work"], "new_tag": "job"}),
    ("move_note", {"path": "Plan", "new_path": "Other"}),
    ("delete_note", {"path": "Plan"}),
    ("undo_change", {}),
]


@pytest.mark.parametrize(("tool_name", "arguments"), DRY, ids=[name for name, _ in DRY])
async def test_a_dry_run_says_that_it_was_one(
    call: Caller, folder: Path, tool_name: str, arguments: dict[str, Any]
) -> None:
    await call("edit_note", path="Home", edits=[{"op": "append", "text": "y"}])
    before = {path: path.read_bytes() for path in folder.rglob("*.md")}
    said = await call(tool_name, **arguments, dry_run=True)
    assert said["structuredContent"]["dry_run"] is True
    assert "nothing was written" in said["content"][1]["text"]
    assert said["isError"] is False
    assert "change_id" not in said["structuredContent"]
    assert {path: path.read_bytes() for path in folder.rglob("*.md")} == before
    done = await call(tool_name, **arguments)
    assert "dry_run" not in done["structuredContent"]
    assert not any("nothing was written" in block["text"] for block in done["content"][1:])


async def test_the_etag_of_a_dry_run_is_the_one_that_if_match_needs(call: Caller, folder: Path) -> None:
    now = etag((folder / "Plan.md").read_bytes())
    edits = [{"op": "append", "text": "x"}]
    dry = await answer(call, "edit_note", path="Plan", edits=edits, dry_run=True)
    assert dry["etag"] == dry["previous_etag"] == now
    assert (await answer(call, "set_properties", path="Plan", set={"a": 1}, dry_run=True))["etag"] == now
    assert "etag" not in await answer(call, "create_note", title="New", dry_run=True)
    done = await answer(call, "edit_note", path="Plan", edits=edits, if_match=dry["etag"])
    assert done["etag"] == etag((folder / "Plan.md").read_bytes()) != now


# -- undo ------------------------------------------------------------------------------------------


async def test_an_undo_of_a_new_note_lists_it_as_removed(call: Caller, folder: Path) -> None:
    made = await answer(call, "create_note", title="New", content="x")
    undone = await answer(call, "undo_change", change_id=made["change_id"])
    assert (undone["restored"], undone["removed"]) == ([], ["New.md"])
    redone = await answer(call, "undo_change", change_id=undone["change_id"])
    assert redone["restored"] == ["New.md"]
    assert "removed" not in redone
    again = await answer(call, "undo_change", change_id=redone["change_id"])
    assert again["removed"] == ["New.md"]
    assert not (folder / "New.md").exists()


async def test_an_undo_that_undid_nothing_is_an_error_that_names_the_change_to_undo_first(
    call: Caller, folder: Path
) -> None:
    first = await answer(call, "edit_note", path="Plan", edits=[{"op": "append", "text": "1"}])
    second = await answer(call, "edit_note", path="Plan", edits=[{"op": "append", "text": "2"}])
    third = await answer(call, "move_note", path="Plan", new_path="Other")
    for dry_run in (True, False):
        said = await call("undo_change", change_id=first["change_id"], dry_run=dry_run)
        assert said["isError"] is True
        assert json.loads(said["content"][0]["text"]) == said["structuredContent"]
        (refused,) = said["structuredContent"]["refused"]
        assert f"undo change {third['change_id']} first" in refused["reason"]
    await call("undo_change", change_id=third["change_id"])
    (refused,) = (await answer(call, "undo_change", change_id=first["change_id"]))["refused"]
    assert f"undo change {second['change_id']} first" in refused["reason"]
    await call("undo_change", change_id=second["change_id"])
    assert (await call("undo_change", change_id=first["change_id"]))["isError"] is False
    assert (folder / "Plan.md").read_text("utf-8") == PLAN


async def test_a_change_of_somebody_else_is_not_blamed_on_a_change_of_ours(call: Caller, folder: Path) -> None:
    first = await answer(call, "edit_note", path="Plan", edits=[{"op": "append", "text": "1"}])
    await call("edit_note", path="Plan", edits=[{"op": "append", "text": "2"}])
    (folder / "Plan.md").write_bytes(b"saved by an editor\n")
    (refused,) = (await answer(call, "undo_change", change_id=first["change_id"]))["refused"]
    assert "first" not in refused["reason"]
    assert "changed since" in refused["reason"]


@pytest.mark.parametrize("empty", ["", "  "])
async def test_an_empty_change_id_says_to_leave_it_out(call: Caller, folder: Path, empty: str) -> None:
    await call("edit_note", path="Plan", edits=[{"op": "append", "text": "1"}])
    before = (folder / "Plan.md").read_bytes()
    with pytest.raises(InvalidRequestError, match="leave it out"):
        await call("undo_change", change_id=empty)
    assert (folder / "Plan.md").read_bytes() == before
