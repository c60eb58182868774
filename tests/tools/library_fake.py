"""A library of notes in a dict, honouring the contract that tools rely on. No disk, no index, no threads."""

import base64
from collections import Counter
from collections.abc import Callable
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from notes_mcp.errors import ExistsError, InvalidRequestError, NotFoundError, StaleError
from notes_mcp.notes import media
from notes_mcp.notes.answers import (
    ChangeRecord,
    Deleted,
    Document,
    FolderInfo,
    Hit,
    IndexState,
    Info,
    Match,
    NotePage,
    SearchPage,
    Written,
)
from notes_mcp.notes.daily import DailyNotes
from notes_mcp.notes.markup import markdown
from notes_mcp.notes.records import Note, Problem
from notes_mcp.notes.templates import Templates
from notes_mcp.notes.text import Text, etag
from notes_mcp.notes.uris import mime_type, parse, to_uri
from notes_mcp.settings import Settings

NOTE_ENDINGS = (".md", ".markdown", ".txt", ".org", ".rst")


class FakeLibrary:
    """`files` maps path to bytes; `state` is what every answer says of the index."""

    def __init__(self, files: dict[str, bytes] | None = None, **settings: Any) -> None:
        self.settings = Settings(folders=(Path("/notes"),), **settings)
        self.files = dict(files or {})
        self.index = IndexState(len(self.files), len(self.files), True)
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.problems: tuple[Problem, ...] = ()
        self.changes: tuple[ChangeRecord, ...] = ()
        self.titles: dict[str, str] = {}
        self.tags: dict[str, tuple[str, ...]] = {}
        self.template: str | None = None

    def note(self, path: str) -> Note:
        data = self.files[path]
        title = self.titles.get(path, path.rpartition("/")[2].rpartition(".")[0])
        return Note(path, title, len(data), 1_785_333_909_000_000_000, etag(data), self.tags.get(path, ()))

    async def resolve(self, ref: str, *, for_write: bool = False) -> str:
        ref = _path_of(ref)
        for path in (ref, *(ref + ending for ending in NOTE_ENDINGS)):
            if path in self.files:
                return path
        raise NotFoundError(f'There is no note "{ref}".', [path for path in self.files if path[:1] == ref[:1]][:5])

    def document(self, path: str, scan: bool = False) -> Document:
        data = self.files[path]
        is_note = path.endswith(NOTE_ENDINGS)
        text = Text.decode(data) if is_note else None
        found = markdown.scan(text.utf8) if text and scan and path.endswith((".md", ".markdown")) else None
        kind = "note" if is_note else "attachment"
        return Document(
            path,
            to_uri(path),
            kind,
            mime_type(path) if is_note else media.mime_type(path, data),
            etag(data),
            len(data),
            1_785_333_909_000_000_000,
            data,
            text,
            found,
        )

    async def read(self, ref: str, *, scan: bool = False) -> Document:
        return self.document(await self.resolve(ref), scan)

    async def search(self, query: str, *, limit: int = 10, cursor: str | None = None, **asked: Any) -> SearchPage:
        self.calls.append(("search", {"query": query, "limit": limit, **asked}))
        paths = sorted(path for path, data in self.files.items() if query.encode() in data)
        start, end = self._page(cursor, limit)
        hits = [Hit(self.note(path), 1.23456, tuple(self._matches(path, query)), 0) for path in paths[start:end]]
        more = self._cursor(end) if end < len(paths) else None
        guesses = () if paths else ("nearest",)
        return SearchPage(tuple(hits), len(paths), False, guesses, more, self.index)

    def _matches(self, path: str, query: str) -> list[Match]:
        lines = self.files[path].decode("utf-8", "replace").split("\n")
        return [Match(number, "", line) for number, line in enumerate(lines, 1) if query in line][:3]

    async def list_notes(self, *, limit: int = 50, cursor: str | None = None, **asked: Any) -> NotePage:
        self.calls.append(("list_notes", {"limit": limit, **asked}))
        folder = asked.get("folder")
        below = sorted(path for path in self.files if folder is None or path.startswith(folder + "/"))
        paths = [path for path in below if asked.get("glob") is None or fnmatchcase(path, asked["glob"])]
        start, end = self._page(cursor, limit)
        inside = [path[len(folder) + 1 :] if folder else path for path in below]
        names = sorted({path.partition("/")[0] for path in inside if "/" in path})
        prefix = f"{folder}/" if folder else ""
        folders = [(prefix + name, sum(path.startswith(name + "/") for path in inside)) for name in names]
        more = self._cursor(end) if end < len(paths) else None
        notes = tuple(self.note(path) for path in paths[start:end])
        return NotePage(notes, tuple(folders), len(paths), more, self.index)

    def _cursor(self, offset: int) -> str:
        return base64.urlsafe_b64encode(str(offset).encode()).decode()

    def _page(self, cursor: str | None, limit: int) -> tuple[int, int]:
        try:
            start = int(base64.urlsafe_b64decode(cursor)) if cursor is not None else 0
        except ValueError:
            raise InvalidRequestError("This cursor is not valid here.") from None
        return start, start + limit

    async def create(self, path: str, data: str | bytes, *, dry_run: bool = False, tool: str) -> Written:
        if path in self.files:
            raise ExistsError(f'"{path}" is there already; nothing was overwritten.', path)
        data = data.encode() if isinstance(data, str) else data
        return self._write(path, None, data, dry_run)

    async def edit(
        self,
        ref: str,
        transform: Callable[[Document], bytes],
        *,
        if_match: str | None = None,
        dry_run: bool = False,
        tool: str,
        create: bytes | None = None,
    ) -> Written:
        if create is not None and _path_of(ref) not in self.files:
            path = _path_of(ref)
            self.files[path] = create
            before = None
        else:
            path = await self.resolve(ref, for_write=True)
            before = self.files[path]
        if if_match is not None and if_match != etag(self.files[path]):
            raise StaleError("The note has changed.", etag(self.files[path]))
        return self._write(path, before, transform(self.document(path)), dry_run)

    def _write(self, path: str, before: bytes | None, after: bytes, dry_run: bool) -> Written:
        if not dry_run:
            self.files[path] = after
        return Written(
            path=path,
            uri=to_uri(path),
            etag=etag(after),
            previous_etag=None if before is None else etag(before),
            change_id=None if dry_run else f"c{len(self.files)}",
            bytes_before=len(before or b""),
            bytes_after=len(after),
            diff="" if before == after else "--- a\n+++ b\n@@ -0,0 +1 @@\n+" + after.decode("utf-8", "replace")[:100],
            changed=before != after,
        )

    async def delete(
        self, ref: str, *, permanent: bool = False, if_match: str | None = None, dry_run: bool = False, tool: str
    ) -> Deleted:
        path = await self.resolve(ref, for_write=True)
        if if_match is not None and if_match != etag(self.files[path]):
            raise StaleError("The note has changed.", etag(self.files[path]))
        if not dry_run:
            del self.files[path]
        links = tuple(sorted(other for other, data in self.files.items() if f"[[{path[:-3]}]]".encode() in data))
        return Deleted(path, None if permanent else f".trash/{path}", links, None if dry_run else "c1")

    async def reached(self, path: str) -> tuple[str, str]:
        parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
        for count in range(len(parts), 0, -1):
            folder = "/".join(parts[:count])
            if any(held.startswith(folder + "/") for held in self.files):
                return folder, "/".join(parts[count:])
        return "", "/".join(parts)

    async def daily_day(self, ref: str) -> date | None:
        return DailyNotes().day_of(ref)

    async def names(self, kind: str, prefix: str, limit: int) -> tuple[tuple[str, ...], int]:
        folded = prefix.casefold().replace(" ", "")
        found = [path for path in self.files if folded in path.casefold().replace(" ", "").replace("-", "")]
        return tuple(sorted(found)[:limit]), len(found)

    async def daily_template(self) -> str | None:
        return self.template

    async def daily_problem(self) -> str:
        return ""

    async def templates(self, path: str) -> Templates:
        return Templates()

    async def daily_path(self, day: date) -> str:
        return f"Daily/{day.isoformat()}.md"

    async def info(self) -> Info:
        folder = FolderInfo("notes", len(self.files), 0, False, "events")
        recent = tuple(self.note(path) for path in sorted(self.files)[:10])
        counts = Counter(problem.kind for problem in self.problems)
        return Info((folder,), recent, self.changes, self.problems, self.index, counts)

    def uri(self, path: str) -> str:
        return to_uri(path)


def _path_of(ref: str) -> str:
    parsed = parse(ref)
    return ref if parsed is None else parsed[1]
