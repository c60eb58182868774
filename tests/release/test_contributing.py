"""CONTRIBUTING.md: the tool it shows is a whole tool, and the files it names are there."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "reader", "version": "1"}}


def test_the_tool_of_the_guide_works_as_the_one_file_it_is(tmp_path):
    [source] = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    house = tmp_path / "house"
    shutil.copytree(ROOT / "notes_mcp", house / "notes_mcp", ignore=shutil.ignore_patterns("__pycache__"))
    (house / "notes_mcp" / "tools" / "count_words.py").write_text(source, encoding="utf-8")
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("one two 三\n", encoding="utf-8")
    asked = [
        {"id": 0, "method": "initialize", "params": HELLO},
        {"id": 1, "method": "tools/list"},
        {"id": 2, "method": "tools/call", "params": {"name": "count_words", "arguments": {"note": "a"}}},
    ]
    said = subprocess.run(
        [sys.executable, "-m", "notes_mcp", f"--cache-dir={tmp_path / 'cache'}", str(notes)],
        input="".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in asked).encode(),
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(house)},
        cwd=house,
        check=True,
    )
    answers = {message["id"]: message["result"] for message in map(json.loads, said.stdout.splitlines())}
    assert "count_words" in [listed["name"] for listed in answers[1]["tools"]]
    assert answers[2]["structuredContent"] == {"path": "a.md", "words": 3}


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`((?:notes_mcp|tests|\.ci|\.github)/[\w./-]*)`", TEXT))))
def test_every_file_the_guide_names_is_there(name):
    assert (ROOT / name).exists()


def test_the_checks_of_the_guide_are_those_that_are_run():
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for check in (".venv/bin/ruff check .", ".venv/bin/ruff format --check .", ".venv/bin/mypy"):
        assert check in run and check in TEXT
