"""Random notes and random edits through the disk: a dry run tells what is then done, and undo gives back the bytes."""

import os
import stat

from folder_cases import House, house
from hypothesis import given, settings
from hypothesis import strategies as st
from test_edits_random import edits, notes, tried

from notes_mcp.errors import NoteError
from notes_mcp.notes.changes.sweeping import Sweeper
from notes_mcp.notes.changes.writing import Outcome, Writer
from notes_mcp.notes.diff import unified
from notes_mcp.notes.edits import tagging
from notes_mcp.notes.edits.edits import apply
from notes_mcp.notes.records import FileState
from notes_mcp.notes.text import Text

quick = settings(max_examples=60, deadline=None)


def writer(home: House) -> Writer:
    return Writer(home.folder, home.transactions, read_only=False)


def diff(outcome: Outcome) -> str:
    return unified(Text.decode(outcome.before or b"").text, Text.decode(outcome.after or b"").text, outcome.path)


@quick
@given(data=st.data())
def test_an_edit_of_any_note_is_shown_before_and_taken_back_to_the_byte(tmp_path_factory, data) -> None:
    before = data.draw(notes())
    edit = data.draw(edits(before))
    after = tried(before, edit).data
    home = house(tmp_path_factory.mktemp("h"), {"n.md": before})
    os.chmod(home.root / "n.md", 0o640)

    def transform(state: FileState, content: bytes) -> bytes:
        return apply(state.path, content, [edit]).data

    shown = writer(home).edit("n.md", transform, if_match=None, dry_run=True, tool="edit_note")
    assert home.files() == {"n.md": before} and home.journal.latest() is None and shown.change_id is None
    done = writer(home).edit("n.md", transform, if_match=None, dry_run=False, tool="edit_note")
    assert home.files() == {"n.md": after} and (shown.after, diff(shown)) == (after, diff(done))
    if after == before:
        assert done.change_id is None and home.journal.latest() is None
        return
    assert home.undoer.undo(done.change_id, dry_run=True).restored == ("n.md",)
    assert home.files() == {"n.md": after}
    undone = home.undoer.undo(done.change_id)
    assert undone.restored == ("n.md",) and home.files() == {"n.md": before}
    assert home.undoer.undo(undone.change_id).restored == ("n.md",) and home.files() == {"n.md": after}
    assert stat.S_IMODE((home.root / "n.md").stat().st_mode) == 0o640


TAGGED = st.lists(st.sampled_from(["#a", "#a/b", "#中文", " word", "\r\n", "\n", "`#a`", "é"]), max_size=8).map("".join)
FRONT = st.sampled_from(
    ["", "---\ntags: [a, 'a/b'] # mine\n---\n", "---\r\ntags:\r\n  - a\r\n---\r\n", "---\na: [\n---\n"]
)


@quick
@given(
    texts=st.lists(st.tuples(FRONT, TAGGED), min_size=1, max_size=5), old=st.sampled_from(["a", "A", "中文", "none"])
)
def test_a_tag_renamed_in_any_notes_is_shown_before_and_taken_back_to_the_byte(tmp_path_factory, texts, old) -> None:
    files = {f"{n}.md": (front + text).encode() for n, (front, text) in enumerate(texts)}
    home = house(tmp_path_factory.mktemp("h"), files)
    change = tagging.wanted("rename", [old], "new/tag")

    def renamed(state: FileState, data: bytes) -> tuple[bytes, int]:
        done = tagging.apply(state.path, data, change)
        return done.data, done.count

    def possible(path: str) -> bytes:
        try:
            return renamed(FileState(path, "note", 0, 0, 0), files[path])[0]
        except NoteError:
            return files[path]

    sweeper = Sweeper(home.folder, home.transactions, read_only=False)
    shown = sweeper.sweep(renamed, paths=None, tags=["#" + old], dry_run=True, tool="update_tags")
    assert home.files() == files
    done = sweeper.sweep(renamed, paths=None, tags=["#" + old], dry_run=False, tool="update_tags")
    assert (done.changed, done.skipped) == (shown.changed, shown.skipped)
    assert home.files() == {path: possible(path) for path in files}
    if done.change_id is not None:
        assert home.undoer.undo(done.change_id).refused == ()
        assert home.files() == files
