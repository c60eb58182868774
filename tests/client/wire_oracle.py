"""What a recorded conversation must be, line by line: the judge of everything the server sends.

Owns what may be said when: each request answered once, batches, streams and subscriptions. `wire_schemas` judges the
shape of each frame in its revision; `structuredContent` is held against the tool's own outputSchema.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from jsonschema import Draft202012Validator
from wire_schemas import (
    META,
    MODERN,
    SUBSCRIPTION_ID,
    by_schema,
    identified,
    judge_error,
    judge_notification,
    judge_result,
)

BATCHES = "2025-03-26"
OLDEST = "2024-11-05"  # before the handshake, nothing newer may be assumed
LONGEST_LINE = 8 * 1024 * 1024
PROTOCOL_VERSION = META + "protocolVersion"
UPDATED = "notifications/resources/updated"
CANCELLED = "notifications/cancelled"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
LISTS = {
    "notifications/resources/list_changed": "resourcesListChanged",
    "notifications/prompts/list_changed": "promptsListChanged",
}


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
    again: int = 0  # requests under an id that is in flight, not answered yet
    misshapen: int = 0  # lines and items that may be answered without an id, not answered yet
    batches: int = 0  # not answered yet; one of notifications alone never is
    honoured: dict[Any, Mapping[str, Any]] = field(default_factory=dict)
    ended: set[Any] = field(default_factory=set)
    subscribed: set[str] = field(default_factory=set)
    output_schemas: dict[str, dict[str, Any]] = field(default_factory=dict)  # revision -> tool -> schema
    tool_results: list[tuple[Asked, Mapping[str, Any]]] = field(default_factory=list)
    answered: dict[str, int] = field(default_factory=dict)  # method -> how often
    notified: dict[str, int] = field(default_factory=dict)

    def client(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self.misshapen += 1
            return
        if isinstance(message, list) and self.revision == BATCHES and message:
            self.batches += 1
            for each in message:
                self._said(each)
        else:
            self._said(message)

    def server(self, line: bytes) -> None:
        assert len(line) <= LONGEST_LINE
        assert line.endswith(b"\n") and not line.endswith(b"\r\n")
        frame = json.loads(line.decode("utf-8"))
        if isinstance(frame, list):
            assert self.batches, "a batch, which nobody asked for"
            self.batches -= 1
            assert frame and not any("method" in each for each in frame)
            by_schema(BATCHES, ("JSONRPCBatchResponse",), [identified(each) for each in frame])
            for each in frame:
                self._answer(each)
        elif "method" in frame:
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

    def _said(self, message: Any) -> None:
        if not isinstance(message, dict) or ("id" in message and type(message["id"]) not in (int, str)):
            self.misshapen += 1
            return
        method, params = message.get("method"), message.get("params")
        params = params if isinstance(params, dict) else {}
        if method == CANCELLED:
            asked = self.open.get(_key(params.get("requestId")))
            if asked is not None:
                asked.cancelled = True
        if "id" not in message:
            self.misshapen += not isinstance(method, str) and "result" not in message and "error" not in message
            return
        if method is None and ("result" in message or "error" in message):
            return
        meta = params.get("_meta")
        version = meta.get(PROTOCOL_VERSION) if isinstance(meta, dict) else None
        revision = (self.revision or OLDEST) if version is None else MODERN
        before = self.open.get(_key(message["id"]))
        if before is not None and not before.cancelled:
            self.again += 1
        else:
            self.open[_key(message["id"])] = Asked(str(method), revision, params)
        if method == "resources/subscribe":
            self.subscribed.add(params.get("uri", ""))

    def _answer(self, frame: dict[str, Any]) -> None:
        if self._refusal(frame):
            return
        asked = self.open.pop(_key(frame["id"]), None)
        assert asked is not None, f"an answer to nothing: {frame}"
        self.answered[asked.method] = self.answered.get(asked.method, 0) + 1
        if asked.method == "subscriptions/listen":
            self.ended.add(frame["id"])
        if "error" in frame:
            judge_error(frame, asked.revision)
            return
        if asked.method == "initialize":
            asked.revision = self.revision = frame["result"]["protocolVersion"]
        judge_result(frame, asked.method, asked.revision)
        result = frame["result"]
        if asked.method == "tools/list":
            schemas = self.output_schemas.setdefault(asked.revision, {})
            schemas.update({tool["name"]: tool.get("outputSchema") for tool in result["tools"]})
        if asked.method == "tools/call":
            self.tool_results.append((asked, result))

    def _refusal(self, frame: dict[str, Any]) -> bool:
        """Whether it is the error of what cannot be told by its id: of no request, or of one whose id is in flight."""
        if frame["id"] is None:
            assert self.misshapen, f"an error without an id, and nothing was misshapen: {frame}"
            self.misshapen -= 1
        elif self.again and frame.get("error", {}).get("message", "").endswith("still in flight"):
            self.again -= 1
        else:
            return False
        judge_error(frame, self.revision or OLDEST)
        return True

    def _tool_result(self, asked: Asked, result: Mapping[str, Any]) -> None:
        name, structured = asked.params["name"], result.get("structuredContent")
        if result.get("isError") and structured is None:
            assert result["content"][0]["text"].strip()
            return
        schema = self.output_schemas[asked.revision].get(name)
        assert (structured is None) == (schema is None), f"{name}: schema and result disagree"
        if structured is not None:
            Draft202012Validator(schema).validate(structured)
            # Some clients show the model only `content`: the same must be in it.
            assert json.loads(result["content"][0]["text"]) == structured

    def _notification(self, frame: dict[str, Any]) -> None:
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
        judge_notification(frame, revision)

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


def _key(request_id: Any) -> tuple[type, Any]:
    """Ids compare by type: "77" is not 77."""
    return type(request_id), request_id
