"""Answers from the folders: which file a reference means, documents, what was written, an overview. Sync.

Runs in a reader thread. A text that is given out comes from the file as it is at that moment; the index
only says where to look. Several folders are answered as one. Reads the disk through `Vault`; pages of
notes and hits are `finding`'s.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from notes_mcp.errors import (
    AmbiguousError,
    ForbiddenError,
    InvalidRequestError,
    NoteError,
    NotFoundError,
    TooLargeError,
)
from notes_mcp.notes import media, uris
from notes_mcp.notes.answers import (
    ChangeRecord,
    Deleted,
    Document,
    FolderInfo,
    IndexState,
    Info,
    Watching,
    Written,
)
from notes_mcp.notes.asking.health import Health
from notes_mcp.notes.changes.writing import Outcome
from notes_mcp.notes.daily import SETTINGS, DailyNotes
from notes_mcp.notes.diff import unified
from notes_mcp.notes.disk.gate import NOTE_EXTENSIONS, kind_of
from notes_mcp.notes.folder import Folder
from notes_mcp.notes.links import links
from notes_mcp.notes.markup import markdown
from notes_mcp.notes.opening import Served
from notes_mcp.notes.records import Change, FileState, Note
from notes_mcp.notes.shelf import Shelf
from notes_mcp.notes.templates import SETTINGS as TEMPLATE_SETTINGS
from notes_mcp.notes.templates import Templates
from notes_mcp.notes.text import Text, etag
from notes_mcp.settings import Settings

RECENT = 10
T = TypeVar("T")


class Answers:
    """What is asked about single files and about the whole. Paths that come back are as clients see them."""

    def __init__(self, served: Sequence[Served], settings: Settings) -> None:
        self._served = tuple(served)
        self._shelf = Shelf([each.folder for each in served])
        self._settings = settings
        self._health = Health(self._shelf, settings)

    def resolve(self, ref: str, *, for_write: bool = False) -> tuple[Folder, str]:
        """The file that `ref` means: a path in any form, a URI, a bare name, and for reading an alias or wikilink.

        What is there under exactly that path is found without the index; a URI is never guessed at. Raises
        NotFoundError with the nearest paths, AmbiguousError with the candidates, ForbiddenError.
        """
        return self._found(ref, lambda folder, path: (folder, folder.vault.locate(path)), for_write=for_write)

    def places(self, wanted: Sequence[str]) -> dict[str, tuple[Folder, str]]:
        """Those of the URIs that can be ours, each with its real path. A file that is not there can be waited for."""
        found: dict[str, tuple[Folder, str]] = {}
        for uri in wanted:
            try:
                place = self._shelf.place(uri) if uris.parse(uri) is not None else None
                if place is not None:
                    found[uri] = place[0], place[0].vault.place(place[1])
            except NoteError:
                continue  # the gate said no: left out of what is acknowledged, as the protocol asks
        return found

    def read(self, ref: str, *, scan: bool = False) -> Document:
        """The file, whole. Notes up to `max_note_bytes`, attachments up to `max_resource_bytes`."""

        def read(folder: Folder, path: str) -> Document:
            if kind_of(path) == "note":
                data, state = folder.vault.read(path)
            else:
                data, state = self._attachment(folder, path)
            return self.document(folder, state, data, scan=scan)

        return self._found(ref, read)

    def _attachment(self, folder: Folder, path: str) -> tuple[bytes, FileState]:
        limit = self._settings.max_resource_bytes
        try:
            return folder.vault.read_attachment(path, limit)
        except TooLargeError as error:
            raise TooLargeError(
                f"{error} That is the most one answer can take. Make a smaller copy of it (a picture scaled down, a "
                "sound compressed) and read that."
            ) from None

    def placed(self, ref: str) -> tuple[Folder, str] | None:
        """`Shelf.place`, but a leading "/" before what is there in the notes folder is no absolute path."""
        try:
            return self._shelf.place(ref)
        except ForbiddenError:
            below = ref.replace("\\", "/").lstrip("/")
            inside = self._shelf.place(below) if ref.startswith(("/", "\\")) and below else None
            if inside is None or not _is_there(*inside):
                raise
            return inside

    def routed(self, path: str) -> tuple[Folder, str]:
        """`Shelf.route`, with the same said of a leading "/"."""
        return self.placed(path) or self._shelf.route(path)

    def _found(self, ref: str, use: Callable[[Folder, str], T], *, for_write: bool = False) -> T:
        """What `use` makes of the file that `ref` means; it is what finds out whether the file is there."""
        place = self.placed(ref)
        missing: NoteError | None = None
        if place is not None:
            try:
                return use(*place)
            except (NotFoundError, InvalidRequestError) as error:
                if uris.parse(ref) is not None:
                    raise
                missing = error  # InvalidRequestError: a folder, beside which there may be a note of the same name
                if isinstance(error, InvalidRequestError) and _is_folder(*place):
                    label = self._shelf.label(*place)
                    missing = InvalidRequestError(f'"{label}" is a folder, not a file. list_notes shows what is in it.')
        places = [place] if place is not None and place[1] else [(folder, ref) for folder in self._shelf]
        try:
            return use(*self._by_index(ref, places, for_write=for_write))
        except NotFoundError as error:
            raise (missing if isinstance(missing, InvalidRequestError) else error) from None

    def document(self, folder: Folder, state: FileState, data: bytes, *, scan: bool = False) -> Document:
        """A `Document` of bytes at hand."""
        label = self._shelf.label(folder, state.path)
        text = Text.decode(data) if state.kind == "note" else None
        return Document(
            path=label,
            uri=uris.to_uri(label),
            kind=state.kind,
            mime_type=uris.mime_type(state.path) if text is not None else media.mime_type(state.path, data),
            etag=etag(data),
            size=len(data),
            modified_ns=state.modified_ns,
            data=data,
            text=text,
            scan=markdown.scan(text.utf8) if scan and text is not None else None,
        )

    def written(self, folder: Folder, outcome: Outcome) -> Written:
        """What a write did, with its diff."""
        label = self._shelf.label(folder, outcome.path)
        before, after = outcome.before or b"", outcome.after or b""
        changed = outcome.before != outcome.after
        return Written(
            path=label,
            uri=uris.to_uri(label),
            etag=etag(after),
            previous_etag=None if outcome.before is None else etag(before),
            change_id=outcome.change_id,
            bytes_before=len(before),
            bytes_after=len(after),
            diff=unified(Text.decode(before).text, Text.decode(after).text, label) if changed else "",
            changed=changed,
        )

    def deleted(self, folder: Folder, outcome: Outcome, left: tuple[str, ...]) -> Deleted:
        """What a deletion did, or would do; of a note with its last text as a diff."""
        label, before = self._shelf.label(folder, outcome.path), outcome.before
        trashed = None if outcome.moved_to is None else self._shelf.label(folder, outcome.moved_to)
        if before is None:
            return Deleted(label, trashed, left, outcome.change_id)
        diff = unified(Text.decode(before).text, None, label) if kind_of(outcome.path) == "note" else ""
        return Deleted(label, trashed, left, outcome.change_id, etag(before), len(before), diff)

    def linking(self, folder: Folder, path: str) -> tuple[str, ...]:
        """The notes that link to this file, each once."""
        sources = dict.fromkeys(link.source for link in folder.index.backlinks(path))
        return tuple(self._shelf.label(folder, source) for source in sources)

    def daily_notes(self) -> tuple[Folder, DailyNotes]:
        """Where daily notes are kept: in the first folder that says so, else in the first one."""
        folders = list(self._shelf)
        for folder in folders:
            said = folder.vault.read_setting(SETTINGS)
            if said is not None:
                return folder, DailyNotes.read(said)
        return folders[0], DailyNotes.read(None)

    def templates(self, path: str) -> Templates:
        """Where the folder that `path` is in, or will be, has its templates."""
        place = self._shelf.place(path)
        folder = next(iter(self._shelf)) if place is None else place[0]
        return Templates.read(folder.vault.read_setting(TEMPLATE_SETTINGS))

    def info(self, watching: Mapping[Folder, Watching], recent: Sequence[Note], state: IndexState) -> Info:
        """The overview; `recent` are the newest notes."""
        folders: list[FolderInfo] = []
        changes: list[ChangeRecord] = []
        for each in self._served:
            folder = each.folder
            folders.append(
                FolderInfo(
                    name=folder.name,
                    notes=folder.index.count("note"),
                    attachments=folder.index.count("attachment"),
                    read_only=self._settings.read_only,
                    watching=watching[folder],
                )
            )
            for change in each.journal.recent(RECENT) if each.journal is not None else []:
                paths = tuple(self._shelf.label(folder, path) for path in change.paths)
                changes.append(ChangeRecord(change.change_id, change.tool, change.when_ns, paths))
        changes.sort(key=lambda change: change.change_id, reverse=True)
        if state.complete:
            count = sum(folder.notes + folder.attachments for folder in folders)
            state = IndexState(count, count, complete=True)
        problems, counts = self._health.look(watching, state)
        return Info(tuple(folders), tuple(recent), tuple(changes[:RECENT]), problems, state, counts)

    def labelled(self, folder: Folder, change: Change) -> Change:
        """The change with paths as clients see them."""
        old = None if change.old_path is None else self._shelf.label(folder, change.old_path)
        return Change(change.seq, change.kind, self._shelf.label(folder, change.path), change.file_kind, old)

    def _by_index(self, ref: str, places: Sequence[tuple[Folder, str]], *, for_write: bool) -> tuple[Folder, str]:
        found: list[tuple[Folder, str]] = []
        candidates: list[str] = []
        near: list[str] = []
        for folder, asked in places:
            try:
                found.append((folder, folder.index.resolve_ref(asked, for_write=for_write)))
            except AmbiguousError as error:
                candidates += (self._shelf.label(folder, path) for path in error.candidates)
            except NotFoundError as error:
                near += (self._shelf.label(folder, path) for path in error.nearest)
        candidates += (self._shelf.label(folder, path) for folder, path in found)
        if len(candidates) > 1:
            shown = ", ".join(candidates[:10]) + (", …" if len(candidates) > 10 else "")
            raise AmbiguousError(
                f"{ref!r} could be any of {len(candidates)}: {shown}. Give the whole path.", candidates
            )
        if found:
            return found[0]
        near = near[: links.MAX_NEAREST]
        hint = f" Nearest: {', '.join(near)}." if near else " list_notes shows what there is."
        raise NotFoundError(f"There is no note or file {ref!r}.{hint}", near)


def _is_folder(folder: Folder, path: str) -> bool:
    try:
        folder.vault.locate_folder(path)
    except NoteError:
        return False
    return True


def _is_there(folder: Folder, path: str) -> bool:
    """Whether a note, file or folder has that path; of a note the extension may be left out."""
    if _is_folder(folder, path):
        return True
    for ending in ("", *NOTE_EXTENSIONS):
        try:
            folder.vault.locate(path + ending)
        except (NotFoundError, InvalidRequestError):
            continue
        except ForbiddenError:
            return False
        return True
    return False
