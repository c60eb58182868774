"""What a result, an error or a notification of ours must look like in the revision that it is sent in.

Two judges that know nothing of each other: `mcp_types`, which ignores what it does not know and has one shape for the
four older revisions, made strict by `unknown` and `SINCE`; and, with MCP_SPECIFICATION=DIR (a checkout of the
specification), the revision's own schema.json, made strict by `closed`. AssertionError or ValidationError for a fault.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.validators import validator_for
from mcp_types import methods
from mcp_types.jsonrpc import JSONRPCError, JSONRPCNotification, JSONRPCResponse

MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
SUBSCRIPTION_ID = META + "subscriptionId"
CODES = {-32700, -32600, -32601, -32602, -32603}
LEGACY_CODES = CODES | {-32002, -32001, -32000}
MODERN_CODES = CODES | {-32022}

SINCE: dict[str, dict[str, str]] = {
    "": {"structuredContent": "2025-06-18", "message": "2025-03-26"},
    "serverInfo": dict.fromkeys(("icons", "description", "websiteUrl"), "2025-11-25") | {"title": "2025-06-18"},
    "capabilities": {"completions": "2025-03-26", "extensions": MODERN},
    "tools": {
        **dict.fromkeys(("title", "_meta", "outputSchema"), "2025-06-18"),
        "annotations": "2025-03-26",
        "icons": "2025-11-25",
    },
    "resources": {"title": "2025-06-18", "_meta": "2025-06-18", "icons": "2025-11-25"},
    "resourceTemplates": {"title": "2025-06-18", "_meta": "2025-06-18", "icons": "2025-11-25"},
    "prompts": {"title": "2025-06-18", "_meta": "2025-06-18", "icons": "2025-11-25"},
    "arguments": {"title": "2025-06-18"},
    "contents": {"_meta": "2025-06-18"},
    "content": {"_meta": "2025-06-18"},
    "resource": {"_meta": "2025-06-18"},
    "annotations": {"lastModified": "2025-06-18"},
}
"""Member that holds an object, or objects -> field of these -> first revision that has it; read off schema.ts."""

BLOCKS = {"audio": "2025-03-26", "resource_link": "2025-06-18"}
_FREE = ("inputSchema", "outputSchema", "structuredContent", "_meta", "experimental", "data")
_KEY = re.compile(r"(?:[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*/)?"
                  r"(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?)?")  # fmt: skip
_RESERVED = re.compile(r"[^./]+\.(?:modelcontextprotocol|mcp)[./]")
_OURS = {META + "serverInfo", SUBSCRIPTION_ID}

RESULTS = {
    "completion/complete": "CompleteResult",
    "initialize": "InitializeResult",
    "ping": "EmptyResult",
    "prompts/get": "GetPromptResult",
    "prompts/list": "ListPromptsResult",
    "resources/list": "ListResourcesResult",
    "resources/read": "ReadResourceResult",
    "resources/subscribe": "EmptyResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "resources/unsubscribe": "EmptyResult",
    "server/discover": "DiscoverResult",
    "subscriptions/listen": "SubscriptionsListenResult",
    "tools/call": "CallToolResult",
    "tools/list": "ListToolsResult",
}
NOTIFICATIONS = {
    "notifications/progress": "ProgressNotification",
    "notifications/resources/updated": "ResourceUpdatedNotification",
    "notifications/resources/list_changed": "ResourceListChangedNotification",
    "notifications/prompts/list_changed": "PromptListChangedNotification",
    "notifications/subscriptions/acknowledged": "SubscriptionsAcknowledgedNotification",
}


def judge_result(frame: dict[str, Any], method: str, revision: str) -> None:
    """A result response to a request of that method."""
    JSONRPCResponse.model_validate(frame, strict=True)
    assert set(frame) == {"jsonrpc", "id", "result"}
    result = frame["result"]
    faults = unknown(result, methods.serialize_server_result(method, revision, result))
    faults += too_new("", result, revision)
    assert not faults, f"{method}, {revision}: {faults}"
    assert RESULTS[method] != "EmptyResult" or set(result) <= {"_meta"}, result
    for meta in metas(result):
        judge_meta(meta)
    if revision == MODERN:
        assert result["resultType"] == "complete"
        assert META + "serverInfo" in result["_meta"]
        assert ("ttlMs" in result) == ("cacheScope" in result) == (method in methods.CACHEABLE_METHODS)
        assert result.get("ttlMs", 0) >= 0
    if method == "tools/list":
        for tool in result["tools"]:
            for schema in (tool["inputSchema"], tool.get("outputSchema", {"type": "object"})):
                Draft202012Validator.check_schema(schema)
                assert schema["type"] == "object"
    by_schema(revision, ("JSONRPCResultResponse", "JSONRPCResponse"), frame)
    by_schema(revision, (RESULTS[method],), result)


def judge_error(frame: dict[str, Any], revision: str) -> None:
    """An error response."""
    JSONRPCError.model_validate(frame, strict=True)
    assert set(frame) == {"jsonrpc", "id", "error"}
    error = frame["error"]
    assert set(error) <= {"code", "message", "data"}
    assert error["message"].strip()
    assert error["code"] in (MODERN_CODES if revision == MODERN else LEGACY_CODES), frame
    if error["code"] == -32022:
        assert set(error["data"]) == {"supported", "requested"}
        by_schema(MODERN, ("UnsupportedProtocolVersionError",), frame)
    by_schema(revision, ("JSONRPCErrorResponse", "JSONRPCError"), identified(frame))


def identified(frame: dict[str, Any]) -> dict[str, Any]:
    """The frame for a schema: where no id could be read JSON-RPC 2.0 section 5 asks for null, and MCP's have none."""
    return frame if frame["id"] is not None else frame | {"id": ""}


def judge_notification(frame: dict[str, Any], revision: str) -> None:
    """A notification."""
    JSONRPCNotification.model_validate(frame, strict=True)
    kind = methods.SERVER_NOTIFICATIONS[frame["method"], revision]
    known = kind.model_validate(frame, by_name=False).model_dump(by_alias=True, mode="json", exclude_none=True)
    faults = unknown(frame, known) + too_new("", frame.get("params", {}), revision)
    assert not faults, f"{frame['method']}, {revision}: {faults}"
    for meta in metas(frame):
        judge_meta(meta)
    by_schema(revision, ("JSONRPCNotification",), frame)
    by_schema(revision, (NOTIFICATIONS[frame["method"]],), frame, always=("jsonrpc",))


def judge_meta(meta: Mapping[str, Any]) -> None:
    """Keys of a `_meta` of ours: well-formed, and none of those reserved for MCP but the two that are ours to send."""
    for key in meta:
        assert _KEY.fullmatch(key), key
        assert key in _OURS or not _RESERVED.match(key), key


def metas(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every `_meta` in it, but for those in what has a schema of its own."""
    if isinstance(value, list):
        for item in value:
            yield from metas(item)
    if isinstance(value, Mapping):
        for name, held in value.items():
            if name == "_meta":
                yield held
            elif name not in _FREE:
                yield from metas(held)


def unknown(sent: Any, known: Any, at: str = "$") -> list[str]:
    """Where `sent` has a field that the types, which ignore what they do not know, left out of `known`."""
    if isinstance(sent, Mapping) and isinstance(known, Mapping):
        lost = [f"{at}.{name}" for name in sent if name not in known]
        return lost + [
            path for name in sent if name in known for path in unknown(sent[name], known[name], f"{at}.{name}")
        ]
    if isinstance(sent, list) and isinstance(known, list):
        assert len(sent) == len(known)
        return [path for i, pair in enumerate(zip(sent, known, strict=True)) for path in unknown(*pair, f"{at}[{i}]")]
    return []


def too_new(holder: str, value: Any, revision: str) -> list[str]:
    """What in a result, or in the params of a notification, did not exist yet in that revision."""
    if isinstance(value, list):
        return [fault for item in value for fault in too_new(holder, item, revision)]
    if not isinstance(value, Mapping):
        return []
    faults = [f"{holder}.{name}" for name, since in SINCE.get(holder, {}).items() if name in value and revision < since]
    if holder == "content" and revision < BLOCKS.get(value.get("type", ""), ""):
        faults.append(f"content {value['type']}")
    for name, held in value.items():
        if name not in _FREE:
            faults += too_new(name, held, revision)
    return faults


def checkout() -> Path | None:
    """The checkout of the specification that MCP_SPECIFICATION names, if it does."""
    named = os.environ.get("MCP_SPECIFICATION")
    return Path(named) if named else None


def by_schema(revision: str, names: tuple[str, ...], value: Any, always: tuple[str, ...] = ()) -> None:
    """Holds `value` against the first of these definitions in the revision's schema.json, if there is a checkout.

    A field of `always` is valid in every definition: before 2025-11-25 the envelope was no part of some.
    """
    where = checkout()
    if where is not None and (path := where / "schema" / revision / "schema.json").is_file():
        validator(path, names, always).validate(value)


@cache
def validator(path: Path, names: tuple[str, ...], always: tuple[str, ...] = ()) -> Any:
    """One for the first of these definitions that there is."""
    schema = json.loads(path.read_text("utf-8"))
    place = "definitions" if "definitions" in schema else "$defs"
    name = next(name for name in names if name in schema[place])
    for free in always:
        schema[place][name]["properties"].setdefault(free, {})
    kept = {key: part if key.endswith("MetaObject") else closed(part) for key, part in schema[place].items()}
    whole = {"$schema": schema["$schema"], "$ref": f"#/{place}/{name}", place: kept}
    return validator_for(whole)(whole)


def closed(node: Any) -> Any:
    """The schema without room for fields that it does not name, but where it says that there is some."""
    if isinstance(node, list):
        return [closed(item) for item in node]
    if not isinstance(node, Mapping):
        return node
    strict = {key: held if key == "allOf" else closed(held) for key, held in node.items()}
    if "properties" in node:
        fields = node["properties"].items()
        strict["properties"] = {name: part if name in _FREE else closed(part) for name, part in fields}
        strict.setdefault("additionalProperties", False)
    return strict
