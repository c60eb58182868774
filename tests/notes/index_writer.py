"""Run as a program: one more server on an index file. Applies notes `FROM`-0 … `FROM`-N, one batch each."""

import sys
from pathlib import Path

from _entries import note

from notes_mcp.notes.index.index import Index
from notes_mcp.notes.records import Batch


def main() -> None:
    file, name, number = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    index = Index.open(file)
    print("ready", index.file, flush=True)
    sys.stdin.readline()
    for at in range(number):
        shared = note("shared.md", f"{name} {at}")
        index.apply(Batch((note(f"{name}/{at}.md", f"written by {name}"), shared)))
    assert not index.in_memory, index.reason
    assert index.resets == 0
    index.close()
    print("done", flush=True)


main()
