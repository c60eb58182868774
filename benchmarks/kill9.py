"""`python -m benchmarks.kill9`: ends a writer with SIGKILL at random instants, over every kind of write.

A child process writes without a pause: new notes, edits, tags everywhere, moves of notes and folders with
their links, deletions, undo. Before each write it tells what the folder will be afterwards (from a dry
run), then it is killed. What a new process then finds must be the folder before that write or after it,
whole; its index must agree, and what was done must be undoable. Needs fork. Exit code 1 on the first fault.
"""

import argparse
import json
import os
import random
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from notes_mcp.notes.changes.journal import Journal
from notes_mcp.notes.changes.moving import Mover
from notes_mcp.notes.changes.sweeping import Sweeper
from notes_mcp.notes.changes.transaction import Transactions
from notes_mcp.notes.changes.undoing import Undoer
from notes_mcp.notes.changes.writing import Writer
from notes_mcp.notes.disk.gate import is_own_temp
from notes_mcp.notes.disk.vault import Vault
from notes_mcp.notes.disk.writelock import WriteLock
from notes_mcp.notes.edits import tagging
from notes_mcp.notes.folder import Folder
from notes_mcp.notes.index.index import Index
from notes_mcp.notes.properties.propertyedit import TagChange
from notes_mcp.notes.records import FileState

Files = dict[str, str]  # path -> bytes, each as the character of that number

WRITES_A_CHILD = 60
USUAL_MS = 20.0
"""How long a write takes, until some were measured; the kill comes within twice that from its start."""


class House:
    """One folder and all that writes to it, as a server has it."""

    def __init__(self, base: Path) -> None:
        self.root, state = base / "notes", base / "state"
        self.root.mkdir(exist_ok=True)
        state.mkdir(exist_ok=True)
        self.vault = Vault(self.root)
        self.folder = Folder("notes", self.vault, Index.open(base / "index.db"))
        self.journal = Journal(state / "journal")
        transactions = Transactions(self.folder, self.journal, WriteLock(self.root, state))
        self.found_pending = len(self.journal.pending())
        transactions.recover()
        survey = self.folder.survey()
        for portion in self.folder.chunks(survey):
            self.folder.refresh(seen=portion)
        self.folder.refresh(survey.missing, sure=True)
        self.writer = Writer(self.folder, transactions, read_only=False)
        self.mover = Mover(self.folder, transactions, read_only=False)
        self.sweeper = Sweeper(self.folder, transactions, read_only=False)
        self.undoer = Undoer(self.folder, self.journal, transactions, read_only=False)

    def files(self) -> Files:
        """Every file, also in the trash, but for unfinished temp files of ours."""
        return {
            str(path.relative_to(self.root)): path.read_bytes().decode("latin-1")
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and not is_own_temp(path.name)
        }

    def close(self) -> None:
        """Ends the connections, so that the process can fork."""
        self.folder.index.close()


@dataclass
class Write:
    """One write to come: what it is, what the folder is afterwards, and how to do it (gives the change's id)."""

    name: str
    after: Files
    do: Callable[[], str | None]


class Writes:
    """Random writes to one folder, each with what must come of it."""

    def __init__(self, house: House, seed: int) -> None:
        self._house = house
        self._random = random.Random(seed)
        self._before: Files | None = None  # of the newest change, if it can be undone

    def next(self, files: Files) -> Write:
        """The next one, planned on the folder as it is."""
        kinds = [self._create, self._edit, self._edit, self._delete, self._remove, self._move, self._move_folder]
        kinds += [self._tags, self._undo]
        while True:
            write = self._random.choice(kinds)(dict(files))
            if write is not None and write.after != files:
                self._before = None if write.name == "undo" else files
                return write

    def _pick(self, files: Files) -> str | None:
        notes = [path for path in files if path.endswith(".md") and not path.startswith(".trash/")]
        return self._random.choice(notes) if notes else None

    def _text(self, files: Files) -> bytes:
        links = "".join(f"[[{Path(self._pick(files) or 'x.md').stem}]] " for _ in range(self._random.randint(0, 4)))
        words = "words é中 " * self._random.choice([1, 5, 400])
        return f"# Title\r\n{links}#tag{self._random.randint(0, 3)}/x {words}\n".encode()

    def _create(self, files: Files) -> Write | None:
        if len(files) > 60:
            return None
        path = f"d{self._random.randint(0, 3)}/note {self._random.getrandbits(24):06x}.md"
        data = self._text(files)
        files[path] = data.decode("latin-1")
        return Write("create", files, lambda: self._house.writer.create(path, data, dry_run=False, tool="k").change_id)

    def _edit(self, files: Files) -> Write | None:
        path = self._pick(files)
        if path is None:
            return None
        more = self._text(files)

        def edit(*, dry_run: bool) -> Any:
            change = lambda state, data: data + more  # noqa: E731
            return self._house.writer.edit(path, change, if_match=None, dry_run=dry_run, tool="k")

        files[path] = edit(dry_run=True).after.decode("latin-1")
        return Write("edit", files, lambda: edit(dry_run=False).change_id)

    def _delete(self, files: Files) -> Write | None:
        return self._gone(files, permanent=False)

    def _remove(self, files: Files) -> Write | None:
        return self._gone(files, permanent=True)

    def _gone(self, files: Files, *, permanent: bool) -> Write | None:
        path = self._pick(files)
        if path is None or len(files) < 12:
            return None

        def delete(*, dry_run: bool) -> Any:
            return self._house.writer.delete(path, permanent=permanent, if_match=None, dry_run=dry_run, tool="k")

        place, data = delete(dry_run=True).moved_to, files.pop(path)
        if place is not None:
            files[place] = data
        return Write("remove" if permanent else "trash", files, lambda: delete(dry_run=False).change_id)

    def _move(self, files: Files) -> Write | None:
        path = self._pick(files)
        return None if path is None else self._moved(files, path, f"m{self._random.randint(0, 2)}/n")

    def _move_folder(self, files: Files) -> Write | None:
        folders = sorted({path.partition("/")[0] for path in files if "/" in path and not path.startswith(".")})
        return self._moved(files, self._random.choice(folders), "f") if folders else None

    def _moved(self, files: Files, path: str, prefix: str) -> Write:
        new = f"{prefix}{self._random.getrandbits(16):04x}"

        def move(*, dry_run: bool) -> Any:
            how = {"update_links": True, "if_match": None, "dry_run": dry_run, "tool": "k"}
            return self._house.mover.move(path, new, **how)

        shown = move(dry_run=True)
        below = path + "/"
        after = {
            shown.new_path + old[len(path) :] if old == path or old.startswith(below) else old: data
            for old, data in files.items()
        }
        after |= {each.path: each.after.decode("latin-1") for each in shown.relinked}
        return Write("move folder" if shown.folder else "move", after, lambda: move(dry_run=False).change_id)

    def _tags(self, files: Files) -> Write | None:
        old, new = f"tag{self._random.randint(0, 3)}", f"tag{self._random.randint(0, 3)}"
        change = TagChange(rename=((old, new),))

        def renamed(state: FileState, data: bytes) -> tuple[bytes, int]:
            tagged = tagging.apply(state.path, data, change)
            return tagged.data, tagged.count

        def sweep(*, dry_run: bool) -> Any:
            return self._house.sweeper.sweep(renamed, paths=None, tags=[old], dry_run=dry_run, tool="k")

        files |= {each.path: each.after.decode("latin-1") for each in sweep(dry_run=True).changed}
        return Write("tags", files, lambda: sweep(dry_run=False).change_id)

    def _undo(self, files: Files) -> Write | None:
        latest, before = self._house.journal.latest(), self._before
        if before is None or latest is None:
            return None
        if latest.images[0].kind == "create":
            place = self._house.vault.trash_place(latest.images[0].path)
            before = {**before, place: files[latest.images[0].path]}
        return Write("undo", before, lambda: self._house.undoer.undo(latest.change_id).change_id)


def write_until_killed(base: Path, seed: int, out: int) -> None:
    """The child: one write after the other; a line before each and one after it."""
    house = House(base)
    writes = Writes(house, seed)
    files = house.files()
    for _ in range(WRITES_A_CHILD):
        write = writes.next(files)
        _say(out, {"begins": write.name, "after": write.after})
        began = time.perf_counter()
        change_id = write.do()
        took = (time.perf_counter() - began) * 1000
        files = house.files()
        _say(out, {"done": change_id, "took_ms": took, "as_planned": files == write.after})
        if files != write.after:
            return


def _say(out: int, message: dict[str, Any]) -> None:
    line = memoryview(json.dumps(message).encode() + b"\n")
    while line:
        line = line[os.write(out, line) :]


@dataclass
class Tally:
    """What happened over all kills."""

    during: Counter[str] = field(default_factory=Counter)
    old: int = 0
    new: int = 0
    between: int = 0
    pending: int = 0
    undone: int = 0
    writes: int = 0
    took_ms: list[float] = field(default_factory=list)
    recovery_ms: list[float] = field(default_factory=list)


class Fault(Exception):
    """Something that must not be."""


def kill_once(base: Path, before: Files, chance: random.Random, tally: Tally) -> Files:
    """One child, killed; gives the folder as a new process then finds it. Raises Fault."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        try:
            write_until_killed(base, chance.getrandbits(32), writing)
        finally:
            os._exit(3)
    os.close(writing)
    with os.fdopen(reading, "rb") as said:
        lines: list[dict[str, Any]] = []
        for _ in range(2 * chance.randint(0, 4) + 1):
            line = said.readline()
            if line.endswith(b"\n"):
                lines.append(json.loads(line))
        usual = statistics.median(tally.took_ms[-99:]) if tally.took_ms else USUAL_MS
        time.sleep(chance.random() * 2 * usual / 1000)
        os.kill(child, signal.SIGKILL)
        lines += [json.loads(line) for line in said if line.endswith(b"\n")]
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status) and len(lines) < 2 * WRITES_A_CHILD:
        raise Fault(f"the writer ended by itself: {lines[-1:]}")
    return _check(base, before, lines, chance, tally)


def _check(base: Path, before: Files, lines: list[dict[str, Any]], chance: random.Random, tally: Tally) -> Files:
    begun, last = None, None
    for line in lines:
        if "begins" in line:
            begun = line
            continue
        if not line["as_planned"]:
            raise Fault(f"{begun and begun['begins']}: the folder is not what the dry run said")
        assert begun is not None
        before, last, begun = begun["after"], line["done"], None
        tally.writes += 1
        tally.took_ms.append(line["took_ms"])
    began = time.perf_counter()
    house = House(base)
    try:
        tally.recovery_ms.append((time.perf_counter() - began) * 1000)
        tally.pending += house.found_pending
        return _judge(house, before, begun, last, chance, tally)
    finally:
        house.close()


def _judge(
    house: House, before: Files, begun: dict[str, Any] | None, last: str | None, chance: random.Random, tally: Tally
) -> Files:
    now, latest = house.files(), house.journal.latest()
    name = begun["begins"] if begun else "between two writes"
    tally.during[name] += 1
    if now == before:
        tally.old += begun is not None
        tally.between += begun is None
        if last is not None and (latest is None or latest.change_id != last):
            raise Fault(f"{name}: nothing of it is there, but the journal's latest is {latest and latest.change_id}")
    elif begun and now == begun["after"]:
        tally.new += 1
        if chance.random() < 0.5 and name not in ("undo", "create"):
            if house.undoer.undo().refused or house.files() != before:
                raise Fault(f"{name}: done before the kill, but undoing it does not give back the folder")
            tally.undone += 1
    else:
        paths = [path for path in now.keys() | before.keys() if now.get(path) != before.get(path)]
        raise Fault(f"{name}: neither before nor after; differs from before in {paths[:9]}")
    if house.journal.pending():
        raise Fault(f"{name}: a change is still pending")
    known = {path: stamp[3] for path, stamp in house.folder.index.known().items()}
    there = {file.path: house.vault.etag(file.path) for file in house.vault.scan().files}
    if known != there:
        raise Fault(f"{name}: the index does not agree with the disk")
    return house.files()


def first_notes() -> Iterator[tuple[str, bytes]]:
    """Enough notes, with links and tags, for every kind of write to have something to do."""
    for n in range(16):
        yield (
            f"d{n % 4}/start {n}.md",
            f"# {n}\n[[start {(n + 1) % 16}]] [x](../d{n % 3}/start%20{n}.md) #tag{n % 4}\n".encode(),
        )
    yield "d0/.hidden", b"goes along"


def main() -> int:
    """Kill, check, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kill9", description=__doc__)
    parser.add_argument("--times", type=int, default=500)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    seed = random.SystemRandom().getrandbits(32) if options.seed is None else options.seed
    chance, tally = random.Random(seed), Tally()
    print(f"seed {seed}")
    with tempfile.TemporaryDirectory(prefix="notes-mcp-kill9-") as scratch:
        base = Path(scratch)
        for path, data in first_notes():
            (base / "notes" / path).parent.mkdir(parents=True, exist_ok=True)
            (base / "notes" / path).write_bytes(data)
        house = House(base)
        files = house.files()
        house.close()
        began = time.perf_counter()
        for number in range(options.times):
            try:
                files = kill_once(base, files, chance, tally)
            except Fault as fault:
                print(f"kill {number + 1}: {fault}")
                return 1
        took = time.perf_counter() - began
    print(f"{options.times} kills in {took:.0f} s, {tally.writes} writes in peace, none lost, none half done")
    print(f"in a write: {tally.old} as before it, {tally.new} as after it; between two: {tally.between}")
    print(f"pending changes found and settled: {tally.pending}; undone after the kill: {tally.undone}")
    print("killed in:", ", ".join(f"{name} {count}" for name, count in tally.during.most_common()))
    for name, found in (("a write", tally.took_ms), ("opening again", tally.recovery_ms)):
        if found:
            print(f"{name}: median {statistics.median(found):.1f} ms, longest {max(found):.1f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
