"""The fields of a document, found in the columns of a source or set by the user.

`--mapping text=body` takes a field from a named column. Other fields are found under the names that
news-please, newspaper, trafilatura, news APIs, schema.org, WordPress, MongoDB and published tables use:
`headline` is a title, `link` a url. Nested objects are searched too: `{"source": {"name": "…"}}`. `--set
source=Wire` gives every document of a delivery the same value.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from esr.errors import UsageError, unknown
from esr.loaders.format import Record
from esr.text.attributes import META_PREFIX
from esr.text.document import DESCRIPTIVE_FIELDS, LIST_FIELDS, METADATA
from esr.text.validate import InvalidDocument, build_document

_NAMES = ("value", "name", "term", "label", "title", "tag", "@value", "text")
"""The keys that may have the name of an object in a list; the first one present is used."""
_PARAGRAPHS = ("text", "paragraph", "content")
"""The keys that may have the paragraph of an object in a list; the first one present is used."""
_MAX_LITERAL_CHARS = 100_000
_BY = re.compile(r"^(?:by|von|par|por|di|door)\s+(?=\S)", re.I)
_BETWEEN_AUTHORS = re.compile(r"\s*[;|\n]\s*|\s+(?:and|und|et|y|&)\s+|\s*,\s+(?:and|und)\s+")
_BETWEEN_KEYWORDS = (";", "|", "\n", ",")


def read_list(field: str, value: Any) -> list[str] | None:
    """The strings in a value of `authors` or `keywords`: a list of strings or objects, or one string.

    Returns None for any other value.
    """
    if isinstance(value, str):
        inner = _read_literal(value)
        return _split(field, value) if inner is None else read_list(field, inner)
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        return None
    texts = [_read_text(element, _NAMES) for element in value]
    if any(text is None for text in texts):
        return None
    return [text for text in texts if text]


def read_paragraphs(value: Any) -> str | None:
    """A list of paragraphs, as strings or objects, as one text; None for any other value."""
    paragraphs = [_read_text(element, _PARAGRAPHS) for element in value] if isinstance(value, list) else []
    return None if not paragraphs or None in paragraphs else "\n\n".join(filter(None, paragraphs))


def is_lossless(value: Any) -> bool:
    """Whether `read_list` keeps all of a value: it drops other members of objects than the name."""
    elements = value if isinstance(value, list) else [value]
    return not any(isinstance(element, dict) and len(element) > 1 for element in elements)


def _read_text(element: Any, names: Iterable[str]) -> str | None:
    """A string, or the string of an object under the first of these names; None for any other element."""
    if isinstance(element, dict):
        element = next((element[name] for name in names if isinstance(element.get(name), str)), None)
    return element.strip() if isinstance(element, str) else None


def _read_literal(text: str) -> list[Any] | None:
    """The list in a cell such as `['a', 'b']`, as pandas writes lists, or in JSON; None for other text."""
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")) or len(text) > _MAX_LITERAL_CHARS:
        return None
    try:
        with warnings.catch_warnings():
            # Python warns about backslashes in strings.
            warnings.simplefilter("ignore", SyntaxWarning)
            warnings.simplefilter("ignore", DeprecationWarning)
            value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, list) else None


def _split(field: str, text: str) -> list[str]:
    parts = _split_authors(text) if field == "authors" else _split_keywords(text)
    return [part for part in (part.strip() for part in parts) if part]


def _split_authors(text: str) -> list[str]:
    """Split `By Jane Doe and John Roe`. A comma separates names only if each part has several words."""
    names = _BETWEEN_AUTHORS.split(_BY.sub("", text.strip()))
    return [part for name in names for part in _split_at_commas(name)]


def _split_at_commas(name: str) -> list[str]:
    parts = [part.strip() for part in name.split(",")]
    return parts if all(len(part.split()) > 1 for part in parts) else [name]


def _split_keywords(text: str) -> list[str]:
    """Split at one separator: the first in the text of those tried, the least likely in a keyword first."""
    separator = next((separator for separator in _BETWEEN_KEYWORDS if separator in text), None)
    return [text] if separator is None else text.split(separator)


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
"""Other names of each field, in lower case without blanks and punctuation. The first one present is used."""
_MAX_NAME = 40
_MAX_COLUMNS = 1000
_HTML = re.compile(
    r"\s*<(?:p|div|article|section|figure|h[1-6]|ul|ol|table|blockquote)\b[^<>]{0,1000}>.*</\w{1,20}>\s*\Z",
    re.I | re.DOTALL,
)
_SEPARATORS = re.compile(r"[ ._-]+")
_CONTAINERS = ("fields.", "attributes.", "properties.")
"""Objects that contain fields of the document under their own names, as in the API of the Guardian."""
# MongoDB writes {"_id": {"$oid": "…"}, "date": {"$date": "…"}}.
_TYPES = (".$oid", ".$date")


class KnownColumn(NamedTuple):
    """A field, the column it is in, and its value, a string or a list; None for an unreadable date."""

    field: str
    column: str
    value: Any


def find_known_columns(fields: Mapping[str, Any], is_date: Callable[[str], bool]) -> Iterator[KnownColumn]:
    """The values of missing fields that are in columns with other known names.

    Values are strings, numbers (ids and dates only) and lists; a list of paragraphs becomes one text. A field
    whose value is an object counts as missing.
    """
    all_columns = look_into_objects(fields)
    names = tuple(name for name in all_columns if len(name) <= _MAX_NAME)
    for field, columns in _match_columns(names) if len(names) <= _MAX_COLUMNS else ():
        read: Callable[[str, Any], Any] = read_list if field in LIST_FIELDS else _to_text
        values = [(column, value) for column in columns if (value := read(field, all_columns[column]))]
        if field == "date":
            values.sort(key=lambda value: not is_date(value[1]))  # readable dates first
        if values:
            column, text = values[0]
            yield KnownColumn(field, column, text if field != "date" or is_date(text) else None)


def look_into_objects(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields, with objects replaced by their members, named with a dot: `source.name`."""
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
    """Whether a column of this name has one of these fields, under the field's name or another known name."""
    normal = _normalise(name[: _MAX_NAME + 1])
    return any(normal == field or normal in _KNOWN[field].split() for field in fields)


def has_html(column: str, text: str) -> bool:
    """Whether the text of a column is HTML, by the column's name or because block tags surround it."""
    return _normalise(column).endswith(("html", "rendered")) or bool(_HTML.match(text))


def _normalise(name: str) -> str:
    for suffix in _TYPES:
        name = name.removesuffix(suffix)
    for container in _CONTAINERS:
        name = name.removeprefix(container)
    return _SEPARATORS.sub("", name).lower()


@lru_cache(maxsize=64)
def _match_columns(columns: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """For each field without a column of the same name, the columns that may have it."""
    by_name: dict[str, str] = {}
    for column in sorted(columns, key=lambda column: "." in column):  # columns inside objects last
        by_name.setdefault(_normalise(column), column)
    matches = []
    for field, others in _KNOWN.items():
        if field in columns or (field == "text" and "sentences" in columns):
            continue
        matching = tuple(by_name[name] for name in (field, *others.split()) if name in by_name)
        if matching:
            matches.append((field, matching))
    return tuple(matches)


FIELDS = ("id", *(name for name in DESCRIPTIVE_FIELDS if name != METADATA), "text", "sentences")
# Columns of these fields must exist, because a document needs them. JSON Lines may lack the others.
_REQUIRED_FIELDS = ("id", "text", "sentences")


class MissingColumn(ValueError):
    """A record lacks the column of a mapping."""


def parse_mapping(pairs: Iterable[str]) -> dict[str, str]:
    """Parse `["text=body"]` to `{"text": "body"}`. Raises UsageError."""
    mapping: dict[str, str] = {}
    for pair in pairs:
        field, equals, column = pair.partition("=")
        if not equals or not field or not column:
            raise UsageError(f"--mapping needs FIELD=COLUMN, not {pair!r}")
        if field not in FIELDS:
            raise unknown("field", field, FIELDS)
        if field in mapping:
            raise UsageError(f"--mapping {field} is duplicated: choose {mapping[field]!r} or {column!r}")
        mapping[field] = column
    if {"text", "sentences"} <= set(mapping):
        raise UsageError("--mapping has both text and sentences: leave one of them out")
    return mapping


def apply_mapping(record: Record, mapping: Mapping[str, str], tabular: bool) -> Mapping[str, Any]:
    """The record's fields, renamed by the mapping. Raises MissingColumn.

    A mapped column is removed under its former name. A mapping of `text` or `sentences` also removes the
    former values of both, which could conflict. A record that lacks the column of an optional field keeps its
    value of the field: see `find_absent`.
    """
    if not mapping:
        return record.fields
    columns = _find_columns(record, mapping)
    fields = {name: value for name, value in record.fields.items() if name not in mapping.values()}
    if "text" in mapping or "sentences" in mapping:
        fields.pop("text", None)
        fields.pop("sentences", None)
    for field, column in mapping.items():
        if column not in columns and (tabular or field in _REQUIRED_FIELDS):
            raise MissingColumn(
                f"there is no column {column!r} for --mapping {field}={column}; "
                f"the columns are {', '.join(list(record.fields)[:20]) or 'none'}"
            )
        fields[field] = columns.get(column, fields.get(field))
    return fields


def find_absent(record: Record, mapping: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The (field, column) pairs of the mapping whose column the record lacks."""
    columns = _find_columns(record, mapping)
    return ((field, column) for field, column in mapping.items() if column not in columns)


def _find_columns(record: Record, mapping: Mapping[str, str]) -> Mapping[str, Any]:
    """The record's columns, with members of objects under dotted names too: `parts.copy`."""
    if all(column in record.fields for column in mapping.values()):
        return record.fields
    return {**look_into_objects(record.fields), **record.fields}


CONSTANT_FIELDS = tuple(name for name in DESCRIPTIVE_FIELDS if name != METADATA)


def parse_constants(pairs: Iterable[str]) -> dict[str, Any]:
    """Parse `["source=Wire", "meta.desk=Berlin"]` to the fields of a document. Raises UsageError.

    `authors`, `keywords` and keys of metadata may be given several times, other fields once.
    """
    constants: dict[str, Any] = {}
    for pair in pairs:
        name, _, value = pair.partition("=")
        key = name.removeprefix(META_PREFIX)
        if not name or not key or not value.strip():
            raise UsageError(
                f"--set needs FIELD=VALUE, such as source=Wire or meta.desk=Berlin, not {pair!r}"
            )
        if name.startswith(META_PREFIX):
            metadata = constants.setdefault(METADATA, {})
            metadata[key] = value if key not in metadata else [*_as_list(metadata[key]), value]
        elif name not in CONSTANT_FIELDS:
            raise unknown("field for --set", name, (*CONSTANT_FIELDS, f"{META_PREFIX}KEY"))
        elif name in LIST_FIELDS:
            constants.setdefault(name, []).append(value)
        elif name in constants:
            raise UsageError(f"--set {name} is duplicated: choose {constants[name]!r} or {value!r}")
        else:
            constants[name] = value
    try:
        build_document({"id": "checked", **constants})
    except InvalidDocument as error:
        raise UsageError(f"--set: {error}") from None
    return constants


def apply_constants(fields: Mapping[str, Any], constants: Mapping[str, Any]) -> dict[str, Any]:
    """The fields, replaced by the constants. Metadata keys without a constant are kept."""
    applied = {**fields, **constants}
    if METADATA in constants and isinstance(fields.get(METADATA), dict):
        applied[METADATA] = {**fields[METADATA], **constants[METADATA]}
    return applied


def find_replaced(fields: Mapping[str, Any], constants: Mapping[str, Any]) -> Iterator[str]:
    """The names of the constants that replace a different value in the fields."""
    for name, value in constants.items():
        direct = fields.get(name)
        if name == METADATA:
            direct = direct if isinstance(direct, dict) else {}
            yield from (META_PREFIX + key for key in value if direct.get(key, value[key]) != value[key])
        elif direct and direct != value:
            yield name


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
