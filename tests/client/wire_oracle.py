"""What a recorded conversation must be, line by line: the judge of everything the server sends.

Results and notifications are held against `mcp_types` for their revision, in both directions: valid, and with no field
that the revision's types do not know. `structuredContent` is held against the tool's own outputSchema. With
MCP_SCHEMAS=DIR (schema/ of a checkout of the specification) each frame also against that revision's schema.json.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.validators import validator_for
from mcp_types import methods
from mcp_types.jsonrpc import JSONRPCError, JSONRPCNotification, JSONRPCResponse

MODERN = "2026-07-28"
LONGEST_LINE = 8 * 1024 * 1024
PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion"
SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"
UPDATED = "notifications/resources/updated"
CANCELLED = "notifications/cancelled"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
LISTS = {
    "notifications/resources/list_changed": "resourcesListChanged",
    "notifications/prompts/list_changed": "promptsListChanged",
}
CODES = {-32700, -32600, -32601, -32602, -32603}
LEGACY_CODES = CODES | {-32002, -32001, -32000}
MODERN_CODES = CODES | {-32022}


@dataclass
class Asked:
    method: str
    revision: str
    params: Mapping[str, Any]
    cancelled: bool = False


@dataclass
class Conversation:
    """Feed it `client` and `server` lines in order; AssertionError or ValidationError for a line that is wrong."""

    revision: str | None = None  # of the handshake
    open: dict[tuple[type, Any], Asked] = field(default_factory=dict)
    honoured: dict[Any, Mapping[str, Any]] = field(default_factory=dict)
    ended: set[Any] = field(default_factory=set)
    subscribed: set[str] = field(default_factory=set)
    output_schemas: dict[str, dict[str, Any]] = field(default_factory=dict)  # revision -> tool -> schema
    tool_results: list[tuple[Asked, Mapping[str, Any]]] = field(default_factory=list)
    answered: dict[str, int] = field(default_factory=dict)  # method -> how often
    notified: dict[str, int] = field(default_factory=dict)

    def client(self, line: bytes) -> None:
        frame = json.loads(line)
        method, params = frame.get("method"), frame.get("params") or {}
        if method == CANCELLED:
            asked = self.open.get(_key(params["requestId"]))
            if asked is not None:
                asked.cancelled = True
        if method is None or "id" not in frame:
            return
        revision = params.get("_meta", {}).get(PROTOCOL_VERSION) or self.revision or ""
        self.open[_key(frame["id"])] = Asked(method, revision, params)
        if method == "resources/subscribe":
            self.subscribed.add(params["uri"])

    def server(self, line: bytes) -> None:
        assert len(line) <= LONGEST_LINE
        assert line.endswith(b"\n") and not line.endswith(b"\r\n")
        frame = json.loads(line.decode("utf-8"))
        assert isinstance(frame, dict), "a batch, which nobody asked for"
        if "method" in frame:
            self._notification(frame)
        else:
            self._answer(frame)

    def done(self, *, exit_code: int) -> None:
        """After the last line: everything but what was cancelled is answered, tools as their schemas say."""
        assert exit_code == 0
        assert [asked for asked in self.open.values() if not asked.cancelled] == []
        for asked, result in self.tool_results:
            if asked.revision in self.output_schemas:
                self._tool_result(asked, result)

    def _answer(self, frame: dict[str, Any]) -> None:
        asked = self.open.pop(_key(frame["id"]), None)
        assert asked is not None, f"an answer to nothing: {frame}"
        if asked.method == "initialize" and "result" in frame:
            asked.revision = self.revision = frame["result"]["protocolVersion"]
        self.answered[asked.method] = self.answered.get(asked.method, 0) + 1
        if asked.method == "subscriptions/listen":
            self.ended.add(frame["id"])
        if "error" in frame:
            JSONRPCError.model_validate(frame, strict=True)
            assert set(frame) == {"jsonrpc", "id", "error"}
            assert set(frame["error"]) <= {"code", "message", "data"}
            assert frame["error"]["message"].strip()
            assert frame["error"]["code"] in (MODERN_CODES if asked.revision == MODERN else LEGACY_CODES)
            by_schema(asked.revision, ("JSONRPCErrorResponse", "JSONRPCError"), frame)
            return
        JSONRPCResponse.model_validate(frame, strict=True)
        assert set(frame) == {"jsonrpc", "id", "result"}
        result = frame["result"]
        known = methods.serialize_server_result(asked.method, asked.revision, result)
        assert unknown(result, known) == []
        by_schema(asked.revision, ("JSONRPCResultResponse", "JSONRPCResponse"), frame)
        by_schema(asked.revision, (_RESULTS[asked.method],), result)
        if asked.method == "tools/list":
            self._tools(result["tools"], asked.revision)
        if asked.method == "tools/call":
            self.tool_results.append((asked, result))

    def _tools(self, tools: list[dict[str, Any]], revision: str) -> None:
        schemas = self.output_schemas.setdefault(revision, {})
        for tool in tools:
            for schema in (tool["inputSchema"], tool.get("outputSchema", {"type": "object"})):
                Draft202012Validator.check_schema(schema)
                assert schema["type"] == "object"
            schemas[tool["name"]] = tool.get("outputSchema")

    def _tool_result(self, asked: Asked, result: Mapping[str, Any]) -> None:
        if result.get("isError"):
            assert result["content"][0]["text"].strip()
            return
        name, structured = asked.params["name"], result.get("structuredContent")
        schema = self.output_schemas[asked.revision].get(name)
        assert (structured is None) == (schema is None), f"{name}: schema and result disagree"
        if structured is not None:
            Draft202012Validator(schema).validate(structured)
            # Some clients show the model only `content`: the same must be in it.
            assert json.loads(result["content"][0]["text"]) == structured

    def _notification(self, frame: dict[str, Any]) -> None:
        JSONRPCNotification.model_validate(frame, strict=True)
        method, params = frame["method"], frame.get("params") or {}
        self.notified[method] = self.notified.get(method, 0) + 1
        stream = params.get("_meta", {}).get(SUBSCRIPTION_ID)
        if method == "notifications/progress":
            tokens = {asked.params.get("_meta", {}).get("progressToken"): asked for asked in self.open.values()}
            revision = tokens[params["progressToken"]].revision
        elif stream is not None:
            revision = MODERN
            self._streamed(stream, method, params)
        else:
            assert self.revision is not None, f"a notification on no stream: {frame}"
            revision = self.revision
            assert method in {*LISTS, UPDATED}
            assert method != UPDATED or params["uri"] in self.subscribed
        known = methods.SERVER_NOTIFICATIONS[method, revision].model_validate(frame, by_name=False)
        dumped = known.model_dump(by_alias=True, mode="json", exclude_none=True)
        assert unknown(frame, dumped) == []
        by_schema(revision, ("JSONRPCNotification",), frame)
        by_schema(revision, ("ServerNotification",), frame)

    def _streamed(self, stream: Any, method: str, params: Mapping[str, Any]) -> None:
        assert stream not in self.ended, "a notification after the end of its stream"
        if method == ACKNOWLEDGED:
            assert stream not in self.honoured, "acknowledged twice"
            wanted = self.open[_key(stream)].params["notifications"]
            honoured = self.honoured[stream] = params["notifications"]
            for name, value in honoured.items():
                assert value == wanted[name] or set(value) <= set(wanted[name])
            return
        assert stream in self.honoured, "a notification before the acknowledgement"
        if method == UPDATED:
            assert params["uri"] in self.honoured[stream]["resourceSubscriptions"]
        else:
            assert self.honoured[stream][LISTS[method]] is True


def judge(lines: Iterable[bytes]) -> Conversation:
    """A log of `tee.py`, whole; returns what was in it."""
    conversation = Conversation()
    exit_code = None
    for line in lines:
        mark, rest = line[:1], line[1:]
        assert exit_code is None, "a line after the exit"
        if mark == b"=":
            exit_code = int(rest)
        elif mark == b">":
            conversation.client(rest)
        else:
            assert mark == b"<"
            conversation.server(rest)
    assert exit_code is not None, "the server did not end by itself"
    conversation.done(exit_code=exit_code)
    return conversation


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


def by_schema(revision: str, names: tuple[str, ...], value: Any) -> None:
    """Holds `value` against the first of these definitions in the revision's schema.json, if MCP_SCHEMAS says where."""
    schemas = os.environ.get("MCP_SCHEMAS")
    if not schemas or revision not in {path.name for path in Path(schemas).iterdir()}:
        return
    _validator(Path(schemas) / revision / "schema.json", names).validate(value)


@cache
def _validator(path: Path, names: tuple[str, ...]) -> Any:
    schema = json.loads(path.read_text(encoding="utf-8"))
    place = "definitions" if "definitions" in schema else "$defs"
    name = next(name for name in names if name in schema[place])
    whole = {"$schema": schema["$schema"], "$ref": f"#/{place}/{name}", place: schema[place]}
    return validator_for(whole)(whole)


_RESULTS = {
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


def _key(request_id: Any) -> tuple[type, Any]:
    """Ids compare by type: "77" is not 77."""
    return type(request_id), request_id
