import errno
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from disk_rights import without_root_rights
from vault_cases import tree

from notes_mcp.errors import (
    BusyError,
    InvalidRequestError,
    NoteError,
    StorageError,
    UnreadableError,
)
from notes_mcp.notes.disk import files, told
from notes_mcp.notes.disk.vault import Vault


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_bytes(b"old")
    return folder


@pytest.fixture(params=["by descriptors", "by paths"])
def vault(root: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Vault:
    if request.param == "by paths":  # as on Windows
        monkeypatch.setattr(files, "BY_DESCRIPTOR", False)
    return Vault(root)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (errno.ENOSPC, StorageError),
        (errno.EDQUOT, StorageError),
        (errno.EROFS, StorageError),
        (errno.EIO, StorageError),
        (errno.ESTALE, StorageError),
        (errno.ENODEV, StorageError),
        (errno.EACCES, UnreadableError),
        (errno.EPERM, UnreadableError),
        (errno.EBUSY, BusyError),
        (errno.ETXTBSY, BusyError),
        (errno.EMFILE, BusyError),
        (errno.ENAMETOOLONG, InvalidRequestError),
    ],
)
@pytest.mark.parametrize("step", ["open", "write", "fsync", "replace"])
def test_whatever_step_fails_the_old_note_stays_and_nothing_is_left_behind(
    root: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch, step: str, code: int, kind: type[NoteError]
) -> None:
    original = getattr(os, step)

    def fail(*args: object, **options: object) -> object:
        if step != "open" or int(str(args[1])) & os.O_CREAT:
            raise OSError(code, os.strerror(code))
        return original(*args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        with pytest.raises(kind) as caught:
            vault.replace("a.md", b"new")
        if step != "replace":
            with pytest.raises(kind):
                vault.create("deep/er/b.md", b"new")
    assert "Nothing was changed" in str(caught.value)
    assert tree(root) == {"a.md": b"old"}
    assert os.listdir(root) == ["a.md"]


def test_a_directory_that_cannot_be_synced_does_not_make_a_write_that_happened_an_error(
    root: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync = os.fsync

    def only_files(fd: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{fd}"):
            raise OSError(errno.EINVAL, "Invalid argument")
        fsync(fd)

    monkeypatch.setattr(os, "fsync", only_files)
    vault.create("b.md", b"b")
    vault.replace("a.md", b"new")
    assert tree(root) == {"a.md": b"new", "b.md": b"b"}


def test_short_writes_are_continued(root: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:7]))
    vault.replace("a.md", bytes(range(256)))
    assert (root / "a.md").read_bytes() == bytes(range(256))


@pytest.mark.parametrize("code", [32, 33])
def test_a_file_open_elsewhere_on_windows_is_busy(code: int) -> None:
    error = OSError(errno.EACCES, "in use")
    error.winerror = code  # type: ignore[attr-defined]
    assert isinstance(told.error_for(error, "a.md", writing=True), BusyError)


def test_a_folder_that_may_not_be_written_refuses_every_write_and_keeps_everything(root: Path, vault: Vault) -> None:
    root.chmod(0o555)
    try:
        with without_root_rights():
            for act in (
                lambda: vault.create("b.md", b""),
                lambda: vault.create("d/b.md", b""),
                lambda: vault.replace("a.md", b"new"),
                lambda: vault.trash("a.md"),
                lambda: vault.remove("a.md"),
                lambda: vault.move("a.md", "b.md"),
            ):
                with pytest.raises(UnreadableError):
                    act()
            assert vault.read("a.md")[0] == b"old"
    finally:
        root.chmod(0o755)
    assert tree(root) == {"a.md": b"old"}


def own_mounts() -> bool:
    if sys.platform != "linux" or shutil.which("unshare") is None:
        return False
    probe = ["unshare", "--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(probe, capture_output=True).returncode == 0


MOUNTS = pytest.mark.skipif(not own_mounts(), reason="needs Linux user namespaces to mount a disk of its own")


def on_a_small_disk(folder: Path, program: str) -> str:
    """Runs `program` where `folder`/disk is a disk of 64 KiB that no one else sees."""
    (folder / "disk").mkdir(exist_ok=True)
    mount = f'mount -t tmpfs -o size=64k none "{folder}/disk" && exec "$@"'
    head = "import errno, os, subprocess, sys\nfrom pathlib import Path\nfrom notes_mcp.errors import *\n"
    head += "from notes_mcp.notes.disk.vault import Vault\nfolder = Path(sys.argv[1])\ndisk = folder / 'disk'\n"
    command = [sys.executable, "-c", head + textwrap.dedent(program), str(folder)]
    run = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, "sh", *command],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=Path(__file__).parents[3],
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@MOUNTS
def test_a_full_disk_is_told_and_loses_nothing(tmp_path: Path) -> None:
    out = on_a_small_disk(
        tmp_path,
        """
        vault = Vault(disk)
        vault.create("a.md", b"old")
        for act in (lambda: vault.replace("a.md", b"x" * 200_000), lambda: vault.create("d/b.md", b"x" * 200_000)):
            try:
                act()
            except StorageError as error:
                assert "full" in str(error)
                print("told")
        assert (disk / "a.md").read_bytes() == b"old"
        assert os.listdir(disk) == ["a.md"]
        """,
    )
    assert out == "told\ntold\n"


@MOUNTS
def test_a_read_only_mount_is_told(tmp_path: Path) -> None:
    out = on_a_small_disk(
        tmp_path,
        """
        vault = Vault(disk)
        vault.create("a.md", b"old")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        for act in (lambda: vault.replace("a.md", b"new"), lambda: vault.create("b.md", b""),
                    lambda: vault.trash("a.md"), lambda: vault.remove("a.md"), lambda: vault.move("a.md", "c.md")):
            try:
                act()
            except StorageError as error:
                assert "read-only" in str(error)
                print("told")
        assert vault.read("a.md")[0] == b"old"
        """,
    )
    assert out == "told\n" * 5


@MOUNTS
def test_a_folder_on_another_disk_takes_and_gives_notes(tmp_path: Path) -> None:
    out = on_a_small_disk(
        tmp_path,
        """
        vault = Vault(folder)
        vault.create("disk/a.md", b"old")
        os.chmod(disk / "a.md", 0o640)
        print(vault.move("disk/a.md", "here.md"), oct(os.stat(folder / "here.md").st_mode & 0o777))
        print(vault.move("here.md", "disk/b.md"), vault.read("disk/b.md")[0])
        print(vault.trash("disk/b.md"), sorted(os.listdir(disk)))
        vault.create("disk/sub/c.md", b"c")
        try:
            vault.move("disk/sub", "sub")
        except StorageError:
            print("told")
        assert (disk / "sub/c.md").read_bytes() == b"c"
        try:
            vault.move(".", "x")
        except InvalidRequestError:
            print("told")
        """,
    )
    assert out.splitlines() == [
        "here.md 0o640",
        "disk/b.md b'old'",
        ".trash/disk/b.md []",
        "told",
        "told",
    ]
