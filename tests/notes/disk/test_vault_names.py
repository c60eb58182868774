import os
import sys
import unicodedata
from pathlib import Path

import pytest
from vault_cases import SECRET

from notes_mcp.errors import (
    AmbiguousError,
    ExistsError,
    ForbiddenError,
)
from notes_mcp.notes.disk.vault import Vault


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.md").write_bytes(SECRET)
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_bytes(b"a")
    return folder


@pytest.mark.parametrize(
    ("on_disk", "asked"),
    [
        (unicodedata.normalize("NFD", "Café/é ü.md"), unicodedata.normalize("NFC", "Café/é ü.md")),
        (unicodedata.normalize("NFC", "Café/é ü.md"), unicodedata.normalize("NFD", "Café/é ü.md")),
        ("Shot at 9.41\u202fAM.png", "Shot at 9.41 AM.png"),
        ("한글.md", unicodedata.normalize("NFD", "한글.md")),
        ("plain space.md", "plain\u00a0space.md"),
    ],
)
def test_hazard_058_a_name_that_looks_the_same_is_found(root: Path, on_disk: str, asked: str) -> None:
    (root / on_disk).parent.mkdir(exist_ok=True)
    (root / on_disk).write_bytes(b"x")
    vault = Vault(root)
    assert vault.locate(asked) == on_disk
    assert vault.read(asked)[0] == b"x"
    assert vault.place(asked) == on_disk
    with pytest.raises(ExistsError) as caught:
        vault.create(asked, b"y")
    assert caught.value.path == on_disk
    if sys.platform != "darwin":
        assert vault.stat(asked) is None  # exactly this spelling is not there


def test_an_exact_name_wins_over_one_that_looks_the_same(root: Path) -> None:
    composed, decomposed = unicodedata.normalize("NFC", "é.md"), unicodedata.normalize("NFD", "é.md")
    (root / composed).write_bytes(b"c")
    (root / decomposed).write_bytes(b"d")
    if len(os.listdir(root)) == 2:
        pytest.skip("this disk does not tell normal forms apart")
    vault = Vault(root)
    assert vault.read(composed)[0] == b"c"
    assert vault.read(decomposed)[0] == b"d"
    assert {p.kind for p in vault.scan().problems} == {"lookalike_names"}


def test_several_names_that_look_the_same_are_ambiguous(root: Path) -> None:
    (root / "a\u00a0b.md").write_bytes(b"1")
    (root / "a\u202fb.md").write_bytes(b"2")
    with pytest.raises(AmbiguousError) as caught:
        Vault(root).read("a b.md")
    assert caught.value.candidates == ("a\u00a0b.md", "a\u202fb.md")


def test_hazard_062_names_that_differ_in_case_are_told_and_both_kept_where_the_disk_tells_them_apart(
    root: Path,
) -> None:
    (root / "Readme.md").write_bytes(b"1")
    vault = Vault(root)
    if not vault.case_sensitive:
        with pytest.raises(ExistsError):
            vault.create("README.md", b"2")
        return
    assert vault.create("README.md", b"2").path == "README.md"
    assert vault.read("Readme.md")[0] == b"1"
    assert [(p.kind, p.path) for p in vault.scan().problems] == [("case_twins", "Readme.md")]


@pytest.fixture
def caseless(root: Path, monkeypatch: pytest.MonkeyPatch) -> Vault:
    """A vault that takes its disk for one that ignores case: names are then found by listing."""
    from notes_mcp.notes.disk import door

    monkeypatch.setattr(door, "probe_case", lambda root: False)
    return Vault(root, ignore=["Private/"])


def test_hazard_062_on_a_disk_that_ignores_case_a_twin_is_refused(root: Path, caseless: Vault) -> None:
    (root / "Sub").mkdir()
    (root / "Sub/Note.md").write_bytes(b"x")
    assert caseless.locate("sub/NOTE.md") == "Sub/Note.md"
    with pytest.raises(ExistsError) as caught:
        caseless.create("SUB/note.md", b"y")
    assert caught.value.path == "Sub/Note.md"
    assert caseless.place("sub/new.md") == "Sub/new.md"
    assert caseless.stat("sub/note.md") is None


def test_on_a_disk_that_ignores_case_no_spelling_reaches_what_is_hidden(root: Path, caseless: Vault) -> None:
    for path in ("private/x.md", "Node_Modules/y.md", ".GIT/z.md"):
        (root / path).parent.mkdir()
        (root / path).write_bytes(SECRET)
    for path in ("private/x.md", "PRIVATE/x.md", "node_modules/y.md", "NODE_MODULES/y.md", ".git/z.md"):
        with pytest.raises(ForbiddenError):
            caseless.read(path)
    assert [file.path for file in caseless.scan().files] == ["a.md"]


def test_on_a_disk_that_ignores_case_a_note_can_be_respelled(root: Path, caseless: Vault) -> None:
    assert caseless.move("a.md", "A.md") == "A.md"
    assert sorted(os.listdir(root)) == ["A.md"]


def test_the_case_of_the_disk_is_found_out_without_writing(root: Path) -> None:
    def snapshot() -> list[tuple[str, int]]:
        return sorted((name, os.stat(root / name).st_mtime_ns) for name in [*os.listdir(root), "."])

    before = snapshot()
    vault = Vault(root)
    assert snapshot() == before
    assert vault.case_sensitive == (not (root / "A.MD").exists())
