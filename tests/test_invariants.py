"""What the fuzzer hunts for, held here on its seeds, on bytes that it found once, and on some hundred made up anew."""

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks import fuzz, invariants

HELD = [name for name in invariants.TARGETS if name != "repeated"]
FOUND = {
    "front matter put before an LF took it along when it went": ("front_matter", b"a\xff1\xff\nmostly\rlone\rCR\r"),
    "a tag in the text is taken out beside front matter that does not parse": (
        "tags",
        b"project\xffneu\xff---\nstatus: x # c\ntags: [project,] b\n---\n# Log\n\n#project text\n",
    ),
    "half a pair in the first of two equal keys": (
        "messages",
        b'\x07[{"jsonrpc":"2.0","method":"\\ud83d","method":"a","method":"b"}]',
    ),
}
ENDLESS = [
    b"OR",
    b"aB3.",
    b"[[a]] ",
    b"#a ",
    b"- [ ] x\n",
    b"$",
    b"%%",
    b"`",
    b"](",
    b"<!--",
    b"a: *a\n",
    b"^a\n",
    b"\r",
]
"""What cost the square of its length somewhere, or easily could."""

WORDS = st.lists(st.sampled_from([*(word.encode() for word in fuzz.WORDS), b"\n", b"\xff", b" ", b"\r\n"]), max_size=30)
INPUTS = st.binary(max_size=80) | WORDS.map(b"".join) | WORDS.map(b" ".join)


@pytest.mark.parametrize("target", HELD)
def test_the_promises_hold_for_what_the_fuzzer_starts_from(target):
    for seed in fuzz.seeds(target):
        invariants.in_few_steps(invariants.TARGETS[target], seed)


@pytest.mark.parametrize("name", FOUND)
def test_the_promises_hold_for_what_it_found_once(name):
    target, data = FOUND[name]
    invariants.in_few_steps(invariants.TARGETS[target], data)


@pytest.mark.parametrize("target", HELD)
def test_the_promises_hold_for_any_bytes(target):
    @settings(max_examples=150, deadline=None)
    @given(INPUTS)
    @example(b"")
    def hold(data):
        invariants.in_few_steps(invariants.TARGETS[target], data)

    hold()


@pytest.mark.parametrize("piece", ENDLESS, ids=ascii)
def test_a_piece_many_times_over_costs_no_more_than_its_length(piece):
    began = time.process_time()
    invariants.repeated(piece)
    assert time.process_time() - began < 8  # by the square of its length it would take far longer


def test_work_that_grows_faster_than_its_input_is_noticed():
    def squared(data):
        for _ in data:
            for each in data:
                abs(each)

    invariants.in_few_steps(squared, b"x" * 50)
    with pytest.raises(AssertionError, match="calls for 600 bytes"):
        invariants.in_few_steps(squared, b"x" * 600)
