"""The command line: every option, every variable, which of them wins, and what is said about the wrong ones."""

import os
from pathlib import Path, PureWindowsPath

import pytest

from notes_mcp import __version__, cli
from notes_mcp.cli import EnvironmentFault, UsageError, main, parse
from notes_mcp.settings import Settings


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "Notes"
    folder.mkdir()
    return folder.resolve()


def settings_of(*arguments, **environ):
    return parse([str(argument) for argument in arguments], environ)[1]


class TestOptions:
    def test_a_folder_alone_is_served_with_the_defaults(self, folder):
        command, settings, _ = parse([str(folder)], {})
        assert (command, settings) == ("serve", Settings(folders=(folder,)))

    @pytest.mark.parametrize(
        ("arguments", "command"),
        [(["serve"], "serve"), (["check"], "check"), ([], "serve")],
    )
    def test_the_command_is_the_first_word_or_serve(self, folder, arguments, command):
        assert parse([*arguments, str(folder)], {})[0] == command

    def test_a_folder_called_like_a_command_can_be_named_by_its_path(self, tmp_path, monkeypatch):
        (tmp_path / "check").mkdir()
        monkeypatch.chdir(tmp_path)
        command, settings, _ = parse(["./check"], {})
        assert (command, settings.folders) == ("serve", ((tmp_path / "check").resolve(),))
        assert parse(["check", "check"], {})[:1] == ("check",)

    @pytest.mark.parametrize(
        ("arguments", "field", "value"),
        [
            (["--read-only"], "read_only", True),
            (["--tools", "core"], "tools", "core"),
            (["--tools=all"], "tools", "all"),
            (["--tools", "read_note,list_notes"], "tools", "read_note,list_notes"),
            (["--ignore", "*.tmp"], "ignore", ("*.tmp",)),
            (["--ignore", "a b/", "--ignore", "!c"], "ignore", ("a b/", "!c")),
            (["--log-level", "debug"], "log_level", "debug"),
            (["--log-level", "ERROR"], "log_level", "error"),
            (["--max-note-bytes", "4096"], "max_note_bytes", 4096),
            (["--max-note-bytes", "512k"], "max_note_bytes", 512 * 1024),
            (["--max-note-bytes", "20M"], "max_note_bytes", 20 * 1024**2),
            (["--max-note-bytes", "1g"], "max_note_bytes", 1024**3),
        ],
    )
    def test_each_option_sets_its_field_before_and_after_the_folder(self, folder, arguments, field, value):
        for line in ([*arguments, folder], [folder, *arguments], ["serve", *arguments, folder]):
            settings = settings_of(*line)
            assert getattr(settings, field) == value
            assert settings.folders == (folder,)

    def test_the_cache_directory_is_made_absolute_and_need_not_exist(self, folder, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        assert settings_of("--cache-dir", "cache", folder).cache_dir == Path.cwd() / "cache"
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("USERPROFILE", str(tmp_path))
        assert settings_of("--cache-dir", "~/cache", folder).cache_dir == tmp_path / "cache"

    def test_options_may_stand_between_folders(self, folder, tmp_path):
        settings = settings_of(folder, "--read-only", tmp_path)
        assert settings.folders == (folder, tmp_path.resolve())
        assert settings.read_only

    def test_the_json_report_is_an_option_of_check(self, folder):
        assert parse(["check", "--json", str(folder)], {})[2].json is True
        assert parse(["check", str(folder)], {})[2].json is False

    def test_options_are_never_guessed_from_their_beginning(self, folder):
        with pytest.raises(UsageError, match="unrecognized"):
            settings_of("--read", folder)


VARIABLES = [
    ("READ_ONLY", "1", "read_only", True),
    ("READ_ONLY", " Yes ", "read_only", True),
    ("READ_ONLY", "on", "read_only", True),
    ("READ_ONLY", "0", "read_only", False),
    ("READ_ONLY", "", "read_only", False),
    ("READ_ONLY", "off", "read_only", False),
    ("TOOLS", "core", "tools", "core"),
    ("IGNORE", "*.tmp\nDrafts/", "ignore", ("*.tmp", "Drafts/")),
    ("LOG_LEVEL", "Info", "log_level", "info"),
    ("MAX_NOTE_BYTES", "1m", "max_note_bytes", 1024**2),
    ("CACHE_DIR", "/somewhere", "cache_dir", Path("/somewhere").absolute()),
]


class TestEnvironment:
    @pytest.mark.parametrize(("name", "text", "field", "value"), VARIABLES)
    def test_each_variable_sets_its_field(self, folder, name, text, field, value):
        assert getattr(settings_of(folder, **{f"NOTES_MCP_{name}": text}), field) == value

    @pytest.mark.parametrize(
        ("arguments", "name", "text", "field", "value"),
        [
            (["--read-only"], "READ_ONLY", "0", "read_only", True),
            (["--tools", "all"], "TOOLS", "core", "tools", "all"),
            (["--ignore", "a"], "IGNORE", "b", "ignore", ("a",)),
            (["--log-level", "error"], "LOG_LEVEL", "debug", "log_level", "error"),
            (["--max-note-bytes", "5"], "MAX_NOTE_BYTES", "6", "max_note_bytes", 5),
            (["--cache-dir", "/a"], "CACHE_DIR", "/b", "cache_dir", Path("/a").absolute()),
        ],
    )
    def test_the_command_line_wins(self, folder, arguments, name, text, field, value):
        assert getattr(settings_of(*arguments, folder, **{f"NOTES_MCP_{name}": text}), field) == value

    def test_every_option_that_sets_something_has_its_variable(self, folder):
        options = vars(parse([str(folder)], {})[2])
        assert {name.lower() for name, *_ in VARIABLES} == options.keys() - {"folders", "json"}

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("READ_ONLY", "maybe"),
            ("LOG_LEVEL", "loud"),
            ("LOG_LEVEL", ""),
            ("MAX_NOTE_BYTES", "many"),
            ("TOOLS", "fly"),
        ],
    )
    def test_a_wrong_variable_is_a_usage_error_that_names_it(self, folder, name, text):
        with pytest.raises(UsageError) as caught:
            settings_of(folder, **{f"NOTES_MCP_{name}": text})
        assert caught.value.exit_code == 2
        assert f"NOTES_MCP_{name}={text}" in caught.value.seen

    def test_other_variables_are_nobody_s_business(self, folder):
        assert settings_of(folder, NOTES_MCP_FOLDERS="/etc", READ_ONLY="1", TOOLS="x") == Settings(folders=(folder,))


class TestBadValues:
    @pytest.mark.parametrize("size", ["0", "-1", "1.5", "", "k", "1kb", "٣", "1e3", "0x10", " "])
    def test_a_size_is_a_positive_whole_number(self, folder, size):
        with pytest.raises(UsageError, match="size"):
            settings_of(f"--max-note-bytes={size}", folder)

    @pytest.mark.parametrize("tools", ["none", "read_note,fly", "read_note,", "_tool", "READ_NOTE", ",", "all,core"])
    def test_a_tool_that_is_not_there_is_named_beside_those_there_are(self, folder, tools):
        with pytest.raises(UsageError, match="no such tool") as caught:
            settings_of("--tools", tools, folder)
        assert "read_note" in caught.value.fix
        assert "_tool" not in caught.value.fix

    @pytest.mark.parametrize("arguments", [[], ["serve"], ["check"], ["--read-only"]])
    def test_no_folder_is_a_usage_error(self, arguments):
        with pytest.raises(UsageError, match="no folder was named"):
            parse(arguments, {})

    def test_a_file_is_no_folder(self, folder):
        (folder / "a.md").write_text("a")
        with pytest.raises(UsageError, match="not a folder") as caught:
            settings_of(folder / "a.md")
        assert caught.value.seen == str(folder / "a.md")

    def test_a_path_with_nul_is_no_folder(self):
        with pytest.raises(UsageError) as caught:
            settings_of("a\0b")
        assert "a\0b" in caught.value.seen


class TestFolders:
    def test_one_folder_named_twice_is_served_once(self, folder, tmp_path):
        (tmp_path / "link").symlink_to(folder)
        assert settings_of(folder, tmp_path / "link", folder / "." / "").folders == (folder,)

    def test_a_tilde_is_the_home_directory(self, folder, monkeypatch):
        monkeypatch.setenv("HOME", str(folder.parent))
        monkeypatch.setenv("USERPROFILE", str(folder.parent))
        assert settings_of("~/Notes").folders == (folder,)

    def test_a_missing_folder_names_the_nearest_beside_it(self, folder):
        with pytest.raises(UsageError, match="does not exist") as caught:
            settings_of(folder.parent / "Nots")
        assert caught.value.seen == str(folder.parent / "Nots")
        assert f"did you mean {folder}?" in caught.value.fix

    def test_a_missing_folder_below_a_misspelt_one_names_the_level_that_is_wrong(self, folder):
        with pytest.raises(UsageError) as caught:
            settings_of(folder.parent / "Nots" / "Work" / "2026")
        assert f"did you mean {folder}?" in caught.value.fix

    def test_a_missing_folder_that_resembles_nothing_says_what_to_do(self, folder):
        with pytest.raises(UsageError) as caught:
            settings_of(folder.parent / "Zzyzx")
        assert "did you mean" not in caught.value.fix
        assert "create the folder" in caught.value.fix

    def test_a_link_in_a_circle_is_a_fault_of_the_environment(self, folder):
        (folder / "circle").symlink_to("circle")
        with pytest.raises(EnvironmentFault) as caught:
            settings_of(folder / "circle")
        assert caught.value.exit_code == 1

    @pytest.mark.parametrize(
        ("text", "meant"),
        [
            ("C:", "C:\\"),
            ("d:", "d:\\"),
            ("C:\\", "C:\\"),
            ("C:Notes", "C:Notes"),
            ("C:\\Notes", "C:\\Notes"),
            ("ab", "ab"),
        ],
    )
    def test_a_bare_drive_is_its_top_on_windows(self, text, meant):
        assert PureWindowsPath(cli.whole_drive(text, "nt")) == PureWindowsPath(meant)

    @pytest.mark.skipif(os.name == "nt", reason="there it is a drive")
    def test_a_bare_drive_is_a_name_elsewhere(self, tmp_path, monkeypatch):
        (tmp_path / "C:").mkdir()
        monkeypatch.chdir(tmp_path)
        assert cli.whole_drive("C:", "posix") == "C:"
        assert settings_of("C:").folders == ((tmp_path / "C:").resolve(),)


class TestMain:
    def test_a_usage_error_is_one_block_on_stderr_and_2(self, capsys):
        assert main(["--nonsense"]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert [line.split(":")[0].strip() for line in err.splitlines()] == ["notes-mcp", "problem", "seen", "fix"]
        assert "--nonsense" in err

    def test_a_fault_of_the_environment_is_one_block_on_stderr_and_1(self, folder, capsys):
        (folder / "circle").symlink_to("circle")
        assert main([str(folder / "circle")]) == 1
        assert capsys.readouterr().err.startswith("notes-mcp: cannot start (environment error, exit code 1)\n")

    def test_an_old_python_is_a_fault_of_the_environment(self):
        with pytest.raises(EnvironmentFault, match="too old") as caught:
            cli._require_python((3, 10))
        assert "3.10" in caught.value.seen
        cli._require_python((3, 11))

    def test_the_version_is_the_package_s(self, capsys):
        with pytest.raises(SystemExit) as caught:
            main(["--version"])
        assert caught.value.code == 0
        assert capsys.readouterr().out == f"notes-mcp {__version__}\n"

    def test_help_names_every_option_and_command(self, capsys):
        with pytest.raises(SystemExit) as caught:
            main(["--help"])
        assert caught.value.code == 0
        shown = capsys.readouterr().out
        for (
            word
        ) in "serve check --read-only --tools --ignore --log-level --max-note-bytes --cache-dir NOTES_MCP_".split():
            assert word in shown
