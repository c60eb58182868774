"""notes-mcp: an MCP server over stdio for a local folder of notes."""

__version__ = "0.1.0"
