"""The judge itself: what is right passes, and each kind of wrong line is seen."""

import json

import pytest
from jsonschema import ValidationError as SchemaError
from pydantic import ValidationError as TypesError
from wire_oracle import ACKNOWLEDGED, MODERN, PROTOCOL_VERSION, SUBSCRIPTION_ID, UPDATED, Conversation

WRONG = (AssertionError, TypesError, SchemaError, KeyError, ValueError)
META = {"_meta": {PROTOCOL_VERSION: MODERN}}
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
TOOLS = [{"name": "t", "inputSchema": {"type": "object"}, "outputSchema": SCHEMA}]
SIGNED = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


def line(**frame):
    return json.dumps({"jsonrpc": "2.0", **frame}).encode() + b"\n"


def asked(method, revision=MODERN, **params):
    """A conversation in which request 1 waits for its answer."""
    conversation = Conversation(None if revision == MODERN else revision)
    conversation.client(line(id=1, method=method, params=params | (META if revision == MODERN else {})))
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
    conversation.client(line(id=2, method="tools/call", params={"name": "t"} | META))
    result = {"resultType": "complete", "content": [{"type": "text", "text": text}]}
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
    conversation.server(line(id=1, result={"resultType": "complete"} | stamp))
    with pytest.raises(AssertionError):
        conversation.server(update)


def test_a_legacy_update_must_be_of_something_subscribed_to():
    conversation = asked("resources/subscribe", "2025-06-18", uri="notes:///a.md")
    conversation.server(line(id=1, result={}))
    conversation.server(line(method=UPDATED, params={"uri": "notes:///a.md"}))
    with pytest.raises(AssertionError):
        conversation.server(line(method=UPDATED, params={"uri": "notes:///b.md"}))
