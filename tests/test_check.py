"""`notes-mcp check` as a person and a script meet it: a real server behind it, and the folder left as it was."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from notes_mcp import check as checking
from notes_mcp.check import check
from notes_mcp.probe import Probe
from notes_mcp.report import Report, Step
from notes_mcp.screen import Screen, width, wrapped
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
    assert {step["revision"] for step in told["steps"]} == {"2025-11-25", "2026-07-28"}
    assert set(told) == {
        "format", "ok", "version", "folders", "served", "steps", "problems", "problem_counts", "stderr", "mcp_servers"
    }  # fmt: skip
    assert (told["format"], told["folders"], told["stderr"]) == (1, [str(SAMPLES.resolve())], "")
    (served,) = told["served"]
    assert (served["name"], served["notes"], served["attachments"]) == ("sample_notes", 48, 1)
    assert told["problem_counts"] == {"broken_link": 2}
    assert {(problem["kind"], problem["path"]) for problem in told["problems"]} == {
        ("broken_link", "Inbox.md"),
        ("broken_link", "Projects/计划.md"),
    }
    assert all(problem["advice"] for problem in told["problems"])


@pytest.mark.parametrize("tools", ["core", "create_note"])
def test_it_needs_none_of_the_tools_it_is_told_to_leave_out(tools):
    ended = run("--tools", tools, SAMPLES)
    assert ended.returncode == 0, ended.stdout


def test_an_empty_folder_is_fine_too(tmp_path):
    (tmp_path / "none").mkdir()
    ended = run(tmp_path / "none")
    assert ended.returncode == 0 and "0 notes, 0 attachments" in ended.stdout
    assert "is this the folder you mean?" in ended.stdout


def test_several_folders_are_told_apart(tmp_path):
    for name in ("Work", "家"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_bytes(b"\xff" if name == "家" else b"text of work")
    ended = run(tmp_path / "Work", tmp_path / "家")
    assert ended.returncode == 0, ended.stdout
    rows = [line.split() for line in ended.stdout.splitlines() if line.endswith("noticed at once")]
    assert [row[:3] for row in rows] == [[str(tmp_path / name), "1", "0"] for name in ("Work", "家")]
    assert "家/a.md: not valid UTF-8" in ended.stdout


def test_a_note_that_cannot_be_read_or_has_only_front_matter_is_no_failure(tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "meeting.md").write_text(
        "---\nattendees: []\n---\n<https://example.org/extraordinary> [t](internationally.md)"
    )
    (notes / "huge.md").write_text("y" * 2_000)
    ended = run("--max-note-bytes=1000", notes)
    assert ended.returncode == 0, ended.stdout
    assert "huge.md: listed, but not read" in ended.stdout and "meeting.md, 8" in ended.stdout


def test_notes_of_which_none_can_be_read_are_a_failure_that_says_why(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/huge.md").write_text("y" * 2_000)
    ended = run("--max-note-bytes=1000", tmp_path / "notes")
    assert ended.returncode == 1 and "2,000 bytes; the limit is 1,000" in ended.stdout


def test_what_the_server_says_on_stderr_stands_at_the_end_and_not_amid_the_lines(tmp_path):
    (tmp_path / "blocked").write_text("a file where a directory should be")
    ended = run(f"--cache-dir={tmp_path / 'blocked' / 'cache'}", SAMPLES)
    assert (ended.returncode, ended.stderr) == (0, "")
    before, said = ended.stdout.split("What the server said on stderr:")
    assert "directories of our own that cannot be used" in before and "cannot be used" in said
    told = json.loads(run("--json", f"--cache-dir={tmp_path / 'blocked' / 'cache'}", SAMPLES).stdout)
    assert "cannot be used" in told["stderr"] and told["ok"]


@pytest.mark.skipif(sys.platform == "win32", reason="terminals as POSIX has them")
def test_ctrl_c_ends_it_and_its_servers_at_once_and_leaves_nothing(tmp_path):
    import pty

    child, terminal = pty.fork()
    if not child:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests may ignore it
        os.environ["TMPDIR"] = str(tmp_path)
        os.execv(sys.executable, [sys.executable, "-m", "notes_mcp", "check", str(SAMPLES)])
    seen = b""
    try:
        while b"answers" not in seen:  # the harness ends a test that takes too long
            seen += os.read(terminal, 65_536)
        os.write(terminal, b"\x03")
        while True:
            try:
                more = os.read(terminal, 65_536)
            except OSError:
                break  # how Linux tells that the other end is closed
            if not more:
                break
            seen += more
    finally:
        status = os.waitpid(child, 0)[1]
        os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 130
    assert b"Stopped before it was done; nothing was changed." in seen and b"Traceback" not in seen
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith("notes-mcp-check-")]


@pytest.mark.skipif(os.name == "nt", reason="sessions are POSIX")
async def test_a_server_that_is_asked_hears_no_ctrl_c_of_the_terminal():
    tells = (
        """import json, os; print(json.dumps({"id": 1, "result": {"session": os.getsid(0)}}), flush=True); input()"""
    )
    async with Probe.start([sys.executable, "-c", tells]) as probe:
        assert (await probe.request("anything", {}))["session"] != os.getsid(0)


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


def shown(monkeypatch, *, columns=100, environ=None, stdout=Terminal):
    """A screen on a terminal that wide, and what it has printed so far."""
    monkeypatch.setattr(sys, "stdout", stdout())
    monkeypatch.setattr("shutil.get_terminal_size", lambda fallback: os.terminal_size((columns, 24)))
    return Screen(quiet=False, environ=environ or {}), sys.stdout.getvalue


def test_on_a_terminal_there_are_colours_and_a_bar_that_goes_again(monkeypatch):
    screen, said = shown(monkeypatch)
    screen.progress(0, None)
    assert "counting files" in said()
    screen.progress(500, 1_000)
    screen.step(Step("reads", ok=False, detail="no", advice="do this", revision="r"))
    bar, _, after = said().rpartition("\r\x1b[2K")
    assert "[###############...............] 500 of 1,000" in bar
    assert "\x1b[31m✗\x1b[0m reads     r " in after and "\x1b[33mdo this\x1b[0m" in after


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_nobody_gets_colours_who_does_not_want_them(monkeypatch, environ):
    screen, said = shown(monkeypatch, environ=environ)
    screen.progress(500, 1_000)
    assert ("500 of 1,000" in said()) == ("NO_COLOR" in environ)
    screen.progress_done()
    screen.step(Step("reads", ok=False, detail="no", advice="do this"))
    screen.ending(Report("1", ["/n"], problems=[{"kind": "not_text", "path": "a.md"}], problem_counts={"not_text": 1}))
    assert "\x1b[3" not in said() and "\x1b[0m" not in said()


def test_an_empty_no_color_says_nothing(monkeypatch):
    screen, said = shown(monkeypatch, environ={"NO_COLOR": ""})
    screen.step(Step("reads", ok=True, detail="yes"))
    assert "\x1b[32m✓" in said()


def test_a_stdout_without_unicode_gets_words_for_marks(monkeypatch):
    class Old(io.StringIO):
        encoding = "ascii"

    screen, said = shown(monkeypatch, stdout=Old)
    screen.step(Step("reads", ok=True, detail="“计划”"))
    assert "ok reads" in said() and "计" not in said()


def test_many_problems_are_counted_by_kind_and_the_first_shown(monkeypatch):
    screen, said = shown(monkeypatch)
    problems = [{"kind": "not_text", "path": f"{number}.md", "advice": "look"} for number in range(20)]
    problems += [{"kind": "strange_new_kind", "path": ""}]
    screen.ending(Report("1", ["/n"], problems=problems, problem_counts={"not_text": 1_030, "strange_new_kind": 1}))
    assert "Worth a look (1,031)" in said() and "notes that are not valid text\x1b[0m (1,030)" in said()
    assert "4.md: look" in said() and "5.md" not in said() and "… and 1,025 more" in said()
    assert "strange new kind" in said() and "the folder itself\n" in said()


def test_lines_fit_the_terminal_in_every_script_and_line_up(monkeypatch):
    screen, said = shown(monkeypatch, columns=60, environ={"NO_COLOR": "1"})
    names = [
        "会议记录与项目计划之类的很长很长的名字.md",
        "日本語のとても長いノートの名前です.md",
        "a" * 90,
        "한국어 노트",
    ]
    advice = "both texts together, then delete this one, 中文与英文混排的建议也要换行"
    problems = [{"kind": "conflict_copy", "path": name, "advice": advice} for name in names]
    served = [
        {"name": "x", "notes": notes, "attachments": 2, "read_only": bool(notes), "watching": "polling"}
        for notes in (12_345, 0)
    ]
    screen.step(Step("reads", ok=True, detail=advice, revision="2026-07-28"))
    screen.ending(Report("1", ["/计划", "/notes"], served=served, problems=problems))
    printed, _, _ = said().partition("All well")
    assert all(width(line) < 60 for line in printed.splitlines())
    assert "/计划: 12,345 notes, 2 other files" in printed and "only read" in printed
    assert "".join(advice.split()) in "".join(printed.split())


def test_the_folders_stand_in_columns_where_there_is_room(monkeypatch):
    screen, said = shown(monkeypatch, environ={"NO_COLOR": "1"})
    folder = {"name": "x", "attachments": 2, "read_only": False, "watching": "events"}
    screen.ending(Report("1", ["/计划", "/notes"], served=[{**folder, "notes": 12_345}, {**folder, "notes": 0}]))
    rows = [line for line in said().splitlines() if line.endswith("noticed at once")]
    assert len(rows) == 2 and len({width(row) for row in rows}) == 1


@pytest.mark.parametrize(
    ("text", "columns"),
    [("plan", 4), ("计划", 4), ("ｱｲｳ", 3), ("Ｐ", 2), ("e\u0301", 1), ("한", 2), ("a\u200bb", 2), ("😀", 2), ("", 0)],
)
def test_wide_characters_take_two_columns_and_combining_ones_none(text, columns):
    assert width(text) == columns


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("one two three", ["one two", "three"]),
        ("abcdefghijkl", ["abcdefgh", "ijkl"]),
        ("中文没有空格", ["中文没有", "空格"]),
        ("a 中文字b c", ["a 中文字", "b c"]),
        ("  x", ["  x"]),
    ],
)
def test_lines_break_at_blanks_and_beside_wide_characters(text, lines):
    assert list(wrapped(text, 8)) == lines
