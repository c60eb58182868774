"""A library of notes in a dict, as far as resources, prompts and completion call it. No disk, no threads."""

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from notes_mcp.errors import InvalidRequestError, NoteError, NotFoundError
from notes_mcp.notes.answers import Document, FolderInfo, Hit, IndexState, Info, NotePage, SearchPage
from notes_mcp.notes.asking import cursor as cursors
from notes_mcp.notes.markup import markdown
from notes_mcp.notes.markup.facts import extract
from notes_mcp.notes.records import Change, Note
from notes_mcp.notes.text import Text, etag
from notes_mcp.notes.uris import NOTE_TYPES, mime_type, parse, to_uri
from notes_mcp.settings import Settings

NOON = 1_785_319_200_000_000_000  # 2026-07-29T10:00:00Z
DAY = 86_400_000_000_000


class NotesInADict:
    """`files`: path -> bytes. `times` and `broken` (path -> error on reading) are for the test to fill."""

    def __init__(self, files: dict[str, bytes | str], folders: Sequence[str] = ("/notes",), **limits: Any) -> None:
        self.settings = Settings(folders=tuple(map(Path, folders)), **limits)
        self.files = {path: data.encode() if isinstance(data, str) else data for path, data in files.items()}
        self.times: dict[str, int] = {}
        self.broken: dict[str, NoteError] = {}
        self.reads: list[str] = []
        self.complete = True
        self.listeners: list[Callable[[Sequence[Change], bool], None]] = []

    def note(self, path: str) -> Note:
        data = self.files[path]
        facts = extract(path, data)
        return Note(path, facts.title, len(data), self.times.get(path, NOON), etag(data), facts.tags, facts.aliases)

    def notes(self) -> list[Note]:
        return [self.note(path) for path in sorted(self.files) if Path(path).suffix in NOTE_TYPES]

    def state(self) -> IndexState:
        return IndexState(len(self.files) if self.complete else 1, len(self.files), self.complete)

    async def resolve(self, ref: str, *, for_write: bool = False) -> str:
        parsed = parse(ref)
        path = ref if parsed is None else parsed[1]
        for found in self.files:
            bare = found.rpartition("/")[2]
            if path in (found, found.rpartition(".")[0], bare, bare.rpartition(".")[0]):
                return found
        raise NotFoundError(f'There is no "{path}".', [found for found in self.files if found[0] == path[:1]][:5])

    async def read(self, ref: str, *, scan: bool = False) -> Document:
        path = await self.resolve(ref)
        self.reads.append(path)
        if path in self.broken:
            raise self.broken[path]
        data = self.files[path]
        text = Text.decode(data) if Path(path).suffix in NOTE_TYPES else None
        return Document(
            path,
            to_uri(path),
            "note" if text else "attachment",
            mime_type(path),
            etag(data),
            len(data),
            self.times.get(path, NOON),
            data,
            text,
            markdown.scan(text.utf8) if scan and text else None,
        )

    async def recent(self, limit: int, cursor: str | None) -> NotePage:
        after = cursors.decode("recent", cursor, (int, str))
        rows = sorted(self.notes(), key=lambda note: (-note.modified_ns, note.path))
        rest = [note for note in rows if after is None or (-note.modified_ns, note.path) > (after[0], after[1])]
        page = rest[:limit]
        more = cursors.encode("recent", [-page[-1].modified_ns, page[-1].path]) if len(rest) > limit else None
        return NotePage(tuple(page), (), len(rows), more, self.state())

    async def list_notes(
        self,
        *,
        folder: str | None = None,
        tag: str | None = None,
        sort: str = "path",
        limit: int = 50,
        cursor: str | None = None,
    ) -> NotePage:
        rows = [note for note in self.notes() if folder is None or note.path.startswith(folder + "/")]
        if folder is not None and not rows:
            raise NotFoundError(f'There is no folder "{folder}".')
        if tag is not None:
            rows = [note for note in rows if tag in note.tags]
        if sort == "modified":
            rows.sort(key=lambda note: -note.modified_ns)
        start = int(cursor or 0)
        more = str(start + limit) if start + limit < len(rows) else None
        return NotePage(tuple(rows[start : start + limit]), (), len(rows), more, self.state())

    async def search(self, query: str, *, limit: int = 10) -> SearchPage:
        words = query.strip('"').casefold().removeprefix("tag:")
        found = [note for note in self.notes() if words in self.files[note.path].decode("utf-8", "replace").casefold()]
        hits = tuple(Hit(note, 1.0, (), 0) for note in found[:limit])
        return SearchPage(hits, len(found), False, () if found else ("tide",), None, self.state())

    async def names(self, kind: str, prefix: str, limit: int) -> tuple[tuple[str, ...], int]:
        every = {
            "paths": sorted(self.files),
            "tags": sorted({tag for note in self.notes() for tag in note.tags}),
            "folders": sorted({path.rpartition("/")[0] for path in self.files if "/" in path}),
        }[kind]
        found = tuple(name for name in every if prefix.casefold() in name.casefold())
        return found[:limit], len(found)

    async def daily_path(self, day: date) -> str:
        return f"Daily/{day.isoformat()}.md"

    async def info(self) -> Info:
        folders = tuple(FolderInfo(Path(path).name, 1, 0, False, "off") for path in self.settings.folders)
        return Info(folders, (), (), (), self.state())

    def on_change(self, listener: Callable[[Sequence[Change], bool], None]) -> None:
        self.listeners.append(listener)

    def uri(self, path: str) -> str:
        return to_uri(path)

    def canonical(self, uri: str) -> str | None:
        parsed = parse(uri)
        if parsed is None:
            return None
        if "\0" in parsed[1]:
            raise InvalidRequestError("A path holds no NUL.")
        if parsed[0] == "path":
            return to_uri(parsed[1])
        root = "/notes/"
        return to_uri(parsed[1].removeprefix(root)) if parsed[1].startswith(root) else None

    async def watch(self, uris: Sequence[str]) -> dict[str, str]:
        return {uri: canonical for uri in uris if (canonical := self.canonical(uri)) is not None}


def no_report(done: float, total: float | None, message: str) -> None:
    """Progress that nobody asked for."""
