"""The parser of the query language of docs/query-language.md.

A scanner splits the text into chunks, and operators bind them into groups. Every text is a valid query:
what is not valid syntax is read as words, with a note.
"""

from __future__ import annotations

import re
from collections.abc import Container

from msgspec.structs import replace

from esr.query.chunks import SIGNS, Scanner
from esr.query.operators import bind_operators, make_group, resolve_parentheses
from esr.query.query import (
    OPERATORS,
    TEXT,
    Clause,
    Group,
    Note,
    ParsedQuery,
)
from esr.query.quote_marks import CLOSING_MARKS

_WORDS = re.compile(r"\S+")
_SYNTAX = re.compile(
    rf"[:*]|(?i:speaker~)|(?<![^\s()])(?:[{re.escape(SIGNS + ''.join(CLOSING_MARKS))}]|"
    rf"(?:{'|'.join(sorted(OPERATORS))})(?![^\s)]))"
)
"""Anything that may be syntax: a text without a match consists of words alone."""


def parse(text: str) -> ParsedQuery:
    """Parse a query. Any text is a query: what is not syntax is words."""
    # Most queries have no syntax, and scanning them would take ten times as long.
    return parse_syntax(text) if may_have_syntax(text) else literal(text)


def may_have_syntax(text: str) -> bool:
    """Whether anything in a text looks like syntax. If not, all of it is words."""
    return _SYNTAX.search(text) is not None


def parse_syntax(text: str) -> ParsedQuery:
    """Parse a text that may have syntax."""
    query = _read(text)
    if "(" in text:  # uniform quotation marks may close a quote that was left open before a parenthesis
        again = _read(" ".join(query.pieces))
        is_same = again.pieces == query.pieces
        if not is_same or [note.kind for note in again.notes] != [note.kind for note in query.notes]:
            return replace(query, spelling=text)
    return query


def _read(text: str) -> ParsedQuery:
    grouping: Container[int] | None = None if "(" in text else frozenset()
    failed: list[Note] = []
    for n in range(_PASSES):
        scanner = Scanner(text, grouping if n < _PASSES - 1 else frozenset())
        chunks, notes = scanner.scan(), scanner.notes
        parts = bind_operators(resolve_parentheses(chunks, failed), notes)
        grouping = {place for part in parts for place in part.parentheses}
        if all(chunk.end - 1 in grouping for chunk in chunks if chunk.is_parenthesis):
            break
    return ParsedQuery(text, tuple(map(make_group, parts)), tuple(sorted({*notes, *failed})))


_PASSES = 4
"""Maximum number of times a text is read: repeated reading treats parentheses that do not group as words."""


def literal(text: str) -> ParsedQuery:
    """Read a text as words alone, even where it looks like syntax."""
    groups = []
    for match in _WORDS.finditer(text):
        start, end = match.span()
        clause = Clause(TEXT, "word", match[0], start, end)
        groups.append(Group("wanted", (clause,), start, end))
    return ParsedQuery(text, tuple(groups))
