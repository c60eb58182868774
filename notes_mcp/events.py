"""What the notes tell the protocol, and the one callback that runs the other way of a call.

Values only: `features/` makes them, `protocol/subscriptions` turns them into notifications.
May import nothing of the project.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class ResourceUpdated:
    """One resource changed, appeared or went away. `uri` is its canonical form, `notes:///…`."""

    uri: str


@dataclass(frozen=True, slots=True)
class ResourcesChanged:
    """The list of resources is no longer what it was."""


@dataclass(frozen=True, slots=True)
class PromptsChanged:
    """The list of prompts is no longer what it was."""


Event: TypeAlias = ResourceUpdated | ResourcesChanged | PromptsChanged

Report: TypeAlias = Callable[[float, float | None, str], None]
"""Progress of one call: done so far (must grow), total if known, a sentence for people. Never blocks."""

Handler: TypeAlias = Callable[[dict[str, Any], Report], Awaitable[dict[str, Any]]]
"""A method both eras share: params (without `_meta`) and the call's `Report` -> the bare result object."""
