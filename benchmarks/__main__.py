"""`python -m benchmarks`: start-up, ping, changes, memory and idle CPU beside a minimal server on the official SDK.

Both servers run on the same folder, turn by turn, in one run. Needs the `dev` extra and Linux. Figures are
printed, never asserted: machines differ, ratios less so.
"""

import argparse
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.folder import make
from benchmarks.pipe import Pipe

SETTLE_S = 2.0
"""After the index is ready the folder is compared once more; idle begins after that."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--notes", type=int, default=6_000, help="size of the made-up folder")
    parser.add_argument("--starts", type=int, default=7, help="cold starts a server")
    parser.add_argument("--pings", type=int, default=2_000)
    parser.add_argument("--saves", type=int, default=30)
    parser.add_argument("--idle-s", type=float, default=10.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="notes-mcp-bench-") as scratch:
        root, cache = Path(scratch, "notes"), Path(scratch, "cache")
        size = make(root, options.notes)
        print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}")
        print(f"{options.notes:,} notes, {size / 1e6:.1f} MB\n")
        ours = [sys.executable, "-m", "notes_mcp", f"--cache-dir={cache}", str(root)]
        theirs = [sys.executable, str(Path(__file__).with_name("sdk_server.py")), str(root)]
        _starts(ours, theirs, options.starts)
        _pings(ours, theirs, options.pings)
        _running(ours, root, options.saves, options.idle_s)


def _starts(ours: list[str], theirs: list[str], times: int) -> None:
    """Cold start to the first reply, turn by turn; the first turn of each warms the disk cache and is dropped."""
    found: tuple[list[float], list[float]] = ([], [])
    for turn in range(times + 1):
        for command, seconds in zip((ours, theirs), found, strict=True):
            pipe = Pipe(command)
            if turn:
                seconds.append(pipe.first_reply_s * 1000)
            pipe.close()
    _row("first reply from cold, ms", *found)


def _pings(ours: list[str], theirs: list[str], times: int) -> None:
    pipes = Pipe(ours), Pipe(theirs)
    _wait_for_index(pipes[0])
    found: tuple[list[float], list[float]] = ([], [])
    for _ in range(times):
        for pipe, milliseconds in zip(pipes, found, strict=True):
            milliseconds.append(_timed(lambda pipe=pipe: pipe.ask("ping")))
    _row("ping round trip, ms", *found)
    path = "Recipes/bench.md"
    pipes[0].tool("create_note", {"title": "Recipes/bench", "content": "# Bench\n" + "words and words\n" * 300})
    calls: tuple[list[float], list[float]] = ([], [])
    for _ in range(times // 10):
        for pipe, milliseconds in zip(pipes, calls, strict=True):
            milliseconds.append(_timed(lambda pipe=pipe: pipe.tool("read_note", {"path": path})))
    _row("read_note, 5 KB, ms", *calls)
    for pipe in pipes:
        pipe.close()


def _running(ours: list[str], root: Path, saves: int, idle_s: float) -> None:
    pipe = Pipe(ours)
    index_s = _wait_for_index(pipe)
    print(f"{'warm start, index ready, ms':<32}{index_s * 1000:>10.1f}")
    print(f"{'memory, idle, MB':<32}{pipe.memory_mb():>10.1f}")
    time.sleep(SETTLE_S)
    before = pipe.cpu_s()
    time.sleep(idle_s)
    print(f"{'CPU, idle, %':<32}{(pipe.cpu_s() - before) / idle_s * 100:>10.2f}")
    note = root / "Recipes" / "bench.md"
    pipe.ask("resources/subscribe", {"uri": "notes:///Recipes/bench.md"})
    found = []
    for turn in range(saves):
        replaced = note.with_name(".bench.tmp")
        began = time.perf_counter()
        if turn % 2:
            note.write_text(f"# Bench\n{turn}\n")
        else:
            replaced.write_text(f"# Bench\n{turn}\n")
            replaced.replace(note)
        pipe.next_notification("notifications/resources/updated")
        found.append((time.perf_counter() - began) * 1000)
        time.sleep(0.1)
    _row("save to notification, ms", found)
    print(f"{'EOF to exit, ms':<32}{pipe.close() * 1000:>10.1f}")


def _wait_for_index(pipe: Pipe) -> float:
    began = time.perf_counter()
    while not pipe.tool("notes_info", {})["structuredContent"]["index"]["complete"]:
        time.sleep(0.02)
    return time.perf_counter() - began


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def _row(name: str, ours: list[float], theirs: list[float] | None = None) -> None:
    text = f"{name:<32}{statistics.median(ours):>10.2f}  (p90 {_p90(ours):.2f})"
    if theirs:
        ratio = statistics.median(ours) / statistics.median(theirs)
        text += f"   official SDK {statistics.median(theirs):.2f} (p90 {_p90(theirs):.2f})   ratio {ratio:.2f}"
    print(text)


def _p90(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.9)]


if __name__ == "__main__":
    main()
