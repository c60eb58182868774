"""Writes down anew what the server says in the golden dialogues: `python tests/process/record.py [NAME…]`.

The client's lines and all else stay. An expected line that still holds stays word for word, placeholders included; a
new one gets placeholders for what is known to vary. Read the difference before you commit it.
"""

import asyncio
import json
import re
import sys
import tempfile
from datetime import date
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "wire"))  # as pytest's settings have it

import dialogue
import talks

QUIET_SECONDS = 0.5  # lists are announced after 0.15 s of quiet
_TIMES = re.compile(dialogue.KINDS["time"])
_MINUTES = re.compile(dialogue.KINDS["minute"])
_SCORES = re.compile(r'("score":)-?[\d.]+')
_ETAGS = re.compile(rf"\b{dialogue.KINDS['etag']}\b")
_CHANGES = re.compile(r'(change_id"?: ?"?)([0-9A-Za-z]{10,32})')
VARYING = {
    "priority": "<number>",
    "score": "<number>",
    "version": "<version>",
    "nextCursor": "<cursor>",
    "next_cursor": "<cursor>",
}


def soften(value, key=""):
    """`value` with placeholders for what no two runs have in common."""
    if isinstance(value, dict):
        return {name: soften(held, name) for name, held in value.items()}
    if isinstance(value, list):
        return [soften(held, key) for held in value]
    if key in VARYING and value is not None:
        return VARYING[key]
    if key == "change_id" and isinstance(value, str):
        return "<change>"
    if not isinstance(value, str):
        return value
    text = _TIMES.sub("<time>", value)
    text = _MINUTES.sub("<minute>", text)
    text = _CHANGES.sub(r"\1<change>", text)
    text = _ETAGS.sub("<etag>", text)
    text = _SCORES.sub(r"\1<number>", text)
    text = text.replace(f'"version":"{dialogue.__version__}"', '"version":"<version>"')
    return text.replace(date.today().isoformat(), "<date>")


async def heard(client):
    """Everything that comes until the server has been quiet for a while."""
    lines = []
    while True:
        try:
            async with asyncio.timeout(QUIET_SECONDS):
                lines.append(await anext(client))
        except (TimeoutError, StopAsyncIteration):
            return lines


def written_down(expected, lines, known):
    """The round's expected steps as they should be: old ones that hold, in their order, then new ones."""
    kept, fresh, left = [], [], list(expected)
    for seen in lines:
        if any("<+" in step and dialogue.matches(step["<+"], seen, known) for step in kept):
            continue
        step = next((each for each in left if dialogue.matches(next(iter(each.values())), seen, known)), None)
        if step is None:
            fresh.append({"<": soften(seen)})
        else:
            left.remove(step)
            kept.append(step)
    return [step for step in expected if step in kept] + fresh


async def record(path):
    """Plays the client's part of one transcript and writes the file."""
    transcript = dialogue.Transcript(path)
    steps, known = [transcript.steps[0]], {}
    with tempfile.TemporaryDirectory() as scratch:
        folder, cache = Path(scratch, "Notes"), Path(scratch, "cache")
        folder.mkdir()
        dialogue.lay_out(folder)
        await talks.build_index(folder, cache)
        async with talks.through_a_process(transcript.options, folder, cache) as client:
            for doing, expected in dialogue.rounds(transcript.steps):
                dialogue.act(doing, client, folder, known)
                steps += [*doing, *written_down(expected, await heard(client), known)]
    lines = (json.dumps(step, ensure_ascii=False) + "\n" for step in steps)
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
    print(f"{path.name}: {len(steps)} steps")


async def main(names):
    for path in dialogue.transcripts():
        if not names or path.stem in names:
            await record(path)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
