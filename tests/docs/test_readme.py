"""Every command and example of the READMEs does what is said of it."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import platformdirs
import pytest
from readme import READMES, ROOT, blocks, examples, holds, rows, text

from benchmarks.pipe import Pipe
from notes_mcp import cli
from notes_mcp.tools import _catalog

COMMANDS = sorted({line for name in READMES for block in blocks(name, "sh") for line in block.splitlines()})
SET_UP = [line for line in COMMANDS if line.startswith("python3 -m venv")]
OTHERS = [line for line in COMMANDS if line not in SET_UP]


@pytest.fixture
def home(tmp_path):
    shutil.copytree(ROOT / "sample_notes", tmp_path / "Notes")
    return tmp_path


@pytest.fixture
def environment(home):
    """What a client or a new terminal gives: a home of its own, and nothing of ours."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NOTES_MCP_", "XDG_"))}
    caches = {"UV_CACHE_DIR": str(Path(platformdirs.user_cache_dir("notes-mcp-tests")) / "uv")}
    return {**kept, **caches, "HOME": str(home), "USERPROFILE": str(home), "APPDATA": str(home / "AppData")}


@pytest.fixture
def server(home, environment, monkeypatch):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    pipe = Pipe([sys.executable, "-m", "notes_mcp", f"--cache-dir={home / 'cache'}", str(home / "Notes")])
    while "index" in pipe.tool("list_notes", {"limit": 1})["structuredContent"]:
        pass  # each answer waits for the index a while
    yield pipe
    pipe.close()


def test_the_set_up_is_two_commands_and_the_checks_run_the_one_that_tests():
    jobs = [command.rpartition(" && ")[2] for command in SET_UP]
    assert sorted(jobs) == [
        ".venv/bin/notes-mcp check sample_notes",
        ".venv/bin/python -m pytest -q -n auto --dist loadfile",
    ]
    assert "README.md" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.skipif(os.name == "nt", reason="the README's shell is a POSIX one; Windows has the wheel's test")
def test_the_first_command_of_the_readme_does_all_the_set_up(tmp_path):
    [command] = [line for line in SET_UP if "check" in line]
    tree = tmp_path / "clone"
    kept = shutil.ignore_patterns(".git", ".venv", "*_cache", ".hypothesis", "__pycache__", "dist", "node_modules")
    shutil.copytree(ROOT, tree, ignore=kept, symlinks=True)
    said = subprocess.run(command, shell=True, cwd=tree, capture_output=True, text=True)
    assert said.returncode == 0, said.stdout + said.stderr
    assert "sample_notes" in said.stdout


@pytest.mark.parametrize("command", OTHERS)
def test_a_command_of_the_readme_runs(command, home, environment):
    words = shlex.split(command.replace("~", str(home)))
    program = Path(words[0]).name
    if program in ("uvx", "pipx"):
        said = run([shutil.which(words[0], path=Path(sys.executable).parent), *words[1:]], environment)
    else:
        assert program == "notes-mcp", f"no test knows how to run {command}"
        if words[1] in ("install", "uninstall") and not {"--print", "--yes"} & set(words):
            words.append("--yes")  # nobody sits at this terminal
        if words[1] == "uninstall":
            there = ["install", words[2], str(home / "Notes"), "--yes"]
            assert run([sys.executable, "-m", "notes_mcp", *there], environment).returncode == 0
        said = run([sys.executable, "-m", "notes_mcp", *words[1:]], environment)
    assert said.returncode == 0, said.stdout + said.stderr


def run(command, environment):
    return subprocess.run(command, stdin=subprocess.DEVNULL, env=environment, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("name", READMES)
def test_every_entry_to_paste_starts_the_server(name, home):
    pasted = [json.loads(block) for block in blocks(name, "json")]
    assert pasted
    for configuration in pasted:
        [entry] = configuration["mcpServers"].values()
        assert Path(entry["command"]).name in ("notes-mcp", "uvx")
        folders = [str(home / "Notes") if word.startswith("/home/") else word for word in entry["args"]]
        pipe = Pipe([sys.executable, "-m", "notes_mcp", f"--cache-dir={home / 'cache'}", folders[-1]])
        assert pipe.ask("tools/list")["tools"]
        pipe.close()


@pytest.mark.parametrize("name", READMES)
def test_every_example_answers_as_shown(name, server):
    shown = examples(name)
    assert {example.tool for example in shown} == set(_catalog.names())
    for example in shown:
        answer = server.tool(example.tool, example.arguments)
        assert not answer.get("isError"), answer["content"]
        if isinstance(example.answer, str):
            assert example.answer in "\n".join(block["text"] for block in answer["content"])
        else:
            assert holds(example.answer, answer["structuredContent"]), answer["structuredContent"]


@pytest.mark.parametrize("name", READMES)
def test_every_row_of_the_search_table_finds_something(name, server):
    table = text(name).partition("| `query`")[2].partition("\n\n")[0]
    queries = re.findall(r"^\| `([^`]+)` \|", table, re.M)
    assert len(queries) > 8
    for query in queries:
        answer = server.tool("search_notes", {"query": query})["structuredContent"]
        assert answer["total"] and not answer.get("relaxed"), query


@pytest.mark.parametrize("name", READMES)
def test_the_table_of_options_is_the_command_line(name):
    told = {re.match(r"`(--[\w-]+)", cell)[1] for cell in rows(name, r"`--[^|]*(?:\\\|[^|]*)*`[^|]*")}
    known = {
        flag for action in cli._parser("serve")._actions for flag in action.option_strings if flag.startswith("--")
    }
    assert told == known - {"--help", "--version", "--json"}
    for option in told:
        assert f"`NOTES_MCP_{option[2:].replace('-', '_').upper()}`" in text(name)


@pytest.mark.parametrize("name", READMES)
def test_every_tool_has_its_row(name):
    first = "\n".join(rows(name, r"`\w+`(?:[,、] ?`\w+`)*"))
    assert set(_catalog.names()) <= set(re.findall(r"\w+", first))


@pytest.mark.parametrize("name", READMES)
def test_every_file_a_readme_names_is_there(name):
    named = set(re.findall(r"`((?:tests|benchmarks|sample_notes|notes_mcp)/[\w./-]*)`", text(name)))
    named |= set(re.findall(r"\]\(([\w./-]+)\)", text(name)))
    assert named
    for path in named:
        assert (ROOT / path).exists(), path


def test_both_readmes_show_the_same_commands_and_examples():
    english, chinese = READMES
    for language in ("sh", "json"):
        assert blocks(english, language) == blocks(chinese, language)
    assert examples(english) == examples(chinese)


def test_what_an_example_shows_is_compared_in_earnest():
    assert holds({"a": ["…"]}, {"a": [1], "b": 2}) and holds({"a": [1, "…"]}, {"a": [1, 2]})
    assert not holds({"a": ["…"]}, {"a": []}) and not holds({"a": [1]}, {"a": [1, 2]})
    assert not holds({"a": 1}, {"b": 1}) and not holds({"a": 1}, [1]) and not holds([1], {"a": 1})
    assert not holds("x", "y")
