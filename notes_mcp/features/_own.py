"""A note in `Prompts/` -> a prompt of the user's own as clients see it. What the note says is `promptnotes`' word.

Pure. A note that is broken stays listed, and its description says what to mend: a prompt that silently went
away could not be mended by anyone who does not know it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from notes_mcp.errors import InvalidParams
from notes_mcp.features._spec import Argument, Completes, Spec

if TYPE_CHECKING:
    from notes_mcp.notes.answers import Document
    from notes_mcp.notes.promptnotes import PromptNote

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
    """One prompt note, ready to be listed and filled. `note` is None for one that cannot be read just now."""

    spec: Spec
    path: str
    note: "PromptNote | None" = None

    def fill(self, given: Mapping[str, object]) -> str:
        """Its text with every argument in its place. Raises InvalidParams for arguments that do not fit, and for a
        note that is broken, with `data.path` and `data.reason`."""
        if self.note is None or self.note.fault:
            reason = self.note.fault if self.note else self.spec.description
            data = {"path": self.path, "reason": reason}
            raise InvalidParams(
                f"The prompt {self.spec.name!r} cannot be used until {self.path} is mended: {reason}", data
            )
        return self.note.fill(self.spec.check(given))


def own_prompt(name: str, document: "Document") -> OwnPrompt:
    """The prompt that the note makes under `name`."""
    from notes_mcp.notes import promptnotes

    note = promptnotes.read(document.text)
    if note.fault:
        description = f"Broken, please mend {document.path}: {note.fault}"
        return OwnPrompt(Spec(name, note.title or name, description), document.path, note)
    arguments = tuple(
        Argument(
            blank.name,
            blank.description or f"What stands in the place of {{{{{blank.name}}}}}",
            blank.required,
            _COMPLETES.get(blank.kind),
        )
        for blank in note.blanks
    )
    description = note.description or f"A prompt of your own, from {document.path}"
    return OwnPrompt(Spec(name, note.title or name, description, arguments), document.path, note)


def unreadable(name: str, path: str, reason: str) -> OwnPrompt:
    """What is listed for a prompt note that cannot be read just now."""
    return OwnPrompt(Spec(name, name, f"{path} cannot be read just now: {reason}"), path)
