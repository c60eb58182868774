"""Finds the tools of this package: one file, one tool, named alike. Owns the order, nothing else.

Importing this file is cheap; `load` imports the tools, and with them pydantic. Files whose names start
with "_" hold no tool. Nothing registers itself: a tool is there because its file is there.
"""

import importlib
import pkgutil
from typing import TYPE_CHECKING

import notes_mcp.tools as package
from notes_mcp.settings import CORE_TOOLS

if TYPE_CHECKING:
    from notes_mcp.tools._tool import Tool


def names() -> tuple[str, ...]:
    """The names of all tools there are, sorted; imports none of them."""
    found = (module.name for module in pkgutil.iter_modules(package.__path__))
    return tuple(sorted(name for name in found if not name.startswith("_")))


def chosen(selection: str) -> tuple[str, ...]:
    """The names that `--tools SELECTION` ("all", "core", "a,b") stands for, sorted.

    Raises ValueError for a name that is no tool.
    """
    known = names()
    if selection in ("", "all"):
        return known
    if selection == "core":
        return tuple(name for name in known if name in CORE_TOOLS)
    wanted = {name.strip() for name in selection.split(",") if name.strip()}
    unknown = sorted(wanted - set(known))
    if unknown:
        raise ValueError(f"no such tool: {', '.join(unknown)}; there are {', '.join(known)}")
    return tuple(sorted(wanted))


def load(selection: str = "all") -> dict[str, "Tool"]:
    """The chosen tools by name, in the order tools/list shows them."""
    tools = {}
    for name in chosen(selection):
        module = importlib.import_module(f"{package.__name__}.{name}")
        tools[name] = getattr(module, name)
    return tools
