import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.notes.index.stem import hidden_by_prefix, stem

ENDINGS = (
    "ational tional enci anci izer bli alli entli eli ousli ization ation ator alism iveness fulness ousness aliti "
    "iviti biliti logi icate ative alize iciti ical ful ness al ance ence er ic able ible ant ement ment ent ion ou "
    "ism ate iti ous ive ize ed ing eed s es ies sses ss y e ll lling bbing ying"
).split()


@pytest.fixture(scope="module")
def porter() -> apsw.FTS5Tokenizer:
    return apsw.Connection(":memory:").fts5_tokenizer("porter", ["unicode61"])


@pytest.mark.parametrize(
    ("word", "expected"),
    [("running", "run"), ("happiness", "happi"), ("relational", "relat"), ("ponies", "poni"), ("ies", "ie"),
     ("sky", "sky"), ("中", "中"), ("мир", "мир"), ("a", "a"), ("", "")],
)  # fmt: skip
def test_known_words_have_their_stems(word: str, expected: str) -> None:
    assert stem(word) == expected


@settings(deadline=None, max_examples=200)
@given(
    st.text("abcdeilorstuvxyz", max_size=6),
    st.sampled_from(ENDINGS),
    st.sampled_from(["", "s", "ed", "ing", "ly"]),
)
def test_stems_are_those_of_the_tokenizer(porter: apsw.FTS5Tokenizer, start: str, middle: str, end: str) -> None:
    word = start + middle + end
    tokens = [token[2] for token in porter(word.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None)]
    assert tokens == [stem(word)]


@pytest.mark.parametrize(
    ("prefix", "word"),
    [("relatio", "relation"), ("programm", "programming"), ("happines", "happiness"), ("runnin", "running"),
     ("possibilit", "possibility"), ("connecti", "connection")],
)  # fmt: skip
def test_a_prefix_longer_than_a_stem_still_leads_to_it(prefix: str, word: str) -> None:
    assert stem(word).startswith(prefix) or stem(word) in {stem(found) for found in hidden_by_prefix(prefix)}


def test_hidden_words_begin_with_the_prefix() -> None:
    assert all(word.startswith("relatio") for word in hidden_by_prefix("relatio"))
    assert hidden_by_prefix("zq") == ()
