"""Columns under other names: `--mapping text=body` takes the field text from the column body."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from esr.errors import UsageError, unknown
from esr.loaders.base import Record

FIELDS = ("id", "title", "date", "source", "url", "language", "text", "sentences")
# Without these there is no document, so their columns must be there. Others may be missing in JSON Lines.
_NEEDED = ("id", "text", "sentences")


class Unmapped(ValueError):
    """The column of a mapping is not there."""


def parsed(pairs: Iterable[str]) -> dict[str, str]:
    """`["text=body"]` as `{"text": "body"}`. Raises UsageError."""
    mapping: dict[str, str] = {}
    for pair in pairs:
        field, equals, column = pair.partition("=")
        if not equals or not field or not column:
            raise UsageError(f"--mapping wants FIELD=COLUMN, not {pair!r}")
        if field not in FIELDS:
            raise unknown("field", field, FIELDS)
        if field in mapping:
            raise UsageError(f"--mapping gives {field} twice: {mapping[field]!r} and {column!r}")
        mapping[field] = column
    if {"text", "sentences"} <= set(mapping):
        raise UsageError("--mapping gives both text and sentences: leave one of them out")
    return mapping


def renamed(record: Record, mapping: Mapping[str, str], tabular: bool) -> Mapping[str, Any]:
    """The record's fields under the names that the mapping gives. Raises Unmapped.

    A column that is mapped loses its own name, so that `text=body` and a column `sentences` do not meet.
    """
    if not mapping:
        return record.fields
    fields = {name: value for name, value in record.fields.items() if name not in mapping.values()}
    if "text" in mapping or "sentences" in mapping:
        fields.pop("text", None)
        fields.pop("sentences", None)
    for field, column in mapping.items():
        if column not in record.fields and (tabular or field in _NEEDED):
            raise Unmapped(
                f"there is no column {column!r} for --mapping {field}={column}: "
                f"there are {', '.join(list(record.fields)[:20]) or 'none'}"
            )
        fields[field] = record.fields.get(column)
    return fields
