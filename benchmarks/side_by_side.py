"""One measurement of every server in turn, as rows of medians, ratios and targets.

The servers run at the same time on the same folder and are asked turn by turn, each first as often as any
other, so that a slow moment of the machine is everybody's. All are warm before the clock runs; the first start of
each, which fills the disk cache, does not count. Every answer is looked at: only right ones are measured.
"""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.pipe import Pipe
from benchmarks.servers import Server

WARM_SHARE = 5  # of the turns that count come before them and do not
PIPELINED = 1_000
BURSTS = 5


@dataclass(frozen=True, slots=True)
class Target:
    """Ours over a peer's: at most, or at least, `ratio`."""

    ratio: float
    at_least: bool = False

    def __str__(self) -> str:
        return f"{'>=' if self.at_least else '<='} {self.ratio:.2f}"

    def met(self, ratio: float) -> bool:
        """Whether this ratio is good enough."""
        return ratio >= self.ratio if self.at_least else ratio <= self.ratio


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured, for each server in order, and the targets against the peers (None: none is set)."""

    what: str
    values: tuple[Sequence[float], ...]
    targets: tuple[Target | None, ...]

    def __str__(self) -> str:
        ours, *peers = map(statistics.median, self.values)
        cells = [f"{self.what:<34}{_number(ours):>9}"]
        for theirs, target in zip(peers, self.targets, strict=False):
            ratio = ours / theirs
            verdict = "" if target is None else f"{target} {'met' if target.met(ratio) else 'MISSED'}"
            cells.append(f"{_number(theirs):>14} {ratio:>5.2f}x {verdict:<15}")
        return "".join(cells).rstrip()


def header(servers: Sequence[Server]) -> str:
    """The names of the servers above their columns."""
    ours, *peers = (server.name for server in servers)
    return f"{'':<26}{ours:>17}" + "".join(f"{peer:>14}  ratio  target" + " " * 8 for peer in peers).rstrip()


def starts(servers: Sequence[Server], times: int) -> Row:
    """Cold start to the first reply."""

    def start(server: Server) -> float:
        pipe = Pipe(server.command)
        pipe.close()
        return pipe.first_reply_s * 1000

    found = _in_turn([partial(start, server) for server in servers], times, warm=1)
    return Row("first reply from cold, ms", found, (Target(0.30), Target(0.75)))


def pings(pipes: Sequence[Pipe], times: int) -> Row:
    """The shortest question there is."""
    found = _in_turn([partial(pipe.timed, "ping") for pipe in pipes], times, warm=times // WARM_SHARE)
    return Row("ping, ms", found, (None, Target(0.70)))


def reads(servers: Sequence[Server], pipes: Sequence[Pipe], text: str, times: int) -> Row:
    """The text of one note, one after the other."""
    asked = [_reading(server) for server in servers]
    for pipe, params in zip(pipes, asked, strict=True):
        shown = [block.get("text") for block in pipe.ask("tools/call", params)["content"]]
        if text not in shown:
            raise RuntimeError(f"{params['name']} does not show the note as it is")
    ask = [partial(pipe.timed, "tools/call", params) for pipe, params in zip(pipes, asked, strict=True)]
    return Row("read a note of 5 KB, ms", _in_turn(ask, times, warm=times // WARM_SHARE), (None, Target(0.80)))


def bursts(servers: Sequence[Server], pipes: Sequence[Pipe]) -> list[Row]:
    """As many reads of that note a second as the server can answer, all asked at once; and its memory afterwards."""
    both = zip(servers, pipes, strict=True)
    ask = [partial(pipe.burst, "tools/call", _reading(server), PIPELINED) for server, pipe in both]
    rate = Row(f"{PIPELINED:,} pipelined reads, a second", _in_turn(ask, BURSTS, warm=1), (None, Target(2.0, True)))
    memory = Row("memory after them, MB", tuple([pipe.memory_mb()] for pipe in pipes), (None, Target(0.70)))
    return [rate, memory]


def _reading(server: Server) -> dict[str, Any]:
    return {"name": server.read_tool, "arguments": server.read_arguments}


def _in_turn(measure: Sequence[Callable[[], float]], times: int, *, warm: int) -> tuple[list[float], ...]:
    """`times` results of each, after `warm` that do not count; who goes first moves on with each turn."""
    found: tuple[list[float], ...] = tuple([] for _ in measure)
    for turn in range(-warm, times):
        for place in range(len(measure)):
            at = (turn + place) % len(measure)
            took = measure[at]()
            if turn >= 0:
                found[at].append(took)
    return found


def _number(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 1000 else f"{value:,.0f}"
