"""The servers that are measured side by side: ours, and those peers that are installed.

A minimal server on the official Python SDK comes with the `dev` extra. The filesystem server of the MCP project
is an npm package; `INSTALL_NPM` puts it into `.npm/` of this folder, and one on PATH will do as well.
"""

import json
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import notes_mcp

HERE = Path(__file__).parent
NPM_PACKAGE = "@modelcontextprotocol/server-filesystem"
NPM_VERSION = "2026.8.31"
INSTALL_NPM = f"npm install --prefix benchmarks/.npm {NPM_PACKAGE}@{NPM_VERSION}"


@dataclass(frozen=True, slots=True)
class Server:
    """How it is started on a folder, and how it is asked for the text of one file there."""

    name: str
    command: tuple[str, ...]
    read_tool: str
    read_arguments: Mapping[str, Any]


def servers(root: Path, cache: Path, note: str) -> tuple[list[Server], str | None]:
    """Ours first, the SDK's, npm's if it is there; and what to say if it is not. `note` is what they are to read."""
    ours = Server(
        f"notes-mcp {notes_mcp.__version__}",
        (sys.executable, "-m", "notes_mcp", f"--cache-dir={cache}", str(root)),
        "read_note",
        {"path": note},
    )
    sdk = Server(
        f"SDK {version('mcp')}",
        (sys.executable, str(HERE / "sdk_server.py"), str(root)),
        "read_note",
        {"path": note},
    )
    command = _npm_command()
    if command is None:
        return [ours, sdk], f"the npm filesystem server is not installed; to compare with it too: {INSTALL_NPM}"
    npm = Server(
        f"npm {_npm_version(command)}",
        (*command, str(root)),
        "read_text_file",
        {"path": str(root / note)},
    )
    return [ours, sdk, npm], None


def _npm_command() -> tuple[str, ...] | None:
    """Node itself on the server's file: what `npx` starts is a shell and npm around it."""
    node = shutil.which("node")
    if node is None:
        return None
    script = HERE / ".npm" / "node_modules" / NPM_PACKAGE / "dist" / "index.js"
    if script.is_file():
        return node, str(script)
    on_path = shutil.which("mcp-server-filesystem")
    return (node, str(Path(on_path).resolve())) if on_path else None


def _npm_version(command: tuple[str, ...]) -> str:
    manifest = Path(command[1]).parents[1] / "package.json"
    return str(json.loads(manifest.read_text(encoding="utf-8"))["version"])
