"""`python -m benchmarks`: notes-mcp beside a minimal server on the official SDK and npm's filesystem server.

All serve the same folder and are asked turn by turn, in one run. Then what only ours does: changes told, idle
memory and CPU, a quick end. Needs the `dev` extra and Linux; a peer that is not installed is left out, with a word
on how to install it. Figures and targets are printed, never asserted: machines differ, ratios less so.
"""

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks import side_by_side
from benchmarks.folder import make
from benchmarks.pipe import Pipe
from benchmarks.servers import Server, servers

SETTLE_S = 2.0
"""After the index is ready the folder is compared once more; idle begins after that."""
NOTE, TEXT = "Recipes/bench.md", "# Bench\n" + "words and words\n" * 300


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--notes", type=int, default=6_000, help="size of the made-up folder")
    parser.add_argument("--starts", type=int, default=7, help="cold starts a server")
    parser.add_argument("--pings", type=int, default=2_000)
    parser.add_argument("--reads", type=int, default=500)
    parser.add_argument("--saves", type=int, default=30)
    parser.add_argument("--idle-s", type=float, default=10.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="notes-mcp-bench-") as scratch:
        root, cache = Path(scratch, "notes"), Path(scratch, "cache")
        size = make(root, options.notes)
        note = root / NOTE
        note.parent.mkdir(exist_ok=True)
        note.write_text(TEXT, encoding="utf-8")
        everyone, missing = servers(root, cache, NOTE)
        print(_machine())
        print(f"{options.notes:,} notes, {size / 1e6:.1f} MB{'; ' + missing if missing else ''}\n")
        _beside(everyone, options.starts, options.pings, options.reads)
        _running(everyone[0], note, options.saves, options.idle_s)


def _beside(everyone: list[Server], starts: int, pings: int, reads: int) -> None:
    print(side_by_side.header(everyone))
    print(side_by_side.starts(everyone, starts), flush=True)
    pipes = [Pipe(server.command) for server in everyone]
    _wait_for_index(pipes[0])
    print(side_by_side.pings(pipes, pings), flush=True)
    print(side_by_side.reads(everyone, pipes, TEXT, reads), flush=True)
    for row in side_by_side.bursts(everyone, pipes):
        print(row, flush=True)
    for pipe in pipes:
        pipe.close()


def _running(ours: Server, note: Path, saves: int, idle_s: float) -> None:
    print(f"\n{ours.name} alone")
    pipe = Pipe(ours.command)
    _show("warm start, index ready, ms", _wait_for_index(pipe) * 1000)
    _show("memory, idle, MB", pipe.memory_mb())
    time.sleep(SETTLE_S)
    before = pipe.cpu_s()
    time.sleep(idle_s)
    _show("CPU, idle, %", (pipe.cpu_s() - before) / idle_s * 100)
    pipe.ask("resources/subscribe", {"uri": f"notes:///{NOTE}"})
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
    _show("save to notification, ms", statistics.median(found))
    _show("  of ten, nine within, ms", sorted(found)[int(len(found) * 0.9)])
    _show("EOF to exit, ms", pipe.close() * 1000)


def _wait_for_index(pipe: Pipe) -> float:
    began = time.perf_counter()
    while not pipe.tool("notes_info", {})["structuredContent"]["index"]["complete"]:
        time.sleep(0.02)
    return time.perf_counter() - began


def _machine() -> str:
    parts = [platform.platform(), f"{os.cpu_count()} cores", f"Python {platform.python_version()}"]
    if shutil.which("node"):
        node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
        parts.append(f"node {node.removeprefix('v')}")
    return ", ".join(parts)


def _show(what: str, value: float) -> None:
    print(f"{what:<34}{value:>9.2f}", flush=True)


if __name__ == "__main__":
    main()
