"""set_properties: one key at a time, and what comes back."""

from typing import Any

import pytest
from conftest import Caller
from library_fake import FakeLibrary

from notes_mcp.errors import InvalidArguments, InvalidRequestError, NotTextError, StaleError
from notes_mcp.notes.text import etag

NOTE = b"---\n# mine\nversion: 1.10\nok: yes\ntags: [a, 'b']  # two\nday: 2024-01-02\n---\nbody\n"


@pytest.fixture(autouse=True)
def note(library: FakeLibrary) -> None:
    library.files["a.md"] = NOTE


async def told(call: Caller, **arguments: Any) -> dict[str, Any]:
    found: dict[str, Any] = (await call("set_properties", path="a.md", **arguments))["structuredContent"]
    return found


async def test_hazard_080_one_key_is_set_and_all_else_stays(call: Caller, library: FakeLibrary) -> None:
    done = await told(call, set={"status": "new"})
    assert library.files["a.md"] == NOTE.replace(b"---\nbody", b"status: new\n---\nbody")
    assert done["properties"] == {
        "version": "1.10", "ok": "yes", "tags": ["a", "b"], "day": "2024-01-02", "status": "new"
    }  # fmt: skip
    assert (done["previous_etag"], done["etag"]) == (etag(NOTE), etag(library.files["a.md"]))
    assert done["bytes_after"] - done["bytes_before"] == len(b"status: new\n")
    assert done["change_id"]
    assert done["diff"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"set": '{"a": 1}'},
        {"properties": {"a": 1}},
        {"frontmatter": '{"a": 1}'},
        {"metadata": {"a": 1}, "remove": "[]"},
    ],
)
async def test_hazard_022_properties_as_json_text_and_under_other_names(
    call: Caller, library: FakeLibrary, arguments: dict[str, Any]
) -> None:
    assert (await told(call, **arguments))["properties"]["a"] == 1
    assert b"\na: 1\n---\nbody" in library.files["a.md"]


async def test_a_key_is_removed(call: Caller, library: FakeLibrary) -> None:
    done = await told(call, remove='["day"]')
    assert library.files["a.md"] == NOTE.replace(b"day: 2024-01-02\n", b"")
    assert "day" not in done["properties"]


async def test_a_key_that_is_not_there_is_named_and_nothing_is_written(call: Caller, library: FakeLibrary) -> None:
    done = await told(call, remove=["nope"])
    assert library.files["a.md"] == NOTE
    assert "nope" in done["warnings"][0]
    assert "nothing was written" in done["warnings"][1]


async def test_hazard_082_a_note_without_front_matter_gets_one_block(call: Caller, library: FakeLibrary) -> None:
    library.files["a.md"] = b"body\n"
    await told(call, set={"a": [1, "x"]})
    await told(call, set={"b": True})
    assert library.files["a.md"].count(b"---\n") == 2
    assert library.files["a.md"].endswith(b"b: true\n---\nbody\n")


async def test_hazard_068_a_note_with_crlf_keeps_it(call: Caller, library: FakeLibrary) -> None:
    library.files["a.md"] = b"---\r\ntags:\r\n  - a\r\n---\r\nbody\r\n"
    done = await told(call, set={"b": "x"})
    assert library.files["a.md"] == b"---\r\ntags:\r\n  - a\r\nb: x\r\n---\r\nbody\r\n"
    assert done["properties"] == {"tags": ["a"], "b": "x"}


async def test_hazard_083_broken_front_matter_is_not_touched_and_the_body_still_can_be(
    call: Caller, library: FakeLibrary
) -> None:
    library.files["a.md"] = before = b"---\na: 'x\n\tb: [\n---\nbody\n"
    with pytest.raises(InvalidRequestError, match="edit_note"):
        await told(call, set={"c": 1})
    assert library.files["a.md"] == before
    await call("edit_note", path="a.md", old_text="body", text="more")
    assert library.files["a.md"] == before.replace(b"body", b"more")


async def test_hazard_085_tags_are_a_list_without_marks(call: Caller, library: FakeLibrary) -> None:
    await told(call, set={"tags": ["#x", "y"]})
    assert b"tags: [x, y]" in library.files["a.md"]


async def test_dry_run_and_if_match(call: Caller, library: FakeLibrary) -> None:
    done = await told(call, set={"a": 1}, dry_run=True)
    assert library.files["a.md"] == NOTE
    assert done["properties"]["a"] == 1
    assert "change_id" not in done
    with pytest.raises(StaleError):
        await told(call, set={"a": 1}, if_match="0" * 16)
    assert library.files["a.md"] == NOTE


@pytest.mark.parametrize("arguments", [{}, {"set": {}}, {"set": {}, "remove": []}, {"set": {"a": 1}, "remove": ["a"]}])
async def test_nothing_to_do_or_both_is_an_error(call: Caller, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequestError):
        await told(call, **arguments)


@pytest.mark.parametrize("arguments", [{"set": "a: 1"}, {"set": [1]}, {"remove": "day"}, {"sett": {"a": 1}}])
async def test_arguments_that_do_not_fit_are_refused(call: Caller, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidArguments):
        await told(call, **arguments)


async def test_only_markdown_has_properties(call: Caller, library: FakeLibrary) -> None:
    library.files["a.txt"] = b"x"
    for path in ("a.txt", "pic.png"):
        with pytest.raises(InvalidRequestError, match="Only Markdown"):
            await call("set_properties", path=path, set={"a": 1})


async def test_hazard_073_text_that_is_not_valid_is_not_edited(call: Caller, library: FakeLibrary) -> None:
    library.files["a.md"] = before = b"---\na: \xff\n---\n"
    with pytest.raises(NotTextError):
        await told(call, set={"b": 1})
    assert library.files["a.md"] == before


async def test_hazard_035_endless_properties_are_cut_in_the_answer(call: Caller, library: FakeLibrary) -> None:
    done = await told(call, set={f"key{number}": "中" * 50 for number in range(1_000)})
    assert len(done["properties"]) + done["more_properties"] == 1_004


@pytest.mark.parametrize(
    "text", ["n: .nan", "n: .inf", "n: 1e999", "n: 0x10", "n: 2024-01-02", "n: !!binary aGk=", "n: {a: {b: [1]}}"]
)
async def test_hazard_086_whatever_yaml_says_is_an_answer_that_json_can_hold(
    call: Caller, library: FakeLibrary, text: str
) -> None:
    library.files["a.md"] = f"---\n{text}\n---\n".encode()
    answer = await call("set_properties", path="a.md", set={"b": 1})
    assert "NaN" not in answer["content"][0]["text"]
    assert "Infinity" not in answer["content"][0]["text"]
    assert answer["structuredContent"]["properties"]["b"] == 1
