"""What `check` found, as values, and the shape in which `--json` prints it. Pure; how a person sees it is `screen`'s.

The JSON is one object: `format` (1; another number would be another shape), `ok`, `version`, `folders` (paths),
`served` (as notes_info's `folders`), `steps` of `{name, revision, ok, detail, advice, ms}`, `problems` of `{kind,
path, advice}` (the first of each kind), `problem_counts` by kind, `stderr` (what the server said there) and
`mcp_servers`, the entry to paste. Keys may be added; none goes away.
"""

from dataclasses import asdict, dataclass, field
from typing import Any

FORMAT = 1


@dataclass
class Step:
    """One line of the report. `ok` false comes with `advice`: what to do. `revision` is that of the protocol."""

    name: str
    ok: bool
    detail: str
    advice: str = ""
    ms: float = 0.0
    revision: str = ""


@dataclass
class Report:
    """All that `check` found."""

    version: str
    folders: list[str]
    served: list[dict[str, Any]] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    problems: list[dict[str, str]] = field(default_factory=list)
    problem_counts: dict[str, int] = field(default_factory=dict)
    stderr: str = ""
    mcp_servers: dict[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """True when every step went well; problems in the folder are news, not failures."""
        return all(step.ok for step in self.steps)

    def as_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        return {"format": FORMAT, "ok": self.ok, **asdict(self)}
