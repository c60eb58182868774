"""MCP semantics of both eras. Knows no files, SQL or tools; writes no bytes."""
