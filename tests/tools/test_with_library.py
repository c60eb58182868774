"""The tools on a real folder, through the real library."""

import json
from collections.abc import AsyncIterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from conftest import Caller
from served import serving, write

from notes_mcp.errors import ExistsError, ForbiddenError, InvalidRequestError, NotFoundError, StaleError, TooLargeError
from notes_mcp.features.tools import Tools
from notes_mcp.notes.library import Library


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "My Notes"
    files = {
        "Home.md": "# Home\n\nSee [[Plan]] and #work.\n",
        "Projects/Plan.md": "---\ntags: [work/big]\nstatus: open\n---\n# The Plan\n\n## Steps\n\n- 适者生存\n",
        "Projects/My Note.md": "mine\n",
        "Templates/Meeting.md": "# {{title}}\n",
        "Daily/old.md": "one\r\ntwo\r\n",
        "pic.png": b"\x89PNG\xff",
    }
    return write(folder, files)


@pytest.fixture
async def library(folder: Path, tmp_path: Path) -> AsyncIterator[Library]:
    async with serving(tmp_path, folder) as library:
        yield library


@pytest.fixture
def call(library: Library) -> Caller:
    return Caller(library)


async def structured(call: Caller, tool_name: str, **arguments: Any) -> dict[str, Any]:
    answer = await call(tool_name, **arguments)
    found: dict[str, Any] = answer["structuredContent"]
    return found


async def test_a_call_repeated_after_a_lost_answer_leaves_the_note_that_is_there(call: Caller, folder: Path) -> None:
    await structured(call, "create_note", title="Neu", content="hi")
    with pytest.raises(ExistsError):
        await call("create_note", title="Neu", content="hi")
    assert (folder / "Neu.md").read_bytes() == b"hi"
    said = (folder / "Home.md").read_text("utf-8")
    with pytest.raises(ExistsError):
        await call("create_note", title="Home", content=said)
    assert (folder / "Home.md").read_text("utf-8") == said


async def test_what_is_created_is_found_listed_read_and_deleted(call: Caller, folder: Path) -> None:
    made = await structured(
        call,
        "create_note",
        title="MCP学习笔记",
        content="止损 is a word\n",
        properties={"status": "new", "tags": ["学习"]},
    )
    assert (folder / made["path"]).read_text("utf-8").endswith("---\n止损 is a word\n")
    found = await structured(call, "search_notes", query="止损")
    assert [hit["path"] for hit in found["hits"]] == ["MCP学习笔记.md"]
    assert found["hits"][0]["tags"] == ["学习"]
    assert "止损" in found["hits"][0]["matches"][0]["text"]
    filtered = await structured(call, "search_notes", query="word", tags=["学习"], properties={"status": "new"})
    assert filtered["total"] == 1
    listing = await structured(call, "list_notes", tag="学习")
    assert [note["path"] for note in listing["notes"]] == ["MCP学习笔记.md"]
    told = (await call("read_note", path=made["uri"]))["content"][0]["text"]
    assert f"etag: {made['etag']}" in told
    gone = await structured(call, "delete_note", path="MCP学习笔记", if_match=made["etag"])
    assert (folder / gone["trashed_to"]).is_file()
    assert (await structured(call, "search_notes", query="止损"))["total"] == 0


async def test_search_filters_by_folder_and_time(call: Caller) -> None:
    assert (await structured(call, "search_notes", query="适者", folder="Projects"))["total"] == 1
    assert (await structured(call, "search_notes", query="适者", folder="Daily"))["total"] == 0
    assert (await structured(call, "search_notes", query="适者", modified_after="2100-01-01"))["total"] == 0
    with pytest.raises(InvalidRequestError):
        await call("search_notes", query="x", modified_after="soon")
    with pytest.raises(InvalidRequestError):
        await call("search_notes", query="(", mode="regex")
    with pytest.raises(NotFoundError):
        await call("search_notes", query="x", folder="Nowhere")


async def test_pages_go_on_where_they_stop(call: Caller, folder: Path) -> None:
    seen: list[str] = []
    cursor = None
    while True:
        page = await structured(call, "list_notes", limit=2, cursor=cursor)
        seen += [note["path"] for note in page["notes"]]
        cursor = page.get("next_cursor")
        if cursor is None:
            break
    assert seen == sorted(seen)
    assert set(seen) == {path.relative_to(folder).as_posix() for path in folder.rglob("*.md")}
    with pytest.raises(InvalidRequestError):
        await call("list_notes", cursor="nonsense")


async def test_names_are_resolved_and_the_answer_names_the_real_path(call: Caller) -> None:
    for name in ("Plan", "Projects/Plan", "notes:///Projects/Plan.md", "[[Plan]]"):
        told = (await call("read_note", path=name))["content"][0]["text"]
        assert told.startswith("path: Projects/Plan.md\n")
    with pytest.raises(NotFoundError) as caught:
        await call("read_note", path="Projects/Pla.md")
    assert "Projects/Plan.md" in [*caught.value.nearest, str(caught.value)]


async def test_the_daily_note_is_made_and_written_to_again(call: Caller, folder: Path) -> None:
    first = await structured(call, "add_thoughts", thoughts="一")
    assert first["bytes_before"] == 0
    await call("add_thoughts", thoughts="two")
    text = (folder / first["path"]).read_text("utf-8")
    assert text.count("## Thoughts") == 1
    assert text.index("一") < text.index("two")
    assert datetime.strptime(first["path"], "Daily/%Y-%m-%d.md")


async def test_hazard_136_parallel_thoughts_all_survive(call: Caller, folder: Path) -> None:
    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(lambda n=number: call("add_thoughts", thoughts=f"thought {n};", path="Home"))
    text = (folder / "Home.md").read_text("utf-8")
    assert all(f"thought {number};" in text for number in range(20))


async def test_hazard_070_a_note_with_crlf_keeps_it(call: Caller, folder: Path) -> None:
    await call("add_thoughts", thoughts="a\nb", path="Daily/old.md")
    data = (folder / "Daily/old.md").read_bytes()
    assert data.startswith(b"one\r\ntwo\r\n\r\n## Thoughts\r\n\r\n- ")
    assert data.count(b"\n") == data.count(b"\r\n")


async def test_dry_runs_write_nothing(call: Caller, folder: Path) -> None:
    before = sorted(path.relative_to(folder) for path in folder.rglob("*"))
    made = await structured(call, "create_note", title="New/Deep", content="x", dry_run=True)
    assert "+x" in made["diff"]
    await call("delete_note", path="Home", dry_run=True)
    assert sorted(path.relative_to(folder) for path in folder.rglob("*")) == before


async def test_nothing_is_overwritten_nor_made_outside(call: Caller, folder: Path) -> None:
    with pytest.raises(ExistsError):
        await call("create_note", title="Home")
    for title in ("../out", ".obsidian/x", "/tmp/x", "Projects/../../x"):
        with pytest.raises((ForbiddenError, InvalidRequestError)):
            await call("create_note", title=title)
    assert not (folder.parent / "out.md").exists()


async def test_a_twin_is_named(call: Caller) -> None:
    made = await structured(call, "create_note", title="Projects/my-note")
    assert any("Projects/My Note.md" in warning for warning in made["warnings"])


async def test_a_template_is_filled_in(call: Caller, folder: Path) -> None:
    await call("create_note", title="Weekly", template="Meeting", content="x")
    assert (folder / "Weekly.md").read_text("utf-8") == "# Weekly\nx"
    with pytest.raises(NotFoundError):
        await call("create_note", title="Other", template="Nope")


async def test_an_old_etag_deletes_nothing(call: Caller, folder: Path) -> None:
    with pytest.raises(StaleError):
        await call("delete_note", path="Home", if_match="0" * 16)
    assert (folder / "Home.md").exists()


async def test_deleting_tells_who_still_links_there(call: Caller) -> None:
    assert (await structured(call, "delete_note", path="Plan"))["backlinks_left"] == ["Home.md"]


async def test_a_picture_is_a_picture(call: Caller) -> None:
    assert (await call("read_note", path="pic.png"))["content"][1]["type"] == "image"


async def test_info_is_about_this_folder(call: Caller) -> None:
    await call("create_note", title="New")
    told = await structured(call, "notes_info")
    assert told["folders"][0]["name"] == "My Notes"
    assert told["folders"][0]["notes"] == 6
    assert told["recent_changes"][0]["paths"] == ["New.md"]
    assert told["recent_notes"][0]["path"] == "New.md"


async def test_errors_reach_the_client_as_results(library: Library) -> None:
    tools = Tools(library, library.settings)
    answer = await tools.call({"name": "read_note", "arguments": {"path": "Projects/Pla.md"}}, lambda *_: None)
    assert answer["isError"] is True
    assert "Projects/Plan.md" in answer["content"][0]["text"]
    assert "structuredContent" not in answer
    assert json.dumps(answer)


async def test_templates_are_where_obsidian_says_and_dates_look_as_it_says(call: Caller, folder: Path) -> None:
    write(
        folder,
        {
            ".obsidian/templates.json": '{"folder": "/模板/", "dateFormat": "YYYY年M月", "timeFormat": "[um] HH"}',
            "模板/周报.md": "{{date}} {{time}} {{date:YYYY}} {{DATE:[D]D}} {{ title }}\n",
        },
    )
    now = datetime.now()
    await call("create_note", title="一周", template="周报.md")
    assert (folder / "一周.md").read_text("utf-8").startswith(f"{now.year}年{now.month}月 um ")
    assert (folder / "一周.md").read_text("utf-8").endswith(f" {now.year} D{now.day} 一周\n")
    with pytest.raises(NotFoundError, match="模板/; list_notes"):
        await call("create_note", title="Other", template="Meeting")


@pytest.mark.parametrize("broken", ["{", "[]", '{"folder": 3}'])
async def test_broken_settings_are_as_none_and_are_said(call: Caller, folder: Path, broken: str) -> None:
    write(folder, {f".obsidian/{name}.json": broken for name in ("templates", "daily-notes")})
    made = (await call("create_note", title="Weekly", template="Meeting"))["structuredContent"]
    assert any(warning.startswith(".obsidian/templates.json is ") for warning in made["warnings"])
    made = (await call("add_thoughts", thoughts="x"))["structuredContent"]
    assert made["path"] == f"Daily/{date.today().isoformat()}.md"
    assert any(warning.startswith(".obsidian/daily-notes.json is ") for warning in made["warnings"])
    assert "warnings" not in (await call("add_thoughts", thoughts="y", path="Home"))["structuredContent"]


async def test_an_attachment_over_the_limit_says_what_to_do(call: Caller, folder: Path, library: Library) -> None:
    write(folder, {"huge.png": b"\x89PNG" + bytes(library.settings.max_resource_bytes)})
    with pytest.raises(TooLargeError, match=r"5,242,884 bytes.*scaled down"):
        await call("read_note", path="huge.png")
