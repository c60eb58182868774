"""Where templates are, and what their dates look like: what `.obsidian/templates.json` says, else `Templates/`. Pure.

The file is that of Obsidian's core plugin "Templates"; what it leaves out, or says in a way that cannot be
read, is as without it, and `problem` says so.
"""

from dataclasses import dataclass

from notes_mcp.notes import obsidian

SETTINGS = ".obsidian/templates.json"
DEFAULT_FOLDER = "Templates"
DATE_FORMAT = "YYYY-MM-DD"
TIME_FORMAT = "HH:mm"


@dataclass(frozen=True, slots=True)
class Templates:
    """The folder of templates, and the Moment.js formats of a bare `{{date}}` and `{{time}}`."""

    folder: str = DEFAULT_FOLDER
    date_format: str = DATE_FORMAT
    time_format: str = TIME_FORMAT
    problem: str = ""

    @classmethod
    def read(cls, data: bytes | None) -> "Templates":
        """From the bytes of the settings file; None, or a file that cannot be read, gives the defaults."""
        said, problem = obsidian.texts(data, ("folder", "dateFormat", "timeFormat"))
        return cls(
            said.get("folder", "").strip("/") or DEFAULT_FOLDER,
            said.get("dateFormat") or DATE_FORMAT,
            said.get("timeFormat") or TIME_FORMAT,
            problem and f"{problem}, so that part is as without the file. Correct it in Obsidian's settings",
        )
