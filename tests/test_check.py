"""`notes-mcp check` as a person and a script meet it: a real server behind it, and the folder left as it was."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from notes_mcp import check as checking
from notes_mcp.check import check
from notes_mcp.report import Report, Screen, Step
from notes_mcp.settings import Settings

SAMPLES = Path(__file__).parents[1] / "sample_notes"
DEADLINE_S = 120


@pytest.fixture(autouse=True)
def _caches_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("NOTES_MCP_CACHE_DIR", str(tmp_path / "cache"))


def run(*arguments):
    command = [sys.executable, "-m", "notes_mcp", "check", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=DEADLINE_S)


def whole(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_the_sample_notes_are_served_in_both_eras_and_left_as_they_were():
    before = whole(SAMPLES)
    ended = run(SAMPLES)
    assert (ended.returncode, ended.stderr) == (0, "")
    steps = [line.split()[1] for line in ended.stdout.splitlines() if line.startswith("  ✓")]
    once = ["answers", "indexes", "lists", "reads", "searches"]
    assert steps == [*once, *once, "watches"]
    assert "48 notes, 1 attachment" in ended.stdout and "\x1b" not in ended.stdout
    pasted = json.loads(ended.stdout[ended.stdout.index("{") :])
    entry = pasted["mcpServers"]["notes"]
    assert entry["args"][-1] == str(SAMPLES.resolve()) and Path(entry["command"]).is_absolute()
    assert whole(SAMPLES) == before


def test_the_json_report_holds_the_same():
    ended = run("--json", SAMPLES)
    told = json.loads(ended.stdout)
    assert ended.returncode == 0 and told["ok"]
    assert {step["name"] for step in told["steps"]} == {"answers", "indexes", "lists", "reads", "searches", "watches"}
    assert all(step["ok"] and step["ms"] > 0 for step in told["steps"])


@pytest.mark.parametrize("tools", ["core", "create_note"])
def test_it_needs_none_of_the_tools_it_is_told_to_leave_out(tools):
    ended = run("--tools", tools, SAMPLES)
    assert ended.returncode == 0, ended.stdout


def test_an_empty_folder_is_fine_too(tmp_path):
    (tmp_path / "none").mkdir()
    ended = run(tmp_path / "none")
    assert ended.returncode == 0 and "0 notes, 0 attachments" in ended.stdout


def test_a_folder_that_is_not_there_is_a_usage_error(tmp_path):
    ended = run(tmp_path / "nowhere")
    assert ended.returncode == 2 and "does not exist" in ended.stderr


def test_a_server_that_does_not_speak_the_protocol_is_told_with_what_to_do(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(checking, "launcher", lambda: [sys.executable, "-c", "print('hello')"])
    assert check(Settings(folders=(tmp_path,))) == 1
    said = capsys.readouterr().out
    assert "not JSON" in said and "Not ready yet" in said and "mcpServers" not in said


def test_a_server_that_ends_at_once_is_told_with_its_exit_code(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(checking, "launcher", lambda: [sys.executable, "-c", "raise SystemExit(3)"])
    assert check(Settings(folders=(tmp_path,))) == 1
    assert "exit code 3" in capsys.readouterr().out


def test_a_command_that_cannot_be_run_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(checking, "launcher", lambda: [str(tmp_path / "no such program")])
    assert check(Settings(folders=(tmp_path,)), as_json=True) == 1
    assert json.loads(capsys.readouterr().out)["steps"][0]["name"] == "starts"


def test_a_reader_that_has_seen_enough_ends_it_without_a_word():
    command = [sys.executable, "-m", "notes_mcp", "check", str(SAMPLES)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(DEADLINE_S) == 0
        assert process.stderr.read() == b""


def test_the_entry_says_every_option_that_was_given():
    settings = Settings(
        folders=(Path("/notes"),), read_only=True, tools="core", ignore=("*.txt", "a b"), max_note_bytes=9
    )
    assert checking.entry(settings)["args"][-6:] == [
        "--read-only",
        "--tools=core",
        "--max-note-bytes=9",
        "--ignore=*.txt",
        "--ignore=a b",
        "/notes",
    ]


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


def test_on_a_terminal_there_are_colours_and_a_bar_that_goes_again(monkeypatch):
    monkeypatch.setattr(sys, "stdout", Terminal())
    screen = Screen(quiet=False)
    screen.progress(0, None)
    assert sys.stdout.getvalue() == ""
    screen.progress(500, 1_000)
    screen.progress_done()
    screen.step(Step("reads", ok=False, detail="no", advice="do this"))
    said = sys.stdout.getvalue()
    assert "[###############...............] 500 of 1,000" in said
    assert "\r\x1b[2K" in said and "\x1b[31m✗\x1b[0m" in said and "do this" in said


def test_a_stdout_without_unicode_gets_words_for_marks(monkeypatch):
    class Old(io.StringIO):
        encoding = "ascii"

    monkeypatch.setattr(sys, "stdout", Old())
    Screen(quiet=False).step(Step("reads", ok=True, detail="“计划”"))
    assert "ok reads" in sys.stdout.getvalue() and "计" not in sys.stdout.getvalue()


def test_many_problems_are_counted_and_the_first_shown(monkeypatch):
    monkeypatch.setattr(sys, "stdout", Terminal())
    problems = [{"kind": "not_text", "path": f"{number}.md", "advice": "look"} for number in range(30)]
    Screen(quiet=False).ending(Report("1", ["/n"], problems=problems))
    said = sys.stdout.getvalue()
    assert "(30)" in said and "19.md: look" in said and "20.md" not in said and "10 more" in said
