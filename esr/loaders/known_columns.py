"""Columns with the names that other programs use: `headline` is a title, `body` a text, `link` a url."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

_KNOWN = {
    "id": "guid uuid articleid documentid docid docno newsid storyid",
    "title": "headline heading articletitle newstitle",
    "date": "published publishedat publisheddate publishdate datepublish datepublished publicationdate "
    "pubdate publishtime publishedtime articledate datetime timestamp",
    "source": "publisher publication outlet newspaper sourcename sourcedomain site domain",
    "url": "link href weburl articleurl permalink",
    "language": "lang languagecode langcode",
    "text": "body content article articletext articlebody articlecontent maintext bodytext fulltext story",
}
"""By field, its other names in lower case without blanks, hyphens and underscores. The first one wins."""
_MAX_NAME = 40
_MAX_COLUMNS = 1000
_SEPARATORS = re.compile(r"[ _-]+")


class KnownColumn(NamedTuple):
    """The column that a field is in, and its value: None for a date that cannot be read."""

    field: str
    column: str
    value: str | None


def find_known_columns(fields: Mapping[str, Any], is_date: Callable[[str], bool]) -> Iterator[KnownColumn]:
    """The values of fields that are missing under their own names: strings, and numbers as ids and dates."""
    names = tuple(name for name in fields if len(name) <= _MAX_NAME)
    for field, columns in _match_columns(names) if len(names) <= _MAX_COLUMNS else ():
        values = [(column, text) for column in columns if (text := _to_text(field, fields[column]))]
        if field == "date":
            values.sort(key=lambda value: not is_date(value[1]))  # readable ones first
        if values:
            column, text = values[0]
            yield KnownColumn(field, column, text if field != "date" or is_date(text) else None)


def _to_text(field: str, value: Any) -> str:
    if type(value) is int and field in ("id", "date"):
        return str(value)
    if type(value) is float and field == "date":
        return str(value)
    return value if isinstance(value, str) and value.strip() else ""


@lru_cache(maxsize=1024)
def is_in_field(name: str, *fields: str) -> bool:
    """Whether a column of this name is one of these fields, by its own name or another known one."""
    normal = _normalise(name[: _MAX_NAME + 1])
    return any(normal == field or normal in _KNOWN[field].split() for field in fields)


def _normalise(name: str) -> str:
    return _SEPARATORS.sub("", name).lower()


@lru_cache(maxsize=64)
def _match_columns(columns: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """For each field without a column of its own name, the columns that may be it."""
    by_name: dict[str, str] = {}
    for column in columns:
        by_name.setdefault(_normalise(column), column)
    matches = []
    for field, others in _KNOWN.items():
        if field in columns or (field == "text" and "sentences" in columns):
            continue
        found = tuple(by_name[name] for name in (field, *others.split()) if name in by_name)
        if found:
            matches.append((field, found))
    return tuple(matches)
