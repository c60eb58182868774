"""A note in `Prompts/` -> a prompt of the user's own: front matter to spec, text with `{{argument}}` filled in.

Pure. Nothing a person writes there is fatal: what cannot be understood is said in the prompt's
description, and the placeholders of the text stand in for arguments that cannot be read.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from notes_mcp.features._spec import Argument, Completes, Spec

if TYPE_CHECKING:
    from notes_mcp.notes.answers import Document

_PLACEHOLDER = re.compile(r"\{\{([^{}\n\r]{1,100})\}\}")
_MOST_ARGUMENTS = 50
_DESCRIPTION_CHARS = 400
_TRUE = frozenset(("true", "yes", "on", "1", "required"))
_COMPLETES: Mapping[str, Completes] = {
    "path": "paths",
    "note": "paths",
    "file": "paths",
    "tag": "tags",
    "folder": "folders",
    "date": "dates",
    "day": "dates",
    "week": "weeks",
}


@dataclass(frozen=True, slots=True)
class OwnPrompt:
    """One prompt note, ready to be listed and filled. `text` is the note without its front matter."""

    spec: Spec
    text: str

    def fill(self, values: Mapping[str, str]) -> str:
        """`text` with every argument's value in its place, literally and once: what a value holds stays as it is.

        An argument left out leaves nothing; double braces around anything else stay.
        """
        known = {argument.name for argument in self.spec.arguments}

        def value(found: re.Match[str]) -> str:
            name = found[1].strip()
            return values.get(name, "") if name in known else found[0]

        return _PLACEHOLDER.sub(value, self.text)


def own_prompt(name: str, document: "Document") -> OwnPrompt:
    """The prompt that the note makes under `name`."""
    from notes_mcp.notes.properties import properties

    front = properties.of(document.text) if document.text is not None else properties.Properties()
    problems = [front.error] if front.error else []
    text = _body(document)
    try:
        arguments = list(_arguments(front.values.get("arguments")))
    except ValueError as error:
        arguments = []
        problems.append(str(error))
    if problems:
        arguments = [Argument(found, _about(found)) for found in dict.fromkeys(_placeholders(text))]
    description = _line(front.values.get("description")) or f"A prompt of your own, from {document.path}"
    if problems:
        description = f"{description}. Please mend {document.path}: {' '.join(problems)}"
    unique = {argument.name: argument for argument in arguments[:_MOST_ARGUMENTS]}
    title = _line(front.values.get("title")) or name
    return OwnPrompt(Spec(name, title, description, tuple(unique.values())), text)


def unreadable(name: str, path: str, reason: str) -> OwnPrompt:
    """What is listed for a prompt note that cannot be read just now."""
    return OwnPrompt(Spec(name, name, f"{path} cannot be read just now: {reason}"), "")


def _body(document: "Document") -> str:
    from notes_mcp.notes.markup.markdown import front_matter

    if document.text is None:
        return ""
    utf8 = document.text.utf8
    span = front_matter(utf8)
    return utf8[span[1] if span else 0 :].decode("utf-8", "replace").strip("\r\n")


def _placeholders(text: str) -> Iterator[str]:
    for found in _PLACEHOLDER.finditer(text):
        if found[1].strip():
            yield found[1].strip()


def _arguments(written: Any) -> Iterator[Argument]:
    """Names, objects with `name`, `description`, `required` and `type`, or a mapping from name to those."""
    if isinstance(written, str):
        written = [part for part in re.split(r"[,，、]", written) if part.strip()]
    if isinstance(written, Mapping):
        written = [{**_details(value), "name": name} for name, value in written.items()]
    if not isinstance(written, list | None):
        raise ValueError(
            "`arguments` must be a list of names, or of objects with `name`, `description` and `required`."
        )
    for item in written or ():
        details = item if isinstance(item, Mapping) else {"name": item}
        name = _line(details.get("name"))
        if not name or len(name) > 100 or set(name) & set("{}"):
            raise ValueError("each of `arguments` needs a `name` of at most 100 characters without braces.")
        kind = _line(details.get("type")).lower() or name.lower()
        yield Argument(
            name,
            _line(details.get("description")) or _about(name),
            _line(details.get("required")).lower() in _TRUE,
            _COMPLETES.get(kind),
        )


def _details(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {"description": value}


def _about(name: str) -> str:
    return f"What stands in the place of {{{{{name}}}}}"


def _line(value: Any) -> str:
    """A value as one line of text, "" for what is none."""
    if value is None or isinstance(value, list | dict):
        return ""
    text = " ".join(str(value).split())
    return text if len(text) <= _DESCRIPTION_CHARS else text[:_DESCRIPTION_CHARS] + "…"
