"""Tools of the Node world, fetched once into the user's cache: skipped, with the reason, where there is no Node."""

import os
import shutil
import subprocess
from pathlib import Path

import platformdirs
import pytest


@pytest.fixture(scope="session")
def node_tool():
    """(package@version, program) -> the command line that runs it."""

    def command(package, program):
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("npm is not installed")
        home = Path(platformdirs.user_cache_dir("notes-mcp-tests")) / package.replace("/", "+")
        runner = home / "node_modules" / ".bin" / (program + (".cmd" if os.name == "nt" else ""))
        if not runner.exists():
            home.mkdir(parents=True, exist_ok=True)
            flags = ["--prefix", str(home), "--no-audit", "--no-fund", "--silent"]
            said = subprocess.run([npm, "install", *flags, package], capture_output=True, text=True)
            if said.returncode != 0:
                pytest.skip(f"npm could not install {package}: {said.stderr.strip()[:200]}")
        return [str(runner)]

    return command
