"""Config files as people have them, for each client, and the entry that is put into them."""

ENTRY = {"command": "/home/me/.local/bin/notes-mcp", "args": ["--read-only", "/home/me/我的 “笔记”"]}
WINDOWS_ENTRY = {
    "command": "C:\\Users\\李\\AppData\\Roaming\\uv\\tools\\notes-mcp\\Scripts\\notes-mcp.exe",
    "args": ['C:\\Users\\李\\My "Notes"', "\\\\server\\share\\ノート"],
}

CLAUDE_DESKTOP = """\
{
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": [
        "-y",
        "@modelcontextprotocol/server-filesystem",
        "/Users/me/Desktop"
      ]
    }
  },
  "preferences": {
    "menuBarEnabled": false
  }
}
"""

CLAUDE_CODE = """\
{
  "numStartups": 41,
  "installMethod": "unknown",
  "autoUpdates": true,
  "tipsHistory": {
    "new-user-warmup": 1
  },
  "projects": {
    "/home/me/work": {
      "allowedTools": [],
      "mcpServers": {
        "notes": {"command": "elsewhere"}
      },
      "hasTrustDialogAccepted": true
    }
  },
  "firstStartTime": "2025-06-28T11:38:57.179Z",
  "mcpServers": {},
  "cachedChangelog": "a \\"quoted\\" } line, // no comment",
  "size": 1.0e-3
}"""

CURSOR = """\
{"mcpServers": {"github": {"url": "https://example.com/mcp/", "headers": {"Authorization": "Bearer x"}}}}
"""

VSCODE = """\
{
\t"inputs": [
\t\t{ "type": "promptString", "id": "key", "password": true },
\t],
\t// servers for every workspace
\t"servers": {
\t\t"playwright": {
\t\t\t"type": "stdio",
\t\t\t"command": "npx", // needs node
\t\t\t"args": ["-y", "@playwright/mcp@latest"],
\t\t}, // the browser
\t\t/* "old": {
\t\t\t"command": "old"
\t\t}, */
\t},
}
"""

WINDSURF = '{\n    "mcpServers": {\n    }\n}\n'

ZED = """\
// Zed settings
//
// For information on how to configure Zed, see the Zed
// documentation: https://zed.dev/docs/configuring-zed
{
  "ui_font_size": 16,
  "theme": {
    "mode": "system",
    "light": "One Light",
    "dark": "One Dark",
  },
  // 编辑器
  "vim_mode": true
  // "vim_mode": false,
}
"""

CODEX = """\
model = "gpt-5"   # the default
approval_policy = "on-request"

[projects."/home/me/my work"]
trust_level = "trusted"

[mcp_servers.context7]
command = "npx"
args = [
    "-y",
    "@upstash/context7-mcp",  # [docs]
]

# a key for the tracker
[mcp_servers.tracker.env]
TOKEN = '''a "token" # with [brackets]
[mcp_servers.notes]
'''

[tui]
notifications = true
"""

GEMINI = """\
{
  "selectedAuthType": "gemini-api-key", "theme": "Dracula",
  "mcpServers": { "git": { "command": "uvx", "args": ["mcp-server-git"] } }
}
"""

REAL = {
    "claude-desktop": CLAUDE_DESKTOP,
    "claude-code": CLAUDE_CODE,
    "cursor": CURSOR,
    "vscode": VSCODE,
    "windsurf": WINDSURF,
    "zed": ZED,
    "codex": CODEX,
    "gemini-cli": GEMINI,
}
