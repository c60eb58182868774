"""Whether anybody still waits for what is being done: long work asks between its steps, and ends if nobody does.

Only a door between two rooms: `workers` says how to ask, for the thread it starts; what runs outside of
its threads is always waited for. Holds nothing else.
"""

from collections.abc import Callable
from contextvars import ContextVar

_nobody_left: ContextVar[Callable[[], None] | None] = ContextVar("_nobody_left", default=None)


def ask_by(check: Callable[[], None]) -> None:
    """From now on, in this context, `check` is what raises when nobody waits any more."""
    _nobody_left.set(check)


def still_wanted() -> None:
    """Returns if somebody waits for the work. Raises what ends the work if nobody does (not an `Exception`)."""
    check = _nobody_left.get()
    if check is not None:
        check()
