"""Every golden dialogue, judged: what the server says in it is valid in its revision, and is what may be said there.

With MCP_SPECIFICATION naming a checkout of the specification, also by the schema.json of each revision.
"""

import json
import re
from pathlib import Path

import pytest
from wire_oracle import Conversation
from wire_schemas import NOTIFICATIONS, checkout, validator

HERE = Path(__file__).parents[1]
TALKS = sorted([*(HERE / "transcripts").glob("*.jsonl"), *(HERE / "protocol" / "golden").glob("*.jsonl")])
_NUMBER = re.compile(r'"<number>"|<number>')


def steps(path):
    """The lines of a dialogue, with a number for each that varies."""
    return [json.loads(_NUMBER.sub("0", line)) for line in path.read_text("utf-8").splitlines()]


def raw(pieces):
    """The bytes of a line that is no JSON message (see `dialogue.py`)."""
    return b"".join(
        piece.encode()
        if isinstance(piece, str)
        else piece[0].encode() * piece[1]
        if isinstance(piece, list)
        else bytes.fromhex(piece["hex"])
        for piece in pieces
    )


@pytest.mark.parametrize("path", TALKS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_each_frame_of_a_dialogue_is_valid_in_its_revision(path):
    conversation, told = Conversation(), steps(path)
    for step, following in zip(told, [*told[1:], {}], strict=True):
        if ">" in step:
            conversation.client(json.dumps(step[">"]).encode())
        elif ">raw" in step and following.get("<", {}).get("id", 0) is None:
            conversation.misshapen += 1  # what is wrong with the line is for the dialogue to say
        elif ">raw" in step:
            conversation.client(raw(step[">raw"]))
        elif "<" in step or "<+" in step:
            conversation.server(json.dumps(next(iter(step.values()))).encode() + b"\n")
    conversation.done(exit_code=0)
    assert conversation.answered


def test_the_server_only_ever_answers_and_notifies():
    """No request of ours, no log message, no cancellation: what a client may be told is all there is."""
    sent = [step.get("<") or step.get("<+") for path in TALKS for step in steps(path)]
    frames = [each for frame in sent if frame for each in (frame if isinstance(frame, list) else [frame])]
    assert len(frames) > 300
    assert all(("method" in frame) != ("id" in frame) for frame in frames)
    assert all(("result" in frame) != ("error" in frame) for frame in frames if "id" in frame)
    assert {frame["method"] for frame in frames if "method" in frame} == set(NOTIFICATIONS)


@pytest.mark.skipif(checkout() is None, reason="MCP_SPECIFICATION names no checkout of the specification")
def test_the_schemas_of_the_checkout_are_made_strict():
    path = checkout() / "schema" / "2025-11-25" / "schema.json"
    tool = {"name": "t", "inputSchema": {"type": "object", "title": "free"}}
    assert validator(path, ("ListToolsResult",)).is_valid({"tools": [tool]})
    assert not validator(path, ("ListToolsResult",)).is_valid({"tools": [tool | {"colour": "red"}]})
    assert not validator(path, ("ListToolsResult",)).is_valid({"tools": [tool], "colour": "red"})
