"""Column mappings: `--mapping text=body` takes the field text from the column body."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from esr.documents.fields import DESCRIPTIVE_FIELDS, METADATA
from esr.errors import UsageError, unknown
from esr.loaders.format import Record
from esr.loaders.known_columns import look_into_objects

FIELDS = ("id", *(name for name in DESCRIPTIVE_FIELDS if name != METADATA), "text", "sentences")
# A document needs these, so their columns must exist. JSON Lines may lack the others.
_REQUIRED_FIELDS = ("id", "text", "sentences")


class MissingColumn(ValueError):
    """A record lacks the column of a mapping."""


def parse_mapping(pairs: Iterable[str]) -> dict[str, str]:
    """`["text=body"]` as `{"text": "body"}`. Raises UsageError."""
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

    A mapped column loses its own name, so that `text=body` does not conflict with a column `sentences`.
    Records that lack the column of an optional field keep their own value of it: see `find_absent`.
    """
    if not mapping:
        return record.fields
    given = _find_columns(record, mapping)
    fields = {name: value for name, value in record.fields.items() if name not in mapping.values()}
    if "text" in mapping or "sentences" in mapping:
        fields.pop("text", None)
        fields.pop("sentences", None)
    for field, column in mapping.items():
        if column not in given and (tabular or field in _REQUIRED_FIELDS):
            raise MissingColumn(
                f"there is no column {column!r} for --mapping {field}={column}; "
                f"the columns are {', '.join(list(record.fields)[:20]) or 'none'}"
            )
        fields[field] = given.get(column, fields.get(field))
    return fields


def find_absent(record: Record, mapping: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The pairs of the mapping whose column this record lacks."""
    given = _find_columns(record, mapping)
    return ((field, column) for field, column in mapping.items() if column not in given)


def _find_columns(record: Record, mapping: Mapping[str, str]) -> Mapping[str, Any]:
    """The record's columns. One inside an object has both names: `parts.copy`."""
    if all(column in record.fields for column in mapping.values()):
        return record.fields
    return {**look_into_objects(record.fields), **record.fields}
