"""The worker threads of a library: one that writes (index and notes), a few that read beside it.

The only way from the event loop into them. Work goes out in the order it was asked for and comes back in batches, one
wake-up of the loop for all that is done by then. Whoever is cancelled stops waiting at once: work that has not begun
never does, work under way ends where it asks `patience`.
"""

import asyncio
import threading  # noqa: TID251 - this module is where the domain's threads are
from collections import deque
from collections.abc import Callable, Coroutine
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from notes_mcp.notes.patience import UnwantedError, Wish, work_for

READERS = 3
HELP_S = 0.002
"""How long work may wait while no job is taken up before another thread is woken: short jobs are done faster by one
alone, since threads fight over the interpreter."""
T = TypeVar("T")


class _Job(Generic[T]):
    __slots__ = ("error", "future", "result", "wish", "work")

    def __init__(self, work: Callable[[], T], wish: Wish, future: "asyncio.Future[T]") -> None:
        self.work: Callable[[], T] | None = work
        self.wish = wish
        self.future = future
        self.result: T | None = None
        self.error: BaseException | None = None

    def do(self) -> None:
        work, self.work = self.work, None
        if work is None or self.wish.withdrawn:
            self.error = UnwantedError()
            return
        work_for(self.wish)
        try:
            self.result = work()
        except BaseException as error:
            self.error = error

    def deliver(self) -> None:
        if self.future.done():
            return  # cancelled meanwhile
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)  # type: ignore[arg-type]


class _Pool:
    """Up to `most` daemon threads, started as they are needed. `put` is for the loop's own thread."""

    def __init__(self, name: str, most: int) -> None:
        self._name = name
        self._most = most
        self._jobs: deque[_Job[Any]] = deque()
        self._done: deque[_Job[Any]] = deque()
        self._lock = threading.Lock()
        self._awake = 0
        self._taken = 0
        self._threads: list[threading.Thread] = []
        self._calls: SimpleQueue[bool] = SimpleQueue()
        self._help: asyncio.TimerHandle | None = None
        self._delivering = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._unfinished = 0
        self.quiet = asyncio.Event()
        """Set while nothing is at work or waits for it."""
        self.quiet.set()

    def put(self, job: _Job[Any]) -> None:
        loop = self._loop = job.future.get_loop()
        self._unfinished += 1
        self.quiet.clear()
        with self._lock:
            self._jobs.append(job)
            idle = self._awake == 0
            self._awake += idle
        if idle:
            self._wake()
        elif self._help is None and self._awake < self._most:
            self._help = loop.call_later(HELP_S, self._wake_another, self._taken)

    def stop(self) -> None:
        for _ in self._threads:
            self._calls.put(False)

    def _wake(self) -> None:
        if len(self._threads) < self._awake:
            thread = threading.Thread(target=self._run, name=f"{self._name}-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()
        self._calls.put(True)

    def _wake_another(self, taken: int) -> None:
        """If work waits and none was taken up since `taken`."""
        self._help = None
        with self._lock:
            if not self._jobs or self._awake >= self._most:
                return
            stuck = self._taken == taken
            self._awake += stuck
        if stuck:
            self._wake()
        elif self._loop is not None:
            self._help = self._loop.call_later(HELP_S, self._wake_another, self._taken)

    def _run(self) -> None:
        while self._calls.get():
            while (job := self._next()) is not None:
                job.do()
                self._done.append(job)
                if not self._delivering:
                    self._delivering = True
                    assert self._loop is not None
                    try:
                        self._loop.call_soon_threadsafe(self._deliver)
                    except RuntimeError:
                        return  # the loop is closed: nobody is left to be told

    def _next(self) -> "_Job[Any] | None":
        with self._lock:
            if self._jobs:
                self._taken += 1
                return self._jobs.popleft()
            self._awake -= 1
            return None

    def _deliver(self) -> None:
        self._delivering = False  # first: what is done from here on is told anew
        while self._done:
            self._unfinished -= 1
            self._done.popleft().deliver()
        if not self._unfinished:
            self.quiet.set()


class Workers:
    """Each method runs `work` in a thread and gives back what it returns or raises."""

    def __init__(self) -> None:
        self._writer = _Pool("notes-writer", 1)
        self._readers = _Pool("notes-reader", READERS)
        self._whole: set[asyncio.Task[Any]] = set()

    async def write(self, work: Callable[[], T], wish: Wish | None = None) -> T:
        """In the one writer thread, after what was asked for before."""
        return await self._do(self._writer, work, wish or Wish())

    async def read(self, work: Callable[[], T]) -> T:
        """In one of the reader threads."""
        return await self._do(self._readers, work, Wish())

    @property
    def writing(self) -> bool:
        """Whether something that goes `to_the_end` is under way."""
        return bool(self._whole)

    async def to_the_end(self, work: Coroutine[Any, Any, T], wish: Wish) -> T:
        """A task of its own: a caller that is cancelled withdraws the wish and waits no more, but the task is not
        cut short: what it began is done, or taken back."""
        task = asyncio.ensure_future(work)
        self._whole.add(task)
        task.add_done_callback(self._over)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            wish.withdrawn = True
            raise

    async def drained(self) -> None:
        """Returns when all that goes `to_the_end` has got there, and no thread is at anything any more."""
        while self._whole:
            await asyncio.wait(self._whole)
        await self._readers.quiet.wait()
        await self._writer.quiet.wait()

    def stop(self) -> None:
        """Ends the threads, each after what it is at."""
        self._writer.stop()
        self._readers.stop()

    async def _do(self, pool: _Pool, work: Callable[[], T], wish: Wish) -> T:
        job: _Job[T] = _Job(work, wish, asyncio.get_running_loop().create_future())
        pool.put(job)
        try:
            return await job.future
        except asyncio.CancelledError:
            wish.withdrawn = True
            job.work = None
            raise

    def _over(self, task: asyncio.Task[Any]) -> None:
        self._whole.discard(task)
        if not task.cancelled():
            task.exception()  # of a caller that is gone: nobody else would look at it
