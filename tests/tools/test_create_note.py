"""create_note: what is written, and what is said about it."""

from datetime import date, datetime

import pytest
from conftest import Caller
from library_fake import FakeLibrary

from notes_mcp.errors import ExistsError, InvalidArguments, InvalidRequestError, NotFoundError
from notes_mcp.notes.text import etag


async def test_a_title_in_any_script_makes_the_note(call: Caller, library: FakeLibrary) -> None:
    answer = await call("create_note", title="MCP学习笔记", content="# 标题\n\n正文")
    assert library.files["MCP学习笔记.md"] == "# 标题\n\n正文".encode()
    assert answer["structuredContent"] == {
        "path": "MCP学习笔记.md",
        "uri": "notes:///MCP%E5%AD%A6%E4%B9%A0%E7%AC%94%E8%AE%B0.md",
        "etag": etag(library.files["MCP学习笔记.md"]),
        "change_id": "c6",
        "bytes_before": 0,
        "bytes_after": len(library.files["MCP学习笔记.md"]),
        "diff": answer["content"][1]["text"],
    }


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"title": "Projects/New"}, "Projects/New.md"),
        ({"title": "New", "folder": "Projects/"}, "Projects/New.md"),
        ({"title": "New", "folder": "/"}, "New.md"),
        ({"path": "New.md"}, "New.md"),
        ({"filename": "New", "text": ""}, "New.md"),
        ({"title": 2026}, "2026.md"),
    ],
)
async def test_folders_and_other_spellings_reach_the_path(
    call: Caller, library: FakeLibrary, arguments: dict[str, object], path: str
) -> None:
    assert (await call("create_note", **arguments))["structuredContent"]["path"] == path
    assert library.files[path] == b""


async def test_a_name_that_is_taken_is_an_error_and_nothing_is_overwritten(call: Caller, library: FakeLibrary) -> None:
    before = dict(library.files)
    with pytest.raises(ExistsError):
        await call("create_note", title="Home", content="x")
    assert library.files == before


async def test_dry_run_writes_nothing_and_gives_the_diff(call: Caller, library: FakeLibrary) -> None:
    before = dict(library.files)
    answer = await call("create_note", title="New", content="x", dry_run="true")
    assert library.files == before
    assert "change_id" not in answer["structuredContent"]
    assert "nothing was written" in answer["content"][1]["text"]
    assert answer["content"][2]["text"] == answer["structuredContent"]["diff"]


async def test_what_was_changed_about_the_title_is_said(call: Caller) -> None:
    told = (await call("create_note", title="Plan: v2?"))["structuredContent"]
    assert told["path"] == "Plan- v2.md"
    assert any(": ?" in warning for warning in told["warnings"])
    assert any("Plan- v2.md" in warning for warning in told["warnings"])


@pytest.mark.parametrize("title", ["Projects/my-note", "my_note", "MY NOTE", "MyNote"])
async def test_hazard_061_a_near_twin_is_named(call: Caller, title: str) -> None:
    told = (await call("create_note", title=title))["structuredContent"]
    assert any("Projects/My Note.md" in warning for warning in told["warnings"])


async def test_a_note_of_its_own_name_has_no_warning(call: Caller) -> None:
    assert "warnings" not in (await call("create_note", title="Something else"))["structuredContent"]


async def test_properties_become_front_matter(call: Caller, library: FakeLibrary) -> None:
    await call("create_note", title="New", content="text\n", properties='{"status": "open", "tags": ["a", "中"]}')
    text = library.files["New.md"].decode()
    assert text.startswith("---\n")
    assert text.endswith("---\ntext\n")
    assert "status: open\n" in text


async def test_hazard_082_content_that_has_front_matter_keeps_one_block(call: Caller, library: FakeLibrary) -> None:
    content = "---\n# kept\nversion: 1.10\n---\nbody\n"
    await call("create_note", title="New", content=content, properties={"status": "open"})
    text = library.files["New.md"].decode()
    assert text.count("---\n") == 2
    assert "# kept\nversion: 1.10\n" in text
    assert "status: open" in text
    assert text.endswith("---\nbody\n")


async def test_hazard_083_content_with_broken_front_matter_takes_no_properties(
    call: Caller, library: FakeLibrary
) -> None:
    with pytest.raises(InvalidRequestError):
        await call("create_note", title="New", content='---\na: "b\n---\n', properties={"c": 1})
    assert "New.md" not in library.files
    told = (await call("create_note", title="New", content='---\na: "b\n---\n'))["structuredContent"]
    assert any("cannot be read" in warning for warning in told["warnings"])


async def test_properties_are_for_markdown_only(call: Caller) -> None:
    with pytest.raises(InvalidRequestError, match="Markdown"):
        await call("create_note", title="a.txt", properties={"a": 1})


@pytest.mark.parametrize("name", ["Meeting", "Meeting.md", "Templates/Meeting", " Meeting "])
async def test_a_template_is_filled_in(call: Caller, library: FakeLibrary, name: str) -> None:
    await call("create_note", title="Work/Q3: plan", template=name)
    heading, empty, when, end = library.files["Work/Q3- plan.md"].decode().split("\n")
    assert heading == "# Q3: plan"
    assert (empty, end) == ("", "")
    assert date.fromisoformat(when.split()[0])
    assert datetime.strptime(when.split()[1], "%H:%M")


async def test_content_goes_to_the_end_of_the_template_or_where_it_says(call: Caller, library: FakeLibrary) -> None:
    await call("create_note", title="a", template="Meeting", content="mine {{title}} $& \\1")
    assert library.files["a.md"].endswith(b"\nmine {{title}} $& \\1")
    library.files["Templates/Frame.md"] = b"<{{ content }}|{{date:YYYY}}>"
    await call("create_note", title="b", template="Frame", content="mine")
    assert library.files["b.md"] == f"<mine|{date.today().year}>".encode()


async def test_hazard_082_template_and_content_both_with_properties_make_one_block(
    call: Caller, library: FakeLibrary
) -> None:
    library.files["Templates/P.md"] = b"---\nkind: meeting\nstatus: new\n---\n# {{title}}\n"
    await call("create_note", title="a", template="P", content="---\nstatus: done\n---\nbody\n", properties={"n": 1})
    text = library.files["a.md"].decode()
    assert text.count("---\n") == 2
    assert "kind: meeting\nstatus: done\n" in text
    assert "n: 1\n" in text
    assert text.endswith("---\n# a\nbody\n")


async def test_a_template_that_is_not_there_is_said(call: Caller) -> None:
    with pytest.raises(NotFoundError, match='template "Nope"'):
        await call("create_note", title="a", template="Nope")


@pytest.mark.parametrize("arguments", [{}, {"title": None}, {"title": ["a"]}, {"title": "a", "body": {"a": 1}}])
async def test_arguments_that_do_not_fit_are_refused(call: Caller, arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidArguments):
        await call("create_note", **arguments)
