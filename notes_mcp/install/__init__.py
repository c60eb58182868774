"""`install` and `uninstall`: one entry in a client's own config file, and every other byte of it as it was.

`clients` knows where each client keeps its config and in which form, `entry` what starts this server,
`jsonc`/`jsonedit` and `tomlscan`/`tomledit` change text by spans, `editing` proves each change before
it counts, `configfile` looks and writes, `showing` asks, `installing` ties them. Knows no notes and no MCP.
"""
