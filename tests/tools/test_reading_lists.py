"""search_notes, list_notes and notes_info."""

from datetime import datetime

import pytest
from conftest import Caller
from library_fake import FakeLibrary

from notes_mcp.errors import InvalidArguments, InvalidRequestError
from notes_mcp.notes.answers import ChangeRecord, IndexState
from notes_mcp.notes.records import Problem


async def test_search_gives_notes_with_their_matching_lines(call: Caller) -> None:
    found = (await call("search_notes", query="mine"))["structuredContent"]
    assert found["total"] == 1
    hit = found["hits"][0]
    assert set(hit) == {"path", "title", "score", "modified", "tags", "matches", "more"}
    assert hit["path"] == "Projects/My Note.md"
    assert hit["matches"] == [{"line": 1, "heading": "", "text": "mine"}]
    assert datetime.fromisoformat(hit["modified"]).utcoffset() is not None


async def test_search_passes_on_what_it_was_asked(call: Caller, library: FakeLibrary) -> None:
    await call(
        "search_notes", query="x", folder="Projects/", tags='["#work", " "]',
        modified_after="1970-01-02T00:00+00:00",
        properties='{"status": "open"}', mode="regex", sort="path", limit="3",
    )  # fmt: skip
    asked = library.calls[0][1]
    assert asked == {
        "query": "x", "folder": "Projects", "tags": ("work",), "modified_after": "1970-01-02T00:00+00:00",
        "properties": {"status": "open"}, "mode": "regex", "sort": "path", "limit": 3,
    }  # fmt: skip


async def test_no_hit_offers_the_nearest_words(call: Caller) -> None:
    found = (await call("search_notes", query="nothing has this"))["structuredContent"]
    assert found == {"hits": [], "total": 0, "did_you_mean": ["nearest"]}


async def test_an_unfinished_index_is_said_in_every_answer(call: Caller, library: FakeLibrary) -> None:
    library.index = IndexState(3, 900, False)
    for name, arguments in (("search_notes", {"query": "zz"}), ("list_notes", {})):
        answer = await call(name, **arguments)
        assert answer["structuredContent"]["index"] == {"indexed": 3, "total": 900}


@pytest.mark.parametrize(("name", "value"), [("limit", 0), ("limit", 51), ("mode", "fuzzy"), ("sort", 3)])
async def test_values_outside_of_the_schema_are_refused_by_name(call: Caller, name: str, value: object) -> None:
    with pytest.raises(InvalidArguments, match=name):
        await call("search_notes", query="x", **{name: value})


async def test_hazard_035_a_large_page_is_cut_and_its_cursor_goes_on(call: Caller, library: FakeLibrary) -> None:
    library.files = {f"{number:03}.md": b"word " + b"y" * 1500 for number in range(60)}
    seen: list[str] = []
    cursor = None
    while True:
        page = (await call("search_notes", query="word", limit=50, cursor=cursor))["structuredContent"]
        assert page["total"] == 60
        seen += [hit["path"] for hit in page["hits"]]
        cursor = page.get("next_cursor")
        if cursor is None:
            break
    assert seen == sorted(library.files)


async def test_hazard_035_monstrous_titles_and_tags_do_not_burst_an_answer(call: Caller, library: FakeLibrary) -> None:
    for path in library.files:
        library.titles[path] = "標題" * 50_000
        library.tags[path] = tuple(f"tag{number}" for number in range(5_000))
    row = (await call("list_notes"))["structuredContent"]["notes"][0]
    assert row["title"].endswith("…")
    assert row["tags"][-1] == "…"
    await call("search_notes", query="mine")
    await call("notes_info")


async def test_list_gives_notes_and_the_folders_below(call: Caller) -> None:
    listing = (await call("list_notes"))["structuredContent"]
    assert listing["total"] == 5
    assert listing["folders"] == [{"path": "Projects", "notes": 2}, {"path": "Templates", "notes": 1}]
    assert set(listing["notes"][0]) == {"path", "title", "modified", "size", "tags"}


@pytest.mark.parametrize("folder", ["", ".", "/", "./", " ", "notes:///"])
async def test_the_whole_folder_has_several_names(call: Caller, folder: str) -> None:
    assert (await call("list_notes", folder=folder))["structuredContent"]["total"] == 5


async def test_the_argument_names_of_other_servers_reach_the_list(call: Caller, library: FakeLibrary) -> None:
    await call("list_notes", path="Projects", pattern="*.md")
    assert library.calls[0][1]["folder"] == "Projects"
    assert library.calls[0][1]["glob"] == "*.md"


async def test_hazard_037_thousands_of_folders_leave_room_for_notes(call: Caller, library: FakeLibrary) -> None:
    library.files = {f"folder {number:05}/note.md": b"x" for number in range(3_000)}
    listing = (await call("list_notes"))["structuredContent"]
    assert 0 < len(listing["folders"]) < 3_000
    assert len(listing["folders"]) + listing["more_folders"] == 3_000
    assert len(listing["notes"]) == 50


async def test_hazard_038_a_page_is_a_page(call: Caller, library: FakeLibrary) -> None:
    library.files = {f"deep/{number:04}.md": b"x" for number in range(1_000)}
    first = (await call("list_notes", limit=1))["structuredContent"]
    assert len(first["notes"]) == 1
    assert first["folders"] == [{"path": "deep", "notes": 1000}]
    second = (await call("list_notes", limit=1, cursor=first["next_cursor"]))["structuredContent"]
    assert second["notes"][0]["path"] == "deep/0001.md"
    assert second["folders"] == []


async def test_hazard_040_every_page_has_the_total(call: Caller, library: FakeLibrary) -> None:
    library.files = {f"{number:04}.md": b"x" for number in range(70)}
    page = (await call("list_notes"))["structuredContent"]
    assert page["total"] == 70
    assert (await call("list_notes", cursor=page["next_cursor"]))["structuredContent"]["total"] == 70


async def test_a_bad_cursor_is_an_error_of_the_request(call: Caller) -> None:
    with pytest.raises(InvalidRequestError, match="cursor"):
        await call("list_notes", cursor="!!")


async def test_info_tells_folders_changes_problems_and_limits(call: Caller, library: FakeLibrary) -> None:
    library.problems = tuple(Problem("not_utf8", f"bad {number}.md") for number in range(2_000))
    library.changes = (ChangeRecord("c9", "create_note", 1, tuple(f"{number}.md" for number in range(5_000))),)
    told = (await call("notes_info"))["structuredContent"]
    assert told["folders"][0] == {
        "name": "notes", "notes": 5, "attachments": 0, "read_only": False, "watching": "events"
    }  # fmt: skip
    assert len(told["problems"]) + told["more_problems"] == 2_000
    assert told["problem_counts"] == {"not_utf8": 2_000}
    assert told["recent_changes"][0]["change_id"] == "c9"
    assert told["recent_changes"][0]["paths"][-1].endswith("more")
    assert told["limits"]["max_answer_chars"] == 20_000
    assert told["index"] == {"indexed": 5, "total": 5, "complete": True}
    assert told["version"]


async def test_of_every_kind_of_problem_there_is_one_before_there_are_two(call: Caller, library: FakeLibrary) -> None:
    many = [Problem("broken_link", f"{number}.md", "mend it " * 20) for number in range(500)]
    library.problems = (*many, Problem("ignored", "*.log"), Problem("ignored", "*.tmp"))
    told = (await call("notes_info"))["structuredContent"]
    assert [problem["kind"] for problem in told["problems"][-2:]] == ["ignored", "ignored"]
    assert told["problems"][0]["path"] == "0.md" and 2 < len(told["problems"]) < 50
    assert told["problem_counts"] == {"broken_link": 500, "ignored": 2}
    assert len(told["problems"]) + told["more_problems"] == 502
