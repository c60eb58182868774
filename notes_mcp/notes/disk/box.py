"""What the watcher has to tell, kept until it can be told: merged by root, in one call at a time. No disk.

Data: `put` -> one set of paths a root, or a whole comparison, which takes every path along -> `deliver`.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TypeAlias

import anyio

Paths: TypeAlias = Mapping[Path, frozenset[str] | None]
"""For each root the absolute paths to look at (files or folders, there or not); None: compare everything."""

_log = logging.getLogger(__name__)


class Box:
    """What is to be told, merged by root. `put` gives an event that is set when it was told."""

    def __init__(self) -> None:
        self._pending: dict[Path, frozenset[str] | None] = {}
        self._full = anyio.Event()
        self._told = anyio.Event()

    def put(self, root: Path, paths: frozenset[str] | None) -> anyio.Event:
        before = self._pending.get(root, frozenset())
        self._pending[root] = None if paths is None or before is None else before | paths
        self._full.set()
        return self._told

    async def deliver(self, on_paths: Callable[[Paths], Awaitable[None]]) -> None:
        while True:
            await self._full.wait()
            paths, told = self._pending, self._told
            self._pending, self._told, self._full = {}, anyio.Event(), anyio.Event()
            try:
                await on_paths(paths)
            except Exception:
                _log.exception("a change could not be taken in; going on")
            told.set()
