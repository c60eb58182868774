"""A note in `Prompts/`: what its front matter says of its arguments, its text, and what is wrong with it. Pure.

Nothing a person writes there is fatal here. `fault` is what keeps the prompt from being used, in a sentence;
`doubts` are what is probably not meant. Knows no protocol: what clients see of it is made elsewhere.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from notes_mcp.notes.markup.markdown import front_matter
from notes_mcp.notes.properties import properties
from notes_mcp.notes.text import Text

FOLDER = "Prompts"
_PLACEHOLDER = re.compile(r"(\\?)\{\{([^{}\n\r]{1,100})\}\}")
_NAME = re.compile(r"[\w][\w .-]*")  # what may be meant as a name where nothing says so
_MOST_ARGUMENTS = 50
_DESCRIPTION_CHARS = 400
_TRUE = frozenset(("true", "yes", "on", "1", "required"))


@dataclass(frozen=True, slots=True)
class Blank:
    """One argument. `kind` is its `type` as written, else its name in lower case: what may be offered for it."""

    name: str
    description: str = ""
    required: bool = False
    kind: str = ""


@dataclass(frozen=True, slots=True)
class PromptNote:
    """A prompt as its note says it; `title` and `description` are "" where it says nothing. `text` has no front
    matter."""

    title: str
    description: str
    blanks: tuple[Blank, ...]
    text: str
    fault: str = ""
    doubts: tuple[str, ...] = ()

    def fill(self, values: Mapping[str, str]) -> str:
        """The text with every value in its place, literally and once: braces in a value stay as they are.

        A blank left out leaves nothing. Braces around anything else stay, as does `\\{{name}}`, without its "\\".
        """
        known = {blank.name for blank in self.blanks}

        def value(found: re.Match[str]) -> str:
            name = found[2].strip()
            if name not in known:
                return found[0]
            return found[0][1:] if found[1] else values.get(name, "")

        return _PLACEHOLDER.sub(value, self.text)


def read_bytes(data: bytes) -> PromptNote:
    """The same of a note's bytes."""
    return read(Text.decode(data))


def read(text: Text | None) -> PromptNote:
    """The prompt that a note's text makes; of no text an empty one.

    Where the front matter has no `arguments`, each `{{name}}` of the text is an optional one. Where it has, its
    list is the whole list, so that braces can stand for themselves.
    """
    if text is None:
        return PromptNote("", "", (), "")
    front = properties.of(text)
    body = _body(text)
    used = list(dict.fromkeys(_used(body)))
    inferred = tuple(Blank(name, kind=name.lower()) for name in used if _NAME.fullmatch(name))[:_MOST_ARGUMENTS]
    title, description = _line(front.values.get("title")), _line(front.values.get("description"))
    fault = front.error or (_UNCLOSED if properties.is_unclosed(text) else "")
    if fault:
        return PromptNote(title, description, inferred, body, fault)
    if "arguments" not in front.values:
        return PromptNote(title, description, inferred, body)
    try:
        declared = {blank.name: blank for blank in _declared(front.values["arguments"])}
    except ValueError as error:
        return PromptNote(title, description, inferred, body, str(error))
    blanks = tuple(declared.values())[:_MOST_ARGUMENTS]
    return PromptNote(title, description, blanks, body, doubts=tuple(_doubts(list(declared), used)))


_UNCLOSED = "The front matter is opened with --- in line 1 but never closed: put a line --- below its last property."


def _body(text: Text) -> str:
    span = front_matter(text.utf8)
    return text.utf8[span[1] if span else 0 :].decode("utf-8", "replace").strip("\r\n")


def _used(text: str) -> Iterator[str]:
    for found in _PLACEHOLDER.finditer(text):
        if not found[1] and (name := found[2].strip()):
            yield name


def _doubts(declared: Sequence[str], used: Sequence[str]) -> Iterator[str]:
    idle = [name for name in declared if name not in used]
    for name in idle:
        yield f"the argument {name} is nowhere in the text, so what is given for it is lost: write {{{{{name}}}}}"
    for name in used:
        if declared and name not in declared and _NAME.fullmatch(name):
            yield (
                f"{{{{{name}}}}} is in the text but not in `arguments`, so it stays as it is: add it there, "
                f"or write \\{{{{{name}}}}} if that is meant"
            )


def _declared(written: Any) -> Iterator[Blank]:
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
            raise ValueError("Each of `arguments` needs a `name` of at most 100 characters without braces.")
        yield Blank(
            name,
            _line(details.get("description")),
            _line(details.get("required")).lower() in _TRUE,
            _line(details.get("type")).lower() or name.lower(),
        )


def _details(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {"description": value}


def _line(value: Any) -> str:
    """A value as one line of text, "" for what is none."""
    if value is None or isinstance(value, list | dict):
        return ""
    text = " ".join(str(value).split())
    return text if len(text) <= _DESCRIPTION_CHARS else text[:_DESCRIPTION_CHARS] + "…"
