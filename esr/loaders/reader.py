"""From files, folders, archives and standard input to validated documents, one at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from esr.documents import Located
from esr.documents.json_values import InvalidDocument
from esr.errors import InputError, UsageError
from esr.extras import require
from esr.loaders.format import Malformed, Record, Skipped, get
from esr.loaders.paths import STANDARD_INPUT, FoundFile, display_name
from esr.loaders.source_reader import ReadOptions, SourceReader

AUTO = "auto"


def read_documents(
    paths: Sequence[str], format: str = AUTO, options: ReadOptions | None = None
) -> Iterator[Located]:
    """The documents of these files, folders, archives and `-` (standard input), lazily, with their places.

    Folders are read recursively in the order of names. Hidden files are skipped, as are files in another
    format, or with `auto` in no known one. The same holds for archives (zip, tar), in their own order. Files
    may be compressed with gzip or Zstandard. With `auto` the format is recognised by the file name, or else
    by the first bytes.

    Unknown formats, missing paths and missing libraries of a named format raise UsageError and InputError
    immediately. Errors within a file raise InputError when reading reaches them. Whether an id is
    duplicated is for the index to check.
    """
    options = options or ReadOptions()
    if not paths:
        raise UsageError("nothing to load: name a file, a folder, or - for standard input")
    _check_paths(paths)
    return _read_documents(tuple(paths), open_reader(format, options), options)


def find_files(paths: Sequence[str], options: ReadOptions) -> Iterator[FoundFile]:
    """The files that `read_documents` would open, in its order. Raises InputError."""
    _check_paths(paths)
    reader = open_reader(AUTO, options)
    return (file for path in paths for file in reader.find_files(path, None))


def read_file(file: FoundFile, format: str, options: ReadOptions) -> Iterator[Located]:
    """The documents of one file, as `read_documents` yields them; it may have none."""
    for result in open_reader(format, options).read_file(file):
        document = _build(result, options) if isinstance(result, Record) else result
        if isinstance(document, Located):
            yield document
        else:
            _pass_on(document, options)


def open_reader(format: str, options: ReadOptions) -> SourceReader:
    """Raises UsageError for an unknown format, or if what it needs is not installed, or there is no base."""
    required_format = None if format == AUTO else get(format)
    if options.base is not None and not os.path.isdir(options.base):
        raise InputError(display_name(options.base), "there is no such folder for --base")
    if required_format:
        require(f"the format {required_format.name}", *required_format.needs)
    return SourceReader(required_format, options)


def _check_paths(paths: Sequence[str]) -> None:
    for path in paths:
        if path != STANDARD_INPUT and not os.path.exists(path):
            raise InputError(display_name(path), "there is no such file or folder")


def _read_documents(paths: Sequence[str], reader: SourceReader, options: ReadOptions) -> Iterator[Located]:
    documents = malformed = skipped = 0
    cause: Malformed | Skipped | None = None  # the last malformed document, or else the first skipped one
    for path in paths:
        for result in reader.read(path):
            document = _build(result, options) if isinstance(result, Record) else result
            if isinstance(document, Located):
                documents += 1
                yield document
                continue
            if isinstance(document, Skipped):
                skipped += 1
                cause = cause or document
            else:
                malformed += 1
                cause = document
            _pass_on(document, options)
    if cause and not documents:
        # An empty index must not replace one that has documents.
        raise InputError(cause.where, _nothing_left(cause, malformed, skipped))


def _pass_on(result: Malformed | Skipped, options: ReadOptions) -> None:
    """Report what is no document. Raises InputError for a malformed one if nothing collects those."""
    if isinstance(result, Malformed):
        if options.on_malformed is None:
            raise InputError(result.where, _describe(result))
        options.on_malformed(result)
    elif options.on_skipped:
        options.on_skipped(result)


def _nothing_left(cause: Malformed | Skipped, malformed: int, skipped: int) -> str:
    if isinstance(cause, Skipped):
        return f"this document is {cause.reason}, and there is no other to load"
    also_skipped = f" and {skipped:,} must not be loaded" if skipped else ""
    total = f" ({malformed:,} documents are malformed{also_skipped}: no document is left to load)"
    return _describe(cause) + (total if malformed + skipped > 1 else "")


def _build(record: Record, options: ReadOptions) -> Located | Malformed:
    try:
        return Located(record.where, options.build(record.fields))
    except InvalidDocument as error:
        id = record.fields.get("id")
        return Malformed(record.where, str(error), id if isinstance(id, str) and id else None)


def _describe(malformed: Malformed) -> str:
    id = malformed.id
    if id is None or not id.isprintable() or id in malformed.problem:
        return malformed.problem
    return f"document {id[:60]!r}: {malformed.problem}"
