"""A server process behind the official client, with every line between them written down by `tee.py`.

The client is entered and left in a task of its own, as its task groups ask for, so that a fixture can hold it.
`watching` is one face over both eras' subscriptions; events are as in `live_server`.
"""

import asyncio
import sys
import warnings
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types
from live_server import COMMAND, DEADLINE_S, Event
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.subscriptions import PromptsListChanged, ResourcesListChanged, ResourceUpdated
from mcp.shared.exceptions import MCPDeprecationWarning

MODES = {"auto": "2026-07-28", "legacy": "2025-11-25", "2026-07-28": "2026-07-28"}
"""What the client is told to do -> the revision that comes of it."""
TEE = Path(__file__).with_name("tee.py")
NOTIFIED = {
    mcp_types.ResourceListChangedNotification: "resources",
    mcp_types.PromptListChangedNotification: "prompts",
}


class Connected:
    """`client` is the official one; `log` is what was said so far, as `tee.py` writes it."""

    def __init__(self, mode: str, folder: Path, log: Path) -> None:
        self.mode = mode
        self.folder = folder
        self.log = log
        self.client: Client
        self._listeners: list[asyncio.Queue[Event]] = []

    @property
    def modern(self) -> bool:
        return self.client.protocol_version == "2026-07-28"

    async def until_indexed(self) -> None:
        """Waits until the index holds every note; each call waits a moment by itself."""
        async with asyncio.timeout(DEADLINE_S):
            while not (await self.client.call_tool("notes_info", {})).structured_content["index"]["complete"]:
                pass

    async def on_message(self, message: Any) -> None:
        """Legacy notifications; the modern ones come by their streams."""
        event: Event | None = None
        if isinstance(message, mcp_types.ResourceUpdatedNotification):
            event = ("updated", message.params.uri)
        elif type(message) in NOTIFIED:
            event = (NOTIFIED[type(message)],)
        for listener in self._listeners if event is not None else ():
            listener.put_nowait(event)

    @asynccontextmanager
    async def watching(self, *uris: str) -> AsyncIterator[Callable[..., Any]]:
        """Subscribed to these and to both lists; gives `await until(event, …)`, which takes what comes meanwhile."""
        events: asyncio.Queue[Event] = asyncio.Queue()

        async def until(*wanted: Event) -> None:
            missing = set(wanted)
            async with asyncio.timeout(DEADLINE_S):
                while missing:
                    missing.discard(await events.get())

        if not self.modern:
            self._listeners.append(events)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", MCPDeprecationWarning)
                for uri in uris:
                    await self.client.subscribe_resource(uri)
                yield until
                for uri in uris:
                    await self.client.unsubscribe_resource(uri)
            self._listeners.remove(events)
            return

        async def forward(stream: Any) -> None:
            async for event in stream:
                match event:
                    case ResourceUpdated(uri=uri):
                        events.put_nowait(("updated", uri))
                    case ResourcesListChanged():
                        events.put_nowait(("resources",))
                    case PromptsListChanged():
                        events.put_nowait(("prompts",))

        async with self.client.listen(
            resource_subscriptions=uris, resources_list_changed=True, prompts_list_changed=True
        ) as stream:
            assert stream.honored.resource_subscriptions == list(uris)
            forwarding = asyncio.create_task(forward(stream))
            yield until
            forwarding.cancel()
            await asyncio.wait({forwarding})


@asynccontextmanager
async def connected(mode: str, folder: Path, kept: Path, *options: str) -> AsyncIterator[Connected]:
    """The client in this mode on that folder; on leaving, the server is gone. `kept` is for log, cache and stderr."""
    connection = Connected(mode, folder, kept / f"{mode}.log")
    command = [str(TEE), str(connection.log), *COMMAND, "--cache-dir", str(kept / "cache"), *options, str(folder)]
    stop, ready = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        with (kept / f"{mode}.stderr").open("w") as stderr:
            transport = stdio_client(StdioServerParameters(command=sys.executable, args=command), errlog=stderr)
            async with Client(transport, mode=mode, message_handler=connection.on_message) as connection.client:
                ready.set()
                await stop.wait()

    holding = asyncio.create_task(hold())
    arriving = asyncio.create_task(ready.wait())
    await asyncio.wait({holding, arriving}, return_when=asyncio.FIRST_COMPLETED)
    if holding.done():
        arriving.cancel()
        await holding
    try:
        yield connection
    finally:
        stop.set()
        await holding
    assert (kept / f"{mode}.stderr").read_text("utf-8") == ""


async def pages(fetch: Callable[..., Any], name: str) -> Sequence[Any]:
    """Every item to the last page; no page is asked for twice."""
    items: list[Any] = []
    cursor, seen = None, set()
    while True:
        page = await fetch(cursor=cursor)
        items += getattr(page, name)
        cursor = page.next_cursor
        if cursor is None:
            return items
        assert cursor not in seen
        seen.add(cursor)
