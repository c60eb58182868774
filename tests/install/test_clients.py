"""Where each client keeps its config, on every platform, whatever this one is."""

from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

from notes_mcp import cli
from notes_mcp.install.clients import CLIENTS, Machine

HOMES = {
    "linux": PurePosixPath("/home/李 me"),
    "darwin": PurePosixPath("/Users/me"),
    "win32": PureWindowsPath("C:\\Users\\me"),
}
USUAL = [
    ("claude-desktop", "linux", "/home/李 me/.config/Claude/claude_desktop_config.json"),
    ("claude-desktop", "darwin", "/Users/me/Library/Application Support/Claude/claude_desktop_config.json"),
    ("claude-desktop", "win32", "C:\\Users\\me\\AppData\\Roaming\\Claude\\claude_desktop_config.json"),
    ("claude-code", "linux", "/home/李 me/.claude.json"),
    ("claude-code", "darwin", "/Users/me/.claude.json"),
    ("claude-code", "win32", "C:\\Users\\me\\.claude.json"),
    ("cursor", "linux", "/home/李 me/.cursor/mcp.json"),
    ("cursor", "darwin", "/Users/me/.cursor/mcp.json"),
    ("cursor", "win32", "C:\\Users\\me\\.cursor\\mcp.json"),
    ("vscode", "linux", "/home/李 me/.config/Code/User/mcp.json"),
    ("vscode", "darwin", "/Users/me/Library/Application Support/Code/User/mcp.json"),
    ("vscode", "win32", "C:\\Users\\me\\AppData\\Roaming\\Code\\User\\mcp.json"),
    ("windsurf", "linux", "/home/李 me/.codeium/windsurf/mcp_config.json"),
    ("windsurf", "darwin", "/Users/me/.codeium/windsurf/mcp_config.json"),
    ("windsurf", "win32", "C:\\Users\\me\\.codeium\\windsurf\\mcp_config.json"),
    ("zed", "linux", "/home/李 me/.config/zed/settings.json"),
    ("zed", "darwin", "/Users/me/.config/zed/settings.json"),
    ("zed", "win32", "C:\\Users\\me\\AppData\\Roaming\\Zed\\settings.json"),
    ("codex", "linux", "/home/李 me/.codex/config.toml"),
    ("codex", "darwin", "/Users/me/.codex/config.toml"),
    ("codex", "win32", "C:\\Users\\me\\.codex\\config.toml"),
    ("gemini-cli", "linux", "/home/李 me/.gemini/settings.json"),
    ("gemini-cli", "darwin", "/Users/me/.gemini/settings.json"),
    ("gemini-cli", "win32", "C:\\Users\\me\\.gemini\\settings.json"),
]
ELSEWHERE = [
    ("claude-desktop", "linux", "XDG_CONFIG_HOME", "/x", "/x/Claude/claude_desktop_config.json"),
    ("claude-desktop", "win32", "APPDATA", "D:\\R", "D:\\R\\Claude\\claude_desktop_config.json"),
    ("claude-code", "linux", "CLAUDE_CONFIG_DIR", "/x", "/x/.claude.json"),
    ("claude-code", "win32", "CLAUDE_CONFIG_DIR", "D:\\C", "D:\\C\\.claude.json"),
    ("vscode", "linux", "XDG_CONFIG_HOME", "/x", "/x/Code/User/mcp.json"),
    ("vscode", "win32", "APPDATA", "D:\\R", "D:\\R\\Code\\User\\mcp.json"),
    ("vscode", "linux", "VSCODE_PORTABLE", "/p", "/p/user-data/User/mcp.json"),
    ("zed", "linux", "XDG_CONFIG_HOME", "/x", "/x/zed/settings.json"),
    ("zed", "win32", "APPDATA", "D:\\R", "D:\\R\\Zed\\settings.json"),
    ("codex", "darwin", "CODEX_HOME", "/x", "/x/config.toml"),
    ("codex", "win32", "CODEX_HOME", "D:\\C", "D:\\C\\config.toml"),
    ("gemini-cli", "linux", "GEMINI_CLI_HOME", "/x", "/x/.gemini/settings.json"),
]


def located(name, system, **environ):
    return str(CLIENTS[name].locate(Machine(system, environ, HOMES[system])))


@pytest.mark.parametrize(("name", "system", "path"), USUAL)
def test_each_client_has_its_place_on_each_platform(name, system, path):
    assert located(name, system) == path


def test_the_places_are_those_of_all_clients_on_all_platforms():
    assert {(name, system) for name, system, _ in USUAL} == {(name, system) for name in CLIENTS for system in HOMES}


@pytest.mark.parametrize(("name", "system", "variable", "value", "path"), ELSEWHERE)
def test_a_variable_moves_the_place(name, system, variable, value, path):
    assert located(name, system, **{variable: value}) == path


@pytest.mark.parametrize("value", ["", "relative", "./x"])
def test_a_variable_that_is_no_absolute_path_moves_nothing(value):
    """XDG Base Directory Specification: a relative path is invalid and should be ignored."""
    assert located("zed", "linux", XDG_CONFIG_HOME=value) == located("zed", "linux")


@pytest.mark.parametrize("name", ["claude-desktop", "vscode", "zed"])
def test_the_variables_of_one_platform_mean_nothing_on_another(name):
    assert located(name, "darwin", XDG_CONFIG_HOME="/x", APPDATA="/y") == located(name, "darwin")
    assert located(name, "linux", APPDATA="/y", LOCALAPPDATA="/z") == located(name, "linux")


class TestPackagedClaudeDesktop:
    """A Windows on this disk: what counts is which packages are there."""

    @pytest.fixture
    def machine(self, tmp_path):
        return Machine("win32", {"LOCALAPPDATA": str(tmp_path), "APPDATA": str(tmp_path / "R")}, Path(tmp_path))

    def package(self, tmp_path, name, *more):
        (tmp_path / "Packages" / name / "LocalCache" / "Roaming").joinpath(*more).mkdir(parents=True)

    def test_its_config_lies_in_its_package(self, machine, tmp_path):
        self.package(tmp_path, "Claude_pzs8sxrjxfjjc")
        self.package(tmp_path, "Microsoft.Terminal_8")
        expected = "Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude/claude_desktop_config.json"
        assert CLIENTS["claude-desktop"].locate(machine) == tmp_path / expected

    def test_of_two_packages_the_one_that_was_used_counts(self, machine, tmp_path):
        self.package(tmp_path, "Claude_a")
        self.package(tmp_path, "Claude_b", "Claude")
        assert "Claude_b" in CLIENTS["claude-desktop"].locate(machine).parts

    def test_without_one_it_is_where_it_always_was(self, machine, tmp_path):
        self.package(tmp_path, "Microsoft.Terminal_8")
        assert CLIENTS["claude-desktop"].locate(machine) == tmp_path / "R" / "Claude" / "claude_desktop_config.json"


@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_a_package_of_windows_means_nothing_elsewhere(tmp_path, system):
    (tmp_path / "AppData" / "Local" / "Packages" / "Claude_x" / "LocalCache" / "Roaming").mkdir(parents=True)
    machine = Machine(system, {"LOCALAPPDATA": str(tmp_path / "AppData" / "Local")}, tmp_path)
    assert "Packages" not in CLIENTS["claude-desktop"].locate(machine).parts


def test_help_names_them_all():
    assert all(name in cli.EPILOG for name in CLIENTS)


def test_each_names_its_source_and_what_to_do_next():
    for client in CLIENTS.values():
        assert "documentation" in client.source
        assert client.title.split()[0] in client.after


def test_this_machine_is_one_of_them():
    machine = Machine.here()
    assert all(client.locate(machine).is_absolute() for client in CLIENTS.values())
