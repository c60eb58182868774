"""`python -m benchmarks.cancel`: how soon the server is free again after a cancellation, by what was cancelled.

Measured in the client, over the pipe: a call, its cancellation a little later, and with it a listing, which needs the
same threads; what counts is when that is answered. Figures are printed, never asserted.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.folder import make
from benchmarks.pipe import Pipe

STAGES: dict[str, tuple[str, dict[str, Any]]] = {
    "exact search": ("search_notes", {"query": "zzzz yyyy", "mode": "exact"}),
    "regular expression": ("search_notes", {"query": "(a|b|c)+z{9}", "mode": "regex"}),
    "orphans": ("get_links", {"kind": "orphans"}),
    "planning (dry run)": ("move_note", {"path": "Recipes", "new_path": "Elsewhere", "dry_run": True}),
    "moving a folder": ("move_note", {"path": "Recipes", "new_path": "Elsewhere"}),
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cancel", description=__doc__)
    parser.add_argument("--notes", type=int, default=2_000, help="size of the made-up folder")
    parser.add_argument("--times", type=int, default=8, help="cancellations a stage")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="notes-mcp-cancel-") as scratch:
        root = Path(scratch, "notes")
        make(root, options.notes)
        pipe = Pipe([sys.executable, "-m", "notes_mcp", f"--cache-dir={scratch}/cache", str(root)])
        while not pipe.tool("notes_info", {})["structuredContent"]["index"]["complete"]:
            time.sleep(0.05)
        for stage, (name, arguments) in STAGES.items():
            found = [_cancelled(pipe, name, arguments, after_s=0.02 * turn) for turn in range(options.times)]
            print(f"{stage:<24}{statistics.median(found):>8.1f} ms   worst {max(found):.1f} ms")
        pipe.close()


def _cancelled(pipe: Pipe, name: str, arguments: dict[str, Any], after_s: float) -> float:
    """Milliseconds from the cancellation until a read that needs the same threads is answered."""
    call = {"name": name, "arguments": arguments}
    pipe.send({"jsonrpc": "2.0", "id": "cancelled", "method": "tools/call", "params": call})
    time.sleep(after_s)
    began = time.perf_counter()
    pipe.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "cancelled"}})
    pipe.tool("list_notes", {"limit": 1})
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    main()
