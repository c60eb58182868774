"""A template's text with its placeholders filled in, as Obsidian's core plugins do it. Pure.

`{{title}}`, `{{date}}`, `{{time}}`, the last two with a format of Moment.js after a colon, else that of the
settings, and our own `{{content}}`. What is filled in is literal. Two front matters become one block.
"""

import re
from datetime import datetime

from notes_mcp.notes.markup import markdown
from notes_mcp.notes.templates import Templates
from notes_mcp.notes.text import Text
from notes_mcp.tools import _fields
from notes_mcp.tools._dates import stamp

_PLACEHOLDER = re.compile(r"\{\{\s*(title|date|time|content)\s*(?::([^{}]*))?\}\}", re.IGNORECASE)


def filled(template: str, title: str, now: datetime, formats: Templates, content: str = "") -> str:
    """The text of a new note; `content` goes where `{{content}}` is, else to the end.

    Raises InvalidRequestError where both have front matter and the template's does not parse.
    """
    base = Text.decode(template.encode())
    content = base.adapt(content)
    front = markdown.front_matter(content.encode())
    own = _fields.values(content) if front else {}
    body = content.encode()[front[1] :].decode() if front and own else content
    values = {"title": title, "content": body}
    usual = {"date": formats.date_format, "time": formats.time_format}
    used = False

    def fill(found: re.Match[str]) -> str:
        nonlocal used
        kind = found[1].lower()
        used = used or kind == "content"
        return stamp(now, found[2] or usual[kind]) if kind in usual else values[kind]

    text = _PLACEHOLDER.sub(fill, template)
    if body and not used:
        gap = "" if not text or text.endswith(("\n", "\r")) else base.newline
        text = text + gap + body
    return _fields.with_properties(text, own) if own else text
