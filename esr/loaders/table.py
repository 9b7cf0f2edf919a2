"""CSV and TSV: a document a row, the fields named by the first row."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

from esr.documents.written_dates import iso
from esr.errors import InputError
from esr.loaders.base import Format, Malformed, Record, Source, one_line, register
from esr.loaders.utf8 import MAX_DOCUMENT_BYTES, lines, too_long

_DELIMITERS = ",\t;|"


def read(source: Source) -> Iterator[Record | Malformed]:
    """A record of each row. The delimiter is the one of comma, tab, semicolon and bar that the first row
    has most of. A field may be quoted with `"`, and then hold line ends.

    Raises InputError where a quote is not closed, since nothing after it can be told.
    """
    csv.field_size_limit(MAX_DOCUMENT_BYTES)
    rows = _Rows(source)
    if rows.header is None:
        return
    columns = rows.header
    if len(set(columns)) < len(columns):
        twice = next(column for column in columns if columns.count(column) > 1)
        raise InputError(f"{source.name}:1", f"two columns are named {one_line(twice)!r}: rename one")
    for line, row in rows:
        where = f"{source.name}:{line}"
        if len(row) != len(columns):
            yield Malformed(
                where, f"this row has {len(row)} fields and the first row {len(columns)}: quote or mend it"
            )
        else:
            yield Record(where, dict(zip(columns, map(_known, row), strict=True)) | _dates(columns, row))


def _known(field: str) -> str | None:
    return field if field.strip() else None


def _dates(columns: list[str], row: list[str]) -> dict[str, Any]:
    """Dates as people write them, as ISO 8601. One that cannot be read stays, to be refused."""
    found = {column: iso(field) for column, field in zip(columns, row, strict=True) if _is_date(column)}
    return {column: date for column, date in found.items() if date}


def _is_date(column: str) -> bool:
    return "date" in column.lower() or "time" in column.lower() or "publish" in column.lower()


class _Rows:
    """The rows after the header, each with the line it begins on; blank lines are passed over."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._lines = lines(source)
        self._begin = self._line = self._size = 0
        first = next((line for _, line in self._fed() if line.strip()), None)
        self.header: list[str] | None = None
        if first is not None:
            delimiter = max(_DELIMITERS, key=first.count)
            self._options: Any = {"delimiter": delimiter, "strict": True}
            header = self._checked(csv.reader([first], **self._options))
            self.header = [column.strip() for column in header or []]
            self._begin = 0

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        reader = csv.reader((line for _, line in self._fed()), **self._options)
        while (row := self._checked(reader)) is not None:
            if row:
                yield self._begin, row
            self._begin = 0

    def _checked(self, reader: Any) -> list[str] | None:
        self._size = 0
        try:
            row: list[str] | None = next(reader, None)
        except csv.Error as error:
            raise InputError(
                f"{self._source.name}:{self._begin or self._line}",
                f"no CSV: {one_line(error)}; close the quotes of this row, and double those inside",
            ) from None
        return row

    def _fed(self) -> Iterator[tuple[int, str]]:
        """The lines, counted; a row of many must not fill the memory."""
        for number, line in self._lines:
            self._line = number
            self._begin = self._begin or number
            self._size += len(line)
            if self._size > MAX_DOCUMENT_BYTES:
                raise too_long(self._source, self._begin)
            yield number, line


FORMAT = register(
    Format(
        name="csv",
        description="CSV and TSV: a document a row, columns named by the first row (see --mapping)",
        suffixes=(".csv", ".tsv", ".tab"),
        # Anything can be a table.
        sniff=lambda head: False,
        read=read,
        tabular=True,
    )
)
