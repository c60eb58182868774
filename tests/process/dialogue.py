"""Golden dialogues: what a transcript says, how an expected line is compared, and how it is played.

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
            step = _which(expected, seen, known)
            if step is None:
                if _may_come_again(seen, repeated, known):
                    continue
                raise Differs(f"this came:\n{_lines([seen])}\ninstead of one of\n{_lines(_wanted(expected))}")
            expected.remove(step)
            repeated += [step["<+"]] if "<+" in step else []
    client.end()
    rest = [line async for line in client if not _may_come_again(line, repeated, known)]
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


def _may_come_again(seen, repeated, known):
    """What the transcript says may, and word of a changed list: how much one word tells is a matter of time."""
    changed_list = isinstance(seen, dict) and str(seen.get("method")).endswith("/list_changed")
    return changed_list or any(matches(pattern, seen, known) for pattern in repeated)


async def _next(client, expected):
    try:
        async with asyncio.timeout(DEADLINE):
            return await anext(client)
    except TimeoutError:
        raise Differs(f"still missing after {DEADLINE} s:\n{_lines(_wanted(expected))}") from None
    except StopAsyncIteration:
        raise Differs(f"the server ended, and there is still missing\n{_lines(_wanted(expected))}") from None


def _wanted(expected):
    return [next(iter(step.values())) for step in expected]


def _which(expected, seen, known):
    """The step that this fulfils; None if it fulfils none."""
    return next((step for step in expected if matches(next(iter(step.values())), seen, known)), None)


def _lines(messages):
    return "\n".join(json.dumps(message, ensure_ascii=False) for message in messages)
