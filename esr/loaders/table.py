"""Tables as CSV, TSV and Parquet: one document per row.

The first row of CSV, or --columns, names the fields. Delimiter and quote are declared, or detected from it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from esr.errors import InputError, UsageError, to_one_line
from esr.loaders.encoding import MAX_DOCUMENT_BYTES, decode_cell, read_lines, too_long_error
from esr.loaders.files import DEFAULT_LIMITS, Budget, open_seekable
from esr.loaders.format import NO_QUOTE, Malformed, ReadResult, Record, Remark, Source, TableLayout, loads
from esr.stdlib import import_lazily

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import parquet as pq
else:
    pa = import_lazily("pyarrow")
    pq = import_lazily("pyarrow.parquet")

_NAMES = {"comma": ",", "tab": "\t", r"\t": "\t", "semicolon": ";", "bar": "|", "pipe": "|"}
_DELIMITERS = ",\t;|"
_QUOTED = re.compile(r"'.*'")
# Excel writes this line if the delimiter is not the usual one of the country.
_SEPARATOR_LINE = re.compile(r"sep=(.)\s*", re.I)


class _UnclearLayout(ValueError):
    """The first row does not show the delimiter. The message tells the user what to do."""


def parse_layout(delimiter: str | None, quote: str | None, columns: str | None) -> TableLayout:
    """The layout given by the options --delimiter, --quote and --columns. Raises UsageError."""
    if delimiter is not None:
        delimiter = _NAMES.get(delimiter.lower(), delimiter)
        if len(delimiter) != 1 or delimiter in '"\r\n':
            raise UsageError(
                f"--delimiter must be one character, or one of {', '.join(_NAMES)}, not {delimiter!r}"
            )
    if quote is not None and quote != NO_QUOTE and (len(quote) != 1 or quote in "\r\n" or quote == delimiter):
        raise UsageError(
            f"--quote must be one character other than the delimiter, or {NO_QUOTE}, not {quote!r}"
        )
    return TableLayout(delimiter, quote, None if columns is None else _parse_columns(columns))


def _parse_columns(text: str) -> tuple[str, ...]:
    columns = tuple(name.strip() for name in text.split(","))
    for column in columns:
        if not column or columns.count(column) > 1:
            problem = f"{column!r} is duplicated" if column else "a name is empty"
            raise UsageError(
                f"--columns needs a different name for each column, such as id,title,text: {problem}"
            )
    return columns


def _read_separator_line(line: str) -> str | None:
    """The delimiter in a first line such as `sep=;`; None for any other line."""
    match = _SEPARATOR_LINE.fullmatch(line)
    return match[1] if match else None


def _complete(layout: TableLayout, first: str) -> TableLayout:
    """The layout with delimiter and quote, taken from the first row if undeclared. Raises _UnclearLayout."""
    quote = layout.quote or _find_quote(layout, first)
    layout = layout._replace(quote=quote)
    return layout if layout.delimiter else layout._replace(delimiter=_find_delimiter(layout, first))


def _describe(layout: TableLayout, declared: TableLayout) -> Iterator[str]:
    """Remarks about a detected delimiter or quote that is unusual."""
    if layout.delimiter != declared.delimiter and layout.delimiter not in (",", "\t"):
        yield f"have columns separated by {layout.delimiter!r} (--delimiter chooses another)"
    if layout.quote != declared.quote and layout.quote != '"':
        yield f"have fields quoted by {layout.quote!r} (--quote chooses another)"


def _split_row(layout: TableLayout, line: str) -> list[str]:
    """The fields of a row, the last one cut if the row has more lines; an empty list if it is broken.

    The layout must be complete.
    """
    try:
        return next(csv.reader([line], **(layout.reader_options() | {"strict": False})), [])
    except csv.Error:
        return []


def _find_quote(layout: TableLayout, first: str) -> str:
    """The quote: an apostrophe if every name in the row is in apostrophes.

    If the columns are declared, the row is a document: then one field in apostrophes is enough.
    """
    if layout.columns is None:
        fields = re.split(f"[{re.escape(_DELIMITERS)}]", first.strip())
        return "'" if all(map(_QUOTED.fullmatch, fields)) else '"'
    for delimiter in layout.delimiter or _DELIMITERS:
        quoted = layout._replace(delimiter=delimiter, quote="'")
        end = re.escape(delimiter)
        if len(_split_row(quoted, first.strip())) == len(layout.columns) and re.search(
            rf"(?:^|{end})'[^']+(?:''[^']*)*'(?:{end}|$)", first.strip()
        ):
            return "'"
    return '"'


def _find_delimiter(layout: TableLayout, first: str) -> str:
    """The delimiter that splits the row into the declared number of fields, or else into the most fields."""
    counts = {
        delimiter: len(_split_row(layout._replace(delimiter=delimiter), first)) for delimiter in _DELIMITERS
    }
    wanted = max(counts.values()) if layout.columns is None else len(layout.columns)
    candidates = [delimiter for delimiter, count in counts.items() if count == wanted]
    if wanted <= 1:  # one column, or a broken row
        return ","
    if len(candidates) == 1:
        return candidates[0]
    shown = " and ".join(map(repr, candidates)) or "no usual delimiter"
    verb = "cut" if len(candidates) > 1 else "cuts"
    raise _UnclearLayout(f"{shown} {verb} the first row into {wanted} columns: choose one with --delimiter")


@loads(
    "csv",
    "CSV and TSV: one document per row, columns named by the first row or --columns",
    suffixes=(".csv", ".tsv", ".tab"),
    # Almost any text can be parsed as a table.
    sniff=lambda head: False,
    has_no_signature=True,
    is_text=True,
    tabular=True,
    any_names=True,
)
def _read_text(source: Source) -> Iterator[ReadResult | Remark]:
    """A record per row. The delimiter is declared, or detected from the first row.

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


def _name_columns(names: list[str]) -> list[str]:
    """The names of columns, with a number for each that has none, if there are several of them."""
    if names.count("") < 2 or not any(names):
        return names
    return [name or f"column {number}" for number, name in enumerate(names, 1)]


class _Rows:
    """The rows after the row of names, each with its first line's number; rows of blanks are skipped.

    `columns` is None if there is no row. `origin` says where the columns are named. `remarks` are about the
    detected layout.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._lines = read_lines(source)
        self._begin = self._line = self._size = 0
        self._first: str | None = None  # a line that was read ahead, but is a document
        self.columns: list[str] | None = None
        self.remarks: list[str] = []
        declared = source.table
        first = self._next_line()
        if first and declared.delimiter is None and (delimiter := _read_separator_line(first)):
            declared = declared._replace(delimiter=delimiter)
            first = self._next_line()
        if not first:
            return
        try:
            layout = _complete(declared, first)
        except _UnclearLayout as error:
            raise InputError(f"{source.name}:{self._line}", str(error)) from None
        self.remarks += _describe(layout, declared)
        self._options = layout.reader_options()
        if layout.columns is None:
            names = self._next_row(csv.reader([first], **self._options)) or []
            self.columns, self.origin = _name_columns([name.strip() for name in names]), "the first row"
            self._begin = 0
        else:
            self.columns, self.origin = [*layout.columns], "--columns"
            self._first, self._begin = first, self._line
        self._check_columns(self.columns, _split_row(layout, first))

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
            if any(map(_none_if_blank, row)):
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
        """The lines, counted. Raises InputError for a row of too many lines."""
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


# Rows may share strings in the file, so that a few KB contain gigabytes of rows: few are decoded at once.
_BATCH_ROWS = 32
_MAX_METADATA_BYTES = 64 * 2**20


@loads(
    "parquet",
    "Parquet: one document per row (see --mapping)",
    suffixes=(".parquet", ".pq"),
    sniff=lambda head: head.startswith(b"PAR1"),
    needs=("pyarrow.parquet",),
    tabular=True,
    any_names=True,
)
def _read_parquet(source: Source) -> Iterator[Record]:
    """A record per row. Raises InputError if the file is broken."""
    with open_seekable(source) as file:
        budget = Budget(source.name, DEFAULT_LIMITS)
        budget.packed = file.seek(0, 2)
        row = 0
        try:
            table = pq.ParquetFile(
                file,
                pre_buffer=False,
                thrift_string_size_limit=_MAX_METADATA_BYTES,
                thrift_container_size_limit=2**20,
            )
            for batch in table.iter_batches(batch_size=_BATCH_ROWS, use_threads=False):
                budget.spend(batch.nbytes)
                for fields in _to_microseconds(batch).to_pylist():
                    row += 1
                    values = {column: _to_json(value) for column, value in fields.items()}
                    yield Record(f"{source.name}:row {row}", values)
        except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
            if isinstance(error, OSError) and error.errno:
                raise
            raise InputError(
                f"{source.name}:row {row + 1}",
                f"broken Parquet: {to_one_line(error)}; fetch or write the file again",
            ) from None


def _to_microseconds(batch: Any) -> Any:
    """Convert times in nanoseconds, as pandas writes them, to microseconds, as datetime has them."""
    fields = [
        field.with_type(pa.timestamp("us", field.type.tz))
        if pa.types.is_timestamp(field.type) and field.type.unit == "ns"
        else field
        for field in batch.schema
    ]
    return batch.cast(pa.schema(fields), safe=False)


def _to_json(value: Any) -> Any:
    """A value as in JSON Lines: numbers and dates as text, bytes decoded, also in lists and objects.

    Bytes that are no text, such as pictures and digests, are left out.
    """
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, bytes):
        return decode_cell(value)
    if isinstance(value, list):
        return list(map(_to_json, value))
    if isinstance(value, dict):
        return {name: _to_json(inner) for name, inner in value.items()}
    return value if value is None or isinstance(value, str) else str(value)
