"""Places as models write them -> the library's form: folders, `Note#Heading`, where a new note goes.

The path gate still decides. What is there already is for the library to say; names of what is new get one
rule (`_names.fitted`), and each thing that is changed about them is said.
"""

import re
import unicodedata
from typing import TYPE_CHECKING
from urllib.parse import unquote

from notes_mcp.errors import NotFoundError
from notes_mcp.notes import uris
from notes_mcp.tools._names import fitted

if TYPE_CHECKING:
    from notes_mcp.notes.library import Library

_BRACKETS = re.compile(r"!?\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]")


def folder_of(text: str | None) -> str | None:
    """`Projects/`, `./Projects` -> `Projects`; "", ".", "/" and `notes:///` mean the whole folder: None."""
    if text is None:
        return None
    folder = bare(text).strip().removeprefix("notes:///").replace("\\", "/")
    while folder.startswith("./"):
        folder = folder[2:]
    if folder.strip("/") in ("", "."):
        return None
    return folder.rstrip("/")


async def folder_in(library: "Library", text: str | None) -> str | None:
    """`folder_of`, and `/Projects` is `Projects` where that is a folder of the notes."""
    folder = folder_of(text)
    if folder is None or not folder.startswith("/"):
        return folder
    there, rest = await library.reached(folder)
    return folder if rest else there or None


def bare(text: str) -> str:
    """`[[Projects/Plan|the plan]]` -> `Projects/Plan`."""
    return _BRACKETS.sub(r"\1", text)


async def destination(library: "Library", path: str, keep: str = "") -> tuple[str, str, list[str]]:
    """Where something new goes: the folder that is there ("" is the top), the rest in names that fit, and what was
    changed. The rest is empty for a folder that is there. A last name that is `keep` stays as it is.
    """
    there, rest = await library.reached(path)
    said: list[str] = []
    names = rest.split("/") if rest else []
    fit = [name if name == keep and at == len(names) else fitted(name, said) for at, name in enumerate(names, 1)]
    asked = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    asked_folder = "/".join(asked[: len(asked) - len(names)])
    if there and asked_folder != there and _alike(asked_folder) == _alike(there):
        said.append(f"The folder {asked_folder} is there already as {there}, so that one is used")
    return there, "/".join(fit), said


async def with_section(library: "Library", path: str) -> tuple[str, str | None]:
    """`Note#Heading`, `[[Note#^block]]`, `notes:///Note.md#Heading` -> the note, and the section in the form of
    `section`. A note whose own name has the "#" comes first; without "#" there is no section.
    """
    inner = bare(path.strip()) if path.strip().endswith("]]") else path.strip()
    name, mark, fragment = inner.partition("#")
    if not mark or not name.strip() or not fragment.strip():
        return path, None
    if uris.parse(path.strip()) is None:
        try:
            await library.resolve(inner, for_write=True)
        except NotFoundError:
            pass  # no name has it: it begins a section
        else:
            return inner, None
    if "%" in fragment:
        fragment = unquote(fragment)
    return name.strip(), " > ".join(part.strip() for part in fragment.split("#") if part.strip())


def _alike(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()
