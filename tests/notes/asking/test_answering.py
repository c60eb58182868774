"""Which file a reference means, in every form people and models write; documents; the overview."""

import unicodedata
from datetime import date
from pathlib import Path

import pytest
from _served import fill, serving

from notes_mcp.errors import (
    AmbiguousError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    TooLargeError,
    UnreadableError,
)
from notes_mcp.notes.library import Library

NFD = unicodedata.normalize("NFD", "Crème.md")
NOTES: dict[str, str | bytes] = {
    "Home.md": "---\naliases: [Start]\n---\n# Home\n[[Plan]]\n",
    "Projects/Plan.md": "# The Plan\n",
    "Projects.md": "beside a folder\n",
    "Projects/Twin.md": "one\n",
    "Archive/Twin.md": "two\n",
    "100% sure.md": "percent\n",
    NFD: "decomposed\n",
    "pic.png": b"\x89PNG" * 10,
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return fill(tmp_path / "notes", NOTES)


@pytest.mark.parametrize(
    ("ref", "path"),
    [
        ("Home.md", "Home.md"), ("Home", "Home.md"), ("home", "Home.md"), (" Home.md ", "Home.md"),
        ("[[Home]]", "Home.md"), ("[[Home#Top|x]]", "Home.md"), ("Start", "Home.md"), ("./Home.md", "Home.md"),
        ("Plan", "Projects/Plan.md"), ("projects/plan", "Projects/Plan.md"), ("Projects\\Plan.md", "Projects/Plan.md"),
        ("notes:///Projects/Plan.md", "Projects/Plan.md"), ("file://notes/Projects/Plan.md", "Projects/Plan.md"),
        ("Projects", "Projects.md"), ("Projects/", "Projects.md"), ("100% sure", "100% sure.md"),
        ("100%25 sure.md", "100% sure.md"), ("notes:///100%25%20sure.md", "100% sure.md"),
        ("Crème.md", NFD), ("crème", NFD), ("pic.png", "pic.png"),
    ],
)  # fmt: skip
async def test_a_note_is_found_by_every_form_of_its_name(root: Path, tmp_path: Path, ref: str, path: str) -> None:
    async with serving(tmp_path, root) as (library, _):
        assert await library.resolve(ref) == path
        assert (await library.read(ref)).path == path


async def test_absolute_paths_and_file_uris_inside_are_accepted_and_those_outside_refused(
    root: Path, tmp_path: Path
) -> None:
    async with serving(tmp_path, root) as (library, _):
        for ref in (f"{root}/Projects/Plan.md", f"file://{root}/Projects/Plan.md", f"{root}/Projects/Plan"):
            assert (await library.read(ref)).path == "Projects/Plan.md"
        written = await library.edit(f"{root}/Home.md", lambda document: document.data + b"x", tool="t")
        assert written.path == "Home.md"
        made = await library.create(f"{root}/New.md", "", tool="t")
        assert made.path == "New.md"
        (tmp_path / "secret.md").write_text("secret")
        (root / "link.md").symlink_to(tmp_path / "secret.md")
        outside = (
            "../secret.md", "../../etc/passwd", "/etc/passwd", f"{tmp_path}/secret.md", f"file://{tmp_path}/secret.md",
            f"{root}/../secret.md", "link.md", "Projects/../../secret.md", ".obsidian/app.json",
            "notes:///..%2F..%2Fetc/passwd", "..\\..\\etc\\passwd",
        )  # fmt: skip
        for ref in outside:
            for ask in (library.read, library.resolve):
                with pytest.raises(ForbiddenError):
                    await ask(ref)
            with pytest.raises(ForbiddenError):
                await library.edit(ref, lambda document: b"", tool="t", create=b"")


async def test_what_is_ambiguous_lists_the_candidates(root: Path, tmp_path: Path) -> None:
    async with serving(tmp_path, root) as (library, _):
        with pytest.raises(AmbiguousError) as error:
            await library.read("Twin")
        assert error.value.candidates == ("Archive/Twin.md", "Projects/Twin.md")


async def test_a_near_miss_gets_the_nearest_names(root: Path, tmp_path: Path) -> None:
    fill(root, {"Balcony Garden.md": "", "G.md": ""})
    async with serving(tmp_path, root) as (library, _):
        for ref, near in (
            ("Projets/Plan.md", "Projects/Plan.md"),
            ("projects/plna", "Projects/Plan.md"),
            ("Archive/Plan", "Projects/Plan.md"),
            ("the plan b", "Projects/Plan.md"),
            ("Projects/Home.md", "Home.md"),
            ("Hoem", "Home.md"),
            ("gardn", "Balcony Garden.md"),
        ):
            with pytest.raises(NotFoundError) as error:
                await library.read(ref)
            assert near in error.value.nearest and near in str(error.value)
        with pytest.raises(NotFoundError, match="list_notes"):
            await library.read("zzzzqqqq")


async def test_writes_guess_nothing_beyond_extension_normal_form_and_a_unique_name(root: Path, tmp_path: Path) -> None:
    async with serving(tmp_path, root) as (library, _):
        assert await library.resolve("Plan", for_write=True) == "Projects/Plan.md"
        assert await library.resolve("Crème", for_write=True) == NFD
        for ref in ("Start", "deeper/Plan.md"):
            with pytest.raises(NotFoundError):
                await library.resolve(ref, for_write=True)


async def test_a_uri_is_never_guessed_at(root: Path, tmp_path: Path) -> None:
    async with serving(tmp_path, root) as (library, _):
        for uri in ("notes:///Plan.md", "notes:///Projects/Plan", f"file://{root}/Plan.md"):
            with pytest.raises(NotFoundError):
                await library.read(uri)
        with pytest.raises(InvalidRequestError):
            await library.read("notes:///Projects")
        with pytest.raises(InvalidRequestError):
            await library.read("notes:///%ff.md")


async def test_a_folder_is_not_a_note(root: Path, tmp_path: Path) -> None:
    async with serving(tmp_path, root) as (library, _):
        with pytest.raises(InvalidRequestError, match="folder"):
            await library.read("Archive")


async def test_documents_carry_what_is_on_disk(root: Path, tmp_path: Path) -> None:
    async with serving(tmp_path, root, max_note_bytes=100, max_resource_bytes=50) as (library, _):
        note = await library.read("Home.md", scan=True)
        assert note.data == (root / "Home.md").read_bytes() and note.size == len(note.data)
        assert note.text is not None and note.scan is not None
        assert [heading.text for heading in note.scan.headings] == ["Home"]
        assert (note.kind, note.mime_type, note.uri) == ("note", "text/markdown", "notes:///Home.md")
        assert (await library.read("Home.md")).scan is None
        picture = await library.read("pic.png", scan=True)
        assert (picture.kind, picture.text, picture.scan, picture.mime_type) == ("attachment", None, None, "image/png")
        fill(root, {"pic.png": b"x" * 60, "Home.md": "x" * 60})
        assert (await library.read("Home.md")).size == 60
        with pytest.raises(TooLargeError):
            await library.read("pic.png")


async def test_an_unreadable_note_is_told_from_one_that_is_not_there(root: Path, tmp_path: Path, monkeypatch) -> None:
    async with serving(tmp_path, root) as (library, _):
        (folder,) = library._shelf

        def denied(path: str, max_bytes: int):
            raise UnreadableError("denied")

        monkeypatch.setattr(folder.vault, "read_attachment", denied)
        with pytest.raises(UnreadableError):
            await library.read("Home")


async def test_deleting_says_who_still_links_and_where_it_lies(root: Path, tmp_path: Path) -> None:
    async with serving(tmp_path, root) as (library, heard):
        tried = await library.delete("Plan", dry_run=True, tool="t")
        assert (tried.path, tried.trashed_to, tried.backlinks_left, tried.change_id) == (
            "Projects/Plan.md", ".trash/Projects/Plan.md", ("Home.md",), None,
        )  # fmt: skip
        assert (root / "Projects/Plan.md").exists()
        gone = await library.delete("Plan", tool="t")
        assert (gone.trashed_to, gone.backlinks_left) == (tried.trashed_to, tried.backlinks_left) and gone.change_id
        assert heard.kinds() == [("deleted", "Projects/Plan.md")]
        removed = await library.delete("Archive/Twin.md", permanent=True, tool="t")
        assert removed.trashed_to is None and not (root / "Archive/Twin.md").exists()


async def test_writes_tell_what_they_did(root: Path, tmp_path: Path) -> None:
    async with serving(tmp_path, root) as (library, _):
        made = await library.create("New/笔记.md", "一\n", tool="create_note")
        assert (made.path, made.uri) == ("New/笔记.md", "notes:///New/%E7%AC%94%E8%AE%B0.md")
        assert (made.previous_etag, made.bytes_before, made.bytes_after, made.changed) == (None, 0, 4, True)
        assert "+一" in made.diff
        same = await library.edit("New/笔记.md", lambda document: document.data, tool="t")
        assert (same.changed, same.diff, same.change_id, same.etag) == (False, "", None, made.etag)
        info = await library.info()
        assert [(change.tool, change.paths) for change in info.recent_changes] == [("create_note", ("New/笔记.md",))]


async def test_the_overview_counts_and_names_problems(root: Path, tmp_path: Path) -> None:
    fill(root, {"a (conflicted copy).md": "x"})
    async with serving(tmp_path, root, read_only=True) as (library, _):
        await library.watch([])
        info = await library.info()
        (folder,) = info.folders
        assert (folder.name, folder.notes, folder.attachments, folder.read_only) == ("notes", 8, 1, True)
        assert folder.watching in ("events", "polling")
        assert ("conflict_copy", "a (conflicted copy).md") in {(one.kind, one.path) for one in info.problems}
        assert len(info.recent_notes) == 8


@pytest.fixture
def roots(tmp_path: Path) -> tuple[Path, Path]:
    return (
        fill(tmp_path / "Work", {"Plan.md": "# Plan\n[[Plan]]\n", "sub/Only.md": "only\n", "same.md": "w\n"}),
        fill(tmp_path / "Home", {"Plan.md": "# Plan\n", "Other.md": "[[Plan]]\n", "same.md": "h\n"}),
    )


async def test_several_folders_are_answered_as_one(roots: tuple[Path, Path], tmp_path: Path) -> None:
    async with serving(tmp_path, *roots) as (library, heard):
        assert await library.resolve("Only") == "Work/sub/Only.md"
        assert await library.resolve("work/plan") == "Work/Plan.md"
        assert await library.resolve(f"{roots[1]}/Plan.md") == "Home/Plan.md"
        with pytest.raises(AmbiguousError) as error:
            await library.read("Plan")
        assert set(error.value.candidates) == {"Work/Plan.md", "Home/Plan.md"}
        with pytest.raises(NotFoundError) as missing:
            await library.read("Work/Othr")
        assert all(path.startswith("Work/") for path in missing.value.nearest)
        with pytest.raises(NotFoundError) as missing:
            await library.read("Othr")
        assert "Home/Other.md" in missing.value.nearest
        with pytest.raises(ForbiddenError):
            await library.read("../../etc/passwd")
        with pytest.raises(InvalidRequestError):
            await library.read("Work")
        with pytest.raises(InvalidRequestError, match="Work, Home"):
            await library.create("New.md", "", tool="t")
        made = await library.create("home/New.md", "new\n", tool="t")
        assert (made.path, (roots[1] / "New.md").read_text()) == ("Home/New.md", "new\n")
        gone = await library.delete("Home/Plan.md", tool="t")
        assert (gone.trashed_to, gone.backlinks_left) == ("Home/.trash/Plan.md", ("Home/Other.md",))
        assert heard.kinds() == [("created", "Home/New.md"), ("deleted", "Home/Plan.md")]
        info = await library.info()
        assert [folder.name for folder in info.folders] == ["Work", "Home"]
        assert [change.paths for change in info.recent_changes] == [("Home/Plan.md",), ("Home/New.md",)]


async def test_uris_of_several_folders(roots: tuple[Path, Path], tmp_path: Path) -> None:
    async with serving(tmp_path, *roots) as (library, _):
        inside = f"file://{roots[0]}/Plan.md"
        found = await library.watch(["notes:///Home/Plan.md", inside, "notes:///Nowhere/x.md", "file:///etc/passwd"])
        assert found == {"notes:///Home/Plan.md": "notes:///Home/Plan.md", inside: "notes:///Work/Plan.md"}
        with pytest.raises(NotFoundError):
            await library.read("notes:///Nowhere/x.md")


def daily(library: Library):
    return library.daily_path(date(2026, 11, 30))


async def test_the_daily_note_is_where_obsidian_says(root: Path, tmp_path: Path) -> None:
    async with serving(tmp_path, root) as (library, _):
        assert await daily(library) == "Daily/2026-11-30.md"
        fill(root, {".obsidian/daily-notes.json": '{"folder": "日记", "format": "YYYY/MM-DD"}'})
        assert await daily(library) == "日记/2026/11-30.md"
        for text in ("no json", "[]", '{"folder": 5}'):
            fill(root, {".obsidian/daily-notes.json": text})
            assert (await daily(library)).endswith("2026-11-30.md")


async def test_daily_notes_of_several_folders_are_in_the_one_that_says_so(
    roots: tuple[Path, Path], tmp_path: Path
) -> None:
    async with serving(tmp_path, *roots) as (library, _):
        assert await daily(library) == "Work/Daily/2026-11-30.md"
        fill(roots[1], {".obsidian/daily-notes.json": "{}"})
        assert await daily(library) == "Home/2026-11-30.md"
