"""A folder of notes of every kind, and for each tool and prompt argument something real to ask of it."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from live_server import make_notes

SAMPLE = Path(__file__).parents[2] / "sample_notes"

Holds = Callable[[Any, str, Path], bool]


def notes_folder(folder: Path) -> Path:
    """The sample notes, 250 more in `Many/`, and one that is not UTF-8."""
    shutil.copytree(SAMPLE, folder)
    make_notes(folder / "Many", 250)
    (folder / "bad.md").write_bytes(b"caf\xe9\n")
    return folder


def _text(path: Path) -> str:
    return path.read_text("utf-8")


TOOLS: Mapping[str, tuple[Mapping[str, Any], Holds]] = {
    "add_thoughts": (
        {"thoughts": "Ein Gedanke 想法", "path": "Inbox.md"},
        lambda data, text, folder: "Ein Gedanke 想法" in _text(folder / "Inbox.md"),
    ),
    "create_note": (
        {"title": "New/学习", "content": "Hello", "properties": {"tags": ["a"]}},
        lambda data, text, folder: "Hello" in _text(folder / "New" / "学习.md"),
    ),
    "delete_note": (
        {"path": "Many/0249.md"},
        lambda data, text, folder: not (folder / "Many" / "0249.md").exists(),
    ),
    "edit_note": (
        {"path": "Home", "edits": [{"op": "append", "text": "The end 完"}]},
        lambda data, text, folder: "The end 完" in _text(folder / "Home.md"),
    ),
    "get_links": (
        {"kind": "backlinks", "path": "Projects/Plan.md"},
        lambda data, text, folder: "Home.md" in text,
    ),
    "list_notes": (
        {"folder": "Recipes", "limit": 3},
        lambda data, text, folder: data is None or len(data["notes"]) == 3,
    ),
    "list_tags": ({"prefix": "recipe"}, lambda data, text, folder: '"recipe/sweet"' in text),
    "move_note": (
        {"path": "Many/0248.md", "new_path": "Moved/0248.md"},
        lambda data, text, folder: _text(folder / "Moved" / "0248.md").startswith("# Note 0248"),
    ),
    "notes_info": ({}, lambda data, text, folder: data is None or data["folders"][0]["notes"] > 250),
    "read_note": (
        {"path": "MCP学习笔记"},
        lambda data, text, folder: data is None and _text(folder / "MCP学习笔记.md") in text,
    ),
    "set_properties": (
        {"path": "Reading List.md", "set": {"reviewed": True}},
        lambda data, text, folder: "reviewed: true" in _text(folder / "Reading List.md"),
    ),
    "search_notes": ({"query": "sourdough"}, lambda data, text, folder: "Recipes/Sourdough.md" in text),
    "undo_change": ({"dry_run": True}, lambda data, text, folder: "restored" in text),
    "update_tags": (
        {"action": "add", "tags": ["seen"], "paths": ["Many/0247.md"]},
        lambda data, text, folder: "seen" in _text(folder / "Many" / "0247.md"),
    ),
}
"""Tool -> arguments, and what must hold of (structured content if the revision has it, joined text, folder)."""

PROMPT_VALUES = {
    "path": "Projects/Plan.md",
    "topic": "bread",
    "folder": "Projects",
    "date": "2026-07-15",
    "week": "2026-W29",
}
