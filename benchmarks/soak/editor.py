"""An editor that knows nothing of the servers: it writes, appends, moves and deletes notes of its own, and checks them.

What lies in `FOLDER` belongs to it alone. Before each change, and at the end, the disk must hold exactly the bytes that
it wrote, under exactly the names that it gave.
"""

import asyncio
import os
import random
from pathlib import Path

FOLDER = "Editor"
MOST_NOTES = 60
PAUSE_SECONDS = 0.12


class Editor:
    """`run` until cancelled, then `check`."""

    def __init__(self, root: Path, seed: int) -> None:
        self.faults: list[str] = []
        self.changes = 0
        self.paths: list[str] = []
        """The notes there are, relative to the folder; the clients look at them."""
        self._root = root
        self._rng = random.Random(seed)
        self._bytes: dict[str, bytes] = {}
        for _ in range(MOST_NOTES // 2):
            self._save(f"{FOLDER}/{self._name()}")

    async def run(self) -> None:
        """One change after the other; now and then many at once, as a checkout or a sync tool makes them."""
        while True:
            for _ in range(20 if self._rng.random() < 0.02 else 1):
                self._change()
            await asyncio.sleep(self._rng.random() * 2 * PAUSE_SECONDS)

    def check(self) -> None:
        """Compares everything it owns with the disk."""
        for path in self.paths:
            self._look(path)
        there = {str(file.relative_to(self._root)) for file in (self._root / FOLDER).rglob("*") if file.is_file()}
        if there != set(self.paths):
            self.faults.append(f"other names in {FOLDER}/: {sorted(there ^ set(self.paths))[:10]}")

    def _change(self) -> None:
        path = self._rng.choice(self.paths)
        self._look(path)
        kind = self._rng.random()
        if kind < 0.35:
            self._save(path)
        elif kind < 0.55:
            self._append(path)
        elif kind < 0.7:
            self._write_in_place(path)
        elif kind < 0.85:
            self._move(path)
        elif len(self.paths) > MOST_NOTES // 4 and kind < 0.92:
            (self._root / path).unlink()
            self._forget(path)
        elif len(self.paths) < MOST_NOTES:
            self._save(f"{FOLDER}/{self._name()}")
        self.changes += 1

    def _name(self) -> str:
        folder = self._rng.choice(("", "", "日记/", "Deep/er/"))
        return f"{folder}{self._rng.choice(('Note', '计划', '메모'))} {self.changes}-{len(self._bytes)}.md"

    def _text(self) -> bytes:
        words = " ".join(self._rng.choice(("garden", "止损", "しりとり", "tide", "한국어")) for _ in range(40))
        end = self._rng.choice(("\n", "\r\n"))
        lines = [
            "---",
            f"status: s{self._rng.randrange(9)} # mine",
            "tags: [editor]",
            "---",
            f"# {self.changes}",
            words,
        ]
        return end.join([*lines, *([words] * self._rng.randrange(30)), ""]).encode()

    def _save(self, path: str) -> None:
        """As most editors do: a temporary file beside it, renamed."""
        data, file = self._text(), self._root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        fresh = file.with_name(f".{file.name}.swp")
        fresh.write_bytes(data)
        fresh.replace(file)
        self._remember(path, data)

    def _append(self, path: str) -> None:
        more = f"\nappended {self.changes}\n".encode()
        with (self._root / path).open("ab") as file:
            file.write(more)
        self._remember(path, self._bytes[path] + more)

    def _write_in_place(self, path: str) -> None:
        data = self._text()
        with (self._root / path).open("wb") as file:
            for at in range(0, len(data), 100):
                file.write(data[at : at + 100])
                file.flush()
        self._remember(path, data)

    def _move(self, path: str) -> None:
        new = f"{FOLDER}/{self._name()}"
        (self._root / new).parent.mkdir(parents=True, exist_ok=True)
        os.rename(self._root / path, self._root / new)
        self._remember(new, self._bytes[path])
        self._forget(path)

    def _remember(self, path: str, data: bytes) -> None:
        if path not in self._bytes:
            self.paths.append(path)
        self._bytes[path] = data

    def _forget(self, path: str) -> None:
        self.paths.remove(path)
        del self._bytes[path]

    def _look(self, path: str) -> None:
        try:
            found = (self._root / path).read_bytes()
        except OSError as error:
            self.faults.append(f"the editor's {path} cannot be read: {error}")
            return
        if found != self._bytes[path]:
            self.faults.append(f"the editor's {path} is not as it was saved: {found[:200]!r}")
