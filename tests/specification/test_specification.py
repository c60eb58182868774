"""Every sentence of the specification that asks this server for something names the tests that show it.

With MCP_SPECIFICATION naming a checkout of the specification, the table is also held against its pages.
"""

import pytest
from spec_pages import Sentence, asking, levels
from spec_table import LeftOut, Row, is_test, left_out, rows, sentences, stale, unread
from unread import main
from wire_schemas import checkout

from notes_mcp.protocol.values import REVISIONS

ROWS = rows()
needs_checkout = pytest.mark.skipif(
    checkout() is None, reason="MCP_SPECIFICATION names no checkout of the specification"
)


@pytest.mark.parametrize("row", ROWS, ids=[row.says[:60] for row in ROWS])
def test_a_sentence_is_shown_by_tests_that_are_there_or_is_left_undone_for_a_reason(row):
    assert list(row.faults()) == []


def test_the_table_speaks_of_every_revision_and_each_sentence_once():
    assert {sentence.revision for row in ROWS for sentence in row.sentences()} == set(REVISIONS)
    assert len({row.says for row in ROWS}) == len(ROWS)
    assert all(mark.why for mark in left_out())


def test_what_overrules_a_sentence_is_a_row_that_is_followed():
    followed = {row.says: row for row in ROWS if row.tests and not row.overruled_by}
    overruled = [row for row in ROWS if row.overruled_by]
    assert all(row.overruled_by in followed for row in overruled)
    assert len(overruled) == 1


@needs_checkout
@pytest.mark.parametrize("revision", REVISIONS)
def test_every_sentence_of_the_checkout_that_asks_has_a_row_or_a_mark(revision):
    assert unread(sentences(checkout(), revision), ROWS, left_out()) == []


@needs_checkout
def test_every_row_and_every_mark_is_of_something_in_the_checkout():
    found = [sentence for revision in REVISIONS for sentence in sentences(checkout(), revision)]
    assert stale(found, ROWS, left_out()) == []


# -- the table's own rules -----------------------------------------------------------------------------

THIS = "tests/specification/test_specification.py::test_a_test_is_found_by_its_name"
MUST, SHOULD = "Servers MUST do it.", "Servers SHOULD do it."
AT = ("2025-11-25 basic/index#A",)


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (Row("Servers may do it.", AT, (THIS,)), "asks for nothing"),
        (Row(MUST, (), (THIS,)), "nowhere"),
        (Row(MUST, AT), "no test"),
        (Row(MUST, AT, (THIS + "_not",)), "no such test"),
        (Row(MUST, AT, not_followed="too hard"), "cannot be left undone"),
        (Row("It is REQUIRED.", AT, not_followed="too hard"), "cannot be left undone"),
        (Row(MUST, AT, (THIS,), overruled_by=SHOULD), "belong together"),
        (Row(SHOULD, AT, (THIS,), not_followed="no", overruled_by=MUST, why="so"), "either"),
    ],
)
def test_a_row_with_a_fault_is_seen(row, fault):
    assert any(fault in found for found in row.faults())


def test_a_row_is_right_with_tests_or_where_it_only_should_be_with_a_reason():
    for row in (Row(MUST, AT, (THIS,)), Row(SHOULD, AT, not_followed="so"), Row(MUST, AT, (THIS,), "", SHOULD, "so")):
        assert list(row.faults()) == []


def test_a_test_is_found_by_its_name():
    assert is_test(THIS)
    assert is_test("tests/wire/test_jsonrpc.py::TestRequests::test_nothing_else_is_an_id")
    assert not is_test("tests/wire/test_jsonrpc.py::test_nothing_else_is_an_id")
    assert not is_test("tests/wire/test_jsonrpc.py::TestRequests")
    assert not is_test("tests/specification/test_specification.py::made_up_checkout")
    assert not is_test("tests/no_such_folder/test_x.py::test_x")


def test_a_place_names_each_revision_and_a_wrong_one_is_refused():
    row = Row(MUST, ("2025-11-25 2025-06-18 server/tools#Tool Names",))
    assert list(row.sentences()) == [
        Sentence(revision, "server/tools", "Tool Names", MUST) for revision in ("2025-11-25", "2025-06-18")
    ]
    with pytest.raises(ValueError, match="no place"):
        list(Row(MUST, ("server/tools#Tool Names",)).sentences())


@pytest.mark.parametrize(
    ("mark", "covered"),
    [
        (LeftOut("w", pages=("client/*",)), False),
        (LeftOut("w", pages=("server/*",)), True),
        (LeftOut("w", places=("server/tools#Tool*",)), True),
        (LeftOut("w", places=("server/tools",)), False),
        (LeftOut("w", says="Servers MUST"), True),
        (LeftOut("w", says="Servers MUST", unless="do it"), False),
        (LeftOut("w", says="MUST"), False),
        (LeftOut("w", quotes=(MUST,)), True),
        (LeftOut("w", quotes=(MUST[:-1],)), False),
        (LeftOut("w"), False),
    ],
)
def test_a_mark_covers_what_it_names(mark, covered):
    assert mark.covers(Sentence("2025-11-25", "server/tools", "Tool Names", MUST)) is covered


def test_what_clients_alone_are_asked_is_told_by_its_subject():
    (mark,) = [mark for mark in left_out() if mark.says]
    for text in ("Clients SHOULD ask.", "The client MUST ask.", "A client that asks MUST wait."):
        assert mark.covers(Sentence("", "", "", text))
    for text in (
        "Clients and servers MUST ask.",
        "Clients MAY ask; servers MUST answer.",
        "The server MUST ask the client.",
        "Clientele MUST ask.",
    ):
        assert not mark.covers(Sentence("", "", "", text))


# -- reading pages -------------------------------------------------------------------------------------

PAGE = """---
title: MUST not be read
---

Before any heading, servers **MUST** be. [Links](/x) to `it` and [more][ref] are text, _so_ is
what runs over lines. They MAY not ask. It must be in capitals.

## Lists {/* MUST */}

Servers **MUST**:

- Validate input. Twice!
- _Always_ answer
  over two lines
  - and below
- Clients **SHOULD** wait, e.g. Always. Then go.

Then **MUST NOT** be part of the list:

```json
{"MUST": "be skipped"}
```

- not asked

<Note>
  A note **SHOULD NOT** be lost.
</Note>

| Code | It **SHOULD** be a cell | other |
| ---- | ----------------------- | ----- |

### Escapes &mdash; here

Names with underscore (\\_) are **RECOMMENDED** and snake_case stays. Servers **SHOULD** know "MUST NOT":

[ref]: /MUST
"""
SCHEMA = """
// MUST not be read
/**
 * A tool.  Servers MUST
 * have one, see {@link Tool | the type} and {@link Prompt}.
 *
 * @example MUST be skipped
 * {@includeCode ./MUST.json}
 */
export interface Tool extends Base {
  /** Its name SHOULD be short. */
  name: string;
  /**
   * Keys REQUIRED:
   * - one
   */
  "io.x/y"?: string;
}

/** One thing MUST NOT be. */
export const ONE = 1;
"""


def told(page, text):
    return [(each.section, each.text) for each in asking("2030-01-01", page, text)]


def test_a_page_gives_its_asking_sentences_as_they_read():
    assert told("basic/index", PAGE) == [
        ("", "Before any heading, servers MUST be."),
        ("Lists", "Servers MUST: Validate input. Twice!"),
        ("Lists", "Servers MUST: Always answer over two lines"),
        ("Lists", "Servers MUST: and below"),
        ("Lists", "Servers MUST: Then go."),
        ("Lists", "Clients SHOULD wait, e.g. Always."),
        ("Lists", "Then MUST NOT be part of the list: not asked"),
        ("Lists", "A note SHOULD NOT be lost."),
        ("Lists", "It SHOULD be a cell"),
        ("Escapes — here", "Names with underscore (_) are RECOMMENDED and snake_case stays."),
        ("Escapes — here", 'Servers SHOULD know "MUST NOT":'),
    ]


def test_comments_of_the_schema_stand_under_what_they_explain():
    assert told("schema", SCHEMA) == [
        ("Tool", "Servers MUST have one, see the type and Prompt."),
        ("Tool.name", "Its name SHOULD be short."),
        ("Tool.io.x/y", "Keys REQUIRED: one"),
        ("ONE", "One thing MUST NOT be."),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("MUST NOT and SHOULD", {"MUST NOT", "SHOULD"}),
        ("REQUIRED, NOT RECOMMENDED", {"REQUIRED", "NOT RECOMMENDED"}),
        ("must, MAY, MUSTER, OPTIONAL", set()),
    ],
)
def test_only_words_in_capitals_ask(text, words):
    assert levels(text) == words


SORTED = next(row.says for row in ROWS if row.says.startswith("Servers SHOULD return tools in a deterministic order"))


@pytest.fixture
def made_up_checkout(tmp_path):
    """A checkout with one revision of one page and a schema."""
    page = tmp_path / "docs" / "specification" / "2030-01-01" / "server" / "tools.mdx"
    page.parent.mkdir(parents=True)
    page.write_text("# Tools\n\nServers MUST have some. Clients MUST ask.\n\n" + SORTED, "utf-8")
    (page.parents[1] / "schema.mdx").write_text("Made of the schema, which it MUST be.\n", "utf-8")
    schema = tmp_path / "schema" / "2030-01-01" / "schema.ts"
    schema.parent.mkdir(parents=True)
    schema.write_text("/** It MUST be. */\nexport interface A {}\n", "utf-8")
    return tmp_path


def test_what_has_neither_row_nor_mark_is_listed_and_what_is_gone_too(made_up_checkout):
    found = sentences(made_up_checkout, "2030-01-01")
    table = [Row("Servers MUST have some.", ("2030-01-01 server/tools#Tools",))]
    marks = [LeftOut("clients", says="Clients "), LeftOut("types", places=("schema#A",))]
    assert [each.text for each in unread(found, table, marks)] == [SORTED]
    assert stale(found, table, marks) == []
    table.append(Row("Servers MUST have some.", ("2030-01-01 server/tools#Other",)))
    marks += [LeftOut("w", quotes=("gone",)), LeftOut("w", pages=("client/*",)), LeftOut("w", places=("x#y",))]
    assert len(stale(found, table, marks)) == 4


def test_the_script_lists_what_is_to_be_gone_through(made_up_checkout, capsys):
    assert main(str(made_up_checkout), "2030-01-01") == 1
    told = capsys.readouterr().out
    assert "2030-01-01 server/tools\n    [Tools] Servers MUST have some.\n  = [Tools] Servers SHOULD return" in told
    assert "Clients MUST ask." not in told
    assert told.endswith("3 sentences to go through\n")
    (made_up_checkout / "docs/specification/2030-01-01/server/tools.mdx").write_text("Nothing.\n", "utf-8")
    (made_up_checkout / "schema/2030-01-01/schema.ts").write_text("", "utf-8")
    assert main(str(made_up_checkout), "2030-01-01") == 0
