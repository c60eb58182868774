"""Entries for the index made by hand: what the extractor would say, said by the test."""

import hashlib
from collections.abc import Sequence

from notes_mcp.notes.records import Entry, Facts, FileState, LinkFact


def etag_of(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def link(target: str, kind: str = "wiki", *, line: int = 1, anchor: str = "", text: str = "") -> LinkFact:
    return LinkFact(kind, target, anchor, text, line)  # type: ignore[arg-type]


def note(
    path: str,
    body: str = "",
    *,
    title: str | None = None,
    tags: Sequence[str] = (),
    aliases: Sequence[str] = (),
    headings: Sequence[str] = (),
    links: Sequence[LinkFact | str] = (),
    properties: Sequence[tuple[str, str]] = (),
    modified_ns: int = 1_700_000_000_000_000_000,
    inode: int = 0,
    etag: str | None = None,
) -> Entry:
    name = path.rpartition("/")[2]
    facts = Facts(
        title=name.rpartition(".")[0] if title is None else title,
        aliases=tuple(aliases),
        tags=tuple(tags),
        headings=tuple(headings),
        links=tuple(link(one) if isinstance(one, str) else one for one in links),
        properties=tuple(properties),
        body=body,
        valid_text=True,
    )
    size = len(body.encode("utf-8", "surrogatepass"))
    hashed = etag_of(repr((facts.body, facts.tags, facts.aliases, facts.headings, facts.links, facts.properties)))
    return Entry(FileState(path, "note", size, modified_ns, inode), hashed if etag is None else etag, facts)


def attachment(path: str, *, size: int = 10, modified_ns: int = 1, inode: int = 0, etag: str = "") -> Entry:
    state = FileState(path, "attachment", size, modified_ns, inode)
    return Entry(state, etag or f"{modified_ns:x}-{size:x}", None)
