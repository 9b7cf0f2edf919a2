"""The parser of the query language of docs/query-language.md.

A scanner splits the text into chunks: words, phrases and fields, each with its sign, and parentheses. Then
operators bind them into groups, AND tighter than OR. Every text is a valid query: what is not valid syntax is
read as words, with a note.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple
from unicodedata import category

from msgspec.structs import replace

from esr.errors import find_nearest
from esr.query.query import (
    EXPECTED,
    FIELDS,
    FIELDS_BY_NAME,
    OPERATORS,
    TEXT,
    Clause,
    Conjunction,
    Disjunction,
    Expression,
    Field,
    Form,
    Group,
    Note,
    NoteKind,
    ParsedQuery,
    Role,
    clauses_of,
    find_field,
    has_letter_or_digit,
    is_excluded,
    is_valid,
    join,
    negate,
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
automatically. Single marks are left out, since most are apostrophes. So is the »…» of Finnish, since » also
separates the parts of a path (Home » News » Europe).
"""

_CLOSING = {mark: re.compile(f"[{closing}]") for mark, closing in CLOSING_MARKS.items()}


class QuoteFinder:
    """Finds where the quotes of a text end.

    It records the last position of each closing mark in advance. Otherwise, a text with many unmatched marks
    would take quadratic time.
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
"""A candidate for a field name. A misspelt one may have two letters more than the longest field name."""
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


# The parser

_new_tuple = tuple.__new__
_WORDS = re.compile(r"\S+")
_SYNTAX = re.compile(
    rf"[:*]|(?<![^\s()])(?:[{re.escape(SIGNS + ''.join(CLOSING_MARKS))}]|"
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
        parts = _bind(_resolve_parentheses(chunks, failed), notes)
        grouping = {place for part in parts for place in part.parentheses}
        if all(chunk.end - 1 in grouping for chunk in chunks if chunk.is_parenthesis):
            break
    return ParsedQuery(text, tuple(map(_make_group, parts)), tuple(sorted({*notes, *failed})))


_PASSES = 4
"""Maximum number of times a text is read: repeated reading treats parentheses that do not group as words."""


def literal(text: str) -> ParsedQuery:
    """Read a text as words alone, even where it looks like syntax."""
    groups = []
    for match in _WORDS.finditer(text):
        start, end = match.span()
        # Same result as Clause(...) and Group(...), in half the time.
        clause = _new_tuple(Clause, (TEXT, "word", match[0], start, end))
        groups.append(_new_tuple(Group, ("wanted", (clause,), start, end, None)))
    return ParsedQuery(text, tuple(groups))


# Operators and parentheses


class Part(NamedTuple):
    """A chunk, or several joined by parentheses or operators, as an expression.

    `is_wanted`: it is a word without a sign, which is wanted if no operator joins it. `parentheses`: the
    positions of those that group in it. `needs_operator`: they group only next to an operator.
    """

    start: int
    end: int
    expression: Expression
    is_operand: bool
    is_wanted: bool = False
    can_be_excluded: bool = False
    parentheses: tuple[int, ...] = ()
    needs_operator: bool = False

    def is_operator(self, *operators: str) -> bool:
        return (
            not self.is_operand and isinstance(self.expression, Clause) and self.expression.text in operators
        )


def _read_part(chunk: Chunk) -> Part:
    clause = Clause(chunk.field, chunk.form, chunk.text, chunk.start, chunk.end)
    expression = negate(clause) if chunk.sign == "-" else clause
    is_wanted = chunk.is_word and not chunk.sign
    is_operand = chunk.is_operand and (not chunk.is_word or _is_balanced(chunk.text))
    return Part(chunk.start, chunk.end, expression, is_operand, is_wanted, chunk.can_be_excluded)


def _resolve_parentheses(chunks: Sequence[Chunk], failed: list[Note]) -> list[Part]:
    """Convert chunks to parts. Each outermost pair of parentheses that groups is one part.

    Pairs that look like groups but are not get a note in `failed`.
    """
    partners = _match_parentheses(chunks)
    parts: list[Part] = []
    n = 0
    while n < len(chunks):
        end = partners.get(n, n)
        pair = chunks[n : end + 1]
        part = None
        if end > n and (is_syntax := _is_syntax(pair)) | _is_beside_operator(chunks, n, end):
            part = _read_parentheses(chunks, n, partners)
            if part is None and is_syntax:
                failed.append(write_note(pair[0].start, pair[0].end, NoteKind.PARENTHESIS))
        if part is None:
            parts += map(_read_part, pair)
        else:
            places = tuple(chunk.end - 1 for chunk in pair if chunk.is_parenthesis)
            parts.append(part._replace(parentheses=places, needs_operator=not is_syntax))
        n = end + 1
    return parts


def _match_parentheses(chunks: Sequence[Chunk]) -> dict[int, int]:
    """The number of the closing parenthesis by the number of its opening one, for matched pairs."""
    partners: dict[int, int] = {}
    open_: list[int] = []
    for n, chunk in enumerate(chunks):
        if chunk.is_parenthesis and chunk.text == "(":
            open_.append(n)
        elif chunk.is_parenthesis and open_:
            partners[open_.pop()] = n
    return partners


def _is_syntax(pair: Sequence[Chunk]) -> bool:
    """Whether a pair of parentheses, given with its contents, groups by itself: there are not only words."""
    inner = pair[1:-1]
    return (
        bool(pair[0].sign)
        or any(_is_operator(chunk, *OPERATORS) or not chunk.is_word for chunk in inner)
        or (len(inner) > 1 and any(chunk.sign for chunk in inner))
    )


def _is_beside_operator(chunks: Sequence[Chunk], start: int, end: int) -> bool:
    before, after = chunks[max(0, start - 1) : start], chunks[end + 1 : end + 2]
    return any(_is_operator(chunk, *OPERATORS) for chunk in before) or any(
        _is_operator(chunk, "AND", "OR") for chunk in after
    )


def _read_parentheses(chunks: Sequence[Chunk], start: int, partners: Mapping[int, int]) -> Part | None:
    """Read a pair of parentheses; None if it contains a non-operand. Adjacent operands mean AND."""
    parts: list[Part] = []
    n, end = start + 1, partners[start]
    while n < end:
        chunk = chunks[n]
        if n in partners:
            part = _read_parentheses(chunks, n, partners)
            if part is None:
                return None
            parts.append(part)
        elif chunk.form != "phrase" and (chunk.text[0] == "(" or not _is_balanced(chunk.text)):
            return None
        else:
            parts.append(_read_part(chunk))
        n = partners.get(n, n) + 1
    notes: list[Note] = []
    bound = _bind(parts, notes)
    if not bound or not all(part.is_operand for part in bound):
        return None
    expression, sign = join(Conjunction, (part.expression for part in bound)), chunks[start].sign
    if sign == "-":
        expression = negate(expression)
    return Part(chunks[start].start, chunks[end].end, expression, True, can_be_excluded=sign != "-")


def _is_balanced(text: str) -> bool:
    return text.count("(") == text.count(")")


def _bind(parts: Sequence[Part], notes: list[Note]) -> list[Part]:
    """Join parts by their operators."""
    parts = list(_bind_not(parts, notes))
    notes.extend(_note_parentheses(parts))
    return list(_bind_operators(parts, notes))


def _note_parentheses(parts: Sequence[Part]) -> Iterator[Note]:
    """Note words with an unmatched parenthesis next to an operator: `a OR (b c`."""
    for n, part in enumerate(parts):
        beside = (*parts[max(0, n - 1) : n], *parts[n + 1 : n + 2])
        word = part.expression.text if isinstance(part.expression, Clause) and part.is_wanted else ""
        if not _is_balanced(word) and any(each.is_operator("AND", "OR") for each in beside):
            yield write_note(part.start, part.end, NoteKind.PARENTHESIS)


def _bind_not(parts: Sequence[Part], notes: list[Note]) -> Iterator[Part]:
    """Yield the parts, joining each NOT with the part that it excludes."""
    remaining = iter(range(len(parts)))
    for n in remaining:
        part = parts[n]
        if part.is_operator("NOT"):
            if n + 1 < len(parts) and parts[n + 1].can_be_excluded:
                excluded, start = parts[next(remaining)], part.start
                expression = excluded.expression
                if isinstance(expression, Clause):
                    expression = expression._replace(start=start)
                yield excluded._replace(
                    start=start,
                    expression=negate(expression),
                    is_wanted=False,
                    can_be_excluded=False,
                    needs_operator=False,
                )
                continue
            notes.append(write_note(part.start, part.end, NoteKind.NOT))
        yield part


def _bind_operators(parts: Sequence[Part], notes: list[Note]) -> Iterator[Part]:
    """Yield the parts, joining those between which there is AND or OR."""
    n = 0
    while n < len(parts):
        first = n
        while n + 2 < len(parts) and _joins(*parts[n : n + 3]):
            n += 2
        yield from _bind_or(parts[first : n + 1], notes)
        n += 1


def _joins(left: Part, middle: Part, right: Part) -> bool:
    return middle.is_operator("AND", "OR") and left.is_operand and right.is_operand


def _bind_or(chain: Sequence[Part], notes: list[Note]) -> Iterator[Part]:
    """Yield the operands of a chain joined by its operators, or a part without operators.

    An OR with a side that only excludes is a word: nearly all sentences would match.
    """
    if len(chain) == 1:
        (part,) = chain
        for operator in ("AND", "OR"):
            if part.is_operator(operator):
                notes.append(write_note(part.start, part.end, NoteKind(operator.lower())))
        yield _alone(part)
        return
    ors = [n for n in range(1, len(chain), 2) if chain[n].is_operator("OR")]
    places = pairwise([-1, *ors, len(chain)])
    first, *others = (_join_parts(Conjunction, chain[start + 1 : end : 2]) for start, end in places)
    alternatives = [first]
    for n, term in zip(ors, others, strict=True):
        if is_excluded(alternatives[-1].expression) or is_excluded(term.expression):
            yield _alone(_join_parts(Disjunction, alternatives))
            notes.append(write_note(chain[n].start, chain[n].end, NoteKind.OR))
            yield chain[n]
            alternatives = []
        alternatives.append(term)
    yield _alone(_join_parts(Disjunction, alternatives))


def _alone(part: Part) -> Part:
    """A part without operators. Its parentheses do not group if they need an operator."""
    return part._replace(parentheses=()) if part.needs_operator else part


def _join_parts(kind: type[Conjunction | Disjunction], parts: Sequence[Part]) -> Part:
    if len(parts) == 1:
        return parts[0]
    places = tuple(place for part in parts for place in part.parentheses)
    expression = join(kind, (part.expression for part in parts))
    return Part(parts[0].start, parts[-1].end, expression, True, parentheses=places)


def _make_group(part: Part) -> Group:
    expression = part.expression
    role: Role = "wanted" if part.is_wanted else "required"
    if is_excluded(expression):
        role, expression = "excluded", negate(expression)
    clauses = tuple(clauses_of(expression))
    is_flat = isinstance(expression, Clause) or (
        isinstance(expression, Disjunction) and clauses == expression.parts
    )
    return Group(role, clauses, part.start, part.end, None if is_flat else expression)


def _is_operator(chunk: Chunk, *operators: str) -> bool:
    return not chunk.is_operand and chunk.text in operators
