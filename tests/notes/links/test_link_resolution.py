from collections.abc import Iterator, Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.errors import AmbiguousError, InvalidRequestError, NotFoundError
from notes_mcp.notes.index.segment import key
from notes_mcp.notes.links.links import name_key, nearest, resolve, resolve_ref, without_extension


class Shown:
    """A `Lookup` over a list of paths."""

    def __init__(self, *paths: str, aliases: Mapping[str, Sequence[str]] | None = None) -> None:
        self.paths = paths
        self.aliases = aliases or {}

    def by_path_key(self, path_key: str) -> list[str]:
        return [path for path in self.paths if key(path) == path_key]

    def by_name_key(self, name: str) -> list[str]:
        return [path for path in self.paths if name_key(path) == name]

    def by_alias_key(self, alias: str) -> list[str]:
        return [path for path, names in self.aliases.items() if alias in map(key, names)]

    def names(self) -> Iterator[tuple[str, str]]:
        yield from ((path, without_extension(path.rpartition("/")[2])) for path in self.paths)


VAULT = Shown(
    "Home.md", "notes/Note.md", "notes/deep/Note.md", "notes/deep/er/Only.md", "journal/x.md", "journal/Day.md",
    "other/Day.md", "img/i.png", "My Note.md", "笔记.md", "v1.2.md", "a.md.md", "100%.md", "Text.txt", "Cafe\u0301.md",
    aliases={"notes/Note.md": ["The Alias", "两"], "Home.md": ["Start"], "My Note.md": ["Start"]},
)  # fmt: skip


@pytest.mark.parametrize(
    ("target", "source", "path", "via"),
    [
        ("", "journal/x.md", "journal/x.md", "self"),
        ("Home", "journal/x.md", "Home.md", "name"),
        ("home", "journal/x.md", "Home.md", "name"),
        ("Home.md", "journal/x.md", "Home.md", "name"),
        ("笔记", "journal/x.md", "笔记.md", "name"),
        ("Café", "journal/x.md", "Cafe\u0301.md", "name"),
        ("v1.2", "Home.md", "v1.2.md", "name"),
        ("a.md", "Home.md", "a.md.md", "name"),
        ("Text", "Home.md", "Text.txt", "name"),
        ("i.png", "notes/Note.md", "img/i.png", "name"),
        ("i", "notes/Note.md", None, "none"),
        ("Nowhere", "Home.md", None, "none"),
        ("/Home", "notes/Note.md", "Home.md", "path"),
        ("/Note", "Home.md", None, "none"),
        ("./Day", "other/y.md", "other/Day.md", "relative"),
        ("../Home", "journal/x.md", "Home.md", "relative"),
        ("../../Home", "journal/x.md", None, "none"),
        ("notes\\Note", "Home.md", "notes/Note.md", "path"),
        ("notes:///My%20Note.md", "Home.md", "My Note.md", "path"),
        ("notes:///%ff", "Home.md", None, "none"),
    ],
)
def test_wikilinks_resolve_as_in_obsidian(target: str, source: str, path: str | None, via: str) -> None:
    found = resolve(target, source, VAULT)
    assert (found.path, found.via) == (path, via)


def test_hazard_109_a_bare_name_counts_in_the_whole_folder() -> None:
    assert resolve("Only", "journal/x.md", VAULT).path == "notes/deep/er/Only.md"
    # Nearest first: below the linking note's folder; else the shortest path.
    assert resolve("Note", "notes/deep/z.md", VAULT).path == "notes/deep/Note.md"
    shortest = resolve("Note", "journal/x.md", VAULT)
    assert shortest.path == "notes/Note.md"
    assert shortest.candidates == ("notes/Note.md", "notes/deep/Note.md")
    assert resolve("Day", "other/z.md", VAULT).path == "other/Day.md"
    assert resolve("Day", "journal/x.md", VAULT).path == "journal/Day.md"


def test_a_name_at_the_root_is_a_whole_path() -> None:
    files = Shown("Note.md", "journal/Note.md")
    assert resolve("Note", "journal/x.md", files).path == "Note.md"


def test_hazard_110_an_alias_is_reported_as_one() -> None:
    found = resolve("the alias", "journal/x.md", VAULT)
    assert (found.path, found.via) == ("notes/Note.md", "alias")
    assert resolve("Start", "x.md", VAULT).candidates == ("Home.md", "My Note.md")
    # A name beats an alias.
    assert resolve("Home", "x.md", Shown("a/Home.md", "b.md", aliases={"b.md": ["Home"]})).path == "a/Home.md"
    # Targets of Markdown links are looked up in the whole folder too.
    assert resolve("Only.md", "journal/x.md", VAULT, markdown=True).path == "notes/deep/er/Only.md"


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("deep/Note", "notes/deep/Note.md"),
        ("notes/Note", "notes/Note.md"),
        ("er/Only.md", "notes/deep/er/Only.md"),
        ("DEEP/note", "notes/deep/Note.md"),
        ("eep/Note", None),
        ("tes/Note", None),
        ("er/Only/", None),
    ],
)
def test_hazard_112_a_partial_path_matches_whole_components(target: str, path: str | None) -> None:
    assert resolve(target, "journal/x.md", VAULT).path == path


@pytest.mark.parametrize(
    ("target", "source", "markdown", "path"),
    [
        ("My Note.md", "journal/x.md", True, "My Note.md"),
        ("My%20Note.md", "journal/x.md", True, "My Note.md"),
        ("My%20Note", "journal/x.md", False, "My Note.md"),
        ("100%", "journal/x.md", False, "100%.md"),
        ("../img/i.png", "notes/Note.md", True, "img/i.png"),
        ("img/i.png", "notes/Note.md", True, "img/i.png"),
        ("i.png", "notes/Note.md", True, "img/i.png"),
        ("笔记", "a/b.md", True, "笔记.md"),
        ("%E7%AC%94%E8%AE%B0.md", "a/b.md", True, "笔记.md"),
        ("deep/Note.md", "notes/Note.md", True, "notes/deep/Note.md"),
        ("Note.md", "notes/deep/z.md", True, "notes/deep/Note.md"),
    ],
)
def test_hazard_113_encoded_unicode_and_attachment_targets_are_found(
    target: str, source: str, markdown: bool, path: str
) -> None:
    assert resolve(target, source, VAULT, markdown=markdown).path == path


def test_a_markdown_link_is_first_relative_to_its_note() -> None:
    files = Shown("Day.md", "journal/Day.md")
    assert resolve("Day.md", "journal/x.md", files, markdown=True).path == "journal/Day.md"
    assert resolve("/Day.md", "journal/x.md", files, markdown=True).path == "Day.md"


def test_the_spelling_decides_between_names_that_differ_in_case_alone() -> None:
    files = Shown("a/note.md", "b/Note.md")
    assert resolve("Note", "x.md", files).path == "b/Note.md"
    assert resolve("note", "x.md", files).path == "a/note.md"


@pytest.mark.parametrize(
    ("ref", "path"),
    [
        ("notes/Note.md", "notes/Note.md"),
        ("notes/Note", "notes/Note.md"),
        ("/notes/Note.md", "notes/Note.md"),
        ("./Home", "Home.md"),
        ("notes\\Note", "notes/Note.md"),
        ("HOME.MD", "Home.md"),
        ("notes/deep/er/only", "notes/deep/er/Only.md"),
        ("Only", "notes/deep/er/Only.md"),
        ("only.md", "notes/deep/er/Only.md"),
        ("er/Only", "notes/deep/er/Only.md"),
        ("The Alias", "notes/Note.md"),
        ("[[Only]]", "notes/deep/er/Only.md"),
        ("![[i.png|100]]", "img/i.png"),
        ("[[Home#Top|start here]]", "Home.md"),
        ("Home#Top", "Home.md"),
        ("notes:///My%20Note.md", "My Note.md"),
        ("notes:///My%20Note", "My Note.md"),
        ("My%20Note.md", "My Note.md"),
        ("Café", "Cafe\u0301.md"),
        ("100%", "100%.md"),
        ("Text", "Text.txt"),
        ("i.png", "img/i.png"),
    ],
)
def test_a_reference_names_one_file(ref: str, path: str) -> None:
    assert resolve_ref(ref, VAULT) == path


def test_hazard_058_other_spaces_and_normal_forms_find_the_file() -> None:
    files = Shown("Screenshot 9.41\u202fAM.png", "re\u0301sume\u0301.md")
    assert resolve_ref("Screenshot 9.41 AM.png", files) == "Screenshot 9.41\u202fAM.png"
    assert resolve_ref("résumé", files) == "re\u0301sume\u0301.md"
    both = Shown("a b.md", "a\u00a0b.md")
    assert resolve_ref("a b", both) == "a b.md"
    with pytest.raises(AmbiguousError):
        resolve_ref("A b", both)


def test_an_ambiguous_reference_lists_what_it_could_be() -> None:
    with pytest.raises(AmbiguousError) as told:
        resolve_ref("Day", VAULT)
    assert told.value.candidates == ("journal/Day.md", "other/Day.md")
    assert "journal/Day.md" in str(told.value)
    with pytest.raises(AmbiguousError):
        resolve_ref("Start", VAULT)
    with pytest.raises(AmbiguousError):
        resolve_ref("Plan", Shown("Plan.md", "Plan.txt"))


@pytest.mark.parametrize("ref", ["The Alias", "er/Only", "Home#Top"])
def test_writes_do_not_guess(ref: str) -> None:
    with pytest.raises(NotFoundError):
        resolve_ref(ref, VAULT, for_write=True)


@pytest.mark.parametrize("ref", ["Only", "notes/note", "[[Only]]", "notes:///My%20Note.md"])
def test_writes_take_extension_normal_form_and_unique_names(ref: str) -> None:
    assert resolve_ref(ref, VAULT, for_write=True) == resolve_ref(ref, VAULT)


@pytest.mark.parametrize(
    ("ref", "first"),
    [("Hmoe", "Home.md"), ("notes/Noet.md", "notes/Note.md"), ("my-note", "My Note.md"), ("笔记本", "笔记.md")],
)
def test_what_is_not_there_is_answered_with_the_nearest(ref: str, first: str) -> None:
    with pytest.raises(NotFoundError) as told:
        resolve_ref(ref, VAULT)
    assert told.value.nearest[0] == first
    assert len(told.value.nearest) <= 5
    assert all(path in str(told.value) for path in told.value.nearest)


def test_part_of_a_name_is_near() -> None:
    assert nearest("retro", Shown("2024/Sprint 12 retrospective of the team.md", "b.md")) == (
        "2024/Sprint 12 retrospective of the team.md",
    )


def test_a_badly_encoded_uri_is_an_invalid_reference() -> None:
    with pytest.raises(InvalidRequestError):
        resolve_ref("notes:///%ff", VAULT)


@settings(deadline=None)
@given(st.text("ab/.[]|#%2F\\: \u00e9\u0301\ud800", max_size=20), st.sampled_from(VAULT.paths), st.booleans())
def test_any_target_and_reference_is_safe(target: str, source: str, markdown: bool) -> None:
    found = resolve(target, source, VAULT, markdown=markdown)
    assert found.path is None or found.path in (*VAULT.paths, source)
    try:
        assert resolve_ref(target, VAULT) in VAULT.paths
    except (NotFoundError, AmbiguousError, InvalidRequestError) as error:
        assert str(error)
