"""The lines that clients appended to logs, alone and all to one, and whether each is there as it must be."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

LINES_A_LOG = 200


@dataclass
class Logs:
    """Lines that clients appended to logs, by the log's path. `sure`: acknowledged; `open`: not, or not yet."""

    sure: dict[str, list[str]] = field(default_factory=dict)
    open: dict[str, set[str]] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)

    def faults(self, root: Path) -> list[str]:
        """Each acknowledged line must be there once, every other at most once, and nothing else."""
        found: list[str] = []
        for path in {*self.sure, *self.open}:
            file = root / path
            seen = Counter(file.read_text("utf-8").splitlines() if file.exists() else ())
            sure, unsure = self.sure.get(path, []), self.open.get(path, set())
            found += [f"{path}: {line!r} is there {seen[line]} times" for line in sure if seen[line] != 1]
            found += [f"{path}: {line!r} is there {seen[line]} times" for line in unsure if seen[line] > 1]
            strange = set(seen) - set(sure) - unsure - {"", "# Log"}
            found += [f"{path}: nobody wrote {line!r}" for line in strange]
        return found

    def next_line(self, client: int, number: int, *, everyones: bool) -> tuple[str, str]:
        """The log and the line that a client appends next; from now on it may be there."""
        path = self.path(None if everyones else client, number // LINES_A_LOG)
        line = f"line {client}.{number} 第{number}行"
        self.open.setdefault(path, set()).add(line)
        return path, line

    def answered(self, path: str, line: str, refused: str) -> None:
        """The line must be there, or the server said why not."""
        if refused:
            self.refused[refused[:160]] += 1
        else:
            self.sure.setdefault(path, []).append(line)
            self.open[path].discard(line)

    @staticmethod
    def path(client: int | None, number: int) -> str:
        """A client's own log, or everyone's."""
        return f"Logs/{'all' if client is None else f'client {client}'} {number}.md"
