"""`notes-mcp check`: serves the folder to itself as a client would, and reports what it saw.

Starts the real server as a subprocess, in both protocol eras, and talks to it over its pipes only. The
one change it makes, it makes in a scratch copy: the folder itself is never written to. May not touch the
notes except through the server it started; what a person sees is `screen`'s.
"""

import json
import re
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Any

import anyio

from notes_mcp import __version__
from notes_mcp.install.entry import entry as entry_for
from notes_mcp.install.entry import lasting, launcher, options
from notes_mcp.probe import Probe, ProbeError
from notes_mcp.report import Report, Step
from notes_mcp.screen import Screen
from notes_mcp.settings import Settings

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
SCRATCH_NOTES = 40
STEP_DEADLINE_S = 20.0
INDEX_DEADLINE_S = 600.0
_WORD = re.compile(r"[^\W\d_]{4,12}")
_FRONT = re.compile(r"\A---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*$", re.DOTALL | re.MULTILINE)
_ADDRESS = re.compile(r"\S*(?:://|\]\()\S*")
_MOST_WORDS = 5
_MOST_STDERR_BYTES = 16_384


class StepFailed(Exception):
    """A step did not go well; it is in the report already."""


def check(settings: Settings, *, as_json: bool = False) -> int:
    """Run every step and print the report. Returns 0, 1 when a step failed, or 130 after Ctrl-C."""
    screen = Screen(quiet=as_json)
    report = Report(__version__, [str(folder) for folder in settings.folders])
    report.mcp_servers = {"mcpServers": {"notes": entry(settings)}}
    screen.title(report)
    try:
        with tempfile.TemporaryDirectory(prefix="notes-mcp-check-") as scratch:
            anyio.run(Checking(settings, report, screen, Path(scratch)).run)
    except KeyboardInterrupt:
        screen.stopped()
        return 130
    if as_json:
        sys.stdout.write(json.dumps(report.as_json(), ensure_ascii=False, indent=2) + "\n")
    else:
        screen.ending(report)
    return 0 if report.ok else 1


def entry(settings: Settings) -> dict[str, Any]:
    """The `mcpServers` entry that starts this server on these folders: absolute paths, no shell needed."""
    return entry_for(settings, lasting())


class Checking:
    """One run: `scratch` is a directory of its own, for the copy that is changed and for what servers say on stderr."""

    def __init__(self, settings: Settings, report: Report, screen: Screen, scratch: Path) -> None:
        self._settings = settings
        self._report = report
        self._screen = screen
        self._scratch = scratch
        self._command = [*launcher(), *options(settings), *map(str, settings.folders)]
        self._texts: list[tuple[str, str]] = []  # suffix and text of some notes, for the scratch copy

    async def run(self) -> None:
        """Every step until one fails."""
        try:
            with (self._scratch / "stderr").open("w+b") as stderr:
                try:
                    for revision in (LEGACY, MODERN):
                        async with Probe.start(self._command, stderr) as probe:
                            await self._reading(probe, revision)
                    await self._watching(stderr)
                finally:
                    stderr.seek(0)
                    self._report.stderr = stderr.read(_MOST_STDERR_BYTES).decode("utf-8", "replace")
        except StepFailed:
            return  # what failed stands in the report; what would follow needs it
        except OSError as error:
            advice = (
                "see that the command of the mcpServers entry can be run, and that there is room for temporary files"
            )
            self._report.steps.append(Step("starts", ok=False, detail=str(error), advice=advice))
            self._screen.step(self._report.steps[-1])

    async def _reading(self, probe: Probe, revision: str) -> None:
        """Greets, lists, reads and searches as a client of `revision` does."""
        async with self._step("answers", revision) as step:
            if revision == LEGACY:
                server = (await probe.initialize(LEGACY))["serverInfo"]
            else:
                server = (await probe.ask("server/discover", {}))["_meta"]["io.modelcontextprotocol/serverInfo"]
            step.detail = f"{server['name']} {server['version']}"
        async with self._step("indexes", revision, INDEX_DEADLINE_S) as step:
            resources = await self._indexed(probe)
            tools = {tool["name"] for tool in (await probe.ask("tools/list", {}))["tools"]}
            step.detail = await self._overview(probe) if "notes_info" in tools else "complete"
        async with self._step("lists", revision) as step:
            prompts = (await probe.ask("prompts/list", {}))["prompts"]
            step.detail = f"{_count(len(tools), 'tool')}, {_count(len(prompts), 'prompt')}, "
            step.detail += f"{_count(len(resources), 'note')} on the first page"
        if resources:
            text = await self._read_some(probe, resources, revision)
            if "search_notes" in tools:
                await self._searching(probe, text, revision)

    async def _overview(self, probe: Probe) -> str:
        """How much there is, in words; the folders and their problems go into the report."""
        info = await probe.tool("notes_info", {})
        self._report.served = info["folders"]
        self._report.problems = info["problems"]
        self._report.problem_counts = info.get("problem_counts", {})
        notes, others = (sum(folder[key] for folder in info["folders"]) for key in ("notes", "attachments"))
        return f"{_count(notes, 'note')}, {_count(others, 'attachment')}"

    async def _read_some(self, probe: Probe, resources: list[dict[str, Any]], revision: str) -> str:
        """The text of the newest note that can be read; a few more are kept for the scratch copy."""
        texts: list[str] = []
        async with self._step("reads", revision) as step:
            for resource in resources[:SCRATCH_NOTES]:
                try:
                    answer = await probe.ask("resources/read", {"uri": resource["uri"]})
                except ProbeError as error:
                    step.detail = str(error)  # one that is too large, or only in the cloud: the problems tell of it
                    continue
                texts.append(answer["contents"][0]["text"])
                if revision == LEGACY:
                    self._texts.append((Path(resource["name"]).suffix, texts[-1]))
                if len(texts) == 1:
                    said = f"{resource['name']}, {_count(len(texts[0]), 'character')}"
                if revision == MODERN:
                    break
            if not texts:
                raise ProbeError(f"none of the {_count(len(resources), 'newest note')} could be read: {step.detail}")
            step.detail = said
        return texts[0]

    async def _searching(self, probe: Probe, text: str, revision: str) -> None:
        """Finds the note again by a word of its own."""
        words = _words_of(text)
        if not words:
            return
        async with self._step("searches", revision) as step:
            for word in words:
                began = time.perf_counter()
                answer = await probe.tool("search_notes", {"query": f'"{word}"', "limit": 5})
                if answer["total"]:
                    step.detail = f"“{word}” is in {_count(answer['total'], 'note')}, found in {_ms(began)}"
                    return
            raise ProbeError(f"{', '.join(words)}, taken from the newest note, are not found")

    async def _indexed(self, probe: Probe) -> list[dict[str, Any]]:
        """The first page of resources, once the list of them says nothing of an index that is still growing."""
        while True:
            listed = await probe.ask("resources/list", {})
            index = listed.get("_meta", {}).get("notes-mcp/index")
            if index is None:
                self._screen.progress_done()
                resources: list[dict[str, Any]] = listed["resources"]
                return resources
            self._screen.progress(index["indexed"], index.get("total"))
            await anyio.sleep(0.1)

    async def _watching(self, stderr: IO[bytes]) -> None:
        """Notices one change, made in a scratch copy of a few notes."""
        folder = self._scratch / "notes"
        folder.mkdir()
        for number, (suffix, text) in enumerate(self._texts):
            (folder / f"{number}{suffix}").write_text(text, encoding="utf-8", newline="")
        note = folder / "watched by notes-mcp check.md"
        note.write_text("# Before\n", encoding="utf-8")
        command = [*launcher(), f"--cache-dir={self._scratch / 'cache'}", str(folder)]
        async with self._step("watches", MODERN) as step, Probe.start(command, stderr) as probe:
            await self._indexed(probe)
            await probe.listen(["notes:///watched%20by%20notes-mcp%20check.md"])
            began = time.perf_counter()
            note.write_text("# After\n", encoding="utf-8")
            await probe.notification("notifications/resources/updated")
            step.detail = (
                f"a change was told of after {_ms(began)}, in a scratch copy of {_count(len(self._texts), 'note')}"
            )

    @asynccontextmanager
    async def _step(self, name: str, revision: str, deadline_s: float = STEP_DEADLINE_S) -> AsyncIterator[Step]:
        """Times one step and writes it down. Raises StepFailed when it did not go well."""
        step = Step(name, ok=True, detail="", revision=revision)
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
        self._report.steps.append(step)
        self._screen.step(step)
        if not step.ok:
            raise StepFailed


def _words_of(text: str) -> list[str]:
    """A few words of a note's own text: what stands in front matter or in addresses is not searched as such."""
    plain = _ADDRESS.sub(" ", _FRONT.sub("", text))
    words = sorted(set(_WORD.findall(plain)), key=lambda word: (-len(word), word))
    return words[:_MOST_WORDS]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _ms(began: float) -> str:
    return f"{(time.perf_counter() - began) * 1000:,.0f} ms"
