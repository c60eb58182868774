"""Canvas files: the paths of their nodes and the links in their cards follow; every other byte stays."""

import json

import pytest
from move_cases import Folder, back, move, text

from notes_mcp.notes.links import mending

MOVES = {"work/Old Note.md": '计划/New "N".md'}
VAULT = {"work/Old Note.md": "", "img/i.png": b"", "x.md": ""}


def board(raw, moves=MOVES):
    outcome = move(Folder({**VAULT, "b.canvas": raw}), moves)
    return outcome.folder.files["b.canvas"]


def test_the_file_of_a_node_follows_and_every_other_byte_stays():
    raw = (
        '{ "nodes":[\r\n\t{"id":"work/Old Note.md","file" : "work/Old Note.md", "subpath":"#work/Old Note.md",'
        ' "x":1.50e1,\r\n'
        '\t "type":"file"},{"file":"work/Old Note.mdx"}, {"id":"2","type":"text","text":"work/Old Note.md"}\r\n],'
        '"file":"work/Old Note.md","edges":[{"file":"work/Old Note.md","label":"é"}],'
        ' "x":{"nodes":[{"file":"work/Old Note.md"}]}}\r\n'
    )
    expected = raw.replace('"file" : "work/Old Note.md"', '"file" : "计划/New \\"N\\".md"')
    folder = Folder({**VAULT, "b.canvas": raw})
    outcome = move(folder, MOVES)
    assert text(outcome, "b.canvas") == expected
    assert outcome.counts == {"b.canvas": 1}
    assert move(outcome.folder, back(MOVES)).folder.files == folder.files


def test_the_links_in_a_card_follow_as_in_a_note():
    card = '# H\n[[Old Note|"x"]] 😀 [[x]]\t`[[Old Note]]`\n[o](work/Old%20Note.md)'
    for ascii_only in (True, False):
        raw = json.dumps({"nodes": [{"type": "text", "text": card}]}, ensure_ascii=ascii_only)
        moves = {"work/Old Note.md": "work/新.md"}
        folder = Folder({**VAULT, "b.canvas": raw})
        outcome = move(folder, moves)
        there = outcome.folder.files["b.canvas"].decode()
        said = json.loads(there)["nodes"][0]["text"]
        assert said == '# H\n[[新|"x"]] 😀 [[x]]\t`[[Old Note]]`\n[o](work/新.md)'
        assert there.isascii() is ascii_only
        assert there == json.dumps({"nodes": [{"type": "text", "text": said}]}, ensure_ascii=ascii_only)
        assert move(outcome.folder, back(moves)).folder.files == folder.files


def test_escaped_slashes_and_letters_stay_escaped():
    moves = {"img/i.png": "图/j.png"}
    assert board(b'{"nodes":[{"background":"img\\/i.png","label":"\\u56fe"}]}', moves) == (
        b'{"nodes":[{"background":"\\u56fe\\/j.png","label":"\\u56fe"}]}'
    )
    assert board('{"nodes":[{"file":"img/i.png","label":"图"}]}'.encode(), moves) == (
        '{"nodes":[{"file":"图/j.png","label":"图"}]}'.encode()
    )
    assert board(b'{"nodes":[{"file":"\\u0069mg/i.png"}]}', {"img/i.png": "j.png"}) == b'{"nodes":[{"file":"j.png"}]}'


def test_a_canvas_that_moves_keeps_its_paths_and_mends_its_relative_links():
    card = "[o](./img/i.png) ![[i.png]]"
    raw = json.dumps({"nodes": [{"file": "img/i.png"}, {"text": card}]})
    outcome = move(Folder({**VAULT, "b.canvas": raw}), {"b.canvas": "deep/b.canvas"})
    assert text(outcome, "deep/b.canvas") == raw.replace("./img", "./../img")


def test_what_a_card_leaves_open_is_told_with_its_line():
    raw = '{"nodes":[\n{"text":"[[Note]]"}]}'
    outcome = move(Folder({"a/Note.md": "", "b/Note.md": "", "c/b.canvas": raw}), {"a/Note.md": "c/d/Note2.md"})
    assert text(outcome, "c/b.canvas") == raw
    ((path, one),) = outcome.ambiguous
    assert (path, one.line, one.written, one.reason) == ("c/b.canvas", 2, "[[Note]]", mending.SEVERAL)


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"{", b"[]", b"null", b'"nodes"', b'{"nodes":{}}', b'{"nodes":[["file","work/Old Note.md"]]}',
        b'{"nodes":[{"file":null,"text":5,"background":{}}]}', b'{"nodes":[{"file":"work/Old Note.md"},]}',
        b'{"nodes":[{"file":"\xff"},{"file":"work/Old Note.md"}]}', b"[" * 100_000,
        b'{"nodes":[{"file":"","text":""}]}',
        b'{"nodes":[{"text":"\\ud800 [x] [[x]]"}]}', b'{"nodes":[{"x":{"file":"work/Old Note.md"}}]}',
    ],
)  # fmt: skip
def test_what_is_no_canvas_or_shows_nothing_that_moved_stays(raw):
    assert board(raw) == raw


def test_half_a_surrogate_pair_does_not_keep_a_card_from_following():
    raw = b'{"nodes":[{"text":"\\ud800 \\ud83d\\ude00 [[Old Note]]"}]}'
    assert board(raw, {"work/Old Note.md": "work/New.md"}) == raw.replace(b"Old Note", b"New")


def test_a_change_of_case_alone_is_followed_by_an_exact_path():
    raw = b'{"nodes":[{"file":"img/i.png"},{"file":"IMG/i.png"}]}'
    assert board(raw, {"img/i.png": "Img/i.png"}) == raw.replace(b'"img', b'"Img')
