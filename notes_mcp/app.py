"""The composition root: builds, starts and stops the rooms in order. The only file that imports them all.

The wire and the protocol come up first and answer the handshake. Notes, tools and features are imported
and opened behind it, in a thread; requests that need them wait. Serving ends on EOF, on SIGTERM, SIGINT
and SIGHUP, when the parent process is gone, and when nobody reads stdout any more.
"""

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import anyio
from anyio import to_thread  # noqa: TID251 - the imports behind the handshake run in one

from notes_mcp import __version__
from notes_mcp.events import Event, Handler, Report
from notes_mcp.instructions import instructions
from notes_mcp.protocol.session import Session
from notes_mcp.protocol.subscriptions import Hub
from notes_mcp.protocol.values import Server
from notes_mcp.settings import Settings
from notes_mcp.wire.peer import Peer, Stream
from notes_mcp.wire.signals import ENDING
from notes_mcp.wire.stderr import Complaints
from notes_mcp.wire.stdio import Claimed, Stdio

if TYPE_CHECKING:
    from notes_mcp.notes.library import Library

METHODS = (
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
    "completion/complete",
)
CAPABILITIES: dict[str, Any] = {
    "completions": {},
    "prompts": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "tools": {},
}
CLOSE_MS = 300
"""How long the notes may take to close; writes are atomic, so leaving after that loses nothing."""
LEAVE_MS = 900
"""After a signal, or once serving is over: when the process ends whatever still hangs."""

_log = logging.getLogger(__name__)


def run(settings: Settings, claimed: Claimed) -> NoReturn:
    """Serve until the client is done, and end the process with the exit code."""
    complaints = Complaints()
    complaints.setFormatter(logging.Formatter("notes-mcp %(levelname)s: %(message)s"))
    logging.basicConfig(handlers=[complaints], level=settings.log_level.upper())
    anyio.run(_serve_and_leave, settings, claimed)
    raise AssertionError("serving ends the process")


async def _serve_and_leave(settings: Settings, claimed: Claimed) -> NoReturn:
    # Left from within the loop, whose signal handlers hold to the last; and without waiting for threads: one that
    # waits for a dead disk must not keep the process, and nothing it could do is half done.
    _leave(await serve(settings, claimed))


async def serve(settings: Settings, claimed: Claimed) -> int:
    """Everything between the claimed streams and the exit code: 0, or 1 when the notes could not be opened."""
    hub = Hub(settings.max_subscriptions)
    rooms = Rooms(settings, hub)
    async with Stdio(claimed, settings) as stdio, anyio.create_task_group() as tasks:
        peer, session = connect(rooms, stdio, settings)
        stop = partial(_stop, peer)
        _stop_on_signals(stop)
        tasks.start_soon(_stop_without_parent, stop, settings.parent_poll_ms / 1000)
        tasks.start_soon(_stop_when_broken, stdio, stop)
        tasks.start_soon(_stop_when_abandoned, stdio, stop, settings)
        tasks.start_soon(rooms.run, stop)
        await peer.serve(session)
        leave = asyncio.get_running_loop().call_later(LEAVE_MS / 1000, _leave, 0)
        await rooms.close()
        tasks.cancel_scope.cancel()
    leave.cancel()
    return 1 if rooms.failure else 0


def connect(rooms: "Rooms", stream: Stream, settings: Settings) -> tuple[Peer, Session]:
    """One connection to the rooms: the peer, and the session it serves. Any number may be made on the same rooms."""
    peer = Peer(stream, settings, rooms.busy)
    server = Server("notes-mcp", __version__, "Notes", instructions(settings), CAPABILITIES)
    handlers = {method: rooms.handler(method) for method in METHODS}
    return peer, Session(server, handlers, rooms, rooms.hub, peer.notify, settings)


@dataclass(frozen=True, slots=True)
class Opened:
    """The rooms behind the handshake, once they are there."""

    library: "Library"
    methods: dict[str, Handler]


class Rooms:
    """Notes, tools and features: loaded behind the handshake, waited for by whoever needs them. Is the `Watched`."""

    def __init__(self, settings: Settings, hub: Hub) -> None:
        self.hub = hub
        self._settings = settings
        self._opened: Opened | None = None
        self._ready = anyio.Event()
        self._closing = anyio.Event()
        self._closed = anyio.Event()
        self._asked = 0
        self.failure: BaseException | None = None

    async def run(self, stop: Callable[[str], None]) -> None:
        """Load, then keep the library in step with the disk until `close`. A failure ends the serving."""
        try:
            # The first request is on the wire already; its answer must not share the interpreter with imports.
            await anyio.sleep(0.005)
            library, methods, tasks = await to_thread.run_sync(self._build)
            self._opened = Opened(library, methods)
            self._ready.set()
            async with anyio.create_task_group() as group:
                for task in tasks:
                    group.start_soon(task)
                await self._closing.wait()
                await library.close()
                self._closed.set()
                group.cancel_scope.cancel()
        except Exception as error:
            self.failure = error
            self._ready.set()
            _log.exception("the notes cannot be opened")
            stop("there is nothing to serve")

    def handler(self, method: str) -> Handler:
        """The handler of that method, which waits for the rooms."""

        async def handle(params: dict[str, Any], report: Report) -> dict[str, Any]:
            with self._asking():
                opened = await self._wait()
                return await opened.methods[method](params, report)

        return handle

    async def accept(self, uris: Sequence[str]) -> dict[str, str]:
        """`protocol.values.Watched`: which of the URIs can be ours, once any later change will be seen."""
        with self._asking():
            opened = await self._wait()
            return await opened.library.watch(uris)

    async def close(self) -> None:
        """Stop watching and close the index, within `CLOSE_MS`."""
        self._closing.set()
        if self._opened is not None:
            with anyio.move_on_after(CLOSE_MS / 1000):
                await self._closed.wait()

    def busy(self) -> bool:
        """Whether somebody waits for the notes to be opened, or a note is being written: that is waited for."""
        if self._opened is None:
            return bool(self._asked) and not self._ready.is_set()
        library = self._opened.library
        return library.writing or (bool(self._asked) and not library.opened)

    @contextlib.contextmanager
    def _asking(self) -> Iterator[None]:
        self._asked += 1
        try:
            yield
        finally:
            self._asked -= 1

    async def _wait(self) -> Opened:
        await self._ready.wait()
        if self._opened is None:
            raise RuntimeError("the notes cannot be opened") from self.failure
        return self._opened

    def _build(self) -> tuple["Library", dict[str, Handler], list[Any]]:
        """Import and construct; runs in a thread. Nothing here touches the notes yet."""
        from notes_mcp.features.completion import Completion
        from notes_mcp.features.prompts import Prompts
        from notes_mcp.features.resources import Resources
        from notes_mcp.features.tools import Tools
        from notes_mcp.notes.library import Library

        library = Library(self._settings)
        prompts = Prompts(library)
        resources = Resources(library, self._settings, self._publish)
        features = (Tools(library, self._settings), resources, prompts, Completion(library, prompts))
        methods: dict[str, Handler] = {}
        for feature in features:
            methods |= feature.methods
        return library, methods, [library.run, resources.run]

    def _publish(self, event: Event) -> None:
        self.hub.publish(event)


def _stop(peer: Peer, reason: str) -> None:
    """Ends serving in order; and without order if that takes too long."""
    _log.info("stopping: %s", reason)
    asyncio.get_running_loop().call_later(LEAVE_MS / 1000, _leave, 0)
    peer.stop()


def _leave(code: int) -> NoReturn:
    with contextlib.suppress(OSError, ValueError):  # nobody may be reading stderr any more
        sys.stderr.flush()
    os._exit(code)


def _stop_on_signals(stop: Callable[[str], None]) -> None:
    """SIGTERM, SIGINT (also with stdin open) and SIGHUP end the process as EOF does, with exit code 0."""
    loop = asyncio.get_running_loop()
    for number in ENDING:
        if sys.platform == "win32":
            signal.signal(number, lambda number, _: loop.call_soon_threadsafe(stop, signal.Signals(number).name))
        else:
            loop.add_signal_handler(number, stop, number.name)


async def _stop_without_parent(stop: Callable[[str], None], poll_s: float) -> None:
    """A client that was killed may leave its end of the pipe to another process, so that EOF never comes."""
    parent = os.getppid()
    if parent <= 1:
        return
    while os.getppid() == parent:  # noqa: ASYNC110 - no event tells us on every platform
        await anyio.sleep(poll_s)
    stop("the parent process is gone")


async def _stop_when_abandoned(stdio: Stdio, stop: Callable[[str], None], settings: Settings) -> None:
    """A client that closed our input and takes none of our output is not waiting for answers.

    While output is stuck nothing more is read, so that the end of the input would never be seen.
    """
    sent, since = stdio.sent, anyio.current_time()
    while True:
        await anyio.sleep(settings.parent_poll_ms / 1000)
        if stdio.sent != sent or not stdio.queued or not stdio.hung_up:
            sent, since = stdio.sent, anyio.current_time()
        elif anyio.current_time() - since > settings.drain_ms / 1000:
            stop("the client is gone and nobody reads stdout")
            return


async def _stop_when_broken(stdio: Stdio, stop: Callable[[str], None]) -> None:
    await stdio.broken.wait()
    stop("nobody reads stdout any more")
