"""Parquet: a document a row, read by pyarrow, a few rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

from esr.errors import InputError
from esr.loaders.base import Format, Record, Source, one_line, register
from esr.loaders.limits import DEFAULT_LIMITS, Budget
from esr.loaders.seekable import seekable

# Rows share their strings in the file, so a few KB can hold rows of gigabytes: few are unpacked at once.
_ROWS = 32
_MAX_METADATA_BYTES = 64 * 2**20


def read(source: Source) -> Iterator[Record]:
    """A record of each row. Raises InputError where the file is broken."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with seekable(source) as file:
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
            for batch in table.iter_batches(batch_size=_ROWS, use_threads=False):
                budget.spend(batch.nbytes)
                for fields in _in_microseconds(batch).to_pylist():
                    row += 1
                    yield Record(f"{source.name}:row {row}", {k: _plain(k, v) for k, v in fields.items()})
        except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
            if isinstance(error, OSError) and error.errno:
                raise
            raise InputError(
                f"{source.name}:row {row + 1}",
                f"broken Parquet: {one_line(error)}; fetch or write the file again",
            ) from None


def _in_microseconds(batch: Any) -> Any:
    """pandas writes times in nanoseconds, which Python's datetime cannot hold."""
    import pyarrow as pa

    fields = [
        field.with_type(pa.timestamp("us", field.type.tz))
        if pa.types.is_timestamp(field.type) and field.type.unit == "ns"
        else field
        for field in batch.schema
    ]
    return batch.cast(pa.schema(fields), safe=False)


def _plain(column: str, value: Any) -> Any:
    """A value as JSON Lines would have it: numbers and dates as text, bytes decoded."""
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, list):
        return [{"text": each} if isinstance(each, str) else each for each in value]
    return value if value is None or isinstance(value, (str, dict)) else str(value)


FORMAT = register(
    Format(
        name="parquet",
        description="Parquet: a document a row (see --mapping)",
        suffixes=(".parquet", ".pq"),
        sniff=lambda head: head.startswith(b"PAR1"),
        read=read,
        needs=("pyarrow.parquet",),
        tabular=True,
    )
)
