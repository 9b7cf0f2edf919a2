"""The parser of the query language of docs/query-language.md.

A scanner splits the text into chunks: words, phrases and fields, each with its sign. Then operators bind them
into groups. Every text is a query: whatever is not valid syntax is read as words, with a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from unicodedata import category

from esr.errors import find_nearest
from esr.query.query import (
    EXPECTED,
    FIELDS,
    FIELDS_BY_NAME,
    OPERATORS,
    TEXT,
    Clause,
    Field,
    Form,
    Group,
    Note,
    NoteKind,
    ParsedQuery,
    Role,
    find_field,
    has_letter_or_digit,
    is_valid,
    write_note,
)

# Quotes

CLOSING_MARKS = {
    '"': '"',
    "“": "”",  # English, Spanish, Turkish, Chinese
    "„": "“”",  # German, Czech; Polish, Romanian, Dutch
    "”": "”",  # Swedish, Finnish
    "«": "»",  # French, Italian, Russian, Arabic
    "»": "«",  # Danish, German in print
    "「": "」",  # Japanese, Chinese
    "『": "』",
    "＂": "＂",  # as input methods for Chinese and Japanese type it
}
"""The marks that may close a phrase, by the mark that opens it.

These are the marks of the languages that esr has analyzers for, as phones and word processors insert them
unasked. Single marks are left out, since most are apostrophes. So is the »…» of Finnish, since » also
separates the parts of a path (Home » News » Europe).
"""

_CLOSING = {mark: re.compile(f"[{closing}]") for mark, closing in CLOSING_MARKS.items()}


class QuoteFinder:
    """Finds where the quotes of a text end.

    It records the last position of each closing mark in advance. Otherwise a text of many unmatched marks
    would take quadratic time, searching to the end for each.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._last = {
            mark: max(map(text.rfind, closing)) for mark, closing in CLOSING_MARKS.items() if mark in text
        }

    def opens_at(self, position: int) -> bool:
        """Whether there is an opening mark, matched or not."""
        return self._text[position : position + 1] in CLOSING_MARKS

    def find_end(self, start: int) -> int | None:
        """The end of the quote that opens at `start`, after its closing mark; None if unmatched."""
        mark = self._text[start]
        if self._last[mark] <= start:
            return None
        closing = _CLOSING[mark].search(self._text, start + 1)
        assert closing
        return closing.end()


# Chunks

SIGNS = "+-"

_SPACE = re.compile(r"\s")
_NO_SPACE = re.compile(r"\S")
_NO_SIGN = re.compile(rf"[^{SIGNS}]")

_FIELD_NAME = re.compile(
    rf"""(meta\.(?:"[^"\n]{{1,200}}"|[^\s:"]{{1,200}})|[^\s:]{{1,{2 + max(map(len, FIELDS_BY_NAME))}}}):""",
    re.I,
)
"""A candidate for a field name. A misspelt one may be two letters longer than the longest field."""
_SIMILARITY = 0.8
"""Least similarity of a misspelt name to a field: `titel` is near `title`, `version` not near `person`."""


class Chunk(NamedTuple):
    """A piece of a query between white space or quotes. `sign` is "+", "-" or empty.

    Operators apply only to operands. Text that merely looks like syntax is no operand, nor is an operator.
    """

    start: int
    end: int
    sign: str
    field: str
    form: Form
    text: str
    is_operand: bool

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
    """Write a value as a query has it after a field such as `source:`, quoted if needed.

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

    def __init__(self, text: str) -> None:
        self.notes: list[Note] = []
        self._text = text
        self._quotes = QuoteFinder(text)

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
        if body - start > 1:
            return self._read_as_words(start, NoteKind.SEVERAL_SIGNS)
        if self._quotes.opens_at(body):
            return self._read_phrase(start, body)
        if match := _FIELD_NAME.match(self._text, body):
            if field := find_field(match[1]):
                return self._read_field(start, field, match.end())
            self._note_unknown_field(start, match[1], match.end())
        return self._read_word(start, body)

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
        """The chunk as typed, with a note that says why it is not read as syntax."""
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
        return self._skip(_SPACE, start)

    def _skip(self, until: re.Pattern[str], start: int) -> int:
        """The position of the next match of `until`, or the end of the text."""
        match = until.search(self._text, start)
        return match.start() if match else len(self._text)

    def _sign_at(self, start: int) -> str:
        return self._text[start] if self._text[start] in SIGNS else ""


def _ends_in_letter_or_digit(text: str) -> bool:
    """The last letter may have marks: accents, or vowels of Indic scripts."""
    return has_letter_or_digit(text) and (text[-1].isalnum() or category(text[-1]).startswith("M"))


# The parser

_new_tuple = tuple.__new__
_WORDS = re.compile(r"\S+")
_SYNTAX = re.compile(
    rf"[:*]|(?<!\S)(?:[{re.escape(SIGNS + ''.join(CLOSING_MARKS))}]|(?:{'|'.join(sorted(OPERATORS))})(?!\S))"
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
    scanner = Scanner(text)
    chunks = scanner.scan()
    notes = scanner.notes
    groups = tuple(_bind_or(list(_bind_not(chunks, notes)), notes))
    return ParsedQuery(text, groups, tuple(sorted(notes)))


def literal(text: str) -> ParsedQuery:
    """Read all of a text as words, even what looks like syntax."""
    groups = []
    for match in _WORDS.finditer(text):
        start, end = match.span()
        # Same result as Clause(...) and Group(...), in half the time.
        clause = _new_tuple(Clause, (TEXT, "word", match[0], start, end))
        groups.append(_new_tuple(Group, ("wanted", (clause,), start, end)))
    return ParsedQuery(text, tuple(groups))


def _bind_not(chunks: Sequence[Chunk], notes: list[Note]) -> Iterator[Chunk]:
    """Yield the chunks, with NOT replaced by the sign "-"."""
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
    """Yield a group for each chunk, or for chunks joined by OR."""
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
    """Whether the middle chunk is an OR between alternatives."""
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
    """Note parentheses among alternatives: `A OR (B C)` looks as if C were an alternative too."""
    for chunk in alternatives:
        if chunk.form != "phrase" and chunk.text.count("(") != chunk.text.count(")"):
            yield write_note(chunk.start, chunk.end, NoteKind.PARENTHESIS)
