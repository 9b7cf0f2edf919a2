"""CSV and TSV: one document per row. The first row, or --columns, names the fields."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

from esr.errors import InputError, to_one_line
from esr.loaders import table_layout
from esr.loaders.encoding import MAX_DOCUMENT_BYTES, read_lines, too_long_error
from esr.loaders.format import Format, Malformed, ReadResult, Record, Remark, Source, register


def read(source: Source) -> Iterator[ReadResult | Remark]:
    """A record per row. The first row shows the delimiter, unless it is declared.

    A field may be quoted with `"`, and may then contain line ends. Raises InputError at an unclosed quote,
    because nothing after it can be parsed.
    """
    csv.field_size_limit(MAX_DOCUMENT_BYTES)
    rows = _Rows(source)
    if rows.columns is None:
        return
    for remark in rows.remarks:
        yield Remark(source.name, remark, "files")
    columns = rows.columns
    for line, row in rows:
        where = f"{source.name}:{line}"
        if len(row) != len(columns):
            yield Malformed(
                where,
                f"this row has {len(row)} fields and {rows.origin} {len(columns)}: quote or correct it",
            )
        else:
            yield Record(where, dict(zip(columns, map(_none_if_blank, row), strict=True)))


def _none_if_blank(field: str) -> str | None:
    return field if field.strip() else None


class _Rows:
    """The rows after the row of names, each with its first line's number; blank lines are skipped.

    `columns` is None if there is no row at all. `origin` tells where the columns are named. `remarks` are
    about the layout that was detected.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._lines = read_lines(source)
        self._begin = self._line = self._size = 0
        self._first: str | None = None  # a line that has been read, but is a document
        self.columns: list[str] | None = None
        self.remarks: list[str] = []
        declared = source.table
        first = self._next_line()
        if first and declared.delimiter is None and (delimiter := table_layout.read_separator_line(first)):
            declared = declared._replace(delimiter=delimiter)
            first = self._next_line()
        if not first:
            return
        try:
            layout = table_layout.complete(declared, first)
        except table_layout.UnclearLayout as error:
            raise InputError(f"{source.name}:{self._line}", str(error)) from None
        self.remarks += table_layout.describe(layout, declared)
        self._options = layout.reader_options()
        if layout.columns is None:
            names = self._next_row(csv.reader([first], **self._options)) or []
            self.columns, self.origin = [name.strip() for name in names], "the first row"
            self._begin = 0
        else:
            self.columns, self.origin = [*layout.columns], "--columns"
            self._first, self._begin = first, self._line
        self._check_columns(self.columns, table_layout.split_row(layout, first))

    def _check_columns(self, columns: list[str], first: list[str]) -> None:
        where = f"{self._source.name}:{self._line}"
        if len(set(columns)) < len(columns):
            duplicate = next(column for column in columns if columns.count(column) > 1)
            raise InputError(where, f"column {to_one_line(duplicate)!r} is duplicated: rename one of the two")
        if self._first and [name.strip().lower() for name in first] == [name.lower() for name in columns]:
            raise InputError(where, "this row has the names of the columns: leave --columns out")

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        reader = csv.reader(self._iterate_lines(), **self._options)
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

    def _next_line(self) -> str | None:
        """The next line that is not blank."""
        return next((line for line in self._iterate_lines() if line.strip()), None)

    def _iterate_lines(self) -> Iterator[str]:
        """The lines, counted. Raises InputError for a row of too many lines, which would fill the memory."""
        if self._first is not None:
            first, self._first = self._first, None
            yield first
        for number, line in self._lines:
            self._line = number
            self._begin = self._begin or number
            self._size += len(line)
            if self._size > MAX_DOCUMENT_BYTES:
                raise too_long_error(self._source, self._begin)
            yield line


FORMAT = register(
    Format(
        name="csv",
        description="CSV and TSV: one document per row, columns named by the first row or --columns",
        suffixes=(".csv", ".tsv", ".tab"),
        # Almost any text can be parsed as a table.
        sniff=lambda head: False,
        read=read,
        is_text=True,
        tabular=True,
        any_names=True,
    )
)
