"""XLSX: one document per row."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterator
from datetime import datetime, time
from typing import Any

from esr.loaders.office.zip_parts import open_parts, sniff_open_xml
from esr.plugin import Format, InputError, Malformed, ReadResult, Record, Remark, Source, to_one_line


def read(source: Source) -> Iterator[ReadResult | Remark]:
    """A record per row. The first row that is not blank, or --columns, names the fields.

    Sheets whose columns differ from the first sheet's are left out, with a remark. Raises InputError if the
    file is broken.
    """
    with open_parts(source, "xl/workbook.xml") as (archive, file):
        archive.spend_all()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # openpyxl warns about unknown styles and checks
                yield from _read_sheets(source, file)
        # openpyxl passes on the errors of its parsers.
        except Exception as error:
            if isinstance(error, InputError | zipfile.BadZipFile) or getattr(error, "errno", None):
                raise
            problem = to_one_line(error) or type(error).__name__
            raise InputError(source.name, f"broken XLSX: {problem}; fetch or save the file again") from None


def _read_sheets(source: Source, file: Any) -> Iterator[ReadResult | Remark]:
    from openpyxl import load_workbook

    columns = list(source.table.columns) if source.table.columns else None
    is_declared = columns is not None
    is_first = True
    book = load_workbook(file, read_only=True, data_only=True, keep_links=False)
    for sheet in book.worksheets:
        sheet.reset_dimensions()  # programs declare wrong dimensions
        rows = _iterate_rows(f"{source.name}:{sheet.title}", sheet)
        filled: _Rows = (
            (n, list(map(_to_text, row))) for n, row in rows if any(cell is not None for cell in row)
        )
        if not is_declared:
            filled = _without_headings(filled)
        if not is_declared and (first := next(filled, None)):
            names = [(name or "").strip() for name in first[1]]
            while names and not names[-1]:
                names.pop()
            if is_first:
                columns = _check_columns(f"{source.name}:{sheet.title}!{first[0]}", names)
            elif names != columns:
                text = f"have a sheet {to_one_line(sheet.title)!r} with other columns, which was left out"
                yield Remark(source.name, text, "files")
                continue
            is_first = False
        for number, cells in filled:
            yield _build_row(f"{source.name}:{to_one_line(sheet.title)}!{number}", columns or [], cells)


MAX_CELLS = 250_000_000
"""Maximum number of cells of a sheet. One cell in the last column makes a row of 16,384."""


def _iterate_rows(where: str, sheet: Any) -> Iterator[tuple[int, list[Any]]]:
    """The rows with their numbers. Raises InputError if they have too many cells."""
    cells = 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        cells += len(row)
        if cells > MAX_CELLS:
            raise InputError(where, f"the sheet has more than {MAX_CELLS:,} cells: delete its empty columns")
        yield number, list(row)


_Rows = Iterator[tuple[int, list[str | None]]]


def _without_headings(rows: _Rows) -> _Rows:
    """The rows without the table's titles: single-cell rows before the first row of several cells.
    The rows of a table with one column are unchanged.
    """
    before = []
    for row in rows:
        if sum(cell is not None for cell in row[1]) > 1:
            yield row
            yield from rows
            return
        before.append(row)
        if len(before) > _MAX_HEADINGS:
            break
    yield from before
    yield from rows


_MAX_HEADINGS = 10


def _check_columns(where: str, names: list[str]) -> list[str]:
    for name in names:
        if names.count(name) > 1:
            problem = f"column {to_one_line(name)!r} is duplicated: rename one of the two"
            raise InputError(where, problem if name else "a column has no name: give it one")
    return names


def _build_row(where: str, columns: list[str], cells: list[str | None]) -> ReadResult:
    while len(cells) > len(columns) and cells[-1] is None:
        cells.pop()
    if len(cells) > len(columns):
        problem = f"this row has {len(cells)} cells, but there are {len(columns)} columns: name them all"
        return Malformed(where, problem)
    cells += [None] * (len(columns) - len(cells))
    return Record(where, dict(zip(columns, cells, strict=True)))


def _to_text(value: Any) -> str | None:
    """A cell as in CSV: numbers as text, dates in ISO 8601."""
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = "" if value is None else str(value)
    return text if text.strip() else None


XLSX = Format(
    "xlsx",
    "XLSX: one document per row, columns named by the first row or --columns",
    suffixes=(".xlsx", ".xlsm"),
    sniff=sniff_open_xml(b"xl/"),
    read=read,
    needs=("openpyxl", "defusedxml"),
    tabular=True,
    any_names=True,
    is_container=True,
)
