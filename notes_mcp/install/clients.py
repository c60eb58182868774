"""The clients that `install` knows: where each keeps its config for all projects, and in which form.

Taken from the clients' own documentation; `source` names the page. The machine is handed in, so that
every platform can be asked about on any other. Looks into the disk for one thing only: the packages
of Windows, since Claude Desktop may be one.
"""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from notes_mcp.install.editing import JSON, TOML, Format


@dataclass(frozen=True)
class Machine:
    """What decides where configs are: `sys.platform`, the environment, and the user's home."""

    platform: str
    environ: Mapping[str, str]
    home: PurePath

    @classmethod
    def here(cls) -> "Machine":
        """This one. Raises RuntimeError where there is no home."""
        return cls(sys.platform, os.environ, Path.home())

    def folder(self, variable: str, default: PurePath) -> PurePath:
        """What the variable says; `default` where it is unset or no absolute path (XDG Base Directory, "Basics")."""
        said = type(self.home)(self.environ.get(variable, ""))
        return said if said.is_absolute() else default

    @property
    def config(self) -> PurePath:
        """Where programs with windows keep their settings."""
        if self.platform == "win32":
            return self.folder("APPDATA", self.home / "AppData" / "Roaming")
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        return self.folder("XDG_CONFIG_HOME", self.home / ".config")


@dataclass(frozen=True)
class Client:
    """One client. `container` is the key that holds the servers by name, `fixed` what an entry has beside its command.

    `after` tells the user what makes the client see the change.
    """

    name: str
    title: str
    form: Format
    container: str
    locate: Callable[[Machine], PurePath]
    after: str
    source: str
    fixed: Mapping[str, str] = field(default_factory=dict)


def _claude_desktop(machine: Machine) -> PurePath:
    """%APPDATA% is another folder for a packaged program: what it reads lies in its own package.

    Packaged since February 2026, and the config in %APPDATA% is then not read (anthropics/claude-code issue 26073).
    """
    places = [machine.config]
    if machine.platform == "win32":
        packages = machine.folder("LOCALAPPDATA", machine.home / "AppData" / "Local") / "Packages"
        own = [packages / name / "LocalCache" / "Roaming" for name in _names(packages) if name.startswith("Claude_")]
        places = sorted(own, key=lambda place: not os.path.exists(place / "Claude")) or places
    return places[0] / "Claude" / "claude_desktop_config.json"


def _names(folder: PurePath) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:
        return []


def _claude_code(machine: Machine) -> PurePath:
    return machine.folder("CLAUDE_CONFIG_DIR", machine.home) / ".claude.json"


def _cursor(machine: Machine) -> PurePath:
    return machine.home / ".cursor" / "mcp.json"


def _vscode(machine: Machine) -> PurePath:
    portable = machine.environ.get("VSCODE_PORTABLE")
    data = type(machine.home)(portable) / "user-data" if portable else machine.config / "Code"
    return data / "User" / "mcp.json"


def _windsurf(machine: Machine) -> PurePath:
    return machine.home / ".codeium" / "windsurf" / "mcp_config.json"


def _zed(machine: Machine) -> PurePath:
    if machine.platform == "win32":
        return machine.config / "Zed" / "settings.json"
    config = machine.home / ".config" if machine.platform == "darwin" else machine.config
    return config / "zed" / "settings.json"


def _codex(machine: Machine) -> PurePath:
    return machine.folder("CODEX_HOME", machine.home / ".codex") / "config.toml"


def _gemini(machine: Machine) -> PurePath:
    return machine.folder("GEMINI_CLI_HOME", machine.home) / ".gemini" / "settings.json"


CLIENTS = {
    client.name: client
    for client in (
        Client(
            "claude-desktop",
            "Claude Desktop",
            JSON,
            "mcpServers",
            _claude_desktop,
            "Quit Claude Desktop completely (closing its window is not enough) and start it again.",
            "Model Context Protocol documentation, “Connect to local MCP servers”",
        ),
        Client(
            "claude-code",
            "Claude Code",
            JSON,
            "mcpServers",
            _claude_code,
            "Start a new session of Claude Code; `/mcp` lists it. A session that was open may write its own copy of\n"
            "the file over this change: if `claude mcp list` does not show it, close them all and run this once more.",
            "Claude Code documentation, “Connect Claude Code to tools via MCP” (user scope), “Environment variables”",
            {"type": "stdio"},
        ),
        Client(
            "cursor",
            "Cursor",
            JSON,
            "mcpServers",
            _cursor,
            "Restart Cursor; its settings list it under MCP.",
            "Cursor documentation, “Model Context Protocol (MCP)”",
        ),
        Client(
            "vscode",
            "VS Code",
            JSON,
            "servers",
            _vscode,
            "In VS Code run “MCP: List Servers” and start it, or restart VS Code.",
            "Visual Studio Code documentation, “MCP configuration reference”, “User and workspace settings”",
            {"type": "stdio"},
        ),
        Client(
            "windsurf",
            "Windsurf",
            JSON,
            "mcpServers",
            _windsurf,
            "Press refresh in Windsurf's list of MCP servers, or restart Windsurf.",
            "Windsurf documentation, “Cascade MCP Integration”",
        ),
        Client(
            "zed",
            "Zed",
            JSON,
            "context_servers",
            _zed,
            "Zed reads it at once; if its Agent Panel does not list it, restart Zed.",
            "Zed documentation, “Model Context Protocol”, “Configuring Zed”",
        ),
        Client(
            "codex",
            "Codex",
            TOML,
            "mcp_servers",
            _codex,
            "Start a new session of Codex; `/mcp` lists it.",
            "Codex documentation, “Model Context Protocol”, “Environment variables”",
        ),
        Client(
            "gemini-cli",
            "Gemini CLI",
            JSON,
            "mcpServers",
            _gemini,
            "Restart Gemini CLI in a folder that you told it to trust; `/mcp` lists it.",
            "Gemini CLI documentation, “MCP servers with the Gemini CLI”, “Gemini CLI configuration”",
        ),
    )
}
