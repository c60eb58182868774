import contextlib
import os
import socket
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vault_cases import SECRET, WRITES, attempt, everything

from notes_mcp.errors import (
    ExistsError,
    ForbiddenError,
    InvalidRequestError,
    NoteError,
    NotFoundError,
    StorageError,
)
from notes_mcp.notes.disk.realpath import RealPath
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
    "path", ["../outside/secret.md", "/etc/passwd", "a/../../outside/secret.md", "..\\outside\\secret.md", ".hidden"]
)
@pytest.mark.parametrize("operation", ["read", "locate", "place", *WRITES])
def test_paths_that_leave_the_folder_are_refused_before_the_disk_is_asked(
    root: Path, outside: Path, path: str, operation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = Vault(root)
    before = everything(root.parent)
    with monkeypatch.context() as patch, pytest.raises(ForbiddenError):
        if operation != "move_to":
            patch.setattr(RealPath, "trace", lambda *_: pytest.fail("the disk was asked"))
        attempt(vault, operation, path)
    assert everything(root.parent) == before


def test_a_hidden_file_is_refused_alike_whether_it_is_there_or_not(root: Path) -> None:
    (root / ".there.md").write_bytes(b"x")
    messages = set()
    for name in (".there.md", ".not_there.md"):
        with pytest.raises(ForbiddenError) as caught:
            Vault(root).read(name)
        messages.add(str(caught.value).replace(name, "NAME"))
    assert len(messages) == 1


@pytest.mark.parametrize("name", ["..dots.md", "...md", "dots...md", "..d/a.md", "a..b"])
def test_hazard_055_a_name_that_begins_with_two_dots_is_a_name(root: Path, name: str) -> None:
    vault = Vault(root)
    assert vault.create(name, b"x").path == name
    assert vault.read(name)[0] == b"x"
    assert name in [file.path for file in vault.scan().files]
    assert vault.relative(str(vault.root / name)) == name


def test_hazard_061_a_name_that_is_only_near_is_another_note(root: Path) -> None:
    vault = Vault(root)
    vault.create("My Note.md", b"1")
    vault.create("my-note.md", b"2")
    assert vault.read("My Note.md")[0] == b"1"
    assert vault.read("my-note.md")[0] == b"2"


@pytest.mark.skipif(sys.platform == "win32", reason="/ as a root")
def test_hazard_049_the_root_of_the_disk_is_a_root_like_others(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"a")
    vault = Vault(Path("/"))
    path = str(tmp_path / "a.md").lstrip("/")
    assert vault.locate(path) == os.path.realpath(tmp_path / "a.md").lstrip("/")
    assert vault.read(path)[0] == b"a"
    assert vault.relative(str(tmp_path / "a.md")) == path
    assert vault.create(path.replace("a.md", "b.md"), b"b").size == 1
    with pytest.raises(ForbiddenError):
        vault.read("../etc/passwd")


@pytest.mark.parametrize(
    "name", ["Obsidian Vault", "It's “mine” 🎉", "笔记", 'quo"te', "Mobile~md~obsidian (1)", " lead"]
)
def test_hazard_059_folders_with_spaces_quotes_and_emoji_are_folders(tmp_path: Path, name: str) -> None:
    root = tmp_path / name
    root.mkdir()
    vault = Vault(root)
    assert vault.create("Über uns/日记 🎉.md", b"x").path == "Über uns/日记 🎉.md"
    assert vault.read("Über uns/日记 🎉.md")[0] == b"x"
    assert vault.relative(str(vault.root / "Über uns/日记 🎉.md")) == "Über uns/日记 🎉.md"


def test_hazard_140_a_new_note_in_an_icloud_folder_is_simply_made(tmp_path: Path) -> None:
    root = tmp_path / "Mobile Documents/iCloud~md~obsidian/Documents"
    root.mkdir(parents=True)
    vault = Vault(root)
    assert vault.create("New.md", b"x").path == "New.md"
    with pytest.raises(ExistsError):
        vault.create("New.md", b"y")


def test_a_root_given_through_a_link_is_its_real_folder(root: Path) -> None:
    (root.parent / "alias").symlink_to(root)
    vault = Vault(root.parent / "alias")
    assert vault.root == Path(os.path.realpath(root))
    assert vault.relative(str(root.parent / "alias/a.md")) == "a.md"
    assert vault.relative(str(root.parent / "alias/new/x.md")) == "new/x.md"


@pytest.mark.parametrize("name", ["missing", "file"])
def test_a_root_that_is_no_folder_is_an_error_that_says_so(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageError, match=name):
        Vault(tmp_path / name)


def test_relative_knows_only_what_is_inside_and_visible(root: Path) -> None:
    vault = Vault(root, ignore=["private/"])
    inside = str(vault.root)
    assert vault.relative(f"{inside}/a.md") == "a.md"
    assert vault.relative(f"{inside}/gone/b.md") == "gone/b.md"
    assert vault.relative(f"{inside}/.a.md.icloud") == "a.md"
    for absolute in (
        inside,
        f"{inside}-evil/a.md",
        f"{inside}/../a.md",
        "/etc/passwd",
        f"{inside}/.git/x",
        f"{inside}/private/x.md",
        f"{inside}/a\\b.md",
        f"{inside}/\udcff.md",
        f"{inside}/a.md~",
    ):
        assert vault.relative(absolute) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes")
def test_pipes_and_sockets_are_never_opened(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(root / "pipe.md")
    monkeypatch.chdir(root)  # the names of sockets are short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("sock.md")
        vault = Vault(root)
        for path in ("pipe.md", "sock.md"):
            for operation in ("read", "locate", "replace", "trash", "remove"):
                with pytest.raises(ForbiddenError):
                    attempt(vault, operation, path)
            assert vault.stat(path) is None
        scan = vault.scan()
    assert [file.path for file in scan.files] == ["a.md"]
    assert sorted(p.path for p in scan.problems if p.kind == "not_a_file") == ["pipe.md", "sock.md"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes")
def test_a_file_swapped_for_a_pipe_between_check_and_use_does_not_hang(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault, trace = Vault(root), RealPath.trace

    def trace_then_swap(self: RealPath, asked: str, *, exact: bool = False):
        found = trace(self, asked, exact=exact)
        (root / "a.md").unlink()
        os.mkfifo(root / "a.md")
        return found

    monkeypatch.setattr(RealPath, "trace", trace_then_swap)
    with pytest.raises(ForbiddenError):
        vault.read("a.md")


def test_a_folder_is_not_a_note(root: Path) -> None:
    (root / "d.md").mkdir()
    vault = Vault(root)
    for operation in ("read", "locate", "replace", "trash", "remove"):
        with pytest.raises(InvalidRequestError):
            attempt(vault, operation, "d.md")
    assert vault.is_folder("d.md")
    assert vault.locate_folder("d.md/") == "d.md"
    assert vault.locate_folder("") == vault.locate_folder("/") == ""
    assert not vault.is_folder("a.md")
    assert not vault.is_folder("none")
    assert not vault.is_folder(".git")
    with pytest.raises(InvalidRequestError):
        vault.locate_folder("a.md")
    with pytest.raises(NotFoundError):
        vault.locate_folder("none")


def test_below_a_file_there_is_nothing(root: Path) -> None:
    vault = Vault(root)
    with pytest.raises(NotFoundError):
        vault.read("a.md/b.md")
    with pytest.raises(InvalidRequestError):
        vault.create("a.md/b.md", b"")
    assert vault.stat("a.md/b.md") is None


@pytest.mark.parametrize("path", ["x" * 300 + ".md", "笔" * 100 + ".md", "d/" + "x" * 256, "a/" * 2500 + "b.md"])
def test_a_name_too_long_is_not_there_and_cannot_be_made(root: Path, path: str) -> None:
    vault = Vault(root)
    before = everything(root)
    with pytest.raises(NotFoundError):
        vault.read(path)
    with pytest.raises(InvalidRequestError):
        vault.create(path, b"x")
    assert everything(root) == before
    assert sorted(os.listdir(root)) == ["a.md"]


_PIECES = st.sampled_from(
    ["..", ".", "", "a.md", "d", "e", "out", "self", "secret.md", ".git", ".trash", "node_modules", "~", "\\", "\\..\\",
     "new", "é.md", "e\u0301.md", "\u202e", "\0", "\ud800", "C:", "x" * 256, " ", "a.md ", "a.md.", "%2e%2e", "*", "\n"]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.one_of(_PIECES, st.text(max_size=5)), min_size=1, max_size=5).map("/".join),
    st.sampled_from(("read", "locate", "place", *WRITES)),
)
def test_no_path_reaches_or_changes_anything_outside_or_hidden(path: str, operation: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        root, outside = top / "notes", top / "outside"
        for folder in ("d", ".git", "node_modules"):
            (root / folder).mkdir(parents=True)
            (root / folder / "secret.md").write_bytes(b"inside" if folder == "d" else SECRET)
        (root / "a.md").write_bytes(b"a")
        outside.mkdir()
        (outside / "secret.md").write_bytes(SECRET)
        (root / "out").symlink_to(outside)
        (root / "self").symlink_to(".")
        (root / "e").symlink_to(".git")
        kept = (outside, root / ".git", root / "node_modules")
        before = [everything(folder) for folder in kept]
        vault = Vault(root)
        with contextlib.suppress(NoteError):
            attempt(vault, operation, path)
        with contextlib.suppress(NoteError):
            assert vault.read(path)[0] != SECRET
        assert [everything(folder) for folder in kept] == before
        assert sorted(os.listdir(top)) == ["notes", "outside"]
        assert all(file.path.split("/")[0] not in ("out", "e", "self") for file in vault.scan().files)
        # No text was lost: it is where it was, in the trash, or moved.
        if operation not in ("remove", "replace"):
            assert list(everything(root).values()).count(b"a") == 1
