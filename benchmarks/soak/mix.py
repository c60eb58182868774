"""What one client asks for, at random: every tool, resources, prompts, completion, subscriptions, and nonsense.

Writes only what is its own: scratch notes, which it makes, changes, moves and deletes, and lines of two logs, one of
its own and one that all clients write (`logs`). Lines that are no requests come from `nonsense`.
"""

import asyncio
import random
from collections.abc import Callable
from typing import Any

from benchmarks.soak.client import Client
from benchmarks.soak.editor import Editor
from benchmarks.soak.ledger import Id, Message, structured
from benchmarks.soak.logs import Logs
from benchmarks.soak.nonsense import NONSENSE, UNANSWERED

MOST_SCRATCH = 40
MOST_WATCHED = 30
MOST_STREAMS = 4
CANCELLED_SHARE = 0.03
PROGRESS_SHARE = 0.15
WORDS = (
    "garden",
    "water",
    "止损",
    "计划",
    "しりとり",
    "tag:project",
    "path:Books",
    '"light paper"',
    "-music",
    "wat*",
    "?",
    "",
)
Asking = tuple[str, Message]


class Mix:
    """One client's part. `notes`: paths that nobody moves."""

    def __init__(self, client: Client, number: int, seed: int, notes: list[str], editor: Editor, logs: Logs) -> None:
        self.sent = 0
        self._client = client
        self._number = number
        self._rng = random.Random(seed)
        self._notes = notes
        self._editor = editor
        self._logs = logs
        self._made = 0
        self._lines = 0
        self._scratch: list[str] = []
        self._changes: list[str] = []
        self._cursors: list[Asking] = []
        self._watched: list[str] = []
        self._streams: list[Id] = []
        self._running: list[Id] = []
        self._kinds: list[tuple[Callable[[], Asking | None], int]] = [
            (self._read, 30),
            (self._look_up, 20),
            (self._resources, 12),
            (self._prompts, 6),
            (self._complete, 5),
            (self._lists, 5),
            (self._go_on, 3),
            (self._write, 12),
            (self._log, 3),
            (self._watch, 4),
            (self._bad, 5),
            (self._nonsense, 3),
        ]

    async def run(self, requests: int, seconds: float) -> None:
        """So many requests, spread evenly over the time; what is late is caught up with."""
        clock = asyncio.get_running_loop().time
        began = clock()
        functions, weights = zip(*self._kinds, strict=True)
        while self.sent < requests:
            early = began + self.sent * seconds / requests - clock()
            if early > 0:
                await asyncio.sleep(early)
            await self._client.room()
            asking = self._rng.choices(functions, weights)[0]()
            if asking is not None:
                self._send(*asking)

    def _send(self, method: str, params: Message) -> None:
        self.sent += 1
        if self._rng.random() < PROGRESS_SHARE and method in ("tools/call", "prompts/get"):
            params = {**params, "_meta": {"progressToken": f"p{self.sent}"}}
        tool, arguments = params.get("name", ""), params.get("arguments")

        def learn(answer: Message) -> None:
            if "result" in answer:
                self._learn(method, tool, arguments, answer["result"], params)

        request_id = self._client.ask(method, params, learn)
        if method == "subscriptions/listen":
            self._streams.append(request_id)
            return
        self._running = [*self._running[-5:], request_id]
        if self._rng.random() < CANCELLED_SHARE:
            # Often the one just sent, else one that may be answered by now.
            self._client.cancel(self._rng.choice((request_id, *self._running)))

    def _learn(self, method: str, tool: Any, arguments: Any, result: Message, params: Message) -> None:
        said = structured(result) if method == "tools/call" else {}
        cursor = result.get("nextCursor") or said.get("next_cursor")
        if cursor and len(self._cursors) < 20:
            bare = {name: value for name, value in params.items() if name != "_meta"}
            place = "arguments" if method == "tools/call" else None
            more = {**bare, place: {**bare[place], "cursor": cursor}} if place else {**bare, "cursor": cursor}
            self._cursors.append((method, more))
        if change := said.get("change_id"):
            self._changes = [*self._changes[-10:], change]
        if result.get("isError") or not isinstance(arguments, dict):
            return
        if tool == "create_note" and "path" in said:
            self._scratch.append(said["path"])
        if tool == "move_note" and "new_path" in said and arguments["path"] in self._scratch:
            self._scratch.remove(arguments["path"])
            self._scratch.append(said["new_path"])
        if tool == "delete_note" and arguments["path"] in self._scratch and not arguments["dry_run"]:
            self._scratch.remove(arguments["path"])

    def _note(self) -> str:
        kind = self._rng.random()
        if kind < 0.2:
            return self._rng.choice(self._editor.paths)
        return self._rng.choice(self._scratch if kind < 0.35 and self._scratch else self._notes)

    def _tool(self, name: str, **arguments: Any) -> Asking:
        return "tools/call", {"name": name, "arguments": arguments}

    def _read(self) -> Asking:
        view = self._rng.choice(("content", "content", "outline", "properties", "links"))
        return self._tool("read_note", path=self._note(), view=view, max_chars=self._rng.choice((500, 20_000)))

    def _look_up(self) -> Asking:
        pick = self._rng.choice
        match self._rng.randrange(6):
            case 0 | 1:
                asked = " ".join(pick(WORDS) for _ in range(self._rng.randint(1, 3)))
                mode, sort = pick(("words", "words", "exact", "regex")), pick(("relevance", "modified", "path"))
                return self._tool("search_notes", query=asked, mode=mode, sort=sort, limit=pick((1, 10, 50)))
            case 2:
                return self._tool(
                    "list_notes", folder=pick(("", "Books", "日记", "Editor")), sort=pick(("path", "modified"))
                )
            case 3:
                return self._tool("list_tags", prefix=pick(("", "pro", "日")), limit=pick((2, 100)))
            case 4:
                kind = pick(("backlinks", "outgoing", "mentions", "broken", "orphans"))
                path = {} if kind in ("broken", "orphans") else {"path": self._note()}
                return self._tool("get_links", kind=kind, limit=pick((1, 50)), **path)
        return self._tool("notes_info")

    def _resources(self) -> Asking:
        if self._rng.random() < 0.2:
            return "resources/list", {}
        return "resources/read", {"uri": f"notes:///{self._note()}"}

    def _prompts(self) -> Asking:
        name, arguments = self._rng.choice(
            (
                ("summarize_note", {"path": self._note()}),
                ("daily_review", {}),
                ("weekly_review", {}),
                ("find_connections", {"path": self._note()}),
                ("summarize_topic", {"topic": "garden"}),
                ("extract_tasks", {"folder": "Books"}),
            )
        )
        return "prompts/get", {"name": name, "arguments": arguments}

    def _complete(self) -> Asking:
        ref = self._rng.choice(
            ({"type": "ref/resource", "uri": "notes:///{+path}"}, {"type": "ref/prompt", "name": "summarize_note"})
        )
        name = "path"
        return "completion/complete", {
            "ref": ref,
            "argument": {"name": name, "value": self._rng.choice(("", "gar", "计"))},
        }

    def _lists(self) -> Asking:
        own = "server/discover" if self._client.ledger.modern else "ping"
        return self._rng.choice(("tools/list", "prompts/list", "resources/templates/list", own)), {}

    def _go_on(self) -> Asking | None:
        return self._cursors.pop(self._rng.randrange(len(self._cursors))) if self._cursors else None

    def _write(self) -> Asking:
        pick = self._rng.choice
        if not self._scratch or (len(self._scratch) < MOST_SCRATCH and self._rng.random() < 0.15):
            self._made += 1
            content = (
                f"# Scratch\n\nfirst {self._made} [[{pick(self._notes)}]] #soak/{self._number}\n\n## End\n\ntext\n"
            )
            title = f"Scratch {self._number}/{pick(('Note', '草稿'))} {self._made}"
            return self._tool("create_note", title=title, content=content, properties={"n": self._made})
        path, dry = pick(self._scratch), self._rng.random() < 0.2
        match self._rng.randrange(9):
            case 0 | 1:
                edit = {
                    "op": pick(("append", "prepend")),
                    "text": f"more {self.sent}",
                    "section": pick(("End", "Scratch")),
                }
                return self._tool("edit_note", path=path, edits=[edit], dry_run=dry)
            case 2:
                edit = {"op": "replace", "old_text": "first", "text": pick(("first", "second", "第一"))}
                return self._tool("edit_note", path=path, edits=[edit])
            case 3:
                return self._tool(
                    "set_properties", path=path, set={"status": pick(("a", "b")), "n": self.sent}, dry_run=dry
                )
            case 4:
                action = pick(("add", "remove"))
                return self._tool("update_tags", action=action, tags=[f"extra/{pick('ab')}"], paths=[path], dry_run=dry)
            case 5:
                old, new = pick((("x", "y"), ("y", "x")))
                tags = [f"soak/{self._number}/{old}"]
                return self._tool("update_tags", action="rename", tags=tags, new_tag=f"soak/{self._number}/{new}")
            case 6:
                self._made += 1
                return self._tool("move_note", path=path, new_path=f"Scratch {self._number}/Moved {self._made}.md")
            case 7:
                return self._tool("delete_note", path=path, permanent=pick((True, False)), dry_run=dry)
        if self._changes and self._rng.random() < 0.5:
            return self._tool("undo_change", change_id=pick(self._changes))
        return self._tool("add_thoughts", path=path, thoughts=f"a thought {self.sent}")

    def _log(self) -> None:
        """One numbered line appended; sent here, since the answer says whether it must be there."""
        self._lines += 1
        path, line = self._logs.next_line(self._number, self._lines, everyones=self._rng.random() < 0.5)
        arguments = {"path": path, "edits": [{"op": "append", "text": line}]}

        def written(answer: Message) -> None:
            result = answer.get("result", {"isError": True})
            self._logs.answered(path, line, "" if not result.get("isError") else str(result.get("content") or answer))

        self.sent += 1
        self._client.ask("tools/call", {"name": "edit_note", "arguments": arguments}, written)

    def _watch(self) -> Asking | None:
        uris = [f"notes:///{self._note()}" for _ in range(3)]
        if self._client.ledger.modern:
            if len(self._streams) >= MOST_STREAMS:
                self._client.cancel(self._streams.pop(0))
                return None
            wanted = {"resourceSubscriptions": uris, "resourcesListChanged": True, "promptsListChanged": True}
            return "subscriptions/listen", {"notifications": wanted}
        if len(self._watched) >= MOST_WATCHED:
            uri = self._watched.pop(0)
            return ("resources/unsubscribe", {"uri": uri}) if uri not in self._watched else None
        self._watched.append(uris[0])
        return "resources/subscribe", {"uri": uris[0]}

    def _bad(self) -> Asking:
        return self._rng.choice(
            (
                ("no/method", {}),
                self._tool("no_tool"),
                self._tool("read_note", pth="x", view="upside down"),
                self._tool("search_notes", query="a", limit="many"),
                self._tool("search_notes", query="(", mode="regex"),
                self._tool("list_notes", cursor="not a cursor"),
                self._tool("read_note", path="../../etc/passwd"),
                self._tool("edit_note", path=self._note(), edits=[]),
                ("resources/read", {"uri": "notes:///not/there.md"}),
                ("resources/read", {}),
                ("resources/list", {"cursor": "x"}),
                ("prompts/get", {"name": "no_prompt"}),
                ("completion/complete", {"ref": 7}),
                ("tools/call", {"name": 7, "arguments": []}),
            )
        )

    def _nonsense(self) -> None:
        if self._rng.random() < 0.5:
            self._client.ledger.nameless += 1
            self._client.write(self._rng.choice(NONSENSE))
        else:
            self._client.write(self._rng.choice(UNANSWERED))
