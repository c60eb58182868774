"""A small folder of notes, a home and a cache of its own for each test, and a server that is ready."""

import functools
import textwrap

import pytest
from processes import ROOT, environment, request, serving

NOTES = {
    "Plan.md": "# Plan\n\nThe plan is simple.\n",
    "日记/计划.md": "# 计划\n\n止损，潮汐钟。\n",
    "list.txt": "milk\n",
}


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "Notes"
    for path, text in NOTES.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    return folder


@pytest.fixture
def home(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    return home


@pytest.fixture
def start(folder, home):
    """`serving` with this test's folder and home."""
    return functools.partial(serving, folder, home=home)


@pytest.fixture
def server(start):
    """A server that has answered, and whose notes are open."""
    with start() as server:
        assert server.ask(request("ready", "tools/list"))["result"]["tools"]
        yield server


@pytest.fixture
def injected(tmp_path, home):
    """A maker of environments in which Python runs some code before anything else, as site packages can."""

    def inject(code):
        place = tmp_path / "injected"
        place.mkdir()
        (place / "sitecustomize.py").write_text(textwrap.dedent(code), encoding="utf-8")
        return environment(home, PYTHONPATH=f"{place}:{ROOT}")

    return inject
