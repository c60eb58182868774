"""Where something new would go: how much of the way to it is there already, as the disk spells it. Sync.

Only folders are looked for. One that is there in another letter case or normal form is the one that is
meant, so that no second one is made beside it. What is hidden is not there.
"""

from notes_mcp.errors import AmbiguousError, InvalidRequestError, NotFoundError
from notes_mcp.notes.disk.gate import fold
from notes_mcp.notes.disk.told import told
from notes_mcp.notes.disk.vault import Vault


def reached(vault: Vault, path: str) -> tuple[str, str]:
    """`path` in two: the longest leading part that is a folder, in its real spelling ("" is the top), and the rest.

    Raises AmbiguousError if several folders differ from what was asked in case only, ForbiddenError.
    """
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    there = ""
    for at, part in enumerate(parts):
        found = _child(vault, there, part)
        if found is None:
            return there, "/".join(parts[at:])
        there = found
    return there, ""


def _child(vault: Vault, parent: str, name: str) -> str | None:
    asked = f"{parent}/{name}" if parent else name
    try:
        return vault.locate_folder(asked)
    except (NotFoundError, InvalidRequestError):
        alike = sorted(
            path for path in _folders_in(vault, parent) if fold(_last(path), case=True) == fold(name, case=True)
        )
    if len(alike) > 1:
        raise AmbiguousError(f"{asked!r} could be any of {len(alike)} folders: {', '.join(alike)}.", alike)
    return alike[0] if alike else None


def _folders_in(vault: Vault, parent: str) -> list[str]:
    """The visible folders right below `parent`, empty ones too."""
    here = vault.root.joinpath(*parent.split("/")) if parent else vault.root
    prefix = f"{parent}/" if parent else ""
    with told(parent):
        names = [entry.name for entry in here.iterdir() if entry.is_dir()]
    return [prefix + name for name in names if vault.is_folder(prefix + name)]


def _last(path: str) -> str:
    return path.rpartition("/")[2]
