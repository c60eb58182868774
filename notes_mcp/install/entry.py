"""What a client is told to start: the command that will still be there tomorrow, the options, the folders.

Clients start servers without a shell, with almost no PATH and from any folder, so everything is
absolute. An installation that a package runner made for one run only is not named: the runner is.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from notes_mcp import __version__
from notes_mcp.settings import Settings

RUNNERS = (("uvx", {"archive-v0", "builds-v0", "environments-v2"}), ("pipx", {".cache", "cache", "caches"}))
"""A runner, and folder names that only its throw-away environments lie in."""
KEPT = ("HOME", "USER", "LOGNAME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "SYSTEMROOT", "TEMP")
"""What every client passes on to a server, beside a short PATH."""
TRY_SECONDS = 60


def entry(settings: Settings, command: list[str], fixed: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The entry for one client: `fixed` first, then the command and its arguments."""
    return {
        **(fixed or {}),
        "command": command[0],
        "args": [*command[1:], *options(settings), *map(str, settings.folders)],
    }


def options(settings: Settings) -> list[str]:
    """The command-line options that say what `settings` says, defaults left out."""
    default = Settings(folders=())
    given = ["--read-only"] if settings.read_only else []
    for name in ("tools", "log_level", "max_note_bytes", "cache_dir"):
        value = getattr(settings, name)
        if value != getattr(default, name):
            given.append(f"--{name.replace('_', '-')}={value}")
    return given + [f"--ignore={pattern}" for pattern in settings.ignore]


def launcher(executable: str | None = None) -> list[str]:
    """How this very installation is started: its own script if it has one, else its Python with `-m`."""
    python = executable or sys.executable
    script = Path(python).with_name("notes-mcp.exe" if sys.platform == "win32" else "notes-mcp")
    return [str(script)] if script.is_file() else [python, "-m", "notes_mcp"]


def lasting(executable: str | None = None, environ: Mapping[str, str] = os.environ) -> list[str]:
    """Like `launcher`, but what will be there tomorrow: the runner, where a runner made this for one run."""
    python = Path(executable or sys.executable)
    names = {part.lower() for part in python.parts}
    for runner, marks in RUNNERS:
        if names & marks and (runner == "uvx" or "pipx" in names):
            found = _runner(runner, environ)
            if found:
                return [found, *_run(runner, _origin())]
    return launcher(executable)


def _runner(name: str, environ: Mapping[str, str]) -> str | None:
    """Its absolute path. uv tells its children where it is (variable UV); uvx lies beside it."""
    import shutil

    if name == "uvx" and environ.get("UV"):
        beside = Path(environ["UV"]).with_name("uvx.exe" if sys.platform == "win32" else "uvx")
        if beside.is_file():
            return str(beside)
    return shutil.which(name, path=environ.get("PATH"))


def _run(runner: str, origin: str | None) -> list[str]:
    if runner == "uvx":
        return ["--from", origin, "notes-mcp"] if origin else ["notes-mcp"]
    return ["run", "--spec", origin, "notes-mcp"] if origin else ["run", "notes-mcp"]


def _origin() -> str | None:
    """What was installed, where it did not come from an index by name (PEP 610, `direct_url.json`)."""
    from importlib.metadata import distribution

    text = distribution("notes-mcp").read_text("direct_url.json")
    return origin(json.loads(text)) if text else None


def origin(said: Mapping[str, Any]) -> str:
    """A requirement that installs the same again, from what PEP 610 keeps."""
    url = str(said["url"])
    if "vcs_info" in said:
        revision = said["vcs_info"].get("requested_revision")
        return f"{said['vcs_info']['vcs']}+{url}" + (f"@{revision}" if revision else "")
    return url2pathname(urlsplit(url).path) if url.startswith("file:") else f"notes-mcp @ {url}"


def failure(command: list[str], environ: Mapping[str, str] = os.environ) -> str | None:
    """Starts the command as a client would, for its version. None when it works, else what was seen."""
    path = os.path.join(environ.get("SYSTEMROOT", ""), "System32") if sys.platform == "win32" else "/usr/bin:/bin"
    kept = {name: environ[name] for name in KEPT if name in environ} | {"PATH": path}
    top = Path(sys.executable).anchor
    try:
        tried = subprocess.run(
            [*command, "--version"], env=kept, cwd=top, capture_output=True, timeout=TRY_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = " ".join((tried.stdout if tried.returncode == 0 else tried.stderr).decode(errors="replace").split())
    return None if said == f"notes-mcp {__version__}" else said[-300:] or f"exit code {tried.returncode}"
