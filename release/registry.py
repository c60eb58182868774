"""`server.json` for the MCP registry: where the bundle of this version lies and what it is.

Follows the registry's schema of 2025-12-11. The bundle is named by its URL and SHA-256, never by a name in a package
index: a name can belong to somebody else, a hash cannot.
"""

import hashlib
from pathlib import Path
from typing import Any

from release.about import DESCRIPTION, Project

SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"


def server(project: Project, *, namespace: str, bundle: Path, url: str) -> dict[str, Any]:
    """The entry of `project` under `namespace` (reverse DNS, e.g. "io.github.owner"), its `bundle` served at `url`."""
    return {
        "$schema": SCHEMA,
        "name": f"{namespace}/{project.name}",
        "title": "Notes",
        "description": DESCRIPTION,
        "version": project.version,
        "packages": [
            {
                "registryType": "mcpb",
                "identifier": url,
                "version": project.version,
                "fileSha256": hashlib.sha256(bundle.read_bytes()).hexdigest(),
                "transport": {"type": "stdio"},
                "packageArguments": [
                    {
                        "type": "positional",
                        "valueHint": "folder",
                        "description": "A folder of notes to serve; several may be named.",
                        "format": "filepath",
                        "isRequired": True,
                        "isRepeated": True,
                    }
                ],
                "environmentVariables": [
                    {
                        "name": "NOTES_MCP_READ_ONLY",
                        "description": "Offer the reading tools only.",
                        "format": "boolean",
                        "default": "false",
                    }
                ],
            }
        ],
    }
