"""After any sequence of batches the index is what it would be if it were built from nothing."""

from collections.abc import Sequence

import apsw
from _entries import attachment, link, note
from _tables import everything, require_sound
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.notes.index.index import Index
from notes_mcp.notes.index.query import parse
from notes_mcp.notes.index.snippets import matches
from notes_mcp.notes.records import Batch, Entry

PATHS = ("a.md", "b.md", "d/a.md", "d/e/c.md", "d.md", "D/A.md", "图.md", "p.png", "d/q.png")
NAMES = st.lists(st.sampled_from(["x", "X", "x/y", "é", "e\u0301", "标签", "one two"]), max_size=3)
BODIES = st.sampled_from(["", "alpha beta", "beta gamma 成语接龙", "Café ที่ running", "alpha\ud800", "x" * 300])


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    path = draw(st.sampled_from(PATHS))
    modified, inode = draw(st.integers(0, 3)), draw(st.integers(0, 4))
    if path.endswith(".png"):
        return attachment(path, modified_ns=modified, inode=inode)
    return note(
        path,
        draw(BODIES),
        tags=draw(NAMES),
        aliases=draw(NAMES),
        headings=draw(NAMES),
        properties=[(name, "v") for name in draw(NAMES)],
        links=[
            link(target)
            for target in draw(st.lists(st.sampled_from(["a", "A.md", "d/a", "x", "p.png", ""]), max_size=3))
        ],
        modified_ns=modified,
        inode=inode,
    )


BATCHES = st.lists(
    st.tuples(
        st.lists(entries(), max_size=4), st.lists(st.sampled_from([*PATHS, "d", "nothing"]), max_size=3), st.booleans()
    ),
    min_size=1,
    max_size=6,
)


def after(world: dict[str, Entry], added: Sequence[Entry], gone: Sequence[str]) -> dict[str, Entry]:
    there = {entry.state.path for entry in added}
    below = tuple(path + "/" for path in gone if path not in world)
    left = {
        path: entry
        for path, entry in world.items()
        if path in there or not (path in gone or path.startswith(below or ("\0",)))
    }
    return {**left, **{entry.state.path: entry for entry in added}}


@settings(deadline=None, max_examples=150)
@given(BATCHES)
def test_any_sequence_of_batches_equals_an_index_from_nothing(
    batches: list[tuple[list[Entry], list[str], bool]],
) -> None:
    grown, world = Index.open(None), dict[str, Entry]()
    for added, gone, quiet in batches:
        start = grown.last_seq()
        changes = grown.apply(Batch(tuple(added), tuple(gone), quiet))
        assert grown.changes_since(start) == changes
        world = after(world, added, gone)
        assert sorted(grown.known()) == sorted(world)
    built = Index.open(None)
    built.apply(Batch(tuple(world.values())))
    assert everything(grown) == everything(built)
    require_sound(grown)
    for query in ("alpha", "beta gamma", "成语", "run", "tag:x", "-alpha"):
        found = [{hit.note.path for hit in index.search(parse(query), limit=50).hits} for index in (grown, built)]
        assert found[0] == found[1]
    grown.close()
    built.close()


WORDS = st.sampled_from(
    [
        "run",
        "Running",
        "成语",
        "接龙",
        "しり",
        "ไทย",
        "हिन्दी",
        "Δt",
        "мир",
        "x2",
        "🎉",
        "don't",
        "a_b",
        "ß",
        "ةكلمة",
        "foo-bar",
    ]
)
TEXTS = st.lists(st.tuples(WORDS, st.sampled_from([" ", "\n", ", ", "", "。", "-"])), min_size=1, max_size=10)


@settings(deadline=None, max_examples=150)
@given(TEXTS, st.lists(WORDS, min_size=1, max_size=3), st.sampled_from(["{}", '"{}"', "{}*"]))
def test_what_the_index_finds_in_a_text_has_a_line(parts: list[tuple[str, str]], words: list[str], form: str) -> None:
    text = "".join(word + gap for word, gap in parts)
    index = Index.open(None)
    index.apply(Batch((note("zz.md", text),)))
    query = parse(form.format(" ".join(words)))
    result = index.search(query)
    shown = matches(text, query, [], 5).shown
    if result.total and not result.relaxed:
        assert shown
    if len(list(query.terms())) == 1:
        assert bool(shown) == (result.total == 1 and not result.relaxed)
    index.close()


@settings(deadline=None, max_examples=150)
@given(st.text(st.characters(), max_size=40))
def test_any_string_is_a_safe_search(text: str) -> None:
    index = Index.open(None)
    index.apply(
        Batch((note("a.md", text, title=text, tags=[text], aliases=[text], properties=[(text, text)], links=[text]),))
    )
    result = index.search(parse(text), folder=text, tags=[text], properties={text: text})
    assert result.total in (0, 1)
    assert index.search(parse(text)).total in (0, 1)
    assert index.did_you_mean(parse(text), lambda path: text) is not None
    assert len(index.outgoing("a.md")) == 1
    assert isinstance(index.tags(text), list) and index.notes(glob=text).total in (0, 1)
    index.close()


def test_the_library_of_sqlite_is_our_own() -> None:
    # Contentless tables with deletes need SQLite 3.43.
    assert tuple(map(int, apsw.sqlite_lib_version().split("."))) >= (3, 43)
