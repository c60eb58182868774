"""The client of fastmcp 4, which stands on the official `mcp` 2.x and starts and ends servers in a way of its own.

`python fastmcp_4.py TASK`, in a venv of its own; prints the report that `test_real_clients` describes.
"""

import asyncio
import json
import os
import subprocess
import sys
import warnings
from contextlib import asynccontextmanager
from pathlib import Path

import mcp_types
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from mcp.client.subscriptions import ResourceUpdated, listen
from mcp.shared.exceptions import MCPDeprecationWarning

TASK = json.loads(sys.argv[1])
FOLDER = Path(TASK["folder"])
MODERN = "2026-07-28"


async def main() -> None:
    updates = asyncio.Queue()

    async def on_message(message):
        if isinstance(message, mcp_types.ResourceUpdatedNotification):
            updates.put_nowait(message.params.uri)

    command, *arguments = TASK["command"]
    transport = StdioTransport(command, arguments, keep_alive=False)
    async with Client(transport, message_handler=on_message, mode=TASK["mode"]) as client:
        report = {"server": client.server_info.name}
        while not (await client.call_tool("notes_info")).structured_content["index"]["complete"]:
            pass
        report["tools"] = [tool.name for tool in await client.list_tools()]
        report["resources"] = [each.uri for each in await client.list_resources()]
        report["templates"] = [template.uri_template for template in await client.list_resource_templates()]
        report["prompts"] = [prompt.name for prompt in await client.list_prompts()]
        report["resource"] = (await client.read_resource(TASK["read"]))[0].text
        prompt = await client.get_prompt("summarize_note", {"path": TASK["note"]})
        report["embedded"] = [m.content.resource.text for m in prompt.messages if m.content.type == "resource"]
        report["note"] = (await client.call_tool("read_note", {"path": TASK["note"]})).content[-1].text
        found = await client.call_tool("search_notes", {"query": TASK["query"]})
        report["found"] = [hit["path"] for hit in found.structured_content["hits"]]
        created = await client.call_tool("create_note", {"title": TASK["title"], "content": "by a real client"})
        report["created"] = created.structured_content["path"]
        template = mcp_types.ResourceTemplateReference(uri=report["templates"][0])
        report["completed"] = (await client.complete(template, {"name": "path", "value": TASK["typed"]})).values
        async with subscribed(client, updates) as told:
            path = FOLDER / TASK["watched"]
            beside = path.with_name(".saving.tmp")
            beside.write_text("saved by an editor\n", encoding="utf-8")
            os.replace(beside, path)
            report["updated"] = await told()
        report["cancelled"] = await cancelled(client)
    print(json.dumps(report))


@asynccontextmanager
async def subscribed(client, updates):
    """fastmcp has no word for subscriptions: the session below it has one for each era."""
    if client.protocol_version != MODERN:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            await client.session.subscribe_resource(TASK["watch"])
            yield updates.get
            await client.session.unsubscribe_resource(TASK["watch"])
        return
    async with listen(client.session, resource_subscriptions=[TASK["watch"]]) as stream:

        async def told():
            async for event in stream:
                if isinstance(event, ResourceUpdated):
                    return event.uri

        yield told


async def cancelled(client):
    """Cancels a call that waits for the lock."""
    holder = subprocess.Popen(TASK["holder"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    holder.stdout.readline()
    waiting = asyncio.create_task(client.call_tool("create_note", {"title": "Cancelled", "content": "never"}))
    # Requests are taken in order: when this one, of a task that begins later, is answered, the other is under way.
    await asyncio.create_task(client.call_tool("read_note", {"path": TASK["note"]}))
    answered = waiting.done()
    waiting.cancel()
    await asyncio.wait({waiting})
    await client.call_tool("read_note", {"path": TASK["note"]})
    holder.communicate()
    after = await client.call_tool("create_note", {"title": "After", "content": "once the lock is free"})
    return not answered and not after.is_error


asyncio.run(main())
