"""The fields of the query language, as data: pages, completion and messages are made from this table."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from esr.documents.attributes import META_PREFIX

TEXT = "text"
"""The field of a clause that names none: the sentence itself. It is not in the table, as nobody types it."""


class ValueKind(StrEnum):
    """What the values of a field are. `esr/queries/values.py` checks them."""

    WORDS = "words"
    """Words of a text: one, several in quotes, or the beginning of one with a star."""
    NAME = "name"
    """A whole name, in quotes if it has spaces."""
    DATE = "date"
    """A year, a month or a day in ISO 8601."""
    CODE = "code"
    """An identifier of letters, digits, hyphens and underscores."""


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
)

FIELDS_BY_NAME = {name: field for field in FIELDS for name in (field.name, *field.aliases)}
"""The fields by each of their names, in lower case."""


METADATA_FIELD = Field(
    f"{META_PREFIX}KEY",
    (),
    ValueKind.NAME,
    "what else the source says of the article, by its key in the metadata",
    f"{META_PREFIX}desk:Berlin",
)
"""Stands for the fields of all keys of metadata: `meta.desk`."""


def find_field(name: str) -> Field | None:
    """The field of that name or alias, without regard to case; None if there is none.

    A key of the metadata may be in quotes.
    """
    if name.lower().startswith(META_PREFIX) and len(name) > len(META_PREFIX):
        key = name[len(META_PREFIX) :]
        if len(key) > 2 and key[0] == key[-1] == '"':
            key = key[1:-1]
        if '"' in key:
            return None
        return METADATA_FIELD._replace(name=META_PREFIX + key)
    return FIELDS_BY_NAME.get(name.lower())
