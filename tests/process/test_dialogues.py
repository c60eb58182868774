"""Every golden dialogue of `tests/transcripts`, twice with the same expectations: in memory, and in a subprocess.

After a change that is meant, `python tests/process/record.py [NAME…]` writes down anew what the server says.
"""

import json

import dialogue
import pytest
import talks

from notes_mcp.protocol.values import REVISIONS

ALL = dialogue.transcripts()
PLACES = {"in memory": talks.in_memory, "through a process": talks.through_a_process}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A maker of (folder, cache) pairs, the index already built."""

    async def prepare(tmp_path):
        folder, cache = tmp_path / "Notes", tmp_path / "cache"
        folder.mkdir()
        dialogue.lay_out(folder)
        await talks.build_index(folder, cache)
        return folder, cache

    return prepare


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
async def test_a_dialogue_goes_as_it_is_written_down(path, place, prepared, tmp_path):
    transcript = dialogue.Transcript(path)
    folder, cache = await prepared(tmp_path)
    async with PLACES[place](transcript.options, folder, cache) as client:
        await dialogue.play(transcript, client, folder)


def test_the_dialogues_speak_every_revision_and_ask_for_every_method_and_tool():
    said = [step[">"] for path in ALL for step in dialogue.Transcript(path).steps if isinstance(step.get(">"), dict)]
    revisions = {message.get("params", {}).get("protocolVersion") for message in said}
    revisions |= {
        message.get("params", {}).get("_meta", {}).get("io.modelcontextprotocol/protocolVersion") for message in said
    }
    assert revisions >= set(REVISIONS)
    assert {message.get("method") for message in said} >= {
        "initialize",
        "ping",
        "server/discover",
        "subscriptions/listen",
        "resources/subscribe",
        "resources/unsubscribe",
        "tools/list",
        "tools/call",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "prompts/list",
        "prompts/get",
        "completion/complete",
        "notifications/initialized",
        "notifications/cancelled",
    }
    called = {message["params"].get("name") for message in said if message.get("method") == "tools/call"}
    assert called >= {
        "search_notes",
        "list_notes",
        "read_note",
        "create_note",
        "add_thoughts",
        "delete_note",
        "notes_info",
    }


class TestThePlaceholders:
    @pytest.mark.parametrize(
        ("expected", "seen"),
        [
            ("etag: <etag>", "etag: 0123456789abcdef"),
            ("<number>", 3),
            ("<number>", 0.25),
            (["<etag:a>", "<etag:a>"], ["0123456789abcdef"] * 2),
            ({"text": "a <b> c.d"}, {"text": "a <b> c.d"}),
            ("<text>", "two\nlines"),
        ],
    )
    def test_stand_for_what_varies(self, expected, seen):
        assert dialogue.matches(expected, seen, {})

    @pytest.mark.parametrize(
        ("expected", "seen"),
        [
            ("etag: <etag>", "etag: 0123"),
            ("<etag>", 1234567890123456),
            ("<number>", "3 or 4"),
            ("<number>", True),
            (["<etag:a>", "<etag:a>"], ["0123456789abcdef", "fedcba9876543210"]),
            ("a.c", "abc"),
            ({"a": 1}, {"a": 1, "b": 2}),
            ([1], [1, 2]),
            (1, True),
            (1, 1.0),
        ],
    )
    def test_stand_for_nothing_else(self, expected, seen):
        assert not dialogue.matches(expected, seen, {})

    def test_a_named_one_is_filled_in_where_the_client_sends_it(self):
        known = {}
        assert dialogue.matches({"etag": "<etag:plan>"}, {"etag": "0123456789abcdef"}, known)
        sent = dialogue.encode({">": {"if_match": "<etag:plan>"}}, known)
        assert json.loads(sent) == {"if_match": "0123456789abcdef"}

    def test_one_that_does_not_match_teaches_nothing(self):
        known = {}
        assert not dialogue.matches(["<etag:plan>", "x"], ["0123456789abcdef", "y"], known)
        assert known == {}
