"""`notes-mcp install` and `uninstall` as they are typed, and the server that a written entry starts."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from notes_mcp import cli
from notes_mcp.install import command
from notes_mcp.install.clients import CLIENTS

DEADLINE_S = 60
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    for name in ("APPDATA", "LOCALAPPDATA", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    return home


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "我的 'notes' & \"more\""
    folder.mkdir()
    (folder / "计划.md").write_text("# 计划\n", encoding="utf-8")
    return folder.resolve()


@pytest.fixture
def works(monkeypatch):
    """The command is taken to work, without starting it."""
    monkeypatch.setattr(command, "failure", lambda command: None)


def typed(capsys, *words):
    code = cli.main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


class TestServing:
    """The entry that was written, started as the client starts it."""

    @pytest.mark.parametrize("client", ["claude-desktop", "codex", "vscode"])
    def test_a_client_that_starts_the_written_entry_gets_an_answer(self, home, folder, client):
        subprocess.run(
            [
                sys.executable,
                "-m",
                "notes_mcp",
                "install",
                client,
                str(folder),
                "--yes",
                "--read-only",
                "--tools",
                "core",
            ],
            env={"HOME": str(home), "USERPROFILE": str(home), "PATH": ""},
            stdin=subprocess.DEVNULL,
            check=True,
            timeout=DEADLINE_S,
        )
        known = CLIENTS[client]
        (file,) = [path for path in home.rglob("*") if path.suffix in (".json", ".toml")]
        text = file.read_text(encoding="utf-8")
        config = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
        entry = config[known.container]["notes"]
        asked = subprocess.run(
            [entry["command"], *entry["args"]],
            input=json.dumps(HELLO).encode() + b"\n",
            env={"HOME": str(home), "PATH": ""},
            cwd="/",
            capture_output=True,
            timeout=DEADLINE_S,
            check=True,
        )
        answer = json.loads(asked.stdout.splitlines()[0])
        assert answer["id"] == 0 and answer["result"]["serverInfo"]["name"] == "notes-mcp"


def test_install_and_uninstall_as_typed(home, folder, works, capsys):
    code, out, err = typed(capsys, "install", "cursor", folder, "--yes", "--name", "mine")
    assert (code, err) == (0, "")
    file = home / ".cursor" / "mcp.json"
    assert json.loads(file.read_text(encoding="utf-8"))["mcpServers"]["mine"]["args"][-1] == str(folder)
    assert str(file) in out
    assert typed(capsys, "uninstall", "cursor", "--name=mine", "--yes")[0] == 0
    assert json.loads(file.read_text(encoding="utf-8")) == {"mcpServers": {}}


def test_another_config_is_named_from_home(home, folder, works, capsys):
    assert typed(capsys, "install", "zed", folder, "--yes", "--config", "~/my/zed.json")[0] == 0
    assert (home / "my" / "zed.json").exists()


def test_print_writes_nothing_but_the_snippet_to_stdout(home, folder, works, capsys):
    code, out, err = typed(capsys, "install", "codex", "--print", folder, "--read-only")
    assert code == 0
    assert tomllib.loads(out)["mcp_servers"]["notes"]["args"][-2:] == ["--read-only", str(folder)]
    assert str(home / ".codex" / "config.toml") in err
    assert list(home.iterdir()) == []


def test_print_helps_where_the_config_is_broken(home, folder, works, capsys):
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").write_text("{", encoding="utf-8")
    code, out, err = typed(capsys, "install", "cursor", folder, "--yes")
    assert (code, out) == (1, "")
    assert [line.split(":")[0].strip() for line in err.splitlines()] == ["notes-mcp", "problem", "seen", "fix"]
    assert err.startswith("notes-mcp: cannot install (environment error, exit code 1)\n")
    code, out, _ = typed(capsys, "install", "cursor", folder, "--print")
    assert (code, list(json.loads(out)["mcpServers"])) == (0, ["notes"])


@pytest.mark.parametrize(
    ("words", "problem", "fix"),
    [
        (["install"], "no client was named", "claude-desktop"),
        (["uninstall"], "no client was named", "gemini-cli"),
        (["install", "claude-dekstop", "{folder}"], "no such client", "did you mean claude-desktop?"),
        (["install", "{folder}"], "no such client", "The client comes first"),
        (["install", "Zed", "{folder}"], "no such client", "did you mean zed?"),
        (["install", "zed"], "no folder was named", "notes-mcp"),
        (["install", "zed", "{folder}/none"], "does not exist", ""),
        (["install", "zed", "{folder}", "--name", "a b"], "not a name", "letters"),
        (["install", "zed", "{folder}", "--name="], "not a name", "letters"),
        (["install", "zed", "{folder}", "--tools=fly"], "no such tool", "read_note"),
        (["install", "zed", "{folder}", "--json"], "unrecognized", "--help"),
        (["uninstall", "zed", "{folder}"], "takes no folder", "alone"),
        (["uninstall", "zed", "--read-only"], "unrecognized", "--help"),
        (["uninstall", "zed", "--print"], "unrecognized", "--help"),
        (["install", "zed", "{folder}"], "nobody is there", "--yes"),
    ],
)
def test_what_makes_no_sense_is_told(home, folder, works, capsys, words, problem, fix):
    code, _, err = typed(capsys, *[word.format(folder=folder) for word in words])
    assert code == 2
    assert err.startswith(f"notes-mcp: cannot {words[0]} (usage error, exit code 2)\n")
    problem_line, _, fix_line = err.splitlines()[1:4]
    assert problem in problem_line and fix in fix_line
    assert list(home.iterdir()) == []


def test_a_command_that_does_not_start_is_not_written(home, folder, capsys, monkeypatch):
    monkeypatch.setattr(command, "lasting", lambda: [sys.executable, "-c", "import sys; sys.exit('gone')"])
    code, _, err = typed(capsys, "install", "zed", folder, "--yes")
    assert code == 1
    assert "cannot be started" in err and "gone" in err
    assert list(home.iterdir()) == []


def test_without_a_home_it_says_so(folder, works, capsys, monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(command.Machine, "here", homeless)
    code, _, err = typed(capsys, "install", "zed", folder, "--yes")
    assert code == 1 and "set HOME" in err


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_folder_whose_name_is_no_text_cannot_be_written(home, tmp_path, works, capsys):
    folder = tmp_path / "a\udcff"
    folder.mkdir()
    code, _, err = typed(capsys, "install", "zed", folder, "--yes")
    assert code == 1 and "not UTF-8" in err
    assert list(home.iterdir()) == []


def test_the_environment_at_the_time_is_written_down(home, folder, works, capsys, monkeypatch):
    """Clients pass none of it on to the server."""
    monkeypatch.setenv("NOTES_MCP_READ_ONLY", "1")
    _, out, _ = typed(capsys, "install", "cursor", folder, "--print")
    assert "--read-only" in json.loads(out)["mcpServers"]["notes"]["args"]


@pytest.mark.parametrize("words", [["install", "--help"], ["uninstall", "--help"]])
def test_each_has_a_help_of_its_own(capsys, words):
    with pytest.raises(SystemExit) as caught:
        cli.main(words)
    shown = capsys.readouterr().out
    assert caught.value.code == 0
    assert f"notes-mcp {words[0]} CLIENT" in shown
    assert ("offer reading tools" in shown, "only show" in shown) == (words[0] == "install",) * 2
    assert all(client in shown for client in CLIENTS)
    assert all(option in shown for option in ("--name", "--config", "--yes"))


def test_a_folder_called_like_a_command_can_be_named_by_its_path(tmp_path, monkeypatch):
    (tmp_path / "install").mkdir()
    monkeypatch.chdir(tmp_path)
    assert cli.parse(["./install"], {})[1].folders == (Path.cwd() / "install",)
