"""Starting: what is wrong is said in one block on stderr, and help costs nothing."""

import json
import os
import subprocess
import sys

import pytest
from processes import COMMAND, DEADLINE, ROOT, environment, ping

HEAVY = {
    "anyio",
    "asyncio",
    "apsw",
    "pydantic",
    "watchfiles",
    "rapidfuzz",
    "yaml",
    "pyromark",
    "filelock",
    "platformdirs",
}


def run(home, *arguments, env=None, command=COMMAND, stdin=b""):
    return subprocess.run(
        [*command, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        env=environment(home) if env is None else env,
        cwd=ROOT,
        timeout=DEADLINE,
    )


def block(done, code):
    """The three facts of the one block on stderr."""
    lines = done.stderr.decode().splitlines()
    assert (done.returncode, done.stdout) == (code, b""), done
    assert len(lines) == 4, lines
    assert f"exit code {code}" in lines[0]
    facts = [line.strip().split(": ", 1) for line in lines[1:]]
    assert [name.rstrip(": ") for name, _ in facts] == ["problem", "seen", "fix"]
    return [fact.strip() for _, fact in facts]


class TestUsageErrors:
    @pytest.mark.parametrize(
        ("arguments", "problem", "seen"),
        [
            ([], "no folder was named", "no FOLDER argument"),
            (["--nonsense", "x"], "unrecognized arguments", "--nonsense"),
            (["--log-level", "loud", "."], "log level", "loud"),
            (["--max-note-bytes", "-1", "."], "max-note-bytes", "-1"),
            (["--tools", "fly", "."], "no such tool: fly", "--tools fly"),
            (["--tools"], "--tools", "--tools"),
            (["./nowhere/at/all"], "does not exist", "nowhere/at/all"),
            (["README.md"], "not a folder", "README.md"),
            (["check"], "no folder was named", "no FOLDER argument"),
        ],
    )
    def test_hazard_017_a_wrong_command_line_is_one_block_and_exit_code_2(self, home, arguments, problem, seen):
        said = block(run(home, *arguments), 2)
        assert problem in said[0]
        assert seen in said[1]
        assert len(said[2]) > 10

    def test_hazard_017_a_misspelt_folder_names_the_nearest_one(self, home, folder):
        _, seen, fix = block(run(home, folder.parent / "Note"), 2)
        assert seen == str(folder.parent / "Note")
        assert str(folder) in fix

    def test_hazard_017_a_wrong_variable_is_named(self, home, folder):
        done = run(home, folder, env=environment(home, NOTES_MCP_READ_ONLY="maybe"))
        _, seen, fix = block(done, 2)
        assert seen == "NOTES_MCP_READ_ONLY=maybe"
        assert "NOTES_MCP_READ_ONLY" in fix

    def test_a_file_name_that_is_not_utf_8_does_not_break_the_block(self, home):
        done = run(home, env=environment(home), command=[*COMMAND, os.fsdecode(b"/nowhere/\xff")])
        assert "does not exist" in block(done, 2)[0]


class TestEnvironmentErrors:
    def test_hazard_017_a_folder_that_may_not_be_read_is_one_block_and_exit_code_1(self, home, folder):
        loop = folder / "loop"
        loop.symlink_to(loop)
        problem, seen, fix = block(run(home, loop), 1)
        assert "cannot be read" in problem
        assert seen == str(loop)
        assert fix

    @pytest.mark.skipif(sys.platform == "win32", reason="no permission bits")
    def test_hazard_017_a_folder_without_permission_is_one_block_and_exit_code_1(self, home, folder):
        if os.geteuid() == 0:
            command = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all", *COMMAND]
            if subprocess.run(["which", "setpriv"], capture_output=True).returncode:
                pytest.skip("root may read everything")
        else:
            command = COMMAND
        folder.chmod(0)
        try:
            problem, seen, _ = block(run(home, folder, command=command), 1)
        finally:
            folder.chmod(0o755)
        assert "cannot be read: Permission denied" in problem
        assert seen == str(folder)


class TestHelp:
    @pytest.mark.parametrize("option", ["--help", "-h", "--version"])
    def test_help_and_version_go_to_stdout_with_code_0(self, home, option):
        done = run(home, option)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.startswith(b"usage: notes-mcp" if option != "--version" else b"notes-mcp ")

    @pytest.mark.parametrize(
        "arguments", [["--help"], ["--version"], ["check", "--help"], ["/nowhere"], ["--nonsense"]]
    )
    def test_nothing_heavy_is_loaded_for_them(self, home, arguments):
        code = f"""
            import json, sys
            from notes_mcp.cli import main
            try:
                main({arguments!r})
            except SystemExit:
                pass
            sys.stderr.write("\\n" + json.dumps(sorted(sys.modules)))
        """
        done = run(home, command=[sys.executable, "-c", "\n".join(line[12:] for line in code.splitlines())])
        loaded = json.loads(done.stderr.decode().splitlines()[-1])
        ours = {name for name in loaded if name.startswith("notes_mcp.")}
        assert ours <= {"notes_mcp.cli", "notes_mcp.faults", "notes_mcp.settings"}
        assert not HEAVY & set(loaded)

    def test_the_handshake_is_answered_before_the_notes_are_loaded(self, home, folder, injected):
        """The last room that is loaded waits here until the answer to ping has been written."""
        env = injected(
            """
            import sys, time

            class Slow:
                def find_spec(self, name, path=None, target=None):
                    if name.startswith("notes_mcp.notes.library"):
                        sys.stderr.write("loading the notes\\n")
                        sys.stdin.readline()
                        time.sleep(60)

            sys.meta_path.insert(0, Slow())
            """
        )
        process = subprocess.Popen(
            [*COMMAND, str(folder)], stdin=-1, stdout=-1, stderr=subprocess.PIPE, env=env, cwd=ROOT
        )
        with process:
            assert process.stderr.readline() == b"loading the notes\n"
            process.stdin.write(ping(1))
            process.stdin.flush()
            assert process.stdout.readline() == b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
            process.terminate()
            assert process.wait(DEADLINE) == 0


class TestTheCommands:
    def test_the_module_and_the_function_serve_alike(self, home, folder):
        script = [sys.executable, "-c", "import sys; from notes_mcp.cli import main; sys.exit(main())"]
        for command in (COMMAND, script):
            for words in ([folder], ["serve", folder], ["--read-only", "serve", folder][1:]):
                done = run(home, *words, command=command, stdin=ping("é"))
                assert (done.returncode, done.stdout) == (0, '{"jsonrpc":"2.0","id":"é","result":{}}\n'.encode())
