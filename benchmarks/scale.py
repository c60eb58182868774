"""`python -m benchmarks.scale`: how the server does on 1,000, 10,000 (and if asked 100,000) notes, and how that grows.

For each size: first index and the worst ping meanwhile, warm start, latencies over stdio (median and p99), a save until
it is found, memory, index size, and known-item search. Figures are printed, never asserted. Linux.
"""

import argparse
import json
import os
import platform
import random
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.folder import HAN, LATIN, make
from benchmarks.pipe import Pipe

CALLS = 200
KNOWN_ITEMS = 300
SAVES = 20
# Two or three words with one among them that few notes have; in Chinese, one such character, doubled.
_LATIN_PHRASE = re.compile(r"(?:\b[a-z]{4,} ){1,2}w[0-9a-f]{2,5}\b")
_HAN_PHRASE = re.compile(r"([\u4e00-\u9fff]{2}(?:([\u4e00-\u9fff])\2)[\u4e00-\u9fff]{2})")

Figures = dict[str, float]


def main() -> None:
    """Measure every size and print one table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("sizes", type=int, nargs="*", default=[1_000, 10_000], help="numbers of notes")
    parser.add_argument("--keep", type=Path, help="make the folders here, and use them again")
    options = parser.parse_args()
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}")
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
    figures["first index, s"], figures["worst ping meanwhile, ms"] = _until_ready(pipe)
    pipe.close()
    began = time.perf_counter()
    pipe = Pipe(command)
    _until_ready(pipe)
    figures["warm start: reconciled, s"] = time.perf_counter() - began
    figures["memory, idle, MB"] = pipe.memory_mb()
    for name, call in _calls(pipe, root, notes).items():
        median, p99 = _latency(call)
        figures[f"{name}, median ms"], figures[f"{name}, p99 ms"] = median, p99
    figures["save until found, median ms"] = _save_until_found(pipe, notes[0])
    figures |= _known_items(pipe, root, notes)
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
        if pipe.tool("notes_info", {})["structuredContent"]["index"]["complete"]:
            return time.perf_counter() - began, worst
        time.sleep(0.01)


def _calls(pipe: Pipe, root: Path, notes: Sequence[Path]) -> dict[str, Callable[[int], object]]:
    reference = {"type": "ref/resource", "uri": "notes:///{+path}"}
    paths = [path.relative_to(root).as_posix() for path in random.Random(1).sample(notes, min(len(notes), CALLS))]

    def search(queries: Sequence[str]) -> Callable[[int], object]:
        return lambda turn: pipe.tool("search_notes", {"query": queries[turn % len(queries)]})

    def complete(turn: int) -> object:
        typed = {"name": "path", "value": ("gar", "Books/", "日记", "wat")[turn % 4]}
        return pipe.ask("completion/complete", {"ref": reference, "argument": typed})

    return {
        "search, common Latin": search(LATIN[:4]),
        "search, rare Latin": search([f"rare{number:06x}" for number in range(0, len(notes), 7)]),
        "search, common Chinese": search(HAN[:4]),
        "search, two words Chinese": search(["厨房 面包", "适者生存 止损", "旅行 编程"]),
        "list_notes": lambda turn: pipe.tool("list_notes", {}),
        "list_notes by tag": lambda turn: pipe.tool("list_notes", {"tag": "project"}),
        "list_tags": lambda turn: pipe.tool("list_tags", {}),
        "get_links, backlinks": lambda turn: pipe.tool(
            "get_links", {"kind": "backlinks", "path": paths[turn % len(paths)]}
        ),
        "completion": complete,
        "read_note": lambda turn: pipe.tool("read_note", {"path": paths[turn % len(paths)]}),
    }


def _latency(call: Callable[[int], object]) -> tuple[float, float]:
    """Median and 99th percentile in ms."""
    taken = []
    for turn in range(CALLS):
        began = time.perf_counter()
        call(turn)
        taken.append((time.perf_counter() - began) * 1000)
    taken.sort()
    return statistics.median(taken), taken[int(CALLS * 0.99)]


def _save_until_found(pipe: Pipe, note: Path) -> float:
    before = note.read_bytes()
    taken = []
    try:
        for turn in range(SAVES):
            word = f"saved{turn}x{os.getpid()}"
            began = time.perf_counter()
            note.write_bytes(before + f"\n{word}\n".encode())
            while not pipe.tool("search_notes", {"query": word})["structuredContent"]["total"]:
                time.sleep(0.002)
            taken.append((time.perf_counter() - began) * 1000)
    finally:
        note.write_bytes(before)
    return statistics.median(taken)


def _known_items(pipe: Pipe, root: Path, notes: Sequence[Path]) -> Figures:
    """From random notes, a phrase of 2 to 4 words: how often the note is among the first ten, and first."""
    picked = random.Random(2)
    figures: Figures = {}
    for script, pattern in (("Latin", _LATIN_PHRASE), ("Chinese", _HAN_PHRASE)):
        tried = first = ten = 0
        for path in picked.sample(notes, min(len(notes), KNOWN_ITEMS)):
            body = path.read_text("utf-8").partition("\n# ")[2]
            phrases = [match[0] for match in pattern.finditer(body)]
            if not phrases:
                continue
            found = pipe.tool("search_notes", {"query": picked.choice(phrases)})["structuredContent"]["hits"]
            ranked = [hit["path"] for hit in found]
            tried += 1
            ten += path.relative_to(root).as_posix() in ranked
            first += ranked[:1] == [path.relative_to(root).as_posix()]
        figures[f"known item, {script}, in ten, %"] = 100 * ten / max(tried, 1)
        figures[f"known item, {script}, first, %"] = 100 * first / max(tried, 1)
    return figures


def _table(measured: Sequence[tuple[int, Figures]]) -> None:
    print(f"{'':<36}" + "".join(f"{size:>12,}" for size, _ in measured) + ("   growth" if len(measured) > 1 else ""))
    for name in measured[0][1]:
        values = [figures[name] for _, figures in measured]
        growth = f"{values[-1] / values[-2]:>9.1f}" if len(values) > 1 and values[-2] else ""
        print(f"{name:<36}" + "".join(f"{value:>12.2f}" for value in values) + growth)
    print(json.dumps(dict(measured)))


if __name__ == "__main__":
    main()
