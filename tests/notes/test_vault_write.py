import errno
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from disk_rights import without_root_rights

from notes_mcp.errors import (
    BusyError,
    ExistsError,
    ForbiddenError,
    InvalidRequestError,
    NoteError,
    NotFoundError,
    ReadOnlyError,
    StaleError,
    StorageError,
    TooLargeError,
    UnreadableError,
)
from notes_mcp.notes import files, told
from notes_mcp.notes.text import etag
from notes_mcp.notes.vault import Vault


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


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# -- create -----------------------------------------------------------------------------------------


def test_a_new_note_is_made_with_its_folders_and_gives_its_state(root: Path, vault: Vault) -> None:
    state = vault.create("Projects/Deep/Plan.md", b"# Plan\n")
    assert (root / "Projects/Deep/Plan.md").read_bytes() == b"# Plan\n"
    assert state == vault.stat("Projects/Deep/Plan.md")
    assert vault.read("Projects/Deep/Plan.md") == (b"# Plan\n", state)
    assert os.listdir(root / "Projects/Deep") == ["Plan.md"]


def test_a_new_note_has_the_mode_the_user_gives_new_files(root: Path, vault: Vault) -> None:
    (root / "made by hand.md").touch()
    vault.create("b.md", b"")
    assert (root / "b.md").stat().st_mode == (root / "made by hand.md").stat().st_mode


@pytest.mark.parametrize("what", ["file", "folder"])
def test_an_existing_name_is_never_overwritten(root: Path, vault: Vault, what: str) -> None:
    if what == "folder":
        (root / "a.md").unlink()
        (root / "a.md").mkdir()
    with pytest.raises(ExistsError) as caught:
        vault.create("a.md", b"new")
    assert caught.value.path == "a.md"
    assert tree(root) == ({"a.md": b"old"} if what == "file" else {})


Downgrade = Callable[[pytest.MonkeyPatch], None]


def no_special_rename(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(files, "_noreplace_call", lambda: None)


def special_rename_not_on_this_disk(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(files, "_noreplace_call", lambda: lambda *_: errno.EINVAL)


def no_hard_links_either(patch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object, **_options: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    no_special_rename(patch)
    patch.setattr(os, "link", refuse)


def as_the_platform_has_it(patch: pytest.MonkeyPatch) -> None:
    del patch


DOWNGRADES = [as_the_platform_has_it, no_special_rename, special_rename_not_on_this_disk, no_hard_links_either]


@pytest.mark.parametrize("downgrade", DOWNGRADES)
def test_hazard_089_a_name_that_appears_at_the_last_moment_is_not_overwritten(
    root: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch, downgrade: Downgrade
) -> None:
    downgrade(monkeypatch)
    fsync = os.fsync

    def somebody_else_is_faster(fd: int) -> None:
        (root / "b.md").write_bytes(b"theirs")
        (root / "moved.md").write_bytes(b"theirs")
        fsync(fd)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", somebody_else_is_faster)
        with pytest.raises(ExistsError):
            vault.create("b.md", b"ours")
    rename_new = files.rename_new

    def somebody_else_first(*args: object) -> None:
        (root / "moved.md").write_bytes(b"theirs")
        rename_new(*args)  # type: ignore[arg-type]

    (root / "moved.md").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(files, "rename_new", somebody_else_first)
        with pytest.raises(ExistsError):
            vault.move("a.md", "moved.md")
    assert tree(root) == {"a.md": b"old", "b.md": b"theirs", "moved.md": b"theirs"}


@pytest.mark.parametrize("downgrade", DOWNGRADES)
def test_creating_and_moving_work_on_every_kind_of_disk(
    root: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch, downgrade: Downgrade
) -> None:
    downgrade(monkeypatch)
    vault.create("d/b.md", b"b")
    assert vault.move("d/b.md", "e/c.md") == "e/c.md"
    assert vault.move("e", "f") == "f"
    (root / "g").mkdir()
    with pytest.raises(ExistsError):
        vault.move("f", "g")
    assert tree(root) == {"a.md": b"old", "f/c.md": b"b"}
    assert sorted(os.listdir(root)) == ["a.md", "d", "f", "g"]


@pytest.mark.parametrize("downgrade", DOWNGRADES)
def test_of_many_who_make_one_name_at_once_exactly_one_wins(
    root: Path, monkeypatch: pytest.MonkeyPatch, downgrade: Downgrade
) -> None:
    downgrade(monkeypatch)
    won: list[bytes] = []
    start = threading.Barrier(8)

    def make(text: bytes) -> None:
        vault = Vault(root)
        start.wait()
        try:
            vault.create("new/one.md", text)
        except ExistsError:
            return
        won.append(text)

    threads = [threading.Thread(target=make, args=(str(n).encode(),)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert tree(root / "new") == {"one.md": won[0]}


@pytest.mark.parametrize("name", ["a\nb.md", "tab\t.md", "\x1b[31m.md"])
def test_control_characters_are_read_where_they_are_but_not_made(root: Path, vault: Vault, name: str) -> None:
    (root / name).write_bytes(b"x")
    assert vault.read(name)[0] == b"x"
    with pytest.raises(InvalidRequestError):
        vault.create("new " + name, b"")


# -- replace ----------------------------------------------------------------------------------------


def test_replacing_keeps_what_belongs_to_the_file(root: Path, vault: Vault) -> None:
    (root / "a.md").chmod(0o640)
    state = vault.replace("a.md", b"new")
    assert (root / "a.md").read_bytes() == b"new"
    assert (root / "a.md").stat().st_mode & 0o7777 == 0o640
    assert state == vault.stat("a.md")
    assert os.listdir(root) == ["a.md"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o700, 0o200 | 0o400])
def test_hazard_076_the_mode_stays(root: Path, vault: Vault, mode: int) -> None:
    (root / "a.md").chmod(mode)
    vault.replace("a.md", b"new")
    assert (root / "a.md").stat().st_mode & 0o7777 == mode


def test_hazard_076_through_a_link_its_target_is_written_and_the_link_stays(root: Path, vault: Vault) -> None:
    (root / "sub").mkdir()
    (root / "link.md").symlink_to("a.md")
    (root / "sub/up.md").symlink_to("../link.md")
    for path in ("link.md", "sub/up.md"):
        assert vault.replace(path, path.encode()).path == "a.md"
        assert (root / "link.md").is_symlink()
        assert (root / "a.md").read_bytes() == path.encode()


@pytest.mark.skipif(sys.platform != "linux", reason="os.setxattr is Linux")
def test_hazard_076_extended_attributes_stay(root: Path, vault: Vault) -> None:
    os.setxattr(root / "a.md", "user.colour", b"green")
    vault.replace("a.md", b"new")
    assert os.getxattr(root / "a.md", "user.colour") == b"green"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_hazard_076_the_owner_stays(root: Path, vault: Vault) -> None:
    os.chown(root / "a.md", 1234, 2345)
    vault.replace("a.md", b"new")
    info = (root / "a.md").stat()
    assert (info.st_uid, info.st_gid) == (1234, 2345)


def test_a_private_note_is_never_readable_by_others_not_even_for_a_moment(
    root: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.md").chmod(0o600)
    seen = []
    write = os.write

    def look(fd: int, data: bytes) -> int:
        seen.append(os.fstat(fd).st_mode & 0o077)
        return write(fd, data)

    monkeypatch.setattr(os, "write", look)
    vault.replace("a.md", b"new")
    assert seen and not any(seen)


def test_a_stale_etag_stops_the_write_and_gives_the_current_one(root: Path, vault: Vault) -> None:
    (root / "a.md").write_bytes(b"theirs")
    for act in (
        lambda: vault.replace("a.md", b"new", expect=etag(b"old")),
        lambda: vault.trash("a.md", expect=etag(b"old")),
        lambda: vault.remove("a.md", expect=etag(b"old")),
        lambda: vault.move("a.md", "b.md", expect=etag(b"old")),
    ):
        with pytest.raises(StaleError) as caught:
            act()
        assert caught.value.etag == etag(b"theirs")
        assert tree(root) == {"a.md": b"theirs"}
    assert vault.replace("a.md", b"new", expect=etag(b"theirs")).size == 3


def test_a_change_while_the_new_text_is_written_is_not_lost(
    root: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync = os.fsync

    def an_editor_saves(fd: int) -> None:
        fsync(fd)
        (root / "a.md").write_bytes(b"theirs")

    monkeypatch.setattr(os, "fsync", an_editor_saves)
    with pytest.raises(StaleError):
        vault.replace("a.md", b"ours", expect=etag(b"old"))
    assert tree(root) == {"a.md": b"theirs"}


def test_a_note_that_is_gone_is_stale_if_its_etag_was_asked_for_and_else_not_found(root: Path, vault: Vault) -> None:
    (root / "a.md").unlink()
    with pytest.raises(StaleError) as caught:
        vault.replace("a.md", b"new", expect=etag(b"old"))
    assert caught.value.etag is None
    with pytest.raises(NotFoundError):
        vault.replace("a.md", b"new")
    assert tree(root) == {}


def test_a_note_marked_read_only_is_not_replaced_or_removed(root: Path, vault: Vault) -> None:
    (root / "a.md").chmod(0o444)
    for act in (lambda: vault.replace("a.md", b"new"), lambda: vault.remove("a.md")):
        with pytest.raises(ReadOnlyError):
            act()
    assert tree(root) == {"a.md": b"old"}


# -- trash, remove, move ----------------------------------------------------------------------------


def test_the_trash_keeps_folders_and_every_earlier_note_of_the_name(root: Path, vault: Vault) -> None:
    trashed = []
    for text in (b"1", b"2", b"3"):
        vault.create("Projects/Plan.md", text)
        trashed.append(vault.trash("Projects/Plan.md"))
    assert trashed == [".trash/Projects/Plan.md", ".trash/Projects/Plan 2.md", ".trash/Projects/Plan 3.md"]
    assert [(root / path).read_bytes() for path in trashed] == [b"1", b"2", b"3"]
    assert (root / "Projects").is_dir()
    vault.create("LICENSE", b"x")
    vault.trash("LICENSE")
    vault.create("LICENSE", b"y")
    assert vault.trash("LICENSE") == ".trash/LICENSE 2"


def test_a_file_in_the_way_of_a_folder_in_the_trash_does_not_stop_it(root: Path, vault: Vault) -> None:
    (root / ".trash").mkdir()
    (root / ".trash/Projects").write_bytes(b"an old file")
    vault.create("Projects/Plan.md", b"1")
    assert vault.trash("Projects/Plan.md") == ".trash/Plan.md"
    assert (root / ".trash/Projects").read_bytes() == b"an old file"


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_trash_that_is_no_folder_takes_nothing_and_nothing_is_lost(root: Path, vault: Vault, kind: str) -> None:
    outside = root.parent / "outside"
    outside.mkdir()
    if kind == "file":
        (root / ".trash").write_bytes(b"")
    else:
        (root / ".trash").symlink_to(outside)
    with pytest.raises(NoteError):
        vault.trash("a.md")
    assert (root / "a.md").read_bytes() == b"old"
    assert os.listdir(outside) == []


def test_removing_is_for_good(root: Path, vault: Vault) -> None:
    assert vault.remove("a.md") == "a.md"
    assert os.listdir(root) == []
    with pytest.raises(NotFoundError):
        vault.remove("a.md")


def test_moving_makes_folders_and_never_overwrites(root: Path, vault: Vault) -> None:
    vault.create("b.md", b"b")
    with pytest.raises(ExistsError) as caught:
        vault.move("a.md", "b.md")
    assert caught.value.path == "b.md"
    assert vault.move("a.md", "x/y/z.md") == "x/y/z.md"
    assert tree(root) == {"b.md": b"b", "x/y/z.md": b"old"}
    with pytest.raises(NotFoundError):
        vault.move("a.md", "q/c.md")
    assert not (root / "q").exists()


def test_a_folder_moves_whole_but_not_into_itself_and_not_out_of_sight(root: Path) -> None:
    vault = Vault(root, ignore=["private/"])
    vault.create("d/e/b.md", b"b")
    for into in ("d/f", "d/e/g", "d/e/b.md/h"):
        with pytest.raises(InvalidRequestError):
            vault.move("d", into)
    for hidden in ("private", ".d", "node_modules"):
        with pytest.raises(ForbiddenError):
            vault.move("d", hidden)
    assert vault.move("d", "k/d") == "k/d"
    assert tree(root) == {"a.md": b"old", "k/d/e/b.md": b"b"}
    with pytest.raises(InvalidRequestError):
        vault.move("", "z")


def test_moving_to_where_it_is_changes_nothing_and_a_new_normal_form_is_a_move(root: Path, vault: Vault) -> None:
    assert vault.move("a.md", "./a.md") == "a.md"
    (root / "e\u0301.md").write_bytes(b"x")
    assert vault.move("e\u0301.md", "\u00e9.md") == "\u00e9.md"
    assert sorted(os.listdir(root)) == ["a.md", "\u00e9.md"]


# -- reading ----------------------------------------------------------------------------------------


def test_reading_never_writes(root: Path, vault: Vault) -> None:
    (root / "sub").mkdir()
    (root / ".notes-mcp-0011223344556677.tmp").write_bytes(b"left")
    os.utime(root / ".notes-mcp-0011223344556677.tmp", (0, 0))

    def snapshot() -> list[tuple[str, int, int]]:
        paths = [root, *root.rglob("*")]
        return [(str(path), path.stat().st_mtime_ns, path.stat().st_ctime_ns) for path in sorted(paths)]

    before = snapshot()
    vault.scan()
    vault.read("a.md")
    vault.stat("a.md")
    vault.place("new/b.md")
    with pytest.raises(NotFoundError):
        vault.read("none.md")
    assert snapshot() == before


def test_what_is_over_the_limit_is_not_read(root: Path) -> None:
    vault = Vault(root, max_note_bytes=3)
    assert vault.read("a.md")[0] == b"old"
    (root / "a.md").write_bytes(b"four")
    with pytest.raises(TooLargeError):
        vault.read("a.md")
    assert vault.read_attachment("a.md", 4)[0] == b"four"
    with pytest.raises(TooLargeError):
        vault.read_attachment("a.md", 3)


def test_a_write_during_a_read_is_read_again(root: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    fstat, calls = os.fstat, []

    def an_editor_saves(fd: int) -> os.stat_result:
        calls.append(fd)
        if len(calls) == 2:
            (root / "a.md").write_bytes(b"quite another text")
        return fstat(fd)

    monkeypatch.setattr(os, "fstat", an_editor_saves)
    data, state = vault.read("a.md")
    assert data == b"quite another text"
    assert state.size == len(data)


def test_a_listing_tells_names_that_cannot_be_served(root: Path, vault: Vault) -> None:
    if sys.platform == "linux":
        (root / os.fsdecode(b"latin-\xe9.md")).write_bytes(b"")
    (root / "back\\slash.md").write_bytes(b"")
    (root / "X (conflicted copy).md").write_bytes(b"")
    scan = vault.scan()
    assert [file.path for file in scan.files] == ["X (conflicted copy).md", "a.md"]
    kinds = {p.kind for p in scan.problems}
    assert kinds == {"backslash_name", "conflict_copy"} | ({"name_not_utf8"} if sys.platform == "linux" else set())
    assert all(p.path.isprintable() for p in scan.problems)


def test_part_of_the_folder_can_be_listed_by_itself(root: Path, vault: Vault) -> None:
    vault.create("d/e/b.md", b"")
    vault.create("d/c.md", b"")
    vault.create("dd/x.md", b"")
    scan = vault.scan("d")
    assert [file.path for file in scan.files] == ["d/c.md", "d/e/b.md"]
    assert scan.folders == ("d", "d/e")
    with pytest.raises(NotFoundError):
        vault.scan("gone")
    with pytest.raises(ForbiddenError):
        vault.scan(".trash")


def test_hazard_137_a_folder_that_went_away_is_an_error_and_no_empty_folder(root: Path, vault: Vault) -> None:
    shutil.rmtree(root)
    for act in (vault.scan, lambda: vault.stat("a.md"), lambda: vault.read("a.md"), lambda: vault.is_folder("a.md")):
        with pytest.raises(StorageError):
            act()
    with pytest.raises(StorageError):
        Vault(root)
    with pytest.raises(StorageError):
        vault.create("a.md", b"not into a folder that we make ourselves")
    assert not root.exists()


def test_hazard_137_an_empty_mount_point_is_no_empty_folder(
    root: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault.remove("a.md")
    assert vault.scan().files == ()
    monkeypatch.setattr(vault, "_device", -1)
    with pytest.raises(StorageError):
        vault.scan()


def test_the_walk_says_how_far_it_is(root: Path, vault: Vault) -> None:
    for n in range(1_001):
        (root / f"{n}.md").touch()
    counts: list[int] = []
    assert len(vault.scan(on_progress=counts.append).files) == 1_002
    assert counts == [500, 1_000]


def test_a_note_that_grows_all_the_time_is_read_as_far_as_its_state_says(
    root: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    fstat = os.fstat

    def somebody_appends(fd: int) -> os.stat_result:
        info = fstat(fd)
        with (root / "a.md").open("ab") as file:
            file.write(b"+")
        return info

    monkeypatch.setattr(os, "fstat", somebody_appends)
    data, state = vault.read("a.md")
    assert len(data) == state.size
    assert data.startswith(b"old")


# -- disks that will not --------------------------------------------------------------------------


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
    head += "from notes_mcp.notes.vault import Vault\nfolder = Path(sys.argv[1])\ndisk = folder / 'disk'\n"
    command = [sys.executable, "-c", head + textwrap.dedent(program), str(folder)]
    run = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, "sh", *command],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=Path(__file__).parents[2],
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


# -- kill -9 ----------------------------------------------------------------------------------------

KILLED = """
    import os, signal, sys
    from pathlib import Path
    from notes_mcp.notes import files
    from notes_mcp.notes.vault import Vault

    root, operation, kill_at = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    if sys.argv[4] == "links":
        files._noreplace_call = lambda: None
    vault = Vault(root)
    steps = 0

    def before(function):
        def run(*args, **options):
            global steps
            steps += 1
            if steps == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            if function is write:
                return write(args[0], bytes(args[1])[:4_000])
            return function(*args, **options)
        return run

    write = os.write
    for name in ("open", "write", "fsync", "replace", "rename", "link", "unlink", "mkdir", "fchmod", "close"):
        setattr(os, name, before(getattr(os, name)))
    if operation == "create":
        vault.create("d/b.md", b"new" * 5_000)
    elif operation == "replace":
        vault.replace("a.md", b"new" * 5_000)
    elif operation == "trash":
        vault.trash("a.md")
    else:
        vault.move("a.md", "d/b.md")
    print("done")
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="SIGKILL")
@pytest.mark.parametrize(
    ("operation", "mode"),
    [("replace", "native"), ("create", "native"), ("create", "links"), ("move", "links"), ("trash", "native")],
)
def test_killed_at_any_step_there_is_the_old_note_or_the_new_one(tmp_path: Path, operation: str, mode: str) -> None:
    old, new = b"old" * 5_000, b"new" * 5_000
    allowed = {
        "replace": [{"a.md": old}, {"a.md": new}],
        "create": [{"a.md": old}, {"a.md": old, "d/b.md": new}],
        # By hard link there is a moment with both names: nothing is lost.
        "move": [{"a.md": old}, {"d/b.md": old}, {"a.md": old, "d/b.md": old}],
        "trash": [{"a.md": old}, {}],
    }[operation]
    outcomes = []
    for kill_at in range(1, 60):
        root = tmp_path / str(kill_at)
        root.mkdir()
        (root / "a.md").write_bytes(old)
        run = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(KILLED), str(root), operation, str(kill_at), mode],
            capture_output=True,
            text=True,
            timeout=60,
            cwd=Path(__file__).parents[2],
        )
        vault = Vault(root)
        seen = {file.path: vault.read(file.path)[0] for file in vault.scan().files}
        assert seen in allowed, f"killed before step {kill_at}"
        trashed = list((root / ".trash").rglob("*.md"))
        assert seen or [path.read_bytes() for path in trashed] == [old]
        outcomes.append(seen)
        if run.returncode == 0:
            assert run.stdout == "done\n"
            break
        assert run.returncode == -signal.SIGKILL, run.stderr
    else:
        pytest.fail("it never came to its end")
    assert outcomes[0] == allowed[0]
    assert outcomes[-1] == allowed[1]
    assert len(outcomes) > 5


def test_what_a_crash_left_is_removed_by_a_later_write_if_it_is_ours_and_old(root: Path, vault: Vault) -> None:
    hour = time.time() - 2 * 3600
    (root / "d").mkdir()
    names = ["d/.notes-mcp-0011223344556677.tmp", ".notes-mcp-mine.tmp.md", ".other.tmp", "d/.notes-mcp-x"]
    for name in names:
        (root / name).write_bytes(b"half")
        os.utime(root / name, (hour, hour))
    (root / ".notes-mcp-ffffffffffffffff.tmp").write_bytes(b"of a write that is going on")
    real = time.time
    vault.scan()
    vault.create("b.md", b"")
    assert (root / names[0]).exists()  # its change time is young: only the file's content pretends to be old
    vault.scan()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time", lambda: real() + 2 * 3600)
        (root / ".notes-mcp-aaaaaaaaaaaaaaaa.tmp").mkdir()
        vault.scan()
        vault.create("c.md", b"")
    left = sorted(str(path.relative_to(root)) for path in root.rglob(".*"))
    assert left == [".notes-mcp-aaaaaaaaaaaaaaaa.tmp", ".notes-mcp-mine.tmp.md", ".other.tmp", "d/.notes-mcp-x"]


def test_a_listing_of_ten_thousand_files_is_quick(tmp_path: Path) -> None:
    for n in range(100):
        (tmp_path / f"d{n}").mkdir()
        for m in range(100):
            (tmp_path / f"d{n}/{m}.md").touch()
    vault = Vault(tmp_path)
    took = []
    for _ in range(3):
        began = time.perf_counter()
        assert len(vault.scan().files) == 10_000
        took.append(time.perf_counter() - began)
    # Measured 0.08 s on two slow cores; the bound only tells linear from worse.
    assert min(took) < 1.5
