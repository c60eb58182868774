"""Install and uninstall from end to end on a disk: what is written, what is said, what is refused."""

import io
import json
from pathlib import Path, PurePosixPath

import pytest
from config_samples import ENTRY, REAL
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from notes_mcp.faults import EnvironmentFault, UsageError
from notes_mcp.install import installing
from notes_mcp.install.clients import CLIENTS, Machine
from notes_mcp.install.installing import Wish, snippet
from notes_mcp.install.showing import Talk

ALL = sorted(CLIENTS)


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


class Desk:
    """A home of its own, and everything said at it."""

    def __init__(self, home, system="linux"):
        self.machine = Machine(system, {}, home)
        self.said = ""

    def file(self, client):
        return Path(CLIENTS[client].locate(self.machine))

    def has(self, client, data):
        file = self.file(client)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data.encode() if isinstance(data, str) else data)
        return file

    def install(self, client, answer=None, entry=ENTRY, **wish):
        entry = {**CLIENTS[client].fixed, **entry}
        return self._do(client, answer, wish, lambda *rest: installing.install(rest[0], entry, *rest[1:]))

    def uninstall(self, client, answer=None, **wish):
        return self._do(client, answer, wish, installing.uninstall)

    def _do(self, client, answer, wish, do):
        says = Terminal()
        wish = Wish(CLIENTS[client], **{"name": "notes", "yes": answer is None} | wish)
        try:
            return do(wish, self.machine, Talk(Terminal(answer or ""), says))
        finally:
            self.said = says.getvalue()


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path / "家 of 'me'")


@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
@pytest.mark.parametrize("client", ALL)
def test_each_client_s_config_gets_the_entry_and_gives_it_back(tmp_path, client, system):
    desk = Desk(tmp_path, system)
    file = desk.has(client, REAL[client])
    assert desk.install(client) == 0
    assert str(file) in desk.said
    assert all(f'"{word}"' in desk.said or json.dumps(word) in desk.said for word in ["--read-only", ENTRY["command"]])
    assert CLIENTS[client].after in desk.said
    assert f"{file}.bak-notes-mcp" in desk.said
    assert Path(f"{file}.bak-notes-mcp").read_text(encoding="utf-8") == REAL[client]
    assert desk.uninstall(client) == 0
    assert file.read_text(encoding="utf-8") == REAL[client]
    assert CLIENTS[client].title in desk.said


@pytest.mark.parametrize("client", ALL)
def test_pasting_what_is_printed_is_the_same_as_installing(desk, client):
    desk.install(client)
    entry = {**CLIENTS[client].fixed, **ENTRY}
    pasted = snippet(CLIENTS[client], "notes", entry)
    assert desk.file(client).read_text(encoding="utf-8") == pasted
    assert desk.install(client) == 0
    assert "already" in desk.said


@pytest.mark.parametrize("client", ALL)
def test_the_part_that_is_pasted_into_an_old_config_is_the_same_as_installing(desk, client):
    """By hand: the entry goes below the key that holds the servers, or, in TOML, to the end."""
    form, container = CLIENTS[client].form, CLIENTS[client].container
    desk.has(client, REAL[client])
    desk.install(client)
    printed = form.read(snippet(CLIENTS[client], "notes", {**CLIENTS[client].fixed, **ENTRY}))
    by_hand = form.read(REAL[client])
    by_hand.setdefault(container, {}).update(printed[container])
    assert form.read(desk.file(client).read_text(encoding="utf-8")) == by_hand


@pytest.mark.parametrize("answer", ["n\n", "\n", ""])
def test_a_no_changes_nothing(desk, answer):
    file = desk.has("cursor", REAL["cursor"])
    assert desk.install("cursor", answer) == 1
    assert "[y/N]" in desk.said and "Nothing was changed" in desk.said
    assert file.read_text() == REAL["cursor"]
    assert [path.name for path in file.parent.iterdir()] == ["mcp.json"]


def test_a_no_makes_no_folder(desk):
    assert desk.install("cursor", "n\n") == 1
    assert not desk.file("cursor").parent.exists()


def test_a_yes_on_a_terminal_writes(desk):
    assert desk.install("cursor", "y\n") == 0
    assert "a new file" in desk.said
    assert json.loads(desk.file("cursor").read_text())["mcpServers"]["notes"] == ENTRY
    assert "The file as it was" not in desk.said


def test_without_a_terminal_the_change_is_shown_and_refused(desk):
    says = io.StringIO()
    with pytest.raises(UsageError, match="nobody is there"):
        installing.install(Wish(CLIENTS["cursor"], "notes"), ENTRY, desk.machine, Talk(io.StringIO("y\n"), says))
    assert '+    "notes": {' in says.getvalue()
    assert not desk.file("cursor").exists()


def test_what_is_there_just_so_is_not_written_again(desk):
    file = desk.has("zed", REAL["zed"])
    desk.install("zed")
    before = file.stat().st_mtime_ns, file.stat().st_ino
    assert desk.install("zed", "") == 0
    assert "already" in desk.said and "[y/N]" not in desk.said
    assert (file.stat().st_mtime_ns, file.stat().st_ino) == before


def test_another_name_makes_another_entry(desk):
    desk.install("claude-code")
    desk.install("claude-code", name="work")
    assert list(json.loads(desk.file("claude-code").read_text())["mcpServers"]) == ["notes", "work"]
    desk.uninstall("claude-code")
    assert list(json.loads(desk.file("claude-code").read_text())["mcpServers"]) == ["work"]


def test_another_config_file_can_be_named(desk, tmp_path):
    desk.install("vscode", config=tmp_path / "there" / "mcp.json")
    assert "notes" in json.loads((tmp_path / "there" / "mcp.json").read_text())["servers"]
    assert not desk.file("vscode").exists()


@pytest.mark.parametrize("key", ["url", "serverUrl", "httpUrl"])
def test_an_entry_that_is_a_server_on_the_net_is_not_turned_into_ours(desk, key):
    file = desk.has("cursor", f'{{"mcpServers": {{"notes": {{"{key}": "https://e/mcp"}}}}}}')
    before = file.read_bytes()
    with pytest.raises(EnvironmentFault, match="on the net") as caught:
        desk.install("cursor")
    assert "--name" in caught.value.fix and "https://e/mcp" in caught.value.seen
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("client", "text", "place"),
    [
        ("claude-desktop", '{\n  "mcpServers": {\n    "a": {}\n    "b": {}\n  }\n}', "line 4, column 5"),
        ("codex", '[mcp_servers.x]\ncommand = "x\n', "line 2, column 13"),
        ("zed", "[]", "line 1, column 1"),
        ("gemini-cli", '{"mcpServers": {"notes": {}}, "mcpServers": {"notes": {}}}', "line 1, column 31"),
    ],
)
@pytest.mark.parametrize("do", ["install", "uninstall"])
def test_a_broken_config_is_told_with_its_place_and_left_alone(desk, client, text, place, do):
    file = desk.has(client, text)
    with pytest.raises(EnvironmentFault, match="cannot be changed") as caught:
        getattr(desk, do)(client)
    assert place in caught.value.seen and str(file) in caught.value.seen
    assert "nothing was written" in caught.value.problem
    assert ("--print" in caught.value.fix) == (do == "install")
    assert file.read_text() == text
    assert len(list(file.parent.iterdir())) == 1


def test_taking_out_what_is_not_there_is_no_fault(desk):
    assert desk.uninstall("codex") == 0
    assert "no “notes”" in desk.said and "--name" not in desk.said
    assert not desk.file("codex").exists()
    desk.has("cursor", "  ")
    assert desk.uninstall("cursor") == 0


def test_taking_out_under_the_wrong_name_tells_the_right_one(desk):
    desk.install("cursor", name="mine")
    assert desk.uninstall("cursor") == 0
    assert "--name mine" in desk.said


def test_a_config_that_holds_no_entries_is_told_when_taking_out(desk):
    desk.has("cursor", '{"mcpServers": []}')
    with pytest.raises(EnvironmentFault, match="holds no entries") as caught:
        desk.uninstall("cursor")
    assert "line" not in caught.value.seen


def test_after_a_later_change_only_the_entry_goes(desk):
    file = desk.has("zed", REAL["zed"])
    desk.install("zed")
    file.write_text(file.read_text(encoding="utf-8").replace('"vim_mode": true', '"vim_mode": false'), encoding="utf-8")
    desk.uninstall("zed")
    left = file.read_text(encoding="utf-8")
    assert left == REAL["zed"].replace('"vim_mode": true', '"vim_mode": false,\n  "context_servers": {}')


def test_a_path_that_is_given_is_made_absolute(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    machine = Machine("linux", {}, PurePosixPath("/home/me"))
    assert installing.where(Wish(CLIENTS["zed"], "n", Path("a.json")), machine) == Path.cwd() / "a.json"


EMPTY = ["", " ", "\n", "{}", "{ }", "{\n}", "{\n\n}\n", '{"mcpServers": {}}', '{\n  "mcpServers": {\n  }\n}\n', "// x"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(EMPTY + sorted(REAL.values())), st.booleans(), st.booleans(), st.sampled_from(ALL))
def test_whatever_was_there_comes_back_byte_for_byte(desk, text, marked, crlf, client):
    data = (b"\xef\xbb\xbf" if marked else b"") + text.replace("\n", "\r\n" if crlf else "\n").encode()
    file = desk.has(client, data)
    try:
        desk.install(client)
    except EnvironmentFault:
        assert file.read_bytes() == data
        return
    assert file.read_bytes().startswith(b"\xef\xbb\xbf") == marked
    desk.uninstall(client)
    assert file.read_bytes() == data
