"""One word of a few, as models write it -> the one that is meant, or an error that names it. Pure.

A word is compared without case and separators. What another tool calls it comes before what it looks
like: "incoming" looks like "outgoing" and means backlinks. What is neither gets no suggestion.
"""

import re
from collections.abc import Sequence

from notes_mcp.errors import InvalidArguments

_ALIKE = 82  # of 100: a slip of the keyboard, and no other word

# What others call it, folded; a choice that the argument does not have is passed over.
_MEANINGS: dict[str, tuple[str, ...]] = {
    "backlinks": ("incoming", "inbound", "in", "inlinks", "linkedfrom", "linkedby", "references", "referencedby"),
    "outgoing": ("outbound", "out", "outlinks", "forward", "forwardlinks", "linksto", "outgoinglinks"),
    "broken": ("dead", "deadlinks", "unresolved", "dangling", "missing", "invalid", "brokenlinks"),
    "orphans": ("orphan", "orphaned", "orphannotes", "isolated", "lonely"),
    "mentions": ("unlinked", "unlinkedmentions", "mentioned", "potential"),
    "modified": (
        "date",
        "mtime",
        "time",
        "updated",
        "lastmodified",
        "modifiedtime",
        "modifieddate",
        "modifiedat",
        "updatedat",
        "recent",
        "recency",
        "newest",
        "latest",
        "lastedited",
    ),
    "path": ("name", "title", "filename", "file", "filepath", "alphabetical", "alpha", "az"),
    "size": ("bytes", "length", "filesize"),
    "relevance": ("score", "rank", "ranking", "best", "bestmatch", "relevancy", "relevant", "match"),
    "words": ("word", "text", "fulltext", "full", "keyword", "keywords", "terms", "fuzzy", "semantic", "hybrid", "fts"),
    "exact": ("substring", "literal", "string", "phrase", "plain", "verbatim", "exactmatch", "contains"),
    "regex": ("regexp", "re", "pattern", "regularexpression", "grep"),
    "content": ("full", "text", "body", "all", "note", "raw", "markdown", "source"),
    "outline": ("headings", "headers", "toc", "structure", "sections", "tableofcontents", "summary", "map"),
    "properties": ("frontmatter", "metadata", "yaml", "fields", "meta"),
    "links": ("outgoing", "outlinks", "wikilinks", "link"),
    "replace": ("substitute", "strreplace", "findreplace", "findandreplace", "replacetext", "update", "change"),
    "append": ("appendtext", "addtoend", "end", "bottom"),
    "prepend": ("prependtext", "addtostart", "start", "top"),
    "insert_before": ("before", "above", "insertabove"),
    "insert_after": ("after", "below", "insertbelow", "insertunder"),
    "replace_section": ("updatesection", "setsection", "rewritesection", "editsection"),
    "delete_section": ("delete", "remove", "removesection", "dropsection", "cutsection"),
    "add": ("append", "insert", "create", "attach", "put", "set", "apply"),
    "remove": ("delete", "del", "detach", "drop", "strip", "unset", "clear"),
    "rename": ("replace", "change", "move", "merge", "retag"),
}


def choose(text: str, choices: Sequence[str], where: str, shown: str) -> str:
    """The one of `choices` that `text` is. Raises InvalidArguments, with the one that is meant if that can be told."""
    folded = fold(text)
    for choice in choices:
        if text == choice or folded == fold(choice):
            return choice
    meant = _meant(folded, choices)
    nearest = f" The nearest is {meant}." if meant else ""
    raise InvalidArguments(f"{where} must be one of {', '.join(choices)}, not {shown}.{nearest}")


def fold(name: str) -> str:
    """A name without case, blanks, "_" and "-"."""
    return re.sub(r"[\s_-]", "", name).lower()


def _meant(folded: str, choices: Sequence[str]) -> str | None:
    for choice in choices:
        if folded in _MEANINGS.get(choice, ()):
            return choice
    from rapidfuzz import fuzz, process

    best = process.extractOne(folded, {own: fold(own) for own in choices}, scorer=fuzz.ratio, score_cutoff=_ALIKE)
    return None if best is None else best[2]
