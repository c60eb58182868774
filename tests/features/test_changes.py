"""Changes on disk -> what subscribers are told, and when a list counts as changed."""

import asyncio

import pytest

from notes_mcp.events import PromptsChanged, ResourcesChanged, ResourceUpdated
from notes_mcp.features.changes import Announcer, events, in_prompts
from notes_mcp.notes.records import Change
from notes_mcp.notes.uris import to_uri

DEADLINE_S = 20


def change(kind, path, old_path=None, file_kind="note"):
    return Change(1, kind, path, file_kind, old_path)


def told(*changes, complete=True, several_folders=False):
    return events(changes, complete, uri=to_uri, several_folders=several_folders)


def test_a_note_that_was_written_is_one_update_and_no_list_change():
    saves = change("updated", "a.md"), change("updated", "a.md")
    assert told(*saves) == [ResourceUpdated("notes:///a.md")]


@pytest.mark.parametrize("kind", ["created", "deleted"])
def test_hazard_146_a_note_that_came_or_went_changes_the_list_as_well(kind):
    assert told(change(kind, "计划.md")) == [ResourceUpdated("notes:///%E8%AE%A1%E5%88%92.md"), ResourcesChanged()]


def test_hazard_149_a_renamed_note_is_an_update_of_both_names():
    assert told(change("renamed", "b.md", "a.md")) == [
        ResourceUpdated("notes:///a.md"),
        ResourceUpdated("notes:///b.md"),
        ResourcesChanged(),
    ]


def test_attachments_are_updated_but_not_in_the_list():
    assert told(change("created", "a.png", file_kind="attachment")) == [ResourceUpdated("notes:///a.png")]


@pytest.mark.parametrize(("new", "old"), [("a.bak", "a.md"), ("a.md", "a.bak")])
def test_a_note_that_becomes_an_attachment_or_back_changes_the_list(new, old):
    assert ResourcesChanged() in told(change("renamed", new, old))


@pytest.mark.parametrize(
    ("changed", "several", "expected"),
    [
        (change("updated", "Prompts/a.md"), False, True),
        (change("created", "Prompts/deep/a.md"), False, True),
        (change("deleted", "Prompts/a.md"), False, True),
        (change("renamed", "a.md", "Prompts/a.md"), False, True),
        (change("updated", "Work/Prompts/a.md"), True, True),
        (change("updated", "Prompts/a.md"), True, False),
        (change("updated", "Work/Prompts/a.md"), False, False),
        (change("updated", "Prompts.md"), False, False),
        (change("updated", "Work/Prompts.md"), True, False),
        (change("updated", "MyPrompts/a.md"), False, False),
        (change("created", "Prompts/a.png", file_kind="attachment"), False, False),
    ],
)
def test_only_notes_in_the_prompts_folder_change_the_prompts(changed, several, expected):
    assert (PromptsChanged() in told(changed, several_folders=several)) is expected


def test_a_folder_by_that_name_is_no_note_in_it():
    assert not in_prompts("Prompts", several_folders=False)


def test_changes_that_are_not_all_known_change_both_lists():
    assert told(complete=False) == [ResourcesChanged(), PromptsChanged()]


class Heard:
    """Collects events; `until` waits for the first that fits."""

    def __init__(self):
        self.events = []
        self.more = asyncio.Event()

    def __call__(self, event):
        self.events.append(event)
        self.more.set()

    async def until(self, event):
        async with asyncio.timeout(DEADLINE_S):
            while event not in self.events:
                self.more.clear()
                await self.more.wait()


def announcer(heard, quiet_ms=1):
    return Announcer(to_uri, heard, quiet_ms=quiet_ms, several_folders=False)


async def test_updates_go_out_at_once_and_many_changes_make_one_list_change():
    heard = Heard()
    announce = announcer(heard)
    for number in range(5):
        announce([change("created", f"{number}.md")], True)
    updates = [ResourceUpdated(f"notes:///{number}.md") for number in range(5)]
    assert heard.events == updates
    await heard.until(ResourcesChanged())
    assert heard.events == [*updates, ResourcesChanged()]
    announce.close()


async def test_a_list_that_changes_again_later_is_announced_again():
    heard = Heard()
    announce = announcer(heard)
    for _ in range(2):
        announce([change("deleted", "Prompts/a.md")], True)
        await heard.until(PromptsChanged())
        assert heard.events == [ResourceUpdated("notes:///Prompts/a.md"), ResourcesChanged(), PromptsChanged()]
        heard.events.clear()
    announce.close()


async def test_changes_without_end_do_not_put_the_list_off_for_ever():
    heard = Heard()
    announce = announcer(heard, quiet_ms=20)
    async with asyncio.timeout(DEADLINE_S):
        while ResourcesChanged() not in heard.events:
            announce([change("created", "a.md")], True)
            await asyncio.sleep(0)
    announce.close()


async def test_nothing_is_announced_after_close():
    heard = Heard()
    announce = announcer(heard, quiet_ms=0)
    announce([change("created", "a.md")], True)
    announce.close()
    later = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_later(0.001, later.set_result, None)
    await asyncio.wait_for(later, DEADLINE_S)
    assert ResourcesChanged() not in heard.events
