"""read_note: facts, then the text word for word, in parts that go on."""

import base64
import re

import pytest
from conftest import Caller
from hypothesis import given, settings
from hypothesis import strategies as st
from library_fake import FakeLibrary

from notes_mcp.errors import InvalidArguments, InvalidRequestError, NotFoundError, TooLargeError
from notes_mcp.notes.text import Text, etag
from notes_mcp.tools._window import cut, place

GO_ON = re.compile(r"^cut: to go on, call read_note with (?:view=\w+, )?start_line=(\d+)(?:, start_char=(\d+))?$", re.M)


async def read_all(call: Caller, path: str, **arguments: object) -> tuple[str, int]:
    """The text put together from as many answers as it takes, and how many those were."""
    whole, parts, more = "", 0, {}
    while True:
        blocks = (await call("read_note", path=path, **arguments, **more))["content"]
        whole += blocks[1]["text"] if len(blocks) > 1 else ""
        parts += 1
        found = GO_ON.search(blocks[0]["text"])
        if found is None:
            return whole, parts
        more = {"start_line": int(found[1])} | ({"start_char": int(found[2])} if found[2] else {})


async def facts(call: Caller, path: str, **arguments: object) -> str:
    return (await call("read_note", path=path, **arguments))["content"][0]["text"]


async def test_a_note_is_facts_and_its_text_word_for_word(call: Caller, library: FakeLibrary) -> None:
    library.files["a.md"] = '# 标题\r\n"quoted" \\ tab\there\r\n'.encode()
    answer = await call("read_note", path="a")
    told, text = (block["text"] for block in answer["content"])
    assert text == '# 标题\r\n"quoted" \\ tab\there\r\n'
    assert told.splitlines()[0] == "path: a.md"
    assert f"etag: {etag(library.files['a.md'])}" in told
    assert "lines: 1-2 of 2" in told
    assert "cut" not in told


async def test_an_empty_note_has_no_empty_block(call: Caller, library: FakeLibrary) -> None:
    library.files["a.md"] = b""
    answer = await call("read_note", path="a.md")
    assert len(answer["content"]) == 1
    assert "empty" in answer["content"][0]["text"]


async def test_hazard_035_a_long_note_comes_in_parts_that_make_up_the_whole(call: Caller, library: FakeLibrary) -> None:
    library.files["a.md"] = "".join(f"line {number} 中文\n" for number in range(6_000)).encode()
    whole, parts = await read_all(call, "a.md")
    assert whole == library.files["a.md"].decode()
    assert 4 <= parts <= 8
    assert "lines: 1-" in await facts(call, "a.md")


async def test_hazard_041_asking_for_more_than_an_answer_holds_gives_an_answer(
    call: Caller, library: FakeLibrary
) -> None:
    library.files["a.md"] = b"x\n" * 100_000
    answer = await call("read_note", path="a.md", max_chars=10_000_000)
    assert sum(len(block["text"]) for block in answer["content"]) <= 20_000


@pytest.mark.parametrize(
    "text", ["中" * 50_001, "a" * 60_000 + "\nend\n", "\n" + "😀" * 45_000, "x\r\n" + "é" * 41_000]
)
async def test_hazard_067_a_giant_line_is_cut_at_a_character_and_can_be_gone_on_with(
    call: Caller, library: FakeLibrary, text: str
) -> None:
    library.files["a.md"] = text.encode()
    whole, parts = await read_all(call, "a.md")
    assert whole == text
    assert parts >= 3


async def test_hazard_067_the_cut_falls_between_lines_where_it_can(call: Caller, library: FakeLibrary) -> None:
    library.files["a.md"] = ("a" * 1023 + "あ\n").encode() * 3
    answer = await call("read_note", path="a.md", max_chars=1500)
    assert answer["content"][1]["text"] == "a" * 1023 + "あ\n"
    assert "start_line=2" in answer["content"][0]["text"]


async def test_a_section_is_read_with_its_lines_of_the_file(call: Caller) -> None:
    answer = await call("read_note", path="Projects/Plan.md", section="steps")
    assert answer["content"][1]["text"] == "## Steps\n\n- one\n\n"
    assert "lines: 6-9 of 10" in answer["content"][0]["text"]


async def test_a_section_that_is_not_there_is_said_with_the_nearest(call: Caller) -> None:
    with pytest.raises(NotFoundError) as caught:
        await call("read_note", path="Projects/Plan.md", section="Stepz")
    assert "## Steps (line 6)" in caught.value.nearest


async def test_hazard_103_every_line_of_the_outline_is_a_section_to_read(call: Caller, library: FakeLibrary) -> None:
    library.files["a.md"] = b"# A\n## B\nx\n# A\n## B\ny\n## C `x`\n"
    outline = (await call("read_note", path="a.md", view="outline"))["content"][1]["text"].splitlines()
    assert len(outline) == 5
    for line in outline:
        number = re.search(r"\(line (\d+)\)$", line)
        assert number
        assert f"(line {number[1]})" in await facts(call, "a.md", section=line)


async def test_properties_are_shown_as_written(call: Caller) -> None:
    answer = await call("read_note", path="Projects/Plan.md", view="properties")
    assert answer["content"][1]["text"] == "---\ntags: [work]\n---\n"
    assert "none" in await facts(call, "Home.md", view="properties")


async def test_links_are_shown_with_their_lines(call: Caller) -> None:
    answer = await call("read_note", path="Home.md", view="links")
    assert answer["content"][1]["text"] == "3: [[Projects/Plan]]"


async def test_outline_and_links_of_a_section_are_its_own(call: Caller, library: FakeLibrary) -> None:
    library.files["a.md"] = b"# A\n[[x]]\n## B\n[[y]]\n# C\n[[z]]\n"
    outline = await call("read_note", path="a.md", view="outline", section="A")
    assert outline["content"][1]["text"] == "# A (line 1)\n## B (line 3)"
    links = await call("read_note", path="a.md", view="links", section="B")
    assert links["content"][1]["text"] == "4: [[y]]"


@pytest.mark.parametrize("line", ["[[target]]\n", "# heading\n"])
async def test_long_outlines_and_lists_of_links_go_on(call: Caller, library: FakeLibrary, line: str) -> None:
    library.files["a.md"] = line.encode() * 4_000
    view = "links" if "[[" in line else "outline"
    whole, parts = await read_all(call, "a.md", view=view)
    assert len(re.findall("target|heading", whole)) == 4_000
    assert parts > 1


async def test_a_monstrous_heading_does_not_burst_an_answer(call: Caller, library: FakeLibrary) -> None:
    library.files["a.md"] = b"# " + b"h" * 100_000 + b"\ntext\n"
    for arguments in ({"view": "outline"}, {"section": "h" * 100_000}):
        answer = await call("read_note", path="a.md", **arguments)
        assert sum(len(block["text"]) for block in answer["content"]) <= 20_000


async def test_thousands_of_links_on_one_line_end(call: Caller, library: FakeLibrary) -> None:
    library.files["a.md"] = b"[[a]] " * 20_000 + b"\n[[last]]\n"
    whole, _ = await read_all(call, "a.md", view="links")
    assert "[[last]]" in whole


@pytest.mark.parametrize("path", ["a.txt", "a.org"])
async def test_notes_that_are_no_markdown_have_text_and_no_outline(
    call: Caller, library: FakeLibrary, path: str
) -> None:
    library.files[path] = b"one\ntwo\n"
    assert (await call("read_note", path=path, start_line=2))["content"][1]["text"] == "two\n"
    with pytest.raises(InvalidRequestError, match="not Markdown"):
        await call("read_note", path=path, view="outline")


async def test_reading_starts_where_asked_and_not_beyond(call: Caller) -> None:
    answer = await call("read_note", path="Home.md", start_line="3")
    assert answer["content"][1]["text"] == "See [[Projects/Plan]].\n"
    assert "lines: 3-3 of 3" in answer["content"][0]["text"]
    with pytest.raises(InvalidRequestError, match="lines 1 to 3"):
        await call("read_note", path="Home.md", start_line=4)
    with pytest.raises(InvalidRequestError, match="lines 6 to 9"):
        await call("read_note", path="Projects/Plan.md", section="Steps", start_line=2)
    with pytest.raises(InvalidRequestError, match="start_char 90"):
        await call("read_note", path="Home.md", start_char=90)


@pytest.mark.parametrize(("name", "value"), [("start_line", 0), ("start_line", -1), ("max_chars", 0), ("view", "html")])
async def test_arguments_out_of_range_are_refused(call: Caller, name: str, value: object) -> None:
    with pytest.raises(InvalidArguments, match=name):
        await call("read_note", path="Home.md", **{name: value})


async def test_hazard_073_a_note_that_is_not_valid_text_is_shown_and_marked(call: Caller, library: FakeLibrary) -> None:
    library.files["a.md"] = b"# caf\xe9\n\nna\xefve [[x]]\n"
    answer = await call("read_note", path="a.md")
    assert answer["content"][1]["text"] == "# caf\ufffd\n\nna\ufffdve [[x]]\n"
    assert "not valid UTF-8" in answer["content"][0]["text"]
    assert (await call("read_note", path="a.md", view="links"))["content"][1]["text"] == "3: [[x]]"
    assert (await call("read_note", path="a.md", section="caf\ufffd"))["content"][1]["text"].startswith("# caf")


async def test_a_byte_order_mark_is_not_shown(call: Caller, library: FakeLibrary) -> None:
    library.files["a.md"] = b"\xef\xbb\xbf# A\n"
    assert (await call("read_note", path="a.md"))["content"][1]["text"] == "# A\n"


@pytest.mark.parametrize(("name", "kind", "mime"), [("a.png", "image", "image/png"), ("a.mp3", "audio", "audio/mpeg")])
async def test_pictures_and_sounds_are_shown_as_such(
    call: Caller, library: FakeLibrary, name: str, kind: str, mime: str
) -> None:
    library.files[name] = b"\x00\x01\xff"
    block = (await call("read_note", path=name))["content"][1]
    assert block == {"type": kind, "data": base64.b64encode(b"\x00\x01\xff").decode(), "mimeType": mime}


async def test_a_picture_goes_out_as_what_it_is_and_not_as_its_name_says(call: Caller, library: FakeLibrary) -> None:
    library.files["a.png"] = b"\xff\xd8\xff\xe0"
    told, block = (await call("read_note", path="a.png"))["content"]
    assert (block["type"], block["mimeType"]) == ("image", "image/jpeg")
    assert "type: image/jpeg, though its name says image/png" in told["text"]


@pytest.mark.parametrize(
    ("name", "data"), [("a.heic", b"\0\0\0\x18ftypheic"), ("a.bmp", b"BM\xff"), ("a.tiff", b"II*\0")]
)
async def test_a_picture_that_models_cannot_look_at_is_a_link_and_says_what_would_be_shown(
    call: Caller, library: FakeLibrary, name: str, data: bytes
) -> None:
    library.files[name] = data
    told, link = (await call("read_note", path=name))["content"]
    assert link["type"] == "resource_link"
    assert "PNG or JPEG" in told["text"]


async def test_text_under_the_name_of_a_picture_is_shown_as_text(call: Caller, library: FakeLibrary) -> None:
    library.files["a.png"] = b"version https://git-lfs.github.com/spec/v1\nsize 12345\n"
    told, text = (await call("read_note", path="a.png"))["content"]
    assert text["text"].startswith("version https://git-lfs")
    assert "type: text/plain, though its name says image/png" in told["text"]


async def test_the_links_of_a_note_name_what_it_embeds(call: Caller, library: FakeLibrary) -> None:
    library.files["a.md"] = b"![[pic.png|200]] ![alt](img/b.jpg)\n![[Home#Top]]\n"
    shown = (await call("read_note", path="a.md", view="links"))["content"][1]["text"]
    assert shown == "1: ![[pic.png|200]]\n1: ![alt](img/b.jpg)\n2: ![[Home#Top]]"


async def test_a_picture_too_large_for_a_line_is_refused(call: Caller, library: FakeLibrary) -> None:
    library.files["a.png"] = b"\0" * (library.settings.max_resource_bytes + 1)
    with pytest.raises(TooLargeError):
        await call("read_note", path="a.png")


@pytest.mark.parametrize(
    ("name", "data"), [("a.zip", b"PK\x03\x04\xff\0"), ("a.pdf", b"%PDF\xff"), ("a.mp4", b"\0"), ("empty.png", b"")]
)
async def test_hazard_031_other_bytes_are_a_link_to_the_resource(
    call: Caller, library: FakeLibrary, name: str, data: bytes
) -> None:
    library.files[name] = data
    told, link = (await call("read_note", path=name))["content"]
    assert told["type"] == "text"
    assert link["type"] == "resource_link"
    assert link["uri"] == f"notes:///{name}"
    assert link["size"] == len(data)


@pytest.mark.parametrize("name", ["a.csv", "a.json", "a.svg", "a.canvas", "Makefile"])
async def test_attachments_that_are_text_are_shown_as_text(call: Caller, library: FakeLibrary, name: str) -> None:
    library.files[name] = "a,b\n中,2\n".encode()
    assert (await call("read_note", path=name))["content"][1]["text"] == "a,b\n中,2\n"


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab中😀\n\r\u2028e\u0301", max_size=60), st.integers(1, 9))
def test_parts_always_make_up_the_whole(text: str, max_chars: int) -> None:
    whole = Text.decode(text.encode())
    start, end, shown = 0, len(whole.utf8), ""
    for _ in range(len(text) + 1):
        window = cut(whole, start, end, max_chars)
        shown += window.text
        assert len(window.text) <= max_chars
        if window.next_line is None:
            break
        start = place(whole, (0, end), window.next_line, window.next_char)
    assert shown == text
