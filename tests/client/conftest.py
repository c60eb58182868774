"""Processes that a whole module shares: one behind the official client for each of its modes, one for raw lines.

Every line of theirs is judged by `wire_oracle`, at the latest when they end.
"""

import pytest
import pytest_asyncio

pytest.register_assert_rewrite("live_server", "official", "wire_oracle")

from client_cases import notes_folder  # noqa: E402
from live_server import in_both_eras, live, subscriber  # noqa: E402
from official import MODES, connected  # noqa: E402
from wire_oracle import judge  # noqa: E402

PLACES = 60


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=MODES)
async def connection(request, tmp_path_factory):
    kept = tmp_path_factory.mktemp("kept")
    folder = notes_folder(kept / "notes")
    async with connected(request.param, folder, kept) as connection:
        await connection.until_indexed()
        yield connection
    judge(connection.log.read_bytes().splitlines(keepends=True))


@pytest.fixture
def client(connection):
    return connection.client


@pytest.fixture
def folder(connection):
    return connection.folder


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    watched = tmp_path_factory.mktemp("notes")
    (watched / "sentinel.md").write_text("watched to the end\n", "utf-8")
    for number in range(PLACES):
        (watched / f"{number:02}").mkdir()
        (watched / f"{number:02}" / "a.md").write_text(f"# A\n\nas it was in {number}\n", "utf-8")
    return watched


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(watched, tmp_path_factory):
    kept = tmp_path_factory.mktemp("kept")
    async with live("--cache-dir", kept / "cache", watched, stderr=kept / "stderr") as server:
        await server.initialize()
        await server.until_indexed()
        async with subscriber(server, "modern", [], watched / "sentinel.md") as waiting:
            await waiting.nothing_more()  # the first index is news too
        yield server


@pytest.fixture(scope="module")
def places(watched):
    return iter(sorted(path for path in watched.iterdir() if path.is_dir()))


@pytest.fixture
def place(places):
    """A folder with `a.md` in it that no other test uses."""
    return next(places)


@pytest.fixture
def watch(server, watched):
    """A subscriber in each era to these files of the folder, or to these URIs."""

    def watch(*wanted):
        return in_both_eras(server, [each if isinstance(each, str) else uri(each) for each in wanted], sentinel)

    def uri(path):
        return "notes:///" + path.relative_to(watched).as_posix()

    sentinel = watched / "sentinel.md"
    watch.uri = uri
    return watch
