"""Resources, prompts and completion over a real library: the sample notes on disk, indexed and watched."""

import asyncio
import errno
import shutil
import unicodedata
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import anyio
import pytest

from notes_mcp.errors import ResourceForbidden, ResourceNotFound
from notes_mcp.events import PromptsChanged, ResourcesChanged, ResourceUpdated
from notes_mcp.features.completion import Completion
from notes_mcp.features.prompts import Prompts
from notes_mcp.features.resources import Resources
from notes_mcp.notes.disk import files
from notes_mcp.notes.library import Library
from notes_mcp.settings import Settings

SAMPLES = Path(__file__).parents[2] / "sample_notes"
DEADLINE_S = 30


def no_report(done, total, message):
    pass


@asynccontextmanager
async def opened(folders, tmp_path):
    """The three features over these folders, fully indexed; `heard` holds what they announce."""
    settings = Settings(folders=tuple(folders), cache_dir=tmp_path / "cache", index_wait_ms=DEADLINE_S * 1000)
    library = Library(settings)
    heard: asyncio.Queue[object] = asyncio.Queue()
    resources = Resources(library, settings, heard.put_nowait)
    prompts = Prompts(library)
    completion = Completion(library, prompts)
    methods = {**resources.methods, **prompts.methods, **completion.methods}

    async def ask(method, **params):
        return await methods[method](params, no_report)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(library.run)
        tasks.start_soon(resources.run)
        assert (await library.settle()).complete
        try:
            yield SimpleNamespace(ask=ask, heard=heard, accept=resources.accept)
        finally:
            await library.close()
            tasks.cancel_scope.cancel()


@pytest.fixture
def root(tmp_path):
    return Path(shutil.copytree(SAMPLES, tmp_path / "notes"))


async def until(heard, *wanted):
    """What is announced until all of `wanted` were."""
    seen = []
    async with asyncio.timeout(DEADLINE_S):
        while not set(wanted) <= set(seen):
            seen.append(await heard.get())
    return seen


async def test_every_sample_note_is_listed_and_reads_back_as_it_is_on_disk(root, tmp_path):
    async with opened([root], tmp_path) as served:
        entries = (await served.ask("resources/list"))["resources"]
        assert len(entries) == len([path for path in root.rglob("*") if path.suffix in (".md", ".txt", ".org")])
        for entry in entries:
            (content,) = (await served.ask("resources/read", uri=entry["uri"]))["contents"]
            (path,) = [path for path in root.rglob("*") if path.name == entry["name"] and path.stat().st_size]
            assert content["text"] == path.read_bytes().decode("utf-8-sig")
            assert content["mimeType"] == entry["mimeType"]


async def test_hazard_058_a_decomposed_name_is_read_by_its_composed_uri(root, tmp_path):
    name = unicodedata.normalize("NFC", "Crème caramel.md")
    async with opened([root], tmp_path) as served:
        result = await served.ask("resources/read", uri=f"notes:///Recipes/{name}")
    assert result["contents"][0]["uri"] == f"notes:///Recipes/{name}"
    assert "Madame Perrin" in result["contents"][0]["text"]


async def test_the_picture_and_the_absolute_uri_are_read(root, tmp_path):
    uri = (root / "attachments" / "tide-clock.png").as_uri()
    async with opened([root], tmp_path) as served:
        (content,) = (await served.ask("resources/read", uri=uri))["contents"]
    assert content["uri"] == uri
    assert content["blob"].startswith("iVBORw0KGgo")


@pytest.mark.parametrize("uri", ["notes:///.gitattributes", "notes:///../x.md", "notes:///Projects/%2e%2e/%2e%2e/x.md"])
async def test_what_the_gate_refuses_is_not_read(root, tmp_path, uri):
    (tmp_path / "x.md").write_text("secret", newline="\n")
    async with opened([root], tmp_path) as served:
        with pytest.raises(ResourceNotFound) as caught:
            await served.ask("resources/read", uri=uri)
    assert caught.value.data == {"uri": uri}
    assert "secret" not in caught.value.message


async def test_what_is_hidden_is_not_found_in_the_same_words_whether_it_is_there_or_not(root, tmp_path):
    (root / ".notesignore").write_text("private/\n/secret.md\n", newline="\n")
    (root / "private").mkdir()
    for hidden in ("private/p.md", "secret.md", ".hidden.md", "draft.md~"):
        (root / hidden).write_text("secret", newline="\n")
    (root / "link.md").symlink_to("secret.md")
    (root / "broken.md").symlink_to("secreter.md")
    there = [
        "private",
        "private/p.md",
        "secret.md",
        ".hidden.md",
        ".notesignore",
        "draft.md~",
        "link.md",
        "..",
        "../x.md",
    ]
    gone = [
        "none",
        "private/q.md",
        "gone.md",
        ".gone.md",
        ".git/config",
        "gone.md~",
        "broken.md",
        "../y.md",
        "/etc/passwd",
    ]
    async with opened([root], tmp_path) as served:
        for path in there + gone:
            for uri in (f"notes:///{path}", f"file://{root}/{path}", f"file://notes/{path}"):
                with pytest.raises(ResourceNotFound) as caught:
                    await served.ask("resources/read", uri=uri)
                assert caught.value.message == f"There is no {uri}; resources/list names what there is."
                assert caught.value.data == {"uri": uri}


async def test_a_link_that_leads_outside_is_forbidden_and_does_not_tell_where_to_or_whether_that_is_there(
    root, tmp_path
):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/x.md").write_text("secret", newline="\n")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "x.md").symlink_to(tmp_path / "outside/x.md")
    (root / "y.md").symlink_to(tmp_path / "outside/y.md")
    async with opened([root], tmp_path) as served:
        messages = set()
        for path in ("out/x.md", "out/y.md", "x.md", "y.md", "out"):
            with pytest.raises(ResourceForbidden) as caught:
                await served.ask("resources/read", uri=f"notes:///{path}")
            assert "outside/" not in caught.value.message
            messages.add(caught.value.message.replace(f'"{path}"', "it"))
        assert len(messages) == 1


async def test_a_note_that_the_system_lets_nobody_read_is_forbidden(root, tmp_path, monkeypatch):
    (root / "locked.md").write_text("secret", newline="\n")
    opening = files.Folder.open

    def denied(folder, name, *rest):  # file modes mean nothing to root
        if name == "locked.md":
            raise PermissionError(errno.EACCES, "Permission denied", name)
        return opening(folder, name, *rest)

    monkeypatch.setattr(files.Folder, "open", denied)
    async with opened([root], tmp_path) as served:
        with pytest.raises(ResourceForbidden):
            await served.ask("resources/read", uri="notes:///locked.md")


async def test_hazard_043_a_link_out_of_the_folder_is_not_read_by_any_uri(root, tmp_path):
    outside = tmp_path / "outside.md"
    outside.write_text("secret", newline="\n")
    (root / "link.md").symlink_to(outside)
    async with opened([root], tmp_path) as served:
        for uri in ("notes:///link.md", (root / "link.md").as_uri(), outside.as_uri()):
            with pytest.raises(ResourceNotFound if uri == outside.as_uri() else ResourceForbidden):
                await served.ask("resources/read", uri=uri)


async def test_a_note_that_is_deleted_is_announced_and_gone_even_if_another_has_its_name(root, tmp_path):
    (root / "Plan.md").write_text("a second plan", newline="\n")
    async with opened([root], tmp_path) as served:
        assert await served.accept(["file://notes/Plan.md"]) == {"file://notes/Plan.md": "notes:///Plan.md"}
        (root / "Plan.md").unlink()
        await until(served.heard, ResourceUpdated("notes:///Plan.md"), ResourcesChanged())
        with pytest.raises(ResourceNotFound):
            await served.ask("resources/read", uri="notes:///Plan.md")


async def test_hazard_143_a_save_is_announced_and_the_next_read_is_new(root, tmp_path):
    uri = "notes:///Projects/%E8%AE%A1%E5%88%92.md"
    async with opened([root], tmp_path) as served:
        await served.accept([uri])
        (root / "Projects" / "计划.md").write_text("改了\n", newline="\n", encoding="utf-8")
        await until(served.heard, ResourceUpdated(uri))
        assert (await served.ask("resources/read", uri=uri))["contents"][0]["text"] == "改了\n"


async def test_a_prompt_that_is_added_and_edited_is_announced_and_listed(root, tmp_path):
    note = root / "Prompts" / "haiku.md"
    async with opened([root], tmp_path) as served:
        await served.accept([])
        for description in ("first", "second"):
            note.write_text(f"---\ndescription: {description}\n---\nWrite.", newline="\n")
            async with asyncio.timeout(DEADLINE_S):
                while description not in [p["description"] for p in (await served.ask("prompts/list"))["prompts"]]:
                    await until(served.heard, PromptsChanged())


async def test_every_prompt_is_made_from_the_sample_notes(root, tmp_path):
    given = {
        "summarize_note": {"path": "Projects/Plan"},
        "find_connections": {"path": "潮汐钟"},
        "summarize_topic": {"topic": "冰箱"},
        "extract_tasks": {"folder": "Projects"},
        "daily_review": {"date": "2026-07-15"},
        "weekly_review": {"week": "2026-W30"},
        "code_review": {"code": "x = 1"},
        "letter_to_a_neighbour": {"points": "the scooter"},
        "周报": {"记录": "修好了搜索", "读者": "组长"},
    }
    async with opened([root], tmp_path) as served:
        names = [prompt["name"] for prompt in (await served.ask("prompts/list"))["prompts"]]
        assert sorted(names) == sorted(given)
        for name in names[:]:
            result = await served.ask("prompts/get", name=name, arguments=given[name])
            assert result["messages"][0]["content"]["text"]
            embedded = [message["content"]["resource"]["uri"] for message in result["messages"][1:]]
            assert bool(embedded) == (name not in ("code_review", "letter_to_a_neighbour", "周报"))


@pytest.mark.parametrize(
    ("ref", "name", "typed", "expected"),
    [
        ({"type": "ref/resource", "uri": "notes:///{+path}"}, "path", "计划", "Projects/计划.md"),
        ({"type": "ref/resource", "uri": "notes:///{+path}"}, "path", "tide wiring", "Projects/Tide Clock wiring.md"),
        ({"type": "ref/prompt", "name": "summarize_topic"}, "topic", "读书/", "读书/社会"),
        ({"type": "ref/prompt", "name": "extract_tasks"}, "folder", "prj", "Projects"),
        ({"type": "ref/prompt", "name": "daily_review"}, "date", "2026-07-2", "2026-07-22"),
    ],
)
async def test_what_is_typed_finds_the_sample_it_means(root, tmp_path, ref, name, typed, expected):
    async with opened([root], tmp_path) as served:
        result = await served.ask("completion/complete", ref=ref, argument={"name": name, "value": typed})
    assert expected in result["completion"]["values"]


async def test_two_folders_are_served_under_their_names_each_with_its_prompts(root, tmp_path):
    work = tmp_path / "Work"
    (work / "Prompts").mkdir(parents=True)
    (work / "Prompts" / "standup.md").write_text("What now?", newline="\n")
    async with opened([root, work], tmp_path) as served:
        names = [prompt["name"] for prompt in (await served.ask("prompts/list"))["prompts"]]
        assert {"standup", "code_review"} <= set(names)
        result = await served.ask("resources/read", uri="notes:///Work/Prompts/standup.md")
        assert result["contents"][0]["text"] == "What now?"
        result = await served.ask("resources/read", uri=(work / "Prompts" / "standup.md").as_uri())
        assert result["contents"][0]["text"] == "What now?"
