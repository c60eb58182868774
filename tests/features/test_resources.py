"""Notes as resources: list, templates, read, and the errors of server/resources."""

import asyncio
import base64
import contextlib
import json

import mcp_types
import pytest
from notes_in_a_dict import DAY, NOON, NotesInADict, no_report

from notes_mcp.errors import (
    AmbiguousError,
    BusyError,
    ForbiddenError,
    HiddenError,
    InternalError,
    InvalidParams,
    NoteError,
    ResourceBusy,
    ResourceForbidden,
    ResourceNotFound,
    RpcError,
    StorageError,
    TooLargeError,
    UnreadableError,
)
from notes_mcp.events import ResourcesChanged, ResourceUpdated
from notes_mcp.features.resources import Resources
from notes_mcp.notes.records import Change

PNG = b"\x89PNG\r\n\x1a\n\x00\xff"


def resources_of(library: NotesInADict) -> Resources:
    return Resources(library, library.settings, [].append, now_ns=lambda: NOON)


async def page(library: NotesInADict, **params):
    return await resources_of(library).methods["resources/list"](params, no_report)


async def read(library: NotesInADict, uri):
    return await resources_of(library).methods["resources/read"]({"uri": uri}, no_report)


async def refused(library: NotesInADict, uri) -> RpcError:
    with pytest.raises(RpcError) as caught:
        await read(library, uri)
    return caught.value


async def test_every_note_is_listed_with_all_a_client_can_show():
    result = await page(NotesInADict({"Projects/计划.md": "# 读书会\n", "pic.png": PNG}))
    assert result == {
        "resources": [
            {
                "uri": "notes:///Projects/%E8%AE%A1%E5%88%92.md",
                "name": "计划.md",
                "title": "读书会",
                "mimeType": "text/markdown",
                "size": 12,
                "annotations": {"priority": 0.9, "lastModified": "2026-07-29T10:00:00Z"},
            }
        ]
    }
    mcp_types.ListResourcesResult.model_validate(result)


async def test_hazard_145_concrete_notes_are_listed_newest_first():
    library = NotesInADict({"old.md": "a", "new.md": "b", "middle.txt": "c"})
    library.times = {"old.md": NOON - 90 * DAY, "new.md": NOON, "middle.txt": NOON - DAY}
    entries = (await page(library))["resources"]
    assert [entry["name"] for entry in entries] == ["new.md", "middle.txt", "old.md"]
    priorities = [entry["annotations"]["priority"] for entry in entries]
    assert priorities == sorted(priorities, reverse=True)
    assert all(0 <= priority <= 1 for priority in priorities)


@pytest.mark.parametrize("time_ns", [-(10**25), -(10**18), 0, NOON + 400 * DAY, 10**25])
async def test_a_damaged_clock_neither_breaks_the_list_nor_leaves_the_range_of_priority(time_ns):
    library = NotesInADict({"a.md": ""})
    library.times = {"a.md": time_ns}
    annotations = (await page(library))["resources"][0]["annotations"]
    assert 0 <= annotations["priority"] <= 1
    mcp_types.Annotations.model_validate(annotations)


async def test_templates_are_the_least_important():
    library = NotesInADict({"Templates/Daily.md": "", "a.md": ""})
    assert [e["annotations"]["priority"] for e in (await page(library))["resources"]] == [0.1, 0.9]


async def test_pages_hold_a_hundred_and_a_note_added_meanwhile_repeats_and_hides_nothing():
    library = NotesInADict({f"{number:03}.md": "x" for number in range(250)})
    library.times = {f"{number:03}.md": NOON - number for number in range(250)}
    first = await page(library)
    assert len(first["resources"]) == 100
    library.files["brand new.md"] = b"y"
    library.times["brand new.md"] = NOON + 5
    del library.files["050.md"]
    second = await page(library, cursor=first["nextCursor"])
    third = await page(library, cursor=second["nextCursor"])
    assert "nextCursor" not in third
    names = [entry["name"] for part in (first, second, third) for entry in part["resources"]]
    assert names == [f"{number:03}.md" for number in range(250)]


async def test_an_empty_folder_has_an_empty_list():
    assert await page(NotesInADict({})) == {"resources": []}


@pytest.mark.parametrize("cursor", ["", "x", "bm90IGpzb24", 7, ["a"], "😀"])
async def test_a_cursor_that_was_never_given_out_is_invalid_params(cursor):
    with pytest.raises(InvalidParams):
        await page(NotesInADict({"a.md": ""}), cursor=cursor)


async def test_hazard_131_an_index_still_being_built_is_said_in_the_list():
    library = NotesInADict({"a.md": "", "b.md": ""})
    library.complete = False
    assert (await page(library))["_meta"] == {"notes-mcp/index": {"indexed": 1, "total": 2}}


async def test_there_is_one_template_and_no_second_page():
    resources = resources_of(NotesInADict({}))
    result = await resources.methods["resources/templates/list"]({}, no_report)
    assert [template["uriTemplate"] for template in result["resourceTemplates"]] == ["notes:///{+path}"]
    assert result["resourceTemplates"][0]["description"]
    mcp_types.ListResourceTemplatesResult.model_validate(result)
    with pytest.raises(InvalidParams):
        await resources.methods["resources/templates/list"]({"cursor": ""}, no_report)


@pytest.mark.parametrize(
    "uri",
    [
        "notes:///Projects/%E8%AE%A1%E5%88%92.md",
        "notes:///Projects/计划.md",
        "NOTES:///Projects/%e8%ae%a1%e5%88%92.md",
        "file:///notes/Projects/%E8%AE%A1%E5%88%92.md",
        "file://localhost/notes/Projects/计划.md",
        "file://notes/Projects/计划.md",
    ],
)
async def test_a_note_is_read_under_every_form_of_its_uri_and_answered_under_that_form(uri):
    library = NotesInADict({"Projects/计划.md": "每月一次\r\n"})
    assert await read(library, uri) == {"contents": [{"uri": uri, "mimeType": "text/markdown", "text": "每月一次\r\n"}]}


async def test_an_attachment_is_a_base64_blob():
    content = (await read(NotesInADict({"a/pic.png": PNG}), "notes:///a/pic.png"))["contents"][0]
    assert content["mimeType"] == "image/png"
    assert "text" not in content
    assert base64.b64decode(content["blob"]) == PNG


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\xef\xbb\xbfmarked", "marked"),
        ("宽".encode("utf-16"), "宽"),
        (b"caf\xe9", "caf�"),
        (b"", ""),
        (b"a\rb\r\nc\n", "a\rb\r\nc\n"),
    ],
)
async def test_text_comes_as_it_is_whatever_its_bytes(data, text):
    assert (await read(NotesInADict({"a.md": data}), "notes:///a.md"))["contents"][0]["text"] == text


@pytest.mark.parametrize("uri", ["notes:///gone.md", "https://example.org/a.md", "file:///etc/passwd", "nonsense", ""])
async def test_what_is_not_there_is_resource_not_found_with_its_uri(uri):
    error = await refused(NotesInADict({"a.md": ""}), uri)
    assert type(error) is ResourceNotFound
    assert error.data == {"uri": uri}


@pytest.mark.parametrize("uri", ["notes:///计划.md", "notes:///b/计划.md", "file:///notes/计划.md"])
async def test_a_uri_never_stands_for_a_note_of_that_name_in_another_folder(uri):
    library = NotesInADict({"a/b/计划.md": "another"})
    error = await refused(library, uri)
    assert type(error) is ResourceNotFound
    assert error.data == {"uri": uri}


@pytest.mark.parametrize("uri", ["notes:///%ff.md", "notes:///a%00.md"])
async def test_a_uri_that_cannot_name_a_note_is_invalid_params(uri):
    error = await refused(NotesInADict({"a.md": ""}), uri)
    assert isinstance(error, InvalidParams)


@pytest.mark.parametrize("uri", [None, 5, ["notes:///a.md"], {}, True])
async def test_a_uri_that_is_no_string_is_invalid_params(uri):
    assert type(await refused(NotesInADict({"a.md": ""}), uri)) is InvalidParams


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (AmbiguousError("two", ["a", "b"]), ResourceNotFound),
        (ForbiddenError("a link that leads outside"), ResourceForbidden),
        (UnreadableError("denied"), ResourceForbidden),
        (BusyError("locked"), ResourceBusy),
        (StorageError("unplugged"), ResourceBusy),
        (TooLargeError("huge"), InternalError),
    ],
)
async def test_each_reason_not_to_read_has_its_own_error(raised: NoteError, expected: type[RpcError]):
    library = NotesInADict({"a.md": ""})
    library.broken = {"a.md": raised}
    error = await refused(library, "notes:///a.md")
    assert type(error) is expected
    assert error.data["uri"] == "notes:///a.md"
    assert error.message == str(raised)


async def test_what_is_hidden_is_refused_in_the_words_of_what_is_not_there():
    library = NotesInADict({"a.md": ""})
    library.broken = {"a.md": HiddenError("a.md is hidden, since it leads to .git/config")}
    hidden = await refused(library, "notes:///a.md")
    del library.files["a.md"]
    gone = await refused(library, "notes:///a.md")
    assert type(hidden) is type(gone) is ResourceNotFound
    assert (hidden.message, hidden.data) == (gone.message, gone.data)


async def test_an_attachment_over_the_limit_is_refused_with_its_size():
    library = NotesInADict({"a.png": b"x" * 101}, max_resource_bytes=100)
    error = await refused(library, "notes:///a.png")
    assert type(error) is InternalError
    assert "101" in error.data["reason"]


@pytest.mark.parametrize(("text", "fits"), [("a" * 3000, True), ("\x01" * 1500, False), ("a" * 7000, False)])
async def test_a_note_is_refused_only_if_its_json_cannot_fit_a_line(text, fits):
    library = NotesInADict({"a.md": text}, max_line_out_bytes=4096 + 6000)
    if fits:
        assert len(json.dumps(await read(library, "notes:///a.md"))) < 4096 + 6000
    else:
        assert "read_note" in (await refused(library, "notes:///a.md")).message


async def test_what_can_be_subscribed_to_is_the_librarys_word():
    wanted = ["notes:///a.md", "file:///notes/b.md", "https://example.org"]
    assert await resources_of(NotesInADict({})).accept(wanted) == {
        "notes:///a.md": "notes:///a.md",
        "file:///notes/b.md": "notes:///b.md",
    }


async def test_what_the_library_tells_of_is_published_until_the_run_ends():
    library = NotesInADict({}, list_changed_ms=1)
    heard: asyncio.Queue[object] = asyncio.Queue()
    resources = Resources(library, library.settings, heard.put_nowait)
    running = asyncio.create_task(resources.run())
    (tell,) = library.listeners
    tell([Change(1, "created", "a.md", "note")], True)
    assert await asyncio.wait_for(heard.get(), 20) == ResourceUpdated("notes:///a.md")
    assert await asyncio.wait_for(heard.get(), 20) == ResourcesChanged()
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running
    tell([Change(2, "deleted", "a.md", "note")], True)
    assert heard.get_nowait() == ResourceUpdated("notes:///a.md")
