"""`python -m benchmarks.kill9_server`: `kill9` end to end: a real server, called through each writing tool.

For each kill: the call is made on a copy of the folder, in peace, to learn what must come of it; then a
server is started, gets the same call on the real folder, and SIGKILL at a random instant. What the next
process finds is the folder before or after the call, and an index that agrees. Exit code 1 on the first fault.
"""

import argparse
import asyncio
import random
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.kill9 import Fault, Files, first_notes
from benchmarks.pipe import Pipe
from notes_mcp.features.tools import Tools
from notes_mcp.notes.disk.gate import is_own_temp
from notes_mcp.notes.library import Library
from notes_mcp.settings import Settings

_CLOCK = re.compile(r"\b\d{1,2}:\d{2}\b")
"""What add_thoughts writes of the time; the copy may be a minute ahead."""

Call = tuple[str, dict[str, Any]]


def files(base: Path) -> Files:
    """Every file of the folder, also in the trash, but for unfinished temp files of ours."""
    root = base / "notes"
    return {
        str(path.relative_to(root)): _CLOCK.sub("TT:TT", path.read_bytes().decode("latin-1"))
        for path in sorted(root.rglob("*"))
        if path.is_file() and not is_own_temp(path.name)
    }


def settings(base: Path) -> Settings:
    """As the server is started: everything of ours below `base`."""
    return Settings(folders=(base / "notes",), cache_dir=base / "cache")


async def in_peace(base: Path, call: Call | None) -> tuple[bool, bool, float]:
    """Opens the folder, makes the call if there is one: whether it was an error, whether the index agrees, ms."""
    library = Library(settings(base))
    running = asyncio.create_task(library.run())
    try:
        while not (await library.settle()).complete:
            pass
        error, began = False, time.perf_counter()
        if call is not None:
            tools = Tools(library, library.settings)
            error = (await tools.call({"name": call[0], "arguments": call[1]}, _silent)).get("isError", False)
        took = (time.perf_counter() - began) * 1000
        page = await library.list_notes(limit=1000)
        there = {path for path in files(base) if path.endswith(".md") and "/." not in f"/{path}"}
        return error, {note.path for note in page.notes} == there, took
    finally:
        await library.close()
        await running


def _silent(*_: Any, **__: Any) -> None:
    """Progress that nobody hears."""


def random_call(chance: random.Random, now: Files) -> Call:
    """A call of a writing tool that is likely to do something."""
    notes = [path for path in now if path.endswith(".md") and not path.startswith(".")]
    path, tag = chance.choice(notes), f"tag{chance.randint(0, 3)}"
    name = f"{chance.getrandbits(24):06x}"
    folder = path.partition("/")[0]
    thoughts: Call = ("add_thoughts", {"thoughts": f"a thought {name}", "path": path})
    calls: list[Call] = [
        ("create_note", {"title": f"new/{name}", "content": f"[[{Path(path).stem}]] #{tag} é中"}),
        thoughts,
        ("edit_note", {"path": path, "edits": [{"op": "append", "text": f"more {name}"}]}),
        ("set_properties", {"path": path, "set": {"key": name, "tags": [tag]}}),
        ("update_tags", {"action": "rename", "tags": [tag], "new_tag": f"tag{chance.randint(0, 3)}/x"}),
        ("move_note", {"path": path, "new_path": f"{folder}/to {name}"}),
        ("move_note", {"path": f"{folder}/", "new_path": f"f{name}/"} if "/" in path else thoughts[1]),
        ("delete_note", {"path": path, "permanent": chance.random() < 0.3}),
        ("undo_change", {}),
    ]
    call = chance.choice(calls[:7] + calls[8:] if len(notes) < 12 else calls)
    return thoughts if call[1] is thoughts[1] else call


def kill_once(base: Path, chance: random.Random, took_ms: list[float]) -> tuple[str, str]:
    """One call, killed; which tool, and whether the folder then is as "before" or "after" it. Raises Fault."""
    before = files(base)
    call = random_call(chance, before)
    with tempfile.TemporaryDirectory(prefix="notes-mcp-kill9-") as scratch:
        copy = Path(scratch, "base")
        shutil.copytree(base, copy, symlinks=True)
        _same_state(base, copy)
        error, _, took = asyncio.run(in_peace(copy, call))
        after = files(copy)
    took_ms.append(took)
    pipe = Pipe([sys.executable, "-m", "notes_mcp", f"--cache-dir={base / 'cache'}", str(base / "notes")])
    while not pipe.tool("notes_info", {})["structuredContent"]["index"]["complete"]:
        time.sleep(0.01)
    pipe.send({"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": {"name": call[0], "arguments": call[1]}})
    time.sleep(chance.random() * 2 * statistics.median(took_ms[-50:]) / 1000)
    pipe.process.kill()
    pipe.process.communicate()
    _, agrees, _ = asyncio.run(in_peace(base, None))
    now = files(base)
    if now not in (before, after):
        changed = [path for path in now.keys() | before.keys() if now.get(path) != before.get(path)]
        raise Fault(f"{call}: neither before nor after ({error=}); differs from before in {changed[:9]}")
    if not agrees:
        raise Fault(f"{call}: the index does not agree with the disk")
    return call[0], "before" if now == before else "after"


def _same_state(base: Path, copy: Path) -> None:
    """Index and journal are kept under a name made from the folder's path: give the copy's the right one."""
    from notes_mcp.notes.opening import place_of

    for above in (copy / "cache", copy / "cache" / "state"):
        old, new = above / place_of(base / "notes"), above / place_of(copy / "notes")
        if old.exists():
            old.rename(new)


def main() -> int:
    """Kill, check, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kill9_server", description=__doc__)
    parser.add_argument("--times", type=int, default=500)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    seed = random.SystemRandom().getrandbits(32) if options.seed is None else options.seed
    chance, took_ms, tally = random.Random(seed), [], Counter[tuple[str, str]]()
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="notes-mcp-kill9-") as scratch:
        base = Path(scratch)
        for path, data in first_notes():
            (base / "notes" / path).parent.mkdir(parents=True, exist_ok=True)
            (base / "notes" / path).write_bytes(data)
        asyncio.run(in_peace(base, None))
        began = time.perf_counter()
        for number in range(options.times):
            try:
                tally[kill_once(base, chance, took_ms)] += 1
            except Fault as fault:
                print(f"kill {number + 1}: {fault}")
                return 1
        took = time.perf_counter() - began
    print(f"{options.times} servers killed in {took:.0f} s: every folder is as before the call or as after it")
    for tool in sorted({name for name, _ in tally}):
        print(f"{tool:<16} as before {tally[tool, 'before']:>4}   as after {tally[tool, 'after']:>4}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
