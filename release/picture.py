"""`python -m release.picture`: draws `docs/session.svg`, a session of the real server with a copy of the sample notes.

Starts the server as a client would, asks what SESSION says, and draws what came back: nothing in it is made up.
Only what does not depend on the day is drawn, so that the same server draws the same bytes.
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unicodedata import east_asian_width
from xml.sax.saxutils import escape

from benchmarks.pipe import Pipe

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "session.svg"
_WATCHED = "Projects/Plan.md"

Line = tuple[str, str]  # what it is (a key of _COLOURS), its text
_COLOURS = {
    "call": "#8be9fd",
    "plain": "#e6e6e6",
    "quiet": "#9aa5b1",
    "added": "#7ee787",
    "removed": "#ff9f9f",
    "told": "#ffd479",
}
_WIDTH, _LINE, _MARGIN, _COLUMN = 860, 21, 22, 8.4
_COLUMNS = int((_WIDTH - 2 * _MARGIN) / _COLUMN)


@dataclass(frozen=True)
class Step:
    """One call of the session and what of its answer is drawn."""

    tool: str
    arguments: dict[str, Any]
    draw: Callable[[dict[str, Any]], Iterator[Line]]


def _hits(answer: dict[str, Any]) -> Iterator[Line]:
    for hit in answer["structuredContent"]["hits"][:2]:
        match = hit["matches"][-1]
        yield "plain", f"{hit['path']}"
        yield "quiet", f"  line {match['line']}: {match['text']}"


def _text(answer: dict[str, Any]) -> Iterator[Line]:
    yield from (("plain", line) for line in answer["content"][1]["text"].splitlines() if line)


def _diff(answer: dict[str, Any]) -> Iterator[Line]:
    kinds = {"+": "added", "-": "removed"}
    for line in answer["structuredContent"]["diff"].splitlines()[3:]:
        if line[0] in kinds:
            yield kinds[line[0]], line


def _moved(answer: dict[str, Any]) -> Iterator[Line]:
    moved = answer["structuredContent"]
    yield "plain", moved["new_path"]
    for note in moved["links_updated"][:3]:
        yield "quiet", f"  {note['count']} link rewritten in {note['path']}"


def _restored(answer: dict[str, Any]) -> Iterator[Line]:
    yield "plain", f"{len(answer['structuredContent']['restored'])} notes as they were, byte for byte"


SESSION = (
    Step("search_notes", {"query": "全文检索"}, _hits),
    Step("read_note", {"path": "Reading List", "section": "Now"}, _text),
    Step(
        "edit_note",
        {"path": "Reading List.md", "edits": [{"op": "append", "section": "Next", "text": "- [ ] 雪国, once more"}]},
        _diff,
    ),
    Step("move_note", {"path": "Books/雪国.md", "new_path": "Books/川端康成《雪国》.md"}, _moved),
    Step("undo_change", {}, _restored),
)


def main() -> None:
    """Draw the picture anew."""
    PICTURE.write_text(drawn(), encoding="utf-8", newline="\n")
    print(PICTURE)


def drawn() -> str:
    """The picture as SVG text. Raises RuntimeError when a call of the session fails."""
    with tempfile.TemporaryDirectory() as scratch:
        notes = Path(scratch) / "notes"
        shutil.copytree(ROOT / "sample_notes", notes)
        server = Pipe([sys.executable, "-m", "notes_mcp", f"--cache-dir={scratch}/cache", str(notes)])
        lines = list(_session(server, notes))
        server.close()
    return _svg(lines)


def _session(server: Pipe, notes: Path) -> Iterator[Line]:
    for step in SESSION:
        yield "call", f"{step.tool} {json.dumps(step.arguments, ensure_ascii=False)}"
        answer = server.tool(step.tool, step.arguments)
        if answer.get("isError"):
            raise RuntimeError(f"{step.tool}: {answer['content']}")
        yield from step.draw(answer)
        yield "plain", ""
    yield "quiet", f"an editor saves {_WATCHED}"
    server.notifications.clear()
    server.ask("resources/subscribe", {"uri": f"notes:///{_WATCHED}"})
    with (notes / _WATCHED).open("a", encoding="utf-8", newline="\n") as note:
        note.write("\nCall the harbour office.\n")
    told = server.next_notification("notifications/resources/updated")
    yield "told", f"{told['method']}  {told['params']['uri']}"


def _svg(lines: list[Line]) -> str:
    height = 2 * _MARGIN + _LINE * len(lines)
    rows = [
        f'<text x="{_MARGIN}" y="{_MARGIN + _LINE * row + 15}" fill="{_COLOURS[kind]}">{escape(_fitted(text))}</text>'
        for row, (kind, text) in enumerate(lines)
        if text
    ]
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
            f'viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="A session with notes-mcp">',
            f'<rect width="{_WIDTH}" height="{height}" rx="10" fill="#1b1f27"/>',
            "<g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'Noto Sans Mono CJK SC', monospace\" "
            'font-size="14" xml:space="preserve">',
            *rows,
            "</g>",
            "</svg>",
            "",
        )
    )


def _fitted(text: str) -> str:
    """`text`, cut to the columns of the picture; a wide character takes two."""
    columns = 0
    for place, letter in enumerate(text):
        columns += 2 if east_asian_width(letter) in "WF" else 1
        if columns > _COLUMNS:
            return text[: place - 1] + "…"
    return text


if __name__ == "__main__":
    main()
