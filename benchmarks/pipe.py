"""A blocking JSON-RPC client over a subprocess's pipes: as little between the clock and the server as can be."""

import json
import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
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
        self._write(_line(message))

    def receive(self) -> dict[str, Any]:
        """Read one message."""
        message: dict[str, Any] = json.loads(self._read())
        return message

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a request and wait for its result; notifications in between are kept."""
        line = self._request(method, params or {})
        self._write(line)
        return self._result(self.receive())

    def timed(self, method: str, params: dict[str, Any] | None = None) -> float:
        """Milliseconds from the first byte of the request written to the last byte of its answer read.

        The client's own JSON is made before and read after, so that it counts for no server.
        """
        line = self._request(method, params or {})
        began = time.perf_counter()
        self._write(line)
        answer = self._read()
        took = time.perf_counter() - began
        self._result(json.loads(answer))
        return took * 1000

    def burst(self, method: str, params: Mapping[str, Any], times: int) -> float:
        """Requests a second, all of them written without waiting for an answer; each must be answered well."""
        lines = b"".join(self._request(method, params) for _ in range(times))
        missing = set(range(self._id - times + 1, self._id + 1))
        # Both pipes fill up long before the end: a second thread writes.
        writing = threading.Thread(target=self._write, args=(lines,))
        took = 0.0
        began = time.perf_counter()
        writing.start()
        while missing:  # notifications may come in between, each in the place of an answer
            lines_read = [self._read() for _ in range(len(missing))]
            took += time.perf_counter() - began
            for message in map(json.loads, lines_read):
                if "method" in message:
                    self.notifications.append(message)
                else:
                    _checked(message)
                    missing.remove(message["id"])
            began = time.perf_counter()
        writing.join()
        return times / took

    def tool(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
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

    def _request(self, method: str, params: Mapping[str, Any]) -> bytes:
        self._id += 1
        return _line({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})

    def _result(self, message: dict[str, Any]) -> dict[str, Any]:
        """Of the newest request, whose answer may still be to come."""
        while message.get("id") != self._id:
            self.notifications.append(message)
            message = self.receive()
        return _checked(message)

    def _write(self, lines: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(lines)
        self.process.stdin.flush()

    def _read(self) -> bytes:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server ended with {self.process.wait()}")
        return line


def _line(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, ensure_ascii=False).encode() + b"\n"


def _checked(answer: dict[str, Any]) -> dict[str, Any]:
    if "error" in answer:
        raise RuntimeError(answer["error"])
    result: dict[str, Any] = answer["result"]
    return result
