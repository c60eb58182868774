"""The stream itself: every kind of descriptor, slow and vanished clients, and how a process comes to its end."""

import asyncio
import json
import os
import random
import select
import signal
import socket
import subprocess
import sys
import threading
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from notes_mcp.settings import Settings
from notes_mcp.wire import stdio as wire
from notes_mcp.wire.lines import Oversized
from notes_mcp.wire.stdio import Claimed, Stdio

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="these tests speak of POSIX descriptors")

DEADLINE = 20
SERVER = Path(__file__).with_name("echo_server.py")
ROOT = SERVER.parents[2]
SETTINGS = Settings(folders=(Path(),))
PING = b'{"jsonrpc":"2.0","id":0,"method":"ping","params":{"a":"\xd1\x91"}}\n'
PONG = '{"jsonrpc":"2.0","id":0,"result":{"a":"ё"}}\n'.encode()
PINGS = b"".join(PING.replace(b":0,", b":%d," % number) for number in range(60))
PONGS = b"".join(PONG.replace(b":0,", b":%d," % number) for number in range(60))


def start(stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options):
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "LC_ALL": "C"}
    command = [sys.executable, "-W", "error", str(SERVER)]
    return subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, env=environment, **options)


def end(process, code=0):
    """Waits for the end of the process; what it wrote to stderr."""
    try:
        assert process.wait(DEADLINE) == code
        return process.stderr.read().decode()
    finally:
        process.kill()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()


class TestProcess:
    def test_hazard_014_pipes_carry_utf_8_whatever_the_locale(self):
        process = start()
        process.stdin.write(PING)
        process.stdin.flush()
        assert process.stdout.readline() == PONG
        process.stdin.close()
        end(process)

    def test_hazard_001_stray_prints_go_to_stderr(self):
        process = start()
        output, errors = process.communicate(PINGS, DEADLINE)
        assert output == PONGS
        assert errors.decode().count("a stray print") == 60
        assert errors.decode().count("stray bytes") == 60

    def test_hazard_011_dev_null_ends_at_once_with_code_0(self):
        assert end(start(stdin=subprocess.DEVNULL)) == ""

    def test_a_regular_file_is_answered_into_a_regular_file(self, tmp_path):
        asked, answered = tmp_path / "in", tmp_path / "out"
        asked.write_bytes(PINGS)
        with asked.open("rb") as stdin, answered.open("wb") as stdout:
            end(start(stdin, stdout))
        assert answered.read_bytes() == PONGS

    def test_sockets_carry_lines_as_pipes_do(self):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.settimeout(DEADLINE)
            process = start(theirs, theirs)
            theirs.close()
            with ours.makefile("rwb", buffering=0) as stream:
                stream.write(PING)
                assert stream.readline() == PONG
                ours.shutdown(socket.SHUT_WR)
                assert stream.readline() == b""
            end(process)

    def test_a_terminal_carries_lines_and_its_end(self):
        import pty
        import tty

        ours, theirs = pty.openpty()
        tty.setraw(theirs)
        process = start(theirs, theirs, start_new_session=True)
        os.close(theirs)
        os.write(ours, PING)
        seen = b""
        while not seen.endswith(PONG):
            seen += os.read(ours, 4096)
        assert seen == PONG
        os.close(ours)
        end(process)

    def test_a_non_blocking_descriptor_is_waited_for(self):
        read_end, write_end = os.pipe()
        os.set_blocking(write_end, False)
        asked, ask = os.pipe()
        os.set_blocking(asked, False)
        process = start(asked, write_end)
        os.close(asked)
        os.close(write_end)
        os.write(ask, b'{"jsonrpc":"2.0","id":1,"method":"big","params":{"length":1000000}}\n')
        with open(read_end, "rb") as answers:
            assert len(json.loads(answers.readline())["result"]["text"]) == 1_000_000
            os.close(ask)
            assert answers.read() == b""
        end(process)

    @pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)])
    def test_closed_standard_descriptors_do_no_harm(self, closed):
        redirections = " ".join({0: "<&-", 1: ">&-", 2: "2>&-"}[fd] for fd in closed)
        command = f'exec "{sys.executable}" "{SERVER}" {redirections}'
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            ["/bin/sh", "-c", command], input=PING, capture_output=True, env=environment, timeout=DEADLINE, check=False
        )
        assert done.returncode == 0
        assert done.stdout == (PONG if closed == (2,) else b"")
        assert b"Traceback" not in done.stderr

    def test_hazard_010_eof_with_calls_that_never_end_still_ends_the_process(self):
        process = start()
        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"hang"}\n{"jsonrpc":"2.0","id":2,"method":"listen"}\n')
        process.stdin.close()
        answers = [json.loads(line) for line in process.stdout]
        assert [answer["id"] for answer in answers] == [2]
        end(process)

    def test_hazard_008_sigterm_ends_it_while_stdin_is_open(self):
        process = start()
        process.stdin.write(b'{"jsonrpc":"2.0","id":2,"method":"listen"}\n' + PING)
        process.stdin.flush()
        assert process.stdout.readline() == PONG
        process.send_signal(signal.SIGTERM)
        assert json.loads(process.stdout.readline())["id"] == 2
        end(process)

    def test_a_client_that_closes_our_output_ends_us_without_a_word(self):
        process = start()
        process.stdin.write(PING)
        process.stdin.flush()
        assert process.stdout.readline() == PONG
        process.stdout.close()
        assert "Traceback" not in end(process)

    def test_a_client_that_closes_our_output_while_we_write_ends_us_without_a_word(self):
        process = start()
        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"big","params":{"length":2000000}}\n' * 8)
        process.stdin.flush()
        assert process.stdout.read(10)
        process.stdout.close()
        assert end(process) == ""

    def test_sigterm_ends_a_server_whose_client_reads_nothing(self):
        process = start()
        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"big","params":{"length":2000000}}\n' * 8)
        process.stdin.flush()
        assert process.stdout.read(10)
        process.send_signal(signal.SIGTERM)
        end(process)

    def test_20_mb_in_one_line_are_refused_and_the_next_is_answered(self):
        process = start()
        writer = threading.Thread(target=lambda: process.stdin.write(b"x" * 20_000_000 + b"\n" + PING))
        writer.start()
        refused = json.loads(process.stdout.readline())
        assert (refused["id"], refused["error"]["code"]) == (None, -32600)
        assert process.stdout.readline() == PONG
        writer.join(DEADLINE)
        process.stdin.close()
        end(process)

    def test_garbage_is_answered_with_json_lines_and_then_a_ping_is(self):
        dice = random.Random(7)
        garbage = [dice.randbytes(dice.randrange(1, 3000)) for _ in range(300)]
        garbage += [bytes(dice.choices(b'{}[]",:0\\ue\n', k=200)) for _ in range(300)]
        process = start()
        output, errors = process.communicate(b"\n".join(garbage) + b"\n" + PING, DEADLINE)
        answers = [json.loads(line) for line in output.split(b"\n")[:-1]]
        assert json.loads(PONG) in answers
        assert {answer["error"]["code"] for answer in answers if "error" in answer} == {-32700, -32600}
        assert b"Traceback" not in errors

    def test_an_idle_server_uses_no_time(self):
        process = start()
        process.stdin.write(PING)
        process.stdin.flush()
        process.stdout.readline()
        before = processor_ticks(process.pid)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        assert processor_ticks(process.pid) - before <= 5
        process.stdin.close()
        end(process)


def processor_ticks(pid):
    if not Path("/proc/self/stat").exists():
        pytest.skip("needs /proc")
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


class Client:
    """The other ends of a Stdio's two pipes, as raw descriptors."""

    def __init__(self):
        self.fd_in, self.ask = os.pipe()
        self.answers, self.fd_out = os.pipe()

    def close(self, *names):
        for name in names or ("ask", "answers"):
            fd, _ = getattr(self, name), setattr(self, name, -1)
            if fd >= 0:
                os.close(fd)

    def reading(self):
        """Everything up to the end, read in a thread; on a descriptor of its own, which nobody closes meanwhile."""
        descriptor = os.dup(self.answers)

        def read_all():
            with open(descriptor, "rb") as stream:
                return stream.read()

        return asyncio.ensure_future(asyncio.to_thread(read_all))


class SocketClient(Client):
    """The same over sockets, which is what Node gives its children."""

    def __init__(self):
        self.fd_in, self.ask = (end.detach() for end in socket.socketpair())
        self.answers, self.fd_out = (end.detach() for end in socket.socketpair())


class Reading:
    """Lines as an iterator, taken one by one: `take` says after each that it wants no more until the next."""

    def __init__(self, stdio):
        self._stdio = stdio
        self._lines = asyncio.Queue()
        self._task = asyncio.ensure_future(self._read())

    def __aiter__(self):
        return self

    async def __anext__(self):
        if self._lines.empty():
            self._stdio.resume()
        line = await self._lines.get()
        if line is None:
            self._lines.put_nowait(None)
            raise StopAsyncIteration
        return line

    async def _read(self):
        await self._stdio.read(self._take)
        self._lines.put_nowait(None)

    def _take(self, line):
        self._lines.put_nowait(line)
        return False


@pytest.fixture(params=["pipes", "sockets", "threads"])
def streaming(request, monkeypatch):
    """Both ways of waiting: the loop itself, over pipes and over sockets, and the threads for everything else."""
    if request.param == "threads":
        monkeypatch.setattr(wire, "on_the_loop", lambda fd: False)

    @asynccontextmanager
    async def stream(settings=SETTINGS):
        client = SocketClient() if request.param == "sockets" else Client()
        try:
            async with asyncio.timeout(DEADLINE), Stdio(Claimed(client.fd_in, client.fd_out), settings) as stdio:
                client.on_the_loop = request.param != "threads"
                yield client, stdio
        finally:
            client.close()

    return stream


async def write(stdio, line):
    """Gives a line, and waits for room as a call does."""
    stdio.send(line)
    await stdio.room()


class TestStdio:
    async def test_lines_come_in_order_and_end_at_eof(self, streaming):
        async with streaming() as (client, stdio):
            os.write(client.ask, b"a\r\n\nb\nc")
            client.close("ask")
            assert [line async for line in Reading(stdio)] == [b"a", b"b", b"c"]
            assert [line async for line in Reading(stdio)] == []

    async def test_a_line_in_pieces_is_one_line(self, streaming):
        async with streaming() as (client, stdio):
            lines = Reading(stdio)
            waiting = asyncio.ensure_future(anext(lines))
            for byte in "ж\n".encode():
                os.write(client.ask, bytes([byte]))
            assert await waiting == "ж".encode()

    async def test_a_client_that_always_has_a_line_does_not_starve_the_loop(self, streaming):
        async with streaming() as (client, stdio):
            os.write(client.ask, b"n\n" * 2000)
            taken = []
            reading = asyncio.ensure_future(stdio.read(lambda line: taken.append(line) or True))
            most = 0
            while len(taken) < 2000:
                before = len(taken)
                await asyncio.sleep(0)
                most = max(most, len(taken) - before)
            assert most < 100
            client.close("ask")
            await reading

    async def test_nothing_is_taken_while_too_much_is_queued(self, streaming):
        async with streaming(replace(SETTINGS, max_queue_out_bytes=100_000)) as (client, stdio):
            stdio.send(b"x" * 1_000_000)
            os.write(client.ask, b"a\nb\n")
            taken = []
            reading = asyncio.ensure_future(stdio.read(lambda line: taken.append(line) or True))
            for _ in range(100):
                await asyncio.sleep(0)
            assert taken == []
            answers = client.reading()
            client.close("ask")
            await reading
            assert taken == [b"a", b"b"]
        assert len(await answers) == 1_000_001

    async def test_answers_of_one_turn_go_in_one_piece(self, streaming):
        async with streaming() as (client, stdio):
            os.write(client.ask, b"a\nb\nc\n")
            client.close("ask")
            await stdio.read(lambda line: stdio.send(line) or True)
            assert os.read(client.answers, 100) == b"a\nb\nc\n"

    async def test_oversized_lines_are_told(self, streaming):
        async with streaming(replace(SETTINGS, max_line_in_bytes=10)) as (client, stdio):
            os.write(client.ask, b"x" * 11 + b"\nok\n")
            client.close("ask")
            assert [line async for line in Reading(stdio)] == [Oversized(), b"ok"]

    async def test_frames_of_all_sizes_keep_their_order(self, streaming):
        frames = [bytes([65 + index % 26]) * size for index, size in enumerate([1, 70_000, 5, 4096, 300_000, 2] * 20)]
        async with streaming() as (client, stdio):
            reading = client.reading()
            for frame in frames:
                await write(stdio, frame)
            await stdio.flush()
        assert await reading == b"".join(frame + b"\n" for frame in frames)
        client.close()

    async def test_many_writers_at_once_never_mix_their_lines(self, streaming):
        async with streaming(replace(SETTINGS, max_queue_out_bytes=10_000)) as (client, stdio):
            reading = client.reading()
            async with asyncio.TaskGroup() as tasks:
                for index in range(100):
                    tasks.create_task(write(stdio, b"%d " % index * 3000))
        lines = (await reading).splitlines()
        assert lines == [b"%d " % index * 3000 for index in range(100)]

    async def test_writing_waits_for_a_client_that_reads_nothing(self, streaming):
        async with streaming(replace(SETTINGS, max_queue_out_bytes=100_000)) as (client, stdio):
            taken = 0

            async def write_for_ever():
                nonlocal taken
                while True:
                    await write(stdio, b"x" * 10_000)
                    taken += 1

            writing = asyncio.ensure_future(write_for_ever())
            while stdio.queued <= 100_000:
                await asyncio.sleep(0)
            for _ in range(100):
                await asyncio.sleep(0)
            assert taken * 10_000 < 400_000
            before = taken
            while taken == before:
                if select.select([client.answers], [], [], 0)[0]:
                    os.read(client.answers, 65_536)
                await asyncio.sleep(0)
            writing.cancel()

    async def test_reading_waits_while_nobody_takes_lines(self, streaming):
        async with streaming() as (client, stdio):
            written = 0

            def write_for_long():
                nonlocal written
                for _ in range(5000):
                    written += os.write(client.ask, b"x" * 999 + b"\n")

            writing = asyncio.ensure_future(asyncio.to_thread(write_for_long))
            lines, taken = Reading(stdio), 0
            while taken < 5_000_000:
                taken += len(await anext(lines)) + 1
                assert written - taken < 600_000
            await writing

    async def test_a_client_that_goes_away_breaks_the_stream_and_frees_everyone(self, streaming):
        async with streaming(replace(SETTINGS, max_queue_out_bytes=1000)) as (client, stdio):
            lines = asyncio.ensure_future(anext(Reading(stdio), None))
            writes = [asyncio.ensure_future(write(stdio, b"x" * 200_000)) for _ in range(3)]
            flush = asyncio.ensure_future(stdio.flush())
            await asyncio.sleep(0)
            client.close("answers")
            await stdio.broken.wait()
            assert await lines is None
            await asyncio.gather(*writes, flush)
            await write(stdio, b"dropped")
            assert stdio.queued == 0

    async def test_a_silent_client_that_closes_our_output_is_noticed(self, streaming):
        async with streaming() as (client, stdio):
            client.close("answers")
            assert [line async for line in Reading(stdio)] == []
            assert stdio.broken.is_set()

    async def test_output_closed_after_eof_is_noticed_too(self, streaming):
        async with streaming() as (client, stdio):
            client.close("ask")
            assert [line async for line in Reading(stdio)] == []
            client.close("answers")
            await stdio.broken.wait()

    async def test_leaving_closes_both_descriptors_and_ends_what_threads_there_are(self, streaming):
        before = threading.active_count()
        async with streaming() as (client, stdio):
            await write(stdio, b"a")
            fds = client.fd_in, client.fd_out
            assert threading.active_count() == before + (0 if client.on_the_loop else 2)
        assert threading.active_count() == before
        for fd in fds:
            with pytest.raises(OSError, match="Bad file descriptor"):
                os.fstat(fd)

    async def test_leaving_does_not_wait_for_a_client_that_reads_nothing(self, streaming):
        async with streaming(replace(SETTINGS, drain_ms=100, max_queue_out_bytes=10_000_000)) as (_, stdio):
            await write(stdio, b"x" * 1_000_000)
            assert stdio.queued > 0

    async def test_leaving_waits_for_a_client_that_reads_slowly(self, streaming):
        async with streaming(replace(SETTINGS, max_queue_out_bytes=10_000_000)) as (client, stdio):
            await write(stdio, b"x" * 1_000_000)
            reading = client.reading()
        assert len(await reading) == 1_000_001
