"""The official Python client of the 1.x line (`mcp` 1.30), which begins with `initialize` and knows nothing newer.

`python mcp_1.py TASK`, in a venv of its own; prints the report that `test_real_clients` describes.
"""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client

TASK = json.loads(sys.argv[1])
FOLDER = Path(TASK["folder"])


async def main() -> None:
    updates = asyncio.Queue()

    async def on_message(message):
        if isinstance(message, types.ServerNotification):
            if isinstance(message.root, types.ResourceUpdatedNotification):
                updates.put_nowait(str(message.root.params.uri))
        elif isinstance(message, Exception):
            raise message

    command, *arguments = TASK["command"]
    async with (
        stdio_client(StdioServerParameters(command=command, args=arguments)) as (read, write),
        ClientSession(read, write, message_handler=on_message) as session,
    ):
        hello = await session.initialize()
        report = {"server": hello.serverInfo.name}
        while not (await session.call_tool("notes_info", {})).structuredContent["index"]["complete"]:
            pass
        report["tools"] = [tool.name for tool in await pages(session.list_tools, "tools")]
        report["resources"] = [str(each.uri) for each in await pages(session.list_resources, "resources")]
        templates = await pages(session.list_resource_templates, "resourceTemplates")
        report["templates"] = [template.uriTemplate for template in templates]
        report["prompts"] = [prompt.name for prompt in await pages(session.list_prompts, "prompts")]
        report["resource"] = (await session.read_resource(TASK["read"])).contents[0].text
        prompt = await session.get_prompt("summarize_note", {"path": TASK["note"]})
        report["embedded"] = [m.content.resource.text for m in prompt.messages if m.content.type == "resource"]
        report["note"] = (await session.call_tool("read_note", {"path": TASK["note"]})).content[-1].text
        found = await session.call_tool("search_notes", {"query": TASK["query"]})
        report["found"] = [hit["path"] for hit in found.structuredContent["hits"]]
        created = await session.call_tool("create_note", {"title": TASK["title"], "content": "by a real client"})
        report["created"] = created.structuredContent["path"]
        template = types.ResourceTemplateReference(type="ref/resource", uri=report["templates"][0])
        completed = await session.complete(template, {"name": "path", "value": TASK["typed"]})
        report["completed"] = completed.completion.values
        report["updated"] = await saved(session, updates)
        report["cancelled"] = await cancelled(session)
        await session.send_ping()
    print(json.dumps(report))


async def pages(fetch, name):
    items, cursor = [], None
    while True:
        page = await fetch(params=types.PaginatedRequestParams(cursor=cursor))
        items += getattr(page, name)
        cursor = page.nextCursor
        if cursor is None:
            return items


async def saved(session, updates):
    """Subscribes, saves the note as an editor does, and gives the URI that is told."""
    await session.subscribe_resource(TASK["watch"])
    path = FOLDER / TASK["watched"]
    beside = path.with_name(".saving.tmp")
    beside.write_text("saved by an editor\n", encoding="utf-8")
    os.replace(beside, path)
    told = await updates.get()
    await session.unsubscribe_resource(TASK["watch"])
    return told


async def cancelled(session):
    """Cancels a call that waits for the lock. This client has no word for it but the notification."""
    holder = subprocess.Popen(TASK["holder"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    holder.stdout.readline()
    request_id = session._request_id
    waiting = asyncio.create_task(session.call_tool("create_note", {"title": "Cancelled", "content": "never"}))
    # Requests are taken in order: when this one, of a task that begins later, is answered, the other is under way.
    await asyncio.create_task(session.call_tool("read_note", {"path": TASK["note"]}))
    await session.send_notification(
        types.ClientNotification(
            types.CancelledNotification(params=types.CancelledNotificationParams(requestId=request_id))
        )
    )
    await session.call_tool("read_note", {"path": TASK["note"]})
    answered = waiting.done()
    waiting.cancel()
    await asyncio.wait({waiting})
    holder.communicate()
    after = await session.call_tool("create_note", {"title": "After", "content": "once the lock is free"})
    return not answered and not after.isError


asyncio.run(main())
