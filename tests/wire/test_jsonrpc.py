"""Lines and messages: what is accepted, what is refused with which code, and that no bytes can do harm."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.errors import InvalidParams, InvalidRequest, MethodNotFound, ParseError, RpcError
from notes_mcp.wire.jsonrpc import (
    MAX_BATCH_ITEMS,
    MAX_DEPTH,
    Batch,
    Ignored,
    Invalid,
    Notification,
    Request,
    decode,
    encode_error,
    encode_notification,
    encode_result,
)
from notes_mcp.wire.lines import Oversized, Splitter

PROPERTY = settings(max_examples=200, deadline=None)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
MEMBERS = st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "x"])
NEAR_MESSAGES = st.dictionaries(MEMBERS, JSON | st.sampled_from(["2.0", "ping", {}]), max_size=6)


def split(chunks, limit=100):
    splitter = Splitter(limit)
    return [line for chunk in chunks for line in splitter.feed(chunk)] + splitter.end()


def invalid(line: bytes):
    message = decode(line)
    assert isinstance(message, Invalid), message
    return message.id, type(message.error)


class TestSplitter:
    def test_lines_end_with_lf(self):
        assert split([b"a\nb\n"]) == [b"a", b"b"]

    def test_hazard_005_cr_lf_ends_a_line_too(self):
        assert split([b"a\r\nb\r", b"\n", b"c\r\n"]) == [b"a", b"b", b"c"]

    def test_a_last_line_without_an_end_counts(self):
        assert split([b"a\nb"]) == [b"a", b"b"]
        assert split([b"a\nb\r"]) == [b"a", b"b"]

    def test_blank_lines_are_skipped(self):
        assert split([b"\n\r\n  \t\n\na\n \n"]) == [b"a"]

    def test_a_bom_is_taken_off_at_the_start_only(self):
        bom = b"\xef\xbb\xbf"
        assert split([bom[:1], bom[1:] + b"a\n" + bom + b"b\n"]) == [b"a", bom + b"b"]
        assert split([bom + b"\r\na\n"]) == [b"a"]

    def test_no_other_character_ends_a_line(self):
        line = "a\u2028b\u2029c\x85d\x0be\x0cf\rg".encode()
        assert split([line + b"\n"]) == [line]

    @pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
    def test_the_limit_counts_the_line_without_its_end(self, end):
        assert split([b"x" * 100 + end]) == [b"x" * 100]
        assert split([b"x" * 101 + end]) == [Oversized()]
        assert split([b"\xef\xbb\xbf" + b"x" * 100 + end]) == [b"x" * 100]

    def test_lines_around_an_oversized_one_are_kept(self):
        assert split([b"a\n" + b"x" * 1000 + b"\nb\n"]) == [b"a", Oversized(), b"b"]

    def test_an_oversized_line_is_told_before_it_ends(self):
        splitter = Splitter(100)
        assert splitter.feed(b"x" * 60) == []
        assert splitter.feed(b"x" * 60) == [Oversized()]
        assert splitter.feed(b"x" * 60) == []
        assert splitter.feed(b"\na\n") == [b"a"]

    def test_memory_stays_within_the_limit_while_20_mb_pass_by(self):
        import tracemalloc

        splitter, chunk = Splitter(1_000_000), b"x" * 65_536
        tracemalloc.start()
        try:
            found = [line for _ in range(320) for line in splitter.feed(chunk)]
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert found == [Oversized()]
        assert peak < 2_500_000
        assert splitter.feed(b"\na\n") == [b"a"]

    @PROPERTY
    @given(st.binary(max_size=200) | st.text("ab\r\n \ufeff", max_size=60).map(str.encode), st.data())
    def test_chunks_make_no_difference(self, stream, data):
        cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
        chunks = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
        limit = data.draw(st.integers(1, 30))
        assert split(chunks, limit) == split([stream], limit) == split([bytes([b]) for b in stream], limit)

    @PROPERTY
    @given(st.binary(max_size=300))
    def test_no_line_is_longer_than_the_limit_or_holds_a_line_end(self, stream):
        for line in split([stream], 10):
            assert isinstance(line, Oversized) or (0 < len(line) <= 10 and b"\n" not in line)


class TestRequests:
    @pytest.mark.parametrize("request_id", [0, 1, -5, 2**70, "", "a", "ид", "1"])
    def test_strings_and_integers_are_ids(self, request_id):
        line = json.dumps({"jsonrpc": "2.0", "id": request_id, "method": "ping"}).encode()
        message = decode(line)
        assert message == Request(request_id, "ping", {})
        assert type(message.id) is type(request_id)

    @pytest.mark.parametrize("request_id", ["null", "true", "false", "1.0", "1e0", "{}", "[]", "[1]"])
    def test_nothing_else_is_an_id(self, request_id):
        line = f'{{"jsonrpc":"2.0","id":{request_id},"method":"ping"}}'.encode()
        assert invalid(line) == (None, InvalidRequest)

    def test_params_come_as_they_are(self):
        message = decode('{"jsonrpc":"2.0","id":1,"method":"m","params":{"ключ":["é","😀"]}}'.encode())
        assert message == Request(1, "m", {"ключ": ["é", "😀"]})

    def test_members_we_do_not_know_are_no_fault(self):
        assert decode(b'{"jsonrpc":"2.0","id":1,"method":"m","extra":1}') == Request(1, "m", {})

    def test_white_space_around_is_no_fault(self):
        assert decode(b' \t{"jsonrpc":"2.0", "id":1 ,"method":"m"} \r') == Request(1, "m", {})

    @pytest.mark.parametrize(
        "members",
        [
            '"method":"m"',
            '"jsonrpc":2.0,"method":"m"',
            '"jsonrpc":"1.0","method":"m"',
            '"jsonrpc":null,"method":"m"',
            '"jsonrpc":"2.0"',
            '"jsonrpc":"2.0","method":1',
            '"jsonrpc":"2.0","method":null',
            '"jsonrpc":"2.0","method":["m"]',
            '"jsonrpc":"2.0","method":"m","params":1',
            '"jsonrpc":"2.0","method":"m","params":null',
            '"jsonrpc":"2.0","method":"m","params":"bar"',
        ],
    )
    def test_a_misshapen_request_is_refused_under_its_id(self, members):
        assert invalid(f'{{"id":"7",{members}}}'.encode()) == ("7", InvalidRequest)

    @pytest.mark.parametrize("params", ["[]", '["a"]'])
    def test_parameters_by_position_are_invalid_params(self, params):
        line = f'{{"jsonrpc":"2.0","id":3,"method":"m","params":{params}}}'.encode()
        assert invalid(line) == (3, InvalidParams)

    @pytest.mark.parametrize(
        ("line", "request_id"),
        [
            (b'{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}', 1),
            (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}', None),
            (b'{"jsonrpc":"2.0","id":1,"\\u0069d":1,"method":"a"}', None),
            (b'{"jsonrpc":"2.0","id":1,"method":"a","params":{"p":{"x":1,"x":1}}}', 1),
            (b'{"jsonrpc":"2.0","id":1,"method":"a","params":{"p":[[{"x":1,"x":2}]]}}', 1),
        ],
    )
    def test_a_key_that_occurs_twice_is_refused_at_any_level(self, line, request_id):
        assert invalid(line) == (request_id, InvalidRequest)

    def test_half_a_million_repeated_keys_take_no_longer_than_others(self):
        members = ",".join(f'"k{i % 250_000}":1' for i in range(500_000))
        assert invalid(f'{{"id":1,{members}}}'.encode()) == (1, InvalidRequest)

    @pytest.mark.parametrize("line", [b"1", b'"a"', b"null", b"true", b"{}", b'{"foo":"boo"}', b'{"method":1}'])
    def test_json_that_is_no_message_is_refused_without_an_id(self, line):
        assert invalid(line) == (None, InvalidRequest)


class TestNotificationsAndResponses:
    def test_a_message_without_id_is_a_notification(self):
        assert decode(b'{"jsonrpc":"2.0","method":"n"}') == Notification("n", {})

    @pytest.mark.parametrize(
        "line",
        [
            b'{"method":"n"}',
            b'{"jsonrpc":"1.0","method":"n"}',
            b'{"jsonrpc":"2.0","method":"n","params":[]}',
            b'{"jsonrpc":"2.0","method":"n","params":1}',
            b'{"jsonrpc":"2.0","method":"n","params":{"a":1,"a":1}}',
        ],
    )
    def test_a_misshapen_notification_is_never_answered(self, line):
        assert isinstance(decode(line), Ignored)

    @pytest.mark.parametrize(
        "line", [b'{"jsonrpc":"2.0","id":1,"result":{}}', b'{"id":null,"error":{"code":1}}', b'{"result":1,"result":2}']
    )
    def test_a_response_is_never_answered(self, line):
        assert isinstance(decode(line), Ignored)


class TestParseErrors:
    @pytest.mark.parametrize(
        "line",
        [
            b"{",
            b"not json",
            b'{"a":1,}',
            b"{'a':1}",
            b'{"a":1} x',
            b'{"a":1}{"a":1}',
            b"\x00",
            b'{"a":"\x01"}',
            b'{"a":"\t"}',
            b"\xff\xfe{\x00}\x00",
            b'{"a":"\xff"}',
            b'{"a":"\xc0\x80"}',
            b'{"a":"\xed\xa0\x80"}',
            b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}',
            b'{"id":1,"a":NaN}',
            b'{"id":1,"a":Infinity}',
            b'{"id":1,"a":-Infinity}',
            b'{"id":1,"a":1e999}',
            b'{"id":1,"a":-1e999}',
            b'{"id":01}',
            b'{"id":+1}',
            b'{"id":1,"a":"\\ud800"}',
            b'{"id":1,"a":"\\udc00\\ud800"}',
            b'{"id":1,"\\uDFFF":1}',
            b'{"id":' + b"9" * 5000 + b"}",
        ],
    )
    def test_what_is_not_json_has_no_id(self, line):
        assert invalid(line) == (None, ParseError)

    def test_pairs_and_escaped_backslashes_are_no_lone_surrogates(self):
        line = b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\\ud83d\\ude00","b":"\\\\ud800"}}'
        assert decode(line) == Request(1, "m", {"a": "😀", "b": "\\ud800"})

    @pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":'])
    @pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 900, 1_000, 100_000])
    def test_nesting_beyond_sense_is_refused(self, opening, levels):
        closing = {b"[": b"]", b'{"a":': b"}", b'[{"a":': b"}]"}[opening]
        line = (
            b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"p":' + opening * levels + b"1" + closing * levels + b"}}"
        )
        assert invalid(line) == (None, ParseError)
        assert invalid(opening * levels) == (None, ParseError)

    def test_nesting_within_sense_and_many_flat_objects_are_accepted(self):
        deep = b"[" * (MAX_DEPTH - 2) + b"]" * (MAX_DEPTH - 2)
        for value in (deep, b"[" + b"{}," * 5000 + b"{}]"):
            line = b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"p":' + value + b"}}"
            assert isinstance(decode(line), Request)


class TestBatches:
    def test_each_item_is_a_message_of_its_own(self):
        line = b'[{"jsonrpc":"2.0","id":1,"method":"a"},1,{"jsonrpc":"2.0","method":"n"},[],{"id":2,"result":{}}]'
        message = decode(line)
        assert isinstance(message, Batch)
        kinds = [Request, Invalid, Notification, Invalid, Ignored]
        assert [type(item) for item in message.items] == kinds

    def test_a_repeated_key_spoils_only_its_own_item(self):
        message = decode(b'[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":2,"method":"a","x":1,"x":1}]')
        assert isinstance(message, Batch)
        first, second = message.items
        assert first == Request(1, "a", {})
        assert isinstance(second, Invalid)
        assert (second.id, second.error.code) == (2, -32600)

    def test_an_empty_batch_is_told_apart(self):
        assert decode(b"[]") == Batch([])

    def test_a_batch_beyond_sense_is_refused_whole(self):
        assert invalid(b"[" + b"1," * MAX_BATCH_ITEMS + b"1]") == (None, InvalidRequest)


class TestEncoding:
    def test_frames_are_compact_utf_8_on_one_line(self):
        assert encode_result(1, {"т": "a\nb\r"}) == '{"jsonrpc":"2.0","id":1,"result":{"т":"a\\nb\\r"}}'.encode()
        assert encode_notification("n") == b'{"jsonrpc":"2.0","method":"n"}'
        assert encode_notification("n", {"a": 1}) == b'{"jsonrpc":"2.0","method":"n","params":{"a":1}}'

    def test_an_error_has_data_only_if_there_is_some(self):
        plain = encode_error(None, ParseError("no"))
        assert plain == b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}'
        error = json.loads(encode_error("a", MethodNotFound("no", {"methods": []})))
        assert error == {
            "jsonrpc": "2.0",
            "id": "a",
            "error": {"code": -32601, "message": "no", "data": {"methods": []}},
        }

    @pytest.mark.parametrize(("lone", "shown"), [("\ud800", "�"), ("a\udfffb", "a�b"), ("\ud83d\ude00", "😀")])
    def test_surrogates_of_ours_never_reach_the_wire(self, lone, shown):
        assert json.loads(encode_result(1, {lone: lone})) == {"jsonrpc": "2.0", "id": 1, "result": {shown: shown}}

    def test_no_reader_can_see_a_line_end_inside_a_frame(self):
        text = "".join(map(chr, [*range(0x2100), 0x1F600]))
        frame = encode_result(1, {text: text})
        assert len(frame.decode().splitlines()) == 1
        assert json.loads(frame)["result"] == {text: text}

    @pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
    def test_what_json_cannot_say_is_an_error_of_the_caller(self, value):
        with pytest.raises(ValueError, match="not JSON compliant"):
            encode_result(1, {"a": value})

    def test_cycles_and_foreign_objects_raise(self):
        cycle: dict = {}
        cycle["a"] = cycle
        with pytest.raises(RecursionError):
            encode_result(1, cycle)
        with pytest.raises(TypeError):
            encode_result(1, {"a": object()})

    @PROPERTY
    @given(st.dictionaries(st.text(), JSON, max_size=4), st.integers() | st.text())
    def test_what_is_encoded_is_read_back(self, params, request_id):
        notification = decode(encode_notification("n", params))
        assert notification == Notification("n", params)
        answer = json.loads(encode_result(request_id, params))
        assert answer == {"jsonrpc": "2.0", "id": request_id, "result": params}

    @PROPERTY
    @given(st.text(st.characters(codec=None), max_size=30))
    def test_any_text_of_ours_can_be_sent(self, text):
        frame = encode_error("1", RpcError(text, text))
        assert b"\n" not in frame
        json.loads(frame.decode("utf-8"))


@PROPERTY
@given(st.binary(max_size=200) | st.text(max_size=80).map(str.encode) | JSON.map(json.dumps).map(str.encode))
def test_no_bytes_make_decode_raise(line):
    decode(line)


@PROPERTY
@given(NEAR_MESSAGES)
def test_anything_near_a_message_is_classified_by_the_rules(value):
    message = decode(json.dumps(value).encode())
    match message:
        case Request(request_id, method, params):
            assert value["jsonrpc"] == "2.0"
            assert (request_id, method, params) == (value["id"], value["method"], value.get("params", {}))
            assert type(request_id) in (int, str)
        case Notification(method, params):
            assert "id" not in value
            assert (method, params) == (value["method"], value.get("params", {}))
        case Invalid(request_id, error):
            assert error.code in (-32600, -32602, -32700)
            assert request_id is None or request_id == value["id"]
        case Ignored():
            assert "id" not in value or "result" in value or "error" in value
        case Batch():
            pytest.fail("an object is no batch")
