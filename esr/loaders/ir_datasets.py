"""Data sets of the package ir_datasets, named `ir_datasets:NAME` in place of a file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import TYPE_CHECKING, Any

from esr.errors import InputError, UsageError, find_nearest, to_one_line
from esr.extras import require
from esr.loaders.fields import is_in_field
from esr.loaders.format import Format, Record, Source
from esr.stdlib import import_lazily

if TYPE_CHECKING:
    import ir_datasets
else:
    ir_datasets = import_lazily("ir_datasets")

PREFIX = "ir_datasets:"


def is_dataset(path: str | os.PathLike[str]) -> bool:
    """Whether this names a data set instead of a file."""
    return os.fspath(path).startswith(PREFIX)


def read_entries(path: str | os.PathLike[str], kind: str) -> Iterator[Any]:
    """The `docs`, `queries` or `qrels` of a data set, lazily, as entries of ir_datasets.

    Downloads missing files. Raises UsageError if there is no such data set or it has no such entries, and
    InputError if they cannot be read.
    """
    require("ir_datasets:NAME", "ir_datasets")

    path = os.fspath(path)
    name = path.removeprefix(PREFIX)
    try:
        dataset = ir_datasets.load(name)
    except KeyError:
        nearest = find_nearest(name, [*ir_datasets.registry])
        raise UsageError(
            f"ir_datasets has no data set {name!r}"
            + (f": did you mean {PREFIX}{nearest}?" if nearest else ": https://ir-datasets.com lists them")
        ) from None
    if not dataset.has(kind):
        has = [part for part in ("docs", "queries", "qrels") if dataset.has(part)]
        raise UsageError(f"{path} has no {kind}: it has {', '.join(has) or 'none of what is read'}")
    number = 0
    entries = getattr(dataset, f"{kind}_iter")()
    while True:
        try:
            entry = next(entries)
        except StopIteration:
            return
        except Exception as error:  # from a download, or from the code of the data set
            raise InputError(f"{path}:{number + 1}", f"cannot be read: {to_one_line(error)}") from error
        number += 1
        yield entry


def read_fields(entry: Any) -> dict[str, Any]:
    """The fields of a document or query as in JSON Lines, and a `text` if none of them has it.

    Bytes are left out: they are the source of the other fields.
    """
    fields: dict[str, Any] = _to_plain(entry)
    if not any(is_in_field(name, "text") for name in fields):
        fields["text"] = entry.default_text()
    return fields


def _to_plain(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {name: _to_plain(inner) for name, inner in value.items() if not isinstance(inner, bytes)}
    if isinstance(value, list | tuple):
        return [_to_plain(inner) for inner in value]
    return value if value is None or isinstance(value, str | int | float) else str(value)


def read_documents(source: Source) -> Iterator[Record]:
    """A record for each document, with all of its fields."""
    for number, entry in enumerate(read_entries(source.name, "docs"), 1):
        yield Record(f"{source.name}:{number}", read_fields(entry))


FORMAT = Format(
    "ir_datasets", "a data set of ir_datasets", (), lambda head: False, read_documents, any_names=True
)
"""The format of data sets. It is not registered, since no file has it."""


def open_dataset(path: str) -> Source:
    """The data set as a source in this format."""
    return Source(path, path, BytesIO())
