"""A server in a subprocess: scripted stdin, deadlines instead of sleeps, and nothing of it left behind."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DEADLINE = 20
END_SECONDS = 5
"""An end must come within a second; this much is left to a machine that is busy."""
COMMAND = (sys.executable, "-m", "notes_mcp")
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


def request(request_id, method, /, **params):
    """A stateless request as one line."""
    params = {**params, "_meta": {**META, **params.get("_meta", {})}}
    return line({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})


def tool(request_id, name, /, **arguments):
    return request(request_id, "tools/call", name=name, arguments=arguments)


def ping(request_id):
    return line({"jsonrpc": "2.0", "id": request_id, "method": "ping"})


def line(message):
    return json.dumps(message, ensure_ascii=False).encode() + b"\n"


def environment(home, **more):
    """What clients pass on, and nothing else."""
    return {"PATH": os.environ["PATH"], "HOME": str(home), **more}


@dataclass(frozen=True)
class Ended:
    code: int
    lines: list
    """What came on stdout and was not taken yet, parsed."""
    stderr: str
    seconds: float
    """From the moment `ended` was called."""


class Server:
    """Use `with serving(...)`. Every line on stdout must be JSON."""

    def __init__(self, process):
        self.process = process
        self.pid = process.pid
        self._lines = queue.Queue()
        self._complaints = []
        self._passed_over = []
        self._threads = [threading.Thread(target=self._read, daemon=True)] if process.stdout else []
        if process.stderr:
            self._threads.append(threading.Thread(target=self._listen, daemon=True))
        self._said = threading.Condition()
        for thread in self._threads:
            thread.start()

    def send(self, *lines):
        self.process.stdin.write(b"".join(lines))
        self.process.stdin.flush()

    def take(self):
        """The next line; None at the end."""
        found = self._lines.get(timeout=DEADLINE)
        if found is None:
            self._lines.put(None)
            return None
        assert found.endswith(b"\n"), found
        assert not found.endswith(b"\r\n"), found
        message = json.loads(found)
        assert isinstance(message, dict | list), found
        return message

    def ask(self, sent):
        """Sends one request; its answer. `notification` finds what comes in between."""
        self.send(sent)
        return self.answer(json.loads(sent)["id"])

    def answer(self, request_id):
        while (message := self.take()) is not None:
            if message.get("id") == request_id and "method" not in message:
                return message
            self._passed_over.append(message)
        raise AssertionError(f"no answer to {request_id!r}; stderr: {self.stderr}")

    def call(self, name, **arguments):
        """One tool's result."""
        answer = self.ask(tool(f"call {name}", name, **arguments))
        assert "result" in answer, answer
        return answer["result"]

    def notification(self, method):
        for message in self._passed_over:
            if message.get("method") == method:
                self._passed_over.remove(message)
                return message["params"]
        while (message := self.take()) is not None:
            if message.get("method") == method:
                return message["params"]
        raise AssertionError(f"no {method}")

    def complaint(self, text):
        """Waits until stderr has said that."""
        with self._said:
            assert self._said.wait_for(lambda: text in self.stderr, DEADLINE), self.stderr

    @property
    def stderr(self):
        return b"".join(self._complaints).decode()

    def close_input(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()

    def ended(self, within=END_SECONDS):
        """Waits for the end of the process and of everything that holds its streams."""
        start = time.monotonic()
        code = self.process.wait(within)
        seconds = time.monotonic() - start
        for thread in self._threads:
            thread.join(DEADLINE)
            assert not thread.is_alive(), "somebody still holds the server's stdout or stderr"
        assert not left_over(self.pid)
        rest = []
        while self.process.stdout and (message := self.take()) is not None:
            rest.append(message)
        return Ended(code, rest, self.stderr, seconds)

    def _read(self):
        for found in self.process.stdout:
            self._lines.put(found)
        self._lines.put(None)

    def _listen(self):
        while found := self.process.stderr.read1():
            self._complaints.append(found)
            with self._said:
                self._said.notify_all()


@contextlib.contextmanager
def serving(folder, *options, home, cache=None, env=None, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **more):
    """A running server on `folder`, in a process group of its own, which is killed at the end in any case."""
    arguments = [*COMMAND, *options, *(["--cache-dir", str(cache)] if cache else []), str(folder)]
    process = subprocess.Popen(
        arguments,
        stdin=stdin,
        stdout=stdout,
        env=environment(home) if env is None else env,
        cwd=ROOT,
        start_new_session=True,
        **{"stderr": subprocess.PIPE, **more},
    )
    server = Server(process)
    try:
        yield server
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(DEADLINE)
        for thread in server._threads:
            thread.join(DEADLINE)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


def left_over(group):
    """The living processes of that group."""
    if not Path("/proc/self/stat").exists():
        return []
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, process_group = entry.read_text().rpartition(")")[2].split()[:3]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(process_group) == group and state != "Z":
            found.append(entry.parent.name)
    return found
