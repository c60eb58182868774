"""The MCP bundle: a zip of `manifest.json` and the package, for clients that install servers with one click.

Follows the MCPB manifest 0.4, server type `uv`: the client's own uv makes the environment from `pyproject.toml`, so
one bundle serves every platform although some dependencies are compiled. Entries are sorted and carry one fixed time
and mode, so that the same tree gives the same bytes.
"""

import json
import zipfile
from pathlib import Path
from typing import Any

from release.about import DESCRIPTION, Project

# What the bundle holds besides the manifest: what hatchling needs to build the package, and the package.
FILES = ("LICENSE", "README.md", "pyproject.toml")
PACKAGE = "notes_mcp"
_EPOCH = (2020, 2, 2, 0, 0, 0)  # as hatchling's wheels
_FILE_MODE = 0o100644 << 16


def manifest(project: Project, tools: dict[str, str]) -> dict[str, Any]:
    """The manifest of `project`; `tools` are name -> description, as `tools/list` tells them."""
    return {
        "manifest_version": "0.4",
        "name": project.name,
        "display_name": "Notes",
        "version": project.version,
        "description": DESCRIPTION,
        "long_description": project.description,
        "author": {"name": project.author},
        "license": project.license,
        "keywords": project.keywords,
        "server": {
            "type": "uv",
            "entry_point": f"{PACKAGE}/__main__.py",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--project", "${__dirname}", "--no-dev", "notes-mcp", "${user_config.folders}"],
                "env": {"NOTES_MCP_READ_ONLY": "${user_config.read_only}"},
            },
        },
        "tools": [{"name": name, "description": text} for name, text in sorted(tools.items())],
        "prompts_generated": True,
        "compatibility": {
            "platforms": ["darwin", "linux", "win32"],
            "runtimes": {"python": project.requires_python},
        },
        "user_config": {
            "folders": {
                "type": "directory",
                "title": "Folders of notes",
                "description": "The folders to serve. Nothing outside them is ever read or written.",
                "multiple": True,
                "required": True,
            },
            "read_only": {
                "type": "boolean",
                "title": "Read only",
                "description": "Offer the reading tools only; no note can be changed.",
                "default": False,
            },
        },
    }


def write(root: Path, target: Path, contents: dict[str, Any]) -> Path:
    """Zip `contents` as the manifest, with the package of the tree at `root`, into `target`; returns `target`."""
    package = [path for path in (root / PACKAGE).rglob("*") if path.suffix in (".py", ".typed")]
    sources = [root / name for name in FILES] + package
    entries = {source.relative_to(root).as_posix(): source.read_bytes() for source in sources}
    entries["manifest.json"] = (json.dumps(contents, ensure_ascii=False, indent=2) + "\n").encode()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as bundle:
        for name in sorted(entries):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.external_attr, entry.compress_type, entry.create_system = _FILE_MODE, zipfile.ZIP_DEFLATED, 3
            bundle.writestr(entry, entries[name])
    return target
