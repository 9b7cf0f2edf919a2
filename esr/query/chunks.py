"""The scanner of queries: splits a text into chunks.

A chunk is a word, a phrase or a field, each with its sign, or a parenthesis.
"""

from __future__ import annotations

import re
from collections.abc import Container
from typing import NamedTuple
from unicodedata import category

from esr.errors import find_nearest
from esr.query.query import (
    EXPECTED,
    FIELDS,
    FIELDS_BY_NAME,
    OPERATORS,
    TEXT,
    Field,
    Form,
    Note,
    NoteKind,
    find_field,
    has_letter_or_digit,
    is_valid,
    write_note,
)
from esr.query.quote_marks import CLOSING_MARKS, QuoteFinder

SIGNS = "+-"

_SPACE = re.compile(r"\s")
_NO_SPACE = re.compile(r"\S")
_NO_SIGN = re.compile(rf"[^{SIGNS}]")

_FIELD_NAME = re.compile(
    rf"""(meta\.(?:"[^"\n]{{1,200}}"|[^\s:"]{{1,200}})|[^\s:]{{1,{2 + max(map(len, FIELDS_BY_NAME))}}})"""
    r"""(?::|(?<=speaker~)(?=["“”„＂\w]))""",
    re.I,
)
"""A candidate for a field name. A misspelt one may have two letters more than the longest field name.

The colon may be left out after a tilde: `speaker~"Theresa May"`.
"""
_SIMILARITY = 0.8
"""Minimum similarity of a misspelt name to a field: `titel` is near `title`, `version` not near `person`."""


NESTING = 10
"""Maximum depth of nested parentheses. Elasticsearch accepts conditions three times as deep."""


class Chunk(NamedTuple):
    """A piece of a query between white space, quotes or parentheses. `sign` is "+", "-" or empty.

    Operators apply only to operands. Text that merely looks like syntax is no operand, nor are operators and
    parentheses, which are separate chunks.
    """

    start: int
    end: int
    sign: str
    field: str
    form: Form
    text: str
    is_operand: bool
    is_parenthesis: bool = False

    @property
    def is_word(self) -> bool:
        """Whether it is a word of the text, as typed, with or without a sign."""
        return self.field == TEXT and self.form == "word"

    @property
    def can_be_excluded(self) -> bool:
        """Whether a "-" could be put before it, or in place of its "+"."""
        begins_clause = self.field != TEXT or self.form == "phrase" or self.text[0].isalnum()
        return self.is_operand and self.sign != "-" and begins_clause


def split_field(chunk: str) -> tuple[Field, str] | None:
    """Split a chunk without sign into its field and the text after the colon; None if it names no field."""
    match = _FIELD_NAME.match(chunk)
    field = find_field(match[1]) if match else None
    return (field, chunk[match.end() :]) if match and field else None


def write_value(field: str, value: str) -> str | None:
    """Write a value as it follows a field such as `source:` in a query, quoted if needed.

    None if no quotes can hold the value.
    """
    quoted = (f"{mark}{value}{closing[0]}" for mark, closing in CLOSING_MARKS.items())
    return next((form for form in (value, *quoted) if _is_value(field + form, value)), None)


def _is_value(text: str, value: str) -> bool:
    """Whether the text is read as one field with this value."""
    first, *others = Scanner(text).scan()
    return not others and first.field != TEXT and first.text == value


class Scanner:
    """Splits a query into chunks in one pass, and notes what is not read as syntax."""

    def __init__(self, text: str, grouping: Container[int] | None = frozenset()) -> None:
        """`grouping`: the positions of the parentheses that may be separate chunks; None for all."""
        self.notes: list[Note] = []
        self._text = text
        self._quotes = QuoteFinder(text)
        self._grouping = grouping
        self._depth = 0

    def scan(self) -> list[Chunk]:
        """All chunks, in order. Every character except white space is in one of them."""
        chunks: list[Chunk] = []
        position = 0
        while match := _NO_SPACE.search(self._text, position):
            chunks.append(self._read_chunk(match.start()))
            position = chunks[-1].end
        return chunks

    def _read_chunk(self, start: int) -> Chunk:
        body = self._skip(_NO_SIGN, start)
        if parenthesis := self._read_parenthesis(start, body):
            return parenthesis
        if body - start > 1:
            return self._read_as_words(start, NoteKind.SEVERAL_SIGNS)
        if self._quotes.opens_at(body):
            return self._read_phrase(start, body)
        if match := _FIELD_NAME.match(self._text, body):
            if field := find_field(match[1]):
                return self._read_field(start, field, match.end())
            self._note_unknown_field(start, match[1], match.end())
        return self._read_word(start, body)

    def _read_parenthesis(self, start: int, body: int) -> Chunk | None:
        """Read an opening parenthesis, with or without a sign, or a closing one; None for other text."""
        mark = self._text[body : body + 1]
        if mark not in ("(", ")") or not (self._grouping is None or body in self._grouping):
            return None
        if mark == "(" and body - start <= 1 and self._depth < NESTING:
            self._depth += 1
        elif mark == ")" and body == start and self._depth:
            self._depth -= 1
        else:
            return None
        return Chunk(start, body + 1, self._text[start:body], TEXT, "word", mark, False, is_parenthesis=True)

    def _read_word(self, start: int, body: int) -> Chunk:
        sign, end = self._text[start:body], self._find_chunk_end(body)
        text = self._text[body:end]
        if sign and not text[:1].isalnum():
            return self._read_as_words(start, NoteKind.SIGN)
        if not sign and text in OPERATORS:
            return Chunk(start, end, "", TEXT, "word", text, is_operand=False)
        return self._split_star(Chunk(start, end, sign, TEXT, "word", text, has_letter_or_digit(text)))

    def _read_phrase(self, start: int, quote: int, field: Field | None = None) -> Chunk:
        """Read a chunk that starts with a sign, a field or both, before a quotation mark."""
        end = self._quotes.find_end(quote)
        if end is None:
            return self._read_as_words(start, NoteKind.QUOTE)
        text = self._text[quote + 1 : end - 1]
        if not has_letter_or_digit(text):
            return self._read_as_words(start, NoteKind.EMPTY_PHRASE, end)
        if field and not is_valid(field.kind, text, is_quoted=True):
            return self._read_bad_value(start, end, field)
        return Chunk(start, end, self._sign_at(start), field.name if field else TEXT, "phrase", text, True)

    def _read_field(self, start: int, field: Field, value: int) -> Chunk:
        if self._quotes.opens_at(value):
            return self._read_phrase(start, value, field)
        end = self._find_chunk_end(value)
        text = self._text[value:end]
        if not text:
            return self._read_as_words(
                start, NoteKind.MISSING_VALUE, end, field=field.name, example=field.example
            )
        if text[0] in SIGNS:
            return self._read_as_words(start, NoteKind.SIGN_IN_VALUE, end, example=field.example)
        if not is_valid(field.kind, text, is_quoted=False):
            return self._read_bad_value(start, end, field)
        # Without quotes, only words may have a star.
        return self._split_star(Chunk(start, end, self._sign_at(start), field.name, "word", text, True))

    def _read_bad_value(self, start: int, end: int, field: Field) -> Chunk:
        return self._read_as_words(
            start, NoteKind.BAD_VALUE, end, field=field.name, expected=EXPECTED[field.kind]
        )

    def _read_as_words(self, start: int, kind: NoteKind, end: int | None = None, **values: str) -> Chunk:
        """The chunk as typed, with a note on why it is not read as syntax."""
        if end is None:
            end = self._find_chunk_end(start)
        self.notes.append(write_note(start, end, kind, **values))
        return Chunk(start, end, "", TEXT, "word", self._text[start:end], is_operand=False)

    def _split_star(self, chunk: Chunk) -> Chunk:
        """The chunk as a prefix, if it ends in a star. A star elsewhere is part of the word."""
        if "*" not in chunk.text:
            return chunk
        prefix = chunk.text[:-1]
        if chunk.text.endswith("*") and "*" not in prefix and _ends_in_letter_or_digit(prefix):
            return chunk._replace(form="prefix", text=prefix)
        self.notes.append(write_note(chunk.start, chunk.end, NoteKind.STAR))
        return chunk

    def _note_unknown_field(self, start: int, name: str, value: int) -> None:
        """Note a name that is nearly a field's, or that precedes quotes. Others are common: `http://x`."""
        if not _NO_SPACE.match(self._text, value):
            return
        if nearest := find_nearest(name.lower(), tuple(FIELDS_BY_NAME), _SIMILARITY):
            self.notes.append(write_note(start, value, NoteKind.MISSPELT_FIELD, name=name, nearest=nearest))
        elif self._quotes.opens_at(value):
            known = ", ".join(field.name for field in FIELDS)
            self.notes.append(write_note(start, value, NoteKind.UNKNOWN_FIELD, name=name, known=known))

    def _find_chunk_end(self, start: int) -> int:
        """The end of a chunk, before parentheses that may close an earlier one, but not those of `f(x)`."""
        end = self._skip(_SPACE, start)
        if not self._depth or self._text[end - 1] != ")":
            return end
        text = self._text[start:end]
        most = min(self._depth, text.count(")") - text.count("("))
        if self._grouping is not None:
            most = sum(place in self._grouping for place in range(start + len(text.rstrip(")")), end))
        return end - max(0, min(most, len(text) - len(text.rstrip(")"))))

    def _skip(self, until: re.Pattern[str], start: int) -> int:
        """The position of the next match of `until`, or the end of the text."""
        match = until.search(self._text, start)
        return match.start() if match else len(self._text)

    def _sign_at(self, start: int) -> str:
        return self._text[start] if self._text[start] in SIGNS else ""


def _ends_in_letter_or_digit(text: str) -> bool:
    """Whether a text ends in a letter, possibly with marks (accents, Indic vowels), or in a digit."""
    return has_letter_or_digit(text) and (text[-1].isalnum() or category(text[-1]).startswith("M"))
