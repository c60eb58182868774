"""A blocking JSON-RPC client over a subprocess's pipes: as little between the clock and the server as can be."""

import json
import os
import subprocess
import time
from collections.abc import Sequence
from typing import Any

CLIENT = {"name": "benchmark", "version": "1"}


class Pipe:
    """One server process. `first_reply_s` is from just before its start to the answer to `initialize`."""

    def __init__(self, command: Sequence[str]) -> None:
        began = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._id = 0
        self.notifications: list[dict[str, Any]] = []
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT})
        self.first_reply_s = time.perf_counter() - began
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message: dict[str, Any]) -> None:
        """Write one message."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """Read one message."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server ended with {self.process.wait()}")
        message: dict[str, Any] = json.loads(line)
        return message

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a request and wait for its result; notifications in between are kept."""
        self._id += 1
        self.send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params or {}})
        while True:
            message = self.receive()
            if message.get("id") == self._id:
                if "error" in message:
                    raise RuntimeError(message["error"])
                result: dict[str, Any] = message["result"]
                return result
            self.notifications.append(message)

    def tool(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool."""
        return self.ask("tools/call", {"name": name, "arguments": arguments})

    def next_notification(self, method: str) -> dict[str, Any]:
        """Wait for the next notification of that method."""
        while True:
            message = self.notifications.pop(0) if self.notifications else self.receive()
            if message.get("method") == method:
                return message

    def memory_mb(self) -> float:
        """Resident memory now, in MB (10^6 bytes); Linux."""
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

    def cpu_s(self) -> float:
        """User and system time used so far, in seconds; Linux."""
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> float:
        """Close stdin and wait; returns the seconds until the process was gone."""
        assert self.process.stdin is not None
        began = time.perf_counter()
        self.process.stdin.close()
        self.process.wait(10)
        gone = time.perf_counter() - began
        assert self.process.stdout is not None
        self.process.stdout.close()
        return gone
