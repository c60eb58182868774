"""Web addresses are no prose, and looking for them takes time in proportion to the note, whatever is in it."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.notes.markup import markdown

PLAINLY = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*://[^\s<>]*")
"""What is meant; but it looks at a run of letters again from each of them."""


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("a1+.:/ 中"), max_size=8), st.text(st.sampled_from("a1+.:/ 中"), max_size=8))
def test_prose_leaves_out_what_looks_like_an_address_and_nothing_else(before, behind):
    source = f"x {before}://{behind} y".encode()
    hidden = {at for found in PLAINLY.finditer(source) for at in range(*found.span())}
    shown = {at for span in markdown.prose(source) for at in range(*span)}
    assert shown == set(range(len(source))) - hidden


@pytest.mark.parametrize("run", [b"aB3", b"a.", b"1+", b"a:", b"a:/"])
def test_a_picture_in_base64_and_other_endless_runs_cost_no_more_than_other_text(run):
    source = run * 20_000
    began = time.process_time()
    markdown.prose(source)
    assert time.process_time() - began < 5  # by the square of its size it would be a minute
