"""argv and environment -> Settings -> the command. Owns exit codes and what a person reads on stderr.

Imports nothing heavy: `--help`, `--version` and every usage error answer before a room is loaded.
In serve mode the standard streams are claimed before anything else is imported, so that no stray
print of any library can reach the wire. Exit codes: 0 done, 1 environment, 2 usage.
"""

import argparse
import dataclasses
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from notes_mcp import __version__
from notes_mcp.faults import EnvironmentFault, UsageError

if TYPE_CHECKING:
    from notes_mcp.settings import Settings

COMMANDS = ("serve", "check", "install", "uninstall")
USAGE = {
    "serve": "notes-mcp [serve|check] [options] FOLDER...\n       notes-mcp install|uninstall CLIENT [options]",
    "check": "notes-mcp check [options] FOLDER...",
    "install": "notes-mcp install CLIENT [options] FOLDER...",
    "uninstall": "notes-mcp uninstall CLIENT [options]",
}
LOG_LEVELS = ("debug", "info", "warning", "error", "critical")
OLDEST_PYTHON = (3, 11)

SUMMARY = "An MCP server over stdio for a local folder of notes."
EPILOG = """commands:
  serve   serve over stdio (the default; what goes into a client's mcpServers)
  check   what to run first: serves the folder to itself as a client would, and prints a report
  install, uninstall   puts the server into a client's own config, or takes it out: shows the change and asks;
          CLIENT is claude-desktop, claude-code, cursor, vscode, windsurf, zed, codex or gemini-cli

examples:
  notes-mcp check ~/Notes
  notes-mcp ~/Notes
  notes-mcp --read-only ~/Notes ~/Work
  notes-mcp install claude-desktop ~/Notes

A folder that is called like a command: write ./check. Every option can also be set in the
environment, e.g. NOTES_MCP_READ_ONLY=1, NOTES_MCP_IGNORE (one pattern a line)."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message, " ".join(sys.argv[1:]) or "no arguments", f"see `{self.prog} --help`")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code (0, 1 environment, 2 usage)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        _require_python(sys.version_info[:2])
        if argv is None:
            _require_utf8()
        command, settings, options = parse(arguments, os.environ)
        if command == "check":
            return _check(settings, as_json=options.json)
        if command in ("install", "uninstall"):
            return _install(command, settings, options)
        _serve(settings)
    except UsageError as fault:
        kind = "usage" if fault.exit_code == 2 else "environment"
        verb = arguments[0] if arguments and arguments[0] in ("install", "uninstall") else "start"
        sys.stderr.write(
            f"notes-mcp: cannot {verb} ({kind} error, exit code {fault.exit_code})\n"
            f"  problem: {fault.problem}\n  seen:    {fault.seen}\n  fix:     {fault.fix}\n"
        )
        return fault.exit_code


def _check(settings: "Settings", *, as_json: bool) -> int:
    from notes_mcp.check import check

    try:
        return check(settings, as_json=as_json)
    except BrokenPipeError:
        # Whoever read the report has seen enough; Python's own last flush must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _install(command: str, settings: "Settings", options: argparse.Namespace) -> int:
    from notes_mcp.install.command import run

    return run(command, settings, options)


def _require_python(version: tuple[int, ...]) -> None:
    if version < OLDEST_PYTHON:
        raise EnvironmentFault(
            "this Python is too old",
            f"Python {'.'.join(map(str, version))} at {sys.executable}",
            "install Python 3.11 or newer and point the client's `command` at it",
        )


def _require_utf8() -> None:
    """Notes have UTF-8 names whatever the locale. Where Python thinks otherwise, it is started anew in its UTF-8 mode.

    Needed only with a locale that Python neither knows as UTF-8 nor mends by itself (PEP 538, PEP 540).
    """
    if os.name == "posix" and sys.executable and sys.getfilesystemencoding().lower() != "utf-8":
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


def _serve(settings: "Settings") -> NoReturn:
    from notes_mcp.wire.signals import leave_on_signals

    leave_on_signals()
    from notes_mcp.wire.stdio import claim

    if sys.stdin is not None and sys.stdin.isatty():
        sys.stderr.write(
            "notes-mcp speaks JSON-RPC on this terminal now; it is meant to be started by an MCP client.\n"
            "To try it, end it with Ctrl-D and run: notes-mcp check FOLDER\n"
        )
    claimed = claim()
    from notes_mcp.app import run

    run(settings, claimed)


def parse(arguments: Sequence[str], environ: Mapping[str, str]) -> tuple[str, "Settings", argparse.Namespace]:
    """argv (without the program's name) and the environment -> (command, Settings, raw options).

    The command line wins over the environment. Raises UsageError or EnvironmentFault; exits 0 on
    `--help` and `--version`.
    """
    arguments = list(arguments)
    command = arguments.pop(0) if arguments and arguments[0] in COMMANDS else "serve"
    options = _parser(command).parse_intermixed_args(arguments)
    from notes_mcp.settings import Settings

    if command in ("install", "uninstall"):
        from notes_mcp.install.options import take_client

        take_client(options, command)
    if command == "uninstall":
        return command, Settings(folders=()), options
    on_the_line = options.tools is not None
    _add_environment(options, environ)
    folders = tuple(_folder(text) for text in options.folders)
    if not folders:
        raise UsageError("no folder was named", "no FOLDER argument", "name the folder of notes: notes-mcp ~/Notes")
    tools = options.tools or "all"
    _require_tools(tools, f"--tools {tools}" if on_the_line else f"NOTES_MCP_TOOLS={tools}")
    settings = Settings(
        folders=tuple(dict.fromkeys(folders)),
        read_only=bool(options.read_only),
        tools=tools,
        ignore=tuple(options.ignore or ()),
        log_level=options.log_level or "warning",
        cache_dir=Path(options.cache_dir).expanduser().absolute() if options.cache_dir else None,
    )
    if options.max_note_bytes:
        settings = dataclasses.replace(settings, max_note_bytes=options.max_note_bytes)
    return command, settings, options


def _require_tools(chosen: str, seen: str) -> None:
    """The names are the file names of `tools/`: known without importing one of them."""
    import pkgutil

    if chosen in ("all", "core"):
        return
    rooms = [str(Path(__file__).with_name("tools"))]
    known = sorted(module.name for module in pkgutil.iter_modules(rooms) if not module.name.startswith("_"))
    unknown = [name for name in chosen.split(",") if name.strip() not in known]
    if unknown:
        raise UsageError(
            f"no such tool: {', '.join(unknown)}",
            seen,
            f"choose all, core, or some of: {', '.join(known)}",
        )


def _parser(command: str) -> _Parser:
    parser = _Parser(
        prog="notes-mcp",
        usage=USAGE[command],
        description=SUMMARY,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"notes-mcp {__version__}")
    if command in ("install", "uninstall"):
        from notes_mcp.install.options import add_options

        add_options(parser, command)
    else:
        parser.add_argument("folders", metavar="FOLDER", nargs="*", help="a folder of notes; several may be named")
    if command != "uninstall":
        _add_serve_options(parser)
    if command in ("serve", "check"):
        parser.add_argument(
            "--json",
            action="store_true",
            help="check: print the report as JSON" if command == "check" else argparse.SUPPRESS,
        )
    return parser


def _add_serve_options(parser: _Parser) -> None:
    parser.add_argument("--read-only", action="store_true", default=None, help="offer reading tools only")
    parser.add_argument("--tools", metavar="SET", help="all (default), core, or tool names joined by commas")
    parser.add_argument("--ignore", metavar="GLOB", action="append", help="hide what matches (gitignore syntax)")
    parser.add_argument(
        "--log-level", metavar="LEVEL", type=_log_level, help="what goes to stderr: " + ", ".join(LOG_LEVELS)
    )
    parser.add_argument(
        "--max-note-bytes",
        metavar="N",
        type=_size,
        help="larger notes are listed, not read: bytes, or 512k, 10m (the default)",
    )
    parser.add_argument("--cache-dir", metavar="DIR", help="where index, journal and lock live")


def _add_environment(options: argparse.Namespace, environ: Mapping[str, str]) -> None:
    readers: dict[str, Any] = {
        "read_only": _flag,
        "tools": str,
        "ignore": str.splitlines,
        "log_level": _log_level,
        "max_note_bytes": _size,
        "cache_dir": str,
    }
    for name, read in readers.items():
        variable = f"NOTES_MCP_{name.upper()}"
        text = environ.get(variable)
        if text is None or getattr(options, name) is not None:
            continue
        try:
            setattr(options, name, read(text))
        except argparse.ArgumentTypeError as error:
            raise UsageError(str(error), f"{variable}={text}", f"correct or unset {variable}") from None


def _flag(text: str) -> bool:
    word = text.strip().lower()
    if word in ("1", "true", "yes", "on"):
        return True
    if word in ("", "0", "false", "no", "off"):
        return False
    raise argparse.ArgumentTypeError(f"not yes or no: {text}")


def _log_level(text: str) -> str:
    if text.lower() not in LOG_LEVELS:
        raise argparse.ArgumentTypeError(f"log level must be one of {', '.join(LOG_LEVELS)}, not {text}")
    return text.lower()


def _size(text: str) -> int:
    units = {"k": 1024, "m": 1024**2, "g": 1024**3}
    number, scale = (text[:-1], units[text[-1].lower()]) if text and text[-1].lower() in units else (text, 1)
    if not (number.isascii() and number.isdigit() and int(number) > 0):
        raise argparse.ArgumentTypeError(f"a size must be a positive number of bytes (or 512k, 10m), not {text}")
    return int(number) * scale


def whole_drive(text: str, system: str) -> str:
    """`text`, but "C:" as "C:\\" on Windows ("nt"): alone it is the drive's current folder, which nobody means."""
    return text + "\\" if system == "nt" and len(text) == 2 and text[1] == ":" else text


def _folder(text: str) -> Path:
    """An existing, readable folder, made absolute; `~` is expanded since clients start us without a shell."""
    if not text.strip():
        raise UsageError(
            "a FOLDER is empty",
            f"{text!r}",
            "name the folder of notes; perhaps a variable in the client's config is unset",
        )
    path = Path(whole_drive(text, os.name)).expanduser()
    try:
        path = path.resolve(strict=True)
        if not path.is_dir():
            raise UsageError("not a folder", str(path), "name the folder that holds the notes, not a file in it")
        os.scandir(path).close()
    except FileNotFoundError:
        raise UsageError("the folder does not exist", str(path.absolute()), _nearest_folder(path)) from None
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise EnvironmentFault(
            f"the folder cannot be read: {reason}", text, "give this user the right to list it, or name another folder"
        ) from None
    return path


def _nearest_folder(path: Path) -> str:
    import difflib

    parent = next((ancestor for ancestor in path.absolute().parents if ancestor.is_dir()), Path("/"))
    try:
        names = [entry.name for entry in os.scandir(parent) if entry.is_dir() and not entry.name.startswith(".")]
    except OSError:
        names = []
    close = difflib.get_close_matches(path.absolute().relative_to(parent).parts[0], names, n=1)
    if close:
        return f"did you mean {parent / close[0]}? Correct the path here or in the client's config"
    return "create the folder, or correct the path here or in the client's config; for commands see `notes-mcp --help`"
