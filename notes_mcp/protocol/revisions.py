"""What each older revision does not have yet: results are trimmed to the schema of the revision they go to.

Pure. `SINCE` and `HOLDS` are read off schema/*/schema.ts; features always speak the newest revision.
"""

from collections.abc import Mapping
from typing import Any

from notes_mcp.protocol.values import LEGACY_REVISIONS

NEVER = "never"
ORDER = {revision: place for place, revision in enumerate((*reversed(LEGACY_REVISIONS), NEVER))}

_06, _11 = "2025-06-18", "2025-11-25"
_NAMED = {"title": _06, "_meta": _06, "icons": _11}
_BLOCK = {"_meta": _06}

SINCE: dict[str, dict[str, str]] = {
    "implementation": {"title": _06, "icons": _11, "description": _11, "websiteUrl": _11},
    "capabilities": {"completions": "2025-03-26", "extensions": NEVER},
    "tool": {**_NAMED, "annotations": "2025-03-26", "outputSchema": _06},
    "resource": _NAMED,
    "template": _NAMED,
    "prompt": _NAMED,
    "argument": {"title": _06},
    "contents": _BLOCK,
    "block": _BLOCK,
    "annotations": {"lastModified": _06},
}
"""Kind of object -> field -> the first revision that has it. A field that is not here has always been there."""

HOLDS: dict[str, dict[str, str]] = {
    "initialize": {"serverInfo": "implementation", "capabilities": "capabilities"},
    "tools/list": {"tools": "tool"},
    "tools/call": {"content": "block"},
    "resources/list": {"resources": "resource"},
    "resources/templates/list": {"resourceTemplates": "template"},
    "resources/read": {"contents": "contents"},
    "prompts/list": {"prompts": "prompt"},
    "prompts/get": {"messages": "message"},
    "resource": {"annotations": "annotations"},
    "template": {"annotations": "annotations"},
    "prompt": {"arguments": "argument"},
    "message": {"content": "block"},
    "block": {"annotations": "annotations", "resource": "contents"},
}
"""Method or kind of object -> field -> the kind of object, or of each object of the array, that is in it."""

BLOCKS = {"audio": "2025-03-26", "resource_link": _06}
"""Type of content block -> the first revision that has it."""


def has(revision: str, since: str) -> bool:
    """Whether `revision` is `since` or newer."""
    return ORDER[revision] >= ORDER[since]


def trim(method: str, result: dict[str, Any], revision: str) -> dict[str, Any]:
    """A copy of a bare result with only what `revision` knows; content it cannot hold is told in a text block."""
    trimmed: dict[str, Any] = _trim(method, result, revision)
    if method == "tools/call" and not (has(revision, _06) and isinstance(trimmed.get("structuredContent", {}), dict)):
        trimmed.pop("structuredContent", None)
    if method == "tools/list":
        for tool in trimmed["tools"]:
            if tool.get("outputSchema", {}).get("type") != "object":
                tool.pop("outputSchema", None)
    return trimmed


def _trim(kind: str, value: Any, revision: str) -> Any:
    if isinstance(value, list):
        return [_trim(kind, item, revision) for item in value]
    if not isinstance(value, Mapping):
        return value
    if kind == "block":
        value = _as_known(value, revision)
    since, holds = SINCE.get(kind, {}), HOLDS.get(kind, {})
    return {
        name: _trim(holds[name], held, revision) if name in holds else held
        for name, held in value.items()
        if name not in since or has(revision, since[name])
    }


def _as_known(block: Mapping[str, Any], revision: str) -> Mapping[str, Any]:
    since = BLOCKS.get(block.get("type", ""))
    if since is None or has(revision, since):
        return block
    if block["type"] == "audio":
        told = f"[audio, {block.get('mimeType')}: this client's protocol revision cannot take sound]"
    else:
        told = f"{block.get('title') or block.get('name')}: {block.get('uri')}"
    kept = {"annotations": block["annotations"]} if "annotations" in block else {}
    return {"type": "text", "text": told, **kept}
