import os
from pathlib import Path

import pytest
from folder_cases import Crash, House, crash_before, house, opened
from vault_cases import everything

from notes_mcp.errors import ExistsError, ForbiddenError, InvalidRequestError, NotFoundError, ReadOnlyError, StaleError
from notes_mcp.notes.changes.moving import Move, Mover
from notes_mcp.notes.disk.vault import Vault
from notes_mcp.notes.text import etag

FILES = {
    "Plan.md": b"# Plan\n\nSee [[Old Note]], [a picture](pics/p.png) and [[Plan#Plan]].\n",
    "Old Note.md": b"back to [[Plan]]\n",
    "Log/day.md": b"- [[Plan|the plan]] and [it](../Plan.md)\n`[[Plan]]`\n",
    "Log/board.canvas": b'{"nodes":[{"id":"1","type":"file","file":"Plan.md"}],"edges":[]}',
    "pics/p.png": b"\x89png",
    "Team/a.md": b"[b](b.md) [[Plan]]\n",
    "Team/b.md": b"[up](../Plan.md)\n",
    "Team/.hidden": b"along",
    "out.md": b"[[Team/a]] [t](Team/b.md)\n",
}
MOVES = [("Plan.md", "a/b/Neu.md"), ("Team", "x/Crew"), ("pics/p.png", "q.png")]


@pytest.fixture
def home(tmp_path: Path) -> House:
    return house(tmp_path, FILES)


def move(home: House, path: str, new_path: str, **options) -> Move:
    options = {"update_links": True, "if_match": None, "dry_run": False, **options}
    mover = Mover(home.folder, home.transactions, read_only=False)
    return mover.move(path, new_path, tool="move_note", **options)


def test_a_note_moves_and_every_link_to_it_and_in_it_leads_on(home: House) -> None:
    moved = move(home, "Plan.md", "Projects/The Plan")
    assert (moved.new_path, moved.folder) == ("Projects/The Plan.md", False)
    now = home.files()
    assert b"[[The Plan|the plan]] and [it](../Projects/The%20Plan.md)\n`[[Plan]]`" in now["Log/day.md"]
    assert now["Old Note.md"] == b"back to [[The Plan]]\n"
    assert b"[a picture](../pics/p.png)" in now["Projects/The Plan.md"]
    assert b'"file":"Projects/The Plan.md"' in now["Log/board.canvas"]
    assert {each.path for each in moved.relinked} == {
        "Projects/The Plan.md", "Old Note.md", "Log/day.md", "Log/board.canvas", "Team/a.md", "Team/b.md",
    }  # fmt: skip
    assert next(each.count for each in moved.relinked if each.path == "Log/day.md") == 2
    assert {link.source for link in home.folder.index.backlinks("Projects/The Plan.md")} >= {"Log/day.md", "Team/b.md"}


@pytest.mark.parametrize(("path", "new_path"), MOVES)
def test_moved_and_moved_back_every_byte_is_the_same(home: House, path: str, new_path: str) -> None:
    move(home, path, new_path)
    assert home.files() != FILES
    move(home, new_path, path)
    assert home.files() == FILES


@pytest.mark.parametrize(("path", "new_path"), [*MOVES, ("Plan.md", "a/C# [x].md")])
def test_a_move_is_undone_with_its_links_and_redone(home: House, path: str, new_path: str) -> None:
    moved = move(home, path, new_path)
    after = home.files()
    undone = home.undoer.undo()
    assert (undone.undoes, undone.refused) == (moved.change_id, ())
    assert home.files() == FILES
    assert not (home.root / new_path).parent.exists() or (home.root / new_path).parent == home.root
    home.undoer.undo(undone.change_id)
    assert home.files() == after


def test_a_dry_run_changes_nothing_and_tells_what_the_move_then_does(home: House) -> None:
    shown = move(home, "Plan.md", "Projects/", dry_run=True)
    assert home.files() == FILES and home.journal.latest() is None and not (home.root / "Projects").exists()
    done = move(home, "Plan.md", "Projects/")
    assert shown.change_id is None and shown == Move(
        **{**{f: getattr(done, f) for f in Move.__slots__}, "change_id": None}
    )
    assert done.new_path == "Projects/Plan.md"


@pytest.mark.parametrize(
    ("path", "new_path", "expected"),
    [
        ("Plan.md", "Team", "Team/Plan.md"),
        ("Plan.md", "Team/", "Team/Plan.md"),
        ("Plan.md", "Neu/", "Neu/Plan.md"),
        ("Plan.md", "Neu", "Neu.md"),
        ("Plan.md", "Neu.markdown", "Neu.markdown"),
        ("Plan.md", "v1.2 plan", "v1.2 plan.md"),
        ("Plan.md", r"x\Neu", "x/Neu.md"),
        ("pics/p.png", "q", "q.png"),
        ("pics/p.png", "q.jpeg", "q.jpeg"),
        ("pics/p.png", "shot 2026.10", "shot 2026.10.png"),
        ("Team", "Log", "Log/Team"),
        ("Team", "Crew/", "Crew"),
        ("Team", "v1.2", "v1.2"),
        ("Plan.md", "plan.md", "plan.md"),
    ],
)
def test_hazard_064_a_new_path_may_be_a_name_or_a_folder_and_keeps_the_extension(
    home: House, path: str, new_path: str, expected: str
) -> None:
    assert move(home, path, new_path).new_path == expected
    assert (home.root / expected).exists() and not (home.root / path).exists()


@pytest.mark.parametrize(
    ("path", "new_path"),
    [("Plan.md", "Old Note"), ("Plan.md", "Old Note.md"), ("Old Note.md", "Team/a.md"), ("Team", "Log/day.md")],
)
def test_hazard_089_a_name_that_is_taken_is_never_overwritten(home: House, path: str, new_path: str) -> None:
    for dry_run in (True, False):
        with pytest.raises(ExistsError):
            move(home, path, new_path, dry_run=dry_run)
    assert home.files() == FILES and home.journal.pending() == []


def test_a_name_that_is_taken_in_this_very_moment_is_not_overwritten(home: House, monkeypatch) -> None:
    real = Vault.move

    def taken(self: Vault, path: str, new_path: str, **options: object) -> str:
        (home.root / "Neu.md").write_bytes(b"somebody's")
        return real(self, path, new_path, **options)

    monkeypatch.setattr(Vault, "move", taken)
    with pytest.raises(ExistsError):
        move(home, "Plan.md", "Neu.md")
    assert home.files() == {**FILES, "Neu.md": b"somebody's"}


def test_moving_a_note_to_where_it_is_changes_nothing(home: House) -> None:
    assert move(home, "Plan.md", "Plan") == Move("Plan.md", "Plan.md", False)
    assert home.journal.latest() is None


def test_what_cannot_be_moved_says_why(home: House) -> None:
    cases = [
        ("Team", "Team/inner", {}, InvalidRequestError),
        ("Team", "Crew", {"if_match": "0" * 16}, InvalidRequestError),
        ("Plan.md", "../out.md", {}, ForbiddenError),
        ("Plan.md", ".hidden/x.md", {}, ForbiddenError),
        ("Plan.md", "Neu", {"if_match": "0" * 16}, StaleError),
        ("gone.md", "Neu", {}, NotFoundError),
        ("gone.png", "Neu", {}, NotFoundError),
    ]
    for path, new_path, options, error in cases:
        with pytest.raises(error):
            move(home, path, new_path, **options)
    with pytest.raises(ReadOnlyError):
        Mover(home.folder, home.transactions, read_only=True).move(
            "Plan.md", "x", update_links=True, if_match=None, dry_run=True, tool="move_note"
        )
    assert home.files() == FILES


def test_the_right_etag_lets_a_move_through(home: House) -> None:
    assert move(home, "Plan.md", "Neu", if_match=etag(FILES["Plan.md"])).change_id


def test_hazard_106_a_note_edited_between_plan_and_write_keeps_the_edit(home: House, monkeypatch) -> None:
    real, done = Vault.move, False

    def edited(self: Vault, path: str, new_path: str, **options: object) -> str:
        nonlocal done
        if not done:
            done = True
            (home.root / "Old Note.md").write_bytes(b"edited: back to [[Plan]]\n")
        return real(self, path, new_path, **options)

    monkeypatch.setattr(Vault, "move", edited)
    move(home, "Plan.md", "Neu")
    assert home.files()["Old Note.md"] == b"edited: back to [[Neu]]\n"


def test_a_link_written_a_moment_ago_is_known_too(home: House) -> None:
    (home.root / "fresh.md").write_bytes(b"[[Plan]]\n")
    move(home, "Plan.md", "Neu")
    assert home.files()["fresh.md"] == b"[[Neu]]\n"


def test_hazard_074_a_note_that_is_not_text_does_not_hold_a_move_up(home: House) -> None:
    (home.root / "latin.md").write_bytes("Grüße an [[Plan]]".encode("latin-1"))
    moved = move(home, "Plan.md", "Neu")
    assert home.files()["latin.md"] == "Grüße an [[Plan]]".encode("latin-1")
    assert [left.path for left in moved.left] == ["latin.md"]
    assert home.files()["Old Note.md"] == b"back to [[Neu]]\n"


def test_links_stay_if_they_are_not_to_be_updated(home: House) -> None:
    moved = move(home, "Plan.md", "Neu", update_links=False)
    assert moved.relinked == () and home.files() == {
        **{path: data for path, data in FILES.items() if path != "Plan.md"}, "Neu.md": FILES["Plan.md"],
    }  # fmt: skip


def test_a_folder_moves_whole_with_what_is_hidden_and_is_not_copied_to_the_journal(home: House) -> None:
    (home.root / "Team/film.bin").write_bytes(os.urandom(1_000_000))
    inode = (home.root / "Team/film.bin").stat().st_ino
    moved = move(home, "Team", "x/Crew")
    assert moved.folder and home.files()["x/Crew/.hidden"] == b"along"
    assert (home.root / "x/Crew/film.bin").stat().st_ino == inode
    assert home.files()["out.md"] == b"[[x/Crew/a]] [t](x/Crew/b.md)\n"
    assert home.files()["x/Crew/b.md"] == b"[up](../../Plan.md)\n"
    assert sum(file.stat().st_size for file in home.state.rglob("*") if file.is_file()) < 100_000


def test_hazard_154_the_index_follows_a_move_and_an_undo(home: House) -> None:
    move(home, "Team", "Crew")
    assert "Team/a.md" not in home.indexed() and {link.source for link in home.folder.index.backlinks("Crew/a.md")}
    home.undoer.undo()
    assert home.indexed().keys() == {path for path in FILES if "/." not in path}
    assert {link.source for link in home.folder.index.backlinks("Team/a.md")} == {"out.md"}


@pytest.mark.parametrize("crashed_at", range(5))
def test_a_move_cut_short_is_taken_back_with_its_links(home: House, monkeypatch, crashed_at: int) -> None:
    with monkeypatch.context() as patch, pytest.raises(Crash):
        crash_before(patch, crashed_at)
        move(home, "Plan.md", "a/b/Neu.md")
    later = opened(home.root, home.state)
    assert later.files() == FILES and not (home.root / "a").exists()


def test_on_a_disk_that_ignores_letter_case_a_note_can_be_respelled(home: House, monkeypatch) -> None:
    """Shown by what such a disk does: the old name and the new one reach the same file."""
    monkeypatch.setattr(home.vault, "case_sensitive", False)
    monkeypatch.setattr(home.vault, "_real", type(home.vault._real)(str(home.root), False))
    moved = move(home, "Plan.md", "PLAN")
    assert moved.new_path == "PLAN.md" and "PLAN.md" in os.listdir(home.root)
    assert everything(home.root)["Old Note.md"] in (b"back to [[Plan]]\n", b"back to [[PLAN]]\n")
    assert home.undoer.undo().refused == ()
    assert home.files() == FILES
