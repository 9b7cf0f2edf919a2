"""The parser of the query language of docs/query-language.md."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from esr.queries.fields import TEXT
from esr.queries.notes import Note, NoteKind, write_note
from esr.queries.query import OPERATORS, Clause, Group, ParsedQuery, Role
from esr.queries.quotes import CLOSING_MARKS
from esr.queries.scanner import SIGNS, Chunk, Scanner

_new_tuple = tuple.__new__
_WORDS = re.compile(r"\S+")
_SYNTAX = re.compile(
    rf"[:*]|(?<!\S)(?:[{re.escape(SIGNS + ''.join(CLOSING_MARKS))}]|(?:{'|'.join(sorted(OPERATORS))})(?!\S))"
)
"""What may be syntax: without any of it, a text is words alone."""


def parse(text: str) -> ParsedQuery:
    """What a query says. Any text is a query: what is no syntax is words."""
    # Most queries have none, and to scan them takes ten times as long.
    return parse_syntax(text) if may_have_syntax(text) else literal(text)


def may_have_syntax(text: str) -> bool:
    """Whether anything in a text looks like syntax. If nothing does, all of it is words."""
    return _SYNTAX.search(text) is not None


def parse_syntax(text: str) -> ParsedQuery:
    """The same, for a text that may have syntax."""
    scanner = Scanner(text)
    chunks = scanner.scan()
    notes = scanner.notes
    groups = tuple(_bind_or(list(_bind_not(chunks, notes)), notes))
    return ParsedQuery(text, groups, tuple(sorted(notes)))


def literal(text: str) -> ParsedQuery:
    """The query with all of its text as words, whatever they look like."""
    groups = []
    for match in _WORDS.finditer(text):
        start, end = match.span()
        # As Clause(...) and Group(...) make them, in half of the time.
        clause = _new_tuple(Clause, (TEXT, "word", match[0], start, end))
        groups.append(_new_tuple(Group, ("wanted", (clause,), start, end)))
    return ParsedQuery(text, tuple(groups))


def _bind_not(chunks: Sequence[Chunk], notes: list[Note]) -> Iterator[Chunk]:
    """The chunks with "-" for NOT."""
    remaining = iter(range(len(chunks)))
    for n in remaining:
        chunk = chunks[n]
        if _is_operator(chunk, "NOT"):
            if n + 1 < len(chunks) and chunks[n + 1].can_be_excluded:
                yield chunks[next(remaining)]._replace(start=chunk.start, sign="-")
                continue
            notes.append(write_note(chunk.start, chunk.end, NoteKind.NOT))
        elif _is_operator(chunk, "AND"):
            notes.append(write_note(chunk.start, chunk.end, NoteKind.AND))
        yield chunk


def _bind_or(chunks: Sequence[Chunk], notes: list[Note]) -> Iterator[Group]:
    """A group for each chunk, one for all that OR joins."""
    n = 0
    while n < len(chunks):
        first = n
        while n + 2 < len(chunks) and _joins(*chunks[n : n + 3]):
            n += 2
        alternatives = chunks[first : n + 1 : 2]
        if len(alternatives) > 1:
            notes.extend(_note_parentheses(alternatives))
        elif _is_operator(chunks[n], "OR"):
            notes.append(write_note(chunks[n].start, chunks[n].end, NoteKind.OR))
        yield _make_group(alternatives)
        n += 1


def _is_operator(chunk: Chunk, operator: str) -> bool:
    return not chunk.is_operand and chunk.text == operator


def _joins(left: Chunk, middle: Chunk, right: Chunk) -> bool:
    """Is the chunk in the middle an OR between alternatives?"""
    return _is_operator(middle, "OR") and all(c.is_operand and c.sign != "-" for c in (left, right))


def _make_group(chunks: Sequence[Chunk]) -> Group:
    clauses = tuple(Clause(c.field, c.form, c.text, c.start, c.end) for c in chunks)
    return Group(_role_of(chunks), clauses, chunks[0].start, chunks[-1].end)


def _role_of(chunks: Sequence[Chunk]) -> Role:
    first = chunks[0]
    if first.sign == "-":
        return "excluded"
    is_plain_word = not first.sign and first.field == TEXT and first.form == "word"
    return "wanted" if is_plain_word and len(chunks) == 1 else "required"


def _note_parentheses(alternatives: Sequence[Chunk]) -> Iterator[Note]:
    """Notes on parentheses among alternatives: `A OR (B C)` looks as if C were one too."""
    for chunk in alternatives:
        if chunk.form != "phrase" and chunk.text.count("(") != chunk.text.count(")"):
            yield write_note(chunk.start, chunk.end, NoteKind.PARENTHESIS)
