"""Where what we keep beside the notes lives, and what happens where it cannot."""

import stat
from pathlib import Path

import pytest
from _served import fill, serving

from notes_mcp.errors import StorageError
from notes_mcp.notes import opening
from notes_mcp.settings import Settings


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return fill(tmp_path / "notes", {"a.md": "alpha\n"})


def opened(*roots: Path, **settings):
    served = opening.open_all(Settings(folders=roots, **settings))
    for each in served:
        each.folder.index.close()
    return served


def test_index_and_journal_go_to_private_directories_and_nothing_into_the_notes(root: Path, tmp_path: Path) -> None:
    (one,) = opened(root, cache_dir=tmp_path / "cache")
    assert [path.name for path in root.iterdir()] == ["a.md"]
    assert one.journal is not None and one.folder.index.file is not None and one.root == root
    (place,) = [path for path in (tmp_path / "cache").iterdir() if path.name != "state"]
    (state,) = (tmp_path / "cache" / "state").iterdir()
    for directory in (place, state):
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert stat.S_IMODE(one.folder.index.file.stat().st_mode) == 0o600
    assert one.folder.problems() == ()


def test_every_folder_has_a_place_of_its_own_and_one_folder_has_one_place(root: Path, tmp_path: Path) -> None:
    other = fill(tmp_path / "other" / "notes", {"b.md": "b"})
    link = tmp_path / "link"
    link.symlink_to(root)
    files = [each.folder.index.file for each in opened(root, other, link, cache_dir=tmp_path / "cache")]
    assert files[0] == files[2] != files[1]


@pytest.mark.parametrize("seen", [{"ignore": ("*.txt",)}, {"max_note_bytes": 1_000}])
def test_servers_that_see_different_notes_do_not_share_an_index(root: Path, tmp_path: Path, seen) -> None:
    (one,) = opened(root, cache_dir=tmp_path / "cache")
    (other,) = opened(root, cache_dir=tmp_path / "cache", **seen)
    (again,) = opened(root, cache_dir=tmp_path / "cache", **seen)
    files = [each.folder.index.file for each in (one, other, again)]
    assert files[0] != files[1] and files[1] == files[2]


def test_the_state_directory_can_be_given_apart(root: Path, tmp_path: Path) -> None:
    opened(root, cache_dir=tmp_path / "cache", state_dir=tmp_path / "state")
    assert not (tmp_path / "cache" / "state").exists() and len(list((tmp_path / "state").iterdir())) == 1


def test_without_settings_the_platforms_own_places_are_used(root: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg-cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg-state"))
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name, appauthor: tmp_path / "user-cache" / name)
    monkeypatch.setattr("platformdirs.user_state_path", lambda name, appauthor: tmp_path / "user-state" / name)
    opened(root)
    assert len(list((tmp_path / "user-cache" / "notes-mcp").iterdir())) == 1
    assert len(list((tmp_path / "user-state" / "notes-mcp").iterdir())) == 1


async def test_where_nothing_can_be_kept_everything_but_undo_works(root: Path, tmp_path: Path, caplog) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_bytes(b"a file where a directory should be")
    async with serving(tmp_path, root, cache_dir=blocked / "cache", state_dir=blocked / "state") as (library, _):
        written = await library.edit("a.md", lambda document: b"zebra\n", tool="t")
        assert written.changed and written.change_id is None
        assert (await library.search("zebra")).total == 1
        info = await library.info()
        assert [problem.kind for problem in info.problems] == ["directory_unusable"] * 2
        assert info.recent_changes == ()
    assert len([record for record in caplog.records if "cannot be used" in record.getMessage()]) == 2


def test_a_folder_that_is_not_there_cannot_be_served(root: Path, tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        opening.open_all(Settings(folders=(root, tmp_path / "nowhere"), cache_dir=tmp_path / "cache"))
