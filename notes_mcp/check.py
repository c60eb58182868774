"""`notes-mcp check`: serves the folder to itself as a client would, and reports what it saw.

Starts the real server as a subprocess, in both protocol eras, and talks to it over its pipes only. The
one change it makes, it makes in a scratch copy: the folder itself is never written to. May not touch the
notes except through the server it started; what a person sees is `report`'s.
"""

import json
import random
import re
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import anyio

from notes_mcp import __version__
from notes_mcp.install.entry import entry as entry_for
from notes_mcp.install.entry import lasting, launcher, options
from notes_mcp.probe import Probe, ProbeError
from notes_mcp.report import Report, Screen, Step
from notes_mcp.settings import Settings

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
SCRATCH_NOTES = 40
STEP_DEADLINE_S = 20.0
INDEX_DEADLINE_S = 600.0
_WORD = re.compile(r"[^\W\d_]{4,12}")


class StepFailed(Exception):
    """A step did not go well; it is in the report already."""


def check(settings: Settings, *, as_json: bool = False) -> int:
    """Run every step and print the report. Returns 0, or 1 when a step failed."""
    screen = Screen(quiet=as_json)
    report = Report(__version__, [str(folder) for folder in settings.folders])
    report.mcp_servers = {"mcpServers": {"notes": entry(settings)}}
    screen.title(report)
    anyio.run(_check_all, settings, report, screen)
    if as_json:
        sys.stdout.write(json.dumps({"ok": report.ok, **asdict(report)}, ensure_ascii=False, indent=2) + "\n")
    else:
        screen.ending(report)
    return 0 if report.ok else 1


def entry(settings: Settings) -> dict[str, Any]:
    """The `mcpServers` entry that starts this server on these folders: absolute paths, no shell needed."""
    return entry_for(settings, lasting())


async def _check_all(settings: Settings, report: Report, screen: Screen) -> None:
    command = [*launcher(), *options(settings), *map(str, settings.folders)]
    try:
        for revision in (LEGACY, MODERN):
            await _check_reading(command, revision, report, screen)
        await _check_watching(settings, report, screen)
    except StepFailed:
        return  # what failed stands in the report; what would follow needs it
    except OSError as error:
        advice = "see that the command of the mcpServers entry can be run, and that there is room for temporary files"
        report.steps.append(Step("starts", ok=False, detail=str(error), advice=advice))
        screen.step(report.steps[-1])


async def _check_reading(command: list[str], revision: str, report: Report, screen: Screen) -> None:
    """Greets, lists, reads and searches as a client of `revision` does."""
    began = time.perf_counter()
    async with Probe.start(command) as probe:
        async with _step(report, screen, "answers", revision) as step:
            if revision == LEGACY:
                server = (await probe.initialize(LEGACY))["serverInfo"]
            else:
                server = (await probe.ask("server/discover", {}))["_meta"]["io.modelcontextprotocol/serverInfo"]
            step.detail = f"{server['name']} {server['version']}, first reply after {_ms(began)}"
        async with _step(report, screen, "indexes", revision, INDEX_DEADLINE_S) as step:
            resources = await _wait_for_index(probe, screen)
            tools = {tool["name"] for tool in (await probe.ask("tools/list", {}))["tools"]}
            step.detail = await _overview(probe, report) if "notes_info" in tools else "complete"
        async with _step(report, screen, "lists", revision) as step:
            step.detail = f"{_count(len(tools), 'tool')}, {_count(len(resources), 'note')} on the first page"
        if resources:
            await _check_reading_one(probe, resources[0], revision, report, screen, search="search_notes" in tools)


async def _overview(probe: Probe, report: Report) -> str:
    """How much there is, in words; the problems go into the report."""
    info = await probe.tool("notes_info", {})
    report.problems = info["problems"]
    notes, others = (sum(folder[key] for folder in info["folders"]) for key in ("notes", "attachments"))
    watching = info["folders"][0]["watching"]
    return f"{_count(notes, 'note')}, {_count(others, 'attachment')}, watched by {watching}"


async def _check_reading_one(
    probe: Probe, resource: dict[str, Any], revision: str, report: Report, screen: Screen, *, search: bool
) -> None:
    """Reads the newest note and, if there is a tool for it, finds it again by a word of its own."""
    text = ""
    async with _step(report, screen, "reads", revision) as step:
        answer = await probe.ask("resources/read", {"uri": resource["uri"]})
        text = answer["contents"][0]["text"]
        step.detail = f"{resource['name']}, {_count(len(text), 'character')}"
    word = _word_of(text)
    if not word or not search:
        return
    async with _step(report, screen, "searches", revision) as step:
        began = time.perf_counter()
        answer = await probe.tool("search_notes", {"query": word, "limit": 5})
        step.detail = f"“{word}” is in {_count(answer['total'], 'note')}, found in {_ms(began)}"
        if not answer["total"]:
            raise ProbeError(f"“{word}”, taken from {resource['name']}, was not found")


async def _wait_for_index(probe: Probe, screen: Screen) -> list[dict[str, Any]]:
    """The first page of resources, once the list of them says nothing of an index that is still growing."""
    while True:
        listed = await probe.ask("resources/list", {})
        index = listed.get("_meta", {}).get("notes-mcp/index")
        if index is None:
            screen.progress_done()
            resources: list[dict[str, Any]] = listed["resources"]
            return resources
        screen.progress(index["indexed"], index.get("total"))
        await anyio.sleep(0.1)


async def _check_watching(settings: Settings, report: Report, screen: Screen) -> None:
    """Notices one change, made in a scratch copy of a few notes."""
    with tempfile.TemporaryDirectory(prefix="notes-mcp-check-") as scratch:
        folder = Path(scratch, "notes")
        copied = _copy_some(settings.folders[0], folder)
        note = folder / "watched by notes-mcp check.md"
        note.write_text("# Before\n", encoding="utf-8")
        command = [*launcher(), f"--cache-dir={Path(scratch, 'cache')}", str(folder)]
        async with _step(report, screen, "watches", MODERN) as step, Probe.start(command) as probe:
            await _wait_for_index(probe, screen)
            await probe.listen(["notes:///watched%20by%20notes-mcp%20check.md"])
            began = time.perf_counter()
            note.write_text("# After\n", encoding="utf-8")
            await probe.notification("notifications/resources/updated")
            step.detail = f"a change was told of after {_ms(began)}, in a scratch copy of {_count(copied, 'note')}"


def _copy_some(source: Path, target: Path) -> int:
    target.mkdir()
    found = (path for path in _notes_below(source) if path.stat().st_size < 1_000_000)
    copied = 0
    for copied, path in enumerate(found, start=1):
        shutil.copyfile(path, target / f"{copied}{path.suffix}")
        if copied == SCRATCH_NOTES:
            break
    return copied


def _notes_below(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("[!.]*.md") if path.is_file() and not path.is_symlink())


def _word_of(text: str) -> str:
    words = _WORD.findall(text)
    return max(random.Random(0).sample(words, min(len(words), 40)), key=len, default="")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _ms(began: float) -> str:
    return f"{(time.perf_counter() - began) * 1000:,.0f} ms"


@asynccontextmanager
async def _step(
    report: Report, screen: Screen, name: str, revision: str, deadline_s: float = STEP_DEADLINE_S
) -> AsyncIterator[Step]:
    """Times one step and writes it down. Raises StepFailed when it did not go well."""
    step = Step(name, ok=True, detail="")
    began = time.perf_counter()
    try:
        with anyio.fail_after(deadline_s):
            yield step
    except TimeoutError:
        step.ok, step.detail = False, f"no answer in {deadline_s:.0f} seconds"
        step.advice = "run the command of the mcpServers entry by hand and look at what it says on stderr"
    except (ProbeError, OSError, LookupError, TypeError, ValueError) as error:
        step.ok, step.detail = False, str(error) or type(error).__name__
        step.advice = "mend what this line says, then run `notes-mcp check` again"
    step.ms = (time.perf_counter() - began) * 1000
    step.detail = f"{step.detail}  [{revision}]"
    report.steps.append(step)
    screen.step(step)
    if not step.ok:
        raise StepFailed
