"""The data of a parsed query: groups of clauses in typed order, the fields they may name, and notes.

Pages, completion and messages use the table FIELDS. A note marks text that looks like syntax but is read as
words, and says what to do about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date
from enum import StrEnum
from itertools import chain, groupby
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from esr.errors import UsageError
from esr.stdlib import import_lazily
from esr.text.attributes import META_PREFIX
from esr.text.dates import is_iso_date, normalise_date, parse_date_start

if TYPE_CHECKING:
    from dateutil import relativedelta
else:
    relativedelta = import_lazily("dateutil.relativedelta")

TEXT = "text"
"""The field of a clause without a field name: the sentence itself. Not in FIELDS, since nobody types it."""


class ValueKind(StrEnum):
    """The kinds of values that fields take, checked by `is_valid`."""

    WORDS = "words"
    """Words of a text: a single one, several in quotes, or a prefix with a star."""
    NAME = "name"
    """A whole name, in quotes if it has spaces."""
    DATE = "date"
    """A year, month or day in ISO 8601, or a time before the last day of the collection, as in 7d."""
    CODE = "code"
    """An identifier of letters, digits, hyphens and underscores."""
    FLAG = "flag"
    """One of FLAGS."""


FLAGS = ("quote",)
"""The values of `is:`."""


class Field(NamedTuple):
    """A field that a query may name, as in `source:bbc.co.uk`."""

    name: str
    aliases: tuple[str, ...]
    kind: ValueKind
    description: str
    example: str


FIELDS = (
    Field("title", (), ValueKind.WORDS, "words of the title of the article", "title:election"),
    Field("source", (), ValueKind.NAME, "the source of the article", "source:bbc.co.uk"),
    Field("author", ("by",), ValueKind.NAME, "an author of the article", 'author:"Jane Doe"'),
    Field("section", (), ValueKind.NAME, "the section of the newspaper or site", "section:sport"),
    Field("keyword", ("tag", "topic"), ValueKind.NAME, "a keyword of the article", "keyword:brexit"),
    Field("language", ("lang",), ValueKind.CODE, "the language of the article, as a code", "language:de"),
    Field("before", (), ValueKind.DATE, "published before the beginning of a date", "before:2017-03"),
    Field("after", (), ValueKind.DATE, "published on or after the beginning of a date", "after:2017-01-15"),
    Field("person", (), ValueKind.NAME, "a person named in the sentence", 'person:"Theresa May"'),
    Field("place", ("location",), ValueKind.NAME, "a place named in the sentence", "place:Paris"),
    Field(
        "organization",
        ("organisation", "org"),
        ValueKind.NAME,
        "an organization named in the sentence",
        'organization:"World Bank"',
    ),
    Field("name", (), ValueKind.NAME, "a person, place or organization named in the sentence", "name:Paris"),
    Field(
        "speaker", (), ValueKind.NAME, "the speaker of a quotation in the sentence", 'speaker:"Theresa May"'
    ),
    Field(
        "speaker~",
        (),
        ValueKind.NAME,
        "the speaker, also if the speaker is only probable",
        'speaker~:"Theresa May"',
    ),
    Field("is", (), ValueKind.FLAG, "quote: the sentence contains direct speech", "is:quote"),
)

FIELDS_BY_NAME = {name: field for field in FIELDS for name in (field.name, *field.aliases)}
"""Fields by their names and aliases, in lower case."""


METADATA_FIELD = Field(
    f"{META_PREFIX}KEY",
    (),
    ValueKind.NAME,
    "other metadata of the article, by key",
    f"{META_PREFIX}desk:Berlin",
)
"""Represents the fields of all metadata keys, such as `meta.desk`."""


def find_field(name: str) -> Field | None:
    """Find the field of a name or alias, ignoring case; None if there is none.

    A metadata key may be in quotes.
    """
    if name.lower().startswith(META_PREFIX) and len(name) > len(META_PREFIX):
        key = name[len(META_PREFIX) :]
        if len(key) > 2 and key[0] == key[-1] == '"':
            key = key[1:-1]
        if '"' in key:
            return None
        return METADATA_FIELD._replace(name=META_PREFIX + key)
    return FIELDS_BY_NAME.get(name.lower())


class NoteKind(StrEnum):
    """The reasons for notes."""

    OR = "or"
    NOT = "not"
    AND = "and"
    SIGN = "sign"
    SEVERAL_SIGNS = "several signs"
    STAR = "star"
    QUOTE = "quote"
    EMPTY_PHRASE = "empty phrase"
    PARENTHESIS = "parenthesis"
    MISSPELT_FIELD = "misspelt field"
    UNKNOWN_FIELD = "unknown field"
    MISSING_VALUE = "missing value"
    BAD_VALUE = "bad value"
    SIGN_IN_VALUE = "sign in value"


class Note(NamedTuple):
    """Text that may not have been read as meant: its position, `start` to `end`, and a message."""

    start: int
    end: int
    kind: NoteKind
    message: str


MESSAGES = {
    NoteKind.OR: "OR is read as a word: on both sides it needs something to find, not to exclude.",
    NoteKind.NOT: "NOT is read as a word: it needs a word, a phrase or a field to exclude after it.",
    NoteKind.AND: "AND is read as a word: on both sides it needs a word, a phrase or a field.",
    NoteKind.SIGN: "This sign has no effect: put it directly before a word, a phrase or a field.",
    NoteKind.SEVERAL_SIGNS: "Several signs have no effect: put one before a word, a phrase or a field.",
    NoteKind.STAR: "The star has no effect: it works only once, and at the end of a word.",
    NoteKind.QUOTE: "This quotation mark has no effect: close it at the end of the phrase.",
    NoteKind.EMPTY_PHRASE: "These quotes have no effect: there is no letter or digit between them.",
    NoteKind.PARENTHESIS: "This parenthesis does not group: it needs a partner, and operators between them "
    "need something on both sides.",
    NoteKind.MISSPELT_FIELD: "There is no field {name}: did you mean {nearest}:?",
    NoteKind.UNKNOWN_FIELD: "There is no field {name}: the fields are {known}.",
    NoteKind.MISSING_VALUE: "This is read as a word: put a value directly after the colon, as in {example}.",
    NoteKind.BAD_VALUE: "This is read as words: {field}: takes {expected}.",
    NoteKind.SIGN_IN_VALUE: "This is read as words: put the sign before the field, as in -{example}.",
}


def write_note(start: int, end: int, kind: NoteKind, **values: str) -> Note:
    """Write a note. `values` fill in its message."""
    return Note(start, end, kind, MESSAGES[kind].format(**values))


Form = Literal["word", "phrase", "prefix"]
Role = Literal["wanted", "required", "excluded"]

OPERATORS = frozenset({"AND", "NOT", "OR"})
"""The words that are, or look like, operators."""


_BRACKETS = str.maketrans("()", "[]")


def disarm(word: str) -> str:
    """Change a word so that it cannot be an operator or a parenthesis. Its length is unchanged."""
    word = word.translate(_BRACKETS)
    return word.lower() if word in OPERATORS else word


class Clause(NamedTuple):
    """A single thing to look for. `text` is what was typed, without sign, field, quotes and star.

    `field` is `TEXT` or the name of a field in `FIELDS`. The clause spans the characters from `start` to
    `end` of the query, including its sign or NOT.
    """

    field: str
    form: Form
    text: str
    start: int
    end: int


class Conjunction(Struct, frozen=True):
    """All parts hold. At least one of them is not excluded, and none is a conjunction itself."""

    parts: tuple[Expression, ...]


class Disjunction(Struct, frozen=True):
    """One of the parts holds. None of them is excluded, and none is a disjunction itself."""

    parts: tuple[Expression, ...]


class Negation(Struct, frozen=True):
    """The part, which is not excluded itself, does not hold."""

    part: Expression


Expression = Clause | Conjunction | Disjunction | Negation
"""Clauses joined by operators and parentheses."""


def is_excluded(expression: Expression) -> bool:
    """Whether an expression only excludes, and has nothing to find."""
    match expression:
        case Conjunction(parts):
            return all(map(is_excluded, parts))
        case other:
            return isinstance(other, Negation)


def negate(expression: Expression) -> Expression:
    """The negation of an expression, without double negations."""
    match expression:
        case Negation(part):
            return part
        case Conjunction(parts) if is_excluded(expression):
            return join(Disjunction, map(negate, parts))
        case _:
            return Negation(expression)


def join(kind: type[Conjunction | Disjunction], parts: Iterable[Expression]) -> Expression:
    """Join the parts in one expression. Parts of the same kind are flattened."""
    nested = (part.parts if isinstance(part, kind) else (part,) for part in parts)
    flat = tuple(chain.from_iterable(nested))
    return flat[0] if len(flat) == 1 else kind(flat)


def clauses_of(expression: Expression, *, excluded: bool = False) -> Iterator[Clause]:
    """Yield the clauses to find, in order. `excluded`: also those to exclude."""
    match expression:
        case Conjunction(parts) | Disjunction(parts):
            for part in parts:
                yield from clauses_of(part, excluded=excluded)
        case Negation(part):
            yield from clauses_of(part, excluded=excluded) if excluded else ()
        case clause:
            yield clause


class Group(NamedTuple):
    """Alternative clauses. A sentence must match one if required, none if excluded, and may match if wanted.

    A wanted group has one clause. A group that is more than alternatives has an `expression`, which replaces
    them; `alternatives` are then the clauses to find in it. A group spans the characters from `start` to
    `end` of the query, including its operators and parentheses.
    """

    role: Role
    alternatives: tuple[Clause, ...]
    start: int
    end: int
    expression: Expression | None = None

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """All clauses, also those that an expression excludes."""
        if self.expression is None:
            return self.alternatives
        return tuple(clauses_of(self.expression, excluded=True))


class ParsedQuery(Struct, frozen=True):
    """A query's text and its groups. Every character except white space is in exactly one group."""

    text: str
    groups: tuple[Group, ...]
    notes: tuple[Note, ...] = ()
    spelling: str | None = None
    """The spelling of the query, if the uniform spelling of its groups would parse differently."""
    language: str | None = None
    """The code of its language, if given."""
    languages: tuple[str, ...] = ()
    """The codes of the languages of sentences to find, or ALL_LANGUAGES; empty: only that of the query."""

    def __str__(self) -> str:
        """The query in a uniform spelling, which parses to the same groups."""
        return " ".join(self.pieces) if self.spelling is None else self.spelling

    @property
    def pieces(self) -> list[str]:
        """The groups in a uniform spelling."""
        return list(map(self._print_group, self.groups))

    @property
    def is_plain(self) -> bool:
        """Whether the whole text is words, without syntax."""
        for group in self.groups:  # noqa: SIM110 # runs for every search, and a generator takes twice as long
            if group.role != "wanted":
                return False
        return True

    @property
    def wanted_runs(self) -> tuple[tuple[int, int], ...]:
        """The longest slices of the text, as start and end, with only wanted words and white space.

        A run should be analysed as a whole, since the terms of a word may depend on its neighbours.
        """
        if self.is_plain:  # the usual case
            return ((self.groups[0].start, self.groups[-1].end),) if self.groups else ()
        runs = groupby(self.groups, key=lambda group: group.role == "wanted")
        wanted = [list(run) for is_wanted, run in runs if is_wanted]
        return tuple((run[0].start, run[-1].end) for run in wanted)

    def without(self, group: Group) -> str:
        """The text without one of its groups, with the meaning otherwise unchanged.

        Operators read as words become lower case, and parentheses in words become brackets, since with new
        neighbours they might be syntax. A parenthesis in a required or excluded word may still become one of
        a pair.
        """
        text = "".join(self._disarm_words())
        remaining = text[: group.start].strip(), text[group.end :].strip()
        return " ".join(filter(None, remaining))

    def _disarm_words(self) -> Iterator[str]:
        """Yield the pieces of the text, with words disarmed and lengths unchanged."""
        position = 0
        for group in self.groups:
            word = group.alternatives[0].text
            if group.role == "wanted" and disarm(word) != word:
                yield self.text[position : group.start]
                yield disarm(word)
                position = group.end
        yield self.text[position:]

    def _print_group(self, group: Group) -> str:
        first = group.alternatives[0]
        sign = {"wanted": "", "required": "", "excluded": "-"}[group.role]
        if group.expression is not None or len(group.alternatives) > 1:
            expression = group.expression or Disjunction(group.alternatives)
            if sign and isinstance(expression, Disjunction):
                return " AND ".join(self._print(part, True, sign) for part in expression.parts)
            return self._print(expression, bool(sign), sign)
        is_bare_word = first.form == "word" and first.field == TEXT
        return ("+" if is_bare_word and group.role == "required" else sign) + self._print_clause(first)

    def _print(self, expression: Expression, is_part: bool = False, sign: str = "") -> str:
        """An expression in a uniform spelling. `is_part`: in parentheses if it has several parts."""
        match expression:
            case Conjunction(parts):
                text = " AND ".join(self._print(part, isinstance(part, Disjunction)) for part in parts)
            case Disjunction(parts):
                text = " OR ".join(map(self._print, parts))
            case Negation(part):
                return self._print(part, True, "-")
            case clause:
                text = self._print_clause(clause)
                return sign + text if sign else f"+{text}" if text in OPERATORS else text
        return f"{sign}({text})" if is_part else text

    def _print_clause(self, clause: Clause) -> str:
        field = "" if clause.field == TEXT else f"{clause.field}:"
        match clause.form:
            case "word":
                return field + clause.text
            case "prefix":
                return f"{field}{clause.text}*"
            case "phrase":
                # Use the quotation marks that were typed: the text may contain others.
                quoted = self.text[clause.end - len(clause.text) - 2 : clause.end]
                return field + quoted


def in_language(query: ParsedQuery, language: str | None) -> ParsedQuery:
    """The query with this language as its code; None leaves it unchanged. Raises UsageError."""
    if language is None:
        return query
    if not is_valid(ValueKind.CODE, language, False):
        raise UsageError(f"the language of a query is a code such as de or pt-BR, not {language!r}")
    return replace(query, language=language)


ALL_LANGUAGES = "all"
"""Stands for the languages of all documents."""


def read_languages(value: str | Iterable[str]) -> tuple[str, ...]:
    """The languages of sentences to find: codes, in a text separated by commas, or `all`.

    Raises UsageError.
    """
    codes = value.split(",") if isinstance(value, str) else list(value)
    codes = [code.strip() if isinstance(code, str) else code for code in codes]
    for code in codes:
        if not isinstance(code, str) or not is_valid(ValueKind.CODE, code, False):
            raise UsageError(f"languages are codes such as de,ar, or all, not {value!r}")
    return tuple(dict.fromkeys(codes))


def across_languages(query: ParsedQuery, languages: tuple[str, ...]) -> ParsedQuery:
    """The query for sentences in these languages; without any, in that of the query alone."""
    return replace(query, languages=languages) if languages else query


EXPECTED = {
    ValueKind.WORDS: "a word, a phrase in quotes, or the beginning of a word with a star",
    ValueKind.NAME: "a whole name, in quotes if it has spaces or a star",
    ValueKind.DATE: "a date such as 2017, 2017-03 or 2017-03-15, or a time such as 7d, 2w, 3m or 1y",
    ValueKind.CODE: "a code such as de or pt-BR",
    ValueKind.FLAG: " or ".join(FLAGS),
}
"""The description of a field's values in messages, by kind."""

_CODE = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*", re.ASCII | re.IGNORECASE)


def has_letter_or_digit(text: str) -> bool:
    """Whether a text has a letter or digit, and so anything to search for."""
    return any(map(str.isalnum, text))


def is_valid(kind: ValueKind, value: str, is_quoted: bool) -> bool:
    """Whether a field of this kind can have this value. In quotes, a star is part of a name."""
    if not has_letter_or_digit(value):
        return False
    match kind:
        case ValueKind.WORDS:
            return True
        case ValueKind.NAME:
            return is_quoted or "*" not in value
        case ValueKind.DATE:
            return is_iso_date(value) or is_relative(value)
        case ValueKind.CODE:
            return _CODE.fullmatch(value) is not None
        case ValueKind.FLAG:
            return value.lower() in FLAGS


def date_start(clause: Clause) -> int:
    """The start of the date of a clause such as `before:2017-03`, in milliseconds since the epoch.

    `before` means earlier than this start, `after` means from it on. The date must not be relative.
    """
    return parse_date_start(normalise_date(clause.text))


# Relative dates

_RELATIVE = re.compile(r"([0-9]{1,4})([dwmy])", re.IGNORECASE)
_DAYS, _MONTHS = {"d": 1, "w": 7}, {"m": 1, "y": 12}


def is_relative(value: str) -> bool:
    """Whether a date is a time before the last day of the collection, as in 7d, 2w, 3m or 1y."""
    return _RELATIVE.fullmatch(value) is not None


def has_relative_dates(query: ParsedQuery) -> bool:
    """Whether a query has dates relative to a collection's last day."""
    return any(_is_relative_clause(clause) for group in query.groups for clause in group.clauses)


def resolve_dates(query: ParsedQuery, last_day: date) -> ParsedQuery:
    """The query with a day in place of each relative date. Its text and all positions are unchanged."""

    def resolve_clause(clause: Clause) -> Clause:
        if not _is_relative_clause(clause):
            return clause
        return clause._replace(form="word", text=_day_before(clause.text, last_day).isoformat())

    def resolve(expression: Expression) -> Expression:
        match expression:
            case Conjunction(parts):
                return Conjunction(tuple(map(resolve, parts)))
            case Disjunction(parts):
                return Disjunction(tuple(map(resolve, parts)))
            case Negation(part):
                return Negation(resolve(part))
            case clause:
                return resolve_clause(clause)

    groups = (
        group._replace(
            alternatives=tuple(map(resolve_clause, group.alternatives)),
            expression=None if group.expression is None else resolve(group.expression),
        )
        for group in query.groups
    )
    return replace(query, groups=tuple(groups))


def _is_relative_clause(clause: Clause) -> bool:
    field = FIELDS_BY_NAME.get(clause.field)
    return field is not None and field.kind is ValueKind.DATE and is_relative(clause.text)


def _day_before(value: str, last_day: date) -> date:
    """The day this long before `last_day`; in a shorter month, its last day; never before year 1."""
    match = _RELATIVE.fullmatch(value)
    assert match
    number, unit = int(match[1]), match[2].lower()
    try:
        return last_day - relativedelta.relativedelta(
            days=number * _DAYS.get(unit, 0), months=number * _MONTHS.get(unit, 0)
        )
    except (ValueError, OverflowError):
        return date.min
