"""The six built-in prompts: what each asks for, and which notes it embeds.

Each `compose` gathers notes into a Draft (`_gather`); `_embed` bounds it and says what is left out.
Raises NoteError for notes or folders that are not there, InvalidParams for a date that is none.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from notes_mcp.features import _dates
from notes_mcp.features._embed import MOST_NOTES, Draft
from notes_mcp.features._gather import (
    Scene,
    add_days,
    add_notes,
    is_template,
    newest,
    note_of,
    read_or_remark,
    say_incomplete,
)
from notes_mcp.features._spec import Argument, Spec

_LANGUAGE = "Answer in the language that most of these notes are written in."


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A prompt and how it is made."""

    spec: Spec
    compose: Callable[[Scene, Mapping[str, str]], Awaitable[Draft]]


async def summarize_note(scene: Scene, values: Mapping[str, str]) -> Draft:
    """One note, whole or as much as fits."""
    note = await note_of(scene, values["path"])
    return Draft(
        f"Summary of {note.path}",
        f"Summarize the note {note.path}. Say in one sentence what it is about, then give its main points and any "
        f"decisions, open tasks and dates. Say nothing that is not in it, and where only a part is shown, read the "
        f"rest first. {_LANGUAGE}",
        [note],
    )


async def daily_review(scene: Scene, values: Mapping[str, str]) -> Draft:
    """The daily note of a day, and every note changed on that day."""
    day = _dates.day(values.get("date"), scene.today)
    draft = Draft(
        f"Review of {day.isoformat()}",
        f"Review my day, {day:%A} {day.isoformat()}, from the notes of that day. Tell me what I did and decided, "
        f"which tasks are still open, and what deserves a next step tomorrow. {_LANGUAGE}",
    )
    await add_days(scene, draft, day, day)
    return draft


async def weekly_review(scene: Scene, values: Mapping[str, str]) -> Draft:
    """The daily notes of a week, and every note changed in it."""
    first, last = _dates.week(values.get("week"), scene.today)
    name = _dates.iso_week(first)
    draft = Draft(
        f"Review of week {name}",
        f"Review my week {name}, {first.isoformat()} to {last.isoformat()}, from the notes of those days. Give the "
        f"threads that ran through it, what was finished, what is still open, and three things for next week. "
        f"{_LANGUAGE}",
    )
    await add_days(scene, draft, first, last)
    return draft


async def find_connections(scene: Scene, values: Mapping[str, str]) -> Draft:
    """A note, and those that mention it, that it links to, that share a tag or its words."""
    from notes_mcp.features._related import related

    note = await note_of(scene, values["path"])
    found, state = await related(scene.library, note)
    reasons = "\n".join(f"- {path}: {', '.join(why)}" for path, why in found)
    draft = Draft(
        f"Connections of {note.path}",
        f"Which other notes belong with {note.path}, and why? Look at the candidates below: name the connections that "
        f"hold, quote what joins them, suggest wikilinks to add and where (those “linked from it” are there "
        f"already), and say which candidates are only chance. {_LANGUAGE}\n\n"
        + (f"Candidates:\n{reasons}" if found else "No candidates were found."),
        [note],
    )
    await add_notes(scene, draft, (path for path, _ in found))
    say_incomplete(draft, state)
    return draft


async def summarize_topic(scene: Scene, values: Mapping[str, str]) -> Draft:
    """The notes that a search for the topic finds, best first; `#tag` takes the tag."""
    topic = values["topic"].strip()
    query = f"tag:{topic[1:]}" if topic.startswith("#") and len(topic.split()) == 1 else topic
    page = await scene.library.search(query, limit=MOST_NOTES // 2)
    draft = Draft(
        f"What the notes say about {topic[:80]}",
        f"Summarize what my notes say about {topic}. Order it by what matters, name the note behind each statement, "
        f"point out where notes disagree, and end with what is still missing. {_LANGUAGE}",
    )
    if page.relaxed:
        draft.remarks.append("No note has all the words; these have some of them.")
    if page.total > len(page.hits):
        draft.remarks.append(
            f"{page.total} notes match; the best {len(page.hits)} are here. search_notes has the rest."
        )
    if not page.hits:
        near = f" The nearest words are {', '.join(page.did_you_mean)}." if page.did_you_mean else ""
        draft.remarks.append(f"No note matches.{near}")
    await add_notes(scene, draft, (hit.note.path for hit in page.hits))
    say_incomplete(draft, page.state)
    return draft


async def extract_tasks(scene: Scene, values: Mapping[str, str]) -> Draft:
    """Every open task of a folder with its place, and the notes that hold them."""
    folder = values.get("folder", "").strip().strip("/") or None
    notes, total, state = await newest(scene, folder)
    where = f"in {folder}" if folder else "in my notes"
    draft = Draft(f"Open tasks {where}", "")
    tasks: list[str] = []
    for done, note in enumerate(notes, 1):
        document = await read_or_remark(scene, draft, note.path)
        scan = None if document is None or is_template(document.path) else document.scan
        found = [task for task in scan.tasks if not task.done and task.text.strip()] if scan else []
        if document is not None and found:
            draft.documents.append(document)
            tasks += [f"- {document.path}:{task.line} {' '.join(task.text.split())[:200]}" for task in found]
        scene.report(done, len(notes), f"read {done} of {len(notes)} notes")
    shown = _fitting(tasks, scene.room // 3)
    draft.text = (
        f"Collect the open tasks {where}. Group them by project, put what is due or blocks others first, keep each "
        f"task's note and line, and mark those that look done or out of date. {_LANGUAGE}\n\n"
        + (f"Open tasks, as path:line:\n{chr(10).join(shown)}" if shown else "There is no open task in these notes.")
    )
    if len(shown) < len(tasks):
        draft.remarks.append(f"{len(tasks) - len(shown)} more tasks did not fit into the list.")
    if total > len(notes):
        draft.remarks.append(
            f"Only the {len(notes)} newest of {total} notes were looked at; name a folder to see others."
        )
    say_incomplete(draft, state)
    return draft


def _fitting(lines: list[str], room: int) -> list[str]:
    for count, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return lines[:count]
    return lines


_PATH = "Note path, such as Projects/Plan.md; the extension may be left out"

BUILT_IN: Mapping[str, BuiltIn] = {
    prompt.spec.name: prompt
    for prompt in (
        BuiltIn(
            Spec(
                "summarize_note",
                "Summarize a note",
                "Summarizes one note: its point, decisions, open tasks and dates",
                (Argument("path", _PATH, True, "paths"),),
            ),
            summarize_note,
        ),
        BuiltIn(
            Spec(
                "daily_review",
                "Review a day",
                "Looks back on one day, from its daily note and the notes last changed that day",
                (Argument("date", "Day as YYYY-MM-DD, or yesterday; today if left out", False, "dates"),),
            ),
            daily_review,
        ),
        BuiltIn(
            Spec(
                "weekly_review",
                "Review a week",
                "Looks back on one week, from its daily notes and the notes last changed in it",
                (
                    Argument(
                        "week",
                        "ISO week such as 2026-W31, any date in it, or last week; this week if left out",
                        False,
                        "weeks",
                    ),
                ),
            ),
            weekly_review,
        ),
        BuiltIn(
            Spec(
                "find_connections",
                "Find connections",
                "Finds the notes that belong with a note, and proposes links between them",
                (Argument("path", _PATH, True, "paths"),),
            ),
            find_connections,
        ),
        BuiltIn(
            Spec(
                "summarize_topic",
                "Summarize a topic",
                "Brings together what the notes say about a topic or a #tag",
                (Argument("topic", 'Words that a note should have, all of them, a "phrase", or a #tag', True, "tags"),),
            ),
            summarize_topic,
        ),
        BuiltIn(
            Spec(
                "extract_tasks",
                "Collect open tasks",
                "Collects the unticked tasks - [ ] of all notes or of one folder, templates left out",
                (
                    Argument(
                        "folder",
                        "Folder such as Projects, with those below it; all notes if left out",
                        False,
                        "folders",
                    ),
                ),
            ),
            extract_tasks,
        ),
    )
}
