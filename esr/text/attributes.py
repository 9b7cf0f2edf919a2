"""Attributes of documents: short values that searches filter by and count.

They have the names of the query language: `author`, `section`, `keyword`, and `meta.desk` for the metadata
key "desk". Keys of nested objects are joined: `meta.desk.city`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any
from unicodedata import normalize

from esr.text.document import Document

ATTRIBUTES = {"author": "authors", "section": "section", "keyword": "keywords"}
"""The document's field for each attribute."""
META = "meta"
"""The attribute whose values are the metadata keys. With a period, the prefix of a key's attribute."""
META_PREFIX = f"{META}."
MAX_ATTRIBUTE_CHARS = 1000
"""Longer values and keys are ignored. Characters beyond U+FFFF count twice, as in Elasticsearch."""


def value_key(value: str) -> str:
    """The key of a value. Values with the same key, which differ only in case or spaces, count as equal."""
    return " ".join(normalize("NFKC", value).casefold().split())


def distinct(values: Iterable[str]) -> tuple[str, ...]:
    """The first form of each distinct value, in order."""
    forms: dict[str, str] = {}
    for value in values:
        forms.setdefault(value_key(value), value)
    return tuple(forms.values())


def is_attribute(name: str) -> bool:
    """Whether an attribute may have this name."""
    return name in ATTRIBUTES or (name.startswith(META_PREFIX) and len(name) > len(META_PREFIX))


def has_attributes(document: Document) -> bool:
    """Whether a document may have attributes. Fast, since most have none."""
    return bool(document.authors or document.section or document.keywords or document.metadata)


def attributes(document: Document) -> dict[str, tuple[str, ...]]:
    """The distinct values of each attribute that the document has, in order."""
    values: dict[str, tuple[str, ...]] = {}
    for name, source in ATTRIBUTES.items():
        if value := getattr(document, source):
            values[name] = (value,) if isinstance(value, str) else distinct(value)
    for key, of_key in metadata_values(document.metadata).items():
        values[META_PREFIX + key] = of_key
    short = {name: tuple(filter(_is_short, of_name)) for name, of_name in values.items()}
    return {name: of_name for name, of_name in short.items() if of_name}


def metadata_values(metadata: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The values of each metadata key that can be attributes.

    Values that differ only in case count once, even under keys that differ only in case: the first one is
    kept, under its key.
    """
    forms: dict[tuple[str, str], tuple[str, str]] = {}
    for key, values in flat_metadata(metadata).items() if metadata else ():
        if key and _is_short(key):
            for value in filter(_is_short, values):
                forms.setdefault((value_key(key), value_key(value)), (key, value))
    attributes: dict[str, tuple[str, ...]] = {}
    for key, of_key in groupby(forms.values(), itemgetter(0)):
        attributes[key] = tuple(value for _, value in of_key)
    return attributes


def flat_metadata(metadata: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The distinct values of each metadata key, as texts with single spaces."""
    values: dict[str, dict[str, None]] = {}
    for key, value in _flatten(metadata, ""):
        if value:
            values.setdefault(key, {})[value] = None
    return {key: tuple(of_key) for key, of_key in values.items()}


def _flatten(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield the values in JSON as texts, each with its path of keys."""
    match value:
        case dict():
            for key, inner in value.items():
                name = _to_line(key)
                yield from _flatten(inner, f"{path}.{name}" if path else name)
        case list():
            for inner in value:
                yield from _flatten(inner, path)
        case None:
            pass
        case str():
            yield path, _to_line(value)
        case _:
            yield path, json.dumps(value)


def _to_line(text: str) -> str:
    return " ".join(normalize("NFC", text.replace("\0", " ")).split())


def _is_short(text: str) -> bool:
    return len(text) <= MAX_ATTRIBUTE_CHARS and (
        text.isascii() or len(text) + sum(c > "\uffff" for c in text) <= MAX_ATTRIBUTE_CHARS
    )
