"""`python -m benchmarks.scale`: how the server does on 1,000, 10,000 (and if asked 100,000) notes, and how that grows.

One table: each figure beside its target, for every size, and the growth from each size to the next. Latencies are over
stdio, median and 99th percentile; "after a change" is the first call once a note was saved, the median of some.
Figures are printed, never asserted. Linux.
"""

import argparse
import itertools
import json
import os
import platform
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.folder import HAN, LATIN, make
from benchmarks.known_items import known_items
from benchmarks.pipe import Pipe
from benchmarks.vocabulary import COMMON, vocabulary

CALLS = 200
SECONDS = 5.0  # for the calls of one kind, but LEAST of them in any case
LEAST = 5
SAVES = 10

Figures = dict[str, float]
Calls = dict[str, Callable[[int], object]]

# At most, on 10,000 notes (the second: on 100,000); a percentage is at least. The rest is not promised.
TARGETS = {
    "first index, s": "15",
    "worst ping while indexing, ms": "20",
    "warm start: reconciled, s": "0.8 / 4",
    "memory, idle, MB": "90 / 200",
    "save until found, median ms": "150",
    "index / notes": "1.2",
    "search, *, median ms": "10 / 40",
    "search, *, p99 ms": "40",
    "list_*, median ms": "10",
    "get_links, *, median ms": "10",
    "completion*, median ms": "10",
    "known item, *, in ten, %": "95",
    "known item, *, first, %": "80",
}


def main() -> None:
    """Measure every size and print one table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("sizes", type=int, nargs="*", default=[1_000, 10_000], help="numbers of notes")
    parser.add_argument("--keep", type=Path, help="make the folders here, and use them again")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="notes-mcp-scale-") as scratch:
        base = options.keep or Path(scratch)
        _table([(size, _measure(base / str(size), size)) for size in options.sizes])


def _measure(base: Path, size: int) -> Figures:
    root, cache = base / "notes", base / "cache"
    if not root.exists():
        make(root, size)
    shutil.rmtree(cache, ignore_errors=True)
    notes = sorted(root.rglob("*.md"))
    figures: Figures = {"notes, MB": sum(path.stat().st_size for path in notes) / 1e6}
    command = [sys.executable, "-m", "notes_mcp", f"--cache-dir={cache}", str(root)]
    pipe = Pipe(command)
    figures["first reply, cold, ms"] = pipe.first_reply_s * 1000
    figures["first index, s"], figures["worst ping while indexing, ms"] = _until_ready(pipe)
    pipe.close()
    began = time.perf_counter()
    pipe = Pipe(command)
    _until_ready(pipe)
    figures["warm start: reconciled, s"] = time.perf_counter() - began
    figures["memory, idle, MB"] = pipe.memory_mb()
    for name, call in (_searches(pipe, size) | _others(pipe, root, notes)).items():
        figures[f"{name}, median ms"], figures[f"{name}, p99 ms"] = _latency(call)
    figures |= _after_changes(pipe, notes[0])
    figures |= known_items(lambda query: _paths(pipe, query), root, notes)
    figures["memory, after, MB"] = pipe.memory_mb()
    pipe.close()
    index = sum(path.stat().st_size for path in cache.rglob("index*"))
    figures["index / notes"] = index / 1e6 / figures["notes, MB"]
    return figures


def _until_ready(pipe: Pipe) -> tuple[float, float]:
    """Seconds until the index is complete, and the slowest ping meanwhile in ms."""
    began, worst = time.perf_counter(), 0.0
    while True:
        asked = time.perf_counter()
        pipe.ask("ping")
        worst = max(worst, (time.perf_counter() - asked) * 1000)
        if "index" not in pipe.tool("list_notes", {"limit": 1})["structuredContent"]:
            return time.perf_counter() - began, worst
        time.sleep(0.01)


def _searches(pipe: Pipe, size: int) -> Calls:
    """Each asks for another word every time, as far as there are enough: what was asked before is remembered."""

    def search(queries: Sequence[str], **arguments: Any) -> Callable[[int], object]:
        return lambda turn: pipe.tool("search_notes", {"query": queries[turn % len(queries)], **arguments})

    latin, han = vocabulary("latin").words, vocabulary("han").words
    telling = slice(COMMON, COMMON + CALLS)
    return {
        "search, common Latin": search(LATIN),
        "search, common Chinese": search(HAN),
        "search, two common Latin": search([f"{a} {b}" for a, b in itertools.pairwise(LATIN)]),
        "search, two common Chinese": search([f"{a} {b}" for a, b in itertools.pairwise(HAN)]),
        "search, rarer Latin": search(latin[telling]),
        "search, rarer Chinese": search(han[telling]),
        "search, rare Latin": search([f"rare{number:06x}" for number in range(0, size, max(1, size // CALLS))]),
        "search, rare Chinese": search(han[-CALLS:]),
        "search, in a folder": search(LATIN, folder="Projects"),
        "search, with a tag": search(HAN, tags=["project"]),
        "exact text": search(latin[telling], mode="exact"),
        "exact text, Chinese": search(han[telling], mode="exact"),
        "regular expression": search([f"{word}\\w* [a-z]+" for word in latin[telling]], mode="regex"),
    }


def _others(pipe: Pipe, root: Path, notes: Sequence[Path]) -> Calls:
    reference = {"type": "ref/resource", "uri": "notes:///{+path}"}
    paths = [path.relative_to(root).as_posix() for path in random.Random(1).sample(notes, min(len(notes), CALLS))]
    typed = ("gar", "Books/", "2019", "wat", "书", "projcts")

    def ask(tool: str, **arguments: Any) -> Callable[[int], object]:
        return lambda turn: pipe.tool(tool, arguments)

    def of_each(tool: str, **arguments: Any) -> Callable[[int], object]:
        return lambda turn: pipe.tool(tool, {"path": paths[turn % len(paths)], **arguments})

    def complete(turn: int) -> object:
        argument = {"name": "path", "value": typed[turn % len(typed)]}
        return pipe.ask("completion/complete", {"ref": reference, "argument": argument})

    return {
        "list_notes": ask("list_notes"),
        "list_notes, newest": ask("list_notes", sort="modified"),
        "list_notes, in a folder": ask("list_notes", folder="Projects"),
        "list_notes, by tag": ask("list_notes", tag="project"),
        "list_notes, by tag, in a folder": ask("list_notes", tag="project", folder="Projects"),
        "list_tags": ask("list_tags"),
        "list_tags, in a folder": ask("list_tags", folder="Projects"),
        "get_links, backlinks": of_each("get_links", kind="backlinks"),
        "get_links, outgoing": of_each("get_links", kind="outgoing"),
        "get_links, broken": ask("get_links", kind="broken"),
        "get_links, orphans": ask("get_links", kind="orphans"),
        "get_links, mentions": of_each("get_links", kind="mentions"),
        "completion": complete,
        "read_note": of_each("read_note"),
    }


def _latency(call: Callable[[int], object]) -> tuple[float, float]:
    """Median and 99th percentile in ms; of fewer than 100 calls, the slowest."""
    taken: list[float] = []
    while len(taken) < CALLS and (len(taken) < LEAST or sum(taken) < SECONDS * 1000):
        began = time.perf_counter()
        call(len(taken))
        taken.append((time.perf_counter() - began) * 1000)
    taken.sort()
    return statistics.median(taken), taken[int(len(taken) * 0.99)]


def _after_changes(pipe: Pipe, note: Path) -> Figures:
    """What is found anew because a note was saved, and how long the save takes to be found."""
    reference = {"type": "ref/resource", "uri": "notes:///{+path}"}
    calls: dict[str, Callable[[], object]] = {
        f"get_links, {kind}": lambda kind=kind: pipe.tool("get_links", {"kind": kind}) for kind in ("broken", "orphans")
    }
    calls["list_tags"] = lambda: pipe.tool("list_tags", {})
    calls["completion"] = lambda: pipe.ask(
        "completion/complete", {"ref": reference, "argument": {"name": "path", "value": "gar"}}
    )
    before = note.read_bytes()
    saves: list[float] = []
    taken: dict[str, list[float]] = {name: [] for name in calls}
    try:
        for turn in range(SAVES):
            word = f"saved{turn}x{os.getpid()}"
            began = time.perf_counter()
            note.write_bytes(before + f"\n{word}\n".encode())
            while not _paths(pipe, word):
                time.sleep(0.002)
            saves.append((time.perf_counter() - began) * 1000)
            for name, call in calls.items():
                began = time.perf_counter()
                call()
                taken[name].append((time.perf_counter() - began) * 1000)
    finally:
        note.write_bytes(before)
    figures = {f"{name}, after a change, ms": statistics.median(times) for name, times in taken.items()}
    return {"save until found, median ms": statistics.median(saves), **figures}


def _paths(pipe: Pipe, query: str) -> list[str]:
    hits = pipe.tool("search_notes", {"query": query})["structuredContent"]["hits"]
    return [hit["path"] for hit in hits]


def _target(name: str) -> str:
    for wanted, target in TARGETS.items():
        start, _, end = wanted.partition("*")
        if name.startswith(start) and name.endswith(end) and ("*" in wanted or name == wanted):
            return target
    return ""


def _table(measured: Sequence[tuple[int, Figures]]) -> None:
    sizes = [size for size, _ in measured]
    print(f"{platform.platform()}, {os.cpu_count()} cores, {_memory_gb():.0f} GB, Python {platform.python_version()}")
    grown = [f"{before:,} to {after:,}" for before, after in itertools.pairwise(sizes)]
    print(f"{'':<44}{'target':>9}" + "".join(f"{size:>12,}" for size in sizes) + "".join(f"{g:>20}" for g in grown))
    for name in measured[0][1]:
        values = [figures[name] for _, figures in measured]
        growth = (f"{b / a:>19.1f}x" if a else " " * 20 for a, b in itertools.pairwise(values))
        print(f"{name:<44}{_target(name):>9}" + "".join(f"{value:>12.2f}" for value in values) + "".join(growth))
    print(json.dumps(dict(measured)))


def _memory_gb() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9


if __name__ == "__main__":
    main()
