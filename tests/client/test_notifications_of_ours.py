"""What a subscriber hears of this server's own writes, under the URIs it used, and to the end of its subscription."""

import pytest
from live_server import replace, save, subscriber

pytestmark = pytest.mark.asyncio(loop_scope="module")


# -- our own writes ------------------------------------------------------------------------------------


async def test_what_this_server_writes_is_announced_once(server, watch, place):
    note = place / "a.md"
    async with watch(note) as subscribed:
        await server.call("add_thoughts", thoughts="a thought", path=f"{place.name}/a.md")
        await subscribed.until(("updated", watch.uri(note)))
        await subscribed.nothing_more()
        assert subscribed.heard == [("updated", watch.uri(note))]


async def test_what_this_server_creates_and_deletes_is_announced_once(server, watch, place):
    note = place / "new.md"
    async with watch(note) as subscribed:
        await server.call("create_note", title=f"{place.name}/new", content="new")
        await subscribed.until(("updated", watch.uri(note)), ("resources",))
        await subscribed.nothing_more()
        assert subscribed.heard == [("resources",), ("updated", watch.uri(note))]
        await server.call("delete_note", path=f"{place.name}/new.md")
        await subscribed.until(("updated", watch.uri(note)), times=2)
        await subscribed.nothing_more()
        assert subscribed.heard == [("resources",)] * 2 + [("updated", watch.uri(note))] * 2


async def test_a_dry_run_is_no_news(server, watch, place):
    async with watch(place / "a.md", place / "new.md") as subscribed:
        await server.call("create_note", title=f"{place.name}/new", content="new", dry_run=True)
        await server.call("delete_note", path=f"{place.name}/a.md", dry_run=True)
        await subscribed.nothing_more()
        assert subscribed.heard == []


# -- spellings, and the end ----------------------------------------------------------------------------


async def test_each_spelling_of_a_uri_is_answered_in_its_own_words(watch, place, watched):
    note = place / "计划 é.md"
    async with watch(note) as before:
        note.write_text("计划\n", "utf-8")
        await before.until(("resources",))
        await before.nothing_more()
        assert before.heard.count(("resources",)) == 1
    path = f"{place.name}/计划 é.md"
    escaped = f"{place.name}/%E8%AE%A1%E5%88%92%20%C3%A9.md"
    spellings = [
        f"notes:///{escaped}",
        f"notes:///{path}",
        f"file://notes/{escaped}",
        f"file://{watched}/{escaped}",
        f"file://localhost{watched}/{path}",
    ]
    async with watch(*spellings) as subscribed:
        save(note, "计划，改过\n")
        await subscribed.until(*(("updated", spelling) for spelling in spellings))
        await subscribed.nothing_more()
        assert subscribed.heard == sorted(("updated", spelling) for spelling in spellings)


async def test_after_unsubscribe_nothing_more_is_said_about_that_note(server, watch, place, watched):
    note = place / "a.md"
    other = f"file://{note}"
    async with subscriber(server, "legacy", [watch.uri(note), other], watched / "sentinel.md") as subscribed:
        save(note, "# A\n\nsaved while it is watched\n")
        await subscribed.until(("updated", watch.uri(note)), ("updated", other))
        await server.ask("resources/unsubscribe", {"uri": watch.uri(note)})
        save(note, "# A\n\nsaved while only its other spelling is watched\n")
        await subscribed.until(("updated", other), times=2)
        await server.ask("resources/unsubscribe", {"uri": other})
        save(note, "# A\n\nsaved while nobody watches it, and that is how it should be\n")
        await subscribed.nothing_more()
        assert sorted(subscribed.updates()) == sorted([watch.uri(note), other, other])


async def test_after_both_kinds_of_subscription_ended_nothing_more_is_said_on_them(watch, place):
    note = place / "a.md"
    async with watch(note) as first:
        save(note, "# A\n\nsaved while it is watched\n")
        await first.until(("updated", watch.uri(note)))
    async with watch(place / "b.md") as second:
        save(note, "# A\n\nsaved while nobody watches it any more\n")
        await second.nothing_more()
        assert second.heard == []
        assert first.heard == [("updated", watch.uri(note))]


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_change_right_after_the_acknowledgement_is_never_lost(server, watch, place, watched, era):
    for turn in range(30):
        there, missing = place / "a.md", place / f"missing {turn}.md"
        missing_uri = watch.uri(missing).replace(" ", "%20")
        uris = [watch.uri(there), missing_uri]
        async with subscriber(server, era, uris, watched / "sentinel.md") as subscribed:
            save(there, there.read_text("utf-8") + f"turn {turn}\n")
            replace(missing, f"turn {turn}\n")
            await subscribed.until(*(("updated", uri) for uri in uris))
            assert sorted(subscribed.updates()) == sorted(uris)
