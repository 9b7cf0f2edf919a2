"""Parquet: one document per row, read by pyarrow a few rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

from esr.errors import InputError, to_one_line
from esr.loaders.files import DEFAULT_LIMITS, Budget, open_seekable
from esr.loaders.format import Format, Record, Source, register

# Rows share strings in the file, so a few KB can contain rows of gigabytes: decode few rows at once.
_BATCH_ROWS = 32
_MAX_METADATA_BYTES = 64 * 2**20


def read(source: Source) -> Iterator[Record]:
    """A record per row. Raises InputError where the file is broken."""
    import pyarrow as pa
    import pyarrow.parquet as pq

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
    """Convert times in nanoseconds, which pandas writes and Python's datetime cannot represent."""
    import pyarrow as pa

    fields = [
        field.with_type(pa.timestamp("us", field.type.tz))
        if pa.types.is_timestamp(field.type) and field.type.unit == "ns"
        else field
        for field in batch.schema
    ]
    return batch.cast(pa.schema(fields), safe=False)


def _to_json(value: Any) -> Any:
    """A value as in JSON Lines: numbers and dates as text, bytes decoded, also in lists and objects."""
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, list):
        return list(map(_to_json, value))
    if isinstance(value, dict):
        return {name: _to_json(inner) for name, inner in value.items()}
    return value if value is None or isinstance(value, str) else str(value)


FORMAT = register(
    Format(
        name="parquet",
        description="Parquet: one document per row (see --mapping)",
        suffixes=(".parquet", ".pq"),
        sniff=lambda head: head.startswith(b"PAR1"),
        read=read,
        needs=("pyarrow.parquet",),
        tabular=True,
        any_names=True,
    )
)
