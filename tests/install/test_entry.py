"""What a client is told to start, and whether that would start."""

import json
import sys
from pathlib import Path

import pytest

from notes_mcp import __version__
from notes_mcp.cli import parse
from notes_mcp.install import entry as entries
from notes_mcp.install.entry import entry, failure, lasting, launcher, options, origin
from notes_mcp.settings import Settings

SCRIPT = "notes-mcp.exe" if sys.platform == "win32" else "notes-mcp"


@pytest.fixture
def installed(tmp_path):
    """A maker of a Python with, or without, a script beside it."""

    def make(*folders, script=True):
        folder = tmp_path.joinpath(*folders)
        folder.mkdir(parents=True)
        if script:
            (folder / SCRIPT).touch()
        return str(folder / "python")

    return make


def program(tmp_path, name):
    file = tmp_path / "bin" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    return str(file)


def test_a_script_beside_its_python_is_the_command(installed):
    python = installed("venv", "bin")
    assert launcher(python) == lasting(python, {}) == [str(Path(python).with_name(SCRIPT))]


def test_without_a_script_it_is_the_python(installed):
    python = installed("venv", "bin", script=False)
    assert lasting(python, {}) == [python, "-m", "notes_mcp"]


@pytest.mark.parametrize(
    "folders",
    [
        (".local", "share", "uv", "tools", "notes-mcp", "bin"),
        (".local", "share", "pipx", "venvs", "notes-mcp", "bin"),
        ("work", "cache", "venv", "bin"),
    ],
)
def test_what_was_installed_to_stay_is_named_itself(installed, folders, tmp_path):
    python = installed(*folders)
    program(tmp_path, "uvx"), program(tmp_path, "pipx")
    assert lasting(python, {"PATH": str(tmp_path / "bin")}) == [str(Path(python).with_name(SCRIPT))]


@pytest.mark.parametrize(
    ("runner", "folders", "arguments", "from_where"),
    [
        ("uvx", ("uv", "archive-v0", "abc", "bin"), ["notes-mcp"], None),
        ("uvx", ("uv", "environments-v2", "abc", "bin"), ["--from", "/src", "notes-mcp"], "/src"),
        ("pipx", (".cache", "pipx", "abc", "bin"), ["run", "notes-mcp"], None),
        ("pipx", ("pipx", "Cache", "abc", "bin"), ["run", "--spec", "git+https://e/x", "notes-mcp"], "git+https://e/x"),
    ],
)
def test_what_a_runner_made_for_one_run_is_left_to_the_runner(
    installed, tmp_path, monkeypatch, runner, folders, arguments, from_where
):
    monkeypatch.setattr(entries, "_origin", lambda: from_where)
    python, found = installed(*folders), program(tmp_path, runner)
    environ = {"PATH": str(tmp_path / "bin"), "UV": str(tmp_path / "bin" / "uv")}
    assert lasting(python, environ) == [found, *arguments]
    if runner == "pipx":
        program(tmp_path, "uvx")
        assert lasting(python, environ) == [found, *arguments]


def test_uv_says_itself_where_it_is(installed, tmp_path, monkeypatch):
    monkeypatch.setattr(entries, "_origin", lambda: None)
    program(tmp_path, "uv")
    name = "uvx.exe" if sys.platform == "win32" else "uvx"
    python = installed("archive-v0", "x", "bin")
    assert lasting(python, {"UV": str(tmp_path / "bin" / "uv"), "PATH": ""})[0].endswith(SCRIPT)
    found = program(tmp_path, name)
    assert lasting(python, {"UV": str(tmp_path / "bin" / "uv"), "PATH": ""})[0] == found


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ({"url": "https://e/x.git", "vcs_info": {"vcs": "git", "commit_id": "1"}}, "git+https://e/x.git"),
        (
            {"url": "https://e/x.git", "vcs_info": {"vcs": "git", "commit_id": "1", "requested_revision": "v2"}},
            "git+https://e/x.git@v2",
        ),
        ({"url": "file:///src/a%20b", "dir_info": {"editable": True}}, "/src/a b"),
        ({"url": "https://e/x.whl", "archive_info": {}}, "notes-mcp @ https://e/x.whl"),
    ],
)
def test_where_it_came_from_is_asked_for_again(said, meant):
    assert origin(said) == meant


def test_where_this_one_came_from_is_read_from_its_metadata(monkeypatch):
    class Distribution:
        def read_text(self, name):
            return json.dumps({"url": "https://e/x.whl"}) if name == "direct_url.json" else None

    monkeypatch.setattr("importlib.metadata.distribution", lambda name: Distribution())
    assert entries._origin() == "notes-mcp @ https://e/x.whl"
    monkeypatch.setattr(Distribution, "read_text", lambda *_: None)
    assert entries._origin() is None


def test_the_options_given_come_back_as_they_were_meant(tmp_path):
    given = ["--read-only", "--tools", "core", "--log-level", "debug", "--max-note-bytes", "2k"]
    given += ["--ignore=-a b/", "--ignore", "!b", "--cache-dir", str(tmp_path / "c d")]
    settings = parse([*given, str(tmp_path)], {})[1]
    written = entry(settings, ["x", "-m", "y"], {"type": "stdio"})
    assert list(written) == ["type", "command", "args"]
    assert (written["command"], written["args"][:2]) == ("x", ["-m", "y"])
    assert parse(written["args"][2:], {})[1] == settings


def test_this_very_installation_is_meant_where_no_other_is_named():
    assert lasting(None, {}) == launcher(sys.executable)
    assert entry(Settings(folders=()), ["x"]) == {"command": "x", "args": []}


def test_what_is_the_default_is_not_said():
    assert options(Settings(folders=())) == []


class TestTrying:
    def test_this_one_starts_as_a_client_would_start_it(self):
        assert failure(launcher()) is None

    @pytest.mark.parametrize(
        ("code", "seen"),
        [
            ("print('notes-mcp 0.0.0')", "notes-mcp 0.0.0"),
            ("import sys; sys.exit('no\\n  module')", "no module"),
            ("raise SystemExit(3)", "exit code 3"),
        ],
    )
    def test_what_does_not_start_is_told(self, code, seen):
        assert failure([sys.executable, "-c", code]) == seen

    def test_a_program_that_is_not_there_is_told(self, tmp_path):
        assert str(tmp_path / "none") in failure([str(tmp_path / "none")])

    def test_it_has_neither_this_folder_nor_this_path(self):
        here = "'X' not in os.environ and 'HOME' in os.environ and os.getcwd() == '/'"
        code = f"import os; print('notes-mcp {__version__}' if {here} else 1)"
        if sys.platform != "win32":
            assert failure([sys.executable, "-c", code], {"X": "1", "HOME": "/"}) is None
