"""Any folder that the user names is served, nothing is asked of a shell; a watcher or log that fails ends nothing."""

import ast
import os
from pathlib import Path

import pytest
from processes import ROOT, request, tool

from notes_mcp.cli import parse
from notes_mcp.notes.disk.gate import fit_root
from notes_mcp.notes.disk.vault import Vault

SHELLS = {"system", "popen", "getoutput", "getstatusoutput", "create_subprocess_shell", "startfile"}
CHILDREN = {"notes_mcp/probe.py", "notes_mcp/install/entry.py"}
"""`check` starts the server itself, and `install` tries what it is about to write: as a client does, by arguments, not
through a shell."""
MODULES = sorted((ROOT / "notes_mcp").rglob("*.py"))


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_hazard_053_no_module_calls_a_shell_and_none_that_serves_starts_a_process(module: Path) -> None:
    may_start = module.relative_to(ROOT).as_posix() in CHILDREN
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        match node:
            case ast.Attribute(attr=name):
                assert name not in SHELLS
                assert name != "create_subprocess_exec" or may_start
            case ast.keyword(arg="shell"):
                pytest.fail("shell=")
            case ast.ImportFrom(module=source, names=names):
                assert {name.name for name in names}.isdisjoint(SHELLS)
                assert source != "subprocess" or may_start
            case ast.Import(names=names):
                assert "subprocess" not in {name.name for name in names} or may_start


@pytest.mark.parametrize(
    "name",
    ["Windows/System32", "Program Files (x86)", "etc", "usr/bin", "System", "Library", "dev", "$Recycle.Bin", "root"],
)
def test_hazard_053_a_folder_that_looks_like_the_systems_is_served_like_any_other(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir(parents=True)
    assert parse([str(folder)], {})[1].folders == (folder.resolve(),)
    vault = Vault(folder)
    vault.create("Main.md", b"# Main\n")
    assert [file.path for file in vault.scan().files] == ["Main.md"]
    assert vault.read("Main.md")[0] == b"# Main\n"


def test_hazard_053_the_whole_disk_is_served_when_it_is_named(tmp_path: Path) -> None:
    top = Path(tmp_path.anchor)
    assert parse([str(top)], {})[1].folders == (top.resolve(),)
    vault = Vault(top)
    inside = tmp_path.relative_to(top).as_posix()
    vault.create(f"{inside}/Main.md", b"# Main\n")
    assert vault.read(f"{inside}/Main.md")[0] == b"# Main\n"
    assert [file.path for file in vault.scan(inside).files] == [f"{inside}/Main.md"]
    assert vault.relative(str(tmp_path / "Main.md")) == f"{inside}/Main.md"


@pytest.mark.parametrize("place", ["/etc", "/usr", "/proc", "/sys", "/dev", "/root", "/tmp"])
def test_hazard_053_the_systems_own_folders_are_not_guessed_unfit(place: str) -> None:
    if not os.path.isdir(place) or not os.access(place, os.R_OK | os.X_OK):
        pytest.skip(f"{place} is not there, or not ours to read")
    assert parse([place], {})[1].folders == (Path(place).resolve(),)
    assert Vault(Path(place)).root == Path(place).resolve()


@pytest.mark.parametrize(
    ("named", "windows", "served"),
    [
        ("D:", True, "D:\\"),
        ("d:", True, "d:\\"),
        ("D:\\", True, "D:\\"),
        ("D:\\Main", True, "D:\\Main"),
        ("D:", False, "D:"),
        ("\\\\server\\share", True, "\\\\server\\share"),
    ],
)
def test_hazard_053_a_bare_drive_means_all_of_it_and_only_on_windows(named: str, windows: bool, served: str) -> None:
    assert fit_root(named, windows=windows) == served


WITHOUT_EVENTS = """
from notes_mcp.notes.disk import watcher
import watchfiles

async def fails(*_, **__):
    raise RuntimeError("no events on this share")
    yield

watchfiles.awatch = fails
"""

WITHOUT_A_LOG = """
import errno, os

write = os.write
def full(fd, data):
    if fd == 2:
        raise OSError(errno.ENOSPC, "the log is full")
    return write(fd, data)

os.write = full
"""


@pytest.mark.parametrize("broken", [WITHOUT_EVENTS, WITHOUT_EVENTS + WITHOUT_A_LOG], ids=["watcher", "watcher and log"])
def test_hazard_065_a_server_whose_watcher_or_log_fails_goes_on_by_polling(start, injected, folder, broken) -> None:
    with start(env=injected(broken)) as server:
        info = server.ask(tool("before", "notes_info"))["result"]["structuredContent"]
        while info["folders"][0]["watching"] != "polling":
            info = server.ask(tool("again", "notes_info"))["result"]["structuredContent"]
        (folder / "late.md").write_text("# Late\n", newline="\n")
        found = 0
        while not found:  # the harness ends a test that takes too long
            found = server.ask(tool("look", "search_notes", query="Late"))["result"]["structuredContent"]["total"]
        assert server.ask(request("alive", "tools/list"))["result"]["tools"]
        server.close_input()
        ended = server.ended()
        assert ended.code == 0
        assert ("no events" in ended.stderr) == ("log" not in broken)
