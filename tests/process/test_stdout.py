"""Only JSON-RPC reaches stdout, in UTF-8, one LF a frame; whatever else is printed, and whatever the locale.

`Server.take` parses every line of stdout, so that each test here fails over a stray byte.
"""

import json
import subprocess
import sys

import pytest
from processes import COMMAND, DEADLINE, ROOT, environment, ping, request, serving, tool

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="these tests speak of POSIX processes")

EVERYTHING = [
    request("discover", "server/discover"),
    request("tools", "tools/list"),
    tool("info", "notes_info"),
    tool("search", "search_notes", query="止损"),
    tool("create", "create_note", title="Neu", content="x\n"),
    tool("error", "read_note", path="Nowhere"),
    request("prompts", "prompts/list"),
]
NOISE = """
import atexit, builtins, logging, os, subprocess, sys, threading, warnings

claimed = threading.Event()

def noise(event, args):
    # From the first import after the streams were taken away on: earlier than that, nobody could help it.
    if event == "import" and args[0] == "notes_mcp.app":
        claimed.set()
    if event == "import" and claimed.is_set() and not getattr(noise, "busy", False):
        noise.busy = True
        print("connected to db", args[0])
        sys.stdout.write("written\\n")
        sys.__stdout__.write("to the first stdout\\n")
        sys.__stdout__.flush()
        os.write(1, b"raw bytes\\n")
        noise.busy = False

def chatter():
    claimed.wait()
    subprocess.run(["echo", "a child"])
    print("a thread", flush=True)
    warnings.warn("a warning")
    logging.getLogger("library").error("a logger")
    console = logging.getLogger("console")
    console.addHandler(logging.StreamHandler(sys.stdout))
    console.warning("a logger on stdout")

sys.addaudithook(noise)
threading.Thread(target=chatter, daemon=True).start()
"""


def talk(server):
    """Asks everything; the answers by id."""
    server.send(*EVERYTHING)
    wanted = {json.loads(sent)["id"] for sent in EVERYTHING}
    answers = {}
    while wanted - answers.keys():
        message = server.take()
        assert message is not None, server.stderr
        if "id" in message:
            answers[message["id"]] = message
    return answers


class TestStrayOutput:
    def test_hazard_001_hazard_002_whatever_modules_threads_loggers_and_children_print_goes_to_stderr(
        self, start, injected
    ):
        with start(env=injected(NOISE)) as server:
            assert all("result" in answer for answer in talk(server).values())
            for said in (
                "connected to db notes_mcp.notes.library",
                "written",
                "to the first stdout",
                "raw bytes",
                "a child",
                "a thread",
                "a warning",
                "a logger",
                "a logger on stdout",
            ):
                server.complaint(said)
            server.close_input()
            ended = server.ended()
        assert (ended.code, ended.lines) == (0, [])

    def test_hazard_002_what_was_printed_before_the_server_was_there_goes_to_stderr_too(self, start, injected):
        with start(env=injected("print('printed by a site package')")) as server:
            server.complaint("printed by a site package")
            assert server.ask(ping(1))["result"] == {}

    def test_hazard_001_warnings_of_the_interpreter_go_to_stderr(self, start, home):
        with start(env=environment(home, PYTHONWARNINGS="always", PYTHONDEVMODE="1")) as server:
            assert all("result" in answer for answer in talk(server).values())

    @pytest.mark.parametrize("how", ["option", "environment"])
    def test_hazard_004_the_debug_log_goes_to_stderr(self, start, home, how):
        options = ["--log-level", "debug"] if how == "option" else []
        more = {"NOTES_MCP_LOG_LEVEL": "DEBUG"} if how == "environment" else {}
        with start(*options, env=environment(home, **more)) as server:
            talk(server)
            server.send(b"nonsense\n")
            assert server.answer(None)["error"]["code"] == -32700
            server.complaint("DEBUG: invalid message")

    def test_hazard_004_a_traceback_goes_to_stderr_and_the_client_is_told_nothing(self, start, injected):
        environment = injected(
            """
            from notes_mcp.notes import library

            async def search(*_, **__):
                print("about to fail")
                raise ZeroDivisionError("secret")

            library.Library.search = search
            """
        )
        with start(env=environment) as server:
            answer = server.ask(tool("search", "search_notes", query="x"))
            assert answer["error"] == {"code": -32603, "message": "internal error"}
            server.complaint("about to fail")
            server.complaint("ZeroDivisionError: secret")
            assert server.ask(request("list", "tools/list"))["result"]["tools"]


LOCALES = {
    "C": {"LANG": "C", "LC_ALL": "C"},
    "C without any help of the interpreter": {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    "POSIX": {"LC_ALL": "POSIX", "PYTHONUTF8": "0"},
    "latin-1": {"PYTHONIOENCODING": "latin-1", "LC_ALL": "C"},
    "ascii": {"PYTHONIOENCODING": "ascii:strict", "PYTHONCOERCECLOCALE": "0"},
    "UTF-16": {"PYTHONIOENCODING": "utf-16"},
    "one that is not there": {"LC_ALL": "xx_YY.ISO-8859-15"},
}


class TestUtf8:
    @pytest.mark.parametrize("locale", LOCALES)
    def test_hazard_014_hazard_016_all_scripts_pass_whatever_the_locale(self, start, folder, home, locale):
        with start(env=environment(home, **LOCALES[locale])) as server:
            text = "ë ř Łódź 中文 日本語 🌊\n"
            made = server.call("create_note", title="ř 中 🌊", content=text)
            assert made["structuredContent"]["path"] == "ř 中 🌊.md"
            assert (folder / "ř 中 🌊.md").read_bytes() == text.encode()
            assert server.call("read_note", path="ř 中 🌊")["content"][1]["text"] == text
            assert server.call("read_note", path="日记/计划.md")["content"][1]["text"] == "# 计划\n\n止损，潮汐钟。\n"
            found = server.call("search_notes", query="止损")["structuredContent"]
            assert [hit["path"] for hit in found["hits"]] == ["日记/计划.md"]
            assert "中文 日本語" in server.call("search_notes", query="日本語")["content"][0]["text"]

    def test_hazard_005_hazard_016_frames_are_utf_8_and_end_with_exactly_one_lf(self, folder, home):
        script = tool(1, "read_note", path="日记/计划.md").replace(b"\n", b"\r\n") + tool(2, "notes_info") + ping(3)
        done = subprocess.run(
            [*COMMAND, str(folder)], input=script, stdout=-1, env=environment(home), cwd=ROOT, timeout=DEADLINE
        )
        frames = done.stdout.split(b"\n")
        assert frames.pop() == b""
        assert len(frames) == 3
        assert b"\r" not in done.stdout
        assert "止损，潮汐钟。".encode() in done.stdout
        assert {json.loads(frame.decode("utf-8"))["id"] for frame in frames} == {1, 2, 3}


class TestPlaces:
    def test_an_empty_environment_is_enough(self, folder, tmp_path):
        with serving(folder, home=None, cache=tmp_path / "cache", env={}) as server:
            assert all("result" in answer for answer in talk(server).values())
            server.close_input()
            assert (server.ended().code, server.stderr) == (0, "")

    def test_without_a_home_it_serves_and_undoes_nothing_worse(self, start):
        with start(env={"PATH": "/usr/bin:/bin"}) as server:
            assert server.ask(request("read", "resources/read", uri="notes:///Plan.md"))["result"]["contents"]

    @pytest.mark.parametrize("place", ["/proc/nowhere", "/dev/null"])
    def test_a_home_that_cannot_be_written_to_is_said_once_and_the_index_is_in_memory(self, start, place):
        with start(env={"PATH": "/usr/bin:/bin", "HOME": place}) as server:
            self.works_in_memory(server)

    def test_a_cache_directory_that_cannot_be_made_is_said_once_and_the_index_is_in_memory(self, start, tmp_path):
        file = tmp_path / "a file"
        file.write_text("")
        with start(cache=file) as server:
            self.works_in_memory(server)

    def works_in_memory(self, server):
        assert all("result" in answer for answer in talk(server).values())
        hits = server.call("search_notes", query="止损")["structuredContent"]["hits"]
        assert [hit["path"] for hit in hits] == ["日记/计划.md"]
        server.close_input()
        ended = server.ended()
        assert ended.code == 0
        assert ended.stderr.count("the search index is kept in memory") == 1
        assert "Traceback" not in ended.stderr
        problems = [line for line in ended.stderr.splitlines() if "WARNING" not in line]
        assert problems == []

    @pytest.mark.parametrize(
        "name",
        [
            "with spaces",
            'o\'clock "notes"',
            "🌊 潮汐",
            "Заметки",
            "-dash",
            "$HOME `x`; exit",
            "a\nb",
            "…",
            "100%20",
            "é",
        ],
    )
    def test_a_folder_may_be_called_as_people_like(self, tmp_path, home, name):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "Plan.md").write_text("# Plan\n\nsimple\n")
        with serving(folder, home=home) as server:
            found = server.call("search_notes", query="simple")["structuredContent"]["hits"]
            assert [hit["path"] for hit in found] == ["Plan.md"]
            assert server.call("notes_info")["structuredContent"]["folders"][0]["name"] == name
            uri = folder.joinpath("Plan.md").as_uri()
            assert server.ask(request("read", "resources/read", uri=uri))["result"]["contents"][0]["uri"] == uri

    def test_nothing_is_written_into_the_folder_by_starting_reading_and_searching(self, start, folder):
        before = {path: path.stat().st_mtime_ns for path in [folder, *folder.rglob("*")]}
        with start() as server:
            server.ask(tool(1, "search_notes", query="plan"))
            server.ask(tool(2, "read_note", path="Plan"))
            server.close_input()
            server.ended()
        assert {path: path.stat().st_mtime_ns for path in [folder, *folder.rglob("*")]} == before
