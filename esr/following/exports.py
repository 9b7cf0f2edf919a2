"""Files of any number of hits: the formats as a registry, each with a writer that needs little memory.

A writer gets hits one by one and yields bytes. Tables have a column for each requested field. A value that a
spreadsheet could take for a formula is written as text.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from tempfile import TemporaryFile
from typing import Any, NamedTuple

from msgspec import Struct

from esr.extras import require
from esr.following.citations import CITATIONS, CitationFormat, Cited
from esr.index.hits import Hit, SentenceRecord
from esr.ranking.answers import COLUMNS, guard_formula, require_record
from esr.registry import Registry
from esr.stdlib import batched, replace_nonfinite
from esr.text.document import META_PREFIX

RANK = "rank"
FIELDS = (RANK, "score", *SentenceRecord._fields, "direction", "metadata", "permalink")
"""The fields of a hit in files, in addition to keys of the metadata such as `meta.desk`."""


NOTE, TAGS = "note", "tags"
"""Fields that readers add to clippings: a text, and a list of texts."""


class Row(NamedTuple):
    """A hit, and its fields by name; keys of the metadata are in `metadata`."""

    hit: Hit
    fields: Mapping[str, Any]


Write = Callable[[Iterable[Row], Sequence[str]], Iterator[bytes]]


class ExportFormat(Struct, frozen=True):
    """A format of files. `suffix` is the end of a file's address, `ending` that of its name.

    `write` gets the columns, or none for the default ones. `has_columns`: whether they can be chosen.
    `needs`: the optional module that it needs, if any; `most`: its maximum number of rows, or None.
    """

    name: str
    label: str
    suffix: str
    media_type: str
    write: Write
    ending: str
    has_columns: bool = True
    needs: str = ""
    most: int | None = None

    def check(self) -> None:
        """Raise UsageError if the module that the format needs is missing."""
        if self.needs:
            require(f"the format {self.name}", self.needs)


_BATCH = 500
"""Rows written at a time."""
_MARK = "\ufeff".encode()
"""The byte order mark, by which spreadsheets recognise UTF-8."""


def write_csv(rows: Iterable[Row], columns: Sequence[str]) -> Iterator[bytes]:
    """A table in UTF-8 with a byte order mark."""
    columns = columns or COLUMNS
    yield _MARK + _csv_lines([columns])
    for batch in batched(rows, _BATCH):
        yield _csv_lines([_guarded(_cell(row, column)) for column in columns] for row in batch)


def write_jsonl(rows: Iterable[Row], columns: Sequence[str]) -> Iterator[bytes]:
    """A line of JSON for each hit, with the chosen fields, or all that have a value."""
    for batch in batched(rows, _BATCH):
        yield "".join(_json_line(row) for row in batch).encode()


def write_xlsx(rows: Iterable[Row], columns: Sequence[str]) -> Iterator[bytes]:
    """A sheet of texts and numbers, without formulas. It is first written to disk, as the format requires."""
    import xlsxwriter

    columns = columns or COLUMNS
    with TemporaryFile() as file:
        with xlsxwriter.Workbook(file, {"constant_memory": True}) as book:
            sheet = book.add_worksheet("sentences")
            sheet.freeze_panes(1, 0)
            for n, column in enumerate(columns):
                sheet.set_column(n, n, _WIDTHS.get(column, _USUAL_WIDTH))
                sheet.write_string(0, n, column)
            for line, row in enumerate(rows, 1):
                for n, column in enumerate(columns):
                    value = _cell(row, column)
                    if isinstance(value, str):
                        sheet.write_string(line, n, _encodable(value)[:_MOST_IN_CELL])
                    else:
                        sheet.write_number(line, n, value)
        file.seek(0)
        while piece := file.read(_PIECE):
            yield piece


_WIDTHS = {RANK: 6, "score": 10, "position": 8, "text": 80, "title": 40}
_USUAL_WIDTH = 16
_MOST_IN_CELL = 32_767
"""Maximum characters of a cell in Excel."""
XLSX_ROWS = 1_048_575
"""Maximum rows of a sheet in Excel below the names of columns."""
_PIECE = 1 << 16


def _write_citations(
    citation: CitationFormat, rows: Iterable[Row], columns: Sequence[str]
) -> Iterator[bytes]:
    sentences = (
        Cited(require_record(row.hit), row.fields.get(NOTE, ""), tuple(row.fields.get(TAGS, ())))
        for row in rows
    )
    for batch in batched(citation.pieces(sentences), _BATCH):
        yield "".join(batch).encode("utf-8", "replace")


def _cell(row: Row, column: str) -> str | int | float:
    """The value of a column: a number, or a text, empty if unknown."""
    if column.startswith(META_PREFIX):
        value = (row.fields.get("metadata") or {}).get(column.removeprefix(META_PREFIX))
    else:
        value = row.fields.get(column)
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case int():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case str():
            return value
        case list() | tuple() if all(isinstance(each, str) for each in value):
            return "; ".join(value)
        case _:
            return json.dumps(replace_nonfinite(value), ensure_ascii=False) if value else ""


def _guarded(value: str | int | float) -> str:
    return guard_formula(value) if isinstance(value, str) else repr(value)


def _csv_lines(rows: Iterable[Sequence[str]]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode("utf-8", "replace")


def _json_line(row: Row) -> str:
    return _encodable(json.dumps(replace_nonfinite(row.fields), ensure_ascii=False)) + "\n"


def _encodable(text: str) -> str:
    """The text without halves of surrogate pairs, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode()


EXPORTS: Registry[ExportFormat] = Registry("format of files")
for _format in (
    ExportFormat("csv", "CSV", "csv", "text/csv", write_csv, "csv"),
    ExportFormat("jsonl", "JSON Lines", "jsonl", "application/x-ndjson", write_jsonl, "jsonl"),
    ExportFormat(
        "xlsx",
        "Excel",
        "xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        write_xlsx,
        "xlsx",
        needs="xlsxwriter",
        most=XLSX_ROWS,
    ),
    *(
        ExportFormat(
            each.name,
            each.label,
            each.suffix,
            each.media_type,
            partial(_write_citations, each),
            "json" if each.media_type.endswith("json") else each.suffix,
            has_columns=False,
        )
        for each in CITATIONS.values()
    ),
):
    EXPORTS.register(_format)
