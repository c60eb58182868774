"""`notes-mcp check`: serves the folder to itself as a client would, and reports what it saw.

Starts the real server as a subprocess, in both protocol eras, and talks to it over its pipes only. The
one change it makes, it makes in a scratch copy: the folder itself is never written to. Owns the report
on stdout; may not touch the notes except through the server it started.
"""

import json
import random
import re
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import anyio

from notes_mcp import __version__
from notes_mcp.probe import Probe, ProbeError
from notes_mcp.settings import Settings

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
SCRATCH_NOTES = 40
STEP_DEADLINE_S = 20.0
INDEX_DEADLINE_S = 600.0
SHOWN_PROBLEMS = 20
_WORD = re.compile(r"[^\W\d_]{4,12}")


@dataclass
class Step:
    """One line of the report. `ok` false comes with `advice`: what to do."""

    name: str
    ok: bool
    detail: str
    advice: str = ""
    ms: float = 0.0


class StepFailed(Exception):
    """A step did not go well; it is in the report already."""


@dataclass
class Report:
    """All that `check` found; `--json` prints it as it is."""

    version: str
    folders: list[str]
    steps: list[Step] = field(default_factory=list)
    problems: list[dict[str, str]] = field(default_factory=list)
    mcp_servers: dict[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """True when every step went well; problems in the folder are news, not failures."""
        return all(step.ok for step in self.steps)


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
    command = launcher()
    return {"command": command[0], "args": [*command[1:], *options(settings), *map(str, settings.folders)]}


def launcher() -> list[str]:
    """How this very installation is started: its own script if it has one, else its Python with `-m`."""
    name = "notes-mcp.exe" if sys.platform == "win32" else "notes-mcp"
    script = Path(sys.executable).with_name(name)
    return [str(script)] if script.is_file() else [sys.executable, "-m", "notes_mcp"]


def options(settings: Settings) -> list[str]:
    """The command-line options that say what `settings` says, defaults left out."""
    default = Settings(folders=())
    given = ["--read-only"] if settings.read_only else []
    for name in ("tools", "max_note_bytes", "cache_dir"):
        value = getattr(settings, name)
        if value != getattr(default, name):
            given.append(f"--{name.replace('_', '-')}={value}")
    return given + [f"--ignore={pattern}" for pattern in settings.ignore]


async def _check_all(settings: Settings, report: Report, screen: "Screen") -> None:
    command = [*launcher(), *options(settings), *map(str, settings.folders)]
    try:
        for revision in (LEGACY, MODERN):
            await _check_reading(command, revision, report, screen)
        await _check_watching(settings, report, screen)
    except StepFailed:
        return  # what failed stands in the report; what would follow needs it


async def _check_reading(command: list[str], revision: str, report: Report, screen: "Screen") -> None:
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
            info = await _wait_for_index(probe, screen)
            notes, others = (sum(folder[key] for folder in info["folders"]) for key in ("notes", "attachments"))
            step.detail = f"{notes:,} notes, {others:,} attachments, watched by {info['folders'][0]['watching']}"
            report.problems = info["problems"]
        async with _step(report, screen, "lists", revision) as step:
            tools = (await probe.ask("tools/list", {}))["tools"]
            resources = (await probe.ask("resources/list", {}))["resources"]
            step.detail = f"{len(tools)} tools, {len(resources)} notes on the first page"
        if resources:
            await _check_one_note(probe, resources[0], revision, report, screen)


async def _check_one_note(
    probe: Probe, resource: dict[str, Any], revision: str, report: Report, screen: "Screen"
) -> None:
    """Reads the newest note and finds it again by a word of its own."""
    text = ""
    async with _step(report, screen, "reads", revision) as step:
        answer = await probe.ask("resources/read", {"uri": resource["uri"]})
        text = answer["contents"][0]["text"]
        step.detail = f"{resource['name']}, {len(text):,} characters"
    async with _step(report, screen, "searches", revision) as step:
        word = _word_of(text) or resource["name"]
        began = time.perf_counter()
        answer = await probe.tool("search_notes", {"query": word, "limit": 5})
        step.detail = f"“{word}” is in {answer['total']:,} notes, found in {_ms(began)}"
        if not answer["total"]:
            raise ProbeError(f"“{word}”, taken from {resource['name']}, was not found")


async def _wait_for_index(probe: Probe, screen: "Screen") -> dict[str, Any]:
    while True:
        info = await probe.tool("notes_info", {})
        if info["index"]["complete"]:
            screen.progress_done()
            return info
        screen.progress(info["index"]["indexed"], info["index"]["total"])
        await anyio.sleep(0.1)


async def _check_watching(settings: Settings, report: Report, screen: "Screen") -> None:
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
            step.detail = f"a change was told of after {_ms(began)}, in a scratch copy of {copied} notes"


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


def _ms(began: float) -> str:
    return f"{(time.perf_counter() - began) * 1000:,.0f} ms"


@asynccontextmanager
async def _step(
    report: Report, screen: "Screen", name: str, revision: str, deadline_s: float = STEP_DEADLINE_S
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


class Screen:
    """What a person sees: colours and a moving bar only on a terminal, plain lines elsewhere."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._terminal = sys.stdout.isatty() and not quiet
        encoding = (sys.stdout.encoding or "ascii").lower()
        self._marks = ("✓", "✗") if encoding.startswith("utf") else ("ok", "FAILED")

    def title(self, report: Report) -> None:
        """The first lines: which version looks at which folders."""
        self._print(f"notes-mcp {report.version} checks {', '.join(report.folders)}\n")

    def progress(self, indexed: int, total: int) -> None:
        """Redraws the bar; off a terminal nothing moves."""
        if self._terminal:
            done = 30 * indexed // max(total, 1)
            sys.stdout.write(f"\r  indexing [{'#' * done}{'.' * (30 - done)}] {indexed:,} of {total:,} ")
            sys.stdout.flush()

    def progress_done(self) -> None:
        """Takes the bar away."""
        if self._terminal:
            sys.stdout.write("\r\x1b[2K")

    def step(self, step: Step) -> None:
        """One line per step, a second one when there is something to do."""
        mark = self._colour(self._marks[0], 32) if step.ok else self._colour(self._marks[1], 31)
        self._print(f"  {mark} {step.name:<20} {step.detail}")
        if step.advice:
            self._print(f"      {step.advice}")

    def ending(self, report: Report) -> None:
        """Problems of the folder, the entry to paste, and the verdict."""
        shown = report.problems[:SHOWN_PROBLEMS]
        if shown:
            self._print(f"\nWorth a look in the folder ({len(report.problems)}):")
            for problem in shown:
                advice = f": {problem['advice']}" if problem.get("advice") else ""
                self._print(f"  {problem['kind']:<18} {problem['path']}{advice}")
        if len(report.problems) > len(shown):
            self._print(f"  … and {len(report.problems) - len(shown)} more (--json shows all)")
        if report.ok:
            self._print("\nAll well. Paste this into your client's configuration:\n")
            self._print(json.dumps(report.mcp_servers, ensure_ascii=False, indent=2))
        else:
            self._print("\nNot ready yet: see the lines marked above.")

    def _colour(self, text: str, code: int) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._terminal else text

    def _print(self, line: str) -> None:
        if not self._quiet:
            write: Callable[[str], Any] = sys.stdout.write
            encoding = sys.stdout.encoding or "ascii"
            write(line.encode(encoding, "replace").decode(encoding) + "\n")
            sys.stdout.flush()
