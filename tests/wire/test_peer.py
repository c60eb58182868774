"""The loop between lines and a session: order, cancellation, bounds, batches, faults, and the end."""

import asyncio
import contextlib
import json
import logging
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from memory_stream import MemoryStream

from notes_mcp.errors import InvalidParams, MethodNotFound
from notes_mcp.settings import Settings
from notes_mcp.wire.calls import Call
from notes_mcp.wire.lines import Oversized
from notes_mcp.wire.peer import Peer

DEADLINE = 20
SETTINGS = Settings(folders=(Path(),), drain_ms=15_000, silence_ms=15_000)


def req(request_id, method, **params):
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


class Talk:
    """A session whose calls do what their params say, and both ends of its peer."""

    def __init__(self, settings=SETTINGS, write=None, reads_on=False, busy=lambda: False):
        self.incoming: asyncio.Queue = asyncio.Queue()
        self.outgoing: asyncio.Queue = asyncio.Queue()
        self.taken = 0
        self.admitted: list = []
        self.noticed: list = []
        self.started: dict = {}
        self.gates: dict = {}
        self.cancelled: list = []
        self.finished: list = []
        self.closed = asyncio.Event()
        self.close_calls = 0
        self.batches = True
        self.peer = Peer(MemoryStream(self.lines(), write or self.outgoing.put, reads_on), settings, busy)

    async def lines(self):
        while (line := await self.incoming.get()) is not None:
            self.taken += 1
            yield line

    # The session.
    def admit(self, request):
        self.admitted.append(request.id)
        match request.method:
            case "unknown":
                raise MethodNotFound("no such method", {"methods": ["echo"]})
            case "bug-in-admit":
                raise KeyError("secret")
        return Call(
            run=lambda: self.run(request),
            seal=lambda result: {**result, "sealed": True},
            refuse=lambda error: {"refused": error.message} if error.data == "as result" else error,
            counted=request.method != "listen",
            ready=request.method.startswith("ready"),
        )

    async def run(self, request):
        methods = {"ready": "echo", "ready-bug": "bug", "ready-refuse": "refuse", "ready-not": "wait"}
        try:
            return await getattr(self, methods.get(request.method, request.method))(request)
        except asyncio.CancelledError:
            self.cancelled.append(request.id)
            raise
        finally:
            self.finished.append(request.id)

    def notice(self, notification):
        self.noticed.append(notification.method)
        if notification.method == "bug":
            raise KeyError("secret")
        return notification.params.get("requestId") if notification.method == "cancel" else None

    def accepts_batch(self):
        return self.batches

    async def close(self):
        self.close_calls += 1
        self.closed.set()

    # Its methods.
    async def echo(self, request):
        return dict(request.params)

    async def wait(self, request):
        self.event(self.started, request.id).set()
        await self.event(self.gates, request.id).wait()
        return {}

    async def stubborn(self, request):
        waiting = asyncio.ensure_future(self.wait(request))
        while not waiting.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.shield(waiting)
        return waiting.result()

    async def listen(self, request):
        self.event(self.started, request.id).set()
        await self.closed.wait()
        return {"listened": True}

    async def refuse(self, request):
        raise InvalidParams("bad", request.params.get("data"))

    async def bug(self, request):
        raise KeyError("secret")

    async def foreign_cancel(self, request):
        raise asyncio.CancelledError

    async def group(self, request):
        raise BaseExceptionGroup("several", [asyncio.CancelledError(), KeyError("secret")])

    async def big(self, request):
        return {"text": "x" * request.params["size"]}

    async def not_json(self, request):
        return {"value": float("nan") if request.params.get("nan") else object()}

    # The client.
    def event(self, table, request_id):
        return table.setdefault(request_id, asyncio.Event())

    def send(self, *messages):
        for message in messages:
            raw = isinstance(message, bytes | Oversized | None)
            self.incoming.put_nowait(message if raw else json.dumps(message).encode())

    def request(self, request_id, method, **params):
        self.send(req(request_id, method, **params))

    async def receive(self):
        async with asyncio.timeout(DEADLINE):
            return json.loads(await self.outgoing.get())

    async def until_started(self, *request_ids):
        async with asyncio.timeout(DEADLINE):
            for request_id in request_ids:
                await self.event(self.started, request_id).wait()

    def left(self):
        return [json.loads(self.outgoing.get_nowait()) for _ in range(self.outgoing.qsize())]


def note(method, **params):
    return {"jsonrpc": "2.0", "method": method, "params": params}


def result(request_id, **members):
    return {"jsonrpc": "2.0", "id": request_id, "result": {**members, "sealed": True}}


def code(answer):
    return answer["id"], answer["error"]["code"]


@asynccontextmanager
async def talking(settings=SETTINGS, write=None, reads_on=False):
    """A served talk, which must come to its end after EOF."""
    talk = Talk(settings, write, reads_on)
    served = asyncio.create_task(talk.peer.serve(talk))
    try:
        yield talk
        talk.send(None)
        async with asyncio.timeout(DEADLINE):
            await served
    finally:
        served.cancel()
    assert talk.close_calls == 1


class TestAnswers:
    async def test_results_are_sealed_and_errors_refused(self):
        async with talking() as talk:
            talk.request(0, "echo", a="ы")
            assert await talk.receive() == result(0, a="ы")
            talk.request("0", "refuse")
            assert code(await talk.receive()) == ("0", -32602)
            talk.request(1, "refuse", data="as result")
            assert await talk.receive() == {"jsonrpc": "2.0", "id": 1, "result": {"refused": "bad"}}
            talk.request(2, "unknown")
            answer = await talk.receive()
            assert code(answer) == (2, -32601)
            assert answer["error"]["data"] == {"methods": ["echo"]}

    async def test_requests_are_admitted_in_wire_order_and_answered_as_they_end(self):
        async with talking() as talk:
            talk.request("slow", "wait")
            talk.request("fast", "echo")
            assert (await talk.receive())["id"] == "fast"
            assert talk.admitted == ["slow", "fast"]
            talk.event(talk.gates, "slow").set()
            assert (await talk.receive())["id"] == "slow"

    async def test_equal_requests_are_answered_in_order(self):
        async with talking() as talk:
            for request_id in range(300):
                talk.request(request_id, "echo")
            assert [(await talk.receive())["id"] for _ in range(300)] == list(range(300))

    async def test_lines_that_are_no_requests_are_answered_without_an_id(self):
        async with talking() as talk:
            talk.send(b"{", b"1", Oversized(), b'{"jsonrpc":"2.0","id":null,"method":"echo"}')
            codes = [code(await talk.receive()) for _ in range(4)]
            assert codes == [(None, -32700), (None, -32600), (None, -32600), (None, -32600)]

    async def test_notifications_and_responses_are_never_answered(self):
        async with talking() as talk:
            talk.send(note("n"), {"jsonrpc": "2.0", "id": 1, "result": {}}, b'{"method":"n"}', note("bug"))
            talk.request(1, "echo")
            assert await talk.receive() == result(1)
            assert talk.noticed == ["n", "bug"]
        assert talk.left() == []

    async def test_notify_sends_a_notification(self):
        async with talking() as talk:
            await talk.peer.notify("n", {"a": 1})
            assert await talk.receive() == note("n", a=1)

    async def test_a_ready_call_is_answered_in_the_step_that_reads_it(self):
        async with talking() as talk:
            talk.request(1, "wait")
            talk.send(req(2, "ready", a=1), req(3, "ready-bug"), req(4, "ready-refuse"), req(5, "ready-not"))
            assert await talk.receive() == result(2, a=1)
            assert [code(await talk.receive()) for _ in range(3)] == [(3, -32603), (4, -32602), (5, -32603)]
            assert talk.finished == [2, 3, 4, 5]
            talk.event(talk.gates, 1).set()
            assert await talk.receive() == result(1)


class TestFaults:
    @pytest.mark.parametrize("method", ["bug", "bug-in-admit", "foreign_cancel", "group", "not_json"])
    async def test_an_unknown_exception_is_logged_and_tells_the_client_nothing(self, method, caplog):
        async with talking() as talk:
            talk.request(1, method)
            answer = await talk.receive()
            assert answer["error"] == {"code": -32603, "message": "internal error"}
            talk.request(2, "echo")
            assert await talk.receive() == result(2)
        [record] = [record for record in caplog.records if record.levelno >= logging.ERROR]
        assert record.exc_info

    async def test_nan_in_a_result_is_a_fault_of_ours(self):
        async with talking() as talk:
            talk.request(1, "not_json", nan=True)
            assert code(await talk.receive()) == (1, -32603)

    async def test_an_answer_over_the_limit_of_a_line_becomes_an_error(self):
        async with talking(replace(SETTINGS, max_line_out_bytes=1000)) as talk:
            talk.request(1, "big", size=2000)
            answer = await talk.receive()
            assert code(answer) == (1, -32603)
            assert "1000" in answer["error"]["message"]
            talk.request(2, "big", size=800)
            assert (await talk.receive())["result"]["text"] == "x" * 800
            talk.request("i" * 2000, "echo")
            assert code(await talk.receive()) == (None, -32603)

    async def test_a_notification_over_the_limit_is_dropped_and_logged(self, caplog):
        async with talking(replace(SETTINGS, max_line_out_bytes=1000)) as talk:
            await talk.peer.notify("n", {"text": "x" * 2000})
        assert talk.left() == []
        assert any(record.levelno == logging.ERROR for record in caplog.records)


class TestIds:
    async def test_an_id_in_flight_cannot_be_used_again(self):
        async with talking() as talk:
            talk.request(1, "wait")
            talk.request(1, "echo")
            assert code(await talk.receive()) == (1, -32600)
            assert talk.admitted == [1]
            talk.event(talk.gates, 1).set()
            assert await talk.receive() == result(1)

    async def test_ids_of_another_type_are_other_ids(self):
        async with talking() as talk:
            talk.request(1, "wait")
            talk.request("1", "echo")
            assert await talk.receive() == result("1")
            talk.event(talk.gates, 1).set()
            assert await talk.receive() == result(1)

    async def test_an_id_is_free_when_its_answer_is_written(self):
        """A client may use an id again as soon as it has the answer, even while `write` still waits."""
        held = asyncio.Event()
        first = True

        async def write(line):
            nonlocal first
            await talk.outgoing.put(line)
            if first:
                first = False
                await held.wait()

        async with talking(write=write, reads_on=True) as talk:
            talk.request(1, "echo")
            assert await talk.receive() == result(1)
            talk.request(1, "echo", again=True)
            await anyio.wait_all_tasks_blocked()
            held.set()
            assert await talk.receive() == result(1, again=True)


class TestCancellation:
    async def test_a_cancelled_call_ends_and_is_never_answered(self):
        async with talking() as talk:
            talk.request(77, "wait")
            await talk.until_started(77)
            talk.send(note("cancel", requestId=77))
            talk.request(1, "echo")
            assert await talk.receive() == result(1)
        assert talk.cancelled == [77]
        assert talk.left() == []

    @pytest.mark.parametrize("other", ["77", True, 77.0, None, [77], {"a": 1}, 78])
    async def test_cancelling_another_id_leaves_a_call_alone(self, other):
        async with talking() as talk:
            request_id = 1 if other is True else 77
            talk.request(request_id, "wait")
            await talk.until_started(request_id)
            talk.send(note("cancel", requestId=other), req("after", "echo"))
            assert (await talk.receive())["id"] == "after"
            talk.event(talk.gates, request_id).set()
            assert await talk.receive() == result(request_id)

    async def test_a_call_that_cannot_be_interrupted_is_not_answered_either(self):
        async with talking() as talk:
            talk.request(1, "stubborn")
            await talk.until_started(1)
            talk.send(note("cancel", requestId=1), req(2, "echo"))
            assert await talk.receive() == result(2)
            talk.event(talk.gates, 1).set()
        assert talk.finished == [2, 1]
        assert talk.left() == []

    async def test_a_call_cancelled_before_it_started_never_runs(self):
        async with talking() as talk:
            talk.send(req(1, "echo"), note("cancel", requestId=1), req(2, "echo"))
            assert await talk.receive() == result(2)
        assert talk.admitted == [1, 2]
        assert talk.finished == [2]

    async def test_the_id_of_a_cancelled_call_can_be_used_again(self):
        async with talking() as talk:
            talk.request(1, "stubborn")
            await talk.until_started(1)
            talk.send(note("cancel", requestId=1), req(1, "echo", second=True))
            assert await talk.receive() == result(1, second=True)
            talk.event(talk.gates, 1).set()
        assert talk.left() == []

    async def test_cancelling_what_is_answered_already_changes_nothing(self):
        async with talking() as talk:
            talk.request(1, "echo")
            assert await talk.receive() == result(1)
            talk.send(note("cancel", requestId=1), req(2, "echo"))
            assert await talk.receive() == result(2)


class TestBounds:
    async def test_calls_wait_for_a_place_and_start_in_the_order_they_came(self):
        async with talking(replace(SETTINGS, max_in_flight=2)) as talk:
            talk.send(req("l", "listen"), *[req(request_id, "wait") for request_id in range(5)], req("p", "ready"))
            assert (await talk.receive())["id"] == "p"
            await talk.until_started("l", 0, 1)
            await anyio.wait_all_tasks_blocked()
            assert talk.admitted == ["l", 0, 1, 2, 3, 4, "p"]
            assert list(talk.started) == ["l", 0, 1]
            talk.event(talk.gates, 1).set()
            assert await talk.receive() == result(1)
            await talk.until_started(2)
            assert 3 not in talk.started
            for request_id in range(5):
                talk.event(talk.gates, request_id).set()
            assert {(await talk.receive())["id"] for _ in range(4)} == {0, 2, 3, 4}

    async def test_cancellations_are_read_while_all_places_are_taken(self):
        async with talking(replace(SETTINGS, max_in_flight=2)) as talk:
            talk.send(*[req(request_id, "wait") for request_id in range(4)])
            await talk.until_started(0, 1)
            talk.send(note("cancel", requestId=2), note("cancel", requestId=0))
            await talk.until_started(3)
            talk.request("after", "ready")
            assert (await talk.receive())["id"] == "after"
            assert talk.cancelled == [0]
            assert 2 not in talk.started
            for request_id in (1, 3):
                talk.event(talk.gates, request_id).set()
            assert {(await talk.receive())["id"] for _ in range(2)} == {1, 3}

    @pytest.mark.parametrize("limit", [{"max_waiting": 3}, {"max_waiting_bytes": 5 * len(json.dumps(req(0, "wait")))}])
    async def test_reading_stops_when_too_much_waits_for_a_place(self, limit):
        async with talking(replace(SETTINGS, max_in_flight=2, **limit)) as talk:
            talk.send(*[req(request_id, "wait") for request_id in range(9)])
            await talk.until_started(0, 1)
            await anyio.wait_all_tasks_blocked()
            assert talk.taken == 5
            for request_id in range(9):
                talk.event(talk.gates, request_id).set()
            assert {(await talk.receive())["id"] for _ in range(9)} == set(range(9))

    async def test_a_client_that_does_not_read_stops_the_reading(self):
        held, written = asyncio.Event(), []

        async def write(line):
            written.append(line)
            await held.wait()

        async with talking(replace(SETTINGS, max_in_flight=3, max_waiting=5), write, reads_on=True) as talk:
            for request_id in range(50):
                talk.request(request_id, "echo")
            talk.send(*[b"{"] * 50)
            await anyio.wait_all_tasks_blocked()
            assert len(written) == 1
            assert len(talk.finished) == 3
            assert talk.taken == 8
            held.set()
        assert len(written) == 100

    async def test_errors_that_nobody_reads_stop_the_reading(self):
        held, written = asyncio.Event(), []

        async def write(line):
            written.append(line)
            await held.wait()

        async with talking(write=write) as talk:
            talk.send(*[b"{"] * 50)
            await anyio.wait_all_tasks_blocked()
            assert len(written) == talk.taken == 1
            held.set()
        assert len(written) == 50


class TestBatch:
    async def test_answers_are_one_array_in_the_order_of_the_requests(self):
        async with talking() as talk:
            talk.send([req(1, "wait"), req(2, "echo"), note("n"), 1, req(3, "unknown"), req(4, "bug")])
            await talk.until_started(1)
            talk.request(5, "echo")
            assert await talk.receive() == result(5)
            talk.event(talk.gates, 1).set()
            answers = await talk.receive()
            assert answers[:2] == [result(1), result(2)]
            assert [code(answer) for answer in answers[2:]] == [(None, -32600), (3, -32601), (4, -32603)]

    async def test_a_batch_without_requests_is_not_answered(self):
        async with talking() as talk:
            talk.send([note("n"), note("n")])
        assert talk.left() == []
        assert talk.noticed == ["n", "n"]

    async def test_an_empty_batch_is_refused(self):
        async with talking() as talk:
            talk.send([])
            assert code(await talk.receive()) == (None, -32600)

    async def test_a_session_without_batches_refuses_them_whole(self):
        async with talking() as talk:
            talk.batches = False
            talk.send([req(1, "echo"), note("n")])
            assert code(await talk.receive()) == (None, -32600)
        assert talk.admitted == talk.noticed == []

    async def test_initialize_has_no_place_in_a_batch(self):
        async with talking() as talk:
            talk.send([req(1, "initialize"), req(2, "echo")])
            refused, answer = await talk.receive()
            assert code(refused) == (1, -32600)
            assert answer == result(2)
        assert talk.admitted == [2]

    async def test_a_cancelled_item_is_left_out(self):
        async with talking() as talk:
            talk.send([req(1, "wait"), req(2, "echo")])
            await talk.until_started(1)
            talk.send(note("cancel", requestId=1))
            assert await talk.receive() == [result(2)]
            talk.send([req(3, "wait")])
            await talk.until_started(3)
            talk.send(note("cancel", requestId=3))
        assert talk.left() == []

    async def test_an_id_twice_in_a_batch_is_answered_once_as_a_result(self):
        async with talking() as talk:
            talk.send([req(1, "echo"), req(1, "echo")])
            first, second = await talk.receive()
            assert first == result(1)
            assert code(second) == (1, -32600)

    async def test_a_batch_longer_than_the_places_is_answered(self):
        async with talking(replace(SETTINGS, max_in_flight=2)) as talk:
            talk.send([req(request_id, "echo") for request_id in range(20)])
            assert await talk.receive() == [result(request_id) for request_id in range(20)]

    async def test_answers_over_the_limit_of_a_line_lose_the_biggest(self):
        async with talking(replace(SETTINGS, max_line_out_bytes=2000)) as talk:
            sizes = [10, 900, 950, 20, 800]
            talk.send([req(size, "big", size=size) for size in sizes])
            async with asyncio.timeout(DEADLINE):
                line = await talk.outgoing.get()
            assert len(line) <= 2000
            answers = json.loads(line)
            assert [answer["id"] for answer in answers] == sizes
            assert [size for size, answer in zip(sizes, answers, strict=True) if "result" in answer] == [10, 20, 800]

    async def test_where_even_the_errors_are_too_many_one_error_is_left(self):
        async with talking(replace(SETTINGS, max_line_out_bytes=500)) as talk:
            talk.send([req(request_id, "unknown") for request_id in range(100)])
            assert code(await talk.receive()) == (None, -32603)


class TestEnd:
    async def test_what_was_read_before_eof_is_answered_listens_last(self):
        talk = Talk()
        talk.send(req("l", "listen"), req(1, "echo"), req(2, "wait"), req(3, "echo"), None)
        serving = asyncio.create_task(talk.peer.serve(talk))
        await talk.until_started("l", 2)
        assert talk.close_calls == 0
        talk.event(talk.gates, 2).set()
        async with asyncio.timeout(DEADLINE):
            await serving
        answers = talk.left()
        assert {answer["id"] for answer in answers[:-1]} == {1, 2, 3}
        assert answers[-1] == result("l", listened=True)

    async def test_a_call_that_never_ends_is_given_up_without_an_answer(self):
        talk = Talk(replace(SETTINGS, drain_ms=100, silence_ms=100))
        talk.send(req("l", "listen"), req(1, "wait"), None)
        async with asyncio.timeout(DEADLINE):
            await talk.peer.serve(talk)
        assert talk.cancelled == [1]
        assert talk.left() == [result("l", listened=True)]

    async def test_a_silent_call_is_waited_for_while_somebody_is_busy(self):
        """What is being written after the end of the input is answered, however long it takes."""
        asked = 0

        def busy():
            nonlocal asked
            asked += 1
            if asked == 3:
                talk.event(talk.gates, 1).set()
            return True

        talk = Talk(replace(SETTINGS, silence_ms=20), busy=busy)
        talk.send(req(1, "wait"), None)
        async with asyncio.timeout(DEADLINE):
            await talk.peer.serve(talk)
        assert asked == 3
        assert talk.left() == [result(1)]

    async def test_stop_bounds_the_wait_for_who_is_busy(self):
        talk = Talk(replace(SETTINGS, silence_ms=20, drain_ms=100), busy=lambda: True)
        talk.send(req(1, "wait"), None)
        serving = asyncio.create_task(talk.peer.serve(talk))
        await talk.until_started(1)
        talk.peer.stop()
        async with asyncio.timeout(DEADLINE):
            await serving
        assert talk.cancelled == [1]
        assert talk.left() == []

    async def test_stop_ends_serving_while_the_client_is_silent(self):
        talk = Talk()
        serving = asyncio.create_task(talk.peer.serve(talk))
        talk.send(req("l", "listen"), req(1, "wait"))
        await talk.until_started("l", 1)
        talk.peer.stop()
        talk.peer.stop()
        talk.request(2, "echo")
        talk.event(talk.gates, 1).set()
        async with asyncio.timeout(DEADLINE):
            await serving
        assert talk.admitted == ["l", 1]
        assert talk.left() == [result(1), result("l", listened=True)]

    async def test_stop_bounds_a_drain_that_still_makes_progress(self):
        talk = Talk(replace(SETTINGS, drain_ms=200))
        serving = asyncio.create_task(talk.peer.serve(talk))
        talk.send(req(1, "wait"))
        await talk.until_started(1)
        talk.peer.stop()
        async with asyncio.timeout(DEADLINE):
            await serving
        assert talk.cancelled == [1]
        assert talk.close_calls == 1

    @pytest.mark.parametrize("batch", [False, True])
    async def test_stop_ends_serving_while_writes_are_stuck(self, batch):
        stuck = asyncio.Event()

        async def write(line):
            stuck.set()
            await asyncio.Event().wait()

        talk = Talk(replace(SETTINGS, drain_ms=100, silence_ms=100), write)
        serving = asyncio.create_task(talk.peer.serve(talk))
        talk.send([req(1, "echo"), req(2, "echo")] if batch else req(1, "echo"), b"{")
        async with asyncio.timeout(DEADLINE):
            await stuck.wait()
            talk.peer.stop()
            await serving
        assert talk.close_calls == 1

    async def test_stop_before_serving_reads_nothing(self):
        talk = Talk()
        talk.request(1, "echo")
        talk.peer.stop()
        async with asyncio.timeout(DEADLINE):
            await talk.peer.serve(talk)
        assert talk.admitted == []
        assert talk.close_calls == 1

    async def test_what_waits_for_a_place_is_answered_after_stop(self):
        talk = Talk(replace(SETTINGS, max_in_flight=1))
        serving = asyncio.create_task(talk.peer.serve(talk))
        talk.send(req(1, "wait"), req(2, "echo"))
        await talk.until_started(1)
        await anyio.wait_all_tasks_blocked()
        talk.peer.stop()
        talk.event(talk.gates, 1).set()
        async with asyncio.timeout(DEADLINE):
            await serving
        assert talk.left() == [result(1), result(2)]

    async def test_a_session_that_fails_to_close_does_not_hold_up_the_end(self, caplog):
        talk = Talk()

        async def close():
            raise KeyError("secret")

        talk.close = close
        talk.send(None)
        async with asyncio.timeout(DEADLINE):
            await talk.peer.serve(talk)
        assert any(record.exc_info for record in caplog.records)

    async def test_cancelling_serve_cancels_its_calls(self):
        talk = Talk()
        serving = asyncio.create_task(talk.peer.serve(talk))
        talk.request(1, "wait")
        await talk.until_started(1)
        serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving
        assert talk.cancelled == [1]
        assert talk.left() == []
