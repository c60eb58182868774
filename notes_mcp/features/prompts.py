"""prompts/list and prompts/get: the built-in prompts and the user's own, from the notes in `Prompts/`.

Owns the catalogue and its names. `_builtin` knows what each built-in one asks, `_own` what a note says,
`_spec` whether arguments fit. A prompt of the user's own wins over a built-in one of the same name.
"""

from collections.abc import Callable, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

from notes_mcp.errors import InvalidParams, NoteError, NotFoundError
from notes_mcp.events import Handler, Report
from notes_mcp.features import _params
from notes_mcp.features._builtin import BUILT_IN
from notes_mcp.features._embed import messages
from notes_mcp.features._gather import Scene
from notes_mcp.features._own import OwnPrompt, own_prompt, unreadable
from notes_mcp.features._spec import Spec
from notes_mcp.features.changes import PROMPTS_FOLDER
from notes_mcp.notes.asking import cursor

if TYPE_CHECKING:
    from notes_mcp.notes.library import Library
    from notes_mcp.notes.records import Note

_QUESTION = "prompts/list"
_MOST_OWN = 1000
_PAGE = 50


class Prompts:
    """`methods` for the protocol's table; `spec` for completion."""

    def __init__(self, library: "Library", today: Callable[[], date] = date.today) -> None:
        self._library = library
        self._settings = library.settings
        self._today = today
        self._parsed: dict[str, tuple[str, OwnPrompt]] = {}  # path -> etag, prompt; only what is in the folder now
        self.methods: dict[str, Handler] = {"prompts/list": self.page, "prompts/get": self.get}

    async def page(self, params: dict[str, Any], report: Report) -> dict[str, Any]:
        """`{prompts, nextCursor?}` by name, `resource_page` a page. Raises InvalidParams for a bad cursor."""
        try:
            after = cursor.decode(_QUESTION, _params.cursor(params), (str,))
        except NoteError as error:
            raise _params.refusal(error) from None
        specs = await self._specs()
        names = sorted(name for name in specs if after is None or name > after[0])
        shown = names[: self._settings.resource_page]
        result: dict[str, Any] = {"prompts": [specs[name].entry() for name in shown]}
        if len(names) > len(shown):
            result["nextCursor"] = cursor.encode(_QUESTION, [shown[-1]])
        return result

    async def get(self, params: dict[str, Any], report: Report) -> dict[str, Any]:
        """`{description, messages}`, all of them the user's.

        Raises InvalidParams for an unknown prompt (`data.prompts` lists those there are), for one of the user's own
        whose note is broken (`data.path`, `data.reason`), and for arguments that are missing, unknown, no strings
        or name no note; InternalError for a note that cannot be read.
        """
        name = _params.text(params, "name")
        given = _params.mapping(params, "arguments")
        own = await self._own()
        if name in own:
            return await self._filled(own[name], given)
        if name not in BUILT_IN:
            raise self._unknown(name, {*own, *BUILT_IN})
        built_in = BUILT_IN[name]
        values = built_in.spec.check(given)
        scene = Scene(self._library, self._today(), self._settings.max_answer_chars, report)
        try:
            draft = await built_in.compose(scene, values)
        except NoteError as error:
            raise _params.refusal(error) from None
        return {"description": draft.description, "messages": messages(draft, scene.room)}

    async def spec(self, name: str) -> Spec:
        """The prompt of that name. Raises InvalidParams."""
        specs = await self._specs()
        if name not in specs:
            raise self._unknown(name, set(specs))
        return specs[name]

    async def _filled(self, listed: OwnPrompt, given: Mapping[str, Any]) -> dict[str, Any]:
        try:
            # From the file as it is now: the index may be a moment behind an edit.
            prompt = own_prompt(listed.spec.name, await self._library.read(listed.path))
        except NoteError as error:
            raise _params.refusal(error) from None
        message = {"role": "user", "content": {"type": "text", "text": prompt.fill(given)}}
        return {"description": prompt.spec.description, "messages": [message]}

    async def _specs(self) -> dict[str, Spec]:
        own = await self._own()
        built_in = {name: prompt.spec for name, prompt in BUILT_IN.items()}
        return {**built_in, **{name: prompt.spec for name, prompt in own.items()}}

    async def _own(self) -> dict[str, OwnPrompt]:
        """Name -> prompt. Of notes that share a name, the later ones go by a longer one."""
        notes = [note for folder in await self._folders() for note in await self._notes(folder)]
        parsed: dict[str, tuple[str, OwnPrompt]] = {}
        found: dict[str, OwnPrompt] = {}
        for note in sorted(notes, key=lambda note: (note.path.count("/"), note.path)):
            name = next((name for name in _names(note.path) if name not in found), note.path)
            known = self._parsed.get(note.path)
            if known is None or known[0] != note.etag or known[1].spec.name != name:
                try:
                    known = (note.etag, own_prompt(name, await self._library.read(note.path)))
                except NoteError as error:
                    # Not kept: the next call may find it readable again, with the same etag.
                    found[name] = unreadable(name, note.path, str(error))
                    continue
            parsed[note.path] = known
            found[name] = known[1]
        self._parsed = parsed
        return found

    async def _folders(self) -> list[str]:
        if len(self._settings.folders) < 2:
            return [PROMPTS_FOLDER]
        return [f"{folder.name}/{PROMPTS_FOLDER}" for folder in (await self._library.info()).folders]

    async def _notes(self, folder: str) -> list["Note"]:
        notes: list[Note] = []
        after: str | None = None
        while len(notes) < _MOST_OWN:
            try:
                page = await self._library.list_notes(folder=folder, limit=_PAGE, cursor=after)
            except NotFoundError:
                break
            notes += page.notes
            after = page.next_cursor
            if after is None:
                break
        return notes

    def _unknown(self, name: str, known: set[str]) -> InvalidParams:
        close = _params.nearest(name, sorted(known))
        hint = f" Did you mean {close!r}?" if close else ""
        return InvalidParams(f"There is no prompt {name[:100]!r}.{hint}", {"prompts": sorted(known)})


def _names(path: str) -> list[str]:
    """`Work/Prompts/letters/thanks.md` -> `thanks`, then `letters/thanks`, then the whole path."""
    bare, dot, extension = path.rpartition(".")
    stem = bare if dot and "/" not in extension else path
    parts = stem.split("/")
    below = parts[parts.index(PROMPTS_FOLDER) + 1 :] if PROMPTS_FOLDER in parts else parts
    return [parts[-1], "/".join(below), stem, path]
