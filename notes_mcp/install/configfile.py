"""A config file on disk: looked at, and written only if it is still what was looked at.

Writing is atomic (a temporary file beside, fsync, rename), keeps mode and owner, follows a link to
the file it names, and leaves the bytes from before beside it. Raises EnvironmentFault in the user's words.
"""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from notes_mcp.faults import EnvironmentFault

BACKUP = ".bak-notes-mcp"
_MARK = "\ufeff"


@dataclass(frozen=True)
class Config:
    """What was seen: the path as named, the file behind its links, its bytes (None: there is none)."""

    path: Path
    target: Path
    seen: bytes | None

    @property
    def text(self) -> str:
        """The text without its byte order mark. Raises EnvironmentFault where it is not UTF-8."""
        return _text(self.seen or b"", self.path).removeprefix(_MARK)

    @property
    def backup(self) -> Path:
        """Where the bytes from before a change are kept."""
        return self.target.with_name(self.target.name + BACKUP)

    def earlier(self) -> str | None:
        """The text of the backup, if there is one that can be read as such."""
        try:
            return self.backup.read_bytes().decode().removeprefix(_MARK)
        except (FileNotFoundError, UnicodeDecodeError):
            return None


def look(path: Path) -> Config:
    """Reads the file; it need not exist. Raises EnvironmentFault where something else is in its place."""
    target = Path(os.path.realpath(path))
    with _in_words(path):
        try:
            return Config(path, target, target.read_bytes())
        except FileNotFoundError:
            return Config(path, target, None)


def write(config: Config, text: str) -> Path | None:
    """Puts `text` in its place. Returns where the bytes from before are, None where there was no file.

    Raises EnvironmentFault, with nothing written, where the file is read-only or no longer what `config` saw.
    """
    with _in_words(config.path):
        _require_same(config)
        _require_writable(config)
        config.target.parent.mkdir(parents=True, exist_ok=True)
        mark = _MARK if (config.seen or b"").startswith(_MARK.encode()) else ""
        with _beside(config.target, (mark + text).encode(), config.target) as new:
            _require_same(config)  # once more: an instant before it takes its place
            if config.seen is not None:
                with _beside(config.backup, config.seen, config.target) as kept:
                    os.replace(kept, config.backup)
            os.replace(new, config.target)
        _sync_folder(config.target.parent)
    return config.backup if config.seen is not None else None


@contextmanager
def _beside(path: Path, data: bytes, like: Path) -> Iterator[Path]:
    """A temporary file beside `path` that holds `data`, with mode and owner of `like`; gone afterwards."""
    number, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    temporary = Path(name)
    try:
        with open(number, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if like.exists():
            wanted, own = like.stat(), temporary.stat()
            if (wanted.st_uid, wanted.st_gid) != (own.st_uid, own.st_gid):
                os.chown(temporary, wanted.st_uid, wanted.st_gid)
            os.chmod(temporary, wanted.st_mode & 0o7777)
        yield temporary
    finally:
        with contextlib.suppress(FileNotFoundError):  # it has taken its place
            temporary.unlink()


def _require_same(config: Config) -> None:
    if look(config.path) != config:
        raise EnvironmentFault(
            "the file was changed since it was looked at; nothing was written",
            str(config.path),
            "run this again; if it happens each time, close the client first",
        )


def _require_writable(config: Config) -> None:
    """A rename would not mind, but whoever made the file read-only meant it."""
    if config.seen is not None and (not config.target.stat().st_mode & 0o222 or not os.access(config.target, os.W_OK)):
        raise EnvironmentFault(
            "the config is read-only; nothing was written",
            str(config.target),
            "make it writable, or, where another program writes it (Nix, a dotfiles manager), add the entry there: "
            "--print shows it",
        )


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _text(data: bytes, path: Path) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise EnvironmentFault(
            "the config is not UTF-8; nothing was written",
            f"{path}, line {line}",
            "save it as UTF-8 in an editor, or add the entry by hand: --print shows it",
        ) from None


@contextmanager
def _in_words(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise EnvironmentFault(
            f"the config cannot be read or written: {error.strerror or error}",
            str(error.filename or path),
            "give this user the right to write it, close the client if it holds it, or name another file with --config",
        ) from None
