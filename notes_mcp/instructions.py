"""What a server says of itself when a client greets it: only what its own tools can do. Pure.

A sentence about a tool that is not offered would send a model looking for it; a server that only reads
says nothing of how to write. Data: `Settings` -> the text for `initialize` and `server/discover`.
"""

from notes_mcp.settings import CORE_TOOLS, Settings

_CHECKED = frozenset(("delete_note", "edit_note", "move_note", "set_properties"))  # those that take if_match
_WRITING = _CHECKED | {"add_thoughts", "create_note", "undo_change", "update_tags"}


def instructions(settings: Settings) -> str:
    """One paragraph: what is here, how paths are written, and how to change notes where that is offered."""
    advice = "Search before you answer from memory" if _offers(settings, {"search_notes"}) else ""
    if _offers(settings, _WRITING) and _offers(settings, {"read_note"}):
        advice += f"{', and read' if advice else 'Read'} a note before you change it"
    said = ["A person's own notes", advice, "Paths are relative to the notes folder"]
    if _offers(settings, _CHECKED):
        givers = "read_note and writes give" if _offers(settings, {"read_note"}) else "Writes give"
        said.append(
            f"{givers} an etag: pass it as if_match to change that note, so that nothing edited meanwhile is lost"
        )
    undo = "undo_change takes a change back" if _offers(settings, {"undo_change"}) else ""
    if _offers(settings, _WRITING - {"add_thoughts"}):
        said.append("Most writing tools take dry_run to show the change first" + (f", and {undo}" if undo else ""))
    if not _offers(settings, _WRITING):
        said.append("They can be read here, not changed")
    return ". ".join(filter(None, said)) + "."


def _offers(settings: Settings, names: frozenset[str] | set[str]) -> bool:
    """Whether tools/list has any of these."""
    left = names - _WRITING if settings.read_only else names
    if settings.tools in ("", "all"):
        return bool(left)
    chosen = CORE_TOOLS if settings.tools == "core" else settings.tools.split(",")
    return not left.isdisjoint(name.strip() for name in chosen)
