import shutil
import subprocess
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.errors import ForbiddenError, InvalidRequestError
from notes_mcp.notes.disk import gate
from notes_mcp.notes.disk.gate import Policy, normalise

# -- what a path may look like ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_path", "path"),
    [
        ("a.md", "a.md"),
        ("Projects/Plan.md", "Projects/Plan.md"),
        ("./a.md", "a.md"),
        ("a//b/./c.md", "a/b/c.md"),
        ("a/b/", "a/b"),
        ("", ""),
        (".", ""),
        ("/", ""),
        ("笔记/计划 🎉 “x”.md", "笔记/计划 🎉 “x”.md"),
        ("trailing dot./space .md ", "trailing dot./space .md "),
        ("...", "..."),
        ("a:b.md", "a:b.md"),
        ("con.md", "con.md"),
        ("~/x.md", "~/x.md"),
        ("%2e%2e/x.md", "%2e%2e/x.md"),
    ],
)
def test_a_path_becomes_its_components(given_path: str, path: str) -> None:
    assert normalise(given_path, windows=False) == path


@pytest.mark.parametrize("path", ["..dots.md", "dots..md", "a/..b/c..", "...md", "a../b"])
def test_hazard_055_only_a_whole_segment_of_two_dots_is_traversal(path: str) -> None:
    assert normalise(path) == path


@pytest.mark.parametrize(
    "path", ["..", "../x", "../../x", "a/..", "a/../b", "Allowed/../Private/x.md", "a/./../b", "a//../b", "../"]
)
def test_hazard_046_two_dots_are_refused_even_where_they_would_stay_inside(path: str) -> None:
    with pytest.raises(ForbiddenError):
        normalise(path)


@pytest.mark.parametrize("path", ["..\\x", "Allowed\\..\\Private\\x.md", "a/..\\b", "a\\../b"])
def test_hazard_047_a_backslash_separates_like_a_slash(path: str) -> None:
    assert normalise("a\\b\\c.md") == "a/b/c.md"
    with pytest.raises(ForbiddenError):
        normalise(path)


@pytest.mark.parametrize("path", ["/etc/passwd", "//etc/passwd", "\\\\server\\share", "\\x", "C:\\x", "c:\\x", "/.."])
def test_absolute_paths_are_refused_on_every_platform(path: str) -> None:
    with pytest.raises(ForbiddenError):
        normalise(path, windows=False)


@pytest.mark.parametrize("path", ["a\0.md", "\0", "../\0", "\ud800.md", "a/\udcff"])
def test_nul_and_half_surrogates_mean_nothing(path: str) -> None:
    with pytest.raises(InvalidRequestError):
        normalise(path)


@pytest.mark.parametrize(
    "path",
    [
        "C:/x", "c:x", "C:", "a/b:stream", ".git::$INDEX_ALLOCATION/x", "a.md.", "a.md ", ".obsidian./x", "dir /x",
        "con", "CON.md", "aux.tar.gz", "nul ", "com1.md", "LPT9", "com¹", "conin$", "a<b", "a|b", "a?b", "a*b", 'a"b',
        "a\x01b",
    ],
)  # fmt: skip
def test_names_that_windows_would_read_as_another_are_refused_there_only(path: str) -> None:
    with pytest.raises(ForbiddenError):
        normalise(path, windows=True)
    assert normalise(path, windows=False) == path


@pytest.mark.parametrize("path", ["console.md", "com10.md", "comma", "a.con", "nul-1.md", "x/été.md"])
def test_names_that_only_resemble_windows_devices_are_fine(path: str) -> None:
    assert normalise(path, windows=True) == path


@pytest.mark.parametrize("text", ["C:\\test1\\vault1", "D:\\Main", "\\\\server\\share\\notes"])
def test_hazard_052_and_053_a_windows_folder_is_taken_as_the_user_named_it(text: str) -> None:
    assert gate.fit_root(text, windows=True) == text


def test_hazard_050_a_bare_drive_is_its_top() -> None:
    assert gate.fit_root("C:", windows=True) == "C:\\"
    assert gate.fit_root("C:", windows=False) == "C:"


@settings(deadline=None)
@given(st.text(max_size=60), st.booleans())
def test_whatever_comes_in_what_goes_on_is_relative_and_without_dot_segments(text: str, windows: bool) -> None:
    try:
        path = normalise(text, windows=windows)
    except (ForbiddenError, InvalidRequestError):
        return
    parts = path.split("/") if path else []
    assert not {"", ".", ".."} & set(parts)
    assert "\\" not in path and "\0" not in path
    assert normalise(path, windows=windows) == path


@pytest.mark.parametrize("name", ["a\nb.md", "a\x7f", "\t", "a\r.md"])
def test_a_new_name_holds_no_control_characters(name: str) -> None:
    with pytest.raises(InvalidRequestError):
        gate.check_new_name(name)


# -- what exists ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        ".hidden.md", ".obsidian/x.md", ".git/config", ".trash/a.md", "a/.b/c.md", "node_modules/x.md",
        "a/Node_Modules/x.md", "4913", "a.md~", "a.swp", "a.md.swx", "#a.md#", "~$plan.docx", "x.tmp", "X.TMP",
        ".goutputstream-AB12", ".~lock.a.odt#", ".#a.md", "a.md.tmp.4242.1712345678901", "a.md.3141592653",
        "a.md.sb-1a2b3c4d-AbCdEf", "a.md___jb_tmp___", ".syncthing.a.md.tmp", "a.part", ".DS_Store",
        ".notes-mcp-0011223344556677.tmp", ".notesignore",
        "..a.md.swp", "..x.tmp",
    ],
)  # fmt: skip
def test_hazard_133_hidden_and_temporary_names_do_not_exist(path: str) -> None:
    assert not Policy().visible(path, False)


@pytest.mark.parametrize(
    "path",
    [
        "", "a.md", "..dots.md", "a/...md/b.md", "tmp.md", "swp/a.md", "4913.md", "~draft.md", "a~b.md", "#tag.md",
        "1.2.3.md",
        "notes.2024.md", "node_modules.md", "x.tmp/a.md", "a~/b.md", "4913/a.md", "Version 1.123456", "a.md.1234",
        "笔记.md", "template.tmpl",
    ],
)  # fmt: skip
def test_names_that_only_resemble_them_do(path: str) -> None:
    assert Policy().visible(path, False)


def test_folders_hide_everything_below() -> None:
    policy = Policy(["private/"])
    assert not policy.visible("private", True)
    assert policy.visible("private", False)  # a file of that name is none of it
    assert not policy.visible("private/x.md", False)
    assert not policy.visible("a/private/b/c.md", False)
    assert policy.visible("privately/x.md", False)


def test_hazard_056_an_exception_works_as_in_git_and_never_upside_down() -> None:
    policy = Policy(["private/", "!private/ok.md"])
    assert not policy.visible("private/secret.md", False)
    assert not policy.visible("private/ok.md", False)  # git: not inside an ignored folder
    opened = Policy(["private/*", "!private/ok.md"])
    assert not opened.visible("private/secret.md", False)
    assert opened.visible("private/ok.md", False)
    assert opened.visible("other.md", False)


_PATTERNS = [
    ["private/", "!private/ok.md"], ["private/*", "!private/ok.md"], ["*.log", "!keep.log"], ["/top.md"], ["a/**/z.md"],
    ["**/drafts"], ["drafts/**"], ["sub/x.md"], ["*.md", "!a/"], ["*", "!*/", "!*.md"], ["# comment", "\\#h.md"],
    ["tr ail\\ "], ["x.md   "], ["?.md"], ["[ab].md"], ["[!a].md"], ["foo*bar/"], ["/*", "!/a"], ["a/b"], ["**"],
    ["日记/"], ["!x.md", "x.md"], ["[!a-b].md"], ["[]x].md"], ["[[:alpha:]].md"],
    ["***/x.md"], ["[z-a].md"], ["x[a"], ["*a*b"], ["*a*/x*.m*"], ["*x*?*.*d"],
]  # fmt: skip
_FILES = [
    "private/ok.md", "private/x.md", "b.log", "keep.log", "top.md", "q/top.md", "a/b/c/z.md", "a/z.md", "drafts/x.md",
    "a/drafts/y.md", "sub/x.md", "q/sub/x.md", "x.md", "a/x.md", "b.md", "a.md", "foo1bar/x.md", "日记/今天.md",
    "tr ail ", "#h.md", "a/b/x.md",
]  # fmt: skip


@pytest.mark.parametrize("patterns", _PATTERNS, ids=" ".join)
def test_patterns_mean_what_git_says_they_mean(tmp_path: Path, patterns: list[str]) -> None:
    git = shutil.which("git")
    assert git is not None, "these tests compare with git"
    for name in _FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / ".gitignore").write_text("\n".join(patterns) + "\n", encoding="utf-8")
    subprocess.run([git, "init", "-q", "."], cwd=tmp_path, check=True)
    run = subprocess.run(
        [git, "check-ignore", "-z", "--no-index", "--stdin"],
        cwd=tmp_path,
        input="\0".join(_FILES).encode(),
        capture_output=True,
    )
    ignored = set(run.stdout.decode().split("\0")) - {""}
    policy = Policy(patterns)
    assert {name for name in _FILES if not policy.visible(name, False)} == ignored


def test_a_pattern_with_many_stars_is_quick_on_a_long_name() -> None:
    policy = Policy(["*a" * 30 + "*b", "x/" + "*a" * 30 + "b/*.md"])
    assert policy.visible("a" * 250 + ".md", False)
    assert not policy.visible("a" * 250 + "b", False)
    assert policy.visible(f"x/{'a' * 250}/y.md", False)


def test_a_pattern_that_means_nothing_is_left_out_and_told() -> None:
    policy = Policy(["!", "x.md", "\\"])
    assert policy.rejected == ("!", "\\")
    assert not policy.visible("x.md", False)


def test_patterns_ignore_case_where_the_disk_does() -> None:
    assert Policy(["Private/"]).visible("private/x.md", False)
    assert not Policy(["Private/"], fold_case=True).visible("PRIVATE/x.md", False)


def test_patterns_match_in_every_normal_form() -> None:
    composed, decomposed = unicodedata.normalize("NFC", "Café/"), unicodedata.normalize("NFD", "Café/")
    assert not Policy([composed]).visible(decomposed + "x.md", False)
    assert not Policy([decomposed]).visible(composed + "x.md", False)


@pytest.mark.parametrize(
    "data",
    [
        b"private/\n*.log\n",
        b"private/\r\n*.log\r\n",
        b"\xef\xbb\xbfprivate/\n*.log",
        "private/\r\n*.log\r\n".encode("utf-16"),
        b"private/\r*.log",
    ],
)
def test_an_ignore_file_is_read_whatever_editor_wrote_it(data: bytes) -> None:
    assert [line for line in gate.read_patterns(data) if line] == ["private/", "*.log"]


@pytest.mark.parametrize(
    "name",
    [
        "Plan (conflicted copy).md",
        "Plan (Ann's conflicted copy 2024-05-01).md",
        "Plan (Anns in Konflikt stehende Kopie 2024).md",
        "Plan (copie en conflit de Ann).md",
        "Plan (Ann 的冲突副本 2024-05-01).md",
        "Plan (conflicted copy 2020-01-01 120000).md",
        "a/Plan.sync-conflict-20240101-120000-ABCDEFG.md",
        "Plan (Case Conflict).md",
    ],
)
def test_hazard_142_conflict_copies_are_known_by_their_names(name: str) -> None:
    assert gate.is_conflict_copy(name)


@pytest.mark.parametrize("name", ["Conflict.md", "conflicted copy.md", "(x)/a.md", "Plan (1).md", "sync-conflict.md"])
def test_other_names_are_no_conflict_copies(name: str) -> None:
    assert not gate.is_conflict_copy(name)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a.md", "note"),
        ("a.MD", "note"),
        ("a.markdown", "note"),
        ("a.txt", "note"),
        ("a.org", "note"),
        ("a.rst", "note"),
        ("a.png", "attachment"),
        ("md", "attachment"),
        ("a.mdx", "attachment"),
        ("a.md/b", "attachment"),
    ],
)
def test_the_extension_makes_a_note(path: str, kind: str) -> None:
    assert gate.kind_of(path) == kind


def test_names_look_alike_across_normal_forms_and_kinds_of_space() -> None:
    screenshot = "Screenshot at 9.41\u202fAM é.png"
    assert gate.fold(screenshot, case=False) == gate.fold(
        unicodedata.normalize("NFD", screenshot.replace("\u202f", " ")), case=False
    )
    assert gate.fold("Straße", case=True) == gate.fold("STRASSE", case=True)
    assert gate.fold("A", case=False) != gate.fold("a", case=False)
