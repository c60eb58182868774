"""What models write for places, sections and keys, on a real folder: it is taken as it is meant, and said."""

import unicodedata
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from conftest import Caller
from served import serving, write

from notes_mcp.errors import (
    AmbiguousError,
    ExistsError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
)

PLAN = "---\nStatus: open\n---\n# Plan\n\n## Steps\n\n- one\n\n### Deep\n\n- two\n\n## Log\n\n- one\n"
NFD = unicodedata.normalize("NFD", "Café")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = write(
        tmp_path / "Notes",
        {
            "Home.md": "# Home\n",
            "Projects/Plan.md": PLAN,
            f"{NFD}/a.md": "a\n",
            "C#.md": "sharp\n\n## Steps\n",
            "list.txt": "milk\n",
            "open.md": "---\nstatus: open\n\ntext\n",
            "rule.md": "---\n\nJust a line above: text.\n",
        },
    )
    (folder / "Empty Box").mkdir()
    return folder


@pytest.fixture
async def call(folder: Path, tmp_path: Path) -> AsyncIterator[Caller]:
    async with serving(tmp_path, folder) as library:
        yield Caller(library)


async def answer(call: Caller, tool_name: str, **arguments: Any) -> dict[str, Any]:
    found: dict[str, Any] = (await call(tool_name, **arguments))["structuredContent"]
    return found


# -- where something new goes -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"title": "New", "folder": "projects"}, "Projects/New.md"),
        ({"title": "PROJECTS/New"}, "Projects/New.md"),
        ({"title": "projects/deep/New"}, "Projects/deep/New.md"),
        ({"title": "New", "folder": "empty box"}, "Empty Box/New.md"),
        ({"title": "New", "folder": "Café"}, f"{NFD}/New.md"),
    ],
)
async def test_a_folder_that_is_there_in_another_spelling_is_used(
    call: Caller, folder: Path, arguments: dict[str, Any], path: str
) -> None:
    before = {each.name for each in folder.iterdir()}
    made = await answer(call, "create_note", **arguments)
    assert made["path"] == path
    assert (folder / path).is_file()
    assert {each.name for each in folder.iterdir()} == before
    assert any("is there already as" in warning for warning in made["warnings"])


@pytest.mark.parametrize(
    ("new_path", "path"),
    [
        ("projects/Home", "Projects/Home.md"),
        ("projects", "Projects/Home.md"),
        ("[[Projects]]", "Projects/Home.md"),
        ("[[projects/Start|x]]", "Projects/Start.md"),
        ("empty box/", "Empty Box/Home.md"),
        ("New: start?", "New- start.md"),
        ("/Projects", "Projects/Home.md"),
    ],
)
async def test_a_note_moves_to_what_is_meant(call: Caller, folder: Path, new_path: str, path: str) -> None:
    moved = await answer(call, "move_note", path="Home", new_path=new_path)
    assert moved["new_path"] == path
    assert (folder / path).read_bytes() == b"# Home\n"
    if ":" in new_path:
        assert moved["warnings"]


async def test_a_folder_may_be_renamed_to_another_case_of_its_name(call: Caller, folder: Path) -> None:
    assert (await answer(call, "move_note", path="Projects", new_path="projects"))["new_path"] == "projects"
    assert (folder / "projects/Plan.md").is_file()


async def test_brackets_of_a_wikilink_are_no_part_of_a_name(call: Caller) -> None:
    assert (await answer(call, "create_note", title="[[New]]", folder="[[Projects]]"))["path"] == "Projects/New.md"
    assert (await answer(call, "create_note", title="Projects/[[Other|x]]"))["path"] == "Projects/Other.md"


async def test_folders_that_differ_in_case_only_are_never_chosen_between(call: Caller, folder: Path) -> None:
    (folder / "PROJECTS").mkdir()
    with pytest.raises(AmbiguousError):
        await call("create_note", title="New", folder="projects")
    assert (await answer(call, "create_note", title="New", folder="PROJECTS"))["path"] == "PROJECTS/New.md"


# -- a leading slash --------------------------------------------------------------------------------


async def test_a_leading_slash_before_what_is_there_is_no_absolute_path(call: Caller, folder: Path) -> None:
    for path in ("/Projects/Plan.md", "/Projects/Plan", str(folder / "Projects/Plan.md")):
        assert "path: Projects/Plan.md" in (await call("read_note", path=path))["content"][0]["text"]
    assert (await answer(call, "list_notes", folder="/Projects"))["total"] == 1
    assert (await answer(call, "search_notes", query="one", folder="/Projects/"))["total"] == 1
    assert (await answer(call, "create_note", title="New", folder="/Projects"))["path"] == "Projects/New.md"
    edits = [{"op": "append", "text": "x"}]
    assert (await answer(call, "edit_note", path="/Home.md", edits=edits))["path"] == "Home.md"
    with pytest.raises(ExistsError):
        await call("create_note", title="/Home")


@pytest.mark.parametrize("title", ["/New", "/etc/passwd", "/Nowhere/New", "/../Home", "../Home"])
async def test_what_would_be_made_outside_stays_refused(call: Caller, folder: Path, title: str) -> None:
    before = sorted(folder.rglob("*"))
    with pytest.raises(ForbiddenError):
        await call("create_note", title=title)
    with pytest.raises(ForbiddenError):
        await call("read_note", path=title if "Home" in title else title + "x")
    assert sorted(folder.rglob("*")) == before


# -- Note#Heading -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "Plan#Steps",
        "[[Plan#Steps]]",
        "[[Projects/Plan#Steps|x]]",
        "Projects/Plan.md#Steps",
        "notes:///Projects/Plan.md#Steps",
    ],
)
async def test_a_heading_behind_the_path_is_the_section(call: Caller, path: str) -> None:
    facts, text = (block["text"] for block in (await call("read_note", path=path))["content"])
    assert "section: Steps" in facts
    assert text.startswith("## Steps")
    assert "## Log" not in text
    assert (await call("read_note", path=path, section="Log"))["content"][1]["text"].startswith("## Log")


async def test_headings_below_headings_may_follow(call: Caller) -> None:
    assert (await call("read_note", path="Plan#Steps#Deep"))["content"][1]["text"].startswith("### Deep")


async def test_edits_without_a_section_are_made_in_the_one_behind_the_path(call: Caller, folder: Path) -> None:
    edits = [
        {"op": "replace", "old_text": "- one", "text": "- first"},
        {"op": "append", "section": "Log", "text": "- z"},
    ]
    await call("edit_note", path="[[Plan#Steps]]", edits=edits)
    said = (folder / "Projects/Plan.md").read_text("utf-8")
    assert said == PLAN.replace("- one", "- first", 1) + "- z\n"


async def test_a_note_whose_own_name_has_the_mark_comes_first(call: Caller) -> None:
    assert (await call("read_note", path="C#"))["content"][1]["text"].startswith("sharp")
    assert (await call("read_note", path="C#.md"))["content"][1]["text"].startswith("sharp")
    with pytest.raises(NotFoundError):
        await call("read_note", path="Plan#Nowhere")


# -- daily notes, properties, errors ----------------------------------------------------------------


@pytest.mark.parametrize("path", ["Daily/2026-01-05.md", "Daily/2026-01-05", "2026-01-05"])
async def test_the_missing_daily_note_of_any_day_is_made(call: Caller, folder: Path, path: str) -> None:
    write(folder, {".obsidian/daily-notes.json": '{"folder": "Daily", "template": "T.md"}', "T.md": "# {{date}}\n"})
    done = await answer(call, "add_thoughts", thoughts="hi", path=path)
    assert done["path"] == "Daily/2026-01-05.md"
    assert any("it was made" in warning for warning in done["warnings"])
    assert (folder / done["path"]).read_text("utf-8").startswith("# 2026-01-05\n")
    again = await answer(call, "add_thoughts", thoughts="ho", path=path)
    assert "warnings" not in again


@pytest.mark.parametrize(
    "path", ["Daily/2026-13-05.md", "Daily/Plan2026.md", "Other/2026-01-05.md", f"x{datetime.min}"]
)
async def test_no_other_missing_note_is_made(call: Caller, folder: Path, path: str) -> None:
    with pytest.raises(NotFoundError, match="create_note"):
        await call("add_thoughts", thoughts="hi", path=path)
    assert not (folder / "Daily").exists()


async def test_a_property_is_the_one_that_is_there_in_another_case(call: Caller, folder: Path) -> None:
    done = await answer(call, "set_properties", path="Plan", set={"status": "done"})
    assert done["properties"] == {"Status": "done"}
    assert any("Status" in warning for warning in done["warnings"])
    assert (await answer(call, "set_properties", path="Plan", remove=["STATUS"]))["properties"] == {}
    with pytest.raises(InvalidRequestError, match="twice"):
        await call("set_properties", path="Home", set={"a": 1}) and await call(
            "set_properties", path="Home", set={"A": 1, "a": 2}
        )


async def test_null_sets_a_property_empty_and_does_not_remove_it(call: Caller) -> None:
    done = await answer(call, "set_properties", path="Plan", set={"due": None})
    assert "due" in done["properties"] or done["diff"].count("+due:") == 1


async def test_front_matter_that_is_never_closed_gets_no_second_block(call: Caller, folder: Path) -> None:
    before = (folder / "open.md").read_bytes()
    with pytest.raises(InvalidRequestError, match="never closed"):
        await call("set_properties", path="open", set={"a": 1})
    with pytest.raises(InvalidRequestError, match="never closed"):
        await call("create_note", title="New", content="---\na: 1\n\ntext", properties={"b": 2})
    with pytest.raises(InvalidRequestError, match="never closed"):
        await call("update_tags", action="add", tags=["x"], paths=["open"])
    assert (folder / "open.md").read_bytes() == before
    await call("set_properties", path="rule", set={"a": 1})
    assert (folder / "rule.md").read_bytes() == b"---\na: 1\n---\n---\n\nJust a line above: text.\n"


async def test_errors_say_what_to_do_next(call: Caller) -> None:
    for tool_name in ("read_note", "edit_note"):
        edits = {"edits": [{"op": "append", "text": "x"}]} if tool_name == "edit_note" else {}
        with pytest.raises(InvalidRequestError, match="list_notes"):
            await call(tool_name, path="Projects", **edits)
    with pytest.raises(NotFoundError, match="create_note"):
        await call("edit_note", path="Nowhere", edits=[{"op": "append", "text": "x"}])
    with pytest.raises(InvalidRequestError, match="no section"):
        await call("read_note", path="list.txt", section="Steps")
    with pytest.raises(InvalidRequestError, match="old_text"):
        await call("edit_note", path="list.txt", edits=[{"op": "append", "section": "Steps", "text": "x"}])
    done = await answer(call, "add_thoughts", thoughts="x", path="list.txt", section="Steps")
    assert any("sections" in warning for warning in done["warnings"])
    said = await answer(call, "update_tags", action="rename", tags=["x"], new_tag="x", paths=["Home"])
    assert "itself" in said["warnings"][0]


# -- nothing found ----------------------------------------------------------------------------------


async def test_an_empty_answer_says_which_part_matches_nothing(call: Caller, folder: Path) -> None:
    await call("update_tags", action="add", tags=["meeting"], paths=["Home"])
    listed = await answer(call, "list_notes", tag="meetings", glob="**/*.md")
    assert listed["did_you_mean"] == ["meeting"]
    assert len(listed["warnings"]) == 1
    assert "meetings" in listed["warnings"][0]
    assert "*.zip" in (await answer(call, "list_notes", glob="*.zip"))["warnings"][0]
    for arguments in ({"query": "Home", "tags": ["meetings"]}, {"query": "Home tag:meetings"}):
        found = await answer(call, "search_notes", **arguments)
        assert found["total"] == 0
        assert "meeting" in found["did_you_mean"]
        assert any("meetings" in warning for warning in found["warnings"])
    found = await answer(call, "search_notes", query="Plan", properties={"Status": "closed"})
    assert "closed" in found["warnings"][0]
    found = await answer(call, "search_notes", query="Plan", modified_after="2200-1-1")
    assert "2200-1-1" in found["warnings"][0]


@pytest.mark.parametrize(
    ("arguments", "said", "near"),
    [
        ({"query": "path:projcts"}, "No path contains projcts", "Projects/Plan.md"),
        ({"query": "title:nowhere"}, "No title has nowhere", None),
        ({"query": "[owner:me] Plan"}, "No note has the property owner.", None),
        ({"query": "[status:closed]"}, "status with the value closed", None),
        ({"query": "sharp", "folder": "Projects"}, "Without folder the query matches 1 in all", None),
        ({"query": "sharp", "folder": "Projects", "mode": "exact"}, "Without folder the query matches 1 in all", None),
        ({"query": "sharp", "properties": {"status": "open"}}, "Without properties the query matches 1", None),
    ],
)
async def test_what_leaves_out_every_note_is_named_with_what_is_near(
    call: Caller, arguments: dict[str, Any], said: str, near: str | None
) -> None:
    found = await answer(call, "search_notes", **arguments)
    assert found["total"] == 0
    assert len(found["warnings"]) == 1
    assert said in found["warnings"][0].replace('"', "").replace("'", "")
    assert near is None or near in found["did_you_mean"]


async def test_an_answer_with_hits_or_with_no_condition_gives_no_reasons(call: Caller) -> None:
    assert "warnings" not in await answer(call, "search_notes", query="Plan", properties={"Status": "open"})
    assert "warnings" not in await answer(call, "search_notes", query="zzzzqqq")
    assert "warnings" not in await answer(call, "list_notes", folder="Empty Box")
