"""Which folders are watched on Linux: those of the notes, once each, and never through a link."""

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from disk_rights import without_root_rights
from watch_cases import Heard, watching

from notes_mcp.notes.disk import watcher
from notes_mcp.notes.disk.gate import Policy
from notes_mcp.notes.disk.vault import Vault
from notes_mcp.notes.disk.watchlist import Watchlist, below

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    for inside in ("a/b", "c", ".git/objects/00", "node_modules/x/y", "c/Node_Modules/z"):
        (folder / inside).mkdir(parents=True)
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    for n in range(40):
        (tmp_path / f"outside/{n}/sub").mkdir(parents=True)
    return tmp_path / "outside"


def watches() -> list[str]:
    """The inodes that this process watches, by each of its inotify instances."""
    found = []
    for entry in os.scandir("/proc/self/fdinfo"):
        try:
            found += re.findall(r"^inotify wd:.* ino:(\w+) ", Path(entry.path).read_text(), re.MULTILINE)
        except OSError:
            continue
    return found


def inodes(*folders: Path) -> set[str]:
    return {f"{folder.stat().st_ino:x}" for folder in folders}


def of_the_notes(root: Path) -> set[str]:
    return inodes(root, root / "a", root / "a/b", root / "c")


def listed(*tops: Path) -> Watchlist:
    return below(*map(str, tops), visible=lambda path: Policy().shows(path, os.path.basename(path), True))


async def until_watched(wanted: set[str]) -> None:
    """Until these inodes are watched, and no others."""
    with anyio.fail_after(20):
        while set(watches()) != wanted:
            await anyio.sleep(0)


async def until_told(heard: Heard, path: Path) -> None:
    """Writes the file until an event tells of it."""
    with anyio.fail_after(20):
        while str(path) not in heard.paths():
            path.write_text(str(anyio.current_time()))
            with anyio.move_on_after(0.2):
                await heard.until(lambda: str(path) in heard.paths())


def test_the_list_holds_each_folder_of_the_notes_and_nothing_behind_links(root: Path, outside: Path) -> None:
    (root / "out").symlink_to(outside)
    (root / "up").symlink_to("..")
    (root / "self").symlink_to(".")
    (root / "proc").symlink_to("/proc/self/root")
    (root / "inside").symlink_to("a")
    (root / "c/gone").symlink_to("nowhere")
    os.mkdir(os.fsencode(root) + b"/not-utf8-\xff")
    assert sorted(listed(root).folders) == [str(root), str(root / "a"), str(root / "a/b"), str(root / "c")]
    assert listed(root / "out", root / "gone").folders == []


def test_a_folder_that_cannot_be_listed_is_named(root: Path) -> None:
    (root / "a").chmod(0)
    with without_root_rights():
        found = listed(root)
    (root / "a").chmod(0o700)
    assert found.locked == [str(root / "a")]
    assert sorted(found.folders) == [str(root), str(root / "c")]


@pytest.mark.parametrize("target", ["/usr", "/proc/self/root", "/", ".."])
async def test_a_link_that_leads_outside_costs_no_watch(root: Path, outside: Path, target: str) -> None:
    (root / "a/link").symlink_to(target)
    async with watching(root):
        assert sorted(watches()) == sorted(of_the_notes(root))


async def test_links_that_come_later_alone_or_in_a_folder_are_not_followed(
    root: Path, outside: Path, tmp_path: Path
) -> None:
    (tmp_path / "coming/deep").mkdir(parents=True)
    (tmp_path / "coming/deep/link").symlink_to(outside)
    async with watching(root) as heard:
        (root / "link").symlink_to(outside)
        (tmp_path / "coming").rename(root / "came")
        await until_told(heard, root / "came/deep/x.md")
        wanted = of_the_notes(root) | inodes(root / "came", root / "came/deep")
        assert set(watches()) == wanted
        (outside / "0/sub/secret.md").write_text("1")
        await until_told(heard, root / "last.md")
        assert not [path for path in heard.paths() if "secret" in path]


async def test_a_new_folder_is_watched_itself_and_so_is_what_is_made_in_it(root: Path) -> None:
    async with watching(root) as heard:
        (root / "new").mkdir()
        await until_told(heard, root / "new/a.md")
        (root / "new/deep/er").mkdir(parents=True)
        await until_told(heard, root / "new/deep/er/b.md")
        heard.forget()
        (root / "new/deep/er/b.md").unlink()
        await heard.until(lambda: str(root / "new/deep/er/b.md") in heard.paths())


async def test_a_folder_in_the_place_of_one_that_moved_away_is_watched_with_all_that_is_in_it(
    root: Path, tmp_path: Path
) -> None:
    (tmp_path / "other/b").mkdir(parents=True)
    async with watching(root) as heard:
        (root / "a").rename(tmp_path / "away")
        (tmp_path / "other").rename(root / "a")
        await until_told(heard, root / "a/b/x.md")
        assert inodes(root / "a", root / "a/b") <= set(watches())


async def test_however_many_folders_come_a_few_watchers_see_them_all(root: Path) -> None:
    async with watching(root) as heard:
        for n in range(12):
            (root / f"new{n}").mkdir()
            await until_told(heard, root / f"new{n}/x.md")
        for n in range(12):
            heard.forget()
            (root / f"new{n}/y.md").write_text("1")
            await heard.until(lambda n=n: str(root / f"new{n}/y.md") in heard.paths() or heard.comparisons() > 0)
        found = watches()
        assert set(found) == of_the_notes(root) | inodes(*(root / f"new{n}" for n in range(12)))
        assert len(found) == len(set(found))


async def test_hidden_and_package_folders_that_come_later_are_not_watched(root: Path) -> None:
    async with watching(root) as heard:
        (root / ".trash/deep").mkdir(parents=True)
        (root / "a/node_modules/deep").mkdir(parents=True)
        await until_told(heard, root / "a/x.md")
        assert sorted(watches()) == sorted(of_the_notes(root))


async def test_a_folder_made_between_listing_and_arming_is_watched_all_the_same(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = root / "a/late/deep"

    def then_one_comes(*tops: str, visible: Callable[[str], bool]) -> Watchlist:
        found = below(*tops, visible=visible)
        late.mkdir(parents=True, exist_ok=True)
        return found

    monkeypatch.setattr(watcher, "below", then_one_comes)
    async with watching(root) as heard:
        await until_told(heard, late / "x.md")
        heard.forget()
        (late / "x.md").unlink()
        await heard.until(lambda: str(late / "x.md") in heard.paths())


async def test_ignored_folders_are_not_watched_nor_are_those_that_come_later(root: Path) -> None:
    vault = Vault(root, ignore=["c/", "**/attic"])
    async with watching(root, policy=lambda _: vault.policy) as heard:
        await until_watched(inodes(root, root / "a", root / "a/b"))
        (root / "a/attic/deep").mkdir(parents=True)
        (root / "a/open").mkdir()
        await until_told(heard, root / "a/open/x.md")
        await until_watched(inodes(root, root / "a", root / "a/b", root / "a/open"))


async def test_other_patterns_are_other_watches_at_once(root: Path) -> None:
    vault = Vault(root)
    async with watching(root, policy=lambda _: vault.policy) as heard:
        (root / ".notesignore").write_text("/a/\n")
        await until_watched(inodes(root, root / "c"))
        await heard.until(lambda: heard.comparisons() >= 2)  # at the change, and once the new watches are armed
        (root / ".notesignore").unlink()
        await until_watched(of_the_notes(root))
        heard.forget()
        await until_told(heard, root / "a/b/x.md")


async def test_while_the_patterns_cannot_be_read_every_folder_is_watched(root: Path) -> None:
    vault = Vault(root)
    (root / ".notesignore").symlink_to("nowhere")
    async with watching(root, policy=lambda _: vault.policy):
        await until_watched(of_the_notes(root))
