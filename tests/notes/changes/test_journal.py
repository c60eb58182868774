import os
import stat
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.errors import NotFoundError
from notes_mcp.notes.changes import journal as module
from notes_mcp.notes.changes.journal import Image, Journal

IMAGES = st.lists(
    st.builds(
        Image,
        path=st.text(st.sampled_from("ab/ é中😀.\n\udcff"), min_size=1, max_size=12),
        before=st.none() | st.binary(max_size=200),
        after_etag=st.none() | st.just("0123456789abcdef"),
        moved_from=st.none() | st.just("old/x.md"),
        trash=st.none() | st.just(".trash/x.md"),
        mode=st.none() | st.just(0o600),
        made=st.integers(0, 3),
        folder=st.booleans(),
    ),
    max_size=5,
)


@pytest.fixture
def journal(tmp_path):
    return Journal(tmp_path / "state" / "journal")


@pytest.fixture(scope="module")
def shared_journal(tmp_path_factory):
    return Journal(tmp_path_factory.mktemp("journal"))


def edit(path="a.md", before=b"old"):
    return [Image(path, before, "0123456789abcdef")]


def files(journal):
    return sorted(journal._directory.iterdir())


@settings(max_examples=60, deadline=None)
@given(images=IMAGES)
def test_images_come_back_as_they_went_in(shared_journal, images):
    change_id = shared_journal.record("edit_note", images)
    record = shared_journal.get(change_id)
    assert list(record.images) == images
    assert (record.tool, record.undoes, record.undone_by) == ("edit_note", None, None)
    assert abs(record.when_ns - time.time_ns()) < 3600 * 10**9


def test_ids_sort_by_time_are_unique_and_fit_a_file_name_on_any_disk(journal):
    ids = [journal.record("edit_note", edit()) for _ in range(30)]
    assert ids == sorted(ids) and len(set(ids)) == 30
    assert all(change_id.isascii() and change_id.isalnum() and change_id == change_id.lower() for change_id in ids)
    assert {len(change_id) for change_id in ids} == {15}


def test_a_clock_that_was_set_back_does_not_turn_the_order_round(journal, monkeypatch):
    first = journal.record("edit_note", edit())
    monkeypatch.setattr(module.time, "time_ns", lambda: 1_000_000_000)
    second = Journal(journal._directory).record("edit_note", edit())
    assert second > first
    latest = journal.latest()
    assert latest is not None and latest.change_id == second


def test_the_newest_come_first_and_no_more_than_asked_for(journal):
    ids = [journal.record("edit_note", edit(f"{number}.md")) for number in range(5)]
    recent = journal.recent(3)
    assert [summary.change_id for summary in recent] == ids[:1:-1]
    assert [summary.paths for summary in recent] == [("4.md",), ("3.md",), ("2.md",)]
    assert journal.recent(0) == []


def test_an_empty_journal_has_nothing_and_makes_no_directory(journal):
    assert journal.latest() is None and journal.recent(10) == [] and journal.prune() == 0
    assert not journal._directory.exists()


def test_a_change_that_was_begun_is_no_change_until_it_is_done(journal):
    done, dropped, left = (journal.begin("edit_note", edit(f"{n}.md")) for n in range(3))
    assert journal.latest() is None and journal.pending() == [done, dropped, left]
    journal.commit(done)
    journal.discard(dropped)
    later = Journal(journal._directory)
    assert later.pending() == [left] and [summary.change_id for summary in later.recent(9)] == [done]
    assert later.get_pending(left).images == tuple(edit("2.md"))
    assert later.begin("edit_note", edit()) > left
    with pytest.raises(NotFoundError):
        later.get(left)


def test_an_image_says_what_the_change_does():
    kinds = {
        "put": Image("a.md", b"old", "e"),
        "create": Image("a.md", None, "e"),
        "trash": Image("a.md", b"old", None, trash=".trash/a.md"),
        "restore": Image("a.md", None, "e", trash=".trash/a.md"),
        "remove": Image("a.md", b"old", None),
        "move": Image("b.md", None, "e", moved_from="a.md"),
    }
    assert {kind: image.kind for kind, image in kinds.items()} == {kind: kind for kind in kinds}
    assert Image("v", None, None, moved_from="w", folder=True).kind == "move"


def test_what_was_discarded_is_gone_and_discarding_twice_is_no_fault(journal):
    kept, failed = journal.record("edit_note", edit()), journal.record("edit_note", edit())
    journal.discard(failed)
    journal.discard(failed)
    latest = journal.latest()
    assert latest is not None and latest.change_id == kept
    with pytest.raises(NotFoundError):
        journal.get(failed)


@pytest.mark.parametrize(
    "change_id", ["", "../../etc/passwd", "0" * 15, "0" * 14, "O" * 15, "x" * 10_000, "a/b", "a\x00b"]
)
def test_an_unknown_change_is_not_found_and_the_latest_are_named(journal, change_id):
    known = journal.record("edit_note", edit())
    with pytest.raises(NotFoundError) as caught:
        journal.get(change_id)
    assert caught.value.nearest == (known,) and known in str(caught.value)


def test_an_undone_change_names_the_one_that_undid_it_and_undoing_that_brings_it_back(journal):
    change = journal.record("edit_note", edit())
    undo = journal.record("undo_change", edit(before=b"new"), undoes=change)
    assert journal.get(change).undone_by == undo
    assert journal.get(undo).undoes == change and journal.get(undo).undone_by is None
    redo = journal.record("undo_change", edit(), undoes=undo)
    assert journal.get(undo).undone_by == redo
    assert journal.get(change).undone_by is None
    assert [(s.undoes, s.undone_by) for s in journal.recent(9)] == [(undo, None), (change, redo), (None, None)]


def test_the_latest_change_is_the_newest_that_is_not_undone(journal):
    first = journal.record("edit_note", edit())
    second = journal.record("edit_note", edit())
    undo = journal.record("undo_change", edit(), undoes=second)
    latest = journal.latest()
    assert latest is not None and latest.change_id == undo
    journal.discard(undo)
    latest = journal.latest()
    assert latest is not None and latest.change_id == second and first < second


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_files_and_directories_are_the_user_s_alone(journal):
    old = os.umask(0)
    try:
        journal.record("edit_note", edit())
    finally:
        os.umask(old)
    assert stat.S_IMODE(journal._directory.stat().st_mode) == 0o700
    assert stat.S_IMODE(journal._directory.parent.stat().st_mode) == 0o700
    assert [stat.S_IMODE(file.stat().st_mode) for file in files(journal)] == [0o600]


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_a_directory_that_others_can_read_is_closed(journal):
    journal._directory.mkdir(parents=True)
    journal._directory.chmod(0o755)
    journal.record("edit_note", edit())
    assert stat.S_IMODE(journal._directory.stat().st_mode) == 0o700


def test_a_record_is_on_the_disk_whole_before_it_has_its_name(journal, monkeypatch):
    steps = []
    real_fsync, real_replace = os.fsync, module.Path.replace

    def fsync(descriptor):
        steps.append("fsync directory" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "fsync file")
        real_fsync(descriptor)

    def replace(self, target):
        steps.append("rename")
        return real_replace(self, target)

    monkeypatch.setattr(module.os, "fsync", fsync)
    monkeypatch.setattr(module.Path, "replace", replace)
    journal.record("edit_note", edit())
    assert steps[:2] == ["fsync file", "rename"]
    assert steps[2:] == (["fsync directory", "rename"] if os.name == "posix" else ["rename"])


def test_a_disk_that_takes_no_more_leaves_nothing_behind(journal, monkeypatch):
    journal.record("edit_note", edit())

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        journal.record("edit_note", edit())
    assert len(files(journal)) == 1


def test_damaged_records_are_left_out_of_the_list_and_say_so_when_asked_for(journal):
    ids = [journal.record("edit_note", edit(before=os.urandom(500))) for _ in range(4)]
    cut, empty, turned, _ = files(journal)
    cut.write_bytes(cut.read_bytes()[:-100])
    empty.write_bytes(b"")
    content = turned.read_bytes()
    turned.write_bytes(content[:-100] + bytes(byte ^ 255 for byte in content[-100:]))
    assert [summary.change_id for summary in journal.recent(9)] == [ids[3], ids[2], ids[0]]
    for damaged in ids[:3]:
        with pytest.raises(NotFoundError, match="damaged"):
            journal.get(damaged)
    assert journal.get(ids[3]).images[0].after_etag == "0123456789abcdef"


def test_files_of_others_in_the_directory_are_not_touched(journal):
    change_id = journal.record("edit_note", edit())
    (journal._directory / "notes.txt").write_bytes(b"mine")
    (journal._directory / "x.change").write_bytes(b"mine")
    tight = Journal(journal._directory, max_bytes=0, keep_days=0)
    tight.prune()
    assert [summary.change_id for summary in journal.recent(9)] == [change_id]
    assert (journal._directory / "notes.txt").read_bytes() == (journal._directory / "x.change").read_bytes() == b"mine"


def test_the_oldest_go_when_there_are_too_many_bytes(journal):
    ids = [journal.record("edit_note", edit(before=os.urandom(10_000))) for _ in range(5)]
    assert Journal(journal._directory, max_bytes=25_000).prune() == 3
    assert [summary.change_id for summary in journal.recent(9)] == ids[:2:-1]


def test_what_is_over_age_goes_but_the_newest_stays(journal):
    ids = [journal.record("edit_note", edit()) for _ in range(4)]
    for file in files(journal):
        os.utime(file, (time.time() - 3 * 86_400,) * 2)
    os.utime(files(journal)[1])
    assert Journal(journal._directory, keep_days=2).prune() == 2
    assert [summary.change_id for summary in journal.recent(9)] == [ids[3], ids[1]]


def test_a_change_larger_than_the_whole_journal_may_be_is_kept_until_the_next(journal):
    small = Journal(journal._directory, max_bytes=100)
    change_id = small.record("delete_note", edit(before=os.urandom(5000)))
    small.prune()
    assert len(small.get(change_id).images[0].before or b"") == 5000


def test_temp_files_of_a_process_that_died_are_cleared_away_when_old(journal):
    journal.record("edit_note", edit())
    old, young = journal._directory / ".dead.tmp", journal._directory / ".live.tmp"
    for temp in (old, young):
        temp.write_bytes(b"half")
    os.utime(old, (time.time() - 7200,) * 2)
    journal.prune()
    assert not old.exists() and young.exists()
    assert len(journal.recent(9)) == 1


def test_several_processes_record_into_one_directory_without_loss(journal):
    code = (
        "import sys; from pathlib import Path; from notes_mcp.notes.changes.journal import Image, Journal\n"
        "j = Journal(Path(sys.argv[1]))\n"
        "for n in range(15): j.record('edit_note', [Image(f'{sys.argv[2]}-{n}.md', b'x', None)])\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(journal._directory), str(n)]) for n in range(3)]
    assert [process.wait(timeout=60) for process in running] == [0, 0, 0]
    paths = [summary.paths[0] for summary in journal.recent(100)]
    assert sorted(paths) == sorted(f"{n}-{m}.md" for n in range(3) for m in range(15))
    for n in range(3):
        assert [path for path in reversed(paths) if path.startswith(f"{n}-")] == [f"{n}-{m}.md" for m in range(15)]
