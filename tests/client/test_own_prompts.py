"""Prompts of the user's own under a running server: written, changed, broken, mended, renamed and deleted while a
client of each era looks on. What each of them is told, lists and gets must be the same.
"""

import pytest
from live_server import Refused, in_both_eras, live, replace

WRITTEN = """---
description: Looks for what is missing
arguments:
  - name: plan
    description: The plan
    required: true
  - name: folder
---
What is missing in this plan?

{{plan}} / {{folder}} / \\{{plan}}
"""


class Client:
    """Asks in both eras, and waits until both are told that the prompts changed."""

    def __init__(self, server, subscribed):
        self._server = server
        self._subscribed = subscribed
        self._told = 0

    async def told(self):
        self._told += 1
        await self._subscribed.until(("prompts",), times=self._told)
        await self._subscribed.nothing_more()
        self._told = self._subscribed.heard.count(("prompts",))

    async def ask(self, method, params):
        first, other = [await self._server.ask(method, params, modern=modern) for modern in (False, True)]
        for key in ("resultType", "ttlMs", "cacheScope", "_meta"):
            other.pop(key, None)
            first.pop(key, None)
        assert first == other
        return first

    async def own(self):
        listed = (await self.ask("prompts/list", {}))["prompts"]
        built_in = {"summarize_note", "daily_review", "weekly_review", "find_connections", "summarize_topic"}
        assert built_in <= {prompt["name"] for prompt in listed}
        return {prompt["name"]: prompt for prompt in listed if prompt["name"] not in built_in | {"extract_tasks"}}

    async def text(self, name, **arguments):
        return (await self.ask("prompts/get", {"name": name, "arguments": arguments}))["messages"][0]["content"]["text"]

    async def refused(self, name, **arguments):
        said = set()
        for modern in (False, True):
            with pytest.raises(Refused) as caught:
                await self._server.ask("prompts/get", {"name": name, "arguments": arguments}, modern=modern)
            assert caught.value.code == -32602
            said.add(str(caught.value))
        (message,) = said
        return message

    async def completed(self, name, argument, typed):
        ref = {"type": "ref/prompt", "name": name}
        params = {"ref": ref, "argument": {"name": argument, "value": typed}}
        return (await self.ask("completion/complete", params))["completion"]["values"]


@pytest.fixture
def notes(tmp_path):
    for path in ("Prompts/letters", "Projects"):
        (tmp_path / "notes" / path).mkdir(parents=True)
    (tmp_path / "notes/sentinel.md").write_text("watched to the end\n", "utf-8")
    (tmp_path / "notes/Projects/Plan.md").write_text("# Plan\n", "utf-8")
    return tmp_path / "notes"


@pytest.fixture
async def client(notes, tmp_path):
    async with live("--cache-dir", tmp_path / "cache", notes, stderr=tmp_path / "stderr") as server:
        await server.initialize()
        await server.until_indexed()
        async with in_both_eras(server, [], notes / "sentinel.md") as subscribed:
            await subscribed.nothing_more()  # the first index is news too
            made = Client(server, subscribed)
            made._told = subscribed.heard.count(("prompts",))
            yield made


async def test_a_prompt_lives_its_life_while_clients_look_on(client, notes):
    prompts = notes / "Prompts"
    assert await client.own() == {}

    replace(prompts / "缺什么.md", WRITTEN)
    await client.told()
    (prompt,) = (await client.own()).values()
    assert (prompt["name"], prompt["description"]) == ("缺什么", "Looks for what is missing")
    assert [(each["name"], each["required"]) for each in prompt["arguments"]] == [("plan", True), ("folder", False)]
    said = await client.text("缺什么", plan="{{folder}} $1 \\1", folder="Projects")
    assert said.endswith("{{folder}} $1 \\1 / Projects / {{plan}}")
    assert "plan" in await client.refused("缺什么", folder="x")
    assert await client.completed("缺什么", "folder", "proj") == ["Projects"]

    replace(prompts / "缺什么.md", WRITTEN.replace("missing\narg", "too much\narg"))
    await client.told()
    assert (await client.own())["缺什么"]["description"] == "Looks for what is too much"

    replace(prompts / "缺什么.md", WRITTEN.replace("arguments:", "arguments: ["))
    await client.told()
    (prompt,) = (await client.own()).values()
    assert prompt["description"].startswith("Broken, please mend Prompts/缺什么.md: ") and prompt["arguments"] == []
    assert "Prompts/缺什么.md" in await client.refused("缺什么", plan="x")

    replace(prompts / "缺什么.md", WRITTEN)
    await client.told()
    assert (await client.text("缺什么", plan="x")).endswith("x /  / {{plan}}")

    (prompts / "缺什么.md").rename(prompts / "letters/missing.md")
    await client.told()
    assert list(await client.own()) == ["missing"]
    assert "no prompt" in await client.refused("缺什么", plan="x")
    assert (await client.text("missing", plan="x")).startswith("What is missing")

    (prompts / "letters/missing.md").unlink()
    await client.told()
    assert await client.own() == {}


async def test_names_that_are_taken_and_names_of_built_in_prompts(client, notes):
    prompts = notes / "Prompts"
    replace(prompts / "daily_review.md", "My own way: {{date}}")
    replace(prompts / "thanks.md", "short")
    replace(prompts / "letters/thanks.md", "long")
    await client.told()
    assert await client.text("daily_review", date="2026-07-29") == "My own way: 2026-07-29"
    assert sorted(await client.own()) == ["letters/thanks", "thanks"]
    assert (await client.text("thanks"), await client.text("letters/thanks")) == ("short", "long")

    (prompts / "daily_review.md").unlink()
    (prompts / "thanks.md").unlink()
    await client.told()
    assert "Review my day" in await client.text("daily_review")
    assert await client.text("thanks") == "long"
