"""What the servers use while they run, sampled from outside, and whether it stays flat. Linux.

Memory may grow while caches fill; after the warm-up a straight line through the samples must not rise by more than
`MAY_GROW_MB` to the end, and open files must come back to what they were.
"""

import asyncio
import statistics
from dataclasses import dataclass, field

from benchmarks.soak.client import Client

WARM_UP_SHARE = 1 / 3
MAY_GROW_MB = 12.0
MAY_GROW_SHARE = 0.12
MAX_MEMORY_MB = 200.0
MORE_DESCRIPTORS = 20
"""Connections of readers that were not needed before (two files each), and the like."""
IDLE_SECONDS = 10.0
IDLE_ROUNDS = 3
SETTLE_SECONDS = 3.0
MAX_IDLE_CPU = 0.01


@dataclass
class Health:
    """One server's samples, one a second: (seconds, MB, open files)."""

    client: Client
    samples: list[tuple[float, float, int]] = field(default_factory=list)

    async def run(self) -> None:
        """Samples until cancelled."""
        clock = asyncio.get_running_loop().time
        began = clock()
        while True:
            self.samples.append((clock() - began, self.client.memory_mb(), self.client.descriptors()))
            await asyncio.sleep(1)

    def growth_mb(self) -> float:
        """By how much the line through the samples after the warm-up rises."""
        warm = self._warm()
        if len(warm) < 3:
            return 0.0
        times, sizes = [time for time, _, _ in warm], [size for _, size, _ in warm]
        return statistics.linear_regression(times, sizes).slope * (times[-1] - times[0])

    def report(self) -> list[str]:
        """Figures for a person; what is too much goes into the ledger's faults."""
        warm = self._warm()
        growth, most = self.growth_mb(), max(size for _, size, _ in self.samples)
        first, files = self.samples[0][2], self.client.descriptors()
        middle = statistics.median(size for _, size, _ in warm)
        if growth > max(MAY_GROW_MB, MAY_GROW_SHARE * middle):
            self.client.ledger.fault(f"memory grew by {growth:.1f} MB after the warm-up")
        if most > MAX_MEMORY_MB:
            self.client.ledger.fault(f"memory reached {most:.0f} MB")
        if files > first + MORE_DESCRIPTORS:
            self.client.ledger.fault(f"{files} files are open at the end, {first} were at the start")
        return [
            f"memory {self.samples[0][1]:.0f} MB first, {middle:.0f} in the middle, {most:.0f} at most, "
            f"{growth:+.1f} after the warm-up; files open {first} -> {files}"
        ]

    def _warm(self) -> list[tuple[float, float, int]]:
        return self.samples[int(len(self.samples) * WARM_UP_SHARE) :]


async def idle_cpu(clients: list[Client]) -> list[float]:
    """The share of one core that each server uses when nobody wants anything of it; too much is a fault.

    The last of the work may still be going on: it has `IDLE_ROUNDS` to come to rest.
    """
    await asyncio.sleep(SETTLE_SECONDS)
    shares: list[float] = []
    for _ in range(IDLE_ROUNDS):
        before = [client.cpu_s() for client in clients]
        await asyncio.sleep(IDLE_SECONDS)
        shares = [(client.cpu_s() - was) / IDLE_SECONDS for client, was in zip(clients, before, strict=True)]
        if max(shares) < MAX_IDLE_CPU:
            break
    for client, share in zip(clients, shares, strict=True):
        if share >= MAX_IDLE_CPU:
            client.ledger.fault(f"idle, and uses {share:.1%} of a core")
    return shares
