"""`notes-mcp install`, `uninstall` and `--print`: look, change the text, show, ask, write.

Everything that may differ from machine to machine is handed in. Returns exit codes; raises EnvironmentFault with
nothing written.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from notes_mcp.faults import EnvironmentFault
from notes_mcp.install import configfile, editing
from notes_mcp.install.clients import Client, Machine
from notes_mcp.install.configfile import Config
from notes_mcp.install.showing import Talk, difference
from notes_mcp.install.unfit import Unfit


@dataclass(frozen=True)
class Wish:
    """Which entry of which client's config, and whether that was agreed to beforehand."""

    client: Client
    name: str
    config: Path | None = None
    yes: bool = False


def snippet(client: Client, name: str, entry: dict[str, Any]) -> str:
    """What a config holds that has nothing but the entry: what `--print` shows, to be pasted."""
    return editing.put(client.form, "", client.container, name, entry)


def where(wish: Wish, machine: Machine) -> Path:
    """The config file that is meant, absolute."""
    return Path(os.path.abspath(wish.config or wish.client.locate(machine)))


def install(wish: Wish, entry: dict[str, Any], machine: Machine, talk: Talk) -> int:
    """Adds the entry or brings it up to date. Returns 0, or 1 where the user said no."""
    client = wish.client
    config = configfile.look(where(wish, machine))
    before = config.text
    try:
        after = editing.put(client.form, before, client.container, wish.name, entry)
        _require_local(wish, editing.servers_of(client.form, before, client.container), config)
    except Unfit as unfit:
        raise _fault(
            unfit, config, f"or add the entry by hand: `notes-mcp install {client.name} … --print` shows it"
        ) from None
    if after == before:
        talk.say(f"{client.title} has “{wish.name}” already, just so: {config.path}\n{client.after}")
        return 0
    return _change(config, after, wish, talk, "Write this?", client.after)


def uninstall(wish: Wish, machine: Machine, talk: Talk) -> int:
    """Takes the entry out. Returns 0, also where there is none, or 1 where the user said no."""
    client = wish.client
    config = configfile.look(where(wish, machine))
    before = config.text
    try:
        servers = editing.servers_of(client.form, before, client.container)
        if wish.name not in servers:
            talk.say(f"{client.title} has no “{wish.name}”: {config.path}{_others(servers)}")
            return 0
        earlier = config.earlier()
        if earlier is not None and editing.undone(client.form, before, earlier, client.container, wish.name):
            after = earlier
        else:
            after = editing.take(client.form, before, client.container, wish.name)
    except Unfit as unfit:
        raise _fault(unfit, config, "or take the entry out by hand") from None
    return _change(config, after, wish, talk, "Take it out?", f"{client.title} forgets it when it is started anew.")


def _change(config: Config, after: str, wish: Wish, talk: Talk, question: str, news: str) -> int:
    made = "" if config.seen is not None else " (a new file)"
    talk.say(f"{wish.client.title}: {config.path}{made}\n\n{difference(config.text, after)}\n")
    if not wish.yes and not talk.agreed(question):
        talk.say("Nothing was changed.")
        return 1
    backup = configfile.write(config, after)
    kept = f" The file as it was: {backup}" if backup else ""
    talk.say(f"Done.{kept}\n{news}")
    return 0


def _require_local(wish: Wish, servers: dict[str, Any], config: Config) -> None:
    """An entry of that name which is another server altogether is not turned into ours."""
    old = servers.get(wish.name)
    remote = [key for key in editing.REMOTE if isinstance(old, dict) and key in old]
    if remote and isinstance(old, dict):
        raise EnvironmentFault(
            f"“{wish.name}” is there already, and is a server on the net; nothing was written",
            f"{remote[0]} = {old[remote[0]]} in {config.path}",
            "choose another name: --name my-notes",
        )


def _others(servers: dict[str, Any]) -> str:
    """Entries under other names that start this server."""
    names = [name for name, entry in servers.items() if any(word in str(entry) for word in ("notes-mcp", "notes_mcp"))]
    return f"\nIt has {', '.join(names)}, though: say --name {names[0]}" if names else ""


def _fault(unfit: Unfit, config: Config, otherwise: str) -> EnvironmentFault:
    place = f", line {unfit.line}, column {unfit.column}" if unfit.line else ""
    return EnvironmentFault(
        f"the config cannot be changed: {unfit.reason}; nothing was written",
        f"{config.path}{place}",
        f"mend it there and run this again, {otherwise}",
    )
