"""From what the user names (files, folders, standard input) to documents, one at a time."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Sequence
from gzip import BadGzipFile
from pathlib import PurePath

from esr.documents import Located, validate
from esr.errors import InputError, UsageError
from esr.loaders.base import FORMATS, Format, Record, get
from esr.loaders.opened import STANDARD_INPUT, Opened, name_of, opened

AUTO = "auto"


def documents(paths: Sequence[str], format: str = AUTO) -> Iterator[Located]:
    """The documents of these files, folders and `-` (standard input), lazily, each with its place.

    Folders are read with all folders in them, in the order of the names; hidden files are passed over, as
    are files that are not of the format, or of no format with `auto`. Files may be packed with gzip.
    With `auto` a file's name tells its format, or else its first bytes.

    Unknown formats and missing paths raise UsageError and InputError at once, what is wrong in a file
    raises InputError when it is reached. Whether an id is used twice is for the index to say.
    """
    chosen = None if format == AUTO else get(format)
    if not paths:
        raise UsageError("nothing to load: name a file, a folder, or - for standard input")
    for path in paths:
        if path != STANDARD_INPUT and not os.path.exists(path):
            raise InputError(name_of(path), "there is no such file or folder")
    return _documents(tuple(paths), chosen)


def _documents(paths: Sequence[str], chosen: Format | None) -> Iterator[Located]:
    for path in paths:
        for where, fields in _records(path, chosen):
            try:
                document = validate.document(fields)
            except validate.Invalid as error:
                raise InputError(where, str(error)) from None
            yield Located(where, document)


def _records(path: str, chosen: Format | None) -> Iterator[Record]:
    if path != STANDARD_INPUT and os.path.isdir(path):
        yield from _records_of_folder(path, chosen)
    else:
        relative = "stdin" if path == STANDARD_INPUT else os.path.basename(path)
        yield from _records_of_file(path, relative, chosen, in_folder=False)


def _records_of_folder(folder: str, chosen: Format | None) -> Iterator[Record]:
    found = False
    for relative in _files(folder):
        path = os.path.join(folder, relative)
        for record in _records_of_file(path, PurePath(relative).as_posix(), chosen, in_folder=True):
            found = True
            yield record
    if not found:
        kind = f"{chosen.name} file" if chosen else f"file of a known format ({', '.join(FORMATS)})"
        raise InputError(name_of(folder), f"there is no {kind} in this folder")


def _records_of_file(path: str, relative: str, chosen: Format | None, in_folder: bool) -> Iterator[Record]:
    """The records of one file; none if it lies in a folder and is not of the format."""
    name = name_of(path)
    if relative.lower().endswith(".gz"):
        relative = relative[:-3]
    try:
        with opened(path, relative) as file:
            format = _format_in_folder(file, chosen) if in_folder else chosen or _format(file)
            if format is None and in_folder:
                return
            if file.blank:
                raise InputError(name, "the file is empty")
            if format is None:
                raise InputError(
                    name, f"cannot tell its format: say which with --format ({', '.join(FORMATS)})"
                )
            record = None
            for record in format.read(file.source):
                yield record
            if record is None:
                raise InputError(name, f"there is no document in it, read as {format.name}")
    except (BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(
            name, f"cannot be unpacked, is it cut off? ({error}) Fetch or make it again"
        ) from None
    except OSError as error:
        raise InputError(name, f"cannot be read: {error.strerror or error}") from None


def _format(file: Opened) -> Format | None:
    """By the name's ending, by the first bytes if that does not tell."""
    known = _by_suffix(file)
    if len(known) == 1:
        return known[0]
    return next((format for format in known or FORMATS.values() if format.sniff(file.head)), None)


def _format_in_folder(file: Opened, chosen: Format | None) -> Format | None:
    """As for a file alone, but what is of another format than the chosen one is not meant."""
    if chosen is None:
        return _format(file)
    known = _by_suffix(file)
    return chosen if chosen in known or (not known and chosen.sniff(file.head)) else None


def _by_suffix(file: Opened) -> list[Format]:
    suffix = PurePath(file.source.relative).suffix.lower()
    return [format for format in FORMATS.values() if suffix in format.suffixes]


def _files(folder: str, below: str = "", above: frozenset[tuple[int, int]] = frozenset()) -> Iterator[str]:
    """The files in a folder and the folders in it, as paths below it, in the order of their names."""
    here = os.path.join(folder, below)
    try:
        status = os.stat(here)
        with os.scandir(here) as entries:
            found = sorted(
                (entry for entry in entries if not entry.name.startswith(".")), key=lambda e: e.name
            )
    except OSError as error:
        raise InputError(name_of(here), f"cannot be read: {error.strerror or error}") from None
    inside = above | {(status.st_dev, status.st_ino)}
    for entry in found:
        path = os.path.join(below, entry.name)
        if entry.is_dir():
            # A link to a folder above would go round for ever.
            target = os.stat(entry.path)
            if (target.st_dev, target.st_ino) not in inside:
                yield from _files(folder, path, inside)
        elif entry.is_file() or not os.path.exists(entry.path):  # a link to nothing: opening it will tell
            yield path
