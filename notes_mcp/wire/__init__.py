"""JSON-RPC 2.0 over a byte stream. Knows no MCP and no notes."""
