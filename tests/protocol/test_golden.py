"""Golden dialogues: `golden/*.jsonl` holds a client's lines (">"), what it is sent ("<"), and the end of its input.

What is expected between two of the client's lines may arrive in any order, since calls and streams run side by side;
nothing more may arrive.
"""

import json
from pathlib import Path

import pytest

from notes_mcp.errors import InvalidArguments, ResourceNotFound
from notes_mcp.events import ResourcesChanged, ResourceUpdated
from notes_mcp.protocol.subscriptions import Hub

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.jsonl"))


def features(hub):
    async def tools(params, report):
        tool = {"name": "write", "title": "Write", "inputSchema": {"type": "object"}}
        return {"tools": [{**tool, "annotations": {"readOnlyHint": False}}]}

    async def call(params, report):
        if "uri" not in params["arguments"]:
            raise InvalidArguments("uri is missing")
        hub.publish(ResourceUpdated(params["arguments"]["uri"]))
        hub.publish(ResourcesChanged())
        return {"content": [{"type": "text", "text": "写好了"}]}

    async def read(params, report):
        raise ResourceNotFound("no such note", {"uri": params["uri"]})

    return {"tools/list": tools, "tools/call": call, "resources/read": read}


@pytest.mark.parametrize("dialogue", GOLDEN, ids=lambda path: path.stem)
async def test_a_whole_dialogue_goes_as_it_is_written_down(connect, dialogue):
    hub = Hub(10)
    steps = [json.loads(line) for line in dialogue.read_text("utf-8").splitlines()]
    async with connect(features(hub), hub) as desk:
        expected = []
        for step in steps:
            if "<" in step:
                expected.append(step["<"])
                await desk.until(lambda frame, wanted=step["<"]: frame == wanted)
            elif "end" in step:
                desk.hang_up()
            else:
                desk.say(step[">"])

    def order(frame):
        return json.dumps(frame, sort_keys=True)

    assert sorted(desk.frames, key=order) == sorted(expected, key=order)
