"""Whether anybody still waits for what is being done, and how far it is: long work goes through its steps with `each`.

Only a door between two rooms. `follow` is told, in the task of a request, who hears of its progress; `workers` gives
each piece of work its `Wish`. Work outside of the threads is always wanted and tells nobody. Holds nothing else.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextvars import ContextVar
from typing import TypeVar

from notes_mcp.events import Report

TELL_EVERY_S = 0.05

T = TypeVar("T")


class UnwantedError(BaseException):
    """Nobody waits for this work any more. Not an `Exception`: nothing that tries again or leaves out may catch it."""


class Account:
    """How far one request is, over all its pieces of work. Told from any thread, heard on the loop, newest wins."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._loop = asyncio.get_running_loop()
        self._newest: tuple[float, float | None, str] | None = None
        self._next_at = 0.0
        self.done = 0
        """Steps taken so far, in all stages of the request."""

    def tell(self, done: int, total: int | None, doing: str) -> None:
        """`done` of `total` steps; at most every 50 ms, and what is left out counts with the next."""
        self.done = max(self.done, done)
        now = time.monotonic()
        if now < self._next_at:
            return
        self._next_at = now + TELL_EVERY_S
        waiting, self._newest = self._newest is not None, (done, total, doing)
        if not waiting:
            with contextlib.suppress(RuntimeError):  # the loop is closed: the process is ending
                self._loop.call_soon_threadsafe(self._pass_on)

    def _pass_on(self) -> None:
        newest, self._newest = self._newest, None
        if newest is not None:
            self._report(*newest)


class Wish:
    """Somebody's wish for one piece of work, until it is withdrawn."""

    __slots__ = ("account", "withdrawn")

    def __init__(self) -> None:
        self.account = _account.get()
        self.withdrawn = False


_account: ContextVar[Account | None] = ContextVar("_account", default=None)
_wish: ContextVar[Wish | None] = ContextVar("_wish", default=None)


def follow(report: Report) -> None:
    """From now on in this task, `report` hears how far its work is."""
    _account.set(Account(report))


def work_for(wish: Wish) -> None:
    """From now on this thread works for that wish."""
    _wish.set(wish)


def still_wanted() -> None:
    """Returns if somebody waits for the work. Raises UnwantedError if nobody does."""
    wish = _wish.get()
    if wish is not None and wish.withdrawn:
        raise UnwantedError


def each(items: Iterable[T], doing: str) -> Iterator[T]:
    """The items, as long as somebody waits for what is done with them; `doing` is what people are told: "notes read".

    Raises UnwantedError before the first item that nobody waits for.
    """
    total = len(items) if isinstance(items, Sized) else None
    tell = _stage(doing, total)
    for done, item in enumerate(items):
        still_wanted()
        tell(done)
        yield item


def waiting(done: int, total: int | None, doing: str) -> None:
    """Tells, from the task of the request, how far something is that it waits for."""
    account = _account.get()
    if account is not None:
        account.tell(done, total, _told(doing, done, total))


def _stage(doing: str, total: int | None) -> Callable[[int], None]:
    wish = _wish.get()
    account = None if wish is None else wish.account
    if account is None:
        return lambda done: None
    before = account.done

    def tell(done: int) -> None:
        account.tell(before + done + 1, None if total is None else before + total, _told(doing, done + 1, total))

    return tell


def _told(doing: str, done: int, total: int | None) -> str:
    return f"{doing}: {done:,}" if total is None else f"{doing}: {done:,} of {total:,}"
