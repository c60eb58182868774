"""search_notes: full text, tags and properties -> ranked notes with the lines that match."""

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from notes_mcp.events import Report
from notes_mcp.notes.answers import Hit
from notes_mcp.notes.index.query import Query, parse
from notes_mcp.tools._answer import Progress, clip, clip_tags, fit_page, progress
from notes_mcp.tools._dates import iso
from notes_mcp.tools._none import nothing
from notes_mcp.tools._places import folder_in
from notes_mcp.tools._tool import Arguments, Result, tool

if TYPE_CHECKING:
    from notes_mcp.notes.library import Library


class Args(Arguments):
    query: str = Field(description='Words, "phrase", -not, pre*, tag:x, path:x, title:x, [prop:value]')
    folder: str | None = Field(None, description="Below this")
    tags: list[str] = Field([], description="All of these")
    properties: dict[str, Any] = Field({}, description="Has these values")
    modified_after: str | None = Field(None, description="ISO date")
    mode: Literal["words", "exact", "regex"] = Field("words", description="exact: capitals count")
    sort: Literal["relevance", "modified", "path"] = Field("relevance", description="Order")
    limit: int = Field(10, ge=1, le=50, description="Page size")
    cursor: str | None = Field(None, description="next_cursor")


class MatchRow(Result):
    line: int
    heading: str
    text: str


class HitRow(Result):
    path: str
    title: str
    score: float
    modified: str
    tags: list[str]
    matches: list[MatchRow]
    more: int


class Found(Result):
    hits: list[HitRow]
    total: int
    relaxed: bool | None = None
    did_you_mean: list[str] | None = None
    warnings: list[str] | None = None
    index: Progress | None = None
    next_cursor: str | None = None


@tool(title="Search notes", read_only=True, idempotent=True)
async def search_notes(args: Args, library: "Library", report: Report) -> Found:
    """Search in any language: ranked notes, matching lines (more: not shown). relaxed: no note has all words."""
    tags = tuple(tag.strip().lstrip("#") for tag in args.tags)

    folder = await folder_in(library, args.folder)

    async def ask(limit: int) -> tuple[Found, int]:
        page = await library.search(
            args.query,
            folder=folder,
            tags=tuple(tag for tag in tags if tag),
            properties=args.properties or None,
            modified_after=args.modified_after or None,
            mode=args.mode,
            sort=args.sort,
            limit=limit,
            cursor=args.cursor,
        )
        found = Found(
            hits=[_row(hit) for hit in page.hits],
            total=page.total,
            relaxed=page.relaxed or None,
            did_you_mean=list(page.did_you_mean) or None,
            index=progress(page.state),
            next_cursor=page.next_cursor,
        )
        return found, len(page.hits)

    found = await fit_page(ask, args.limit, library.settings.max_answer_chars)
    if found.total:
        return found
    said, near = await _why(args, library, [tag for tag in tags if tag])
    meant = [*(found.did_you_mean or []), *near]
    return found.model_copy(update={"warnings": said or None, "did_you_mean": meant or None})


async def _why(args: Args, library: "Library", tags: list[str]) -> tuple[list[str], list[str]]:
    """Why nothing was found: sentences, and names that may have been meant."""
    query = parse(args.query) if args.mode == "words" else Query()
    asked = [each for each in query.filters if not each.negative]
    in_query = {kind: [each.name for each in asked if each.kind == kind] for kind in ("tag", "path")}
    said, near = await nothing(
        library,
        tags=list(dict.fromkeys((*tags, *in_query["tag"]))),
        properties={**args.properties, **{each.name: each.value or None for each in asked if each.kind == "property"}},
        modified_after=args.modified_after,
        paths=in_query["path"],
        titles=[" ".join(term.tokens) for term in query.terms() if term.column],
    )
    narrowed = [name for name in ("folder", "tags", "properties", "modified_after") if getattr(args, name)]
    if narrowed and not said:
        everywhere = (await library.search(args.query, mode=args.mode, limit=1)).total
        if everywhere:
            said.append(f"Without {', '.join(narrowed)} the query matches {everywhere} in all.")
    return said, near


def _row(hit: Hit) -> HitRow:
    matches = [
        MatchRow(line=match.line, heading=clip(match.heading), text=clip(match.text, 400)) for match in hit.matches
    ]
    return HitRow(
        path=hit.note.path,
        title=clip(hit.note.title),
        score=round(hit.score, 3),
        modified=iso(hit.note.modified_ns),
        tags=clip_tags(hit.note.tags),
        matches=matches,
        more=hit.more,
    )
