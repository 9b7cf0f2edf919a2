"""From the fields that a loader read to those of a document, and remarks about what was done on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from esr.documents.dates import is_iso_date
from esr.documents.written_dates import UnclearDate, read_date
from esr.errors import InputError, to_one_line
from esr.loaders import escapes
from esr.loaders.format import Format, Malformed, Record, Remark
from esr.loaders.known_columns import find_known_columns
from esr.loaders.mapping import FIELDS, MissingColumn, apply_mapping, find_absent

_TEXTS = ("title", "source", "text")


class RecordAdapter:
    """Applies the column mapping, finds fields under other names, reads dates, and decodes texts of tables.

    What it does unasked is passed as a remark. `day_first` is that of `read_date`.
    """

    def __init__(
        self,
        mapping: Mapping[str, str],
        on_remark: Callable[[Remark], None] | None,
        day_first: bool | None = None,
    ) -> None:
        self._mapping = mapping
        self._on_remark = on_remark
        self._day_first = day_first

    def adapt(self, record: Record, format: Format) -> Record | Malformed:
        """The record with the fields of a document. Raises InputError if a column is missing in all rows."""
        try:
            fields = apply_mapping(record, self._mapping, format.tabular)
        except MissingColumn as error:
            if format.tabular:
                raise InputError(record.where, str(error)) from None
            return Malformed(record.where, str(error))
        for field, column in find_absent(record, self._mapping):
            self._remark(record, f"have no {column!r} for --mapping {field}={column} and keep their own")
        if format.any_names:
            fields = self._complete(record, fields)
            try:
                fields = self._read_date(record, fields, format.tabular)
            except UnclearDate as error:
                id = fields.get("id")
                return Malformed(record.where, f"date {error}", id if isinstance(id, str) else None)
        if format.tabular and not any(map(fields.__contains__, FIELDS)):
            raise InputError(record.where, _describe_unknown_columns(record))
        return Record(record.where, self._decode(record, fields) if format.tabular else fields)

    def _complete(self, record: Record, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """The fields with those that have other names, and with a number as the id it is."""
        columns = list(find_known_columns(fields, self._is_date))
        if known := [column for column in columns if column.value is not None]:
            places = ", ".join(f"{field} in {column}" for field, column, _ in known)
            self._remark(record, f"have their {places} (--mapping chooses others)")
            fields = {**fields, **{field: value for field, _, value in known}}
        for field, column, value in columns:
            if value is None:
                self._remark(record, f"have a {column} that cannot be read, and no {field}")
        if type(fields.get("id")) is int:
            fields = {**fields, "id": str(fields["id"])}
        return fields

    def _is_date(self, text: str) -> bool:
        try:
            return read_date(text, self._day_first) is not None
        except UnclearDate:
            return True

    def _read_date(self, record: Record, fields: Mapping[str, Any], tabular: bool) -> Mapping[str, Any]:
        """The fields with the date in ISO 8601. Raises UnclearDate.

        What JSON has in ISO 8601 stays as it is written, and so does what is no date: validation rejects it.
        """
        date = fields.get("date")
        if type(date) in (int, float):
            date = str(date)
        if not isinstance(date, str) or (not tabular and date is fields["date"] and is_iso_date(date)):
            return fields
        written = read_date(date, self._day_first)
        if written is None:
            return fields
        if written.reading:
            self._remark(record, f"have a date that was read {written.reading}")
        return {**fields, "date": written.iso}

    def _decode(self, record: Record, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """The fields without what the writer of a table left in its texts."""
        decoded = {
            field: text
            for field in _TEXTS
            if isinstance(value := fields.get(field), str) and (text := escapes.decode(value)) != value
        }
        if not decoded:
            return fields
        self._remark(record, "had HTML or backslashes in their text, which were decoded")
        return {**fields, **decoded}

    def _remark(self, record: Record, text: str) -> None:
        if self._on_remark:
            self._on_remark(Remark(record.where, text))


def _describe_unknown_columns(record: Record) -> str:
    columns = ", ".join(to_one_line(column) for column in list(record.fields)[:20])
    return (
        f"no column has a known name ({columns}): name those of fields with --mapping FIELD=COLUMN, "
        "or all of them with --columns if the first row of the table is a document"
    )
