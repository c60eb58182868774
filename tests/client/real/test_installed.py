"""A client that cannot be installed here is told of with the reason, and never half installed."""

import shutil
import sys

import installed
import pytest
from installed import NotHereError


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setattr(installed, "user_cache_path", lambda name: tmp_path / name)
    return tmp_path


def test_without_its_runtime_a_client_is_not_here_and_the_reason_names_what_is_missing(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    for name in ("typescript 1.x", "typescript 2.x", "inspector"):
        with pytest.raises(NotHereError, match="npm is not installed"):
            installed.install(name)


def test_what_fails_gives_its_last_line_as_the_reason_and_is_tried_again(monkeypatch):
    failing = [sys.executable, "-c", "import sys; sys.exit('trying\\nno network')"]
    monkeypatch.setattr(installed, "_PIP_OR_NPM", {"pip": lambda client, home: installed._run(failing)})
    for _ in range(2):
        with pytest.raises(NotHereError, match="could not be installed: no network"):
            installed.install("mcp 1.x")


def test_what_takes_too_long_is_not_here(monkeypatch):
    monkeypatch.setattr(installed, "MINUTES", 0.001)
    with pytest.raises(NotHereError, match="was not installed within"):
        installed._run([sys.executable, "-c", "import threading; threading.Event().wait()"])


def test_what_is_installed_is_not_installed_again(monkeypatch):
    times = []
    monkeypatch.setattr(installed, "_PIP_OR_NPM", {"pip": lambda client, home: times.append(home)})
    assert installed.install("fastmcp") == installed.install("fastmcp")
    assert len(times) == 1


def test_another_version_is_another_folder():
    homes = {client.home() for client in installed.CLIENTS.values()}
    homes.add(installed.Client("pip", {"mcp": "1.0.0"}, "mcp_1.py").home())
    assert len(homes) == len(installed.CLIENTS) + 1
