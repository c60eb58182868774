"""The soak's own judgement: whatever a server does wrong, the books say so, and say nothing of what is right."""

import json

import pytest

from benchmarks.soak.editor import Editor
from benchmarks.soak.health import Health
from benchmarks.soak.ledger import SUBSCRIPTION_ID, Ledger, structured
from benchmarks.soak.logs import Logs

STAMP = {"_meta": {SUBSCRIPTION_ID: "s"}}


def line(message):
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def notice(method, **params):
    return line({"method": method, "params": params})


def answer(request_id, **result):
    return line({"id": request_id, "result": result})


@pytest.fixture
def books():
    """A legacy connection with a request, a cancelled one, one with a token, and a watched note."""
    books = Ledger("legacy", modern=False)
    books.asked(1, "tools/list", {})
    books.asked(2, "ping", {})
    books.cancelled(2)
    books.asked(3, "tools/call", {"_meta": {"progressToken": "t"}})
    books.asked(4, "resources/subscribe", {"uri": "notes:///a.md"})
    return books


@pytest.fixture
def sealed():
    """A modern one with a stream."""
    books = Ledger("modern", modern=True)
    books.asked("s", "subscriptions/listen", {"notifications": {"resourceSubscriptions": ["notes:///a.md"]}})
    return books


RIGHT = [
    notice("notifications/progress", progressToken="t", progress=1),
    notice("notifications/progress", progressToken="t", progress=2, total=2),
    notice("notifications/resources/updated", uri="notes:///a.md"),
    notice("notifications/resources/list_changed"),
    answer(1, tools=[]),
    answer(3, content=[]),
    answer(4),
]


def test_an_honest_server_is_found_without_fault(books):
    for each in RIGHT:
        books.told(each)
    books.settled()
    assert (books.faults, books.waiting) == ([], 0)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (b"hello\n", "no message"),
        (b"[]\n", "no message"),
        (answer(1, tools=[])[:-1] + b"\r\n", "ends with"),
        (b'{"id":1,"result":{"tools":[]}}\n', "no message"),
        (answer(99), "nobody waits"),
        (answer("1", tools=[]), "nobody waits"),
        (line({"id": 1}), "neither a result nor an error"),
        (line({"id": 1, "result": {}, "error": {}}), "neither a result nor an error"),
        (answer(1), "no result of tools/list"),
        (line({"id": 1, "error": {"code": -32603, "message": "internal error"}}), "fault of the server"),
        (line({"id": 1, "error": {"code": "1", "message": "x"}}), "no error"),
        (notice("notifications/resources/updated", uri="notes:///b.md"), "nobody asked for"),
        (notice("notifications/progress", progressToken="u", progress=1), "progress of nothing"),
        (notice("notifications/made_up"), "unknown notification"),
        (line({"id": 5, "method": "roots/list"}), "no notification"),
    ],
)
def test_each_kind_of_wrong_line_is_a_fault(books, wrong, why):
    books.told(wrong)
    assert [why in fault for fault in books.faults] == [True]


def test_an_answer_twice_is_a_fault_and_one_to_a_cancelled_request_is_none(books):
    books.told(answer(2))
    books.told(answer(1, tools=[]))
    assert books.faults == []
    books.told(answer(1, tools=[]))
    assert len(books.faults) == 1


def test_progress_that_stands_still_is_a_fault(books):
    for _ in range(2):
        books.told(notice("notifications/progress", progressToken="t", progress=1))
    assert len(books.faults) == 1


def test_nothing_may_come_for_a_note_once_the_end_of_watching_is_answered(books):
    books.asked(5, "resources/unsubscribe", {"uri": "notes:///a.md"})
    books.told(notice("notifications/resources/updated", uri="notes:///a.md"))
    assert books.faults == []
    books.told(answer(5))
    books.told(notice("notifications/resources/updated", uri="notes:///a.md"))
    assert len(books.faults) == 1


def test_what_is_never_answered_is_a_fault_unless_it_was_cancelled(books):
    books.nameless = 1
    books.settled()
    assert [fault.split(":")[1].strip() for fault in books.faults] == [
        "never answered",
        "never answered",
        "never answered",
        "1 answers to unreadable lines are missing (below zero",
    ]


def test_a_stream_is_acknowledged_once_and_first_and_its_stamp_is_known(sealed):
    update = notice("notifications/resources/updated", uri="notes:///a.md", **STAMP)
    acknowledged = notice("notifications/subscriptions/acknowledged", notifications={}, **STAMP)
    sealed.told(update)
    assert len(sealed.faults) == 1
    sealed.told(acknowledged)
    sealed.told(update)
    sealed.told(notice("notifications/resources/list_changed", **STAMP))
    assert len(sealed.faults) == 1
    sealed.told(acknowledged)
    sealed.told(notice("notifications/resources/updated", uri="notes:///b.md", **STAMP))
    sealed.told(notice("notifications/resources/list_changed"))
    assert len(sealed.faults) == 4


def test_a_modern_result_must_be_sealed(sealed):
    sealed.asked(1, "tools/list", {})
    sealed.told(answer(1, tools=[], resultType="complete", _meta={}))
    assert sealed.faults == []
    sealed.asked(2, "tools/list", {})
    sealed.told(answer(2, tools=[]))
    assert len(sealed.faults) == 1


def test_what_a_tool_said_is_read_in_every_revision():
    assert structured({"structuredContent": {"a": 1}, "content": []}) == {"a": 1}
    assert structured({"content": [{"type": "text", "text": '{"a": 1}'}]}) == {"a": 1}
    assert structured({"content": [{"type": "text", "text": "words"}]}) == {}
    assert structured({"content": [{"type": "text", "text": '{"a": 1}'}], "isError": True}) == {}


class TestLogs:
    @pytest.mark.parametrize(
        ("text", "faults"),
        [
            ("# Log\nline 0.1 第1行\nline 1.1 第1行\n", 0),
            ("# Log\nline 0.1 第1行\n", 0),
            ("# Log\nline 1.1 第1行\n", 1),
            ("# Log\nline 0.1 第1行\nline 0.1 第1行\n", 1),
            ("# Log\nline 0.1 第1行\nline 1.1 第1行\nline 1.1 第1行\n", 1),
            ("# Log\nline 0.1 第1行\nof nobody\n", 1),
        ],
        ids=["both", "the sure one", "lost", "sure one twice", "unsure one twice", "strange"],
    )
    def test_acknowledged_lines_are_there_once_and_others_at_most_once(self, tmp_path, text, faults):
        logs = Logs()
        logs.answered(*logs.next_line(0, 1, everyones=True), "")
        logs.answered(*logs.next_line(1, 1, everyones=True), "busy")
        (tmp_path / "Logs").mkdir()
        (tmp_path / Logs.path(None, 0)).write_text(text, "utf-8")
        assert len(logs.faults(tmp_path)) == faults


class TestTheEditor:
    def test_finds_its_own_as_it_left_it(self, tmp_path):
        editor = Editor(tmp_path, 1)
        for _ in range(200):
            editor._change()
        editor.check()
        assert editor.faults == []

    @pytest.mark.parametrize("harm", ["changed", "gone", "more"])
    def test_notices_what_others_did_to_it(self, tmp_path, harm):
        editor = Editor(tmp_path, 1)
        note = tmp_path / editor.paths[0]
        match harm:
            case "changed":
                note.write_bytes(note.read_bytes()[:-1])
            case "gone":
                note.unlink()
            case "more":
                note.with_name("More.md").write_bytes(b"")
        editor.check()
        assert editor.faults


class TestHealth:
    @pytest.mark.parametrize(("a_second", "grown"), [(0.0, 0), (0.5, 20)])
    def test_growth_is_that_of_a_line_through_the_samples_after_the_warm_up(self, a_second, grown):
        samples = [(float(second), 50 + (20 if second > 5 else 0) + a_second * second, 20) for second in range(61)]
        assert Health(None, samples).growth_mb() == pytest.approx(grown, abs=1)
