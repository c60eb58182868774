"""A note, and one-line edits of it, for the tests of the edit engine."""

import pytest

from notes_mcp.errors import InvalidRequestError
from notes_mcp.notes.edits.edits import Edit, apply

NOTE = """\
---
title: "A: b"   # why
tags: [x,  y]
date: 2024-01-02
version: 1.10
---

# Top

intro

## Log

- one

### People

- Ann

## Next

last
"""


def edited(data, *edits, path="n.md"):
    """Text in, text out; bytes in, bytes out."""
    done = apply(path, data.encode() if isinstance(data, str) else data, [Edit(**edit) for edit in edits])
    return done.data.decode() if isinstance(data, str) else done.data


def replace(old_text, text, **more):
    return {"op": "replace", "old_text": old_text, "text": text, **more}


def at(op, section, text=None):
    return {"op": op, "section": section, "text": text}


def refused(data, *edits, path="n.md", error=InvalidRequestError):
    with pytest.raises(error) as caught:
        edited(data, *edits, path=path)
    assert "othing was written" in str(caught.value)
    return str(caught.value)
