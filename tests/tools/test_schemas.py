"""What every tool must look like to be taken by every client, now and when tools are added."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import mcp_types
import pytest
from pydantic import Field

from notes_mcp.settings import CORE_TOOLS
from notes_mcp.tools import _catalog
from notes_mcp.tools._tool import Arguments, Result, tool

DEFINITIONS = {name: found.definition() for name, found in _catalog.load().items()}
WRITING = {
    "create_note",
    "add_thoughts",
    "edit_note",
    "set_properties",
    "update_tags",
    "move_note",
    "delete_note",
    "undo_change",
}
every_tool = pytest.mark.parametrize("name", DEFINITIONS)


def nodes(schema: Any, under_properties: bool = False) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if not under_properties:
            yield schema
        for key, value in schema.items():
            yield from nodes(value, key == "properties" and not under_properties)
    elif isinstance(schema, list):
        for value in schema:
            yield from nodes(value)


def wire_bytes(names: Iterator[str] | list[str]) -> int:
    listed = {"tools": [DEFINITIONS[name] for name in names]}
    return len(json.dumps(listed, ensure_ascii=False, separators=(",", ":")).encode())


@every_tool
def test_hazard_025_no_schema_has_composition_references_or_a_dialect(name: str) -> None:
    for schema in (DEFINITIONS[name]["inputSchema"], DEFINITIONS[name].get("outputSchema", {})):
        for node in nodes(schema):
            assert not node.keys() & {"anyOf", "oneOf", "allOf", "not", "if", "$ref", "$defs", "$schema", "title"}
            assert not isinstance(node.get("type"), list)


@every_tool
def test_hazard_026_every_array_says_what_its_items_are(name: str) -> None:
    for node in nodes(DEFINITIONS[name]["inputSchema"]):
        assert node.get("type") != "array" or node["items"]["type"]
    for node in nodes(DEFINITIONS[name].get("outputSchema", {})):
        assert node.get("type") != "array" or "items" in node


@every_tool
def test_hazard_028_no_schema_makes_up_a_format(name: str) -> None:
    assert all("format" not in node for node in nodes(DEFINITIONS[name]["inputSchema"]))


@every_tool
def test_schemas_are_valid_flat_and_described(name: str) -> None:
    schema = DEFINITIONS[name]["inputSchema"]
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft7Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert all(argument["description"].strip() for argument in schema["properties"].values())
    if "outputSchema" in DEFINITIONS[name]:
        jsonschema.Draft202012Validator.check_schema(DEFINITIONS[name]["outputSchema"])
        assert DEFINITIONS[name]["outputSchema"]["type"] == "object"


@every_tool
def test_the_official_client_takes_the_definition_whole(name: str) -> None:
    taken = mcp_types.Tool.model_validate(DEFINITIONS[name])
    assert taken.model_dump(mode="json", by_alias=True, exclude_none=True) == DEFINITIONS[name]


@every_tool
def test_every_tool_has_a_title_a_short_description_and_all_four_hints(name: str) -> None:
    shown = DEFINITIONS[name]
    assert shown["name"] == name
    assert shown["title"]
    assert 0 < len(shown["description"].encode()) <= 220
    hints = shown["annotations"]
    assert set(hints) == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    assert hints["openWorldHint"] is False
    assert hints["readOnlyHint"] is (name not in WRITING)
    assert not (hints["readOnlyHint"] and hints["destructiveHint"])


def test_the_fourteen_tools_are_there_and_no_other() -> None:
    reading = {"search_notes", "list_notes", "read_note", "list_tags", "get_links", "notes_info"}
    assert set(DEFINITIONS) == WRITING | reading
    assert set(CORE_TOOLS) <= set(DEFINITIONS)


def test_all_of_the_list_stays_within_12000_bytes() -> None:
    assert wire_bytes(list(DEFINITIONS)) <= 12_000


def test_the_core_stays_within_5000_bytes() -> None:
    assert wire_bytes([name for name in DEFINITIONS if name in CORE_TOOLS]) <= 5_000


def test_a_tool_is_there_because_its_file_is_there() -> None:
    assert _catalog.names() == tuple(sorted(DEFINITIONS))
    assert list(_catalog.load("delete_note, search_notes")) == ["delete_note", "search_notes"]
    with pytest.raises(ValueError, match="no_such"):
        _catalog.load("search_notes,no_such")


def test_core_holds_only_core_tools() -> None:
    assert set(_catalog.chosen("core")) <= set(CORE_TOOLS)
    assert "delete_note" not in _catalog.chosen("core")


def test_a_shape_that_a_client_would_refuse_cannot_be_defined() -> None:
    class Choice(Arguments):
        value: int | str = Field(description="either")

    class Bare(Arguments):
        value: int

    with pytest.raises(TypeError, match="refuse"):

        @tool(title="T", read_only=True)
        async def either(args: Choice, library: Any, report: Any) -> Result:
            """Takes two types."""
            return Result()

    with pytest.raises(TypeError, match="no description"):

        @tool(title="T", read_only=True)
        async def silent(args: Bare, library: Any, report: Any) -> Result:
            """Says nothing of its argument."""
            return Result()
