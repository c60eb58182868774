"""edit_note: the shapes of edits that clients send, what comes back, and what an error says."""

import json
from typing import Any

import pytest
from conftest import Caller
from library_fake import FakeLibrary

from notes_mcp.errors import (
    AmbiguousError,
    InvalidArguments,
    InvalidRequestError,
    NotFoundError,
    NotTextError,
    StaleError,
)
from notes_mcp.notes.text import etag

PLAN = b"---\ntags: [work]\n---\n# Plan\n\n## Steps\n\n- one\n\n## Log\n"


async def edited(call: Caller, *edits: dict[str, Any], path: str = "Projects/Plan.md", **rest: Any) -> dict[str, Any]:
    found: dict[str, Any] = (await call("edit_note", path=path, edits=list(edits), **rest))["structuredContent"]
    return found


async def test_a_write_result_says_what_was_done_and_where(call: Caller, library: FakeLibrary) -> None:
    before = library.files["Projects/Plan.md"]
    told = await edited(
        call,
        {"op": "replace", "old_text": "one", "text": "two"},
        {"op": "append", "section": "Log", "text": "- done"},
    )
    after = library.files["Projects/Plan.md"]
    assert after == before.replace(b"- one", b"- two") + b"- done\n"
    assert told["applied"] == [{"op": "replace", "line": 8}, {"op": "append", "line": 11}]
    assert (told["previous_etag"], told["etag"]) == (etag(before), etag(after))
    assert (told["bytes_before"], told["bytes_after"]) == (len(before), len(after))
    assert told["path"] == "Projects/Plan.md"
    assert told["change_id"]
    assert told["diff"]


REPLACED = PLAN.replace(b"- one", b"- two")


@pytest.mark.parametrize(
    "arguments",
    [
        {"edits": [{"op": "replace", "old_text": "one", "text": "two"}]},
        {"edits": [{"old_text": "one", "text": "two"}]},
        {"edits": [{"old_string": "one", "new_string": "two"}]},
        {"edits": [{"oldText": "one", "newText": "two"}]},
        {"edits": [{"old_str": "one", "new_str": "two"}]},
        {"edits": [{"find": "one", "replace": "two"}]},
        {"edits": [{"old_text": "one", "content": "two"}]},
        {"edits": [{"action": "Replace", "old_text": "one", "text": "two", "section": None}]},
        {"edits": [{"op": "replace", "old_text": "one", "text": "two", "count": "1"}]},
        {"edits": {"old_text": "one", "text": "two"}},
        {"edits": '{"old_text": "one", "text": "two"}'},
        {"edits": '[{"old_text": "one", "text": "two"}]'},
        {"edits": ['{"old_text": "one", "text": "two"}']},
        {"changes": [{"old_text": "one", "text": "two"}]},
        {"old_string": "one", "new_string": "two"},
        {"old_text": "one", "text": "two", "op": "replace"},
        {"file_path": "Projects/Plan", "oldText": "one", "newText": "two", "expected_hash": etag(PLAN)},
    ],
)
async def test_hazard_019_clumsy_shapes_of_an_edit_are_taken(
    call: Caller, library: FakeLibrary, arguments: dict[str, Any]
) -> None:
    home = {} if "file_path" in arguments else {"path": "Projects/Plan"}
    told = (await call("edit_note", **home, **arguments))["structuredContent"]
    assert library.files["Projects/Plan.md"] == REPLACED
    assert told["applied"] == [{"op": "replace", "line": 8}]


@pytest.mark.parametrize("op", ["insertBefore", "insert-before", "INSERT_BEFORE", "insert before"])
async def test_an_op_is_known_whatever_its_case_and_separators(call: Caller, library: FakeLibrary, op: str) -> None:
    await edited(call, {"op": op, "section": "Log", "text": "x"})
    assert b"x\n\n## Log\n" in library.files["Projects/Plan.md"]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({"op": "repalce", "old_text": "one", "text": "two"}, "nearest is replace"),
        ({"op": "delete", "section": "Log"}, "nearest is delete_section"),
        ({"op": 3, "old_text": "one", "text": "two"}, "must be one of"),
        ({"text": "two"}, "needs op"),
        ({"section": "Log", "text": "two"}, "needs op"),
        ({"op": "append", "text": "x", "old_txt": "y"}, "nearest is old_text"),
        ({"op": "append", "text": "x", "count": 0}, "count"),
        ({"op": "append", "text": ["x"]}, "text"),
    ],
)
async def test_an_edit_that_is_no_edit_is_named_with_the_nearest_way_out(
    call: Caller, library: FakeLibrary, edit: dict[str, Any], said: str
) -> None:
    before = dict(library.files)
    with pytest.raises(InvalidArguments, match=said) as caught:
        await edited(call, {"op": "append", "text": "fine"}, edit)
    assert "edits[1]" in caught.value.message
    assert library.files == before


@pytest.mark.parametrize(
    "edits", [[], [{"op": "append", "text": "x"}] * 51, "nonsense", 3, True, ["x"], [["x"]], "[[", None]
)
async def test_edits_that_are_no_list_of_1_to_50_are_refused(call: Caller, library: FakeLibrary, edits: Any) -> None:
    before = dict(library.files)
    with pytest.raises(InvalidArguments, match="edits"):
        await call("edit_note", path="Projects/Plan", edits=edits)
    assert library.files == before


async def test_fifty_edits_are_one_write(call: Caller, library: FakeLibrary) -> None:
    told = await edited(call, *({"op": "append", "text": f"line {number}"} for number in range(50)))
    assert len(told["applied"]) == 50
    assert library.files["Projects/Plan.md"].endswith(b"line 48\nline 49\n")


async def test_hazard_091_all_or_nothing_and_the_error_names_the_edit(call: Caller, library: FakeLibrary) -> None:
    before = dict(library.files)
    with pytest.raises(InvalidRequestError, match=r"Edit 2 of 3 \(replace\).*Nothing was written") as caught:
        await edited(
            call,
            {"old_text": "- one", "text": "- two"},
            {"old_text": "## Stops", "text": "x"},
            {"old_text": "Log", "text": "x"},
        )
    assert "## Steps" in str(caught.value)
    assert library.files == before


async def test_hazard_092_equal_passages_are_an_error_with_their_lines_unless_counted(
    call: Caller, library: FakeLibrary
) -> None:
    library.files["a.md"] = b"same\nother\nsame\n"
    with pytest.raises(InvalidRequestError, match="lines 1, 3"):
        await edited(call, {"old_text": "same", "text": "x"}, path="a.md")
    await edited(call, {"old_text": "same", "text": "x", "count": 2}, path="a.md")
    assert library.files["a.md"] == b"x\nother\nx\n"


async def test_hazard_094_new_text_is_literal(call: Caller, library: FakeLibrary) -> None:
    await edited(call, {"old_text": "one", "text": "$& $1 $$ \\1 \\n {{x}}"})
    assert b"- $& $1 $$ \\1 \\n {{x}}\n" in library.files["Projects/Plan.md"]


async def test_hazard_095_empty_new_text_deletes(call: Caller, library: FakeLibrary) -> None:
    await edited(call, {"op": "replace", "old_text": "- one\n", "text": ""})
    assert library.files["Projects/Plan.md"] == PLAN.replace(b"- one\n", b"")


async def test_hazard_070_071_a_note_with_crlf_is_matched_with_lf_and_keeps_it(
    call: Caller, library: FakeLibrary
) -> None:
    library.files["a.md"] = b"one\r\ntwo\r\nthree\r\n"
    await edited(call, {"old_text": "one\ntwo", "text": "1\n2"}, path="a.md")
    assert library.files["a.md"] == b"1\r\n2\r\nthree\r\n"


async def test_hazard_073_text_that_is_not_valid_is_not_edited(call: Caller, library: FakeLibrary) -> None:
    library.files["a.md"] = before = "名字 word".encode("gbk")
    with pytest.raises(NotTextError):
        await edited(call, {"old_text": "word", "text": "x"}, path="a.md")
    assert library.files["a.md"] == before


async def test_hazard_100_what_changes_no_byte_is_said_to_change_none(call: Caller) -> None:
    told = await edited(call, {"old_text": "one", "text": "one"})
    assert told["etag"] == told["previous_etag"]
    assert told["diff"] == ""
    assert "nothing was written" in told["warnings"][0]


async def test_hazard_103_what_the_outline_shows_is_a_section(call: Caller, library: FakeLibrary) -> None:
    library.files["a.md"] = b"# A\n\n## Log\n\nx\n\n# B\n\n## Log\n\ny\n"
    for number in range(4):
        outline = (await call("read_note", path="a.md", view="outline"))["content"][1]["text"]
        await edited(call, {"op": "append", "section": outline.splitlines()[number], "text": "z"}, path="a.md")
    assert library.files["a.md"].count(b"z\n") == 4


async def test_hazard_104_a_second_send_with_the_same_etag_is_refused(call: Caller, library: FakeLibrary) -> None:
    once = {"op": "append", "text": "x"}
    await edited(call, once, if_match=etag(PLAN))
    after = library.files["Projects/Plan.md"]
    with pytest.raises(StaleError) as caught:
        await edited(call, once, if_match=etag(PLAN))
    assert caught.value.etag == etag(after)
    assert library.files["Projects/Plan.md"] == after


async def test_dry_run_writes_nothing_and_shows_what_would_be(call: Caller, library: FakeLibrary) -> None:
    told = await edited(call, {"old_text": "one", "text": "two"}, dry_run="true")
    assert library.files["Projects/Plan.md"] == PLAN
    assert "change_id" not in told
    assert "warnings" not in told
    assert (told["etag"], told["previous_etag"]) == (etag(PLAN), etag(PLAN))
    assert told["applied"] == [{"op": "replace", "line": 8}]


@pytest.mark.parametrize(
    ("edit", "error"),
    [
        ({"op": "append", "section": "Nowhere", "text": "x"}, NotFoundError),
        ({"op": "append", "section": "Twice", "text": "x"}, AmbiguousError),
        ({"op": "append", "section": "^none", "text": "x"}, NotFoundError),
        ({"op": "append"}, InvalidRequestError),
        ({"op": "replace_section", "text": "x"}, InvalidRequestError),
        ({"op": "delete_section", "section": "Twice"}, AmbiguousError),
    ],
)
async def test_what_cannot_be_done_is_an_error_of_its_kind(
    call: Caller, library: FakeLibrary, edit: dict[str, Any], error: type[Exception]
) -> None:
    library.files["a.md"] = b"## Twice\n\n## Twice\n"
    with pytest.raises(error, match="othing was written"):
        await edited(call, edit, path="a.md")


async def test_an_attachment_is_not_edited(call: Caller) -> None:
    with pytest.raises(InvalidRequestError, match="not a note"):
        await edited(call, {"op": "append", "text": "x"}, path="pic.png")


async def test_a_note_that_is_not_there_is_not_made(call: Caller, library: FakeLibrary) -> None:
    with pytest.raises(NotFoundError):
        await edited(call, {"op": "append", "text": "x"}, path="Nowhere.md")
    assert "Nowhere.md" not in library.files


@pytest.mark.parametrize("text", ["\x00\x1b[0m", "\u2028\ufffe", "👩‍👩‍👧‍👦", "\x01" * 10_000, "中" * 300_000, '"}'])
async def test_hazard_029_a_write_that_happened_is_never_reported_as_failed(
    call: Caller, library: FakeLibrary, text: str
) -> None:
    answer = await call("edit_note", path="Home", edits=json.dumps([{"op": "append", "text": text}]))
    assert answer["isError"] is False
    assert answer["structuredContent"]["etag"] == etag(library.files["Home.md"])
