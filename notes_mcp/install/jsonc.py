"""JSON with comments and trailing commas -> values with their spans in the text. Pure.

Follows RFC 8259, and beyond it takes what VS Code and Zed take in their settings: `//` and `/* */`
comments, and a comma after the last item. Keeps where every member of every object stands, so that
`jsonedit` can change one and leave the rest byte for byte.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from notes_mcp.install.unfit import Unfit

DEEPEST = 200
"""Levels of nesting. No config needs a tenth of it, and the stack holds it."""

BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*+", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"')
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_WORD = re.compile(r"\w+")
_WORDS = {"true": True, "false": False, "null": None}


@dataclass(slots=True)
class Node:
    """One value: its half-open span in characters, what it says, and an object's members in order."""

    start: int
    end: int
    value: Any
    members: list["Member"] = field(default_factory=list)


@dataclass(slots=True)
class Member:
    """`"key": value` in an object. `start` is the key's quote, `comma` the comma after it, where there is one."""

    key: str
    start: int
    node: Node
    comma: int | None = None


def scan(text: str) -> Node | None:
    """The one value of `text`; None when there are only blanks and comments. Raises Unfit where it is no JSON."""
    scanner = _Scanner(text)
    scanner.blank()
    if scanner.at == len(text):
        return None
    node = scanner.value(0)
    scanner.blank()
    if scanner.at < len(text):
        raise scanner.unfit("something follows after the end")
    return node


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def unfit(self, reason: str) -> Unfit:
        return Unfit.at(self.text, self.at, reason)

    def blank(self) -> None:
        found = BLANK.match(self.text, self.at)
        assert found  # it matches the empty text
        self.at = found.end()
        if self.text.startswith("/*", self.at):
            raise self.unfit("a comment that never ends")

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def value(self, depth: int) -> Node:
        start = self.at
        if depth > DEEPEST:
            raise self.unfit("nested too deeply")
        match self.peek():
            case "{":
                return self.object(depth)
            case "[":
                return self.array(depth)
            case '"':
                text = self.string()
                return Node(start, self.at, text)
        if number := _NUMBER.match(self.text, start):
            self.at = number.end()
            return Node(start, self.at, float(number.group()))
        word = _WORD.match(self.text, start)
        if word is None or word.group() not in _WORDS:
            raise self.unfit("a value is missing" if word is None else f"{word.group()[:40]} is no value of JSON")
        self.at = word.end()
        return Node(start, self.at, _WORDS[word.group()])

    def string(self) -> str:
        found = _STRING.match(self.text, self.at)
        if found is None:
            raise self.unfit("a text that never ends, or has a character or an escape that JSON does not allow")
        self.at = found.end()
        said: str = json.loads(found.group())
        return said

    def object(self, depth: int) -> Node:
        node = Node(self.at, self.at, {})
        self.at += 1
        self.blank()
        while self.peek() != "}":
            if self.peek() != '"':
                raise self.unfit('a "key" or } is missing')
            start = self.at
            key = self.string()
            self.blank()
            if self.peek() != ":":
                raise self.unfit("a colon is missing")
            self.at += 1
            self.blank()
            member = Member(key, start, self.value(depth + 1))
            node.members.append(member)
            node.value[key] = member.node.value
            member.comma = self.separator("}")
        self.at += 1
        node.end = self.at
        return node

    def array(self, depth: int) -> Node:
        node = Node(self.at, self.at, [])
        self.at += 1
        self.blank()
        while self.peek() != "]":
            node.value.append(self.value(depth + 1).value)
            self.separator("]")
        self.at += 1
        node.end = self.at
        return node

    def separator(self, closer: str) -> int | None:
        """Past the comma after an item, if there is one; at the closer otherwise."""
        self.blank()
        if self.peek() == ",":
            comma = self.at
            self.at += 1
            self.blank()
            return comma
        if self.peek() != closer:
            raise self.unfit(f"a comma or {closer} is missing")
        return None
