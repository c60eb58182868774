"""What `install` and `uninstall` take on the command line beside the options of serving: for `cli`."""

import argparse
import difflib
import re
from pathlib import Path

from notes_mcp.faults import UsageError
from notes_mcp.install.clients import CLIENTS

NAME = re.compile(r"[A-Za-z0-9_-]{1,50}")
"""What Claude Code and Codex allow; the others allow more."""
CLIENT = f"the client: {', '.join(CLIENTS)}"
DESCRIPTION = {
    "install": "Puts this server into a client's own config. Shows the change first and asks.",
    "uninstall": "Takes this server out of a client's own config. Shows the change first and asks.",
}
EPILOG = """examples:
  notes-mcp install claude-desktop ~/Notes
  notes-mcp install codex --read-only --name work ~/Work
  notes-mcp install vscode --print ~/Notes
  notes-mcp uninstall claude-desktop

Every other byte of the config stays as it is, and what it was is kept beside it. Variants of a client
(VS Code Insiders, VSCodium, profiles, a project's own file) have their configs elsewhere: --config FILE."""


def add_options(parser: argparse.ArgumentParser, command: str) -> None:
    """Adds them. The client is the first of the positional words: see `take_client`."""
    parser.description, parser.epilog = DESCRIPTION[command], EPILOG
    folders = ("CLIENT FOLDER", f"{CLIENT}; then the folders of notes") if command == "install" else ("CLIENT", CLIENT)
    parser.add_argument("folders", metavar=folders[0], nargs="*", help=folders[1])
    parser.add_argument("--name", default="notes", help="what the client calls this server (notes)")
    parser.add_argument("--config", metavar="FILE", type=Path, help="another config file than the client's usual one")
    parser.add_argument("--yes", action="store_true", help="make the change without asking")
    if command == "install":
        parser.add_argument("--print", action="store_true", help="only show what to paste into the config")


def take_client(options: argparse.Namespace, command: str) -> None:
    """Takes the client from the front of `options.folders`; it becomes `options.client`."""
    known = ", ".join(CLIENTS)
    if not options.folders:
        raise UsageError("no client was named", f"{command} alone", f"name one of: {known}")
    name = options.folders.pop(0)
    if name not in CLIENTS:
        close = difflib.get_close_matches(name.lower(), CLIENTS, n=1)
        meant = f"did you mean {close[0]}? " if close else ""
        raise UsageError("no such client", name, f"{meant}The client comes first, and is one of: {known}")
    options.client = CLIENTS[name]
    if command == "uninstall" and options.folders:
        raise UsageError("uninstall takes no folder", " ".join(options.folders), "name the client alone, or --name too")
    if not NAME.fullmatch(options.name):
        raise UsageError("not a name that every client takes", f"--name {options.name}", "use letters, digits, - and _")
