"""The official client in each of its modes: what it hears of changes, what it cancels, and how it leaves."""

import asyncio
import json
import os
from contextlib import AsyncExitStack

import pytest
from live_server import DEADLINE_S, make_notes, replace, save
from mcp.shared.exceptions import MCPDeprecationWarning
from official import MODES, connected
from wire_oracle import judge

pytestmark = pytest.mark.asyncio(loop_scope="module")


# -- changes -------------------------------------------------------------------------------------------


async def test_it_hears_of_every_way_in_which_a_note_changes(connection, client, folder):
    note, moved, new = folder / "Watched.md", folder / "Moved.md", folder / "Created by us.md"
    note.write_text("at first\n", "utf-8")
    updated = {path: ("updated", "notes:///" + path.name.replace(" ", "%20")) for path in (note, moved, new)}
    async with connection.watching(*(uri for _, uri in updated.values())) as until:
        save(note, "in place, longer\n")
        await until(updated[note])
        replace(note, "by a temporary file\n")
        await until(updated[note])
        await client.call_tool("add_thoughts", {"thoughts": "by this server", "path": "Watched.md"})
        await until(updated[note])
        note.rename(moved)
        await until(updated[note], updated[moved], ("resources",))
        moved.unlink()
        await until(updated[moved], ("resources",))
        await client.call_tool("create_note", {"title": "Created by us", "content": "here"})
        await until(updated[new], ("resources",))
        new.unlink()
        await until(updated[new], ("resources",))


async def test_a_new_note_is_listed_first_once_the_list_was_said_to_have_changed(connection, client, folder):
    async with connection.watching("notes:///Inbox.md") as until:
        (folder / "Brand new.md").write_text("new\n", "utf-8")
        await until(("resources",))
        assert (await client.list_resources(cache_mode="bypass")).resources[0].name == "Brand new.md"


async def test_a_new_note_in_prompts_is_a_new_prompt_once_the_list_was_said_to_have_changed(connection, client, folder):
    async with connection.watching("notes:///Inbox.md") as until:
        (folder / "Prompts" / "greet.md").write_text("---\ndescription: Greets\n---\nSay hello.\n", "utf-8")
        await until(("prompts",), ("resources",))
        assert "greet" in {prompt.name for prompt in (await client.list_prompts(cache_mode="bypass")).prompts}
        assert (await client.get_prompt("greet")).messages[0].content.text.strip() == "Say hello."


# -- cancelling and leaving ----------------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="the folder itself cannot be locked there")
async def test_a_request_that_is_cancelled_is_never_answered_and_the_rest_goes_on(connection, client, folder):
    import fcntl

    def created(title):
        return client.call_tool("create_note", {"title": title, "content": "written"})

    fd = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)  # as if another server of ours were writing
        waiting = asyncio.create_task(created("Cancelled"))
        # Requests are taken in order: when this one, in a task that begins later, is answered, the other is under way.
        await asyncio.create_task(client.call_tool("read_note", {"path": "Inbox.md"}))
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await client.call_tool("read_note", {"path": "Inbox.md"})
    finally:
        os.close(fd)
    async with asyncio.timeout(DEADLINE_S):
        assert not (await created("Not cancelled")).is_error
    lines = connection.log.read_text("utf-8").splitlines()
    sent = [json.loads(line[1:]) for line in lines if line.startswith(">")]
    got = [json.loads(line[1:]) for line in lines if line.startswith("<")]
    cancelled = [frame["params"]["requestId"] for frame in sent if frame["method"] == "notifications/cancelled"]
    asked = [frame["id"] for frame in sent if frame.get("params", {}).get("arguments", {}).get("title") == "Cancelled"]
    assert len(asked) == 1
    assert asked[0] in cancelled
    assert asked[0] not in [frame.get("id") for frame in got]


@pytest.mark.parametrize("mode", MODES)
async def test_leaving_ends_the_process_by_itself_with_exit_code_0(mode, tmp_path):
    make_notes(tmp_path / "notes", 3)
    async with connected(mode, tmp_path / "notes", tmp_path) as connection:
        async with connection.watching("notes:///0001.md"):
            pass
        await connection.client.list_tools()
    # The client escalates to a signal after two seconds, and then the log has no exit code.
    judge(connection.log.read_bytes().splitlines(keepends=True))
    assert connection.log.read_bytes().splitlines()[-1] == b"=0"


@pytest.mark.parametrize("mode", MODES)
async def test_leaving_with_subscriptions_open_ends_the_process_as_well(mode, tmp_path):
    make_notes(tmp_path / "notes", 3)
    async with AsyncExitStack() as after, connected(mode, tmp_path / "notes", tmp_path) as connection:
        client = connection.client
        if mode == "legacy":
            with pytest.warns(MCPDeprecationWarning):
                await client.subscribe_resource("notes:///0001.md")
        else:
            await after.enter_async_context(client.listen(resource_subscriptions=["notes:///0001.md"]))
    judge(connection.log.read_bytes().splitlines(keepends=True))
