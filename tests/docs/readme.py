"""A README taken apart: its blocks of code, its tables, and the examples of calls with what they answer."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
READMES = ("README.md", "README.zh-CN.md")
REST = "…"


@dataclass(frozen=True)
class Example:
    """One call as the README shows it; `answer` holds `…` where something else may stand."""

    tool: str
    arguments: dict[str, Any]
    answer: Any


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(name: str, language: str) -> list[str]:
    """The fenced blocks of a language ("" for none), without their fences."""
    return [body for kind, body in re.findall(r"^```(\w*)\n(.*?)^```$", text(name), re.S | re.M) if kind == language]


def examples(name: str) -> list[Example]:
    found = []
    for block in blocks(name, "text"):
        for call, answer in re.findall(r"^(\w+ \{.*\})\n→ (.*)$", block, re.M):
            tool, _, arguments = call.partition(" ")
            found.append(Example(tool, json.loads(arguments), json.loads(answer)))
    return found


def rows(name: str, first_cell: str) -> list[str]:
    """The first cells of the table whose first cells match the pattern, in order."""
    return re.findall(rf"^\| ({first_cell}) \|", text(name), re.M)


def holds(shown: Any, real: Any) -> bool:
    """Whether `real` is what was shown: objects may hold more; `…` is anything, at a list's end at least one more."""
    if shown == REST:
        return True
    if isinstance(shown, dict):
        return isinstance(real, dict) and all(key in real and holds(shown[key], real[key]) for key in shown)
    if isinstance(shown, list):
        if not isinstance(real, list):
            return False
        head, open_end = (shown[:-1], True) if shown and shown[-1] == REST else (shown, False)
        fits = len(real) >= len(head) + 1 if open_end else len(real) == len(head)
        return fits and all(map(holds, head, real))
    return bool(shown == real)
