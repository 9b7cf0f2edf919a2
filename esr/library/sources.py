"""Rows and files of a program as the pipeline of documents that the command line has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from esr.errors import UsageError
from esr.index.filters import Texts
from esr.loaders.files import DEFAULT_LIMITS
from esr.loaders.pipeline import DocumentPipeline, open_pipeline

READ_DEFAULTS: Mapping[str, Any] = {
    "mapping": {},
    "set": {},
    "id": None,
    "day_first": None,
    "detect_language": False,
    "same_id": "refuse",
    "duplicates": "keep",
    "bad_documents": None,
    "allow_empty_documents": 50.0,
    "format": "auto",
    "base": None,
    "include": (),
    "exclude": (),
    "strict": False,
    "encoding": None,
    "delimiter": None,
    "quote": None,
    "columns": None,
    "max_expansion": DEFAULT_LIMITS.expansion,
    "max_unpacked": DEFAULT_LIMITS.unpacked / 2**30,
}
"""The options that say how documents are read, with their defaults."""
_NAMES = {"format": "source_format", "mapping": "pairs", "set": "constants", "id": "make_id"}
"""The names of such options inside esr, where they differ."""


def read_read_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a pipeline that options for reading mean, as the command line gives them."""
    values = {
        **READ_DEFAULTS,
        **{name: options[name] for name in READ_DEFAULTS if options.get(name) is not None},
    }
    values["mapping"] = [f"{field}={column}" for field, column in values["mapping"].items()]
    values["set"] = [
        f"{name}={text}" for name, given in values["set"].items() for text in _texts(f"set {name}", given)
    ]
    for name in ("include", "exclude"):
        values[name] = _texts(name, values[name])
    if values["columns"] is not None:
        values["columns"] = ",".join(_texts("columns", values["columns"]))
    values["base"] = values["base"] and fspath(values["base"])
    values["bad_documents"] = values["bad_documents"] and Path(values["bad_documents"])
    return {_NAMES.get(name, name): value for name, value in values.items()}


class Files(list[str]):
    """Paths of files and folders, to be read instead of rows."""


def open_source(rows: Iterable[object] | str | PathLike[str], options: Mapping[str, Any]) -> DocumentPipeline:
    """The pipeline of rows, of the path of a file or folder, or of `Files`."""
    read_options = read_read_options(options)
    if isinstance(rows, Files):
        return open_pipeline(rows, **read_options)
    if isinstance(rows, str | PathLike):
        return open_pipeline([fspath(rows)], **read_options)
    return open_pipeline((), rows=rows, **read_options)


def _texts(name: str, value: Texts) -> tuple[str, ...]:
    texts = (value,) if isinstance(value, str) else tuple(value)
    if not all(isinstance(text, str) for text in texts):
        raise UsageError(f"{name} is a text or several, not {value!r}")
    return texts
