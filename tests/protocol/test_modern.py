"""2026-07-28: the envelope of each request, discovery, how results are sealed and errors told."""

import asyncio
from typing import Any

import mcp_types
import pytest
from mcp_types.methods import CACHEABLE_METHODS

from notes_mcp.errors import (
    InvalidArguments,
    InvalidParams,
    ResourceBusy,
    ResourceForbidden,
    ResourceNotFound,
)

META = "io.modelcontextprotocol/"
VERSION, CAPABILITIES, INFO, LEVEL = (
    META + "protocolVersion",
    META + "clientCapabilities",
    META + "clientInfo",
    META + "logLevel",
)
REVISIONS = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
RESULTS: dict[str, dict[str, Any]] = {
    "tools/list": {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]},
    "tools/call": {"content": [{"type": "text", "text": "好"}], "structuredContent": ["a", 1]},
    "resources/list": {"resources": [{"uri": "notes:///a.md", "name": "a.md", "size": 3}]},
    "resources/templates/list": {"resourceTemplates": [{"uriTemplate": "notes:///{+path}", "name": "note"}]},
    "resources/read": {"contents": [{"uri": "notes:///a.md", "text": "x"}]},
    "prompts/list": {"prompts": [{"name": "p", "arguments": [{"name": "a", "required": True}]}]},
    "prompts/get": {"messages": [{"role": "user", "content": {"type": "text", "text": "x"}}]},
    "completion/complete": {"completion": {"values": ["a"], "total": 1}},
}


def fixed(result: dict[str, Any]) -> Any:
    async def handler(params: dict[str, Any], report: Any) -> dict[str, Any]:
        return result

    return handler


def failing(error: Exception) -> Any:
    async def handler(params: dict[str, Any], report: Any) -> dict[str, Any]:
        raise error

    return handler


async def test_discover_tells_every_revision_newest_first_and_who_we_are(connect):
    async with connect() as desk:
        desk.ask(1, "server/discover")
        result = await desk.result(1)
    assert result == {
        "resultType": "complete",
        "supportedVersions": REVISIONS,
        "capabilities": {
            "completions": {},
            "prompts": {"listChanged": True},
            "resources": {"subscribe": True, "listChanged": True},
            "tools": {},
        },
        "instructions": "Search before you read.",
        "ttlMs": 3_600_000,
        "cacheScope": "public",
        "_meta": {META + "serverInfo": {"name": "notes-mcp", "title": "Notes 笔记", "version": "1.2.3"}},
    }
    mcp_types.DiscoverResult.model_validate(result)


@pytest.mark.parametrize("method", RESULTS)
async def test_every_result_is_complete_signed_and_has_cache_hints_where_they_belong(connect, method):
    async with connect({method: fixed(RESULTS[method])}) as desk:
        desk.ask("x", method)
        result = await desk.result("x")
    assert result["resultType"] == "complete"
    assert result["_meta"][META + "serverInfo"]["name"] == "notes-mcp"
    assert ("ttlMs" in result) == ("cacheScope" in result) == (method in CACHEABLE_METHODS)
    assert {name: result[name] for name in RESULTS[method]} == RESULTS[method]


@pytest.mark.parametrize("method", ["resources/list", "resources/read", "prompts/list"])
async def test_what_shows_notes_is_private_and_stale_at_once(connect, method):
    async with connect({method: fixed(RESULTS[method])}) as desk:
        desk.ask(1, method)
        result = await desk.result(1)
    assert (result["ttlMs"], result["cacheScope"]) == (0, "private")


async def test_the_meta_of_a_handler_is_kept_beside_ours(connect):
    async with connect({"resources/read": fixed({"contents": [], "_meta": {"com.example/x": 1}})}) as desk:
        desk.ask(1, "resources/read", uri="notes:///a.md")
        meta = (await desk.result(1))["_meta"]
    assert set(meta) == {"com.example/x", META + "serverInfo"}


async def test_handlers_see_the_params_without_meta(connect):
    seen = []

    async def handler(params, report):
        seen.append(params)
        return RESULTS["tools/call"]

    async with connect({"tools/call": handler}) as desk:
        desk.ask(1, "tools/call", name="t", arguments={"_meta": "mine"})
        await desk.result(1)
    assert seen == [{"name": "t", "arguments": {"_meta": "mine"}}]


@pytest.mark.parametrize("missing", [VERSION, CAPABILITIES])
@pytest.mark.parametrize("method", ["tools/list", "server/discover", "subscriptions/listen", "no/such"])
async def test_an_envelope_without_a_required_field_is_invalid_params(connect, missing, method):
    meta = {VERSION: "2026-07-28", CAPABILITIES: {}, INFO: {"name": "c", "version": "1"}}
    del meta[missing]
    async with connect({"tools/list": fixed(RESULTS["tools/list"])}) as desk:
        desk.call(1, method, _meta=meta)
        assert await desk.code(1) == -32602


@pytest.mark.parametrize("method", ["server/discover", "subscriptions/listen"])
@pytest.mark.parametrize("params", [{}, {"_meta": {}}, {"_meta": {"progressToken": 1}}])
async def test_a_method_of_this_era_without_an_envelope_is_invalid_params(connect, method, params):
    async with connect() as desk:
        desk.call(1, method, **params)
        assert await desk.code(1) == -32602


@pytest.mark.parametrize("meta", [None, "x", 1, [], True])
async def test_a_meta_that_is_no_object_is_invalid_params(connect, meta):
    async with connect({"tools/list": fixed(RESULTS["tools/list"])}) as desk:
        desk.call(1, "tools/list", _meta=meta)
        assert await desk.code(1) == -32602


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *((VERSION, value) for value in (None, 20260728, [], {}, True)),
        *((CAPABILITIES, value) for value in (None, "x", [], 1, {"roots": True}, {"extensions": []})),
        *((INFO, value) for value in (None, "x", {}, {"name": "c"}, {"version": "1"}, {"name": 1, "version": "1"})),
        *((LEVEL, value) for value in (None, "loud", 3, ["info"])),
        *(("progressToken", value) for value in (None, True, 1.5, [], {})),
    ],
)
async def test_an_ill_typed_field_of_the_envelope_is_invalid_params(connect, key, value):
    async with connect({"tools/list": fixed(RESULTS["tools/list"])}) as desk:
        desk.ask(1, "tools/list", {key: value})
        assert await desk.code(1) == -32602


@pytest.mark.parametrize(
    "extra",
    [
        {CAPABILITIES: {"roots": {}, "sampling": {"tools": {}}, "x-own": 3}},
        {INFO: {"name": "c", "version": "1", "title": "C", "icons": []}},
        {LEVEL: "debug"},
        {"progressToken": 0},
        {"progressToken": ""},
        {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01", "com.example/any": None},
    ],
)
async def test_an_envelope_with_what_is_optional_is_accepted(connect, extra):
    async with connect({"tools/list": fixed(RESULTS["tools/list"])}) as desk:
        desk.ask(1, "tools/list", extra)
        assert (await desk.result(1))["tools"]


@pytest.mark.parametrize("version", ["1900-01-01", "2027-01-01", "", "DRAFT-2026-v1", "2026-07-28 "])
@pytest.mark.parametrize("method", ["server/discover", "tools/list", "initialize", "no/such"])
async def test_an_unknown_version_is_told_every_revision_we_serve(connect, version, method):
    async with connect() as desk:
        desk.ask(1, method, {VERSION: version})
        error = (await desk.answer(1))["error"]
    assert error["code"] == -32022
    assert error["data"] == {"supported": REVISIONS, "requested": version}
    mcp_types.UnsupportedProtocolVersionErrorData.model_validate(error["data"])


@pytest.mark.parametrize("version", REVISIONS[1:])
async def test_a_revision_of_the_handshake_is_not_spoken_per_request(connect, version):
    async with connect() as desk:
        desk.ask(1, "server/discover", {VERSION: version})
        error = (await desk.answer(1))["error"]
    assert (error["code"], error["data"]) == (-32022, {"supported": ["2026-07-28"], "requested": version})


@pytest.mark.parametrize(
    "method", ["initialize", "ping", "resources/subscribe", "resources/unsubscribe", "logging/setLevel", "no/such", ""]
)
async def test_a_method_this_era_does_not_have_is_not_found_and_told_which_there_are(connect, method):
    async with connect({"tools/list": fixed(RESULTS["tools/list"])}) as desk:
        desk.ask(1, method)
        error = (await desk.answer(1))["error"]
    assert error["code"] == -32601
    assert error["data"] == {"methods": ["server/discover", "subscriptions/listen", "tools/list"]}


async def test_an_initialize_in_an_envelope_does_not_begin_a_legacy_session(connect):
    async with connect({"tools/list": fixed(RESULTS["tools/list"])}) as desk:
        desk.ask(1, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={})
        desk.call(2, "tools/list")
        assert await desk.code(1) == -32601
        assert await desk.code(2) == -32600


async def test_both_eras_are_served_on_one_connection_and_do_not_disturb_each_other(connect):
    async with connect({"tools/list": fixed(RESULTS["tools/list"])}) as desk:
        desk.ask(1, "tools/list")
        await desk.shake("2025-06-18", 2)
        desk.ask(3, "tools/list")
        desk.call(4, "tools/list")
        assert "ttlMs" in await desk.result(1)
        assert "ttlMs" in await desk.result(3)
        assert await desk.result(4) == RESULTS["tools/list"]


async def test_bad_tool_arguments_are_a_result_the_model_can_read(connect):
    async with connect({"tools/call": failing(InvalidArguments("no argument 'pth'; did you mean 'path'?"))}) as desk:
        desk.ask(1, "tools/call", name="read_note", arguments={})
        result = await desk.result(1)
    assert result["isError"] is True
    assert result["content"] == [{"type": "text", "text": "no argument 'pth'; did you mean 'path'?"}]
    assert result["resultType"] == "complete"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidParams("unknown tool", {"tools": []}), -32602),
        (ResourceNotFound("gone", {"uri": "notes:///x.md"}), -32602),
        (ResourceForbidden("no", {"uri": "notes:///x.md", "reason": "forbidden"}), -32603),
        (ResourceBusy("later", {"uri": "notes:///x.md", "reason": "busy"}), -32603),
    ],
)
async def test_errors_have_the_codes_of_this_revision_and_keep_their_data(connect, error, code):
    async with connect({"resources/read": failing(error)}) as desk:
        desk.ask(1, "resources/read", uri="notes:///x.md")
        answer = (await desk.answer(1))["error"]
    assert (answer["code"], answer["data"]) == (code, error.data)


async def test_a_cancelled_request_is_not_answered_and_its_neighbour_by_type_is(connect):
    started, let_go = asyncio.Event(), asyncio.Event()

    async def handler(params, report):
        started.set()
        await let_go.wait()
        return RESULTS["tools/call"]

    async with connect({"tools/call": handler}) as desk:
        desk.ask(77, "tools/call", name="t")
        desk.ask("77", "tools/call", name="t")
        await started.wait()
        desk.note("cancelled", requestId="77")
        desk.note("cancelled", requestId=None)
        desk.note("cancelled", requestId=True)
        desk.note("cancelled", requestId=[77])
        desk.note("cancelled", requestId=77.0)
        desk.note("cancelled")
        await desk.quiet()
        let_go.set()
        await desk.result(77)
    assert all(frame.get("id") != "77" for frame in desk.frames)
