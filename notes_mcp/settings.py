"""The frozen start-up configuration: folders, switches and every limit, its unit in its name.

Made by `cli` from argv and the environment, read by everyone, changed by no one.
May import nothing of the project.
"""

from dataclasses import dataclass
from pathlib import Path

CORE_TOOLS = ("create_note", "edit_note", "list_notes", "read_note", "search_notes")


@dataclass(frozen=True, slots=True)
class Settings:
    """What this process serves and how far it goes. Sizes in bytes, times in milliseconds."""

    folders: tuple[Path, ...]
    read_only: bool = False
    tools: str = "all"  # "all", "core", or tool names joined by commas
    ignore: tuple[str, ...] = ()  # gitignore patterns
    log_level: str = "warning"
    cache_dir: Path | None = None  # None: the platform's own place
    state_dir: Path | None = None  # None: the platform's own place; with cache_dir given, below it
    max_note_bytes: int = 10 * 1024 * 1024

    # The wire. No line of ours may pass 8 MiB: a TypeScript 1.x client closes over one of 10 MiB.
    max_line_in_bytes: int = 10 * 1024 * 1024
    max_line_out_bytes: int = 8 * 1024 * 1024
    max_queue_out_bytes: int = 4 * 1024 * 1024
    max_in_flight: int = 64
    max_waiting: int = 1_000  # requests read while so many are in flight, so that their cancellation is read too
    max_waiting_bytes: int = 16 * 1024 * 1024  # of the lines that are not answered yet; beyond, nothing is read
    max_subscriptions: int = 10_000
    drain_ms: int = 800  # how long calls in flight may take once we are told to end
    silence_ms: int = 1_800  # after EOF: how long without any finished answer; clients wait 2 s before they end us
    parent_poll_ms: int = 400

    # Answers.
    max_answer_chars: int = 20_000
    max_resource_bytes: int = 5 * 1024 * 1024  # base64 of it must fit a line
    resource_page: int = 100
    index_wait_ms: int = 300  # how long an answer waits for a complete index before it says "N of M"

    # The watcher (watchfiles' step and debounce) and what follows from its events.
    watch_step_ms: int = 20
    watch_debounce_ms: int = 400
    watch_poll_ms: int = 300  # polling fall-back
    vanish_ms: int = 60  # a file that is gone is looked for again after this before it is dropped
    list_changed_ms: int = 150  # quiet time before list_changed goes out
