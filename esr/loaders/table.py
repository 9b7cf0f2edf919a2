"""CSV and TSV: one document per row, with the fields named by the first row."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

from esr.documents.newspaper_dates import to_iso_date
from esr.errors import InputError, to_one_line
from esr.loaders.format import Format, Malformed, Record, Source, register
from esr.loaders.utf8 import MAX_DOCUMENT_BYTES, read_lines, too_long_error

_DELIMITERS = ",\t;|"


def read(source: Source) -> Iterator[Record | Malformed]:
    """A record per row. The delimiter is the most frequent of comma, tab, semicolon and bar in the first row.

    A field may be quoted with `"`, and may then contain line ends. Raises InputError at an unclosed quote,
    because nothing after it can be parsed.
    """
    csv.field_size_limit(MAX_DOCUMENT_BYTES)
    rows = _Rows(source)
    if rows.header is None:
        return
    columns = rows.header
    if len(set(columns)) < len(columns):
        duplicate = next(column for column in columns if columns.count(column) > 1)
        raise InputError(
            f"{source.name}:1", f"column {to_one_line(duplicate)!r} is duplicated: rename one of the two"
        )
    for line, row in rows:
        where = f"{source.name}:{line}"
        if len(row) != len(columns):
            yield Malformed(
                where,
                f"this row has {len(row)} fields and the first row {len(columns)}: quote or correct it",
            )
        else:
            fields = dict(zip(columns, map(_none_if_blank, row), strict=True))
            yield Record(where, fields | _convert_dates(columns, row))


def _none_if_blank(field: str) -> str | None:
    return field if field.strip() else None


def _convert_dates(columns: list[str], row: list[str]) -> dict[str, Any]:
    """The dates in ISO 8601. An unreadable date stays as it is, and validation rejects it."""
    dates = {
        column: to_iso_date(field) for column, field in zip(columns, row, strict=True) if _is_date(column)
    }
    return {column: date for column, date in dates.items() if date}


def _is_date(column: str) -> bool:
    return "date" in column.lower() or "time" in column.lower() or "publish" in column.lower()


class _Rows:
    """The rows after the header, each with the line that it begins on; blank lines are skipped."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._lines = read_lines(source)
        self._begin = self._line = self._size = 0
        first = next((line for _, line in self._iterate_lines() if line.strip()), None)
        self.header: list[str] | None = None
        if first is not None:
            delimiter = max(_DELIMITERS, key=first.count)
            self._options: Any = {"delimiter": delimiter, "strict": True}
            header = self._next_row(csv.reader([first], **self._options))
            self.header = [column.strip() for column in header or []]
            self._begin = 0

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        reader = csv.reader((line for _, line in self._iterate_lines()), **self._options)
        while (row := self._next_row(reader)) is not None:
            if row:
                yield self._begin, row
            self._begin = 0

    def _next_row(self, reader: Any) -> list[str] | None:
        self._size = 0
        try:
            row: list[str] | None = next(reader, None)
        except csv.Error as error:
            raise InputError(
                f"{self._source.name}:{self._begin or self._line}",
                f"broken CSV: {to_one_line(error)}; close the quotes of this row, and double those inside",
            ) from None
        return row

    def _iterate_lines(self) -> Iterator[tuple[int, str]]:
        """The lines, counted. A row of very many lines must not fill the memory."""
        for number, line in self._lines:
            self._line = number
            self._begin = self._begin or number
            self._size += len(line)
            if self._size > MAX_DOCUMENT_BYTES:
                raise too_long_error(self._source, self._begin)
            yield number, line


FORMAT = register(
    Format(
        name="csv",
        description="CSV and TSV: one document per row, columns named by the first row (see --mapping)",
        suffixes=(".csv", ".tsv", ".tab"),
        # Almost any text can be read as a table.
        sniff=lambda head: False,
        read=read,
        tabular=True,
        any_names=True,
    )
)
