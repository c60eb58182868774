"""Clients that people use, each in its own environment, against a real process: everything a session is made of.

A driver (`drivers/`) lets its client do the same in its own words, and prints one JSON report: what it listed to the
last page, read, found, made, completed, was told of and cancelled. Every line between them is judged by
`wire_oracle`; the log ends with exit code 0 only if the server was gone before the client lost patience.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from client_cases import notes_folder
from installed import CLIENTS, DRIVERS, NotHereError, inspector, install_all
from live_server import COMMAND
from wire_oracle import CANCELLED, judge

from notes_mcp.tools import _catalog

TEE = Path(__file__).parents[1] / "tee.py"
DEADLINE_S = 240
NOTE, READ, WATCHED = "MCP学习笔记.md", "Projects/计划.md", "Inbox.md"
MODES = [
    ("mcp 1.x", "legacy"),
    ("fastmcp", "legacy"),
    ("fastmcp", "auto"),
    ("typescript 1.x", "1.x"),
    ("typescript 2.x", "legacy"),
    ("typescript 2.x", "auto"),
    ("inspector", "legacy"),
    ("inspector", "auto"),
]
"""Client, and what it is told to do about the two eras."""

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the folder itself cannot be locked there")


@pytest.fixture(scope="session")
def clients():
    return install_all()


def text(path):
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "mode"), MODES, ids=lambda value: value.replace(" ", "_"))
def test_a_real_client_does_everything_and_complains_of_nothing(clients, name, mode, tmp_path):
    if isinstance(clients[name], NotHereError):
        pytest.skip(f"{name}: {clients[name]}")
    folder = notes_folder(tmp_path / "notes")
    before = {path.relative_to(folder).as_posix(): text(path) for path in (folder / NOTE, folder / READ)}
    report = driven(clients[name], mode, folder, tmp_path)

    assert report["server"] == "notes-mcp"
    assert report["tools"] == sorted(_catalog.load("all"))
    assert report["templates"] == ["notes:///{+path}"]
    assert set(report["prompts"]) >= {"summarize_note", "weekly_review", "code_review", "周报"}
    assert len(report["resources"]) == len(set(report["resources"])) > 250
    assert {uri(NOTE), uri(READ), uri("Many/0249.md")} <= set(report["resources"])
    assert report["resource"] == before[READ]
    assert report["embedded"] == [before[NOTE]]
    assert report["note"] == before[NOTE]
    assert report["found"][0] == "Recipes/Sourdough.md"
    assert report["created"] == "Made/by 客户端.md"
    assert "by a real client" in text(folder / report["created"])
    assert report["completed"][0] == READ
    assert report["updated"] == uri(WATCHED)
    assert text(folder / WATCHED) == "saved by an editor\n"

    said = conversation(tmp_path)
    held = judge(said)
    assert held.revision == (None if mode == "auto" else "2025-11-25")
    if name == "inspector":
        return  # it has no word for cancelling
    assert report["cancelled"] is True
    frames = [(line[:1], json.loads(line[1:])) for line in said[:-1]]
    ids = [frame["params"]["requestId"] for _, frame in frames if frame.get("method") == CANCELLED]
    titled = [frame["id"] for mark, frame in frames if mark == b">" and title(frame) == "Cancelled"]
    assert titled and set(titled) <= set(ids)
    assert not set(titled) & {frame.get("id") for mark, frame in frames if mark == b"<"}


def driven(driver, mode, folder, kept):
    """What the driver reports. Nothing is said on stderr, by the client or by the server."""
    cache = str(kept / "cache")
    log = str(kept / "{pid}.log")
    task = {
        "mode": mode,
        "command": [sys.executable, str(TEE), log, *COMMAND, "--cache-dir", cache, str(folder)],
        "client": inspector(),
        "holder": [sys.executable, str(DRIVERS / "hold_lock.py"), str(folder)],
        "folder": str(folder),
        "read": uri(READ),
        "note": NOTE,
        "query": "sourdough",
        "title": "Made/by 客户端",
        "typed": "计划",
        "watch": uri(WATCHED),
        "watched": WATCHED,
    }
    done = subprocess.run([*driver, json.dumps(task)], capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert done.stderr == ""
    assert done.returncode == 0
    return json.loads(done.stdout)


def conversation(kept):
    """The lines of the session. A client that looks first starts a process for that alone, and ends it by a signal."""
    logs = [log.read_bytes().splitlines(keepends=True) for log in kept.glob("*.log")]
    (whole,) = [lines for lines in logs if any(b'"tools/list"' in line for line in lines)]
    return whole


def title(frame):
    return frame.get("params", {}).get("arguments", {}).get("title")


def uri(path):
    return f"notes:///{quote(path)}"


def test_each_client_has_a_test():
    assert {name for name, _ in MODES} == set(CLIENTS)
