"""What the gate hides is in no suggestion and no list (server/resources and server/utilities/completion, on access)."""

import json

import pytest
from _served import fill, serving

from notes_mcp.features.completion import Completion
from notes_mcp.features.prompts import Prompts
from notes_mcp.features.resources import TEMPLATES, Resources

SECRET = "# Geheimnis\n\n#geheimnis [[Plan]]\n"
NOTES = {
    "Plan.md": "# Plan\n\n#work [[Geheimnis]]\n",
    ".obsidian/Geheimnis.md": SECRET,
    ".trash/Geheimnis.md": SECRET,
    "private/Geheimnis.md": SECRET,
    "private/Prompts/Geheimnis.md": SECRET,
    "node_modules/Geheimnis/Geheimnis.md": SECRET,
}
TEMPLATE = {"type": "ref/resource", "uri": TEMPLATES[0]["uriTemplate"]}


def asked(prompt, argument):
    return {"ref": {"type": "ref/prompt", "name": prompt}, "argument": {"name": argument}}


ASKED = [
    {"ref": TEMPLATE, "argument": {"name": "path"}},
    asked("summarize_note", "path"),
    asked("summarize_topic", "topic"),
    asked("extract_tasks", "folder"),
    asked("daily_review", "date"),
]


@pytest.mark.parametrize("typed", ["", "geheimnis", "Geheimnis", "private", "#geh", ".trash/", "../outside/Geheimnis"])
async def test_what_is_hidden_is_never_suggested_nor_listed(tmp_path, typed):
    outside = fill(tmp_path / "outside", {"Geheimnis.md": SECRET})
    folder = fill(tmp_path / "notes", NOTES)
    (folder / "linked.md").symlink_to(outside / "Geheimnis.md")
    (folder / "linked").symlink_to(outside, target_is_directory=True)
    async with serving(tmp_path, folder, ignore=("private/",)) as (library, _):
        prompts = Prompts(library)
        resources = Resources(library, library.settings, lambda event: None)
        answers = []
        for each in ASKED:
            params = each | {"argument": each["argument"] | {"value": typed}}
            answers.append(await Completion(library, prompts).complete(params, lambda *_: None))
        answers += [await resources.page({}, lambda *_: None), await prompts.page({}, lambda *_: None)]
    told = json.dumps(answers, ensure_ascii=False).casefold()
    assert "geheimnis" not in told
    assert "private" not in told and "linked" not in told and "node_modules" not in told
    assert "plan.md" in told
