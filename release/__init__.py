"""What goes out of the house: wheel, sdist, MCP bundle (`.mcpb`) and the registry's `server.json`.

Development only: nothing here is installed with the server, and nothing in `notes_mcp` knows of it.
The same tree gives the same bytes, whenever and wherever it is built.
"""
