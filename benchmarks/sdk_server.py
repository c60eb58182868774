"""The peer: a minimal notes server on the official Python SDK, one tool that reads one file."""

import sys
from pathlib import Path

from mcp.server import MCPServer

root = Path(sys.argv[1])
server = MCPServer("minimal")


@server.tool()
def read_note(path: str) -> str:
    """Read one note."""
    return (root / path).read_text(encoding="utf-8")


if __name__ == "__main__":
    server.run("stdio")
