"""The data of a parsed query: groups of clauses in typed order, the fields they may name, and notes.

The table FIELDS is the source for pages, completion and messages. A note marks text that looks like syntax
but is read as words, and says what to do about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from itertools import groupby
from typing import Literal, NamedTuple

from msgspec import Struct

from esr.text.dates import is_iso_date, normalise_date, parse_date_start
from esr.text.document import META_PREFIX

TEXT = "text"
"""The field of a clause without a field name: the sentence itself. Not in FIELDS, since nobody types it."""


class ValueKind(StrEnum):
    """The kinds of values that fields take, checked by `is_valid`."""

    WORDS = "words"
    """Words of a text: a single one, several in quotes, or a prefix with a star."""
    NAME = "name"
    """A whole name, in quotes if it has spaces."""
    DATE = "date"
    """A year, a month or a day in ISO 8601."""
    CODE = "code"
    """An identifier of letters, digits, hyphens and underscores."""
    FLAG = "flag"
    """One of FLAGS."""


FLAGS = ("quote",)
"""What `is:` may say of a sentence."""


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
    Field("speaker", (), ValueKind.NAME, "who says what the sentence quotes", 'speaker:"Theresa May"'),
    Field("is", (), ValueKind.FLAG, "quote: the sentence contains direct speech", "is:quote"),
)

FIELDS_BY_NAME = {name: field for field in FIELDS for name in (field.name, *field.aliases)}
"""Fields by their names and aliases, in lower case."""


METADATA_FIELD = Field(
    f"{META_PREFIX}KEY",
    (),
    ValueKind.NAME,
    "what else the source says of the article, by its key in the metadata",
    f"{META_PREFIX}desk:Berlin",
)
"""Stands for the fields of all metadata keys, such as `meta.desk`."""


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
    NoteKind.AND: "AND is read as a word. To require a word, put + directly before it.",
    NoteKind.SIGN: "This sign has no effect: put it directly before a word, a phrase or a field.",
    NoteKind.SEVERAL_SIGNS: "Several signs have no effect: put one before a word, a phrase or a field.",
    NoteKind.STAR: "The star has no effect: it works only once, and at the end of a word.",
    NoteKind.QUOTE: "This quotation mark has no effect: close it at the end of the phrase.",
    NoteKind.EMPTY_PHRASE: "These quotes have no effect: there is no letter or digit between them.",
    NoteKind.PARENTHESIS: "Parentheses do not group: OR joins only what is directly beside it.",
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
"""The words that operate on their neighbours, or look like it."""


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


class Group(NamedTuple):
    """Alternative clauses. A sentence must match one if required, none if excluded, and may match if wanted.

    Only a required group has several alternatives. A group spans the characters from `start` to `end` of the
    query, including the ORs between its alternatives.
    """

    role: Role
    alternatives: tuple[Clause, ...]
    start: int
    end: int


class ParsedQuery(Struct, frozen=True):
    """A query's text and its groups. Every character except white space is in exactly one group."""

    text: str
    groups: tuple[Group, ...]
    notes: tuple[Note, ...] = ()

    def __str__(self) -> str:
        """The query in a uniform spelling, which parses to the same groups."""
        return " ".join(map(self._print_group, self.groups))

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

        A run should be analysed as a whole: what an analyzer makes of a word may depend on its neighbours.
        """
        if self.is_plain:  # the usual case
            return ((self.groups[0].start, self.groups[-1].end),) if self.groups else ()
        runs = groupby(self.groups, key=lambda group: group.role == "wanted")
        wanted = [list(run) for is_wanted, run in runs if is_wanted]
        return tuple((run[0].start, run[-1].end) for run in wanted)

    def without(self, group: Group) -> str:
        """The text without one of its groups, otherwise with the same meaning.

        Operators read as words are put in lower case: with new neighbours they might operate.
        """
        text = "".join(self._lower_operators())
        remaining = text[: group.start].strip(), text[group.end :].strip()
        return " ".join(filter(None, remaining))

    def _lower_operators(self) -> Iterator[str]:
        """Yield the pieces of the text, each with its length unchanged."""
        position = 0
        for group in self.groups:
            if group.role == "wanted" and group.alternatives[0].text in OPERATORS:
                yield self.text[position : group.start]
                yield self.text[group.start : group.end].lower()
                position = group.end
        yield self.text[position:]

    def _print_group(self, group: Group) -> str:
        first = group.alternatives[0]
        is_bare_word = first.form == "word" and first.field == TEXT and len(group.alternatives) == 1
        sign = {"wanted": "", "required": "+" if is_bare_word else "", "excluded": "-"}[group.role]
        return sign + " OR ".join(map(self._print_clause, group.alternatives))

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


EXPECTED = {
    ValueKind.WORDS: "a word, a phrase in quotes, or the beginning of a word with a star",
    ValueKind.NAME: "a whole name, in quotes if it has spaces or a star",
    ValueKind.DATE: "a date such as 2017, 2017-03 or 2017-03-15",
    ValueKind.CODE: "a code such as de or pt-BR",
    ValueKind.FLAG: " or ".join(FLAGS),
}
"""What messages say a field takes, by kind."""

_CODE = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*", re.ASCII | re.IGNORECASE)


def has_letter_or_digit(text: str) -> bool:
    """Whether there is anything to search for."""
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
            return is_iso_date(value)
        case ValueKind.CODE:
            return _CODE.fullmatch(value) is not None
        case ValueKind.FLAG:
            return value.lower() in FLAGS


def date_start(clause: Clause) -> int:
    """The start of the date of a clause such as `before:2017-03`, in milliseconds since the epoch.

    Before a date means earlier than its start; after means from its start on.
    """
    return parse_date_start(normalise_date(clause.text))
