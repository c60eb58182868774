"""Arguments as real clients and models send them."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.errors import InvalidArguments
from notes_mcp.tools._arguments import coerce, prepare

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "properties": {"type": "object"},
        "limit": {"type": "integer"},
        "ratio": {"type": "number"},
        "dry_run": {"type": "boolean"},
        "if_match": {"type": "string"},
        "edits": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "old_text": {"type": "string"},
                    "text": {"type": "string"},
                    "count": {"type": "integer"},
                },
                "required": ["text"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["path"],
    "additionalProperties": False,
}


def ready(**arguments: Any) -> dict[str, Any]:
    return prepare({"path": "a.md", **arguments}, SCHEMA)


def test_hazard_019_an_array_as_json_text_is_taken() -> None:
    assert ready(tags='["a", "b"]')["tags"] == ["a", "b"]
    assert ready(tags='  ["中文"]\n')["tags"] == ["中文"]
    assert ready(tags="[]")["tags"] == []


@pytest.mark.parametrize("value", ["a", "", "a,b", '"a"', "{}", "[1", "null", "NaN", "[" * 100_000, {"a": 1}, 3, True])
def test_hazard_019_what_is_no_array_is_a_clear_error(value: Any) -> None:
    with pytest.raises(InvalidArguments, match=r'^tags must be an array such as \["a", "b"\]'):
        ready(tags=value)


def test_hazard_020_numbers_and_booleans_as_text_are_taken() -> None:
    assert ready(limit="5")["limit"] == 5
    assert ready(limit=5.0)["limit"] == 5
    assert ready(limit="5.0")["limit"] == 5
    assert ready(ratio="0.5")["ratio"] == 0.5
    assert ready(ratio="2")["ratio"] == 2


@pytest.mark.parametrize("value", ["five", "5.5", "", True, "true", [5], "Infinity", "1e999", "9" * 5000])
def test_hazard_020_what_is_no_integer_is_a_clear_error(value: Any) -> None:
    with pytest.raises(InvalidArguments, match=r"^limit must be an integer"):
        ready(limit=value)


def test_hazard_022_an_object_as_json_text_is_taken() -> None:
    assert ready(properties='{"a": 1, "b": null}')["properties"] == {"a": 1, "b": None}
    with pytest.raises(InvalidArguments, match=r"^properties must be an object"):
        ready(properties="a: 1")


@pytest.mark.parametrize(("value", "meant"), [("true", True), ("false", False), ("True", True), (" FALSE ", False)])
def test_hazard_023_booleans_as_text_are_taken(value: str, meant: bool) -> None:
    assert ready(dry_run=value)["dry_run"] is meant


@pytest.mark.parametrize("value", ["yes", "1", 1, 0, ""])
def test_hazard_023_what_is_no_boolean_is_a_clear_error(value: Any) -> None:
    with pytest.raises(InvalidArguments, match=r"^dry_run must be a boolean"):
        ready(dry_run=value)


def test_what_is_inside_an_array_is_read_as_well() -> None:
    edits = ready(edits='[{"text": "x", "count": "2"}, "{\\"new_string\\": \\"y\\"}"]')["edits"]
    assert edits == [{"text": "x", "count": 2}, {"text": "y"}]


def test_an_error_inside_an_array_says_where() -> None:
    with pytest.raises(InvalidArguments, match=r"^edits\[1\]: Missing argument: text"):
        ready(edits=[{"text": "x"}, {"old_text": "y"}])


def test_text_stays_text_even_if_it_looks_like_json() -> None:
    assert ready(if_match="[1]")["if_match"] == "[1]"
    assert prepare({"path": '{"a": 1}'}, SCHEMA)["path"] == '{"a": 1}'


def test_a_whole_number_where_text_is_wanted_is_its_digits() -> None:
    assert prepare({"path": 2024}, SCHEMA)["path"] == "2024"


def test_null_counts_as_not_given_unless_required() -> None:
    assert ready(tags=None, limit=None) == {"path": "a.md"}
    with pytest.raises(InvalidArguments, match="path"):
        prepare({}, SCHEMA)


@pytest.mark.parametrize(
    "spelling", ["filepath", "file_path", "filePath", "filename", "file", "note", "notePath", "uri"]
)
def test_the_names_other_servers_use_are_taken(spelling: str) -> None:
    assert prepare({spelling: "a.md"}, SCHEMA) == {"path": "a.md"}


def test_camel_case_and_hyphens_are_taken() -> None:
    assert ready(dryRun=True, ifMatch="x", expected_hash=None)["dry_run"] is True
    assert ready(**{"if-match": "x"})["if_match"] == "x"
    assert ready(expected_hash="x")["if_match"] == "x"


def test_old_and_new_text_have_many_names() -> None:
    for old, new in (("old_string", "new_string"), ("oldText", "newText"), ("old_str", "new_str")):
        assert ready(edits=[{old: "a", new: "b"}])["edits"] == [{"old_text": "a", "text": "b"}]


def test_another_spelling_of_what_is_given_is_refused() -> None:
    with pytest.raises(InvalidArguments, match="file is another name for path"):
        ready(file="b.md")


def test_an_unknown_argument_is_an_error_naming_the_nearest() -> None:
    with pytest.raises(InvalidArguments, match=r"Unknown argument: tagz\. The nearest is tags\. This tool takes: path"):
        ready(tagz=["a"])
    with pytest.raises(InvalidArguments, match="Unknown argument: qqq") as caught:
        ready(**{"q" * 5000: 1})
    assert len(caught.value.message) < 300


def test_a_missing_argument_is_named_with_what_there_is() -> None:
    with pytest.raises(InvalidArguments, match=r"Missing argument: path\. This tool takes: path, tags\?"):
        prepare({"limit": 1}, SCHEMA)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from([*SCHEMA["properties"], "file", "x"]) | st.text(max_size=5), JSON, max_size=5))
def test_any_arguments_are_taken_or_refused_with_a_sentence(arguments: dict[str, Any]) -> None:
    try:
        assert prepare(arguments, SCHEMA).keys() <= SCHEMA["properties"].keys()
    except InvalidArguments as error:
        assert 0 < len(error.message) < 2000


# -- what is meant ---------------------------------------------------------------------------------

KINDS = {"type": "string", "enum": ["backlinks", "outgoing", "broken", "orphans", "mentions"]}
SORTS = {"type": "string", "enum": ["path", "modified", "size"]}
MODES = {"type": "string", "enum": ["words", "exact", "regex"]}
OPS = {"type": "string", "enum": ["replace", "append", "prepend", "insert_before", "insert_after", "replace_section"]}
ACTIONS = {"type": "string", "enum": ["add", "remove", "rename"]}


@pytest.mark.parametrize(
    ("said", "schema", "meant"),
    [
        ("incoming", KINDS, "backlinks"),
        ("in-links", KINDS, "backlinks"),
        ("Outbound", KINDS, "outgoing"),
        ("unlinked", KINDS, "mentions"),
        ("dead", KINDS, "broken"),
        ("backlnks", KINDS, "backlinks"),
        ("date", SORTS, "modified"),
        ("mtime", SORTS, "modified"),
        ("name", SORTS, "path"),
        ("title", SORTS, "path"),
        ("substring", MODES, "exact"),
        ("literal", MODES, "exact"),
        ("regexp", MODES, "regex"),
        ("insert_below", OPS, "insert_after"),
        ("insert_above", OPS, "insert_before"),
        ("delete", ACTIONS, "remove"),
    ],
)
def test_the_nearest_choice_is_the_one_that_is_meant(said: str, schema: dict[str, Any], meant: str) -> None:
    with pytest.raises(InvalidArguments, match=f"The nearest is {meant}\\.$"):
        coerce(said, schema, "x")


@pytest.mark.parametrize(("said", "schema"), [("desc", SORTS), ("created", SORTS), ("ongoing", KINDS), ("x", OPS)])
def test_a_word_that_means_none_of_the_choices_gets_no_suggestion(said: str, schema: dict[str, Any]) -> None:
    with pytest.raises(InvalidArguments) as refused:
        coerce(said, schema, "x")
    assert "nearest" not in refused.value.message
    assert all(choice in refused.value.message for choice in schema["enum"])


@pytest.mark.parametrize("name", ["cursor", "section", "folder", "glob", "tag", "template", "if_match", "path"])
@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_text_that_can_mean_nothing_counts_as_not_given(name: str, empty: str) -> None:
    schema = {"properties": {name: {"type": "string"}}}
    assert prepare({name: empty}, schema) == {}


def test_an_empty_text_where_one_is_needed_stays() -> None:
    schema = {"properties": {"path": {"type": "string"}, "text": {"type": "string"}}, "required": ["path"]}
    assert prepare({"path": "", "text": ""}, schema) == {"path": "", "text": ""}


@pytest.mark.parametrize("sent", ['"ab12"', 'W/"ab12"', " ab12 ", "ab12"])
def test_an_etag_may_come_in_the_quotes_of_http(sent: str) -> None:
    schema = {"properties": {"if_match": {"type": "string"}}}
    assert prepare({"if_match": sent}, schema) == {"if_match": "ab12"}
