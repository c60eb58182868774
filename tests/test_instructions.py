"""What a server says of itself speaks of the tools that it offers, and of no other."""

import re

import pytest

from notes_mcp.instructions import instructions
from notes_mcp.settings import CORE_TOOLS, Settings
from notes_mcp.tools import _catalog

TOOLS = _catalog.load()


def said(**settings):
    return instructions(Settings(folders=(), **settings))


def test_with_all_tools_it_tells_how_a_change_is_made_checked_shown_and_taken_back():
    text = said()
    for word in ("Search before", "read a note before", "if_match", "dry_run", "undo_change", "relative"):
        assert word in text


@pytest.mark.parametrize("tools", ["all", "core", "search_notes,edit_note"])
def test_a_server_that_only_reads_says_nothing_of_how_to_write(tools):
    text = said(read_only=True, tools=tools)
    assert not re.search("before you change|etag|if_match|dry_run|undo|writ", text)
    assert text.startswith("A person's own notes. Search before you answer from memory. Paths are relative")
    assert text.endswith("They can be read here, not changed.")


@pytest.mark.parametrize("tools", ["all", "core", *TOOLS, "read_note, edit_note", "search_notes,undo_change"])
@pytest.mark.parametrize("read_only", [False, True])
def test_no_sentence_speaks_of_a_tool_that_is_not_offered(tools, read_only):
    text = said(tools=tools, read_only=read_only)
    chosen = _catalog.chosen(tools)
    offered = {name for name in chosen if TOOLS[name].read_only or not read_only}
    assert {name for name in TOOLS if name in text} <= offered
    assert ("if_match" in text) == any("if_match" in TOOLS[name].input_schema["properties"] for name in offered)
    assert "dry_run" not in text or any("dry_run" in TOOLS[name].input_schema["properties"] for name in offered)
    assert ("Search" in text) == ("search_notes" in offered)
    assert ".." not in text and ". ." not in text


def test_core_leaves_out_what_only_the_other_tools_can_do():
    text = said(tools="core")
    assert "undo_change" not in text and "dry_run" in text and set(CORE_TOOLS) <= set(TOOLS)
