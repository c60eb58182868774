"""`python -m benchmarks.soak`: three servers, three clients of both eras and an editor on one folder for 30 minutes.

200,000 requests of every kind, cancellations and nonsense among them, while the editor writes, moves and deletes.
Every request is answered once (a cancelled one at most once), none with -32603; stderr stays empty; notifications are
those that were asked for; no line of a client and no byte of the editor is lost; at the end the index is what a new
one makes of the folder; memory and open files stay flat, idle servers idle. Exit code 1 on any fault.
"""

import argparse
import asyncio
import contextlib
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.folder import make
from benchmarks.soak.client import Client
from benchmarks.soak.editor import Editor
from benchmarks.soak.health import Health, idle_cpu
from benchmarks.soak.logs import LINES_A_LOG, Logs
from benchmarks.soak.mix import Mix

SECONDS, REQUESTS = 1_800, 200_000
REVISIONS = ("2024-11-05", "2025-06-18", "2026-07-28")
NOTES = 300
MEAN_BYTES = 3_000
LOG_LINES_SHARE = 0.06  # of a client's requests, at most
SETTLE_SECONDS = 60
SHOWN_FAULTS = 40


def prepare(folder: Path, requests: int) -> list[str]:
    """The folder with its notes and empty logs; the paths of notes that nobody will move."""
    folder.mkdir()
    make(folder, NOTES, mean_bytes=MEAN_BYTES)
    notes = sorted(str(file.relative_to(folder)) for file in folder.rglob("*.md"))
    (folder / "Logs").mkdir()
    for number in range(int(requests * LOG_LINES_SHARE / len(REVISIONS) / LINES_A_LOG) + 2):
        for client in (None, *range(len(REVISIONS))):
            (folder / Logs.path(client, number)).write_text("# Log\n", "utf-8")
    return notes


async def indexed(client: Client) -> None:
    """Returns when that server's index is complete."""
    async with asyncio.timeout(SETTLE_SECONDS):
        while not (await client.tool("notes_info"))["index"]["complete"]:
            pass


async def surface(client: Client) -> dict[str, list[Any]]:
    """All that a client can learn of the index: notes, tags, broken links, orphans."""
    asked: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("list_notes", "notes", {"limit": 200, "sort": "path"}),
        ("list_tags", "tags", {"limit": 500}),
        ("get_links", "links", {"kind": "broken", "limit": 200}),
        ("get_links", "links", {"kind": "orphans", "limit": 200}),
    )
    found: dict[str, list[Any]] = {}
    for tool, rows, arguments in asked:
        name = f"{tool} {arguments.get('kind', '')}".strip()
        found[name] = []
        cursor: dict[str, str] | None = {}
        while cursor is not None:
            said = await client.tool(tool, **arguments, **cursor)
            found[name] += said[rows]
            cursor = {"cursor": said["next_cursor"]} if said.get("next_cursor") else None
    return found


async def compare(clients: list[Client], fresh: Client, folder: Path) -> list[str]:
    """Where an index differs from one that is made anew, or from the disk."""
    await indexed(fresh)
    wanted = await surface(fresh)
    faults = []
    on_disk = {path.relative_to(folder).as_posix(): path.stat().st_size for path in folder.rglob("*.md")}
    on_disk = {path: size for path, size in on_disk.items() if not any(part[0] == "." for part in path.split("/"))}
    if {row["path"]: row["size"] for row in wanted["list_notes"]} != on_disk:
        faults.append("a new index is not what is on disk")
    for client in clients:
        found = await surface(client)
        for name, rows in wanted.items():
            mine, new = ({repr(row) for row in each} for each in (found[name], rows))
            if mine != new or len(found[name]) != len(rows):
                apart = f"only in the index: {sorted(mine - new)[:5]}; only in a new one: {sorted(new - mine)[:5]}"
                faults.append(f"{client.ledger.name}: {name}: {apart}")
    return faults


async def work(
    clients: list[Client], mixes: list[Mix], editor: Editor, health: list[Health], seconds: int, each: int
) -> None:
    """The mixed load, and the wait until all of it is answered."""
    background = [asyncio.create_task(editor.run()), *(asyncio.create_task(one.run()) for one in health)]
    try:
        async with asyncio.timeout(2 * seconds + SETTLE_SECONDS), asyncio.TaskGroup() as tasks:
            for mix in mixes:
                tasks.create_task(mix.run(each, seconds))
    except (TimeoutError, BaseExceptionGroup) as error:
        clients[0].ledger.fault(f"the clients came to a stand: {error!r} {getattr(error, 'exceptions', '')}")
    for client in clients:
        with contextlib.suppress(TimeoutError):  # the ledger says what is missing
            await client.room(1)
    for task in background:
        task.cancel()
    for ended in await asyncio.gather(*background, return_exceptions=True):
        if not isinstance(ended, asyncio.CancelledError):
            raise AssertionError("the editor or a sampler died") from ended


async def soak(base: Path, seconds: int, requests: int, seed: int) -> list[str]:
    """Runs it all below `base` and prints figures; what is wrong."""
    folder, home = base / "Notes", base / "home"
    home.mkdir()
    notes, rng = prepare(folder, requests), random.Random(seed)
    editor, logs = Editor(folder, rng.randrange(1 << 32)), Logs()
    clients = [await Client.start(revision, revision, folder, base / "cache", home) for revision in REVISIONS]
    try:
        await indexed(clients[0])
        mixes = [
            Mix(client, number, rng.randrange(1 << 32), notes, editor, logs) for number, client in enumerate(clients)
        ]
        health = [Health(client) for client in clients]
        began = time.monotonic()
        await work(clients, mixes, editor, health, seconds, requests // len(clients))
        took = time.monotonic() - began
        faults = logs.faults(folder)
        editor.check()
        shares = await idle_cpu(clients)
        fresh = await Client.start("a new index", "2026-07-28", folder, base / "fresh", home)
        try:
            faults += await compare(clients, fresh, folder)
            tell(clients, mixes, editor, health, logs, shares, took)
            ends = [await client.end() for client in (*clients, fresh)]
        finally:
            fresh.kill()
    finally:
        for client in clients:
            client.kill()
    print(f"ended within {max(ends):.2f} s of EOF; trash, index and journal: {size_mb(base):.0f} MB")
    return [*faults, *editor.faults, *(fault for client in (*clients, fresh) for fault in client.ledger.faults)]


def tell(
    clients: list[Client],
    mixes: list[Mix],
    editor: Editor,
    health: list[Health],
    logs: Logs,
    shares: list[float],
    took: float,
) -> None:
    """The figures."""
    sent = sum(mix.sent for mix in mixes)
    print(f"{sent:,} requests in {took:.0f} s ({sent / took:.0f} a second), {editor.changes:,} changes by the editor")
    for client, each, share in zip(clients, health, shares, strict=True):
        kinds = client.ledger.counts
        told = ", ".join(f"{kinds[name]:,} {name}" for name in ("answers", "errors", "tool errors", "cancelled"))
        print(f"{client.ledger.name}: {told}, {kinds['notifications']:,} notifications ({kinds['updates']:,} updates)")
        for line in each.report():
            print(f"  {line}; idle CPU {share:.2%}")
    lines = sum(map(len, logs.sure.values()))
    print(
        f"log lines: {lines:,} acknowledged, {logs.refused.total()} refused {dict(logs.refused.most_common(3)) or ''}"
    )


def size_mb(base: Path) -> float:
    """What lies below `base`, without the notes, MB."""
    return sum(file.stat().st_size for file in base.rglob("*") if file.is_file()) / 1e6


def main() -> int:
    """Soak and judge."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--seconds", type=int, default=SECONDS)
    parser.add_argument("--requests", type=int, help="as many a second as 200,000 in 30 minutes if left out")
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    requests = arguments.requests or REQUESTS * arguments.seconds // SECONDS
    print(f"seed {arguments.seed}, {requests:,} requests in {arguments.seconds} s", flush=True)
    with tempfile.TemporaryDirectory(prefix="notes-mcp-soak-") as scratch:
        faults = asyncio.run(soak(Path(scratch), arguments.seconds, requests, arguments.seed))
    for fault, times in Counter(faults).most_common(SHOWN_FAULTS):
        print(f"FAULT {times} x: {fault}" if times > 1 else f"FAULT: {fault}")
    print(f"{len(faults)} faults" if faults else "no faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
