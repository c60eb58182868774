"""What clients really send -> what a tool's schema asks for. Pure; raises InvalidArguments only.

Clients send arrays, objects, numbers and booleans as JSON text, models use the argument names of
other servers, and both send null for "not given". All of that is mended here, guided by the schema;
what cannot be mended is an error that names the nearest way out.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from notes_mcp.errors import InvalidArguments
from notes_mcp.tools._choices import choose, fold

# How other notes and filesystem servers call our arguments; compared with case, "_" and "-" taken away.
_SPELLINGS: dict[str, tuple[str, ...]] = {
    "path": (
        "filepath",
        "filename",
        "file",
        "note",
        "notepath",
        "notename",
        "uri",
        "identifier",
        "name",
        "source",
        "oldpath",
        "src",
    ),
    "title": ("name", "notetitle", "notename", "path", "filepath", "filename", "file", "note", "notepath"),
    "folder": ("directory", "dir", "folderpath", "directorypath", "dirpath", "parent", "path"),
    "query": ("q", "searchquery", "search", "searchterm", "term", "keywords", "text", "pattern"),
    "content": ("text", "body", "markdown", "notecontent", "contents"),
    "thoughts": ("thought", "content", "text", "body", "entry"),
    "properties": ("frontmatter", "metadata", "fields"),
    "section": ("heading", "header", "targetheading", "sectionheading"),
    "limit": ("maxresults", "numresults", "pagesize", "topk", "max"),
    "cursor": ("nextcursor", "pagetoken", "nextpagetoken"),
    "sort": ("sortby", "orderby", "order"),
    "mode": ("searchmode", "matchmode", "searchtype"),
    "modified_after": ("since", "afterdate", "modifiedsince"),
    "glob": ("pattern", "filepattern", "globpattern"),
    "tag": ("tagname",),
    "start_line": ("startline", "offset", "fromline", "linestart", "line"),
    "max_chars": ("maxcharacters", "maxlength", "charlimit"),
    "template": ("templatename", "templatepath"),
    "if_match": ("expectedhash", "expectedetag", "etag", "ifetag", "contenthash", "hash"),
    "dry_run": ("preview", "simulate"),
    "permanent": ("permanently",),
    "old_text": ("oldstring", "oldstr", "oldcontent", "find"),
    "text": ("newtext", "newstring", "newstr", "newcontent", "replacement", "content", "replace"),
    "action": ("op", "operation"),
    "tags": ("tag", "oldtag", "oldtags"),
    "update_links": ("rewritelinks", "updatereferences"),
    "op": ("operation", "action", "type"),
    "edits": ("changes", "operations", "replacements"),
    "new_path": ("newname", "destination", "dest", "target", "to", "newfilename", "newlocation"),
    "set": ("properties", "frontmatter", "metadata"),
    "remove": ("unset", "removekeys", "deletekeys"),
    "new_tag": ("newname", "renameto"),
    "paths": ("files", "filepaths", "notes"),
    "change_id": ("id", "changeid"),
}
# An empty text can only mean that nothing is meant; of "text", "query" or "prefix" it says something.
_NONE_IF_EMPTY = frozenset(
    ("cursor", "section", "folder", "glob", "tag", "template", "modified_after", "if_match", "new_tag", "path")
)
_EXAMPLES = {"array": '["a", "b"]', "object": '{"key": "value"}', "integer": "10", "number": "1.5", "boolean": "true"}
_ARTICLES = {"array": "an", "object": "an", "integer": "an"}


def prepare(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments under their own names and in the types `schema` (a flat object schema) asks for.

    Null for an argument that is not required counts as not given, as does "" where it can mean nothing else. Raises
    InvalidArguments.
    """
    named = _rename(arguments, schema["properties"])
    required = schema.get("required", ())
    given = {name: value for name, value in named.items() if name in required or not _is_nothing(name, value)}
    missing = [name for name in required if name not in given]
    if missing:
        takes = _sentence_of(schema["properties"], required)
        raise InvalidArguments(f"Missing argument: {', '.join(missing)}. {takes}")
    return {name: coerce(value, schema["properties"][name], name) for name, value in given.items()}


def coerce(value: Any, schema: Mapping[str, Any], where: str) -> Any:
    """`value` as `schema` wants it: JSON text is read where text itself is not allowed. Raises InvalidArguments."""
    kind = schema.get("type")
    if where == "if_match" and isinstance(value, str):
        return _unquoted(value)
    if kind == "string":
        # Some clients turn "2024" into a number on the way.
        text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
        return choose(text, schema["enum"], where, shown(text)) if "enum" in schema and isinstance(text, str) else text
    if kind not in _EXAMPLES:
        return value
    if isinstance(value, str):
        value = _read_json(value, kind, where)
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    if kind == "array" and isinstance(value, dict) and schema["items"].get("type") == "object":
        value = [value]  # one of what may be many
    if not _is(value, kind):
        raise _wrong_type(value, kind, where)
    if kind == "array":
        return [coerce(item, schema["items"], f"{where}[{index}]") for index, item in enumerate(value)]
    if kind == "object" and "properties" in schema:
        return prepare_nested(value, schema, where)
    return value


def prepare_nested(value: Mapping[str, Any], schema: Mapping[str, Any], where: str) -> dict[str, Any]:
    """`prepare` for an object within the arguments; errors say where it stands."""
    try:
        return prepare(value, schema)
    except InvalidArguments as error:
        raise InvalidArguments(f"{where}: {error.message}") from None


def _is_nothing(name: str, value: Any) -> bool:
    return value is None or (name in _NONE_IF_EMPTY and isinstance(value, str) and not value.strip())


def _unquoted(text: str) -> str:
    """An etag as it is, without the quotes and the W/ that HTTP puts around it (RFC 9110 section 8.8.3)."""
    return text.strip().removeprefix("W/").strip('"')


def names_one_of(name: str, known: Mapping[str, Any]) -> bool:
    """Whether `name` is one of `known` or another spelling of one."""
    return bool(_homes(name, known))


def _rename(arguments: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    named = {name: value for name, value in arguments.items() if name in known}
    for name, value in arguments.items():
        if name in known:
            continue
        homes = _homes(name, known)
        if not homes:
            raise InvalidArguments(_unknown(name, known))
        free = [own for own in homes if named.get(own) is None]
        if free:
            named[free[0]] = value
        elif value is not None:
            raise InvalidArguments(f"{name} is another name for {homes[0]}, which is given too; leave one of them out.")
    return named


def _homes(name: str, known: Mapping[str, Any]) -> list[str]:
    """The arguments that `name` may mean, the likeliest first."""
    folded = fold(name)
    homes = [own for own in known if fold(own) == folded]
    return homes + [own for own, others in _SPELLINGS.items() if own in known and folded in others]


def _unknown(name: str, known: Mapping[str, Any]) -> str:
    shown = name if len(name) <= 60 else name[:60] + "…"
    if not known:
        return f"Unknown argument: {shown}. This tool takes no arguments."
    from rapidfuzz import fuzz, process

    best = process.extractOne(fold(name), {own: fold(own) for own in known}, scorer=fuzz.WRatio, score_cutoff=50)
    nearest = f" The nearest is {best[2]}." if best else ""
    return f"Unknown argument: {shown}.{nearest} {_sentence_of(known)}"


def _sentence_of(known: Mapping[str, Any], required: Sequence[str] = ()) -> str:
    names = [name if name in required or not required else f"{name}?" for name in known]
    return f"This tool takes: {', '.join(names)}."


def _read_json(text: str, kind: str, where: str) -> Any:
    if kind == "boolean" and text.strip().lower() in ("true", "false"):
        return text.strip().lower() == "true"
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise _wrong_type(text, kind, where) from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    types: dict[str, type | tuple[type, ...]] = {
        "array": list,
        "object": dict,
        "integer": int,
        "number": (int, float),
        "boolean": bool,
    }
    return isinstance(value, types[kind])


def _wrong_type(value: Any, kind: str, where: str) -> InvalidArguments:
    article = _ARTICLES.get(kind, "a")
    return InvalidArguments(f"{where} must be {article} {kind} such as {_EXAMPLES[kind]}, not {shown(value)}.")


def shown(value: Any) -> str:
    """A value for an error sentence: JSON, at most some 80 characters."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else text[:77] + "…"
