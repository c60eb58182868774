"""The MCP methods that both eras share. Knows no session, version, byte or thread."""
