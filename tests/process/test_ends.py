"""How a process comes to its end: whoever ends it, it is gone soon, with code 0, without a word, and leaves nothing."""

import os
import pty
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from processes import COMMAND, DEADLINE, END_SECONDS, ROOT, environment, ping, request, tool

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="these tests speak of POSIX processes")

SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
LISTEN = request("stream", "subscriptions/listen", notifications={"resourcesListChanged": True})


def ended_well(server, within=END_SECONDS):
    ended = server.ended(within)
    assert (ended.code, ended.stderr) == (0, "")
    return ended.lines


class TestTheEndOfInput:
    def test_hazard_008_eof_ends_an_idle_server(self, server):
        server.close_input()
        assert ended_well(server) == []

    def test_hazard_008_eof_ends_a_server_that_was_only_just_started(self, start):
        with start() as server:
            server.close_input()
            assert ended_well(server) == []

    def test_hazard_008_eof_ends_a_server_with_an_open_stream_which_is_answered(self, server):
        server.send(LISTEN)
        server.notification("notifications/subscriptions/acknowledged")
        server.close_input()
        assert [message["id"] for message in ended_well(server)] == ["stream"]

    def test_hazard_011_dev_null_ends_it_at_once(self, start):
        with start(stdin=subprocess.DEVNULL) as server:
            assert ended_well(server) == []

    def test_a_regular_file_is_answered_to_its_end(self, start, tmp_path):
        script = tmp_path / "script.jsonl"
        script.write_bytes(ping(1) + tool(2, "read_note", path="Plan"))
        with script.open("rb") as stdin, start(stdin=stdin) as server:
            assert sorted(message["id"] for message in ended_well(server)) == [1, 2]

    def test_the_last_line_needs_no_line_end(self, start):
        with start() as server:
            server.send(ping("last").rstrip())
            server.close_input()
            assert ended_well(server) == [{"jsonrpc": "2.0", "id": "last", "result": {}}]

    def test_requests_read_just_before_the_end_are_all_answered(self, start):
        wanted = [
            request("discover", "server/discover"),
            tool("create", "create_note", title="新", content="x\n"),
            tool("search", "search_notes", query="plan"),
            request("list", "resources/list"),
            request("read", "resources/read", uri="notes:///Plan.md"),
            request("prompt", "prompts/get", name="summarize_note", arguments={"path": "Plan"}),
            tool("missing", "read_note", path="Nowhere"),
            b"nonsense\n",
        ]
        with start() as server:
            server.send(*wanted)
            server.close_input()
            answers = {message["id"]: message for message in ended_well(server, DEADLINE)}
        assert answers.keys() == {"discover", "create", "search", "list", "read", "prompt", "missing", None}
        assert [name for name, answer in answers.items() if "error" in answer] == [None]
        assert (answers["create"]["result"].get("isError"), answers["missing"]["result"]["isError"]) == (False, True)

    def test_500_pipelined_requests_are_all_answered_once(self, start):
        wanted = [
            ping(number) if number % 5 else tool(number, "read_note", path="Plan", max_chars=number + 1)
            for number in range(500)
        ]
        with start() as server:
            server.send(*wanted)
            server.close_input()
            lines = ended_well(server, DEADLINE)
        assert sorted(message["id"] for message in lines) == list(range(500))
        assert all("result" in message for message in lines)

    def test_a_client_that_reads_only_after_the_end_gets_all_answers(self, folder, home, tmp_path):
        script = b"".join(tool(number, "read_note", path="Plan") for number in range(200))
        done = subprocess.run(
            [*COMMAND, str(folder)],
            input=script,
            capture_output=True,
            env=environment(home),
            cwd=ROOT,
            timeout=DEADLINE,
        )
        assert (done.returncode, done.stderr, done.stdout.count(b"\n")) == (0, b"", 200)

    def test_a_terminal_is_greeted_answered_and_left_at_its_end(self, start):
        ours, theirs = pty.openpty()
        try:
            with start(stdin=theirs) as server:
                os.close(theirs)
                server.complaint("meant to be started by an MCP client")
                os.write(ours, ping("typed"))
                assert server.answer("typed")["result"] == {}
                os.write(ours, b"\x04")
                ended = server.ended()
                assert ended.code == 0
                assert ended.stderr.count("\n") == 2
        finally:
            os.close(ours)


class TestSignals:
    @pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
    def test_hazard_008_a_signal_ends_it_while_stdin_is_open(self, server, number):
        os.kill(server.pid, number)
        assert ended_well(server) == []

    @pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
    def test_a_signal_that_comes_again_and_again_changes_nothing(self, server, number):
        server.send(LISTEN)
        server.notification("notifications/subscriptions/acknowledged")
        for _ in range(5):
            os.kill(server.pid, number)
        assert [message["id"] for message in ended_well(server)] == ["stream"]

    def test_a_signal_right_after_eof_changes_nothing(self, server):
        server.close_input()
        server.process.terminate()
        assert ended_well(server) == []

    @pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
    def test_a_signal_during_start_up_ends_it_without_a_word(self, start, injected, number):
        environment = injected(
            """
            import sys, time

            class Slow:
                def find_spec(self, name, path=None, target=None):
                    if name == "notes_mcp.app":
                        print("loading", flush=True)
                        time.sleep(60)

            sys.meta_path.insert(0, Slow())
            """
        )
        with start(env=environment) as server:
            server.complaint("loading")
            os.kill(server.pid, number)
            ended = server.ended()
        assert (ended.code, ended.lines, ended.stderr) == (0, [], "loading\n")


class TestTheOtherSide:
    def test_a_client_that_closes_our_stdout_ends_us(self, start):
        ours, theirs = os.pipe()
        with start(stdout=theirs) as server:
            os.close(theirs)
            server.send(ping(1))
            assert os.read(ours, 100) == b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
            os.close(ours)
            assert ended_well(server) == []

    def test_a_client_that_closes_our_stdout_while_much_is_in_flight_ends_us(self, start):
        ours, theirs = os.pipe()
        with start(stdout=theirs) as server:
            os.close(theirs)
            server.send(*(request(number, "tools/list") for number in range(300)))
            assert os.read(ours, 10)
            os.close(ours)
            assert ended_well(server) == []

    @pytest.mark.parametrize("asked", [100, 1_000], ids=["little", "more than is held for it"])
    def test_a_client_that_reads_nothing_any_more_does_not_keep_us_after_eof(self, start, asked):
        ours, theirs = os.pipe()
        try:
            with start(stdout=theirs) as server:
                os.close(theirs)
                server.send(*(request(number, "tools/list") for number in range(asked)))
                assert os.read(ours, 10)
                server.close_input()
                server.ended()
        finally:
            os.close(ours)

    @pytest.mark.parametrize("closed", ["stdin is open elsewhere", "both ends are open elsewhere"])
    def test_hazard_007_a_dead_parent_ends_us_though_the_pipe_stays_open(self, folder, home, closed):
        """The pipe's write end is ours, not the parent's, so that its death is no end of input."""
        stdin, keep = os.pipe()
        out, stdout = os.pipe()
        command = [*COMMAND, str(folder)]
        parent = subprocess.Popen(
            [sys.executable, "-c", f"import subprocess; subprocess.run({command!r})"],
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            env=environment(home),
            cwd=ROOT,
            start_new_session=True,
        )
        os.close(stdin)
        os.close(stdout)
        with parent, open(out, "rb") as answers, open(keep, "wb", buffering=0) as client:
            client.write(request(1, "tools/list"))
            assert answers.readline()
            parent.kill()
            assert parent.wait(DEADLINE) == -signal.SIGKILL
            if closed.startswith("both"):
                client.write(ping(2))
            # Whoever holds a write end lives; the end of both streams is the end of the server.
            assert select.select([answers], [], [], END_SECONDS)[0]
            assert answers.read() in (b"", b'{"jsonrpc":"2.0","id":2,"result":{}}\n')
            assert parent.stderr.read() == b""

    def test_nobody_reads_stderr_and_it_is_full_and_we_go_on(self, start):
        ours, theirs = os.pipe()
        try:
            with start("--log-level", "debug", stderr=theirs) as server:
                os.close(theirs)
                server.send(*[b"nonsense\n"] * 3000)
                assert server.ask(ping("alive"))["result"] == {}
                server.close_input()
                assert server.ended().code == 0
        finally:
            os.close(ours)

    def test_nobody_holds_stderr_any_more_and_we_go_on(self, start):
        ours, theirs = os.pipe()
        with start("--log-level", "debug", stderr=theirs) as server:
            os.close(theirs)
            os.close(ours)
            server.send(*[b"nonsense\n"] * 10)
            assert server.ask(ping("alive"))["result"] == {}
            server.close_input()
            assert server.ended().code == 0

    def test_no_stderr_at_all_and_we_go_on(self, folder, home):
        command = " ".join(f"'{part}'" for part in [*COMMAND, str(folder)])
        done = subprocess.run(
            ["sh", "-c", f"exec {command} 2>&-"], input=ping(1), stdout=-1, env=environment(home), cwd=ROOT, timeout=60
        )
        assert (done.returncode, done.stdout) == (0, b'{"jsonrpc":"2.0","id":1,"result":{}}\n')


HANGING_DISK = """
import os, threading
from anyio import to_thread
from notes_mcp.notes import library

def hang():
    os.write(2, b"hanging\\n")
    threading.Event().wait()

async def read(*_, **__):
    await to_thread.run_sync(hang)

library.Library.read = read
"""


class TestACallThatNeverEnds:
    """A dead network disk, say: the thread cannot be interrupted."""

    @pytest.fixture
    def stuck(self, start, injected):
        with start(env=injected(HANGING_DISK)) as server:
            server.ask(request("ready", "tools/list"))
            server.send(tool("stuck", "read_note", path="Plan.md"))
            server.complaint("hanging")
            yield server

    @pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
    def test_does_not_hold_up_the_end_by_a_signal(self, stuck, number):
        os.kill(stuck.pid, number)
        assert stuck.ended().code == 0

    def test_hazard_010_does_not_hold_up_the_end_of_input_nor_spin_until_then(self, stuck):
        before = processor_seconds(stuck.pid)
        stuck.close_input()
        assert list(iter(stuck.take, None)) == []
        _, status, usage = os.wait4(stuck.pid, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        assert usage.ru_utime + usage.ru_stime - before < 0.5

    def test_leaves_other_calls_alone(self, stuck):
        assert stuck.ask(ping("other"))["result"] == {}
        assert stuck.ask(request("templates", "resources/templates/list"))["result"]["resourceTemplates"]


def processor_seconds(pid):
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        pytest.skip("needs /proc")
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
