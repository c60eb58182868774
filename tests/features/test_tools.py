"""tools/list and tools/call as the protocol calls them."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from notes_mcp.errors import (
    AmbiguousError,
    InvalidArguments,
    InvalidParams,
    NoteError,
    NotFoundError,
    StaleError,
    StorageError,
)
from notes_mcp.features.tools import Tools
from notes_mcp.notes.answers import Deleted
from notes_mcp.settings import Settings


class OneAnswer:
    """A library whose `delete` gives or raises one thing."""

    def __init__(self, settings: Settings, answer: Deleted | Exception) -> None:
        self.settings = settings
        self.answer = answer

    async def delete(self, ref: str, **options: Any) -> Deleted:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def no_report(done: float, total: float | None, text: str) -> None:
    return None


def tools(answer: Deleted | Exception | None = None, **options: Any) -> Tools:
    settings = Settings(folders=(Path("/notes"),), **options)
    return Tools(OneAnswer(settings, answer or Deleted("a.md", ".trash/a.md", (), "c1")), settings)  # type: ignore[arg-type]


async def names(of: Tools) -> list[str]:
    return [tool["name"] for tool in (await of.list({}, no_report))["tools"]]


async def test_the_list_is_sorted_and_the_same_every_time() -> None:
    served = tools()
    first = await served.list({}, no_report)
    assert await names(served) == sorted(await names(served))
    first["tools"].clear()
    assert "delete_note" in await names(served)


async def test_the_chosen_tools_are_all_there_is() -> None:
    assert await names(tools(tools="delete_note,search_notes")) == ["delete_note", "search_notes"]
    with pytest.raises(InvalidParams) as caught:
        await tools(tools="search_notes").call({"name": "delete_note"}, no_report)
    assert caught.value.data == {"tools": ["search_notes"]}


async def test_a_read_only_server_lists_reading_tools_and_refuses_the_rest() -> None:
    served = tools(read_only=True)
    listed = (await served.list({}, no_report))["tools"]
    assert listed
    assert all(tool["annotations"]["readOnlyHint"] for tool in listed)
    answer = await served.call({"name": "delete_note", "arguments": {"path": "a.md"}}, no_report)
    assert answer["isError"] is True
    assert "read-only" in answer["content"][0]["text"]


async def test_a_cursor_for_the_list_is_refused() -> None:
    with pytest.raises(InvalidParams, match="cursor"):
        await tools().list({"cursor": "x"}, no_report)


async def test_a_call_gives_the_bare_result() -> None:
    answer = await tools().call({"name": "delete_note", "arguments": {"path": "a.md"}}, no_report)
    assert answer["isError"] is False
    assert answer["structuredContent"] == {
        "path": "a.md", "trashed_to": ".trash/a.md", "backlinks_left": [], "change_id": "c1"
    }  # fmt: skip


@pytest.mark.parametrize("name", [None, 3, ["delete_note"], {}])
async def test_a_call_without_a_name_is_malformed(name: Any) -> None:
    with pytest.raises(InvalidParams):
        await tools().call({"name": name}, no_report)


@pytest.mark.parametrize("name", ["", "Delete_Note", "_tool", "../delete_note", "x" * 100_000])
async def test_an_unknown_tool_is_a_protocol_error_that_lists_those_there_are(name: str) -> None:
    with pytest.raises(InvalidParams) as caught:
        await tools().call({"name": name, "arguments": {}}, no_report)
    assert "delete_note" in caught.value.data["tools"]
    assert "delete_note" in caught.value.message
    assert len(caught.value.message) < 400


@pytest.mark.parametrize("arguments", [[], [1], 3, "nonsense", "[]", True, "[" * 100_000])
async def test_arguments_that_are_no_object_are_malformed(arguments: Any) -> None:
    with pytest.raises(InvalidParams, match="arguments must be an object"):
        await tools().call({"name": "delete_note", "arguments": arguments}, no_report)


async def test_hazard_019_all_arguments_as_json_text_are_taken() -> None:
    answer = await tools().call({"name": "delete_note", "arguments": '{"path": "a.md"}'}, no_report)
    assert answer["isError"] is False


@pytest.mark.parametrize("arguments", [{}, None, {"path": ["a"]}, {"path": "a", "pathh": 1}])
async def test_arguments_that_do_not_fit_leave_it_to_the_era(arguments: Any) -> None:
    with pytest.raises(InvalidArguments):
        await tools().call({"name": "delete_note", "arguments": arguments}, no_report)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (NotFoundError("There is no b.", ["a.md", "c.md"]), "There is no b. Nearest: a.md, c.md."),
        (NotFoundError("There is no b; there is a.md.", ["a.md"]), "There is no b; there is a.md."),
        (AmbiguousError("Two answer to b.", ["x/b.md", "y/b.md"]), "Two answer to b. Candidates: x/b.md, y/b.md."),
        (StaleError("It has changed.", "abc"), "It has changed. Its etag is now abc."),
        (StaleError("It is gone.", None), "It is gone."),
        (StorageError("The disk is full."), "The disk is full."),
    ],
)
async def test_what_went_wrong_with_notes_is_a_tool_result(error: NoteError, told: str) -> None:
    answer = await tools(error).call({"name": "delete_note", "arguments": {"path": "b"}}, no_report)
    assert answer == {"content": [{"type": "text", "text": told}], "isError": True}


async def test_thousands_of_candidates_are_cut() -> None:
    error = AmbiguousError("Many.", [f"{number}/b.md" for number in range(5_000)])
    answer = await tools(error).call({"name": "delete_note", "arguments": {"path": "b"}}, no_report)
    assert "and 4980 more" in answer["content"][0]["text"]
    assert len(answer["content"][0]["text"]) < 1_000


async def test_hazard_035_an_error_that_quotes_endless_text_is_cut() -> None:
    answer = await tools(NotFoundError("There is no " + "x" * 100_000 + "; list the notes.")).call(
        {"name": "delete_note", "arguments": {"path": "b"}}, no_report
    )
    text = answer["content"][0]["text"]
    assert len(text) < 5_000
    assert text.startswith("There is no x")
    assert text.endswith("list the notes.")


async def test_faults_of_ours_are_not_dressed_up_as_results() -> None:
    with pytest.raises(ZeroDivisionError):
        await tools(ZeroDivisionError()).call({"name": "delete_note", "arguments": {"path": "b"}}, no_report)


def test_nothing_imports_pydantic_before_the_first_tools_request() -> None:
    program = (
        "import sys; from pathlib import Path; import notes_mcp.features.tools as t; "
        "from notes_mcp.settings import Settings; t.Tools(None, Settings(folders=(Path('/'),))); "
        "print('pydantic' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.strip() == "False"
