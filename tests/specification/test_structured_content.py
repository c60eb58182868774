"""Each tool's `structuredContent` against the outputSchema it declares, over many real calls, errors included.

2026-07-28 server/tools, "Output Schema": servers MUST provide structured results that conform. The first test is a
table of calls that are meant; the second makes up arguments from the input schemas and the names of a made-up folder.
"""

import asyncio
import json
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from _served import fill, serving
from hypothesis import HealthCheck, given
from hypothesis import settings as rules
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError
from pydantic import ValidationError as TypesError
from tool_calls import CALLS, CHANGED, FOLDER
from wire_schemas import judge_result

from notes_mcp.errors import InvalidArguments, NoteError
from notes_mcp.features.tools import explain
from notes_mcp.tools import _catalog

ERRORS_THAT_SHOW_SOMETHING = {"undo_change"}


class Judge:
    """Calls tools of a library and holds each answer to what tools/list says; `seen` counts (tool, how it went)."""

    def __init__(self, tools, library=None):
        self.seen = Counter()
        self._tools = tools
        self._library = library
        self._schemas = {name: tool.definition().get("outputSchema") for name, tool in tools.items()}

    async def call(self, name, arguments):
        """What the tool shows as structured content, None if nothing."""
        try:
            result = await self._tools[name].run(arguments, self._library, lambda *_: None)
        except NoteError as error:
            result = {"content": [{"type": "text", "text": explain(error)}], "isError": True}
        except InvalidArguments:
            self.seen[name, "refused"] += 1
            return None
        judge_result({"jsonrpc": "2.0", "id": 1, "result": result}, "tools/call", "2025-11-25")
        schema, structured = self._schemas[name], result.get("structuredContent")
        assert "structuredContent" not in result or isinstance(structured, dict)
        if structured is not None:
            Draft202012Validator(schema).validate(structured)
            assert json.loads(result["content"][0]["text"]) == structured
        elif result["isError"]:
            assert result["content"][0]["text"].strip()
        else:
            assert schema is None, f"{name} declares a schema and shows nothing structured: {arguments}"
        how = ("error" if result["isError"] else "done") + (" shown" if structured is not None else "")
        self.seen[name, how] += 1
        return structured


async def test_every_tool_shows_what_its_schema_says_and_errors_show_that_or_nothing(tmp_path):
    folder = fill(tmp_path / "notes", FOLDER)
    async with serving(tmp_path, folder) as (library, _):
        judge = Judge(_catalog.load(), library)
        for name, calls in CALLS.items():
            for arguments in calls:
                shown = await judge.call(name, arguments)
                if shown and "next_cursor" in shown:
                    assert await judge.call(name, {**arguments, "cursor": shown["next_cursor"]})
        for name, arguments in CHANGED:
            if name == "somebody else":
                (folder / arguments["path"]).write_text("all different\n", "utf-8")
            else:
                await judge.call(name, arguments)
    for name in _catalog.load():
        plain = name == "read_note"
        assert judge.seen[name, "done" if plain else "done shown"] >= 1, name
        assert judge.seen[name, "refused"] + judge.seen[name, "error"] >= 1, name
        assert (judge.seen[name, "error shown"] > 0) == (name in ERRORS_THAT_SHOW_SOMETHING), name


WORDS = st.sampled_from(
    [
        *FOLDER,
        "Plan",
        "Ideas",
        "计划",
        "One",
        "Two",
        "b",
        "work",
        "学习",
        "text",
        "",
        "日记",
        "Daily",
        "x/y",
        "^p1",
        "a: 1",
    ]
) | st.text(max_size=12)
VALUES = st.none() | st.booleans() | st.integers() | WORDS | st.lists(WORDS, max_size=2)


def values_for(schema):
    """Values that fit a property of an input schema, for the most part."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema["type"]:
        case "string":
            return WORDS
        case "integer":
            return st.integers(0, schema.get("maximum", 60))
        case "boolean":
            return st.booleans()
        case "array":
            return st.lists(values_for(schema["items"]), min_size=1, max_size=3)
        case "object" if "properties" in schema:
            return arguments_for(schema)
        case "object":
            return st.dictionaries(WORDS, VALUES, max_size=3)
    raise AssertionError(f"a schema that nobody thought of: {schema}")


def arguments_for(schema):
    required = schema.get("required", [])
    fields = {name: values_for(part) for name, part in schema["properties"].items() if name != "cursor"}
    optional = {name: strategy for name, strategy in fields.items() if name not in required}
    return st.fixed_dictionaries({name: fields[name] for name in required}, optional=optional)


CALL = st.one_of(
    *(
        st.tuples(st.just(name), arguments_for(tool.definition()["inputSchema"]))
        for name, tool in _catalog.load().items()
    )
)
TEXT = st.lists(
    st.sampled_from(
        [
            "# Plan\n",
            "---\n",
            "tags: [a, b]\n",
            "a: 1\n",
            "[[Ideas]] ",
            "#b ",
            "```\n",
            "学习",
            "\r\n",
            "## One\n",
            "- x\n",
        ]
    )
    | st.text(max_size=8),
    max_size=12,
).map("".join)


@rules(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.fixed_dictionaries({"Plan.md": TEXT, "日记/计划.md": TEXT}), st.lists(CALL, min_size=20, max_size=35))
def test_whatever_is_asked_of_whatever_notes_the_answers_are_what_the_schemas_say(notes, calls):
    async def play():
        with tempfile.TemporaryDirectory() as scratch:
            home = Path(scratch)
            made = {path: text.encode("utf-8", "surrogatepass") for path, text in notes.items()}
            async with serving(home, fill(home / "notes", FOLDER | made)) as (library, _):
                judge = Judge(_catalog.load(), library)
                for name, arguments in calls:
                    await judge.call(name, arguments)
                return judge.seen

    seen = asyncio.run(play())
    assert sum(seen.values()) == len(calls)


class Answering:
    """A tool that always answers with the same."""

    read_only = True

    def __init__(self, answer):
        self._answer = answer

    def definition(self):
        return {"name": "t", "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}

    async def run(self, arguments, library, report):
        return self._answer


TOLD = [{"type": "text", "text": '{"n":1}'}]


@pytest.mark.parametrize(
    "answer",
    [
        {"content": TOLD, "structuredContent": {"n": "1"}, "isError": False},
        {"content": TOLD, "structuredContent": {"n": "1"}, "isError": True},
        {"content": TOLD, "structuredContent": {"n": 2}, "isError": False},
        {"content": TOLD, "structuredContent": [1], "isError": False},
        {"content": TOLD, "isError": False},
        {"content": [{"type": "text", "text": " "}], "isError": True},
        {"content": [{"type": "text"}], "isError": True},
    ],
)
async def test_an_answer_that_is_not_what_its_schema_says_is_seen(answer):
    right = {"content": TOLD, "structuredContent": {"n": 1}, "isError": False}
    assert await Judge({"t": Answering(right)}).call("t", {}) == {"n": 1}
    with pytest.raises((AssertionError, ValidationError, TypesError)):
        await Judge({"t": Answering(answer)}).call("t", {})
