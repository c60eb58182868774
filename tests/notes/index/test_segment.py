import random
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.notes.index import segment as segmenting
from notes_mcp.notes.index.segment import as_written, clean, fold, is_unspaced, keeps_places, key, segment

ANY_TEXT = st.text(max_size=80)


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("Café NAÏVE", "cafe naive"),
        ("Cafe\u0301", "cafe"),
        ("Straße ẞ", "strasse ss"),
        ("ＭＣＰ", "mcp"),
        ("ｶﾞ", "ガ"),
        ("İstanbul", "istanbul"),
        ("Ёлка", "елка"),
        ("άλφα", "αλφα"),
        ("עִברית", "עברית"),
        ("العَربية", "العربية"),
        ("أحمد", "احمد"),
        ("हिन्दी", "हिन्दी"),
        ("co\u00adoperate", "cooperate"),
        ("ﬁne", "fine"),
        ("끝말", "끝말"),
        ("a\ud800b", "ab"),
    ],
)
def test_case_width_and_marks_people_leave_out_are_folded(written: str, folded: str) -> None:
    assert fold(written) == folded


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("即适者生存，止损", ["即", "适", "者", "生", "存", "止", "损"]),
        ("重跑gen后", ["重", "跑", "gen", "后"]),
        ("しりとり", ["し", "り", "と", "り"]),
        ("끝말잇기", ["끝", "말", "잇", "기"]),
        ("ที่", ["ท", "ี", "่"]),
        ("ខ្មែរ", list("ខ្មែរ")),
        ("မြန်မာ", list("မြန်မာ")),
        ("ລາວ", list("ລາວ")),
        ("plain words", ["plain", "words"]),
        ("Δt", ["δ", "t"]),
        ("𠮷野", ["𠮷", "野"]),
        ("x2हिन्दी", ["x2", "हिन्दी"]),
        ("हिन्दी2x", ["हिन्दी2", "x"]),
        ("22привет22gen", ["22привет22", "gen"]),
    ],
)
def test_unspaced_scripts_fall_into_characters_and_scripts_have_borders(text: str, words: list[str]) -> None:
    assert [word.strip(",") for word in segment(fold(text)).split() if word != ","] == words


def test_an_emoji_is_a_word_and_can_be_written_again() -> None:
    words = segment(fold("party🎉☕!")).split()
    assert words[0] == "party"
    assert [as_written(word) for word in words[1:3]] == ["🎉", "☕"]
    assert all(unicodedata.category(word) == "Co" and is_unspaced(word) for word in words[1:3])
    assert as_written("word") == "word"


@settings(deadline=None)
@given(ANY_TEXT)
def test_folding_keeps_the_number_of_line_breaks(text: str) -> None:
    assert fold(text).count("\n") == text.count("\n")


@settings(deadline=None)
@given(ANY_TEXT)
def test_normal_forms_of_a_text_fold_alike(text: str) -> None:
    assert fold(unicodedata.normalize("NFC", text)) == fold(unicodedata.normalize("NFD", text))


@settings(deadline=None)
@given(st.text(st.characters(), max_size=40))
def test_any_text_becomes_storable(text: str) -> None:
    for made in (segment(fold(text)), key(text), clean(text)):
        made.encode("utf-8")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Café.md", "cafe\u0301.md".upper()),
        ("Screenshot 9.41\u202fAM", "screenshot 9.41 am"),
        ("a\u00a0b", "A b"),
        ("Straße", "STRASSE"),
    ],
)
def test_names_compare_without_case_normal_form_and_kind_of_space(one: str, other: str) -> None:
    assert key(one) == key(other)


@pytest.mark.parametrize(("one", "other"), [("cafe", "café"), ("ab", "a b"), ("a-b", "a_b")])
def test_names_that_differ_in_letters_stay_different(one: str, other: str) -> None:
    assert key(one) != key(other)


def test_every_character_folds_the_long_way_and_the_short_way_alike() -> None:
    letters = (chr(code) for code in range(0x20000) if not 0xD800 <= code < 0xE000)
    assert [letter for letter in letters if fold(letter) != segmenting._fold_any(letter)] == []


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from("aZ…　ＡÅß½µ¨\u0301\u0338\u3099\u309a\u1161\u11a8适がか가가♥😀\ufe0f\u200dΣΩй’—"), max_size=12
    )
)
def test_whole_texts_fold_the_long_way_and_the_short_way_alike(letters: list[str]) -> None:
    text = "".join(letters)
    assert fold(text) == segmenting._fold_any(text)


def test_text_that_keeps_its_places_is_folded_character_by_character() -> None:
    kept = [chr(code) for code in range(0x30000) if keeps_places(chr(code))]
    assert {"a", "É", "今", "，", "が", "글", "。"} <= set(kept)
    assert [char for char in kept if len(fold(char)) != 1] == []
    drawn = random.Random(1)
    for _ in range(500):
        text = "".join(drawn.choices(kept, k=40))
        assert fold(text) == "".join(map(fold, text))
