"""No bytes on stdin kill the server: one process is fed all of it, and answers a ping after each piece."""

import contextlib
import itertools
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from processes import META, line, ping, serving

NEAR_MESSAGES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)
METHODS = [
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "prompts/get",
    "completion/complete",
    "subscriptions/listen",
    "notifications/cancelled",
]
NAMES = ["search_notes", "list_notes", "read_note", "notes_info", "summarize_note", 7, None]
REQUESTS = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "method": st.sampled_from(METHODS)},
    optional={
        "id": st.integers(0, 3) | st.text(max_size=2) | st.none() | st.floats(allow_nan=False),
        "params": NEAR_MESSAGES
        | st.fixed_dictionaries(
            {},
            optional={
                "_meta": st.just(META) | NEAR_MESSAGES,
                "name": st.sampled_from(NAMES),
                "uri": st.text(max_size=9) | st.just("notes:///Plan.md"),
                "arguments": st.dictionaries(
                    st.sampled_from(["query", "path", "folder", "limit", "cursor", "glob", "mode", "section"]),
                    NEAR_MESSAGES | st.text(),
                    max_size=3,
                ),
                "notifications": NEAR_MESSAGES,
                "requestId": NEAR_MESSAGES,
                "cursor": NEAR_MESSAGES,
                "ref": NEAR_MESSAGES,
                "argument": NEAR_MESSAGES,
            },
        ),
    },
)
PIECES = st.binary(max_size=300) | st.one_of(NEAR_MESSAGES, REQUESTS, st.lists(REQUESTS, max_size=3)).map(
    lambda message: json.dumps(message).encode()
)


@pytest.fixture(scope="module")
def survivor():
    with tempfile.TemporaryDirectory() as scratch, contextlib.ExitStack() as stack:
        folder, home = Path(scratch, "Notes"), Path(scratch, "home")
        folder.mkdir()
        home.mkdir()
        (folder / "Plan.md").write_text("# Plan\n", encoding="utf-8")
        server = stack.enter_context(serving(folder, "--read-only", home=home))
        yield server, itertools.count()
        server.close_input()
        ended = server.ended()
        assert ended.code == 0
        assert "Traceback" not in ended.stderr


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(piece=PIECES)
def test_after_any_bytes_a_ping_is_answered(survivor, piece):
    server, numbers = survivor
    request_id = f"still here {next(numbers)}"
    server.send(piece + b"\n", ping(request_id))
    assert server.answer(request_id) == json.loads(line({"jsonrpc": "2.0", "id": request_id, "result": {}}))
