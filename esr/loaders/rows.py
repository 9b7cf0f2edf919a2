"""Rows of a Python program as documents: mappings, objects with fields, and tables of data.

A row has the fields of JSON Lines, under their names or others, as a line of a file has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields as fields_of
from dataclasses import is_dataclass
from datetime import date
from decimal import Decimal
from io import BytesIO
from math import isnan
from typing import Any

import msgspec
import numpy as np

from esr.errors import UsageError
from esr.loaders.format import Format, Malformed, ReadResult, Record, Source
from esr.loaders.reader import AUTO, ReadOptions, build_documents, open_reader
from esr.text.document import Document, Located
from esr.text.validate import to_fields

_NAME = "rows"


def read_rows(rows: Any, options: ReadOptions) -> Iterator[Located]:
    """The documents of rows, lazily, with their locations: `rows:12`, counted from 1.

    `rows` are an iterable of mappings, dataclasses, named tuples, structs of msgspec, models of pydantic or
    `Document`s; or a table of pandas, polars or pyarrow. Raises UsageError for anything else, and InputError
    as `read_documents` does.
    """
    iterate = _open(rows)

    def read(source: Source) -> Iterator[ReadResult]:
        for number, row in enumerate(iterate, 1):
            fields = _to_mapping(row)
            where = f"{_NAME}:{number}"
            if fields is None:
                problem = f"not a row: a row is a mapping or an object with fields, not {type(row).__name__}"
                yield Malformed(where, problem)
            else:
                yield Record(where, {str(name): to_plain(value) for name, value in fields.items()})

    format = Format(_NAME, "rows of a program", (), lambda head: False, read, any_names=True)
    reader = open_reader(AUTO, options)
    return build_documents(reader.read_source(format, Source(_NAME, _NAME, BytesIO())), options)


def _open(rows: Any) -> Iterator[Any]:
    """An iterator over the rows of a table or an iterable. Raises UsageError."""
    if hasattr(rows, "iter_rows"):  # polars
        named: Iterator[Any] = rows.iter_rows(named=True)
        return named
    if hasattr(rows, "to_pylist"):  # pyarrow
        return (row for batch in rows.to_batches() for row in batch.to_pylist())
    if hasattr(rows, "itertuples"):  # pandas
        columns = list(rows.columns)
        return (dict(zip(columns, row, strict=True)) for row in rows.itertuples(index=False, name=None))
    if isinstance(rows, Iterable) and not isinstance(rows, str | bytes | Mapping):
        return iter(rows)
    raise UsageError(
        "rows are mappings or objects with fields, a table of pandas, polars or pyarrow, or a generator of "
        f"rows, not {type(rows).__name__}; files are read by esr.load"
    )


def _to_mapping(row: Any) -> Mapping[str, Any] | None:
    """The fields of a row by name, None if it has none."""
    match row:
        case Mapping():
            return row
        case Document():
            return to_fields(row)
        case msgspec.Struct():
            return msgspec.structs.asdict(row)
        case tuple() if hasattr(row, "_asdict"):
            named: dict[str, Any] = row._asdict()
            return named
    if is_dataclass(row) and not isinstance(row, type):
        return {field.name: getattr(row, field.name) for field in fields_of(row)}
    if hasattr(row, "model_dump"):  # pydantic
        dumped: dict[str, Any] = row.model_dump()
        return dumped
    return None


def to_plain(value: Any) -> Any:
    """A value as in JSON Lines. Times are ISO 8601; what tables have where a value is missing is None."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, float):
        return None if isnan(value) else float(value)
    if isinstance(value, date):
        return None if value != value else value.isoformat()  # NaT of pandas is a datetime
    if isinstance(value, np.generic | np.ndarray):
        return None if isinstance(value, np.datetime64) and np.isnat(value) else to_plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(name): to_plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_plain(inner) for inner in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, Decimal):
        return str(value)
    if is_dataclass(value) or isinstance(value, msgspec.Struct):
        return to_plain(_to_mapping(value))
    return value if isinstance(value, int) else None if _is_missing(value) else str(value)


def _is_missing(value: Any) -> bool:
    """Whether this is NA of pandas, which compares to nothing."""
    return type(value).__name__ == "NAType"
