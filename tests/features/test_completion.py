"""completion/complete: the template's path, and prompt arguments that are paths, tags, folders, days or weeks."""

from datetime import date

import mcp_types
import pytest
from notes_in_a_dict import NotesInADict, no_report

from notes_mcp.errors import InvalidParams
from notes_mcp.features.completion import Completion
from notes_mcp.features.prompts import Prompts

TODAY = date(2026, 7, 29)
TEMPLATE = {"type": "ref/resource", "uri": "notes:///{+path}"}


def completion_of(library: NotesInADict) -> Completion:
    prompts = Prompts(library, today=lambda: TODAY)
    return Completion(library, prompts, today=lambda: TODAY)


async def complete(library: NotesInADict, ref, name, value, **more):
    if isinstance(ref, str):
        ref = {"type": "ref/prompt", "name": ref}
    params = {"ref": ref, "argument": {"name": name, "value": value}, **more}
    result = await completion_of(library).methods["completion/complete"](params, no_report)
    mcp_types.CompleteResult.model_validate(result)
    return result["completion"]


async def refused(params) -> InvalidParams:
    with pytest.raises(InvalidParams) as caught:
        await completion_of(NotesInADict({})).methods["completion/complete"](params, no_report)
    assert type(caught.value) is InvalidParams
    return caught.value


async def test_the_path_of_the_template_is_completed_in_any_script():
    library = NotesInADict({"Projects/计划.md": "", "Recipes/红烧肉.md": ""})
    assert await complete(library, TEMPLATE, "path", "计") == {
        "values": ["Projects/计划.md"],
        "total": 1,
        "hasMore": False,
    }


async def test_a_concrete_uri_of_ours_is_completed_like_the_template():
    library = NotesInADict({"Projects/计划.md": ""})
    ref = {"type": "ref/resource", "uri": "notes:///Projects/"}
    assert (await complete(library, ref, "path", "Pro"))["values"] == ["Projects/计划.md"]


async def test_a_path_typed_percent_encoded_is_understood():
    library = NotesInADict({"Projects/计划.md": "", "x.md": ""})
    assert (await complete(library, TEMPLATE, "path", "Projects/%E8%AE%A1"))["values"] == ["Projects/计划.md"]


async def test_values_can_be_put_into_the_template_as_they_are():
    library = NotesInADict({"100% #1?.md": "hello"})
    (value,) = (await complete(library, TEMPLATE, "path", "100"))["values"]
    assert library.canonical("notes:///" + value) == library.uri("100% #1?.md")


async def test_no_more_than_a_hundred_values_with_the_total_and_that_there_are_more():
    library = NotesInADict({f"{number:03}.md": "" for number in range(250)})
    completion = await complete(library, TEMPLATE, "path", "")
    assert len(completion["values"]) == 100
    assert (completion["total"], completion["hasMore"]) == (250, True)


@pytest.mark.parametrize("prompt", ["summarize_note", "find_connections"])
async def test_a_path_argument_completes_paths(prompt):
    assert (await complete(NotesInADict({"a%b.md": ""}), prompt, "path", "a"))["values"] == ["a%b.md"]


async def test_attachments_are_offered_for_the_template_but_not_where_a_note_is_wanted():
    library = NotesInADict({"a.md": "", "a.png": b""})
    assert await complete(library, "summarize_note", "path", "a") == {"values": ["a.md"], "total": 1, "hasMore": False}
    assert (await complete(library, TEMPLATE, "path", "a"))["values"] == ["a.md", "a.png"]


async def test_a_topic_completes_tags_with_the_mark_that_was_typed():
    library = NotesInADict({"a.md": "#读书/社会 #recipe"})
    assert (await complete(library, "summarize_topic", "topic", "#读"))["values"] == ["#读书/社会"]
    assert (await complete(library, "summarize_topic", "topic", "rec"))["values"] == ["recipe"]


async def test_a_folder_argument_completes_folders():
    library = NotesInADict({"Projects/a.md": "", "Daily/b.md": ""})
    assert (await complete(library, "extract_tasks", "folder", "pro"))["values"] == ["Projects"]


async def test_days_start_with_today_and_go_back():
    completion = await complete(NotesInADict({}), "daily_review", "date", "")
    assert completion["values"][:3] == ["2026-07-29", "2026-07-28", "2026-07-27"]
    assert completion["hasMore"]
    assert len(completion["values"]) == 100


@pytest.mark.parametrize(
    ("typed", "first"),
    [("2026-07-2", "2026-07-29"), ("07-1", "2026-07-19"), ("2024-02", "2024-02-29"), ("1999", "1999-12-31")],
)
async def test_days_are_found_by_a_part_a_month_or_the_note_there_is(typed, first):
    library = NotesInADict({"Daily/1999-12-31.md": "", "Daily/2026-13-45.md": ""})
    assert (await complete(library, "daily_review", "date", typed))["values"][0] == first


async def test_weeks_start_with_this_week():
    library = NotesInADict({})
    assert (await complete(library, "weekly_review", "week", ""))["values"][:2] == ["2026-W31", "2026-W30"]
    assert (await complete(library, "weekly_review", "week", "w25"))["values"] == ["2026-W25"]


async def test_nothing_fits_nonsense():
    nothing = {"values": [], "total": 0, "hasMore": False}
    assert await complete(NotesInADict({"a.md": ""}), "daily_review", "date", "zzz") == nothing


@pytest.mark.parametrize(
    ("argument", "typed", "expected"),
    [
        ("path", "pl", ["Plan.md"]),
        ("note", "pl", ["Plan.md"]),
        ("tag", "se", ["sea"]),
        ("{name: where, type: folder}", "pro", ["Prompts"]),
        ("date", "2026-07-29", ["2026-07-29"]),
        ("code", "pl", []),
    ],
)
async def test_arguments_of_the_users_own_prompts_complete_by_name_or_type(argument, typed, expected):
    library = NotesInADict({"Prompts/mine.md": f"---\narguments: [{argument}]\n---\n", "Plan.md": "#sea"})
    name = "where" if "where" in argument else argument
    assert (await complete(library, "mine", name, typed))["values"] == expected


async def test_a_context_is_accepted():
    library = NotesInADict({"a.md": ""})
    completion = await complete(library, "summarize_note", "path", "a", context={"arguments": {"x": "y"}})
    assert completion["values"] == ["a.md"]


ARGUMENT = {"name": "path", "value": ""}
PROMPT = {"type": "ref/prompt", "name": "summarize_note"}


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"ref": TEMPLATE},
        {"argument": ARGUMENT},
        {"ref": "notes:///{+path}", "argument": ARGUMENT},
        {"ref": {"type": "ref/tool", "name": "x"}, "argument": ARGUMENT},
        {"ref": {"name": "summarize_note"}, "argument": ARGUMENT},
        {"ref": {"type": "ref/prompt"}, "argument": ARGUMENT},
        {"ref": {"type": "ref/resource"}, "argument": ARGUMENT},
        {"ref": {"type": "ref/resource", "uri": "https://x/{y}"}, "argument": ARGUMENT},
        {"ref": TEMPLATE, "argument": {"name": "file", "value": ""}},
        {"ref": PROMPT, "argument": {"name": "path"}},
        {"ref": PROMPT, "argument": {"name": "path", "value": 3}},
        {"ref": PROMPT, "argument": {"value": ""}},
        {"ref": PROMPT, "argument": ["path", ""]},
        {"ref": PROMPT, "argument": ARGUMENT, "context": []},
        {"ref": PROMPT, "argument": ARGUMENT, "context": {"arguments": 5}},
    ],
)
async def test_malformed_requests_are_invalid_params(params):
    await refused(params)


async def test_an_unknown_prompt_lists_those_there_are():
    error = await refused({"ref": {"type": "ref/prompt", "name": "sumarize"}, "argument": ARGUMENT})
    assert "summarize_note" in error.data["prompts"]


async def test_an_argument_the_prompt_has_not_names_the_nearest():
    error = await refused({"ref": PROMPT, "argument": {"name": "paths", "value": ""}})
    assert error.data == {"arguments": ["path"], "nearest": "path"}


async def test_a_very_long_value_is_answered():
    assert (await complete(NotesInADict({"a.md": ""}), TEMPLATE, "path", "字" * 100_000))["values"] == []
