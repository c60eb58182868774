"""Golden dialogues: what a transcript says, how an expected line is compared, and who talks to the server.

A transcript is JSON lines, one step each:
  {"serve": ["--read-only"]}   options of the server; the first line
  {"#": "…"}                   a remark
  {">": message}               what the client sends; neighbouring ones go out in one piece
  {">raw": ["{", ["[", 9]]}    the same for a line that is no JSON: texts, [text, times] and {"hex": "ff"}, joined
  {"<": message}               what the server sends; neighbouring ones may come in any order, and nothing else may
  {"<+": message}              the same, once or more
  {"write": path, "text": "…"} and {"delete": path}: somebody else changes the folder
  {"end": true}                the client's input ends here, and not only after the last step
`<kind>` in a string stands for text that varies (see KINDS); `<kind:name>`
must be the same text wherever that name stands, and is filled in where the client sends it.
"""

import asyncio
import json
import os
import re
from contextlib import asynccontextmanager
from pathlib import Path

from notes_mcp import __version__

HERE = Path(__file__).parents[1] / "transcripts"
DEADLINE = 20
_STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)"
KINDS = {
    "etag": r"[0-9a-f]{16}",
    "time": _STAMP,
    "minute": r"\d{4}-\d\d-\d\d \d\d:\d\d",
    "date": r"\d{4}-\d\d-\d\d",
    "change": r"[0-9A-Za-z]{10,32}",
    "cursor": r"[A-Za-z0-9_-]+",
    "version": re.escape(__version__),
    "number": r"-?\d+(?:\.\d+)?",
    "text": r"(?s:.*)",
}
_PLACEHOLDER = re.compile(rf"<({'|'.join(KINDS)})(?::(\w+))?>")


class Differs(AssertionError):
    """What came is not what the transcript says."""


class Transcript:
    """The steps of one file. `options` are the server's."""

    def __init__(self, path):
        self.path = path
        self.steps = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        self.options = self.steps[0]["serve"]


def transcripts():
    return sorted(HERE.glob("*.jsonl"))


def lay_out(folder):
    """The folder of notes that every dialogue is about: always the same bytes and the same times."""
    notes = json.loads((HERE / "folder.json").read_text("utf-8"))
    for age, (path, text) in enumerate(notes.items()):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(bytes.fromhex(text["hex"]) if isinstance(text, dict) else text.encode())
        os.utime(file, (1_750_000_000 - 86_400 * age,) * 2)


def encode(step, known):
    """The bytes of one step of the client."""
    if ">" in step:
        return fill(json.dumps(step[">"], ensure_ascii=False), known).encode() + b"\n"
    return b"".join(_piece(piece) for piece in step[">raw"]) + b"\n"


def fill(text, known):
    return _PLACEHOLDER.sub(lambda found: known[found[2]] if found[2] in known else found[0], text)


def _piece(piece):
    match piece:
        case str():
            return piece.encode()
        case [text, times]:
            return text.encode() * times
        case _:
            return bytes.fromhex(piece["hex"])


def matches(expected, seen, known):
    """Whether `seen` is what `expected` describes; then `known` learns the named placeholders."""
    learnt = dict(known)
    if not _same(expected, seen, learnt):
        return False
    known.update(learnt)
    return True


def _same(expected, seen, known):
    if isinstance(expected, str):
        if expected == "<number>":
            return isinstance(seen, int | float) and not isinstance(seen, bool)
        return isinstance(seen, str) and _same_text(expected, seen, known)
    if type(expected) is not type(seen):
        return False
    if isinstance(expected, dict):
        return expected.keys() == seen.keys() and all(_same(expected[key], seen[key], known) for key in expected)
    if isinstance(expected, list):
        return len(expected) == len(seen) and all(map(lambda a, b: _same(a, b, known), expected, seen))
    return expected == seen


def _same_text(expected, seen, known):
    names, pattern, end = [], "", 0
    for found in _PLACEHOLDER.finditer(expected):
        pattern += re.escape(expected[end : found.start()])
        kind, name = found.groups()
        pattern += re.escape(known[name]) if name in known else f"({KINDS[kind]})"
        if name not in known:
            names.append(name)
        end = found.end()
    result = re.fullmatch(pattern + re.escape(expected[end:]), seen)
    if result is None:
        return False
    for name, value in zip(names, result.groups(), strict=True):
        if name is not None and known.setdefault(name, value) != value:
            return False
    return True


def rounds(steps):
    """The steps after the first, as pairs: what is done in one go, and what the server then sends."""
    doing, expected, found = [], [], []
    for step in steps[1:]:
        if "<" in step or "<+" in step:
            expected.append(step)
        elif expected:
            found.append((doing, expected))
            doing, expected = [step], []
        else:
            doing.append(step)
    return [*found, (doing, expected)]


def act(doing, client, folder, known):
    """One round's part of the client and of whoever else changes the folder."""
    said = [encode(step, known) for step in doing if ">" in step or ">raw" in step]
    if said:
        client.send(b"".join(said))
    for step in doing:
        if "write" in step or "delete" in step:
            change(folder, step)
        if "end" in step:
            client.end()


async def play(transcript, client, folder):
    """Plays the client's part and holds the server to its own. Raises Differs."""
    known, repeated = {}, []
    for doing, expected in rounds(transcript.steps):
        act(doing, client, folder, known)
        while expected:
            seen = await _next(client, expected)
            if any(matches(pattern, seen, known) for pattern in repeated):
                continue
            step = _which(expected, seen, known)
            expected.remove(step)
            repeated += [step["<+"]] if "<+" in step else []
    client.end()
    rest = [line async for line in client]
    if rest:
        raise Differs(f"nothing more was expected, but there came\n{_lines(rest)}")


def change(folder, step):
    if "write" in step:
        file = folder / step["write"]
        file.parent.mkdir(parents=True, exist_ok=True)
        fresh = file.with_name(f".{file.name}.fresh")
        fresh.write_bytes(step["text"].encode())
        fresh.replace(file)  # as editors save; written in place, it could be seen half written
    else:
        (folder / step["delete"]).unlink()


async def _next(client, expected):
    wanted = [next(iter(step.values())) for step in expected]
    try:
        async with asyncio.timeout(DEADLINE):
            return await anext(client)
    except TimeoutError:
        raise Differs(f"still missing after {DEADLINE} s:\n{_lines(wanted)}") from None
    except StopAsyncIteration:
        raise Differs(f"the server ended, and there is still missing\n{_lines(wanted)}") from None


def _which(expected, seen, known):
    for step in expected:
        if matches(next(iter(step.values())), seen, known):
            return step
    wanted = [next(iter(step.values())) for step in expected]
    raise Differs(f"this came:\n{_lines([seen])}\ninstead of one of\n{_lines(wanted)}")


def _lines(messages):
    return "\n".join(json.dumps(message, ensure_ascii=False) for message in messages)


# -- who talks ----------------------------------------------------------------------------------------


class Talk:
    """One connection: `send` bytes, iterate over the server's parsed lines, `end` the input."""

    def __init__(self, send, end):
        self.send = send
        self.end = end
        self.seen = asyncio.Queue()

    def hear(self, line):
        """One line of the server without its LF; None at the end."""
        self.seen.put_nowait(line)

    def __aiter__(self):
        return self

    async def __anext__(self):
        line = await self.seen.get()
        if line is None:
            self.seen.put_nowait(None)
            raise StopAsyncIteration
        assert b"\n" not in line and b"\r" not in line
        return json.loads(line)


@asynccontextmanager
async def in_memory(options, folder, cache):
    """The rooms, a peer and a session in this process; lines come from a queue and go to one."""
    import anyio

    from notes_mcp.app import Rooms, connect
    from notes_mcp.cli import parse
    from notes_mcp.protocol.subscriptions import Hub
    from notes_mcp.wire.jsonrpc import Splitter

    _, settings, _ = parse(["--cache-dir", str(cache), *options, str(folder)], {})
    chunks = asyncio.Queue()

    async def lines():
        splitter = Splitter(settings.max_line_in_bytes)
        while (chunk := await chunks.get()) is not None:
            for line in splitter.feed(chunk):
                yield line
        for line in splitter.end():
            yield line

    async def write(line):
        talk.hear(line)

    talk = Talk(chunks.put_nowait, lambda: chunks.put_nowait(None))
    rooms = Rooms(settings, Hub(settings.max_subscriptions))
    peer, session = connect(rooms, lines(), write, settings)

    async def serve():
        await peer.serve(session)
        talk.hear(None)
        await rooms.close()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rooms.run, lambda reason: peer.stop())
        tasks.start_soon(serve)
        yield talk
        talk.end()


@asynccontextmanager
async def through_a_process(options, folder, cache):
    """The real command in a subprocess; it must end by itself, with code 0 and nothing on stderr."""
    import sys

    command = [sys.executable, "-m", "notes_mcp", "--cache-dir", str(cache), *options, str(folder)]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe, limit=1 << 24)

    async def read():
        while line := await process.stdout.readline():
            talk.hear(line.removesuffix(b"\n"))
        talk.hear(None)

    talk = Talk(process.stdin.write, process.stdin.close)
    reading = asyncio.create_task(read())
    complaints = asyncio.create_task(process.stderr.read())
    try:
        yield talk
        process.stdin.close()
        async with asyncio.timeout(DEADLINE):
            assert await process.wait() == 0
            assert (await complaints).decode() == ""
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        await asyncio.gather(reading, complaints)


async def build_index(folder, cache):
    """A first run over the folder, so that a dialogue begins with a complete index and hears nothing of its making."""
    async with asyncio.timeout(DEADLINE), in_memory(["--tools", "notes_info"], folder, cache) as talk:
        talk.send(_INFO)
        while not (await anext(talk))["result"]["structuredContent"]["index"]["complete"]:
            talk.send(_INFO)


_META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
_INFO = (
    json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 0,
            "method": "tools/call",
            "params": {"name": "notes_info", "arguments": {}, "_meta": _META},
        }
    ).encode()
    + b"\n"
)
