"""What both eras speak of: the revisions served, the server's identity, and the two outer ends.

Values and protocols only. Knows no era: `modern`, `legacy` and `subscriptions` read it, `app` fills it.
May import nothing of the project.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

MODERN_REVISIONS = ("2026-07-28",)
LEGACY_REVISIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
REVISIONS = MODERN_REVISIONS + LEGACY_REVISIONS
"""Every revision that is served, newest first."""

META = "io.modelcontextprotocol/"
PROTOCOL_VERSION = META + "protocolVersion"
CLIENT_INFO = META + "clientInfo"
CLIENT_CAPABILITIES = META + "clientCapabilities"
LOG_LEVEL = META + "logLevel"
SERVER_INFO = META + "serverInfo"
SUBSCRIPTION_ID = META + "subscriptionId"

Notify: TypeAlias = Callable[[str, dict[str, Any]], Awaitable[None]]
"""Sends one notification (method, params) in order; waits while the client is slow to read."""


@dataclass(frozen=True, slots=True)
class Server:
    """Who we say we are. `capabilities` is what the newest revision would declare; older ones get less of it."""

    name: str
    version: str
    title: str | None = None
    instructions: str | None = None
    capabilities: dict[str, Any] = field(default_factory=dict)

    @property
    def info(self) -> dict[str, Any]:
        """The `Implementation` object of the schema."""
        title = {} if self.title is None else {"title": self.title}
        return {"name": self.name, **title, "version": self.version}

    def declares(self, feature: str, switch: str) -> bool:
        """Whether `capabilities` has that feature with that switch on, as in `("resources", "subscribe")`."""
        return (self.capabilities.get(feature) or {}).get(switch) is True


class Watched(Protocol):
    """What can be subscribed to. `notes/` is behind it; `app` binds it."""

    async def accept(self, uris: Sequence[str]) -> dict[str, str]:
        """The client's URIs that can be ours -> their canonical form. A note that is missing is still ours.

        Returns once any later change of those resources, and of the lists, will be published.
        """
        ...
