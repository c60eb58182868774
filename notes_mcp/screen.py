"""How a person reads `check`'s report: lines that line up in every script, colours and a bar only on a terminal.

`NO_COLOR` (no-color.org) and `TERM=dumb` take the colours, and a dumb terminal the bar. On a terminal lines are
wrapped at its width; elsewhere each finding is one line. Touches stdout and nothing else.
"""

import json
import os
import shutil
import sys
import time
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from notes_mcp.report import Report, Step

_INDENT = 4
_NARROWEST = 40
_BAR = 30
_SHOWN = 5  # of each kind of problem
_GREEN, _RED, _YELLOW, _FAINT, _BOLD = 32, 31, 33, 2, 1
_WATCHING = {"events": "noticed at once", "polling": "looked for again and again", "off": "not noticed just now"}
_TITLES = {
    "unreadable_folder": "folders that cannot be listed",
    "not_writable": "not writable",
    "not_watched": "not watched just now",
    "polling": "changes are looked for, not told",
    "directory_unusable": "directories of our own that cannot be used",
    "index_in_memory": "search index in memory only",
    "index_incomplete": "search index not complete",
    "broken_settings": "settings files that cannot be read",
    "ignore_pattern": "ignore patterns that mean nothing",
    "broken_prompt": "prompts that cannot be used",
    "prompt_argument": "prompts whose arguments do not fit their text",
    "conflict_copy": "copies that a sync tool left after a conflict",
    "not_text": "notes that are not valid text",
    "broken_properties": "front matter that cannot be read",
    "unreadable": "notes that cannot be read",
    "not_understood": "notes that cannot be taken apart",
    "too_large": "notes that are too large",
    "not_downloaded": "notes that are only in the cloud",
    "case_twins": "names that differ in capitals only",
    "lookalike_names": "names that look the same",
    "name_not_utf8": "names that are not UTF-8",
    "backslash_name": "names with a backslash",
    "broken_link": "links to notes that are not there",
    "link_outside": "symbolic links that lead outside",
    "link_broken": "symbolic links that lead nowhere",
    "not_a_file": "neither files nor folders",
    "ignored": "ignored",
}


class Screen:
    """What `check` prints while it goes and at its end; nothing at all if `quiet`."""

    def __init__(self, *, quiet: bool, environ: Mapping[str, str] = os.environ) -> None:
        self._quiet = quiet
        terminal = sys.stdout.isatty() and not quiet
        dumb = environ.get("TERM") == "dumb"
        self._moves = terminal and not dumb
        self._colours = terminal and not dumb and not environ.get("NO_COLOR")
        self._wide = max(_NARROWEST, shutil.get_terminal_size((100, 24)).columns - 1) if terminal else None
        self._plain = not (sys.stdout.encoding or "ascii").lower().startswith("utf")
        self._more = "..." if self._plain else "…"
        self._began: float | None = None

    def title(self, report: Report) -> None:
        """The first lines: which version looks at which folders."""
        self._print(self._colour(f"notes-mcp {report.version}", _BOLD) + " checks " + ", ".join(report.folders) + "\n")

    def progress(self, indexed: int, total: int | None) -> None:
        """Redraws the bar, and how long it may take; off a terminal nothing moves."""
        if not self._moves:
            return
        now = time.monotonic()
        self._began = self._began or now
        if not total:
            text = f"  counting files {self._more}"
        else:
            done = _BAR * min(indexed, total) // total
            text = f"  indexing [{'#' * done}{'.' * (_BAR - done)}] {indexed:,} of {total:,}"
            if indexed and now - self._began > 2:
                left = (now - self._began) / indexed * (total - indexed)
                text += f", about {left:.0f} s left"
        sys.stdout.write("\r\x1b[2K" + _cut(text, (self._wide or 100) - 1))
        sys.stdout.flush()

    def progress_done(self) -> None:
        """Takes the bar away."""
        if self._moves and self._began is not None:
            self._began = None
            sys.stdout.write("\r\x1b[2K")
            sys.stdout.flush()

    def step(self, step: Step) -> None:
        """One line per step, more when there is something to do."""
        self.progress_done()
        good, bad = ("ok", "FAILED") if self._plain else ("✓", "✗")
        mark = self._colour(good, _GREEN) if step.ok else self._colour(bad, _RED)
        took = f"{step.ms:,.0f} ms"
        head = f"  {mark} {_pad(step.name, 9)} {_pad(step.revision, 10)} {took:>10}  "
        self._lines(head, step.detail, 2 + len(good if step.ok else bad) + 1 + 9 + 1 + 10 + 1 + 10 + 2)
        if step.advice:
            self._lines(" " * _INDENT, step.advice, _INDENT, _YELLOW)

    def stopped(self) -> None:
        """After Ctrl-C: nothing was changed, whenever that was."""
        self.progress_done()
        self._print("\nStopped before it was done; nothing was changed.")

    def ending(self, report: Report) -> None:
        """The folders, what is worth a look in them, the entry to paste, and the verdict."""
        if report.served:
            self._folders(report)
        if report.problems:
            self._problems(report)
        if report.stderr:
            self._print("\n" + self._colour("What the server said on stderr:", _BOLD))
            for line in report.stderr.rstrip().splitlines():
                self._print(f"  {line}")
        if report.ok:
            self._print(
                "\n"
                + self._colour("All well.", _GREEN)
                + " `notes-mcp install CLIENT FOLDER` puts it into your client. By hand, where it takes mcpServers:\n"
            )
            self._print(json.dumps(report.mcp_servers, ensure_ascii=False, indent=2))
        else:
            self._print("\n" + self._colour("Not ready yet", _RED) + ": see the lines marked above.")

    def _folders(self, report: Report) -> None:
        rows = [("Folder", "Notes", "Other files", "Changes", "")]
        for path, folder in zip(report.folders, report.served, strict=True):
            rights = "only read" if folder["read_only"] else ""
            changes = _WATCHING.get(folder["watching"], folder["watching"])
            rows.append((path, f"{folder['notes']:,}", f"{folder['attachments']:,}", changes, rights))
        widths = [max(width(row[column]) for row in rows) for column in range(5)]
        self._print("")
        if self._wide is not None and sum(widths) + 2 * len(widths) > self._wide:
            for path, notes, others, changes, rights in rows[1:]:
                said = f"{path}: {notes} notes, {others} other files, changes are {changes}{rights and ', '}{rights}"
                self._lines("  ", said, _INDENT)
        else:
            self._table(rows, widths)
        if not any(folder["notes"] for folder in report.served):
            self._print("\n  There are no notes in it (.md .markdown .txt .org .rst): is this the folder you mean?")

    def _table(self, rows: Sequence[tuple[str, ...]], widths: Sequence[int]) -> None:
        for number, (path, notes, others, changes, rights) in enumerate(rows):
            line = (
                f"  {_pad(path, widths[0])}  {notes:>{widths[1]}}  {others:>{widths[2]}}  {_pad(changes, widths[3])}"
                f"  {rights}"
            ).rstrip()
            self._print(self._colour(line, _FAINT) if not number else line)

    def _problems(self, report: Report) -> None:
        """By kind: its name and number once, then each path with what to do."""
        total = sum(report.problem_counts.values())
        self._print("\n" + self._colour(f"Worth a look ({total:,}):", _BOLD))
        for kind in dict.fromkeys(problem["kind"] for problem in report.problems):
            rows = [problem for problem in report.problems if problem["kind"] == kind]
            count = report.problem_counts.get(kind, len(rows))
            title = _TITLES.get(kind, kind.replace("_", " "))
            self._print(f"\n  {self._colour(title, _YELLOW)} ({count:,})")
            for problem in rows[:_SHOWN]:
                path = problem["path"] or "the folder itself"
                self._lines(" " * _INDENT, f"{path}: {problem.get('advice', '')}".rstrip(": "), _INDENT + 2)
            if count > len(rows[:_SHOWN]):
                self._print(f"    {self._more} and {count - len(rows[:_SHOWN]):,} more")

    def _lines(self, head: str, text: str, indent: int, colour: int | None = None) -> None:
        """`head` and `text`, wrapped on a terminal with the further lines `indent` columns in."""
        room = None if self._wide is None else max(_NARROWEST // 2, self._wide - indent)
        for line in [text] if room is None else wrapped(text, room):
            self._print((head + (line if colour is None else self._colour(line, colour))).rstrip())
            head = " " * indent

    def _colour(self, text: str, code: int) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colours else text

    def _print(self, line: str) -> None:
        if not self._quiet:
            encoding = sys.stdout.encoding or "ascii"
            sys.stdout.write(line.encode(encoding, "replace").decode(encoding) + "\n")
            sys.stdout.flush()


def width(text: str) -> int:
    """Columns of a terminal: wide and fullwidth characters take two, combining and invisible ones none (UAX #11)."""
    if text.isascii() and text.isprintable():
        return len(text)
    return sum(_columns(char) for char in text)


def wrapped(text: str, room: int) -> Iterator[str]:
    """Lines of at most `room` columns: broken at blanks, beside wide characters, and within a word only if it must."""
    line, taken, last = "", 0, 0  # `last`: where the line may end
    for char in text:
        columns = _columns(char)
        if taken + columns > room and line:
            cut = last or len(line)
            yield line[:cut].rstrip()
            line = line[cut:].lstrip()
            taken, last = width(line), 0
        if columns == 2:
            last = len(line)
        line += char
        taken += columns
        if char == " " or columns == 2:
            last = len(line)
    yield line


def _columns(char: str) -> int:
    if char == "\x1b" or unicodedata.category(char) in ("Mn", "Me", "Cf", "Cc"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def _pad(text: str, columns: int) -> str:
    return text + " " * (columns - width(text))


def _cut(text: str, columns: int) -> str:
    return next(wrapped(text, columns))
