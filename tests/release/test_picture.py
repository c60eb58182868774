"""The picture in the README is what a run gives today."""

from release import picture


def test_the_picture_is_what_the_server_answers_now():
    assert picture.PICTURE.read_text(encoding="utf-8") == picture.drawn()


def test_a_line_that_is_too_long_is_cut_by_its_columns_not_its_letters():
    assert picture._fitted("字" * 200) == "字" * 47 + "…"
    assert picture._fitted("a" * 97) == "a" * 97
    assert picture._fitted("a" * 98) == "a" * 96 + "…"
