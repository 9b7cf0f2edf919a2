"""Columns with the names that other programs use: `headline` is a title, `body` a text, `link` a url.

The names are those of news-please, newspaper and trafilatura, of news APIs, of schema.org, WordPress and
MongoDB, and of collections that are published as tables. Objects are looked into, such as
`{"source": {"name": "…"}}`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from esr.documents.fields import LIST_FIELDS
from esr.loaders.list_values import read_list, read_paragraphs

_KNOWN = {
    "id": "guid uuid articleid documentid docid docno newsid storyid postid itemid uri",
    "title": "headline heading articletitle newstitle webtitle headlinemain titlerendered titlepage titlerss",
    "date": "published publishedat publisheddate publishdate datepublish datepublished publicationdate "
    "pubdate publishtime publishedtime articledate webpublicationdate datetimepub publishedon dateposted "
    "postdate datetime timestamp datecreated createdat",
    "source": "publisher publication outlet newspaper sourcename sourcetitle publishername sitename "
    "metasitename sourcedomain site domain hostname",
    "url": "link href weburl articleurl permalink canonicallink canonicalurl pageurl storyurl newsurl",
    "language": "lang languagecode langcode metalang inlanguage",
    "authors": "author authorname authornames articleauthor byline bylines bylineoriginal creator creators "
    "writer writers reporter reporters journalist journalists contributor contributors",
    "section": "sectionname articlesection category categoryname newssection rubric ressort",
    "keywords": "keyword tags tag metakeywords newskeywords keywordlist subjects subject topics topic "
    "categories articletags",
    "text": "body content article articletext articlebody articlecontent maintext mainbody bodytext fulltext "
    "story contenttext contentrendered cleanedtext newscontent newstext news documenttext plaintext rawtext "
    "paragraphs contenthtml bodyhtml htmlbody htmlcontent description shortdescription summary abstract lead "
    "teaser snippet excerpt excerptrendered",
}
"""By field, its other names in lower case without blanks and signs. The first one wins."""
_MAX_NAME = 40
_MAX_COLUMNS = 1000
_HTML = re.compile(
    r"\s*<(?:p|div|article|section|figure|h[1-6]|ul|ol|table|blockquote)\b[^<>]{0,1000}>.*</\w{1,20}>\s*\Z",
    re.I | re.DOTALL,
)
_SEPARATORS = re.compile(r"[ ._-]+")
_CONTAINERS = ("fields.", "attributes.", "properties.")
"""Objects, as of the Guardian, that have fields of the document under their own names."""
# MongoDB writes {"_id": {"$oid": "…"}, "date": {"$date": "…"}}.
_TYPES = (".$oid", ".$date")


class KnownColumn(NamedTuple):
    """The column that a field is in, and its value, a text or a list: None for a date that cannot be read."""

    field: str
    column: str
    value: Any


def find_known_columns(fields: Mapping[str, Any], is_date: Callable[[str], bool]) -> Iterator[KnownColumn]:
    """The values of fields that are missing under their own names: strings, numbers as ids and dates, and
    lists, of which those of paragraphs become one text.

    A field is missing too if it has an object instead of a value.
    """
    given = look_into_objects(fields)
    names = tuple(name for name in given if len(name) <= _MAX_NAME)
    for field, columns in _match_columns(names) if len(names) <= _MAX_COLUMNS else ():
        read: Callable[[str, Any], Any] = read_list if field in LIST_FIELDS else _to_text
        values = [(column, value) for column in columns if (value := read(field, given[column]))]
        if field == "date":
            values.sort(key=lambda value: not is_date(value[1]))  # readable ones first
        if values:
            column, text = values[0]
            yield KnownColumn(field, column, text if field != "date" or is_date(text) else None)


def look_into_objects(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields, with those of objects under both names, `source.name`, in place of the objects."""
    if not any(isinstance(value, dict) for value in fields.values()):
        return fields
    flat: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, dict):
            flat |= {f"{name}.{inner}": value[inner] for inner in list(value)[:_MAX_COLUMNS]}
        else:
            flat[name] = value
    return flat


def _to_text(field: str, value: Any) -> str:
    if type(value) is int and field in ("id", "date"):
        return str(value)
    if type(value) is float and field == "date":
        return str(value)
    if field == "text" and isinstance(value, list):
        return read_paragraphs(value) or ""
    return value if isinstance(value, str) and value.strip() else ""


@lru_cache(maxsize=1024)
def is_in_field(name: str, *fields: str) -> bool:
    """Whether a column of this name is one of these fields, by its own name or another known one."""
    normal = _normalise(name[: _MAX_NAME + 1])
    return any(normal == field or normal in _KNOWN[field].split() for field in fields)


def has_html(column: str, text: str) -> bool:
    """Whether the text of a column is HTML: by the column's name, or because tags of blocks surround it."""
    return _normalise(column).endswith(("html", "rendered")) or bool(_HTML.match(text))


def _normalise(name: str) -> str:
    for suffix in _TYPES:
        name = name.removesuffix(suffix)
    for container in _CONTAINERS:
        name = name.removeprefix(container)
    return _SEPARATORS.sub("", name).lower()


@lru_cache(maxsize=64)
def _match_columns(columns: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """For each field without a column of its own name, the columns that may be it."""
    by_name: dict[str, str] = {}
    for column in sorted(columns, key=lambda column: "." in column):  # inside objects last
        by_name.setdefault(_normalise(column), column)
    matches = []
    for field, others in _KNOWN.items():
        if field in columns or (field == "text" and "sentences" in columns):
            continue
        found = tuple(by_name[name] for name in (field, *others.split()) if name in by_name)
        if found:
            matches.append((field, found))
    return tuple(matches)
