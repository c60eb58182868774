"""The path gate's rules: what a path may look like, and what exists for clients at all.

Pure: no disk, no links. `Vault` asks twice, before touching the disk with the path
as it came and after links are resolved with the path as it is. Data: a client's string ->
`normalise` -> `Policy.visible`. Compares whole path components, never string prefixes.
"""

import os
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from notes_mcp.errors import HiddenError, InvalidRequestError
from notes_mcp.notes.disk.ignore import Pattern, Patterns, compile_pattern, is_blank
from notes_mcp.notes.records import FileKind

NOTE_EXTENSIONS = (".md", ".markdown", ".txt", ".org", ".rst")
IGNORE_FILE = ".notesignore"
TEMP_PREFIX, TEMP_SUFFIX = ".notes-mcp-", ".tmp"

WINDOWS = os.name == "nt"
HIDDEN_FOLDERS = frozenset({"node_modules"})

# What editors, browsers and sync tools leave beside a note for a moment. Names that start with a dot
# (.swp, .#x, .~lock.x#, .goutputstream-…, .syncthing.x.tmp) are hidden anyway.
_TEMP_NAME = re.compile(
    r"""
      4913                                      # vim tries whether it may write
    | .*~ | \#.*\# | ~\$.*                      # backups; emacs; Office
    | .*\.(?:tmp|temp|sw[a-px]|crdownload|part|partial)
    | .*\.tmp\.\d+(?:\.\d+)*                    # VS Code and agents: name.tmp.PID.TIME
    | .*\.(?:md|markdown|txt|org|rst)\.\d{5,}   # write-file-atomic: name.HASH
    | .*\.sb-[0-9a-f]{8}-\w{6}                  # macOS document saves
    | .*___jb_(?:tmp|old|bak)___                # JetBrains
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)

# Dropbox in several languages, Nextcloud, Obsidian Sync, iCloud; Syncthing; Resilio.
_CONFLICT_COPY = re.compile(
    r"\([^()]*(?:conflicted copy|conflict copy|case conflict|in konflikt stehende kopie|konflikt|copie en conflit"
    r"|copia en conflicto|copia in conflitto|cópia em conflito|conflicterende kopie"
    r"|конфликт|冲突|衝突|競合|충돌)[^()]*\)"
    r"|\.sync-conflict-\d{8}-\d{6}|\.conflict(?:ed)?(?=\.[^.]+$)",
    re.IGNORECASE,
)

_PLACEHOLDER = re.compile(r"\.(.+)\.icloud", re.DOTALL)
_DRIVE = re.compile(r"[A-Za-z]:")
_WINDOWS_UNFIT = re.compile(r'[<>:"|?*\x00-\x1f]|[. ]$')
_WINDOWS_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?: *\..*)?", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SPACES = re.compile(r"[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")


def kind_of(path: str) -> FileKind:
    """ "note" for the extensions notes have, in any letter case; "attachment" for every other file."""
    return "note" if path.casefold().endswith(NOTE_EXTENSIONS) else "attachment"


def fold(name: str, *, case: bool) -> str:
    """The form in which two names look alike: NFC, every space plain, and casefolded if `case`."""
    plain = _SPACES.sub(" ", unicodedata.normalize("NFC", name))
    return unicodedata.normalize("NFC", plain.casefold()) if case else plain


def is_hidden(name: str) -> bool:
    """A leading dot hides; two of them do not (`..dots.md` is a name like others)."""
    return name.startswith(".") and not name.startswith("..")


def placeholder_for(name: str) -> str | None:
    """The file that iCloud's `.name.icloud` stands for, or None for every other name."""
    match = _PLACEHOLDER.fullmatch(name)
    return match[1] if match else None


def is_conflict_copy(path: str) -> bool:
    """Whether a sync tool named the file as the loser of two edits."""
    return _CONFLICT_COPY.search(path.rpartition("/")[2]) is not None


def is_own_temp(name: str) -> bool:
    """Whether the name is one of our own unfinished writes."""
    return name.startswith(TEMP_PREFIX) and name.endswith(TEMP_SUFFIX)


def fit_root(text: str, *, windows: bool = WINDOWS) -> str:
    """The folder as the user named it, except that Windows' bare drive `C:` means `C:\\`."""
    return text + "\\" if windows and _DRIVE.fullmatch(text) else text


def normalise(path: str, *, windows: bool = WINDOWS) -> str:
    """A client's path as "/"-joined components relative to the folder; "" is the folder itself.

    "\\" separates like "/"; empty and "." components go. Raises HiddenError for absolute paths, for
    a component that is ".." (even where it would stay inside) and for names Windows would read as
    another name; InvalidRequestError for NUL and for text that is not Unicode.
    """
    if "\0" in path:
        raise InvalidRequestError("A path cannot contain a NUL character.")
    if not path.isascii() and _SURROGATE.search(path):
        raise InvalidRequestError("A path must be valid Unicode text; this one holds half a surrogate pair.")
    slashed = path.replace("\\", "/")
    parts = [part for part in slashed.split("/") if part not in ("", ".")]
    if not parts:
        return ""
    if slashed.startswith("/") or (_DRIVE.match(path) and (windows or path[2:3] == "\\")):
        raise HiddenError(f'"{path}" is absolute. Paths are relative to the notes folder, like "Projects/Plan.md".')
    if ".." in parts:
        raise HiddenError(f'"{path}" contains "..". Give the path from the top of the notes folder.')
    if windows:
        for part in parts:
            _refuse_windows_unfit(part)
    return "/".join(parts)


def _refuse_windows_unfit(name: str) -> None:
    if _WINDOWS_UNFIT.search(name) or _WINDOWS_DEVICE.fullmatch(name):
        raise HiddenError(f'"{name}" is not a usable file name on Windows.')


def check_new_name(name: str) -> None:
    """Refuses a name that can be read if it is there, but that nobody means to make. InvalidRequestError."""
    if _CONTROL.search(name):
        raise InvalidRequestError(f"A new file name cannot contain control characters or line breaks: {name!r}.")


class Policy:
    """Which files and folders exist for clients. Immutable; made anew when the ignore patterns change.

    `patterns` are gitignore lines in order. `rejected` holds those that mean nothing; they are left out.
    On a root that ignores case, so do the patterns; normal forms of Unicode never matter.
    """

    def __init__(self, patterns: Sequence[str] = (), *, fold_case: bool = False) -> None:
        self._fold_case = fold_case
        usable: list[Pattern] = []
        rejected: list[str] = []
        for line in patterns:
            if is_blank(line):
                continue
            try:
                usable.append(replace(compile_pattern(self._folded(line)), line=line.strip()))
            except ValueError:
                rejected.append(line)
        self._patterns = Patterns(usable) if usable else None
        self.rejected: tuple[str, ...] = tuple(rejected)

    def _folded(self, text: str) -> str:
        composed = text if text.isascii() else unicodedata.normalize("NFC", text)
        return composed.casefold() if self._fold_case else composed

    def shows(self, path: str, name: str, is_dir: bool) -> bool:
        """Whether the last component, `name`, of `path` is visible where everything above it is."""
        if is_hidden(name):
            return False
        if is_dir:
            if name in HIDDEN_FOLDERS or name.casefold() in HIDDEN_FOLDERS:
                return False
        elif _TEMP_NAME.fullmatch(name):
            return False
        if self._patterns is None:
            return True
        return not self._patterns.ignores(self._folded(path), self._folded(name), is_dir)

    def rule(self, path: str, name: str, is_dir: bool) -> str:
        """Which rule that a person may not think of hides what `shows` does not show: a pattern as it was written,
        or `node_modules`. "" for a leading dot and for temporary files."""
        if is_hidden(name):
            return ""
        if is_dir and name.casefold() in HIDDEN_FOLDERS:
            return name.casefold()
        found = self._patterns and self._patterns.deciding(self._folded(path), self._folded(name), is_dir)
        return found.line if found else ""

    def visible(self, path: str, is_dir: bool) -> bool:
        """Whether `path` ("/"-separated, relative) exists for clients. As in git, nothing inside an ignored
        folder can be brought back. The folder itself, "", is visible."""
        start = 0
        while (slash := path.find("/", start)) >= 0:
            if not self.shows(path[:slash], path[start:slash], True):
                return False
            start = slash + 1
        return not path or self.shows(path, path[start:], is_dir)


def read_patterns(data: bytes) -> list[str]:
    """The lines of an ignore file, whatever line ends, byte order mark or UTF-16 Notepad gave it."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", "replace")
    else:
        text = data.decode("utf-8-sig", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
