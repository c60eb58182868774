"""The books on one connection: what was asked, what came of it, and whether each line of the server may be there.

Pure but for its lists: `asked` and `cancelled` as the client speaks, `told` with every line of the server, `settled`
at the end. What breaks a rule of the protocol or a promise of ours becomes a sentence in `faults`.
"""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

MAX_LINE_BYTES = 8 * 1024 * 1024
INTERNAL_ERROR = -32603
SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"
LISTEN = "subscriptions/listen"
LIST_CHANGED = ("notifications/resources/list_changed", "notifications/prompts/list_changed")
HOLDS = {
    "initialize": "serverInfo",
    "server/discover": "supportedVersions",
    "tools/list": "tools",
    "tools/call": "content",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "resources/read": "contents",
    "prompts/list": "prompts",
    "prompts/get": "messages",
    "completion/complete": "completion",
}
"""What the result of a method must have."""

Id = int | str | None
Message = dict[str, Any]
Then = Callable[[Message], None]


def structured(result: Message) -> Message:
    """What a tool said, as data; {} for text. The older revisions have it as JSON in the first block alone."""
    if "structuredContent" in result or result.get("isError"):
        return result.get("structuredContent") or {}
    try:
        said = json.loads(result["content"][0]["text"])
    except (KeyError, IndexError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}


@dataclass(slots=True)
class Asked:
    """A request that is not answered yet. `progress`: the last one told for its token."""

    method: str
    params: Message
    then: Then | None
    cancelled: bool = False
    progress: float = float("-inf")


@dataclass
class Ledger:
    """One connection's books. `modern`: results are sealed and notifications stamped as 2026-07-28 asks."""

    name: str
    modern: bool
    faults: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    open: dict[Id, Asked] = field(default_factory=dict)
    nameless: int = 0
    """Lines sent whose answers have the id null."""
    watched: set[str] = field(default_factory=set)
    streams: dict[Id, set[str]] = field(default_factory=dict)
    _acknowledged: set[Id] = field(default_factory=set)

    def asked(self, request_id: Id, method: str, params: Message, then: Then | None = None) -> None:
        """A request goes out."""
        self.open[request_id] = Asked(method, params, then)
        self.counts[method] += 1
        if method == LISTEN:
            self.streams[request_id] = set(params["notifications"].get("resourceSubscriptions", ()))
        if method == "resources/subscribe":
            self.watched.add(params["uri"])

    def cancelled(self, request_id: Id) -> None:
        """Its cancellation goes out: from now on it may be answered or not."""
        self.counts["cancelled"] += 1
        if request_id in self.open:
            self.open[request_id].cancelled = True

    @property
    def waiting(self) -> int:
        """How many requests must still be answered while the connection is open."""
        return sum(not asked.cancelled and asked.method != LISTEN for asked in self.open.values())

    def told(self, line: bytes) -> None:
        """A line of the server."""
        if not line.endswith(b"\n") or line.endswith(b"\r\n") or len(line) > MAX_LINE_BYTES:
            self.fault(f"a line of {len(line)} bytes that ends with {line[-2:]!r}")
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self.fault(f"no message: {line[:300]!r}")
        elif "method" in message:
            self._notification(message)
        else:
            self._answer(message)

    def settled(self) -> None:
        """The connection is over: every request must be answered, open streams too."""
        for request_id, asked in self.open.items():
            if not asked.cancelled:
                self.fault(f"never answered: {asked.method} {request_id!r} {str(asked.params)[:200]}")
        if self.nameless:
            self.fault(f"{self.nameless} answers to unreadable lines are missing (below zero: too many)")

    def fault(self, sentence: str) -> None:
        """Remembers that something is wrong."""
        self.faults.append(f"{self.name}: {sentence}")

    def _answer(self, message: Message) -> None:
        self.counts["answers"] += 1
        result, error = message.get("result"), message.get("error")
        if (result is None) == (error is None) or not set(message) <= {"jsonrpc", "id", "result", "error"}:
            self.fault(f"neither a result nor an error: {str(message)[:300]}")
            return
        if error is not None:
            self._error(error)
        request_id = message.get("id")
        if request_id is None:
            self.nameless -= 1
            return
        asked = self.open.pop(request_id, None)
        if asked is None:
            self.fault(f"an answer nobody waits for: {str(message)[:300]}")
            return
        if result is not None:
            self._result(asked, result)
        if asked.method == "resources/unsubscribe":
            self.watched.discard(asked.params["uri"])
        if asked.then:
            asked.then(message)

    def _result(self, asked: Asked, result: Any) -> None:
        if not isinstance(result, dict) or HOLDS.get(asked.method, "") not in ("", *result):
            self.fault(f"no result of {asked.method}: {str(result)[:300]}")
        elif self.modern and (result.get("resultType") != "complete" or "_meta" not in result):
            self.fault(f"not sealed: {asked.method} {str(result)[:300]}")
        elif result.get("isError"):
            self.counts["tool errors"] += 1

    def _error(self, error: Any) -> None:
        self.counts["errors"] += 1
        if (
            not isinstance(error, dict)
            or type(error.get("code")) is not int
            or not isinstance(error.get("message"), str)
        ):
            self.fault(f"no error: {error!r}")
        elif error["code"] == INTERNAL_ERROR:
            self.fault(f"a fault of the server: {error}")

    def _notification(self, message: Message) -> None:
        method, params = message["method"], message.get("params", {})
        self.counts["notifications"] += 1
        if "id" in message or not isinstance(params, dict):
            self.fault(f"no notification: {str(message)[:300]}")
        elif method == "notifications/progress":
            self._progress(params)
        elif method == "notifications/resources/updated":
            if params.get("uri") not in self._heard(params):
                self.fault(f"an update nobody asked for: {params}")
            self.counts["updates"] += 1
        elif method == "notifications/subscriptions/acknowledged":
            stream = params.get("_meta", {}).get(SUBSCRIPTION_ID)
            if stream not in self.streams or stream in self._acknowledged:
                self.fault(f"acknowledged, but not asked for or twice: {params}")
            self._acknowledged.add(stream)
        elif method not in LIST_CHANGED:
            self.fault(f"an unknown notification: {str(message)[:300]}")
        elif self.modern:
            self._heard(params)

    def _heard(self, params: Message) -> set[str]:
        """The URIs that a notification may be about."""
        if not self.modern:
            return self.watched
        stream = params.get("_meta", {}).get(SUBSCRIPTION_ID)
        if stream not in self._acknowledged:
            self.fault(f"stamped with a stream that is not acknowledged: {params}")
        return self.streams.get(stream, set())

    def _progress(self, params: Message) -> None:
        token, done = params.get("progressToken"), params.get("progress")
        asked = next((a for a in self.open.values() if a.params.get("_meta", {}).get("progressToken") == token), None)
        if asked is None or not isinstance(done, int | float) or not asked.progress < done:
            self.fault(f"progress of nothing, or backwards: {params}")
        else:
            asked.progress = done
