"""Lines of a client that are no requests: those that must be answered with the id null, and those that must not be."""

NONSENSE = (
    b"{",
    b"nothing",
    b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
    b"\xff\xfe",
    b"[" * 300,
    b"7",
)
"""Lines that are answered with the id null."""
UNANSWERED = (
    {"jsonrpc": "2.0", "id": 3, "result": {}},
    {"jsonrpc": "2.0", "id": "nobody", "error": {"code": 1, "message": "asked for nothing"}},
    {"jsonrpc": "2.0", "method": "notifications/unheard_of", "params": {"a": [1]}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "nobody"}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": None}},
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}},
)
