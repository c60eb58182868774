"""What `check` found and how a person reads it: steps, problems, the entry to paste.

Colours and a moving bar only on a terminal, plain lines elsewhere, nothing at all where JSON is wanted.
Touches stdout and nothing else.
"""

import json
import sys
from dataclasses import dataclass, field
from typing import Any

SHOWN_PROBLEMS = 20


@dataclass
class Step:
    """One line of the report. `ok` false comes with `advice`: what to do."""

    name: str
    ok: bool
    detail: str
    advice: str = ""
    ms: float = 0.0


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

    def progress(self, indexed: int, total: int | None) -> None:
        """Redraws the bar, once it is known how many there are; off a terminal nothing moves."""
        if self._terminal and total:
            done = 30 * indexed // total
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
            encoding = sys.stdout.encoding or "ascii"
            sys.stdout.write(line.encode(encoding, "replace").decode(encoding) + "\n")
            sys.stdout.flush()
