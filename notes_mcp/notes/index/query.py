"""Pure: a person's words -> a `Query` -> a safe full-text query. No I/O; never raises on any string.

Owns the grammar: words (all must match), "phrases", -word, prefix*, OR between words, tag:x, path:x,
title:x, [property:value]. What does not fit the grammar is taken as words; user text is never query syntax.
`parse(text)` -> Query; `to_fts(query)` -> an FTS5 expression; filters are for `searching` to apply.
"""

import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from notes_mcp.notes.index.segment import fold, is_unspaced, key, segment
from notes_mcp.notes.index.stem import hidden_by_prefix

MAX_CHARS = 4_000
MAX_TERMS = 64
MAX_TOKENS = 256

_OPENING = '"“”„«「『'
_CLOSING = {'"': '"', "“": '”“"', "”": '”"', "„": '“”"', "«": "»", "「": "」", "『": "』"}
_FIELD = re.compile(r"(tag|path|title|file):", re.IGNORECASE)
_PROPERTY = re.compile(r"\[([^\[\]:\"]+):([^\[\]]*)\](?!\()")
_WORD = re.compile(r"[^\s\"“”„«»「」『』]+")
_OPERATORS = {"OR": True, "AND": False}
_SPACE = re.compile(r"\s+")

FilterKind: TypeAlias = Literal["tag", "path", "property"]


@dataclass(frozen=True, slots=True)
class Term:
    """A word or phrase. `tokens` are folded and segmented; several stand in this order, next to each other."""

    tokens: tuple[str, ...]
    quoted: bool = False
    prefix: bool = False
    column: Literal["", "title"] = ""


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition that is not full text. `name` and `value` are keys as `segment.key` makes them."""

    kind: FilterKind
    name: str  # of the tag, part of the path, name of the property
    value: str = ""  # of the property; "": any
    negative: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """`clauses` must all match, each by one of its terms; no note with one of `excluded` matches.

    `wordless` is true when the text held no word at all, only filters or nothing: then everything the
    filters let through matches. Text with words of which none can be searched ("???") matches nothing. `sure` are
    phrases that stand in the text of a note itself, front matter and all; see `narrowing`.
    """

    clauses: tuple[tuple[Term, ...], ...] = ()
    excluded: tuple[Term, ...] = ()
    filters: tuple[Filter, ...] = ()
    wordless: bool = True
    sure: tuple[tuple[str, ...], ...] = ()

    def terms(self) -> Iterator[Term]:
        """The terms that are looked for, in order."""
        for clause in self.clauses:
            yield from clause


@dataclass(frozen=True, slots=True)
class _Piece:
    field: str
    text: str
    quoted: bool
    negative: bool
    value: str = ""


def parse(text: str) -> Query:
    """The query that `text` means."""
    clauses: list[tuple[Term, ...]] = []
    excluded: list[Term] = []
    filters: list[Filter] = []
    wordless, joined, left = True, False, MAX_TOKENS
    for number, piece in enumerate(_pieces(text[:MAX_CHARS])):
        if number >= MAX_TERMS:
            break
        if piece.field in ("tag", "path", "property"):
            filters.extend(_filter(piece))
            continue
        if clauses and piece.text in _OPERATORS and not (piece.field or piece.quoted or piece.negative):
            joined = _OPERATORS[piece.text]
            continue
        term = _term(piece, left)
        wordless = wordless and piece.negative
        if term is None:
            continue
        left -= len(term.tokens)
        if piece.negative:
            excluded.append(term)
        elif joined:
            clauses[-1] = (*clauses[-1], term)
        else:
            clauses.append((term,))
        joined = False
    return Query(tuple(clauses), tuple(excluded), tuple(filters), wordless)


def phrase(text: str) -> Query:
    """The query for `text` as one phrase, nothing in it being grammar."""
    tokens = tokenize(text[:MAX_CHARS])[:MAX_TOKENS]
    return Query(((Term(tokens, quoted=True),),) if tokens else (), wordless=not text.strip())


def to_fts(query: Query, *, relaxed: bool = False, columns: str = "") -> str | None:
    """`query` in the syntax of FTS5 (sqlite.org/fts5.html section 3); None when it looks for no word.

    `relaxed`: any of the words will do, and words run together are taken apart. `columns`: all in one of these.
    """
    if relaxed:
        parts = [_fts(part) for term in query.terms() for part in _taken_apart(term)]
        wanted = " OR ".join(dict.fromkeys(parts))
    else:
        clauses = (" OR ".join(map(_fts, clause)) for clause in query.clauses)
        wanted = " AND ".join(f"({clause})" for clause in clauses)
    if not wanted:
        return None
    return _allowed(f"{{{columns}}} : ({wanted})" if columns else wanted, query)


def together_fts(query: Query, within: int) -> str | None:
    """Where all the words stand with at most `within` others between them; None for words that cannot be asked so:
    a single one, a choice, a part of a word, words of a title."""
    terms = list(query.terms())
    if len(terms) < 2 or len(terms) > len(query.clauses) or any(term.prefix or term.column for term in terms):
        return None
    return _allowed(f"NEAR({' '.join(map(_fts, terms))}, {within})", query)


def in_order_fts(query: Query, column: str = "") -> str | None:
    """Where the words stand one after the other as they were asked for; None as for `together_fts`, but for one term
    too if it is a `column`'s."""
    terms = list(query.terms())
    if not terms or len(terms) > len(query.clauses) or any(term.prefix for term in terms):
        return None
    if not column and (len(terms) < 2 or any(term.column for term in terms)):
        return None
    wanted = _fts(Term(tuple(token for term in terms for token in term.tokens)))
    return _allowed(f"{{{column}}} : {wanted}" if column else wanted, query)


def excluded_fts(query: Query) -> str | None:
    """What must not match, in the syntax of FTS5; None if nothing is excluded."""
    return " OR ".join(map(_fts, query.excluded)) or None


def _allowed(wanted: str, query: Query) -> str:
    unwanted = excluded_fts(query)
    return f"({wanted}) NOT ({unwanted})" if unwanted else wanted


def can_relax(query: Query) -> bool:
    """Whether the relaxed query asks for less than the strict one."""
    return len(query.clauses) > 1 or any(len(_taken_apart(term)) > 1 for term in query.terms())


def tokenize(text: str) -> tuple[str, ...]:
    """The words of `text` as the index knows them, before stemming."""
    return tuple("".join(c if _in_word(c) else " " for c in segment(fold(text))).split())


def _in_word(char: str) -> bool:
    category = unicodedata.category(char)
    return category[0] in "LNM" or category == "Co"


def _pieces(text: str) -> Iterator[_Piece]:
    at = 0
    while True:
        space = _SPACE.match(text, at)
        at = space.end() if space else at
        if at >= len(text):
            return
        piece, at = _piece(text, at)
        yield piece


def _piece(text: str, start: int) -> tuple[_Piece, int]:
    negative = text[start] in "-−" and start + 1 < len(text) and not text[start + 1].isspace()
    at = start + negative
    found = _PROPERTY.match(text, at)
    if found:
        name, value = found[1].strip(), found[2].strip().strip("\"'")
        if name:
            return _Piece("property", name, False, negative, value), found.end()
    found = _FIELD.match(text, at)
    field = ""
    if found and found.end() < len(text) and not text[found.end()].isspace():
        field = found[1].lower().replace("file", "path")
        at = found.end()
    if at < len(text) and text[at] in _OPENING:
        end = next((i for i in range(at + 1, len(text)) if text[i] in _CLOSING[text[at]]), -1)
        if end >= 0:
            return _Piece(field, text[at + 1 : end], True, negative), end + 1
        at += 1  # a quotation mark without its other half means nothing
    word = _WORD.match(text, at)
    if word is None:
        return _Piece(field, "", False, negative), max(at, start + 1)
    return _Piece(field, word[0], False, negative), word.end()


def _term(piece: _Piece, most: int) -> Term | None:
    tokens = tokenize(piece.text)[: max(most, 0)]
    if not tokens:
        return None
    prefix = not piece.quoted and piece.text.endswith("*") and not is_unspaced(tokens[-1])
    return Term(tokens, piece.quoted, prefix, "title" if piece.field == "title" else "")


def _filter(piece: _Piece) -> Iterator[Filter]:
    name = key(piece.text).strip()
    if piece.field == "tag":
        name = name.strip("#/").removesuffix("*").rstrip("/")
    if piece.field == "path":
        name = name.replace("\\", "/").removesuffix("*").lstrip("/")
    if not name:
        return
    kind: FilterKind = "tag" if piece.field == "tag" else "path" if piece.field == "path" else "property"
    yield Filter(kind, name, key(piece.value), piece.negative)


def _fts(term: Term) -> str:
    """One term; a prefix also stands for the words that its own stem hides: `relatio*` for `relation`."""
    quoted = '"' + " ".join(term.tokens).replace('"', '""') + '"'
    column = "{title} : " if term.column else ""
    if not term.prefix:
        return column + quoted
    hidden = (" ".join((*term.tokens[:-1], word)) for word in hidden_by_prefix(term.tokens[-1]))
    alternatives = [f"{quoted} *", *(f'"{words}"' for words in hidden)]
    return f"{column}({' OR '.join(alternatives)})"


def _taken_apart(term: Term) -> list[Term]:
    """The pieces of words run together: pairs of characters in unspaced scripts, else the single words."""
    tokens = term.tokens
    if term.quoted or len(tokens) < 2:
        return [term]
    parts: list[tuple[str, ...]] = []
    for run in _runs(tokens):
        parts.extend(itertools.pairwise(run) if len(run) > 1 else [run])
    last = len(parts) - 1
    return [Term(part, False, term.prefix and n == last, term.column) for n, part in enumerate(parts)]


def _runs(tokens: Iterable[str]) -> Iterator[tuple[str, ...]]:
    run: list[str] = []
    for token in tokens:
        if is_unspaced(token):
            run.append(token)
            continue
        if run:
            yield tuple(run)
            run = []
        yield (token,)
    if run:
        yield tuple(run)
