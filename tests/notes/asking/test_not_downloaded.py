"""Notes that a cloud drive lists and has not fetched: found by their names, and fetched by nobody who did not ask."""

from pathlib import Path

import pytest
from _served import fill, serving

from notes_mcp.notes.disk import listing, reading

AWAY_BYTES = 777


@pytest.fixture
def fetched(monkeypatch) -> list[str]:
    """The files that were opened."""
    opened: list[str] = []
    read_file = reading.read_file
    here = listing.downloaded

    def watched(folder, name: str, path: str, max_bytes: int | None):
        opened.append(path)
        return read_file(folder, name, path, max_bytes)

    monkeypatch.setattr(reading, "read_file", watched)
    for module in (listing, reading):
        monkeypatch.setattr(module, "downloaded", lambda info: info.st_size != AWAY_BYTES and here(info))
    return opened


@pytest.mark.parametrize("query", [("far", "words"), ("x", "exact"), (".", "regex"), ("^", "regex")])
async def test_hazard_139_no_search_fetches_a_note(tmp_path: Path, fetched: list[str], query: tuple[str, str]) -> None:
    root = fill(tmp_path / "notes", {"far.md": "x" * AWAY_BYTES, "near.md": "x near\n"})
    async with serving(tmp_path, root) as (library, _):
        words, mode = query
        page = await library.search(words, mode=mode)
        assert ("far.md" in [hit.note.path for hit in page.hits]) == (mode == "words")
        assert (await library.links("mentions", "far.md")).links == ()
        assert "far.md" not in fetched
        assert len((await library.read("far.md")).data) == AWAY_BYTES  # by its path, as whoever asked wants it
        assert "far.md" in fetched
