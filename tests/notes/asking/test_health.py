"""What the overview tells of folders that are not well: every kind with its path and a way out, counted and bounded."""

import sys
from pathlib import Path

import anyio
import pytest
from _served import DEADLINE_S, fill, serving
from disk_rights import without_root_rights

from notes_mcp.notes.answers import IndexState
from notes_mcp.notes.asking.health import EXAMPLES, KINDS, Health
from notes_mcp.notes.index import flaws as flaws_module
from notes_mcp.notes.library import Library
from notes_mcp.notes.records import Problem

SICK: dict[str, str | bytes] = {
    "Home.md": "# Home\n[[Nope]] [[Plan]] [x](gone/Plan.md) ![[pic.png]]\n[[#Home]] [[Alias]] <https://x.y>\n",
    "Plan.md": "---\ntags: [a\n---\nx\n",
    "Open.md": "---\naliases: Alias\n\ntext\n",
    "Aka.md": "---\naliases: Alias\n---\n",
    "gbk.md": "中文笔记".encode("gbk"),
    "note.md": "a",
    "Note.md": "b",
    "a (conflicted copy).md": "x",
    ".far.md.icloud": b"bplist",
    "private/x.md": "x",
    "skip.log.md": "x",
    "skip.log.txt": "x",
    ".notesignore": "private/\n*.log.*\n!\n",
    ".obsidian/daily-notes.json": '{"folder": ',
    ".obsidian/templates.json": '{"folder": 7}',
    "Prompts/bad.md": "---\na: [\n---\nhi {{x}}\n",
    "Prompts/typo.md": "---\narguments: [code]\n---\n{{cod}}\n",
    "Templates/M.md": "---\ndate: {{date}}\n---\n[[{{title}}]]",
    "big.md": "x" * 2000,
}
FOUND = {
    ("broken_settings", ".obsidian/daily-notes.json"),
    ("broken_settings", ".obsidian/templates.json"),
    ("ignore_pattern", "!"),
    ("broken_prompt", "Prompts/bad.md"),
    ("prompt_argument", "Prompts/typo.md"),
    ("conflict_copy", "a (conflicted copy).md"),
    ("not_text", "gbk.md"),
    ("broken_properties", "Open.md"),
    ("broken_properties", "Plan.md"),
    ("too_large", "big.md"),
    ("not_downloaded", "far.md"),
    ("case_twins", "note.md"),
    ("broken_link", "Home.md"),
    ("ignored", "*.log.*"),
    ("ignored", "private/"),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return fill(tmp_path / "notes", SICK)


async def told(library: Library) -> set[tuple[str, str]]:
    await library.watch([])  # from then on it is known how changes are noticed
    return {(problem.kind, problem.path) for problem in (await library.info()).problems} - {("polling", "")}


async def until_told(library: Library, expected: set[tuple[str, str]]) -> None:
    with anyio.fail_after(DEADLINE_S):
        while await told(library) != expected:
            pass


async def test_every_problem_is_told_with_its_path_and_what_to_do_also_after_a_warm_start(
    root: Path, tmp_path: Path
) -> None:
    for _ in range(2):
        async with serving(tmp_path, root, max_note_bytes=1000) as (library, _):
            assert await told(library) == FOUND
            info = await library.info()
            assert all(len(problem.advice) > 20 for problem in info.problems)
            assert {problem.kind for problem in info.problems} <= set(KINDS)
            assert [KINDS.index(problem.kind) for problem in info.problems] == sorted(
                KINDS.index(problem.kind) for problem in info.problems
            )
            assert info.problem_counts["broken_link"] == 3
            assert info.problem_counts["prompt_argument"] == 2
            said = {problem.path: problem.advice for problem in info.problems if problem.kind == "ignored"}
            assert "2 files;" in said["*.log.*"] and "1 folder and what is in it;" in said["private/"]


async def test_what_is_mended_is_told_no_more_and_what_is_new_at_once(root: Path, tmp_path: Path) -> None:
    async with serving(tmp_path, root, max_note_bytes=1000) as (library, _):
        assert await told(library) == FOUND
        (root / "a (conflicted copy).md").unlink()
        (root / ".notesignore").unlink()
        fill(root, {"gbk.md": "中文笔记", "Plan.md": "x", ".obsidian/daily-notes.json": "{}", "Nope.md": "here"})
        fill(root, {"Prompts/bad.md": "hi {{x}}\n", "New.md": "---\n- list\n---\n"})
        gone = {"conflict_copy", "ignored", "ignore_pattern", "not_text", "broken_prompt"}
        left = {
            each for each in FOUND if each[0] not in gone and each[1] not in ("Plan.md", ".obsidian/daily-notes.json")
        }
        await until_told(library, {*left, ("broken_properties", "New.md")})
        assert (await library.info()).problem_counts["broken_link"] == 2


async def test_many_of_one_kind_are_counted_and_hide_no_other(tmp_path: Path) -> None:
    notes: dict[str, str | bytes] = {f"{number:03}.md": "---\na: [\n---\n[[Nowhere]]\n" for number in range(50)}
    root = fill(tmp_path / "notes", {**notes, "zzz.md": b"\xff"})
    async with serving(tmp_path, root) as (library, _):
        info = await library.info()
        assert info.problem_counts == {"not_text": 1, "broken_properties": 50, "broken_link": 50}
        kinds = [problem.kind for problem in info.problems]
        assert {kind: kinds.count(kind) for kind in kinds} == {
            "not_text": 1,
            "broken_properties": EXAMPLES,
            "broken_link": EXAMPLES,
        }


async def test_more_lost_links_than_are_looked_at_are_said_to_be_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flaws_module, "MAX_RESOLVED", 3)
    root = fill(tmp_path / "notes", {"a.md": "[[x/a]] " * 10})
    async with serving(tmp_path, root) as (library, _):
        info = await library.info()
        assert info.problem_counts["broken_link"] == 3
        assert "more than are counted" in info.problems[0].advice


async def test_a_folder_that_is_well_has_nothing_to_tell(tmp_path: Path) -> None:
    root = fill(
        tmp_path / "notes", {"a.md": "[[b]]", "b.md": "---\ntags: [x]\n---\n", ".obsidian/daily-notes.json": "{}"}
    )
    async with serving(tmp_path, root) as (library, _):
        assert await told(library) == set()
        assert set((await library.info()).problem_counts) <= {"polling"}


async def test_of_several_folders_each_problem_names_its_own(tmp_path: Path) -> None:
    roots = [fill(tmp_path / name, {"a.md": b"\xff", ".notesignore": "x\n", "x": ""}) for name in ("Work", "Home")]
    blocked = fill(tmp_path, {"blocked": "a file"}) / "blocked"
    async with serving(tmp_path, *roots, cache_dir=blocked / "c") as (library, _):
        found = await told(library)
        assert found >= {(kind, f"{name}/{path}") for name in ("Work", "Home")
                         for kind, path in (("not_text", "a.md"), ("ignored", "x"))}  # fmt: skip
        unusable = {path for kind, path in found if kind == "directory_unusable"}
        assert unusable and all(path.startswith(str(blocked)) for path in unusable)


@pytest.mark.skipif(sys.platform == "win32", reason="rights are those of POSIX")
async def test_a_folder_that_nobody_may_write_is_told_unless_it_is_only_read(tmp_path: Path) -> None:
    root = fill(tmp_path / "notes", {"a.md": "a"})
    for read_only in (False, True):
        async with serving(tmp_path, root, read_only=read_only) as (library, _):
            (folder,) = library._shelf
            state = await library.state()
            root.chmod(0o555)
            try:
                with without_root_rights():  # which are those of this thread
                    problems, _counts = Health(library._shelf, library.settings).look({folder: "events"}, state)
            finally:
                root.chmod(0o755)
            assert ("not_writable" in {problem.kind for problem in problems}) is (not read_only)


async def test_how_changes_are_noticed_and_an_index_that_grows_are_told(tmp_path: Path) -> None:
    root = fill(tmp_path / "notes", {"a.md": "a"})
    async with serving(tmp_path, root) as (library, _):
        health = Health(library._shelf, library.settings)
        (folder,) = library._shelf
        growing = IndexState(1_200, 3_400, False)
        assert health.look({folder: "polling"}, growing)[1] == {"polling": 1, "index_incomplete": 1}
        problems, _counts = health.look({folder: "off"}, IndexState(3, None, False))
        assert [problem.kind for problem in problems] == ["not_watched", "index_incomplete"]
        assert "1,200 of 3,400" in health.look({folder: "events"}, growing)[0][0].advice


async def test_a_folder_that_cannot_be_walked_any_more_is_told_and_the_rest_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = fill(tmp_path / "notes", {"a.md": b"\xff"})
    async with serving(tmp_path, root) as (library, _):
        root.rename(tmp_path / "away")
        info = await library.info()
        (tmp_path / "away").rename(root)
        kinds = {problem.kind for problem in info.problems}
        assert {"unreadable_folder", "not_text"} <= kinds


async def test_a_prompt_is_read_again_only_once_it_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = fill(tmp_path / "notes", {"Prompts/a.md": "---\narguments: 7\n---\n"})
    async with serving(tmp_path, root) as (library, _):
        (folder,) = library._shelf
        health = Health(library._shelf, library.settings)
        state = await library.state()
        expected = [Problem("broken_prompt", "Prompts/a.md", "")]
        first, _counts = health.look({folder: "events"}, state)
        assert [(p.kind, p.path) for p in first] == [(p.kind, p.path) for p in expected]
        monkeypatch.setattr(folder.vault, "read", lambda path: pytest.fail(f"{path} is read again"))
        assert health.look({folder: "events"}, state)[0] == first
