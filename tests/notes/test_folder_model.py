"""Whatever happens on disk, and whichever part of it which of two servers looks at in between, their index becomes what
it would be if it were built from nothing; and its change log tells both how it got there."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from _served import brought_up, folder_of
from _tables import everything, require_sound
from disk_rights import without_root_rights
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from notes_mcp.notes.disk.vault import Vault
from notes_mcp.notes.folder import Folder
from notes_mcp.notes.index.index import Index

FILES = (
    "a.md",
    "A.md",
    "b.md",
    "é.md",
    "e\u0301.md",
    "d/a.md",
    "d/b.md",
    "d/e/c.md",
    "D/a.md",
    "图.txt",
    "p.png",
    ".b.md",
)
FOLDERS = ("d", "d/e", "D", "f", ".d")
BODIES = (
    "",
    "alpha [[b]] #tag\n",
    "omega [[a]] #gat\n",
    "---\naliases: [one]\ntags: [x/y]\n---\n# Head\n[l](d/a.md) 止损\n",
    "---\nbroken: [\n---\ntext ![[p.png]]\n",
    b"\xff\xfe\xfa no text",
)
IGNORES = ("", "d/\n", "*.txt\n!图.txt\nb.md\n", "/a.md\n", "e/\n*.png\n")
FILE, FOLDER = st.sampled_from(FILES), st.sampled_from(FOLDERS)
PLACE = st.one_of(FILE, FOLDER)
SERVER = st.integers(0, 1)
STEP = st.one_of(
    st.tuples(st.just("write"), FILE, st.sampled_from(BODIES)),
    st.tuples(st.just("rewrite"), FILE),
    st.tuples(st.just("move"), PLACE, PLACE),
    st.tuples(st.just("swap"), FILE, FILE),
    st.tuples(st.just("remove"), PLACE),
    st.tuples(st.just("folder"), PLACE),
    st.tuples(st.just("link"), PLACE, st.sampled_from((*FILES, *FOLDERS, "../outside", "../outside/o.md"))),
    st.tuples(st.just("twin"), FILE, FILE),
    st.tuples(st.just("touch"), PLACE),
    st.tuples(st.just("lock"), PLACE),
    st.tuples(st.just("unlock")),
    st.tuples(st.just("ignore"), st.sampled_from(IGNORES)),
    st.tuples(st.just("evict"), FILE),
    st.tuples(st.just("look"), SERVER, st.lists(st.one_of(PLACE, st.just("")), max_size=4), st.booleans()),
    st.tuples(st.just("compare"), SERVER),
)


class Disk:
    """A folder that people, editors and sync tools work on. A step that is not possible just now does nothing."""

    def __init__(self, base: Path) -> None:
        self.root = base / "notes"
        self.root.mkdir()
        (base / "outside").mkdir()
        (base / "outside/o.md").write_text("not ours\n")

    def write(self, path: str, body: str | bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body if isinstance(body, bytes) else body.encode())

    def rewrite(self, path: str) -> None:
        """Other bytes, as many, and the old time."""
        file = self.root / path
        before, data = file.stat(), file.read_bytes()
        with file.open("r+b") as there:
            there.write(bytes(reversed(data)))
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    def move(self, path: str, to: str) -> None:
        (self.root / to).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).rename(self.root / to)

    def swap(self, path: str, other: str) -> None:
        (self.root / path).rename(self.root / ".swap")
        (self.root / other).rename(self.root / path)
        (self.root / ".swap").rename(self.root / other)

    def remove(self, path: str) -> None:
        place = self.root / path
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink()

    def folder(self, path: str) -> None:
        with contextlib.suppress(OSError):
            self.remove(path)
        self.write(f"{path}/in.md", f"in {path}\n")

    def link(self, path: str, target: str) -> None:
        with contextlib.suppress(OSError):
            self.remove(path)
        (self.root / path).symlink_to(self.root / target)

    def twin(self, path: str, other: str) -> None:
        os.link(self.root / path, self.root / other, follow_symlinks=False)

    def touch(self, path: str) -> None:
        os.utime(self.root / path, (1, 1), follow_symlinks=False)

    def lock(self, path: str) -> None:
        (self.root / path).chmod(0)

    def unlock(self) -> None:
        for place in (*FOLDERS, *FILES):
            with contextlib.suppress(OSError):
                file = self.root / place
                if not file.is_symlink():
                    file.chmod(0o755 if file.is_dir() else 0o644)

    def ignore(self, text: str) -> None:
        (self.root / ".notesignore").write_text(text, encoding="utf-8")

    def evict(self, path: str) -> None:
        file = self.root / path
        file.rename(file.with_name(f".{file.name}.icloud"))


class Log:
    """The files there are, by what the change log told."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.paths = set(folder.index.below(""))

    def follow(self) -> None:
        for change in self.folder.news()[0]:
            assert (change.path in self.paths) == (change.kind in ("updated", "deleted")), change
            if change.kind == "deleted":
                self.paths.remove(change.path)
            elif change.kind != "updated":
                self.paths.add(change.path)
            if change.old_path is not None:
                self.paths.remove(change.old_path)
        assert self.paths == set(self.folder.index.below(""))


def tick(root: Path) -> None:
    """Until a write now has another time than all before: the kernel's clock ticks in milliseconds."""
    clock = root.parent / "clock"
    clock.touch()
    before = clock.stat().st_ctime_ns
    while clock.stat().st_ctime_ns == before:
        clock.touch()


@contextlib.contextmanager
def place() -> Iterator[Path]:
    base = Path(tempfile.mkdtemp(prefix="notes-mcp-model-"))
    try:
        yield base
    finally:
        for folder, _, _ in os.walk(base):
            Path(folder).chmod(0o755)
        shutil.rmtree(base)


@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEP, min_size=2, max_size=14))
def test_any_sequence_of_events_leaves_the_index_that_a_first_look_would_make(steps: list[tuple[object, ...]]) -> None:
    with place() as base, without_root_rights():
        disk = Disk(base)
        for path in ("a.md", "d/a.md", "d/e/c.md", "p.png"):
            disk.write(path, BODIES[1])
        servers = [Folder(name, Vault(disk.root), Index.open(base / "index.db")) for name in ("one", "two")]
        folder = brought_up(servers[0])
        servers[1].news()
        logs = [Log(server) for server in servers]
        does: dict[object, Callable[..., object]] = {
            "look": lambda server, paths, sure: servers[server].refresh(paths, sure=sure),
            "compare": lambda server: brought_up_again(servers[server]),
        }
        for name, *given_to in steps:
            tick(disk.root)
            if name in does:
                does[name](*given_to)
                for log in logs:
                    log.follow()
                continue
            with contextlib.suppress(OSError, shutil.Error):
                getattr(disk, str(name))(*given_to)
        disk.unlock()
        brought_up_again(folder)
        for log in logs:
            log.follow()
        fresh = brought_up(folder_of(disk.root))
        assert everything(folder.index) == everything(fresh.index)
        assert folder.survey().missing == ()
        require_sound(folder.index)
        for each in (*servers, fresh):
            each.index.close()


def brought_up_again(folder: Folder) -> None:
    """As the keeper does it, news left to whoever asks for them."""
    survey = folder.survey()
    for portion in folder.chunks(survey):
        folder.refresh(seen=portion, quiet=survey.first)
    folder.refresh(survey.missing, sure=True)
