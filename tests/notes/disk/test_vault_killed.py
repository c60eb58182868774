import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from notes_mcp.notes.disk import files
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


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from notes_mcp.notes.disk import files
    from notes_mcp.notes.disk.vault import Vault

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
            cwd=Path(__file__).parents[3],
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
    old = time.time() - 120
    (root / "d").mkdir()
    names = ["d/.notes-mcp-0011223344556677.tmp", ".notes-mcp-mine.tmp.md", ".other.tmp", "d/.notes-mcp-x"]
    for name in names:
        (root / name).write_bytes(b"half")
        os.utime(root / name, (old, old))
    (root / ".notes-mcp-ffffffffffffffff.tmp").write_bytes(b"of a write that is going on")
    real = time.time
    vault.scan()
    vault.create("b.md", b"")
    assert (root / names[0]).exists()  # its change time is young: only the file's content pretends to be old
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time", lambda: real() + 120)
        (root / ".notes-mcp-aaaaaaaaaaaaaaaa.tmp").mkdir()
        vault.create("c.md", b"")  # what was too young then is still known
    left = sorted(str(path.relative_to(root)) for path in root.rglob(".*"))
    assert left == [".notes-mcp-aaaaaaaaaaaaaaaa.tmp", ".notes-mcp-mine.tmp.md", ".other.tmp", "d/.notes-mcp-x"]


@pytest.mark.parametrize("operation", ["create", "replace", "trash", "restore", "remove", "move"])
def test_every_write_clears_away_what_crashes_left_and_reading_never_does(
    root: Path, vault: Vault, operation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = root / ".notes-mcp-0011223344556677.tmp"
    (root / ".trash").mkdir()
    (root / ".trash/t.md").write_bytes(b"t")
    left.write_bytes(b"half")
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 61)
    Vault(root).scan()
    vault.scan()
    vault.read("a.md")
    assert left.exists()
    {
        "create": lambda: vault.create("b.md", b""),
        "replace": lambda: vault.replace("a.md", b"new"),
        "trash": lambda: vault.trash("a.md"),
        "restore": lambda: vault.restore(".trash/t.md", "t.md"),
        "remove": lambda: vault.remove("a.md"),
        "move": lambda: vault.move("a.md", "b.md"),
    }[operation]()
    assert not left.exists()


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
