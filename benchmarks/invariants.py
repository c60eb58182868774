"""What must hold of the pure rooms for any bytes at all: the targets of `python -m benchmarks.fuzz`, and of tests.

Each target makes its arguments of the bytes (fields end with 0xFF, which is never in UTF-8) and fails an assertion
where a promise is broken: what is written is read back, spans lie inside the text and in order, a change touches
what it names. `in_few_steps` bounds the work by the size of the input, counted in calls, not in time.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from types import FrameType
from typing import Any, get_args

import apsw

from benchmarks.strictly import Pairs, repeats, strictly
from notes_mcp.errors import InvalidRequestError, NoteError, NotTextError, ParseError
from notes_mcp.notes.edits import edits, tagging
from notes_mcp.notes.index import query, schema
from notes_mcp.notes.markup import facts, markdown, sections
from notes_mcp.notes.properties import properties, propertyedit
from notes_mcp.notes.text import Text
from notes_mcp.wire import jsonrpc
from notes_mcp.wire.lines import Oversized, Splitter

STEPS_AT_LEAST, STEPS_A_BYTE = 40_000, 400
SHORT_LINE = 64
REPEATED_BYTES = 32_768
OPS: tuple[edits.Op, ...] = get_args(edits.Op)
_LINE_END = re.compile(rb"\r\n|\n|\r")
_ENDS_A_LINE = re.compile("[\n\r\u2028\u2029\x85]")


def messages(data: bytes) -> None:
    """Chunks make no difference to `Splitter`; `decode` takes exactly JSON-RPC; what is encoded is read back."""
    size, stream = (data[0] + 1 if data else 1), data[1:]
    chunks = [stream[at : at + size] for at in range(0, len(stream), size)]
    for limit in (SHORT_LINE, len(data)):
        lines = _split([stream], limit)
        assert lines == _split(chunks, limit)
        assert all(len(line) <= limit and b"\n" not in line for line in lines if isinstance(line, bytes))
    for line in _split([stream], len(data)):
        assert isinstance(line, bytes)
        _message(line)


def _split(chunks: Iterable[bytes], limit: int) -> list[bytes | Oversized]:
    splitter = Splitter(limit)
    lines = [line for chunk in chunks for line in splitter.feed(chunk)]
    return [*lines, *splitter.end()]


def _message(line: bytes) -> None:
    message = jsonrpc.decode(line)
    try:
        value = strictly(line)
    except (ValueError, RecursionError):
        assert isinstance(message, jsonrpc.Invalid) and isinstance(message.error, ParseError) and message.id is None
        return
    assert not (isinstance(message, jsonrpc.Invalid) and isinstance(message.error, ParseError)), line
    assert isinstance(message, jsonrpc.Batch) == (type(value) is list and len(value) <= jsonrpc.MAX_BATCH_ITEMS)
    fields = dict(value) if isinstance(value, Pairs) else {}
    sound = (
        fields.get("jsonrpc") == "2.0"
        and isinstance(fields.get("method"), str)
        and isinstance(fields.get("params", Pairs()), Pairs)
        and not repeats(value)
    )
    assert isinstance(message, jsonrpc.Request) == (sound and type(fields.get("id")) in (int, str)), line
    assert isinstance(message, jsonrpc.Notification) == (sound and "id" not in fields), line
    if isinstance(message, jsonrpc.Request | jsonrpc.Notification):
        notice = jsonrpc.encode_notification(message.method, message.params)
        assert jsonrpc.decode(notice) == jsonrpc.Notification(message.method, message.params)
        assert not _ENDS_A_LINE.search(notice.decode())
    if isinstance(message, jsonrpc.Request):
        answer = {"jsonrpc": "2.0", "id": message.id, "result": message.params}
        assert json.loads(jsonrpc.encode_result(message.id, message.params)) == answer


def queries(data: bytes) -> None:
    """Any text is a query that SQLite takes, within its bounds, and that finds a note made of its own words."""
    text = data.decode("utf-8", "replace")
    for asked in (query.parse(text), query.phrase(text)):
        terms = [*asked.terms(), *asked.excluded]
        assert len(terms) <= query.MAX_TERMS and sum(len(term.tokens) for term in terms) <= query.MAX_TOKENS
        assert all(term.tokens and all(term.tokens) for term in terms)
        assert not asked.wordless or not asked.clauses
        for relaxed in (False, True):
            words = " . ".join(" ".join(clause[0].tokens) for clause in asked.clauses)
            wanted = query.Query(asked.clauses, (), asked.filters, asked.wordless)
            found = _found(query.to_fts(wanted, relaxed=relaxed), words)
            assert found == bool(asked.clauses), (text, relaxed)
            _found(query.to_fts(asked, relaxed=relaxed), words)


@lru_cache(maxsize=1)
def _index() -> apsw.Connection:
    return schema.open_in_memory("to try queries on").writer


def _found(expression: str | None, words: str) -> bool:
    if expression is None:
        return False
    index = _index()
    index.execute("DELETE FROM words")
    index.execute("INSERT INTO words(rowid, title, body) VALUES(1, ?, ?)", (words, words))
    return index.execute("SELECT count(*) FROM words WHERE words MATCH ?", (expression,)).fetchone() == (1,)


def markup(data: bytes) -> None:
    """Spans of a scan lie in the text, in order, on the lines they say; each target is where it is said to be."""
    scan = markdown.scan(data)
    facts.extract("Note.md", data)
    lines = [match.end() for match in _LINE_END.finditer(data)]
    for found in (scan.headings, scan.tags, scan.tasks, scan.links):
        _in_order(data, [(each.start, each.end) for each in found])
        for each in found:
            assert each.line == 1 + sum(end <= each.start for end in lines), each
    _apart(data, scan.comments)
    _apart(data, markdown.prose(data))
    for heading in scan.headings:
        assert heading.start <= heading.raw_start <= heading.raw_end <= heading.end
        assert _said(data, heading.raw_start, heading.raw_end) == heading.raw
    for tag in scan.tags:
        assert _said(data, tag.start, tag.end) == f"#{tag.name}"
    for task in scan.tasks:
        assert _said(data, task.status_start, task.status_end) == task.status
    for link in scan.links:
        assert 0 <= link.target_start <= link.target_end <= len(data)
    for block in scan.blocks:
        assert 0 <= block.start <= block.end <= len(data)
        assert _said(data, block.mark_start, block.mark_end) == f"^{block.id}"
    for heading, name in zip(scan.headings, sections.outline(scan), strict=True):
        assert sections.find(scan, data, name).start == heading.start, name


def _in_order(data: bytes, spans: Sequence[tuple[int, int]]) -> None:
    assert list(spans) == sorted(spans, key=lambda span: span[0])
    assert all(0 <= start <= end <= len(data) for start, end in spans), spans


def _apart(data: bytes, spans: Sequence[tuple[int, int]]) -> None:
    _in_order(data, spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans)), spans


def _said(data: bytes, start: int, end: int) -> str:
    return data[start:end].decode("utf-8", "replace")


def front_matter(data: bytes) -> None:
    """A key that is set reads as what was set, every other key and the body stay; setting it again changes nothing."""
    name, raw, note = _fields(data, 3)
    key, text = name.decode("utf-8", "replace"), Text.decode(note)
    value = _json_or_text(raw)
    was = properties.of(text)
    _ = was.tags, was.aliases, was.title, was.pairs(), was.said
    if properties.TAG_KEYS.fullmatch(key):
        return
    try:
        now = Text.decode(text.splice(propertyedit.set_keys(text, {key: value})))
    except (InvalidRequestError, NotTextError):
        return
    assert was.error is None
    _holds(text, now, {**was.values, key: value})
    assert propertyedit.set_keys(now, {key: value}) == []
    gone = Text.decode(now.splice(propertyedit.set_keys(now, {}, [key])))
    _holds(text, gone, {each: old for each, old in was.values.items() if each != key})


def _holds(before: Text, now: Text, values: dict[str, Any]) -> None:
    assert _exact(properties.of(now).values) == _exact(values), (before.text, now.text)
    assert _body(now).endswith(_body(before)) and len(_body(now)) == len(_body(before)), (before.text, now.text)
    assert (now.bom, now.encoding) == (before.bom, before.encoding)


def _body(text: Text) -> bytes:
    span = markdown.front_matter(text.utf8)
    return text.utf8[span[1] :] if span else text.utf8


def _exact(values: Any) -> str:
    return json.dumps(values, sort_keys=True)


def _json_or_text(raw: bytes) -> Any:
    try:
        value = json.loads(raw)
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return raw.decode("utf-8", "replace")
    return value


def tags(data: bytes) -> None:
    """A tag put in is there, one taken out or renamed is not, the same again changes nothing; 0 is no change."""
    tag, new, note = _fields(data, 3)
    old, other = tag.decode("utf-8", "replace"), new.decode("utf-8", "replace")
    for action in ("add", "remove", "rename"):
        try:
            change = tagging.wanted(action, [old], other if action == "rename" else None)
            done = tagging.apply("Note.md", note, change)
        except (InvalidRequestError, NotTextError):
            continue
        assert (done.count == 0) == (done.data == note), (action, note)
        there = {each.casefold() for each in facts.extract("Note.md", done.data).tags}
        bare = properties.bare_tag(old).casefold()
        if action == "add":
            assert bare in there, note
        elif action == "remove" or not f"{properties.bare_tag(other).casefold()}/".startswith(f"{bare}/"):
            assert bare not in there, (action, note, done.data)
        if action != "rename" and properties.of(Text.decode(note)).error is None:
            assert tagging.apply("Note.md", done.data, change).count == 0, (action, note)


def changes(data: bytes) -> None:
    """An edit loses no byte outside of the passage or section that it names, and adding ones lose none at all."""
    first, new, old, section, note = _fields(data, 5)
    op = OPS[first[0] % len(OPS)] if first else OPS[0]
    text, old_text, name = (part.decode("utf-8", "replace") for part in (new, old, section))
    edit = edits.Edit(op, text, old_text, name)
    try:
        after = Text.decode(edits.apply("Note.md", note, [edit]).data)
    except NoteError:
        return
    before = Text.decode(note)
    mine = 0
    if op == "replace":
        mine = max(end - start for start, end in before.occurrences(old_text))
    elif op in ("replace_section", "delete_section"):
        found = sections.find(markdown.scan(before.utf8), before.utf8, name)
        mine = found.end - found.start + _blank_around(before.utf8, found.start, found.end)
    kept = _common(before.utf8, after.utf8)
    assert kept >= len(before.utf8) - mine, (edit, note, after.data)


def _blank_around(utf8: bytes, start: int, end: int) -> int:
    """How many bytes beside a section are blank lines or its block mark, which may go along with it."""
    behind = re.match(rb"\s*(?:\^[\w-]+)?\s*", utf8[end:])
    return len(utf8[:start]) - len(utf8[:start].rstrip()) + (len(behind[0]) if behind else 0)


def _common(one: bytes, other: bytes) -> int:
    """How many bytes of the shorter text are its common beginning with the other and their common end."""
    most = min(len(one), len(other))
    head = next((at for at in range(most) if one[at] != other[at]), most)
    tail = next((at for at in range(most) if one[-1 - at] != other[-1 - at]), most)
    return min(head + tail, most)


def repeated(data: bytes) -> None:
    """A short piece many times over: what grows with the square of the text runs into the fuzzer's time limit."""
    size = len(data)
    many = (data * (REPEATED_BYTES // size) if size else b"")[:REPEATED_BYTES]
    markdown.prose(many)
    facts.extract("Note.md", many)
    facts.extract("Note.md", b"---\n" + many + b"\n---\n")
    query.parse(many.decode("utf-8", "replace"))
    jsonrpc.decode(many)


def _fields(data: bytes, count: int) -> list[bytes]:
    parts = data.split(b"\xff", count - 1)
    return [*parts[:-1], *[b""] * (count - len(parts)), parts[-1]]


TARGETS: dict[str, Callable[[bytes], None]] = {
    each.__name__: each for each in (messages, queries, markup, front_matter, tags, changes, repeated)
}


def in_few_steps(target: Callable[[bytes], None], data: bytes) -> None:
    """The target, held to a number of calls that grows with the input and no faster."""
    steps = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal steps
        steps += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        target(data)
    finally:
        sys.setprofile(None)
    most = STEPS_AT_LEAST + STEPS_A_BYTE * len(data)
    assert steps <= most, f"{steps} calls for {len(data)} bytes, {most} are the most"
