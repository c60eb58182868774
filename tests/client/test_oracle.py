"""The judge itself: what is right passes, and each kind of wrong line is seen."""

import json

import pytest
from jsonschema import ValidationError as SchemaError
from pydantic import ValidationError as TypesError
from wire_oracle import ACKNOWLEDGED, BATCHES, PROTOCOL_VERSION, UPDATED, Conversation
from wire_schemas import META, MODERN, SUBSCRIPTION_ID

WRONG = (AssertionError, TypesError, SchemaError, KeyError, ValueError)
ENVELOPE = {"_meta": {PROTOCOL_VERSION: MODERN}}
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
TOOLS = [{"name": "t", "inputSchema": {"type": "object"}, "outputSchema": SCHEMA}]
SERVER = {"_meta": {META + "serverInfo": {"name": "s", "version": "1"}}}
SIGNED = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **SERVER}


def line(**frame):
    return json.dumps({"jsonrpc": "2.0", **frame}).encode() + b"\n"


def asked(method, revision=MODERN, **params):
    """A conversation in which request 1 waits for its answer."""
    conversation = Conversation(None if revision == MODERN else revision)
    conversation.client(line(id=1, method=method, params=params | (ENVELOPE if revision == MODERN else {})))
    return conversation


def listening():
    conversation = asked("subscriptions/listen", notifications={"resourceSubscriptions": ["notes:///a.md"]})
    stamp = {"_meta": {SUBSCRIPTION_ID: 1}}
    honoured = {"notifications": {"resourceSubscriptions": ["notes:///a.md"]}}
    return conversation, stamp, line(method=ACKNOWLEDGED, params=stamp | honoured)


def test_a_right_answer_passes_in_either_era():
    asked("tools/list").server(line(id=1, result={"tools": TOOLS, **SIGNED}))
    asked("tools/list", "2025-11-25").server(line(id=1, result={"tools": TOOLS}))
    asked("tools/list").server(line(id=1, error={"code": -32602, "message": "no"}))


@pytest.mark.parametrize(
    "answer",
    [
        line(id=2, result={"tools": [], **SIGNED}),
        line(id="1", result={"tools": [], **SIGNED}),
        line(id=1, result={"tools": []}),
        line(id=1, result={"tools": [{"name": "t"}], **SIGNED}),
        line(id=1, result={"tools": [], "resources": [], **SIGNED}),
        line(id=1, result={"tools": [TOOLS[0] | {"colour": "red"}], **SIGNED}),
        line(id=1, result={"tools": [TOOLS[0] | {"inputSchema": {"type": 1}}], **SIGNED}),
        line(id=1, error={"code": -32002, "message": "a code of another era"}),
        line(id=1, error={"code": -32602, "message": " "}),
        line(id=1, error={"code": "-32602", "message": "no"}),
        line(id=1, error={"code": -32602, "message": "no", "reason": "an error has no such member"}),
        line(id=1, error={"code": -32022, "message": "no", "data": {"supported": [MODERN]}}),
        line(id=1, error={"code": -32602, "message": "no"}, result={}),
        line(id=None, error={"code": -32600, "message": "no"}),
        line(id=1, result={"tools": [], **SIGNED, "ttlMs": -1}),
        line(id=1, result={"tools": [], **SIGNED, "cacheScope": "shared"}),
        line(id=1, result={"tools": [], **SIGNED, "resultType": "input_required"}),
        line(id=1, result={"tools": [], **SIGNED, "_meta": {}}),
        *(
            line(id=1, result={"tools": [], **SIGNED, "_meta": SERVER["_meta"] | {key: 1}})
            for key in ("a b", "1a.b/c", "a./c", "a/c-", "a/b/c", META + "logLevel", "dev.mcp/c")
        ),
        line(id=7, method="roots/list"),
        line(method="notifications/message", params={"level": "info", "data": "x"}),
        line(id=1, result={"tools": [], **SIGNED})[:-1] + b"\r\n",
        b"[" + line(id=1, result={"tools": [], **SIGNED})[:-1] + b"]\n",
        b"hello\n",
        line(method=UPDATED, params={"uri": "notes:///a.md"}),
    ],
)
def test_each_wrong_line_is_seen(answer):
    with pytest.raises(WRONG):
        asked("tools/list").server(answer)


def test_a_second_answer_is_seen():
    conversation = asked("ping", "2025-11-25")
    conversation.server(line(id=1, result={}))
    with pytest.raises(AssertionError):
        conversation.server(line(id=1, result={}))


def test_a_missing_answer_and_a_bad_exit_are_seen_but_a_cancelled_request_needs_none():
    with pytest.raises(AssertionError):
        asked("tools/list").done(exit_code=0)
    with pytest.raises(AssertionError):
        Conversation().done(exit_code=1)
    conversation = asked("tools/list")
    conversation.client(line(method="notifications/cancelled", params={"requestId": 1}))
    conversation.done(exit_code=0)


@pytest.mark.parametrize(
    ("structured", "text"),
    [({"n": "1"}, '{"n":"1"}'), ({"n": 1}, "one"), ({"n": 1}, '{"n":2}'), (None, '{"n":1}')],
)
def test_a_tool_result_that_is_not_what_its_schema_and_text_say_is_seen(structured, text):
    conversation = asked("tools/list")
    conversation.server(line(id=1, result={"tools": TOOLS, **SIGNED}))
    conversation.client(line(id=2, method="tools/call", params={"name": "t"} | ENVELOPE))
    result = {"resultType": "complete", "content": [{"type": "text", "text": text}], **SERVER}
    conversation.server(line(id=2, result=result | ({} if structured is None else {"structuredContent": structured})))
    with pytest.raises(WRONG):
        conversation.done(exit_code=0)


def test_on_a_stream_only_what_was_honoured_may_come_and_only_between_its_beginning_and_its_end():
    conversation, stamp, acknowledged = listening()
    update = line(method=UPDATED, params=stamp | {"uri": "notes:///a.md"})
    with pytest.raises(AssertionError):
        conversation.server(update)
    conversation.server(acknowledged)
    conversation.server(update)
    with pytest.raises(AssertionError):
        conversation.server(line(method=UPDATED, params=stamp | {"uri": "notes:///b.md"}))
    with pytest.raises(WRONG):
        conversation.server(line(method="notifications/resources/list_changed", params=stamp))
    with pytest.raises(AssertionError):
        conversation.server(acknowledged)
    ended = {"_meta": stamp["_meta"] | SERVER["_meta"]}
    conversation.server(line(id=1, result={"resultType": "complete", **ended}))
    with pytest.raises(AssertionError):
        conversation.server(update)


def test_a_legacy_update_must_be_of_something_subscribed_to():
    conversation = asked("resources/subscribe", "2025-06-18", uri="notes:///a.md")
    conversation.server(line(id=1, result={}))
    conversation.server(line(method=UPDATED, params={"uri": "notes:///a.md"}))
    with pytest.raises(AssertionError):
        conversation.server(line(method=UPDATED, params={"uri": "notes:///b.md"}))


@pytest.mark.parametrize("key", ["", "a", "7", "a_b.c", "com.example/", "com.example.mcp/a-b", "notes-mcp/index"])
def test_a_meta_may_have_any_key_that_is_well_formed_and_not_reserved(key):
    meta = {"_meta": SERVER["_meta"] | {key: 1}}
    asked("tools/list").server(line(id=1, result={"tools": [], **SIGNED, **meta}))


@pytest.mark.parametrize(
    ("method", "result", "revision"),
    [
        ("tools/list", {"tools": [{"name": "t", "title": "T", "inputSchema": {"type": "object"}}]}, "2025-06-18"),
        ("tools/list", {"tools": [{"name": "t", "annotations": {}, "inputSchema": {"type": "object"}}]}, "2025-03-26"),
        ("tools/list", {"tools": TOOLS}, "2025-06-18"),
        ("tools/call", {"content": [], "structuredContent": {}}, "2025-06-18"),
        ("tools/call", {"content": [{"type": "audio", "data": "", "mimeType": "audio/wav"}]}, "2025-03-26"),
        ("tools/call", {"content": [{"type": "resource_link", "uri": "notes:///a", "name": "a"}]}, "2025-06-18"),
        ("resources/read", {"contents": [{"uri": "notes:///a.md", "text": "", "_meta": {}}]}, "2025-06-18"),
        (
            "resources/list",
            {
                "resources": [
                    {"uri": "notes:///a", "name": "a", "annotations": {"lastModified": "2025-01-12T15:00:58Z"}}
                ]
            },
            "2025-06-18",
        ),
    ],
)
def test_what_a_revision_does_not_have_yet_is_seen(method, result, revision):
    asked(method, revision).server(line(id=1, result=result))
    before = {"2025-06-18": "2025-03-26", "2025-03-26": "2024-11-05"}[revision]
    with pytest.raises(WRONG):
        asked(method, before).server(line(id=1, result=result))


@pytest.mark.parametrize("field", ["resultType", "ttlMs", "cacheScope"])
def test_what_only_the_newest_revision_has_is_seen_in_an_older_one(field):
    with pytest.raises(WRONG):
        asked("tools/list", "2025-11-25").server(line(id=1, result={"tools": [], field: SIGNED[field]}))


def test_the_message_of_progress_is_seen_where_there_is_none_yet():
    params = {"progressToken": 7, "progress": 1, "message": "half"}
    for revision in ("2025-03-26", "2024-11-05"):
        conversation = asked("tools/call", revision, _meta={"progressToken": 7})
        if revision == "2024-11-05":
            with pytest.raises(AssertionError):
                conversation.server(line(method="notifications/progress", params=params))
        else:
            conversation.server(line(method="notifications/progress", params=params))
        with pytest.raises(WRONG):
            conversation.server(line(method="notifications/progress", params=params | {"progressToken": "7"}))


def test_a_batch_is_judged_item_by_item_and_comes_only_where_one_was_sent():
    batch = b"[" + line(id=1, method="ping")[:-1] + b"," + line(id=1.5, method="ping")[:-1] + b"]\n"
    answers = [{"jsonrpc": "2.0", "id": 1, "result": {}}]
    refusal = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "no"}}
    for right in ([*answers, refusal], answers):
        conversation = Conversation(BATCHES)
        conversation.client(batch)
        conversation.server(json.dumps(right).encode() + b"\n")
        with pytest.raises(AssertionError):
            conversation.server(json.dumps(right).encode() + b"\n")
    for wrong in ([], [*answers, *answers], [{"jsonrpc": "2.0", "id": 1, "result": {"x": 1}}], [refusal, refusal]):
        conversation = Conversation(BATCHES)
        conversation.client(batch)
        with pytest.raises(WRONG):
            conversation.server(json.dumps(wrong).encode() + b"\n")
    conversation = Conversation("2025-06-18")
    conversation.client(batch)
    with pytest.raises(AssertionError):
        conversation.server(json.dumps(answers).encode() + b"\n")


def test_an_error_of_a_tool_may_show_what_its_schema_says_and_nothing_else():
    for structured, right in ((None, True), ({"n": 1}, True), ({"n": "1"}, False)):
        conversation = asked("tools/list")
        conversation.server(line(id=1, result={"tools": TOOLS, **SIGNED}))
        conversation.client(line(id=2, method="tools/call", params={"name": "t"} | ENVELOPE))
        content = [{"type": "text", "text": json.dumps(structured or "it failed")}]
        shown = {} if structured is None else {"structuredContent": structured}
        result = {"resultType": "complete", "content": content, "isError": True, **shown, **SERVER}
        conversation.server(line(id=2, result=result))
        if right:
            conversation.done(exit_code=0)
        else:
            with pytest.raises(WRONG):
                conversation.done(exit_code=0)
