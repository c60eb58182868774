"""`python -m benchmarks.parallel`: two servers and an editor write to one note at once, over and over.

Each server appends 20 lines, through the lock; the editor appends 40, to the file itself, knowing nothing of
it. Every line of the servers must be there once; those of the editor that are not are counted. Needs fork.
Exit code 1 if a server's line is lost or doubled.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.kill9 import House
from notes_mcp.errors import BusyError

LINES, EDITOR_LINES = 20, 40
EDITOR_PAUSE_MS = 10.0


def serve(base: Path, who: str) -> int:
    """One server: its lines, each tried again where the note never stood still. How often that was."""
    writer, busy = House(base).writer, 0
    for number in range(LINES):
        line = f"{who}{number}\n".encode()
        while True:
            try:
                writer.edit("a.md", lambda _, data, line=line: data + line, if_match=None, dry_run=False, tool="p")
                break
            except BusyError:
                busy += 1
    return min(busy, 255)


def edit(base: Path) -> int:
    """The editor."""
    for number in range(EDITOR_LINES):
        time.sleep(random.random() * EDITOR_PAUSE_MS / 1000)
        file = os.open(base / "notes" / "a.md", os.O_WRONLY | os.O_APPEND)
        os.write(file, f"e{number}\n".encode())
        os.close(file)
    return 0


def once() -> tuple[int, int, int]:
    """One round: lines of the servers lost or doubled, lines of the editor lost, and edits told to try again."""
    with tempfile.TemporaryDirectory(prefix="notes-mcp-parallel-") as scratch:
        base = Path(scratch)
        (base / "notes").mkdir()
        (base / "notes" / "a.md").write_bytes(b"# Log\n")
        House(base).close()
        children = []
        for work in (lambda: serve(base, "x"), lambda: serve(base, "y"), lambda: edit(base)):
            child = os.fork()
            if not child:
                os._exit(work())
            children.append(child)
        busy = sum(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)
        seen = Counter((base / "notes" / "a.md").read_text("utf-8").split("\n"))
    servers = sum(seen[f"{who}{number}"] != 1 for who in "xy" for number in range(LINES))
    return servers, sum(seen[f"e{number}"] != 1 for number in range(EDITOR_LINES)), busy


def main() -> int:
    """Count and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.parallel", description=__doc__)
    parser.add_argument("--times", type=int, default=50)
    times = parser.parse_args().times
    servers, editor, busy = (sum(counts) for counts in zip(*(once() for _ in range(times)), strict=True))
    print(f"{times} rounds: of {times * 2 * LINES:,} lines of two servers {servers} lost or doubled")
    print(f"of {times * EDITOR_LINES:,} lines of the editor {editor} lost; edits told to try again: {busy}")
    return 1 if servers else 0


if __name__ == "__main__":
    sys.exit(main())
