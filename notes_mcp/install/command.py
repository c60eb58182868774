"""`notes-mcp install CLIENT …` and `uninstall CLIENT …`, once argv is read -> what `installing` does.

Chooses the command that the client will start, tries it as a client would, and hands in this machine
and its terminal.
"""

import argparse
import sys
from pathlib import Path

from notes_mcp.faults import EnvironmentFault
from notes_mcp.install import installing
from notes_mcp.install.clients import Client, Machine
from notes_mcp.install.entry import entry, failure, lasting
from notes_mcp.install.installing import Wish
from notes_mcp.install.showing import Talk
from notes_mcp.settings import Settings


def run(command: str, settings: Settings, options: argparse.Namespace) -> int:
    """Does what was asked for. Returns the exit code; raises EnvironmentFault."""
    client: Client = options.client
    config: Path | None = options.config and options.config.expanduser()
    wish = Wish(client, options.name, config, options.yes)
    talk = Talk(sys.stdin, sys.stdout)
    if command == "uninstall":
        return installing.uninstall(wish, _machine(), talk)
    made = entry(settings, _command(), client.fixed)
    _require_text([made["command"], *made["args"]])
    if options.print:
        place = installing.where(wish, _machine())
        sys.stderr.write(f"For {client.title}, in {place}. {client.after}\n")
        sys.stdout.buffer.write(installing.snippet(client, wish.name, made).encode())
        sys.stdout.buffer.flush()
        return 0
    return installing.install(wish, made, _machine(), talk)


def _command() -> list[str]:
    command = lasting()
    seen = failure(command)
    if seen is not None:
        raise EnvironmentFault(
            "this notes-mcp cannot be started as a client would; nothing was written",
            f"{' '.join(command)}: {seen}",
            "install it (pip, pipx or uv tool install) and run this again from there",
        )
    return command


def _machine() -> Machine:
    try:
        return Machine.here()
    except RuntimeError as error:
        raise EnvironmentFault("your home folder cannot be found", str(error), "set HOME and run this again") from None


def _require_text(words: list[str]) -> None:
    """A path of bytes that are no UTF-8 cannot be written into any config."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise EnvironmentFault(
                "a path is not UTF-8, which no config can hold; nothing was written",
                repr(word),
                "rename the folder, or name a link to it",
            ) from None
