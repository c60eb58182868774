"""Clients that cannot live in our own environment: each is installed once, in a folder below the user's cache.

`python tests/client/real/installed.py` installs them all beforehand. Exact versions; where one cannot be
installed, or what it runs on is not here, there is a reason instead, and its tests are skipped with that.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock
from platformdirs import user_cache_path

DRIVERS = Path(__file__).with_name("drivers")
MINUTES = 5
NODE_MODULES = Path("node_modules")


class NotHereError(Exception):
    """Why the client cannot be run."""


@dataclass(frozen=True, slots=True)
class Client:
    """`packages` of one registry, name -> version; `driver` is what makes the client work."""

    kind: str  # "pip" or "npm"
    packages: Mapping[str, str]
    driver: str

    def home(self) -> Path:
        """The folder it is installed in; another one for each set of versions."""
        named = json.dumps([self.kind, dict(self.packages), sys.version_info[:2]])
        name = f"{self.driver.partition('.')[0]}-{hashlib.sha256(named.encode()).hexdigest()[:12]}"
        return user_cache_path("notes-mcp-test-clients") / name


CLIENTS = {
    "mcp 1.x": Client("pip", {"mcp": "1.30.0"}, "mcp_1.py"),
    "fastmcp": Client("pip", {"fastmcp": "4.2.3"}, "fastmcp_4.py"),
    "typescript 1.x": Client("npm", {"@modelcontextprotocol/sdk": "1.32.2"}, "typescript.mjs"),
    "typescript 2.x": Client("npm", {"@modelcontextprotocol/client": "2.4.0"}, "typescript.mjs"),
    # It asks for a newer Node.js than many systems have, so it gets one: the package of that name.
    "inspector": Client("npm", {"@modelcontextprotocol/inspector": "2.12.0", "node": "22.23.3"}, "inspector.py"),
}


def install(name: str) -> list[str]:
    """How to start the client's driver. Installs what is not there yet; raises NotHereError if that is not possible."""
    client = CLIENTS[name]
    home = client.home()
    home.mkdir(parents=True, exist_ok=True)
    done = home / "installed"
    with FileLock(home / "lock"):
        if not done.exists():
            _PIP_OR_NPM[client.kind](client, home)
            done.touch()
    driver = DRIVERS / client.driver
    if client.kind == "pip":
        return [str(_python(home)), str(driver)]
    if driver.suffix == ".py":
        return [sys.executable, str(driver)]
    # Node.js looks for packages beside the file that imports them.
    return [_program("node"), shutil.copy(driver, home)]


def inspector() -> list[str]:
    """How `mcpdo` is started."""
    modules = CLIENTS["inspector"].home() / NODE_MODULES
    script = modules / "@modelcontextprotocol" / "inspector" / "clients" / "mcpdo" / "build" / "mcp-bin.js"
    return [str(modules / "node" / "bin" / "node"), str(script)]


def install_all() -> dict[str, list[str] | NotHereError]:
    """All of them at once, since each waits for the network most of the time."""
    with ThreadPoolExecutor() as pool:
        return dict(zip(CLIENTS, pool.map(_install_or_say, CLIENTS), strict=True))


def _install_or_say(name: str) -> list[str] | NotHereError:
    try:
        return install(name)
    except NotHereError as error:
        return error


def _pip(client: Client, home: Path) -> None:
    uv = [sys.executable, "-m", "uv"]  # of the `dev` extra: seconds, where pip takes minutes
    _run([*uv, "venv", "-q", "--clear", "--python", sys.executable, str(home / "venv")])
    wanted = [f"{name}=={version}" for name, version in client.packages.items()]
    _run([*uv, "pip", "install", "-q", "--python", str(_python(home)), *wanted])


def _npm(client: Client, home: Path) -> None:
    npm = _program("npm")
    _program("node")
    manifest = {"private": True, "type": "module", "dependencies": dict(client.packages)}
    (home / "package.json").write_text(json.dumps(manifest), encoding="utf-8")
    shutil.rmtree(home / NODE_MODULES, ignore_errors=True)
    _run([npm, "install", "--no-audit", "--no-fund", "--no-package-lock", "--prefix", str(home)], cwd=home)


_PIP_OR_NPM = {"pip": _pip, "npm": _npm}


def _python(home: Path) -> Path:
    return home / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise NotHereError(f"{name} is not installed on this machine")
    return found


def _run(command: list[str], cwd: Path | None = None) -> None:
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=MINUTES * 60, check=False)
    except subprocess.TimeoutExpired:
        raise NotHereError(f"it was not installed within {MINUTES} minutes") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise NotHereError(f"it could not be installed: {said[-1] if said else done.returncode}")


if __name__ == "__main__":
    for client_name, outcome in install_all().items():
        print(f"{client_name}: {outcome if isinstance(outcome, NotHereError) else 'installed'}")
