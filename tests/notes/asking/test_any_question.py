"""Any string at all is a question: in every mode and every filter, over real notes in many scripts."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from _served import brought_up, fill, folder_of
from hypothesis import example, given, settings
from hypothesis import strategies as st

from notes_mcp.errors import NoteError
from notes_mcp.notes.answers import IndexState
from notes_mcp.notes.asking.finding import Asked, Finder
from notes_mcp.notes.asking.naming import Names
from notes_mcp.notes.asking.paging import list_notes
from notes_mcp.notes.shelf import Shelf

NOTES = {
    "Plan.md": "---\ntags: [work/plan]\nstatus: open\naliases: [计划]\n---\n# Plan\n\nquick brown fox [[日记]]\n",
    "日记/今天.md": "今天学习了し\u3099りとり와 끝말잇기를 했다 #日记\n",
    "x/y.org": "* Привет мир\nעברית العربية ภาษาไทย हिन्दी\n",
    "e.txt": "🎉 ½ ﬁ ı İ ß \u0301 \0 end\r\nline \u2028 two\r",
}
STATE = IndexState(complete=True, indexed=4, total=4)
HOSTILE = [
    *"\"'`*-+^~(){}[]<>|&!?.,:;#@%$/\\=_ \0\n\r\t\ud800\udfff\u200b\ufeff\u0301\U0010ffff",
    *(
        "NEAR(",
        " OR ",
        " AND ",
        " NOT ",
        "tag:",
        "path:",
        "title:",
        "[a:",
        "[[",
        "]]",
        "../",
        "中",
        "文",
        "가",
        "é",
        "🎉",
    ),
    *("a", "x" * 300, "(?", "(?:", "{9}", "\\p{", "\\x", "SELECT", "--", "%00", "%", "“", "「", "notes:///", "file://"),
]
ANY_TEXT = st.one_of(
    st.text(st.characters(), max_size=30), st.lists(st.sampled_from(HOSTILE), max_size=8).map("".join)
)  # fmt: skip


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    root: Path = tmp_path_factory.mktemp("any")
    folder = brought_up(folder_of(fill(root / "notes", NOTES)))
    yield Shelf([folder])
    folder.index.close()


def ask(shelf: Shelf, text: str, **conditions: object) -> None:
    """Either an answer of which every part is bounded, or an error in the user's words."""
    asked = {"folder": None, "tags": (), "properties": (), "modified_after": None, "mode": "words", "sort": "relevance"}
    try:
        page = Finder(shelf).search(Asked(text, **{**asked, **conditions}), 2, None, STATE)  # type: ignore[arg-type]
    except NoteError as error:
        assert str(error)
        return
    assert len(page.hits) <= 2 <= max(page.total, 2)
    assert all(len(match.text) <= 400 for hit in page.hits for match in hit.matches)


@settings(max_examples=150, deadline=None)
@given(ANY_TEXT)
@example("\ud800*")
@example('"' * 4_001)
@example("(" * 900)
@example("tag:" * 900)
@example("中" * 3_999)
def test_any_string_is_a_query_in_every_mode(shelf: Shelf, text: str) -> None:
    for mode in ("words", "exact", "regex", text):
        ask(shelf, text, mode=mode)


@settings(max_examples=150, deadline=None)
@given(ANY_TEXT, ANY_TEXT)
@example("\ud800", "\0")
@example("NOTES:///\ud800", "file:///\0")
@example("..", "2" * 5_000)
def test_any_string_is_a_filter(shelf: Shelf, text: str, other: str) -> None:
    for query in ("fox", f"fox tag:{text} -path:{other}", f'[{text}:{other}] title:"{text}"'):
        ask(shelf, query, sort="path")
    for condition in (
        {"folder": text},
        {"tags": (text, other)},
        {"properties": ((text, other),)},
        {"properties": ((text, [other, None, 1.5]),)},
        {"modified_after": text},
        {"sort": text},
    ):
        ask(shelf, "fox", **condition)


@settings(max_examples=150, deadline=None)
@given(ANY_TEXT)
@example("\ud800")
@example("/\0/")
@example("/\ud800/x")
def test_any_string_lists_and_completes(shelf: Shelf, text: str) -> None:
    for kind in ("paths", "tags", "folders"):
        names, total = Names(shelf).like(kind, text, 100)
        assert len(names) <= min(total, 100)
    for folder, glob, tag in ((text, None, None), (None, text, None), (None, None, text)):
        try:
            page = list_notes(shelf, folder, glob, tag, True, "path", 3, None, STATE)
        except NoteError:
            continue
        assert len(page.notes) <= min(3, page.total)
