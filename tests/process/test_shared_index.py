"""Two servers on a folder that nobody has indexed: it is read once, also when one of them is killed over it."""

import re
import time

import pytest
from _served import brought_up, folder_of
from _tables import everything, require_sound
from processes import request

from notes_mcp.notes.index.index import Index
from notes_mcp.notes.opening import INDEX_FILE, place_of

NOTES = 800
DEADLINE_S = 60
DEBUG = "--log-level=debug"


@pytest.fixture
def many(folder):
    for number in range(NOTES - 3):
        text = f"---\ntags: [t{number % 7}]\n---\n# Note {number}\n\nword{number} 止损 [[{number - 1}]]\n"
        (folder / f"{number}.md").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def progress(server):
    return server.call("notes_info")["structuredContent"]["index"]


def until_whole(*servers):
    for server in servers:
        while not progress(server)["complete"]:
            pass


def notes_read(server):
    """How many notes that server has taken apart, as it says at log level debug."""
    return sum(map(int, re.findall(r": (\d+) notes read,", server.stderr)))


def require_whole(folder, cache):
    """The index both shared is sound, and after what may still be under way the same as one made from nothing."""
    index = Index.open(cache / place_of(folder.resolve()) / INDEX_FILE)
    assert not index.in_memory and index.file.name.endswith("-0.db")
    fresh = everything(brought_up(folder_of(folder)).index)
    deadline = time.monotonic() + DEADLINE_S
    while (found := everything(index)) != fresh and time.monotonic() < deadline:
        pass
    assert found == fresh
    require_sound(index)
    index.close()


def test_hazard_013_two_servers_read_a_new_folder_once_between_them(start, many, cache):
    with start(DEBUG, cache=cache) as one, start(DEBUG, cache=cache) as other:
        until_whole(one, other)
        for server in (one, other):
            assert progress(server) == {"indexed": NOTES, "total": NOTES, "complete": True}
            server.send(
                request("stream", "subscriptions/listen", notifications={"resourceSubscriptions": ["notes:///7.md"]})
            )
            server.notification("notifications/subscriptions/acknowledged")
        (many / "7.md").write_text("changed by an editor\n", encoding="utf-8")
        for server in (one, other):
            assert server.notification("notifications/resources/updated")["uri"] == "notes:///7.md"
        for server in (one, other):
            server.close_input()
            server.ended()
        assert notes_read(one) + notes_read(other) == NOTES + 1
    with start(DEBUG, cache=cache) as later:
        until_whole(later)
        later.close_input()
        later.ended()
        assert notes_read(later) == 0
    require_whole(many, cache)


@pytest.mark.parametrize(("share", "killed"), [(0.0, 0), (0.2, 1), (0.5, 0), (0.8, 1)])
def test_hazard_013_one_killed_while_both_index_leaves_the_whole_work_to_the_other(start, many, cache, share, killed):
    with start(DEBUG, cache=cache) as one, start(DEBUG, cache=cache) as other:
        servers = [one, other]
        victim, survivor = servers[killed], servers[1 - killed]
        saved = 0
        while progress(survivor)["indexed"] < share * NOTES:
            saved += 1
            (many / f"{saved * 37 % 700}.md").write_text(f"saved {saved}\n", encoding="utf-8")
        victim.process.kill()
        victim.process.wait()
        while not progress(survivor)["complete"]:
            saved += 1
            (many / f"{saved * 37 % 700}.md").write_text(f"saved {saved}\n", encoding="utf-8")
        require_whole(many, cache)
        victim.ended()
        survivor.close_input()
        survivor.ended()
        # What the dead one had read and not yet filed, and what was saved meanwhile, is read again; no more.
        assert NOTES - notes_read(victim) <= notes_read(survivor) <= NOTES + 2 * saved


def test_hazard_013_one_killed_while_an_editor_saves_leaves_the_other_in_step(start, many, cache):
    with start(cache=cache) as one:
        until_whole(one)
        for turn in range(4):
            with start(cache=cache) as victim:
                until_whole(victim)
                for number in range(40):
                    (many / f"{turn * 40 + number}.md").write_text(f"turn {turn}\n", encoding="utf-8")
                    if number == turn * 7:
                        victim.process.kill()
        require_whole(many, cache)
        assert one.call("search_notes", query='"turn 3"')["structuredContent"]["total"] == 40
        one.close_input()
        assert one.ended().stderr == ""
