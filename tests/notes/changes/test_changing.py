from pathlib import Path

import pytest
from _served import fill, serving
from vault_cases import tree

from notes_mcp.errors import AmbiguousError, InvalidRequestError, NotFoundError, ReadOnlyError, StorageError
from notes_mcp.notes.answers import Document
from notes_mcp.notes.changes.steps import Step
from notes_mcp.notes.changes.transaction import Transactions

NOTES = {"a.md": "[[b]] #old\n", "b.md": "back to [[a]]\n", "Team/c.md": "[[a|first]] #old/x\n"}


def louder(document: Document) -> tuple[bytes, int]:
    return document.data.replace(b"#old", b"#new"), document.data.count(b"#old")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    return fill(tmp_path / "notes", NOTES)


def bytes_of(notes: dict[str, str]) -> dict[str, bytes]:
    return {path: text.encode() for path, text in notes.items()}


async def test_a_move_tells_what_it_did_and_is_undone_and_redone(root: Path, tmp_path: Path) -> None:
    async with serving(tmp_path, root) as (library, heard):
        shown = await library.move("a", "Neu/", dry_run=True, tool="move_note")
        assert tree(root) == bytes_of(NOTES) and shown.change_id is None
        moved = await library.move("a", "Neu/Erste", tool="move_note")
        assert (moved.path, moved.new_path) == ("a.md", "Neu/Erste.md")
        assert dict(moved.links_updated) == {"b.md": 1, "Team/c.md": 1}
        assert moved.diff.startswith("rename from a.md\nrename to Neu/Erste.md\n--- a/")
        assert tree(root)["b.md"] == b"back to [[Erste]]\n"
        await heard.until(lambda seen: any(change.path == "Neu/Erste.md" for change in seen))
        undone = await library.undo()
        assert (undone.undoes, undone.tool, undone.refused) == (moved.change_id, "move_note", ())
        assert set(undone.restored) == {"a.md", "b.md", "Team/c.md"} and tree(root) == bytes_of(NOTES)
        redone = await library.undo(undone.change_id)
        assert redone.undoes == undone.change_id and tree(root)["Neu/Erste.md"]
        info = await library.info()
        assert [change.tool for change in info.recent_changes] == ["undo_change", "undo_change", "move_note"]


async def test_a_folder_moves_by_its_path_and_a_name_of_both_kinds_is_asked_back(root: Path, tmp_path: Path) -> None:
    async with serving(tmp_path, root) as (library, _):
        assert (await library.move("Team", "Crew", tool="move_note")).new_path == "Crew"
        (root / "Crew.md").write_bytes(b"a note")
        with pytest.raises(AmbiguousError) as caught:
            await library.move("Crew", "x", tool="move_note")
        assert caught.value.candidates == ("Crew/", "Crew.md")
        assert (await library.move("Crew/", "Team", tool="move_note")).new_path == "Team"
        assert (await library.move("Crew.md", "x", tool="move_note")).new_path == "x.md"
        with pytest.raises(InvalidRequestError):
            await library.move(".", "x", tool="move_note")
        with pytest.raises(NotFoundError):
            await library.move("nothing here", "x", tool="move_note")


async def test_a_note_moves_within_its_own_folder_only(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    async with serving(tmp_path, root, other) as (library, _):
        with pytest.raises(InvalidRequestError, match="within one"):
            await library.move("notes/a.md", "other/a.md", tool="move_note")
        moved = await library.move("notes/a.md", "notes/z", tool="move_note")
        assert (moved.new_path, dict(moved.links_updated)) == ("notes/z.md", {"notes/b.md": 1, "notes/Team/c.md": 1})


async def test_a_change_over_many_notes_is_one_change(root: Path, tmp_path: Path) -> None:
    async with serving(tmp_path, root) as (library, _):
        done = await library.change_many(louder, tags=["old"], tool="update_tags")
        assert done.changed == (("Team/c.md", 1), ("a.md", 1)) and "+[[b]] #new" in done.diff
        assert (await library.undo(done.change_id)).restored == ("a.md", "Team/c.md")
        assert tree(root) == bytes_of(NOTES)
        only = await library.change_many(louder, paths=["a"], dry_run=True, tool="update_tags")
        assert only.changed == (("a.md", 1),) and only.change_id is None
        with pytest.raises(NotFoundError):
            await library.change_many(louder, paths=["a", "nothing here"], tool="update_tags")


async def test_a_change_over_several_folders_has_one_id_and_is_undone_by_it(root: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = fill(tmp_path / "other", {"o.md": "#old"})
    async with serving(tmp_path, root, other) as (library, _):
        done = await library.change_many(louder, tags=["old"], tool="update_tags")
        assert dict(done.changed) == {"notes/a.md": 1, "notes/Team/c.md": 1, "other/o.md": 1}
        undone = await library.undo(done.change_id)
        assert undone.undoes == done.change_id and len(undone.restored) == 3
        assert tree(root) == bytes_of(NOTES) and tree(other) == {"o.md": b"#old"}
        assert len((await library.undo(undone.change_id)).restored) == 3


async def test_what_fails_in_the_second_folder_is_taken_back_in_the_first(
    root: Path, tmp_path: Path, monkeypatch
) -> None:
    (tmp_path / "other").mkdir()
    other = fill(tmp_path / "other", {"o.md": "#old"})
    real = Transactions.apply

    def apply(self: Transactions, tool: str, steps: list[Step], **how: object) -> str | None:
        if steps[0].image.path == "o.md":
            raise StorageError("full")
        return real(self, tool, steps, **how)

    async with serving(tmp_path, root, other) as (library, _):
        monkeypatch.setattr(Transactions, "apply", apply)
        with pytest.raises(StorageError):
            await library.change_many(louder, tags=["old"], tool="update_tags")
        assert tree(root) == bytes_of(NOTES) and tree(other) == {"o.md": b"#old"}


async def test_the_last_change_of_all_folders_is_the_one_that_is_undone(root: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = fill(tmp_path / "other", {"o.md": "o"})
    async with serving(tmp_path, root, other) as (library, _):
        with pytest.raises(NotFoundError):
            await library.undo()
        await library.edit("other/o.md", lambda document: b"edited", tool="edit_note")
        await library.delete("notes/b.md", tool="delete_note")
        assert (await library.undo()).restored == ("notes/b.md",)
        with pytest.raises(NotFoundError):
            await library.undo("0" * 15)


async def test_hazard_154_a_deleted_note_is_out_of_the_backlinks_and_comes_back_with_them(
    root: Path, tmp_path: Path
) -> None:
    async with serving(tmp_path, root) as (library, _):
        gone = await library.delete("a.md", tool="delete_note")
        assert gone.trashed_to == ".trash/a.md" and set(gone.backlinks_left) == {"b.md", "Team/c.md"}
        assert (await library.search("back")).total == 1
        with pytest.raises(NotFoundError):
            await library.read("a.md")
        assert (await library.delete("b.md", dry_run=True, tool="delete_note")).backlinks_left == ()
        undone = await library.undo(gone.change_id)
        assert undone.restored == ("a.md",) and tree(root) == bytes_of(NOTES)
        assert set((await library.delete("a.md", dry_run=True, tool="delete_note")).backlinks_left) == {
            "b.md", "Team/c.md",
        }  # fmt: skip


async def test_a_server_that_only_reads_neither_moves_nor_undoes(root: Path, tmp_path: Path) -> None:
    async with serving(tmp_path, root, read_only=True) as (library, _):
        for work in (
            library.move("a", "z", tool="move_note"),
            library.change_many(louder, tool="update_tags"),
            library.undo(),
        ):
            with pytest.raises(ReadOnlyError):
                await work
    assert tree(root) == bytes_of(NOTES)
