import sys
from pathlib import Path

import pytest
from vault_cases import SECRET, WRITES, attempt, everything

from notes_mcp.errors import (
    ForbiddenError,
    NoteError,
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
    from notes_mcp.notes.disk import listing

    (root / "d").mkdir()
    open_folder = listing.open_folder

    def swap_then_open(top: str, parts):
        if list(parts) == ["d"] and not (root / "d").is_symlink():
            (root / "d").rmdir()
            (root / "d").symlink_to(outside)
        return open_folder(top, parts)

    monkeypatch.setattr(listing, "open_folder", swap_then_open)
    assert [file.path for file in Vault(root).scan().files] == ["a.md"]
