"""Obsidian's settings files as we read them: what cannot be read is as without it, and is said."""

import pytest

from notes_mcp.notes.daily import DailyNotes
from notes_mcp.notes.obsidian import texts
from notes_mcp.notes.templates import Templates


def test_templates_are_where_the_settings_say_and_look_as_they_say():
    said = b'\xef\xbb\xbf{"folder": "/Vorlagen/neu/", "dateFormat": "D.M.", "timeFormat": "H [Uhr]", "other": 1}'
    assert Templates.read(said) == Templates("Vorlagen/neu", "D.M.", "H [Uhr]")


@pytest.mark.parametrize(
    "data", [None, b"{}", b'{"folder": "", "dateFormat": ""}', b'{"folder": null}', b'{"folder": "/"}']
)
def test_what_they_leave_out_is_as_without_them(data):
    assert Templates.read(data) == Templates()


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"{", "not valid JSON (line 1)"), (b"[]", "not a JSON object"), (b'{"folder": 7}', "folder should be text"),
     (b"\xff", "not valid JSON"), (b"[" * 100_000, "not valid JSON")],
)  # fmt: skip
def test_what_cannot_be_read_is_as_without_them_and_is_said(data, said):
    for found in (Templates.read(data), DailyNotes.read(data)):
        assert found.problem.startswith(said) and found.problem.endswith("Obsidian's settings")
    assert Templates.read(data).folder == "Templates"
    assert (DailyNotes.read(data).folder, DailyNotes.read(data).format) == ("Daily", "YYYY-MM-DD")


def test_one_wrong_setting_leaves_the_others_and_an_empty_folder_is_the_top():
    daily = DailyNotes.read(b'{"folder": "Log", "format": 3, "template": " T "}')
    assert (daily.folder, daily.format, daily.template) == ("Log", "YYYY-MM-DD", "T") and "format" in daily.problem
    assert (DailyNotes.read(b"{}").folder, DailyNotes.read(b"{}").problem) == ("", "")
    assert texts(b'{"a": "x", "b": [1]}', ("a", "b")) == ({"a": "x"}, "b should be text")
