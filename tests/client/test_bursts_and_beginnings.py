"""A thousand changes at once, changes while the first index is built, and two servers on one folder."""

import asyncio
import subprocess
from contextlib import AsyncExitStack

import pytest
from live_server import in_both_eras, live, make_notes, replace, save, subscriber

NOTES = 1_200


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "notes"
    make_notes(folder, 3)
    (folder / "sentinel.md").write_text("watched to the end\n", "utf-8")
    return folder


@pytest.fixture
def serve(tmp_path, folder):
    """Starts a server of that name on the folder; all share one cache."""
    return lambda name: live("--cache-dir", tmp_path / "cache", folder, stderr=tmp_path / f"stderr of {name}")


def git(folder, *arguments):
    quiet = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "gc.auto=0", "-c", "init.defaultBranch=main"]
    subprocess.run(
        ["git", *quiet, *arguments], cwd=folder, check=True, capture_output=True, env={"PATH": "/usr/bin:/bin"}
    )


@pytest.fixture
def branches(folder):
    """Branch `main`, checked out, and `other`, in which 1,000 notes are different, 10 are gone and 10 are new."""
    notes = make_notes(folder / "Many", NOTES)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "main")
    git(folder, "checkout", "-qb", "other")
    for note in notes[:1_000]:
        save(note, note.read_text("utf-8") + "\nas it is in the other branch\n")
    for note in notes[1_000:1_010]:
        note.unlink()
    for number in range(10):
        (folder / "Many" / f"new {number}.md").write_text(f"new in the other branch {number}\n", "utf-8")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "other")
    git(folder, "checkout", "-q", "main")
    return folder


async def test_a_checkout_of_a_thousand_files_tells_each_subscriber_of_its_notes_alone(serve, branches):
    changed = [f"notes:///Many/{number:04}.md" for number in (0, 1, 500, 998, 999)]
    gone = ["notes:///Many/1000.md", "notes:///Many/1009.md"]
    same = ["notes:///Many/1010.md", "notes:///Many/1199.md", "notes:///0000.md"]
    new = ["notes:///Many/new%200.md", "notes:///Many/new%209.md"]
    async with serve("one") as server:
        await server.initialize()
        await server.until_indexed()
        async with subscriber(server, "modern", [], branches / "sentinel.md") as waiting:
            await waiting.nothing_more()  # the first index is news too
        for branch in ("other", "main"):
            async with in_both_eras(server, changed + gone + same + new, branches / "sentinel.md") as subscribed:
                git(branches, "checkout", "-q", branch)
                await subscribed.until(*(("updated", uri) for uri in changed + gone + new), ("resources",))
                await subscribed.nothing_more(1.0)
                assert subscribed.updates() == sorted(changed + gone + new)
                assert 1 <= subscribed.heard.count(("resources",)) <= 5  # more than one where it takes long
                found = await server.call("search_notes", query='"in the other branch"', limit=1)
                assert found["structuredContent"]["total"] == (1_010 if branch == "other" else 0)


async def test_a_change_while_the_first_index_is_built_is_told(serve, folder):
    make_notes(folder / "Many", 2_500)
    there, missing = folder / "0001.md", folder / "missing.md"
    told = [("updated", "notes:///0001.md"), ("updated", "notes:///missing.md")]
    async with (
        serve("one") as server,
        in_both_eras(server, [uri for _, uri in told], folder / "sentinel.md") as subscribed,
    ):
        # Acknowledged as soon as the watcher is armed, long before so many notes are read.
        save(there, "# There\n\nsaved while the index is being built, and longer than before.\n" * 2)
        replace(missing, "made while the index is being built\n")
        await subscribed.until(*told)
        await server.until_indexed()
        await subscribed.nothing_more()
        assert subscribed.updates() == sorted(uri for _, uri in told)


async def test_changes_made_while_no_server_ran_are_known_at_the_next_start(serve, folder):
    async with serve("one") as server:
        await server.call("list_notes")
    save(folder / "0001.md", "# Saved while nobody looked, and longer than it was before, much longer than that.\n" * 3)
    (folder / "0002.md").unlink()
    async with serve("two") as server:
        listed = await server.call("list_notes")
        assert [note["path"] for note in listed["structuredContent"]["notes"]] == ["0000.md", "0001.md", "sentinel.md"]
        assert (await server.call("search_notes", query="nobody looked"))["structuredContent"]["total"] == 1


async def test_two_servers_on_one_folder_both_tell_of_each_save_once(serve, folder):
    """Whichever of them brings the shared index up to date first."""
    uri, new = "notes:///0001.md", "notes:///new.md"
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(serve(name)) for name in ("one", "two")]
        subscribed = [
            await stack.enter_async_context(subscriber(server, "modern", [uri, new], folder / "sentinel.md"))
            for server in servers
        ]

        async def both_heard(*events):
            for each in subscribed:
                await each.until(*events)
            await asyncio.gather(*(each.live.until(lambda: True) for each in subscribed))
            await subscribed[0].nothing_more()
            await subscribed[1].nothing_more()

        await both_heard()
        before = [len(each.heard) for each in subscribed]
        for turn in range(10):
            save(folder / "0001.md", (folder / "0001.md").read_text("utf-8") + f"turn {turn}\n")
            for each in subscribed:
                await each.live.until(lambda each=each, turn=turn: len(each.updates()) > turn)
        await both_heard()
        assert [each.heard[start:] for each, start in zip(subscribed, before, strict=True)] == [
            [("updated", uri)] * 10
        ] * 2

        await servers[0].call("add_thoughts", thoughts="from the first", path="0001.md")
        await servers[1].call("create_note", title="new", content="from the second")
        await both_heard(("updated", new), ("resources",))
        for each in subscribed:
            assert each.updates() == [uri] * 11 + [new]
