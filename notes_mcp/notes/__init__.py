"""The domain: a folder of notes. Knows no MCP, no JSON-RPC and no pydantic."""
