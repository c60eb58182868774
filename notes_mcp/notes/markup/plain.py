"""Title and headings of notes that are not Markdown: Org and reStructuredText by their own simple rules.

Only what is safe to tell line by line: Org headlines and `#+title:` (orgmode.org/org.html, "Headlines"),
reStructuredText titles with a line under or around them (docutils spec, "Sections"). Plain text has none.
"""

import re
from collections.abc import Iterator

_ORG_TITLE = re.compile(r"#\+title:[ \t]*(\S.*)", re.IGNORECASE)
_ORG_HEADLINE = re.compile(r"(\*+)[ \t]+(\S.*)")
_ORG_BLOCK = re.compile(r"[ \t]*#\+(begin|end)_(\S+)", re.IGNORECASE)
_ORG_KEYWORD = re.compile(r"(?:TODO|DONE)[ \t]+(?=\S)")
_ORG_TAGS = re.compile(r"[ \t]+:(?:[\w@#%]+:)+[ \t]*\Z")
_RST_LINE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*\Z")


def outline(extension: str, text: str) -> tuple[str, tuple[str, ...]]:
    """`(title or "", headings)` of a text; `extension` is ".org", ".rst" or any other, in lower case."""
    if extension == ".org":
        return _org(text)
    if extension == ".rst":
        headings = tuple(_rst(text.splitlines()))
        return (headings[0] if headings else ""), headings
    return "", ()


def _org(text: str) -> tuple[str, tuple[str, ...]]:
    title, block = "", ""
    headings: list[str] = []
    for line in text.splitlines():
        fence = _ORG_BLOCK.match(line)
        if fence:
            opens, name = fence[1].lower() == "begin", fence[2].lower()
            block = name if opens and not block else "" if not opens and name == block else block
        elif not block and (named := _ORG_TITLE.match(line)):
            title = title or named[1].strip()
        elif not block and (headline := _ORG_HEADLINE.match(line)):
            words = _ORG_TAGS.sub("", _ORG_KEYWORD.sub("", headline[2], count=1)).strip()
            headings.append(words)
    return title or (headings[0] if headings else ""), tuple(headings)


def _rst(lines: list[str]) -> Iterator[str]:
    for at in range(1, len(lines)):
        words = lines[at - 1].strip()
        if not words or _RST_LINE.match(lines[at]) is None or _RST_LINE.match(lines[at - 1]) or len(words) > 300:
            continue
        line = lines[at].rstrip()
        over = lines[at - 2].rstrip() if at > 1 else ""
        framed = over == line and _RST_LINE.match(over) is not None
        stands_alone = framed or (not over and not lines[at - 1][:1].isspace())
        # East Asian characters are two columns wide, so the line may be up to twice as long; never shorter.
        if stands_alone and len(line) >= len(words):
            yield words
