import errno
import os

import pytest
from folder_cases import Crash, House, crash_before, house, opened
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from vault_cases import everything

from notes_mcp.errors import ExistsError, NoteError, StaleError, StorageError
from notes_mcp.notes.changes import steps
from notes_mcp.notes.disk import files
from notes_mcp.notes.text import etag

FILES = {
    "a.md": b"a",
    "b.md": b"b",
    "Old/c.md": b"c",
    "Old/deep/pic.png": b"\x89png",
    "Old/.hidden": b"kept along",
    "gone.md": b"to the trash",
    "off.md": b"off the disk",
}


@pytest.fixture(params=["native", "by links", "by paths"])
def home(tmp_path, request, monkeypatch) -> House:
    if request.param != "native":  # as where the system has no rename that refuses to replace
        monkeypatch.setattr(files, "_noreplace_call", lambda: None)
    if request.param == "by paths":  # as on Windows
        monkeypatch.setattr(files, "BY_DESCRIPTOR", False)
    return house(tmp_path, FILES)


def all_kinds(home: House) -> list[steps.Step]:
    """A change with every kind of step in it; the moves first."""
    vault = home.vault
    return [
        steps.move(vault, "a.md", "New/a.md", etag(b"a")),
        steps.move(vault, "Old", "New/Old", None, folder=True),
        steps.put("New/a.md", b"a", b"a changed"),
        steps.put("New/Old/c.md", b"c", b"c changed"),
        steps.put("b.md", b"b", b"b changed"),
        steps.create(vault, "x/y/new.md", b"new"),
        steps.trash(vault, "gone.md", b"to the trash"),
        steps.remove(vault, "off.md", b"off the disk"),
    ]


AFTER = {
    "New/a.md": b"a changed",
    "New/Old/c.md": b"c changed",
    "New/Old/deep/pic.png": b"\x89png",
    "New/Old/.hidden": b"kept along",
    "b.md": b"b changed",
    "x/y/new.md": b"new",
    ".trash/gone.md": b"to the trash",
}
COUNT = 8


def folders(home: House) -> set[str]:
    return {str(path.relative_to(home.root)) for path in home.root.rglob("*") if path.is_dir()}


def whole(home: House) -> bool:
    """Whether the index holds what the disk does."""
    known = home.indexed()
    return {path: known.get(path) for path in home.on_disk()} == home.on_disk() and set(known) == {
        file.path for file in home.vault.scan().files
    }


def test_all_steps_are_taken_and_the_index_follows(home: House) -> None:
    change_id = home.apply(*all_kinds(home))
    assert home.files() == AFTER and whole(home)
    assert home.journal.pending() == []
    latest = home.journal.latest()
    assert latest is not None and latest.change_id == change_id and len(latest.images) == COUNT


@pytest.mark.parametrize("failing", range(COUNT))
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()], ids=["full", "interrupt"])
def test_what_fails_half_way_leaves_all_as_it_was(home: House, monkeypatch, failing: int, error) -> None:
    before, made = home.files(), folders(home)
    change = all_kinds(home)
    real, count = steps.take, 0

    def take(vault, step):
        nonlocal count
        count += 1
        if count == failing + 1:
            raise StorageError("full") if isinstance(error, OSError) else error
        real(vault, step)

    monkeypatch.setattr(steps, "take", take)
    with pytest.raises((StorageError, KeyboardInterrupt)):
        home.apply(*change)
    assert home.files() == before and whole(home)
    assert folders(home) - made <= {".trash"}
    assert home.journal.pending() == [] and home.journal.latest() is None


@pytest.mark.parametrize("crashed_at", range(COUNT))
def test_a_change_cut_short_is_taken_back_when_the_folder_is_opened(home: House, monkeypatch, crashed_at) -> None:
    before, made = home.files(), folders(home)
    change = all_kinds(home)
    with monkeypatch.context() as patch, pytest.raises(Crash):
        crash_before(patch, crashed_at)
        home.apply(*change)
    assert len(home.journal.pending()) == 1
    later = opened(home.root, home.state)
    assert later.files() == before and whole(later)
    assert folders(later) - made <= {".trash"}
    assert later.journal.pending() == [] and later.journal.latest() is None


def test_a_change_cut_short_is_taken_back_before_the_next_write(home: House, monkeypatch) -> None:
    change = all_kinds(home)
    with monkeypatch.context() as patch, pytest.raises(Crash):
        crash_before(patch, 3)
        home.apply(*change)
    home.apply(steps.put("a.md", b"a", b"later"))
    assert home.files() == {**FILES, "a.md": b"later"} and whole(home)


def test_a_change_cut_short_after_its_last_step_is_done(home: House, monkeypatch) -> None:
    change = all_kinds(home)
    with monkeypatch.context() as patch, pytest.raises(Crash):
        crash_before(patch, -1)
        home.apply(*change)
    [pending] = home.journal.pending()
    later = opened(home.root, home.state)
    assert later.files() == AFTER and whole(later)
    latest = later.journal.latest()
    assert latest is not None and latest.change_id == pending


@pytest.mark.parametrize("written", ["b.md", "New/a.md", "New/Old/c.md", "x/y/new.md"])
def test_taking_back_never_goes_over_what_somebody_else_wrote_since(home: House, monkeypatch, written) -> None:
    change = all_kinds(home)
    with monkeypatch.context() as patch, pytest.raises(Crash):
        crash_before(patch, COUNT - 1)
        home.apply(*change)
    (home.root / written).write_bytes(b"by an editor")
    later = opened(home.root, home.state)
    assert b"by an editor" in later.files().values()
    words = set(later.files().values()) | {
        image.before for image in (later.journal.latest() or pytest.fail("the words before are kept")).images
    }
    assert words >= {*FILES.values(), b"by an editor"}
    assert later.journal.pending() == [] and whole(later)


@pytest.mark.parametrize("taken", ["a.md", "Old", "gone.md"])
def test_a_name_that_was_taken_since_is_not_overwritten_in_taking_back(home: House, monkeypatch, taken) -> None:
    change = all_kinds(home)
    with monkeypatch.context() as patch, pytest.raises(Crash):
        crash_before(patch, COUNT - 1)
        home.apply(*change)
    (home.root / taken).write_bytes(b"by an editor")
    later = opened(home.root, home.state)
    assert (later.root / taken).read_bytes() == b"by an editor"
    assert {*later.files().values()} >= {b"c", b"\x89png", b"by an editor", b"kept along"}
    assert later.journal.pending() == []


def test_an_edit_of_others_before_the_crash_leaves_no_doubt_about_what_was_never_reached(
    home: House, monkeypatch
) -> None:
    change = [steps.put("a.md", b"a", b"1"), steps.put("b.md", b"b", b"2"), steps.put("Old/c.md", b"c", b"3")]
    with monkeypatch.context() as patch, pytest.raises(Crash):
        crash_before(patch, 1)
        home.apply(*change)
    (home.root / "Old/c.md").write_bytes(b"by an editor")
    later = opened(home.root, home.state)
    assert later.files() == {**FILES, "Old/c.md": b"by an editor"}
    assert later.journal.latest() is None


def test_a_file_put_back_by_hand_does_not_hide_that_others_were_changed(home: House, monkeypatch) -> None:
    change = [steps.put("a.md", b"a", b"1"), steps.put("b.md", b"b", b"2"), steps.put("Old/c.md", b"c", b"3")]
    with monkeypatch.context() as patch, pytest.raises(Crash):
        crash_before(patch, 2)
        home.apply(*change)
    (home.root / "a.md").write_bytes(b"a")
    assert opened(home.root, home.state).files() == FILES


def test_an_editor_that_saves_in_between_stops_the_whole_change(home: House) -> None:
    change = [steps.put("a.md", b"a", b"1"), steps.put("b.md", b"b", b"2")]
    (home.root / "b.md").write_bytes(b"by an editor")
    with pytest.raises(StaleError):
        home.apply(*change)
    assert home.files() == {**FILES, "b.md": b"by an editor"}
    assert home.journal.latest() is None and home.journal.pending() == []


def test_a_name_that_is_taken_stops_the_whole_change(home: House) -> None:
    change = [steps.put("a.md", b"a", b"1"), steps.create(home.vault, "new.md", b"2")]
    (home.root / "new.md").write_bytes(b"by an editor")
    with pytest.raises(ExistsError):
        home.apply(*change)
    assert home.files() == {**FILES, "new.md": b"by an editor"}


def full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_without_a_journal_one_file_is_written_and_several_are_not(home: House, monkeypatch, caplog) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(type(home.journal), "begin", full)
        with pytest.raises(StorageError, match="Nothing was changed"):
            home.apply(steps.put("a.md", b"a", b"1"), steps.put("b.md", b"b", b"2"))
        assert home.files() == FILES
        assert home.apply(steps.put("a.md", b"a", b"1")) is None
    assert home.files() == {**FILES, "a.md": b"1"} and whole(home)
    assert "cannot be undone" in caplog.text


def test_what_cannot_be_taken_back_now_is_taken_back_before_the_next_write(home: House, monkeypatch) -> None:
    real, count = files.write_temp, 0

    def write_temp(*args, **options):
        nonlocal count
        count += 1
        return real(*args, **options) if count == 1 else full()

    with monkeypatch.context() as patch:
        patch.setattr("notes_mcp.notes.disk.vault.write_temp", write_temp)
        with pytest.raises(StorageError, match="as soon as it can be"):
            home.apply(steps.put("a.md", b"a", b"1"), steps.put("b.md", b"b", b"2"))
        assert home.files() == {**FILES, "a.md": b"1"} and whole(home)
        with pytest.raises(StorageError):
            home.apply(steps.put("Old/c.md", b"c", b"3"))
    home.apply(steps.put("Old/c.md", b"c", b"3"))
    assert home.files() == {**FILES, "Old/c.md": b"3"} and whole(home)


def test_a_damaged_record_of_an_unfinished_change_does_not_stop_the_server(home: House, monkeypatch, caplog) -> None:
    with monkeypatch.context() as patch, pytest.raises(Crash):
        crash_before(patch, 0)
        home.apply(steps.put("a.md", b"a", b"1"))
    [record] = (home.state / "journal-pending").iterdir()
    record.write_bytes(record.read_bytes()[:-3])
    later = opened(home.root, home.state)
    assert "damaged" in caplog.text and later.journal.pending() == []
    later.apply(steps.put("a.md", b"a", b"2"))
    assert later.files() == {**FILES, "a.md": b"2"}


def test_a_file_with_both_names_after_a_crash_gets_its_old_one_only(home: House, monkeypatch) -> None:
    """Where there is no rename that refuses to replace, a file is carried by a hard link: for a moment it has two."""
    change = [steps.move(home.vault, "a.md", "z.md", etag(b"a")), steps.put("b.md", b"b", b"2")]
    with monkeypatch.context() as patch, pytest.raises(Crash):
        crash_before(patch, 0)
        home.apply(*change)
    os.link(home.root / "a.md", home.root / "z.md")
    assert opened(home.root, home.state).files() == FILES


def test_the_claim_of_a_folder_s_new_name_goes_with_the_folders_above_it(home: House, monkeypatch) -> None:
    change = [steps.move(home.vault, "Old", "x/y/New", None, folder=True), steps.put("b.md", b"b", b"2")]
    with monkeypatch.context() as patch, pytest.raises(Crash):
        crash_before(patch, 0)
        home.apply(*change)
    (home.root / "x/y/New").mkdir(parents=True)
    later = opened(home.root, home.state)
    assert later.files() == FILES and not (home.root / "x").exists() and later.journal.latest() is None


@pytest.mark.parametrize("first", [False, True], ids=["alone", "behind another step"])
def test_a_refused_step_never_takes_away_a_file_that_says_the_same(home: House, first: bool) -> None:
    vault = home.vault
    planned = {
        "create": steps.create(vault, "a2.md", b"same"),
        "put": steps.put("b.md", b"b", b"same"),
        "restore": steps.restore(vault, ".trash/c.md", "c2.md", etag(b"same")),
        "trash": steps.trash(vault, "gone.md", b"to the trash"),
    }
    for path in ("a2.md", "b.md", "c2.md", ".trash/c.md"):
        (home.root / path).parent.mkdir(exist_ok=True)
        (home.root / path).write_bytes(b"same")
    (home.root / "gone.md").write_bytes(b"said anew")
    there = everything(home.root)
    for step in planned.values():
        ahead = [steps.put("a.md", b"a", b"a changed")] if first else []
        with home.transactions.writing(), pytest.raises(NoteError):
            home.transactions.apply("test", [*ahead, step])
        assert everything(home.root) == there


@pytest.mark.parametrize("what", ["ignored", "marked read-only"])
def test_a_file_put_out_of_reach_since_ends_the_recovery_with_its_words_kept(home: House, monkeypatch, what) -> None:
    with monkeypatch.context() as patch, pytest.raises(Crash):
        crash_before(patch, 1)
        home.apply(steps.put("a.md", b"a", b"1"), steps.put("b.md", b"b", b"2"))
    if what == "ignored":
        (home.root / ".notesignore").write_bytes(b"a.md\n")
    else:
        (home.root / "a.md").chmod(0o444)
    later = opened(home.root, home.state)
    assert later.files()["a.md"] == b"1" and later.journal.pending() == []
    latest = later.journal.latest()
    assert latest is not None and latest.images[0].before == b"a"


def test_a_copy_somebody_made_under_the_new_name_is_left(home: House, monkeypatch) -> None:
    change = [steps.move(home.vault, "a.md", "z.md", etag(b"a")), steps.put("b.md", b"b", b"2")]
    with monkeypatch.context() as patch, pytest.raises(Crash):
        crash_before(patch, 0)
        home.apply(*change)
    (home.root / "z.md").write_bytes(b"a")
    assert opened(home.root, home.state).files() == {**FILES, "z.md": b"a"}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_crashes_and_whoever_writes_no_words_are_lost(tmp_path_factory, data) -> None:
    texts = data.draw(st.lists(st.binary(min_size=1, max_size=6), min_size=2, max_size=5, unique=True))
    home = house(tmp_path_factory.mktemp("h"), {f"{n}.md": text for n, text in enumerate(texts)})
    change = [steps.put(f"{n}.md", text, text + b"!") for n, text in enumerate(texts)]
    at = data.draw(st.integers(-1, len(texts) - 1))
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Crash):
        crash_before(patch, at)
        home.apply(*change)
    edited = data.draw(st.dictionaries(st.integers(0, len(texts) - 1), st.sampled_from([b"mine", *texts]), max_size=2))
    for number, text in edited.items():
        (home.root / f"{number}.md").write_bytes(text)
    later = opened(home.root, home.state)
    now = everything(home.root)
    kept = later.journal.latest()
    for number, text in enumerate(texts):
        seen = now[f"{number}.md"]
        if number in edited:
            assert seen in (edited[number], text)  # what stands there as our own new text may be taken back
        elif at == -1 and kept is not None:
            assert seen in (text, text + b"!")
        else:
            assert seen == text
    assert later.journal.pending() == []
    assert whole(later)


def test_recovery_of_a_folder_that_went_away_waits(home: House, monkeypatch) -> None:
    with monkeypatch.context() as patch, pytest.raises(Crash):
        crash_before(patch, 1)
        home.apply(steps.put("a.md", b"a", b"1"), steps.put("b.md", b"b", b"2"))
    home.root.rename(home.root.with_name("away"))
    home.transactions.recover()
    with pytest.raises(NoteError):
        home.apply(steps.put("a.md", b"a", b"3"))
    assert home.journal.pending()
    home.root.with_name("away").rename(home.root)
    home.transactions.recover()
    assert home.files() == FILES and home.journal.pending() == []
