"""What tests of bad clients need: legacy greetings, floods that nobody reads, and how large a server became."""

import contextlib
import json
import os
import select
import threading
from pathlib import Path

import pytest
from processes import DEADLINE, META, line
from test_ends import processor_seconds

QUIET_MS, QUIET_SECONDS = 500, 0.04
"""A server that has read nothing for so long, and worked no more than that, waits for us."""
MAX_MEMORY_MB = 160
"""A server at rest has some 50."""


def legacy(request_id, method, /, **params):
    """A request of a session that began with `initialize`."""
    return line({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})


def notice(method, /, **params):
    return line({"jsonrpc": "2.0", "method": method, "params": params})


def cancel(request_id):
    return notice("notifications/cancelled", requestId=request_id)


def greet(server, revision="2025-11-25"):
    """Begins a legacy session."""
    said = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "hostile", "version": "1"}}
    assert server.ask(legacy("hello", "initialize", **said))["result"]["protocolVersion"] == revision
    server.send(notice("notifications/initialized"))


def answers_of(server, wanted):
    """So many answers, by id: a list for each. What else comes is passed over."""
    found = {}
    while wanted:
        message = server.take()
        assert message is not None, server.stderr
        if "method" not in message:
            found.setdefault(message["id"], []).append(message)
            wanted -= 1
    return found


def most_memory_mb(server):
    """The most that the process ever held, MB."""
    status = Path(f"/proc/{server.pid}/status")
    if not status.exists():
        pytest.skip("needs /proc")
    [peak] = [row for row in status.read_text().splitlines() if row.startswith("VmHWM")]
    return int(peak.split()[1]) * 1024 / 1e6


def flood(server, lines):
    """Writes until the server reads nothing any more; how many bytes it took. `lines` never end.

    A pipe that stays full while the server works on is only one that it has no time for.
    """
    descriptor, taken, rest = server.process.stdin.fileno(), 0, b""
    os.set_blocking(descriptor, False)
    poller = select.poll()
    poller.register(descriptor, select.POLLOUT)
    while True:
        worked = processor_seconds(server.pid)
        if not poller.poll(QUIET_MS):
            if processor_seconds(server.pid) - worked < QUIET_SECONDS:
                return taken
            continue
        while len(rest) < 65_536:
            rest += next(lines)
        with contextlib.suppress(BlockingIOError):
            done = os.write(descriptor, rest[:65_536])
            rest, taken = rest[done:], taken + done


@contextlib.contextmanager
def writing(server, data):
    """Writes all of `data` from a thread of its own, while the test reads."""
    thread = threading.Thread(target=server.send, args=(data,), daemon=True)
    thread.start()
    yield
    thread.join(DEADLINE)
    assert not thread.is_alive()


def call_in_ascii(request_id, method, /, **params):
    """A stateless request whose JSON escapes everything, lone surrogates too."""
    message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {**params, "_meta": META}}
    return json.dumps(message).encode() + b"\n"
