"""All links at once lead where each would lead by itself."""

from _entries import attachment, link, note
from hypothesis import example, given, settings
from hypothesis import strategies as st

from notes_mcp.notes.index.index import Index
from notes_mcp.notes.records import Batch

PARTS = [
    "a",
    "A",
    "b",
    "/",
    ".",
    "..",
    ".md",
    "%20",
    " ",
    "é",
    "e\u0301",
    "中",
    "\\",
    "#",
    "My Note",
    "notes:///",
    "x.y",
]
TARGETS = st.lists(st.sampled_from(PARTS), max_size=5).map("".join)
PATHS = st.lists(
    st.sampled_from(["a", "b", "A b", "é", "中", "d/a", "d/My Note", "a.md", "100%", "a%20b", "x.y"]), max_size=6
)


@settings(max_examples=150, deadline=None)
@given(PATHS, st.lists(TARGETS, max_size=8), st.lists(TARGETS, max_size=3))
@example(["a"], ["./a"], [])
@example(["a", "d/a"], ["./a"], [])
@example(["a", "x.y"], ["a"], [])
@example(["a", "b"], [" "], [])
@example(["a", "d/a"], ["My Note"], ["My Note"])
@example(["100%"], ["100%"], [])
@example(["a"], ["a "], [])
@example(["a.md"], ["a.md"], [])
def test_all_links_lead_where_each_leads_by_itself(names: list[str], targets: list[str], aliases: list[str]) -> None:
    index = Index.open(None)
    links = [link(target, kind) for target in targets for kind in ("wiki", "markdown")]
    entries = {f"{name}.md": note(f"{name}.md", links=links, aliases=aliases[:1]) for name in names}
    entries["d/home.md"] = note("d/home.md", links=links, aliases=aliases)
    entries["d/a.png"] = attachment("d/a.png")
    index.apply(Batch(tuple(entries.values())))
    every = index.all_links()
    alone = [row for path in sorted(entries) for row in index.outgoing(path)]
    broken, below, orphans = index.broken_links(), index.broken_links("D"), [path for path, _ in index.orphans()]
    index.close()
    assert every == alone
    lost = [row for row in every if row.resolution.path is None]
    assert broken == lost
    assert below == [row for row in lost if row.source.startswith("d/")]
    reached = {row.resolution.path for row in every if row.resolution.path != row.source}
    assert orphans == [path for path in sorted(entries) if path.endswith(".md") and path not in reached]


def test_a_relative_link_in_the_root_says_nothing_about_the_same_words_in_a_folder() -> None:
    index = Index.open(None)
    links = [link("./a", "wiki")]
    paths = ("a.md", "d/a.md", "b.md", "d/b.md")
    index.apply(Batch(tuple(note(path, links=links) for path in paths)))
    leads = {row.source: row.resolution.path for row in index.all_links()}
    sources = [row.source for row in index.backlinks("d/a.md")]
    index.close()
    assert leads == {"a.md": "a.md", "b.md": "a.md", "d/a.md": "d/a.md", "d/b.md": "d/a.md"}
    assert sources == ["d/b.md"]
