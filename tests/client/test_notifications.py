"""Changes of a folder as a subscriber hears of them, from a real process: the right ones, each once, and no others.

Absence is proved by later saves that are heard of (`nothing_more`), never by waiting alone.
"""

import shutil

import pytest
from live_server import Refused, make_notes, replace, save

pytestmark = pytest.mark.asyncio(loop_scope="module")


# -- one save ------------------------------------------------------------------------------------------


async def test_a_save_in_place_is_one_update_and_no_change_of_a_list(watch, place):
    note = place / "a.md"
    async with watch(note) as subscribed:
        save(note, "# A\n\nas it is now, longer\n")
        await subscribed.until(("updated", watch.uri(note)))
        await subscribed.nothing_more()
        assert subscribed.heard == [("updated", watch.uri(note))]


async def test_hazard_152_an_atomic_save_is_one_update_and_no_change_of_a_list(watch, place):
    note = place / "a.md"
    async with watch(note) as subscribed:
        replace(note, "short\n")
        await subscribed.until(("updated", watch.uri(note)))
        await subscribed.nothing_more()
        assert subscribed.heard == [("updated", watch.uri(note))]


async def test_hazard_152_a_save_with_a_backup_by_renaming_is_one_update(watch, place):
    note, backup = place / "a.md", place / "a.md~"
    async with watch(note) as subscribed:
        note.rename(backup)
        replace(note, "# A\n\nwritten anew\n")
        backup.unlink()
        await subscribed.until(("updated", watch.uri(note)))
        await subscribed.nothing_more()
        assert subscribed.updates() == [watch.uri(note)]


async def test_what_editors_leave_beside_a_note_is_no_news(watch, place):
    noise = [place / name for name in ("4913", "a.md~", ".a.md.swp", "#a.md#", "b.tmp", "~$a.md", ".hidden.md")]
    async with watch(place / "a.md") as subscribed:
        for path in noise:
            path.write_text("noise", "utf-8")
        for path in noise:
            path.unlink()
        await subscribed.nothing_more()
        assert subscribed.heard == []


async def test_a_save_that_changes_no_byte_is_no_news(watch, place):
    note = place / "a.md"
    async with watch(note) as subscribed:
        replace(note, note.read_text("utf-8"))
        note.touch()
        note.chmod(0o600)
        await subscribed.nothing_more()
        assert subscribed.heard == []


async def test_hazard_143_the_news_names_the_note_that_was_saved_and_no_other(watch, place):
    others = [place / f"{number}.md" for number in range(5)]
    for path in others:
        path.write_text("other\n", "utf-8")
    async with watch(place / "a.md", others[0]) as subscribed:
        for path in others[1:]:
            save(path, "saved, though nobody asked\n")
        save(others[0], "saved, and asked for\n")
        await subscribed.until(("updated", watch.uri(others[0])))
        await subscribed.nothing_more()
        assert subscribed.updates() == [watch.uri(others[0])]


async def test_an_attachment_can_be_watched_too(watch, place):
    picture = place / "picture.png"
    async with watch(picture) as subscribed:
        beside = picture.with_name(".picture")
        beside.write_bytes(b"\x89PNG\r\n\x1a\n")
        beside.rename(picture)
        await subscribed.until(("updated", watch.uri(picture)))
        await subscribed.nothing_more()
        assert subscribed.heard == [("updated", watch.uri(picture))]


# -- coming and going ----------------------------------------------------------------------------------


async def test_hazard_149_a_note_moved_away_is_one_update_of_its_old_uri_and_one_change_of_the_list(
    server, watch, place
):
    old, new = place / "a.md", place / "b.md"
    async with watch(old) as subscribed:
        old.rename(new)
        await subscribed.until(("updated", watch.uri(old)), ("resources",))
        await subscribed.nothing_more()
        assert subscribed.heard == [("resources",), ("updated", watch.uri(old))]
        with pytest.raises(Refused) as refused:
            await server.ask("resources/read", {"uri": watch.uri(old)}, modern=True)
        assert refused.value.code == -32602
        listed = await server.ask(
            "tools/call", {"name": "list_notes", "arguments": {"folder": place.name}}, modern=True
        )
        assert [note["path"] for note in listed["structuredContent"]["notes"]] == [f"{place.name}/b.md"]


async def test_hazard_149_a_note_moved_onto_another_is_an_update_of_both(watch, place):
    old, new = place / "a.md", place / "b.md"
    replace(new, "in the way\n")
    async with watch(old, new) as subscribed:
        old.replace(new)
        await subscribed.until(("updated", watch.uri(old)), ("updated", watch.uri(new)), ("resources",))
        await subscribed.nothing_more()
        assert subscribed.updates() == [watch.uri(old), watch.uri(new)]


async def test_a_folder_moved_away_takes_its_notes_along(watch, place):
    inner = place / "inner"
    inner.mkdir()
    for name in ("x.md", "y.md"):
        (inner / name).write_text(f"{name} in a folder\n", "utf-8")
    async with watch(inner / "x.md", place / "moved" / "x.md") as subscribed:
        inner.rename(place / "moved")
        await subscribed.until(
            ("updated", watch.uri(inner / "x.md")), ("updated", watch.uri(place / "moved" / "x.md")), ("resources",)
        )
        await subscribed.nothing_more()
        assert len(subscribed.updates()) == 2


async def test_a_deleted_note_is_one_update_and_one_change_of_the_list(watch, place):
    note = place / "a.md"
    async with watch(note) as subscribed:
        note.unlink()
        await subscribed.until(("updated", watch.uri(note)), ("resources",))
        await subscribed.nothing_more()
        assert subscribed.heard == [("resources",), ("updated", watch.uri(note))]


async def test_a_deleted_folder_is_an_update_of_each_note_in_it(watch, place):
    async with watch(place / "a.md") as subscribed:
        shutil.rmtree(place)
        await subscribed.until(("updated", watch.uri(place / "a.md")), ("resources",))
        await subscribed.nothing_more()
        assert subscribed.updates() == [watch.uri(place / "a.md")]


async def test_a_note_that_does_not_exist_yet_can_be_waited_for(watch, place):
    note = place / "to be" / "written.md"
    async with watch("notes:///" + f"{place.name}/to%20be/written.md") as subscribed:
        await subscribed.nothing_more()
        assert subscribed.heard == []
        note.parent.mkdir()
        replace(note, "here it is\n")
        told = ("updated", f"notes:///{place.name}/to%20be/written.md")
        await subscribed.until(told, ("resources",))
        await subscribed.nothing_more()
        assert subscribed.heard == [("resources",), told]


async def test_a_note_that_went_and_came_back_is_news_again(watch, place):
    note = place / "a.md"
    async with watch(note) as subscribed:
        note.unlink()
        await subscribed.until(("updated", watch.uri(note)), ("resources",))
        await subscribed.nothing_more()
        replace(note, "back\n")
        await subscribed.until(("updated", watch.uri(note)), times=2)
        await subscribed.nothing_more()
        assert subscribed.heard == [("resources",)] * 2 + [("updated", watch.uri(note))] * 2


async def test_hazard_146_many_notes_that_come_at_once_are_one_change_of_the_list(watch, place, tmp_path):
    many = tmp_path / "many"
    make_notes(many, 300)
    async with watch(place / "a.md") as subscribed:
        many.rename(place / "many")
        await subscribed.until(("resources",))
        await subscribed.nothing_more()
        assert subscribed.heard == [("resources",)]


async def test_hazard_146_many_notes_that_come_one_by_one_are_few_changes_of_the_list(watch, place):
    async with watch(place / "a.md") as subscribed:
        make_notes(place, 300)
        await subscribed.until(("resources",))
        await subscribed.nothing_more()
        assert set(subscribed.heard) == {("resources",)}
        assert len(subscribed.heard) <= 5


async def test_a_prompt_of_ones_own_that_comes_changes_or_goes_is_a_change_of_the_prompts(
    server, watch, place, watched
):
    prompt = watched / "Prompts" / f"{place.name}.md"
    prompt.parent.mkdir(exist_ok=True)
    async with watch(place / "a.md") as subscribed:
        replace(prompt, "Say hello to {{name}}.\n")
        await subscribed.until(("prompts",), ("resources",))
        listed = await server.ask("prompts/list", modern=True)
        assert prompt.stem in [each["name"] for each in listed["prompts"]]
        await subscribed.nothing_more()
        assert subscribed.heard == [("prompts",), ("resources",)]
        save(prompt, "Say goodbye to {{name}}, and mean it.\n")
        await subscribed.until(("prompts",), times=2)
        prompt.unlink()
        await subscribed.until(("prompts",), times=3)
        await subscribed.nothing_more()
        assert subscribed.heard == [("prompts",)] * 3 + [("resources",)] * 2
