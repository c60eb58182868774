"""An entry put into, updated in and taken out of whole configs as people have them, for every client."""

import json
import tomllib

import pytest
from config_samples import ENTRY, REAL, WINDOWS_ENTRY

from notes_mcp.install import editing
from notes_mcp.install.clients import CLIENTS
from notes_mcp.install.editing import JSON, TOML
from notes_mcp.install.unfit import Unfit

ALL = sorted(CLIENTS)


def put(name, text, entry=ENTRY, called="notes"):
    client = CLIENTS[name]
    return editing.put(client.form, text, client.container, called, {**client.fixed, **entry})


def take(name, text, called="notes"):
    return editing.take(CLIENTS[name].form, text, CLIENTS[name].container, called)


def said(name, text, called="notes"):
    return editing.servers_of(CLIENTS[name].form, text, CLIENTS[name].container)[called]


def crlf(text):
    return text.replace("\n", "\r\n")


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("entry", [ENTRY, WINDOWS_ENTRY])
@pytest.mark.parametrize("ends", [str, crlf])
class TestRealConfigs:
    def test_only_lines_of_the_entry_are_new_and_no_other_line_is_lost(self, name, entry, ends):
        before = ends(REAL[name])
        after = put(name, before, entry)
        assert said(name, after) == {**CLIENTS[name].fixed, **entry}
        left = iter(after)
        assert all(char in left for char in before), "a character is gone or has moved"
        assert after.count("\r\n") == (after.count("\n") if ends is crlf else 0)

    def test_a_second_time_changes_nothing(self, name, entry, ends):
        after = put(name, ends(REAL[name]), entry)
        assert put(name, after, entry) == after

    def test_what_came_goes_again(self, name, entry, ends):
        before = ends(REAL[name])
        after = put(name, before, entry)
        client = CLIENTS[name]
        assert editing.undone(client.form, after, before, client.container, "notes")
        gone = take(name, after)
        if editing.servers_of(client.form, before, client.container):
            assert gone == before
        else:
            assert client.form.read(gone) == {client.container: {}} | client.form.read(before)

    def test_an_update_changes_the_entry_in_place_and_keeps_its_neighbours(self, name, entry, ends):
        after = put(name, put(name, ends(REAL[name]), entry), {"command": "other", "args": []}, "other")
        updated = put(name, after, {**entry, "args": ["new"]})
        assert said(name, updated)["args"] == ["new"]
        assert said(name, updated, "other")["command"] == "other"
        assert put(name, updated, entry) == after


@pytest.mark.parametrize("name", ALL)
def test_where_there_is_no_config_the_whole_of_it_is_what_print_shows(name):
    after = put(name, "")
    parsed = tomllib.loads(after) if CLIENTS[name].form is TOML else json.loads(after)
    assert parsed == {CLIENTS[name].container: {"notes": {**CLIENTS[name].fixed, **ENTRY}}}
    assert after.endswith("\n")


@pytest.mark.parametrize("name", ["claude-code", "vscode"])
def test_a_client_that_writes_the_type_itself_is_given_it(name):
    assert said(name, put(name, ""))["type"] == "stdio"


def test_what_the_user_put_in_an_entry_stays():
    text = """{
  "mcpServers": {
    "notes": {
      "disabled": true, // for now
      "args": ["/old"],
      "env": {"A": "1"},
      "command": "old",
      "alwaysAllow": ["read_note"]
    }
  }
}
"""
    expected = text.replace('["/old"]', json.dumps(ENTRY["args"], ensure_ascii=False)).replace(
        '"old"', json.dumps(ENTRY["command"])
    )
    assert put("windsurf", text) == expected


def test_an_old_zed_entry_gets_the_new_form():
    text = '{"context_servers": {"notes": {"source": "custom", "command": {"path": "x", "args": []}, "settings": {}}}}'
    assert said("zed", put("zed", text)) == {"source": "custom", "settings": {}, **ENTRY}


class TestProof:
    @pytest.mark.parametrize("form", [JSON, TOML])
    def test_a_change_that_says_something_else_is_never_handed_out(self, form):
        wrong = editing.Format(form.read, lambda text, *_: form.put("", "other", "x", {"command": "y"}), form.take)
        with pytest.raises(Unfit, match="cannot be changed"):
            editing.put(wrong, "", "servers", "notes", ENTRY)

    def test_a_change_that_breaks_the_file_is_never_handed_out(self):
        wrong = editing.Format(JSON.read, lambda *_: "{", lambda *_: '{"servers": }')
        with pytest.raises(Unfit, match="cannot be changed"):
            editing.put(wrong, "{}", "servers", "notes", ENTRY)
        with pytest.raises(Unfit, match="cannot be changed"):
            editing.take(wrong, '{"servers": {"notes": {}}}', "servers", "notes")

    def test_a_taking_that_takes_more_is_never_handed_out(self):
        wrong = editing.Format(JSON.read, JSON.put, lambda *_: "{}")
        with pytest.raises(Unfit):
            editing.take(wrong, '{"servers": {"notes": {}, "other": {}}}', "servers", "notes")
        with pytest.raises(Unfit):
            editing.take(wrong, '{"servers": {"notes": {}}, "a": null}', "servers", "notes")


class TestUndone:
    def test_a_backup_that_is_of_another_time_does_not_count(self):
        after = put("cursor", '{"mcpServers": {}}')
        assert not editing.undone(JSON, after, '{"mcpServers": {}, "a": 1}', "mcpServers", "notes")

    def test_a_backup_that_has_the_entry_does_not_count(self):
        after = put("cursor", "")
        assert not editing.undone(JSON, after, after, "mcpServers", "notes")

    def test_a_broken_backup_does_not_count(self):
        assert not editing.undone(JSON, put("cursor", ""), "{", "mcpServers", "notes")
