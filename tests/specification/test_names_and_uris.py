"""Names that the specification limits: tools (2025-11-25 server/tools, "Tool Names"), and URIs of notes (RFC 3986)."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from notes_mcp.errors import InvalidParams
from notes_mcp.features.prompts import BUILT_IN
from notes_mcp.features.resources import TEMPLATES
from notes_mcp.features.tools import Tools
from notes_mcp.notes import uris
from notes_mcp.settings import Settings
from notes_mcp.tools import _catalog

TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
# RFC 3986 appendix A: scheme "://" authority path-abempty, the authority empty.
_PCHAR = r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"
URI = re.compile(rf"[A-Za-z][A-Za-z0-9+.-]*://(?:/{_PCHAR}*)+")


def test_names_of_tools_are_short_plain_and_unique():
    names = [tool.definition()["name"] for tool in _catalog.load().values()]
    assert len(names) == len(set(names)) == 14
    assert all(TOOL_NAME.fullmatch(name) for name in names)


@pytest.mark.parametrize("name", ["Read_Note", "READ_NOTE", "read_note ", " read_note", "read-note"])
async def test_another_case_or_spelling_is_another_tool(name):
    tools = Tools(None, Settings(folders=()))
    with pytest.raises(InvalidParams, match="Unknown tool"):
        await tools.call({"name": name, "arguments": {"path": "a"}}, lambda *_: None)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1).map("/".join))
@example("计划/a b#c?d%e[f].md")
@example("~!$&'()*+,;=:@")
@example('Prompts/{{x}} \\ ^ ` | < > ".md')
def test_the_uri_of_any_path_is_one_by_the_grammar(path):
    assert URI.fullmatch(uris.to_uri(path))


def test_only_a_scheme_of_our_own_is_used():
    assert uris.to_uri("a.md").startswith("notes:///")
    assert all(template["uriTemplate"].startswith("notes:///") for template in TEMPLATES)


def test_prompts_have_names_that_tell_them_apart():
    names = [prompt.spec.name for prompt in BUILT_IN.values()]
    assert len(names) == len(set(names)) == len(BUILT_IN)
    assert list(BUILT_IN) == names
