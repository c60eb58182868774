"""A folder whose disk goes away while it is served: nothing is written to the place where it was, nothing forgotten."""

import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest


def own_mounts() -> bool:
    if sys.platform != "linux" or shutil.which("unshare") is None:
        return False
    probe = ["unshare", "--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(probe, capture_output=True).returncode == 0


pytestmark = pytest.mark.skipif(not own_mounts(), reason="needs Linux user namespaces to mount a disk of its own")

HEAD = """
import os, subprocess, sys
from pathlib import Path
from notes_mcp.errors import *
from notes_mcp.notes.disk.vault import Vault

disk = Path(sys.argv[1]) / "disk"
notes = disk / sys.argv[2] if sys.argv[2] else disk

def mount():
    subprocess.run(["mount", "-t", "tmpfs", "none", str(disk)], check=True)
    notes.mkdir(exist_ok=True)
    (notes / "a.md").write_bytes(b"old")
    (notes / ".trash").mkdir()
    (notes / ".trash/t.md").write_bytes(b"trashed")
    (notes / ".obsidian").mkdir()
    (notes / ".obsidian/app.json").write_bytes(b"{}")

def unmount():
    subprocess.run(["umount", "-l", str(disk)], check=True)

def refused(act):
    try:
        act()
    except StorageError as error:
        assert "not mounted any more" in str(error), error
    else:
        raise AssertionError("not refused")
"""

ACTS = """
acts = {
    "create": lambda: vault.create("b.md", b"new"),
    "create deep": lambda: vault.create("d/e/b.md", b"new"),
    "replace": lambda: vault.replace("a.md", b"new"),
    "trash": lambda: vault.trash("a.md"),
    "trash place": lambda: vault.trash_place("a.md"),
    "trashed": lambda: vault.trashed_etag(".trash/t.md"),
    "restore": lambda: vault.restore(".trash/t.md", "t.md"),
    "remove": lambda: vault.remove("a.md"),
    "move": lambda: vault.move("a.md", "c.md"),
    "unmake": lambda: vault.unmake_folders("d/e.md", 1),
    "scan": lambda: vault.scan(),
    "scan below": lambda: vault.scan("d"),
    "read": lambda: vault.read("a.md"),
    "attachment": lambda: vault.read_attachment("a.md", 100),
    "setting": lambda: vault.read_setting(".obsidian/app.json"),
    "stat": lambda: vault.stat("a.md"),
    "etag": lambda: vault.etag("a.md"),
    "mode": lambda: vault.mode("a.md"),
    "is folder": lambda: vault.is_folder("d"),
    "locate": lambda: vault.locate("a.md"),
    "place": lambda: vault.place("b.md"),
    "present": lambda: vault.require_present(),
}
"""


def in_a_namespace_of_its_own(folder: Path, inside: str, program: str) -> str:
    (folder / "disk" / inside).mkdir(parents=True)
    command = [sys.executable, "-c", HEAD + textwrap.dedent(program), str(folder), inside]
    run = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", *command],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=Path(__file__).parents[3],
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.parametrize("inside", ["", "Notes"], ids=["the disk itself", "a folder on it, which is below it too"])
def test_without_its_disk_every_read_and_write_is_refused_and_with_it_they_work_again(
    tmp_path: Path, inside: str
) -> None:
    out = in_a_namespace_of_its_own(
        tmp_path,
        inside,
        f"""
mount()
vault = Vault(notes)
{ACTS}
device = os.stat(notes).st_dev
unmount()
(notes / "d").mkdir()
(notes / "stray.md").write_bytes(b"of somebody who did not notice")
for name, act in acts.items():
    refused(act)
assert sorted(os.listdir(notes)) == ["d", "stray.md"]
# A disk that comes in between takes the number, so that ours has another one.
(disk.parent / "other").mkdir()
subprocess.run(["mount", "-t", "tmpfs", "none", str(disk.parent / "other")], check=True)
mount()
print(os.stat(notes).st_dev != device)
assert vault.read("a.md")[0] == b"old"
assert [file.path for file in vault.scan().files] == ["a.md"]
vault.create("b.md", b"new")
vault.remove("a.md")
vault.remove("b.md")
assert vault.scan().files == ()
""",
    )
    assert out == "True\n"


def test_a_disk_that_goes_between_looking_and_writing_is_noticed(tmp_path: Path) -> None:
    in_a_namespace_of_its_own(
        tmp_path,
        "",
        """
from notes_mcp.notes.disk import vault as vaults

mount()
vault = Vault(notes)
make_folders = vaults.make_folders
def late(*args):
    unmount()
    return make_folders(*args)
vaults.make_folders = late
refused(lambda: vault.create("d/b.md", b"new"))
assert os.listdir(notes) == [], os.listdir(notes)
""",
    )


def test_the_index_keeps_what_it_knows_while_the_disk_is_away_and_follows_it_afterwards(tmp_path: Path) -> None:
    in_a_namespace_of_its_own(
        tmp_path,
        "",
        """
import anyio
from notes_mcp.notes.library import Library
from notes_mcp.settings import Settings

async def main():
    mount()
    told = []
    async with anyio.create_task_group() as tasks:
        with anyio.fail_after(60):
            library = Library(Settings(folders=(notes,), cache_dir=disk.parent / "cache", vanish_ms=5))
            library.on_change(lambda changes, complete: told.extend(change.path for change in changes))
            tasks.start_soon(library.run)
            await library.watch([])
            assert (await library.settle()).complete
            unmount()
            for act in (
                lambda: library.create("b.md", "new", tool="create_note"),
                lambda: library.edit("a.md", lambda document: b"new", tool="edit_note"),
                lambda: library.delete("a.md", tool="delete_note"),
                lambda: library.move("a.md", "c.md", tool="move_note"),
                lambda: library.read("a.md"),
            ):
                try:
                    await act()
                except StorageError as error:
                    assert "not mounted any more" in str(error), error
                else:
                    raise AssertionError("not refused")
            assert os.listdir(notes) == []
            page = await library.list_notes()
            assert [note.path for note in page.notes] == ["a.md"], page
            assert told == [], told
            mount()
            (notes / "b.md").write_bytes(b"new on the disk")
            while (await library.list_notes()).total != 2:
                await anyio.sleep(0.02)
            written = await library.create("c.md", "new", tool="create_note")
            assert (notes / "c.md").read_bytes() == b"new"
            await library.close()
            tasks.cancel_scope.cancel()

anyio.run(main)
""",
    )


def test_a_disk_mounted_inside_the_folder_that_goes_away_takes_nothing_along_and_is_not_written_beside(
    tmp_path: Path,
) -> None:
    in_a_namespace_of_its_own(
        tmp_path,
        "",
        """
from notes_mcp.notes.folder import Folder
from notes_mcp.notes.index.index import Index

root = disk.parent / "root"
(root / "inner").mkdir(parents=True)
(root / "top.md").write_bytes(b"top")
disk = root / "inner"
notes = disk
mount()
vault = Vault(root)
folder = Folder("notes", vault, Index.open(None))
folder.refresh([""])
assert folder.index.below("") == ["inner/a.md", "top.md"]
folder.finish()
folder.news()
unmount()
survey = folder.survey()
assert survey.missing == () and [problem.kind for problem in folder.problems() if problem.path] == ["unreadable_folder"]
for again in range(3):
    assert folder.refresh(["inner/a.md", "inner", "top.md"], sure=True) == frozenset()
assert folder.news() == ([], True)
refused(lambda: vault.create("inner/b.md", b"new"))
refused(lambda: vault.create("inner/d/b.md", b"new"))
refused(lambda: vault.read("inner/a.md"))
assert os.listdir(disk) == []
mount()
(disk / "b.md").write_bytes(b"more")
for portion in folder.chunks(folder.survey()):
    folder.refresh(seen=portion)
assert {change.path for change in folder.news()[0]} <= {"inner/a.md", "inner/b.md"}
assert folder.index.below("") == ["inner/a.md", "inner/b.md", "top.md"]
vault.create("inner/c.md", b"new")
# Whoever goes on without the disk is not held up: what is put in its place is what is there.
unmount()
(disk / "instead.md").write_bytes(b"instead")
folder.refresh(folder.survey().missing, sure=True)
folder.refresh(["inner"], sure=True)
assert folder.index.below("") == ["inner/instead.md", "top.md"]
vault.create("inner/d.md", b"new")
""",
    )


def test_a_mount_point_that_is_removed_is_gone_with_its_notes(tmp_path: Path) -> None:
    in_a_namespace_of_its_own(
        tmp_path,
        "",
        """
root = disk.parent / "root"
disk = notes = root / "inner"
notes.mkdir(parents=True)
mount()
vault = Vault(root)
vault.scan()
unmount()
disk.rmdir()
assert vault.stat("inner/a.md") is None
assert vault.scan().unreadable == ()
""",
    )
