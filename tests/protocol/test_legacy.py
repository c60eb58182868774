"""2024-11-05 to 2025-11-25: the handshake, what may come when, and what each revision is sent."""

import asyncio
import json
from typing import Any

import pytest
from conftest import LEGACY, hello

from notes_mcp.errors import (
    InvalidArguments,
    InvalidParams,
    ResourceBusy,
    ResourceForbidden,
    ResourceNotFound,
)

ANNOTATIONS = {"lastModified": "2026-01-02T03:04:05Z", "priority": 0.5}
META = {"com.example/x": 1}
ICONS = [{"src": "data:image/png;base64,AA=="}]
BLOCKS = [
    {"type": "text", "text": "文", "annotations": ANNOTATIONS, "_meta": META},
    {"type": "image", "data": "AA==", "mimeType": "image/png", "annotations": ANNOTATIONS, "_meta": META},
    {"type": "audio", "data": "AA==", "mimeType": "audio/wav", "annotations": ANNOTATIONS, "_meta": META},
    {"type": "resource_link", "uri": "notes:///a.md", "name": "a.md", "title": "A", "size": 3, "_meta": META},
    {"type": "resource", "resource": {"uri": "notes:///a.md", "text": "x", "_meta": META}, "annotations": ANNOTATIONS},
]
RICH: dict[str, dict[str, Any]] = {
    "tools/list": {
        "tools": [
            {
                "name": "t",
                "title": "T",
                "description": "d",
                "inputSchema": {"type": "object", "properties": {"title": {"type": "string"}}},
                "outputSchema": {"type": "object", "properties": {"annotations": {"type": "string"}}},
                "annotations": {"title": "T", "readOnlyHint": True},
                "icons": ICONS,
                "_meta": META,
            },
            {"name": "u", "inputSchema": {"type": "object"}, "outputSchema": {"type": "array", "items": {}}},
        ]
    },
    "tools/call": {"content": BLOCKS, "structuredContent": {"title": "kept", "_meta": 1}, "isError": False},
    "resources/list": {
        "resources": [
            {
                "uri": "notes:///a.md",
                "name": "a.md",
                "title": "A",
                "size": 3,
                "mimeType": "text/markdown",
                "annotations": ANNOTATIONS,
                "icons": ICONS,
                "_meta": META,
            }
        ],
        "nextCursor": "c",
    },
    "resources/templates/list": {
        "resourceTemplates": [{"uriTemplate": "notes:///{+path}", "name": "note", "title": "N", "_meta": META}]
    },
    "resources/read": {"contents": [{"uri": "notes:///a.md", "mimeType": "text/markdown", "text": "x", "_meta": META}]},
    "prompts/list": {
        "prompts": [
            {"name": "p", "title": "P", "arguments": [{"name": "a", "title": "A", "required": True}], "_meta": META}
        ]
    },
    "prompts/get": {
        "description": "d",
        "messages": [{"role": "user", "content": block} for block in BLOCKS],
    },
    "completion/complete": {"completion": {"values": ["a"], "total": 1, "hasMore": False}},
}


def features(results: dict[str, dict[str, Any]]) -> dict[str, Any]:
    def fixed(result):
        async def handler(params, report):
            return result

        return handler

    return {method: fixed(result) for method, result in results.items()}


def failing(error):
    async def handler(params, report):
        raise error

    return handler


@pytest.mark.parametrize("revision", LEGACY)
async def test_a_revision_that_is_served_is_agreed_to(connect, revision):
    async with connect() as desk:
        result = await desk.shake(revision)
    newest = revision >= "2025-06-18"
    assert result == {
        "protocolVersion": revision,
        "capabilities": {
            **({"completions": {}} if revision > "2024-11-05" else {}),
            "prompts": {"listChanged": True},
            "resources": {"subscribe": True, "listChanged": True},
            "tools": {},
        },
        "serverInfo": {"name": "notes-mcp", **({"title": "Notes 笔记"} if newest else {}), "version": "1.2.3"},
        "instructions": "Search before you read.",
    }


@pytest.mark.parametrize("wanted", ["2026-07-28", "1999-01-01", "2025-11-26", "", "latest"])
async def test_any_other_revision_is_answered_with_our_newest_of_this_era(connect, wanted):
    async with connect() as desk:
        assert (await desk.shake(wanted))["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize(
    "change",
    [
        {"protocolVersion": None},
        {"protocolVersion": 20241105},
        {"capabilities": None},
        {"capabilities": []},
        {"clientInfo": None},
        {"clientInfo": {"name": "x"}},
        {"clientInfo": {"name": "x", "version": 1}},
    ],
)
async def test_a_handshake_with_a_bad_field_is_invalid_params_and_may_be_tried_again(connect, change):
    async with connect() as desk:
        desk.call(1, "initialize", **{**hello("2025-06-18"), **change})
        params = hello("2025-06-18")
        del params[next(iter(change))]
        desk.call(2, "initialize", **params)
        assert await desk.code(1) == -32602
        assert await desk.code(2) == -32602
        assert (await desk.shake("2025-06-18", 3))["protocolVersion"] == "2025-06-18"


async def test_a_second_initialize_is_refused_and_changes_nothing(connect):
    async with connect() as desk:
        await desk.shake("2025-03-26", 1)
        desk.call(2, "initialize", **hello("2025-11-25"))
        assert await desk.code(2) == -32600
        assert desk.session.accepts_batch()


@pytest.mark.parametrize("method", [*RICH, "resources/subscribe", "resources/unsubscribe"])
async def test_before_initialize_only_ping_is_answered(connect, method):
    async with connect(features(RICH)) as desk:
        desk.call(1, method, uri="notes:///a.md")
        desk.call(2, "ping")
        assert await desk.code(1) == -32600
        assert await desk.result(2) == {}


@pytest.mark.parametrize("method", ["no/such", "logging/setLevel", "roots/list", "tasks/get", "Tools/List", ""])
@pytest.mark.parametrize("shaken", [False, True])
async def test_a_method_this_era_does_not_have_is_not_found_and_told_which_there_are(connect, method, shaken):
    async with connect(features({"tools/list": RICH["tools/list"]})) as desk:
        if shaken:
            await desk.shake("2025-11-25")
        desk.call(1, method)
        error = (await desk.answer(1))["error"]
    assert error["code"] == -32601
    assert error["data"] == {
        "methods": ["initialize", "ping", "resources/subscribe", "resources/unsubscribe", "tools/list"]
    }


async def test_requests_pipelined_behind_initialize_are_answered_in_the_agreed_revision(connect):
    async with connect(features(RICH)) as desk:
        desk.call(0, "initialize", **hello("2024-11-05"))
        desk.call(1, "tools/list")
        desk.note("initialized")
        desk.call(2, "ping")
        tools = (await desk.result(1))["tools"]
        await desk.result(2)
        first, *rest = [frame["id"] for frame in desk.frames]
        assert first == 0
        assert sorted(rest) == [1, 2]
    assert tools[0].keys() == {"name", "description", "inputSchema"}


async def test_a_request_read_before_initialize_is_refused_even_if_initialize_follows_at_once(connect):
    async with connect(features(RICH)) as desk:
        desk.call(1, "tools/list")
        desk.call(2, "initialize", **hello("2025-11-25"))
        assert await desk.code(1) == -32600
        assert await desk.result(2)


@pytest.mark.parametrize("revision", LEGACY)
@pytest.mark.parametrize("method", RICH)
async def test_each_result_is_what_its_revision_knows(connect, revision, method):
    # What is too new, or fails the schema, is found by the checks every frame goes through.
    async with connect(features(RICH)) as desk:
        await desk.shake(revision)
        desk.call(1, method, name="x", uri="notes:///a.md")
        result = await desk.result(1)
    if revision == "2025-11-25" and method != "tools/list":
        assert result == RICH[method]
    assert {"nextCursor", "completion", "description", "isError"} & set(RICH[method]) <= set(result)


@pytest.mark.parametrize("revision", LEGACY)
async def test_content_a_revision_cannot_hold_is_told_in_words(connect, revision):
    async with connect(features(RICH)) as desk:
        await desk.shake(revision)
        desk.call(1, "tools/call", name="t")
        desk.call(2, "prompts/get", name="t")
        result, prompt = await desk.result(1), await desk.result(2)
    types = [block["type"] for block in result["content"]]
    assert [message["content"] for message in prompt["messages"]] == result["content"]
    assert types[2] == ("audio" if revision > "2024-11-05" else "text")
    assert types[3] == ("resource_link" if revision >= "2025-06-18" else "text")
    assert "notes:///a.md" in json.dumps(result["content"][3])
    assert result["content"][0]["text"] == "文"
    assert result["content"][0]["annotations"]["priority"] == 0.5
    assert ("structuredContent" in result) == (revision >= "2025-06-18")


@pytest.mark.parametrize("value", [[1], "x", 3, None])
async def test_structured_content_that_is_no_object_is_left_out(connect, value):
    async with connect(features({"tools/call": {"content": [], "structuredContent": value}})) as desk:
        await desk.shake("2025-11-25")
        desk.call(1, "tools/call", name="t")
        assert await desk.result(1) == {"content": []}


async def test_trimming_leaves_what_the_features_hold_as_it_was(connect):
    before = json.dumps(RICH)
    async with connect(features(RICH)) as desk:
        await desk.shake("2024-11-05")
        for number, method in enumerate(RICH, 1):
            desk.call(number, method)
            await desk.result(number)
    assert json.dumps(RICH) == before


async def test_a_schema_of_a_tool_is_never_trimmed(connect):
    async with connect(features(RICH)) as desk:
        await desk.shake("2025-11-25")
        desk.call(1, "tools/list")
        first, second = (await desk.result(1))["tools"]
    assert first == RICH["tools/list"]["tools"][0]
    assert "outputSchema" not in second


@pytest.mark.parametrize("revision", LEGACY)
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidParams("unknown tool", {"tools": []}), -32602),
        (ResourceNotFound("gone", {"uri": "notes:///x.md"}), -32002),
        (ResourceForbidden("no", {"uri": "notes:///x.md", "reason": "forbidden"}), -32001),
        (ResourceBusy("later", {"uri": "notes:///x.md", "reason": "busy"}), -32000),
    ],
)
async def test_errors_have_the_codes_of_their_time_and_keep_their_data(connect, revision, error, code):
    async with connect({"resources/read": failing(error)}) as desk:
        await desk.shake(revision)
        desk.call(1, "resources/read", uri="notes:///x.md")
        answer = (await desk.answer(1))["error"]
    assert answer == {"code": code, "message": error.message, "data": error.data}


@pytest.mark.parametrize("revision", LEGACY)
async def test_bad_tool_arguments_are_an_error_until_the_revision_that_made_them_a_result(connect, revision):
    async with connect({"tools/call": failing(InvalidArguments("no argument 'pth'"))}) as desk:
        await desk.shake(revision)
        desk.call(1, "tools/call", name="t")
        answer = await desk.answer(1)
    if revision == "2025-11-25":
        assert answer["result"] == {"content": [{"type": "text", "text": "no argument 'pth'"}], "isError": True}
    else:
        assert answer["error"] == {"code": -32602, "message": "no argument 'pth'"}


@pytest.mark.parametrize("revision", LEGACY)
async def test_only_2025_03_26_takes_a_batch(connect, revision):
    async with connect(features(RICH)) as desk:
        await desk.shake(revision)
        desk.say([{"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}])
        frame = await desk.until(lambda frame: isinstance(frame, list) or "error" in frame)
    if revision == "2025-03-26":
        assert [answer["id"] for answer in frame] == [1, 2]
    else:
        assert (frame["id"], frame["error"]["code"]) == (None, -32600)


async def test_an_initialize_cannot_be_cancelled_but_its_id_can_be_used_again(connect):
    started = asyncio.Event()

    async def handler(params, report):
        started.set()
        await asyncio.Event().wait()

    async with connect({"tools/call": handler}) as desk:
        desk.call(0, "initialize", **hello("2025-11-25"))
        desk.note("cancelled", requestId=0)
        assert await desk.result(0)
        desk.call(0, "tools/call", name="t")
        await started.wait()
        desk.note("cancelled", requestId=0)
        await desk.quiet()
    assert [frame["id"] for frame in desk.frames] == [0, "quiet"]


async def test_notifications_that_mean_nothing_here_are_never_answered(connect):
    async with connect() as desk:
        desk.note("initialized")
        await desk.shake("2025-11-25")
        desk.note("roots/list_changed")
        desk.note("progress", progressToken=1, progress=2)
        desk.note("no/such")
        desk.note("cancelled", requestId="never seen")
        desk.note("initialized")
        await desk.quiet()
    assert [frame["id"] for frame in desk.frames] == [0, "quiet"]
