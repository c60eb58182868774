"""get_links: one page of links of a kind. What each kind means is `notes.linking`'s word."""

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from notes_mcp.events import Report
from notes_mcp.notes.asking.linking import Linked
from notes_mcp.tools._answer import Progress, clip, fit_page, progress
from notes_mcp.tools._tool import Arguments, Result, tool

if TYPE_CHECKING:
    from notes_mcp.notes.library import Library


class Args(Arguments):
    kind: Literal["backlinks", "outgoing", "broken", "orphans", "mentions"] = Field(description="Which")
    path: str | None = Field(None, description="The note; for broken and orphans also a folder")
    limit: int = Field(50, ge=1, le=200, description="Page size")
    cursor: str | None = Field(None, description="next_cursor")


class LinkRow(Result):
    """`from_` goes out as `from`, which Python keeps for itself."""

    from_: str = Field(serialization_alias="from")
    to: str
    line: int
    text: str
    resolved: bool
    via: str | None = None
    anchor: str | None = None


class Links(Result):
    links: list[LinkRow]
    total: int
    more_than_total: bool | None = None
    index: Progress | None = None
    next_cursor: str | None = None


@tool(title="Get links", read_only=True, idempotent=True)
async def get_links(args: Args, library: "Library", report: Report) -> Links:
    """backlinks lead to it; broken lead nowhere; orphans: no note leads to them; mentions: named without a link."""

    async def ask(limit: int) -> tuple[Links, int]:
        page = await library.links(args.kind, args.path or None, limit=limit, cursor=args.cursor or None)
        found = Links(
            links=[_row(link) for link in page.links],
            total=page.total,
            more_than_total=None if page.complete else True,
            index=progress(page.state),
            next_cursor=page.next_cursor,
        )
        return found, len(page.links)

    return await fit_page(ask, args.limit, library.settings.max_answer_chars)


def _row(link: Linked) -> LinkRow:
    return LinkRow(
        from_=link.source,
        to=clip(link.to, 1_000) if not link.resolved else link.to,
        line=link.line,
        text=clip(link.text),
        resolved=link.resolved,
        via="alias" if link.via_alias else None,
        anchor=clip(link.anchor) or None,
    )
