"""`python -m notes_mcp`: the same as the `notes-mcp` command."""

from notes_mcp.cli import main

raise SystemExit(main())
