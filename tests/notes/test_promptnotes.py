"""What a note in `Prompts/` says as a prompt, and what is probably not meant."""

import pytest

from notes_mcp.notes import promptnotes
from notes_mcp.notes.text import Text


def read(text):
    return promptnotes.read(Text.decode(text.encode()))


def test_an_argument_that_is_nowhere_in_the_text_and_a_name_that_is_no_argument_are_doubted():
    idle, strange = read("---\narguments: [code]\n---\n{{cod}}\n").doubts
    assert idle.startswith("the argument code is nowhere") and "{{code}}" in idle
    assert strange.startswith("{{cod}} is in the text but not in `arguments`") and "\\{{cod}}" in strange


@pytest.mark.parametrize(
    "text",
    [
        "---\narguments: [code]\n---\n{{code}} {{ code }}",
        "---\narguments: [code]\n---\n{{code}} \\{{cod}} {{#if}} {{}}",
        "---\narguments: []\n---\n{{code}}",
        "{{code}}",
        "---\na: [\n---\n{{code}}",
    ],
)
def test_what_is_meant_is_not_doubted(text):
    assert read(text).doubts == ()


def test_a_file_without_text_is_an_empty_prompt():
    assert promptnotes.read(None) == promptnotes.PromptNote("", "", (), "")


def test_no_more_arguments_than_a_client_can_show():
    assert len(read(" ".join(f"{{{{a{number}}}}}" for number in range(80))).blanks) == 50
    assert len(read(f"---\narguments: [{', '.join(f'a{number}' for number in range(80))}]\n---\n").blanks) == 50
