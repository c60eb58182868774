import contextlib
import os
import socket
import stat
import sys
import tempfile
import unicodedata
from pathlib import Path

import pytest
from disk_rights import without_root_rights
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.errors import (
    AmbiguousError,
    BusyError,
    ExistsError,
    ForbiddenError,
    InvalidRequestError,
    NoteError,
    NotFoundError,
    StorageError,
    UnreadableError,
)
from notes_mcp.notes.realpath import RealPath
from notes_mcp.notes.vault import Vault

SECRET = b"secret of the outside"
WRITES = ("create", "replace", "trash", "remove", "move_from", "move_to")


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


def attempt(vault: Vault, operation: str, path: str) -> None:
    match operation:
        case "create":
            vault.create(path, b"new")
        case "replace":
            vault.replace(path, b"new")
        case "trash":
            vault.trash(path)
        case "remove":
            vault.remove(path)
        case "move_from":
            vault.move(path, "moved.md")
        case "move_to":
            vault.move("a.md", path)
        case "read":
            vault.read(path)
        case "read_attachment":
            vault.read_attachment(path, 1000)
        case "locate":
            vault.locate(path)
        case "place":
            vault.place(path)
        case _:
            raise AssertionError(operation)


def everything(folder: Path) -> dict[str, bytes | str]:
    return {
        str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


# -- links ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", ["read", "read_attachment", "locate", "place", *WRITES])
@pytest.mark.parametrize(
    "links",
    [
        {"x.md": "../outside/secret.md"},
        {"x.md": "ABSOLUTE/secret.md"},
        {"x.md": "y.md", "y.md": "../outside/secret.md"},
        {"x.md": "../outside/not-yet.md"},
        {"x.md": "../notes-evil.md"},
    ],
)
def test_hazard_043_a_link_to_a_file_outside_is_refused_by_every_operation(
    root: Path, outside: Path, operation: str, links: dict[str, str]
) -> None:
    (root.parent / "notes-evil.md").write_bytes(SECRET)  # a prefix of strings, not of components
    for name, target in links.items():
        (root / name).symlink_to(target.replace("ABSOLUTE", str(outside)))
    before = everything(root.parent)
    with pytest.raises(ForbiddenError):
        attempt(Vault(root), operation, "x.md")
    assert everything(root.parent) == before


@pytest.mark.parametrize("operation", ["read", "locate", "place", *WRITES])
@pytest.mark.parametrize("path", ["d/secret.md", "d/new.md", "d/new/deep.md", "e/secret.md", "e/new.md"])
def test_hazard_044_below_a_linked_folder_outside_nothing_is_reached_or_made(
    root: Path, outside: Path, operation: str, path: str
) -> None:
    (root / "d").symlink_to(outside)
    (root / "real").mkdir()
    (root / "e").symlink_to("real/up")
    (root / "real/up").symlink_to("../../outside")
    before = everything(root.parent)
    with pytest.raises(ForbiddenError):
        attempt(Vault(root), operation, path)
    assert everything(root.parent) == before


def test_hazard_133_links_outside_are_not_listed_but_told(root: Path, outside: Path) -> None:
    (root / "x.md").symlink_to(outside / "secret.md")
    (root / "d").symlink_to(outside)
    (root / "gone.md").symlink_to("nowhere.md")
    (root / "circle").symlink_to("circle")
    (root / "alias.md").symlink_to("a.md")
    scan = Vault(root).scan()
    assert [file.path for file in scan.files] == ["a.md"]
    assert scan.folders == ()
    assert {(p.kind, p.path) for p in scan.problems} == {
        ("link_outside", "x.md"),
        ("link_outside", "d"),
        ("link_outside", "circle"),
        ("link_broken", "gone.md"),
    }


def test_a_link_inside_is_followed_to_its_real_path(root: Path) -> None:
    (root / "sub").mkdir()
    (root / "sub/b.md").write_bytes(b"b")
    (root / "link.md").symlink_to("sub/b.md")
    (root / "dir").symlink_to("sub")
    (root / "self").symlink_to(".")
    (root / "absolute.md").symlink_to(root / "sub/b.md")
    vault = Vault(root)
    for path in ("link.md", "dir/b.md", "self/sub/b.md", "self/self/dir/b.md", "absolute.md"):
        assert vault.locate(path) == "sub/b.md"
        assert vault.read(path)[0] == b"b"
    assert vault.place("dir/new/x.md") == "sub/new/x.md"
    assert [file.path for file in vault.scan().files] == ["a.md", "sub/b.md"]


@pytest.mark.parametrize("target", [".trash/t.md", ".git/config", "node_modules/n.md", "private/p.md"])
@pytest.mark.parametrize("by", ["file", "folder"])
def test_hidden_and_ignored_files_are_not_reached_through_a_link_either(root: Path, target: str, by: str) -> None:
    folder, name = target.split("/")
    (root / folder).mkdir()
    (root / target).write_bytes(SECRET)
    vault = Vault(root, ignore=["private/"])
    if by == "file":
        (root / "x.md").symlink_to(target)
        path = "x.md"
    else:
        (root / "x").symlink_to(folder)
        path = f"x/{name}"
    for operation in ("read", "locate", *WRITES):
        with pytest.raises(ForbiddenError):
            attempt(vault, operation, path)
        with pytest.raises(ForbiddenError):
            attempt(vault, operation, target)
    assert vault.stat(path) is None
    assert vault.stat(target) is None
    assert [file.path for file in vault.scan().files] == ["a.md"]
    assert (root / target).read_bytes() == SECRET


def test_links_in_a_circle_are_refused(root: Path) -> None:
    (root / "x.md").symlink_to("y.md")
    (root / "y.md").symlink_to("x.md")
    with pytest.raises(ForbiddenError):
        Vault(root).read("x.md")


@pytest.mark.skipif(sys.platform == "win32", reason="directory descriptors")
@pytest.mark.parametrize("operation", ["read", *WRITES])
def test_a_folder_swapped_for_a_link_between_check_and_use_leads_nowhere(
    root: Path, outside: Path, operation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "d").mkdir()
    (root / "d/secret.md").write_bytes(b"inside")
    path = "d/new.md" if operation in ("create", "move_to") else "d/secret.md"
    vault, trace = Vault(root), RealPath.trace

    def trace_then_swap(self: RealPath, asked: str, *, exact: bool = False):
        found = trace(self, asked, exact=exact)
        if asked.startswith("d/") and not (root / "d").is_symlink():
            (root / "d").rename(root / "was")
            (root / "d").symlink_to(outside)
        return found

    monkeypatch.setattr(RealPath, "trace", trace_then_swap)
    before = everything(outside)
    with pytest.raises(NoteError):
        attempt(vault, operation, path)
    assert everything(outside) == before
    assert (root / "was/secret.md").read_bytes() == b"inside"


@pytest.mark.skipif(sys.platform == "win32", reason="O_NOFOLLOW")
def test_a_file_swapped_for_a_link_between_check_and_use_is_not_read(
    root: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault, trace = Vault(root), RealPath.trace

    def trace_then_swap(self: RealPath, asked: str, *, exact: bool = False):
        found = trace(self, asked, exact=exact)
        (root / "a.md").unlink(missing_ok=True)
        (root / "a.md").symlink_to(outside / "secret.md")
        return found

    monkeypatch.setattr(RealPath, "trace", trace_then_swap)
    with pytest.raises(ForbiddenError):
        vault.read("a.md")


def test_a_folder_swapped_for_a_link_during_the_walk_is_not_listed(
    root: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from notes_mcp.notes import listing

    (root / "d").mkdir()
    open_folder = listing.open_folder

    def swap_then_open(top: str, parts):
        if list(parts) == ["d"] and not (root / "d").is_symlink():
            (root / "d").rmdir()
            (root / "d").symlink_to(outside)
        return open_folder(top, parts)

    monkeypatch.setattr(listing, "open_folder", swap_then_open)
    assert [file.path for file in Vault(root).scan().files] == ["a.md"]


# -- paths ------------------------------------------------------------------------------------------


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


# -- kinds of file ----------------------------------------------------------------------------------


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


# -- spelling ---------------------------------------------------------------------------------------


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
    from notes_mcp.notes import door

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


# -- the ignore file --------------------------------------------------------------------------------


def test_the_ignore_file_counts_from_the_moment_it_changes(root: Path) -> None:
    vault = Vault(root, ignore=["*.log"])
    (root / "x.log").write_bytes(b"")
    (root / "secret").mkdir()
    (root / "secret/s.md").write_bytes(b"s")
    assert vault.read("secret/s.md")[0] == b"s"
    (root / ".notesignore").write_text("secret/\n!x.log\n")
    with pytest.raises(ForbiddenError):
        vault.read("secret/s.md")
    assert [file.path for file in vault.scan().files] == ["a.md", "x.log"]
    (root / ".notesignore").unlink()
    assert vault.read("secret/s.md")[0] == b"s"
    with pytest.raises(ForbiddenError):
        vault.read("x.log")


def test_a_line_of_the_ignore_file_that_means_nothing_is_told(root: Path) -> None:
    (root / ".notesignore").write_text("!\nb.md\n")
    scan = Vault(root).scan()
    assert [(p.kind, p.path) for p in scan.problems] == [("ignore_pattern", "!")]
    with pytest.raises(InvalidRequestError):
        Vault(root, ignore=["x[a"])


def test_an_ignore_file_that_cannot_be_read_opens_nothing(root: Path) -> None:
    (root / ".notesignore").write_text("a.md\n")
    (root / ".notesignore").chmod(0)
    with without_root_rights():
        for operation in ("read", "replace", "create"):
            with pytest.raises(UnreadableError):
                attempt(Vault(root), operation, "a.md")
        with pytest.raises(UnreadableError):
            Vault(root).scan()
    (root / ".notesignore").unlink()
    (root / ".notesignore").symlink_to("gone")
    with pytest.raises(UnreadableError):
        Vault(root).read("a.md")


def test_an_ignore_file_that_is_a_pipe_or_a_folder_is_none(root: Path) -> None:
    (root / ".notesignore").mkdir()
    assert Vault(root).read("a.md")[0] == b"a"
    if hasattr(os, "mkfifo"):
        (root / ".notesignore").rmdir()
        os.mkfifo(root / ".notesignore")
        assert Vault(root).read("a.md")[0] == b"a"


# -- denied access ----------------------------------------------------------------------------------


def test_a_file_or_folder_that_may_not_be_read_is_told_from_one_that_is_not_there(root: Path) -> None:
    (root / "locked").mkdir()
    (root / "locked/x.md").write_bytes(b"x")
    (root / "locked").chmod(0)
    (root / "b.md").write_bytes(b"b")
    (root / "b.md").chmod(0)
    vault = Vault(root)
    with without_root_rights():
        for path in ("b.md", "locked/x.md", "locked/none.md"):
            with pytest.raises(UnreadableError):
                vault.read(path)
        with pytest.raises(UnreadableError):
            vault.stat("locked/x.md")
        state = vault.stat("b.md")
        assert state is not None and state.size == 1
        scan = vault.scan()
    (root / "locked").chmod(stat.S_IRWXU)
    assert scan.unreadable == ("locked",)
    assert [file.path for file in scan.files] == ["a.md", "b.md"]
    assert [(p.kind, p.path) for p in scan.problems] == [("unreadable_folder", "locked")]


def test_hazard_139_a_cloud_placeholder_is_listed_and_never_opened_or_overwritten(root: Path) -> None:
    (root / ".Later.md.icloud").write_bytes(b"bplist")
    vault = Vault(root)
    scan = vault.scan()
    assert [(file.path, file.downloaded) for file in scan.files] == [("Later.md", False), ("a.md", True)]
    state = vault.stat("Later.md")
    assert state is not None and not state.downloaded
    for operation in ("read", "locate", "replace", "trash", "remove", "create"):
        with pytest.raises(BusyError):
            attempt(vault, operation, "Later.md")
    with pytest.raises(ForbiddenError):
        vault.read(".Later.md.icloud")
    assert os.listdir(root).count("Later.md") == 0


def test_a_setting_is_read_for_us_alone(root: Path, outside: Path) -> None:
    vault = Vault(root)
    assert vault.read_setting(".obsidian/daily-notes.json") is None
    (root / ".obsidian").mkdir()
    (root / ".obsidian/daily-notes.json").write_bytes(b"{}")
    assert vault.read_setting(".obsidian/daily-notes.json") == b"{}"
    (root / ".obsidian/x.json").symlink_to(outside / "secret.md")
    assert vault.read_setting(".obsidian/x.json") is None
    for path in ("a.md", ".obsidian/../a.md", ".git/config"):
        with pytest.raises(ForbiddenError):
            vault.read_setting(path)


# -- whatever a client may send ---------------------------------------------------------------------

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
