"""From what the user names (files, folders, archives, standard input) to documents, one at a time."""

from __future__ import annotations

import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from gzip import BadGzipFile
from lzma import LZMAError
from pathlib import PurePath

from esr.documents import Located, validate
from esr.errors import InputError, UsageError
from esr.extras import require
from esr.loaders import archives
from esr.loaders.base import FORMATS, Format, Found, Malformed, PassedOver, Record, get, one_line
from esr.loaders.limits import DEFAULT_LIMITS, Budget, Expanded, Limits
from esr.loaders.mapping import Unmapped, renamed
from esr.loaders.opened import STANDARD_INPUT, Opened, name_of, opened

AUTO = "auto"
# zipfile says so of a version or a method that it does not know, as a spoilt header has.
_UNKNOWN_ZIP = NotImplementedError
_SPOILT = (BadGzipFile, EOFError, zlib.error, LZMAError, zipfile.BadZipFile, _UNKNOWN_ZIP, tarfile.TarError)


@dataclass(frozen=True)
class Reading:
    """How sources are read: columns under other names, how far packed files may expand, and what is done
    with malformed documents. Without `set_aside` the first one raises InputError; with it each one is
    handed over and reading goes on, with the next file where the rest of one cannot be read. What is passed
    over is handed to `passed_over`."""

    mapping: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = DEFAULT_LIMITS
    set_aside: Callable[[Malformed], None] | None = None
    passed_over: Callable[[PassedOver], None] | None = None


def documents(paths: Sequence[str], format: str = AUTO, reading: Reading | None = None) -> Iterator[Located]:
    """The documents of these files, folders, archives and `-` (standard input), lazily, each with its place.

    Folders are read with all folders in them, in the order of the names; hidden files are passed over, as
    are files that are not of the format, or of no format with `auto`. So are archives (zip, tar), in their
    own order. Files may be packed with gzip or Zstandard. With `auto` a file's name tells its format, or
    else its first bytes.

    Unknown formats, missing paths and libraries that a named format lacks raise UsageError and InputError at
    once, what is wrong in a file raises InputError when it is reached. Whether an id is used twice is for the
    index to say.
    """
    chosen = None if format == AUTO else get(format)
    if not paths:
        raise UsageError("nothing to load: name a file, a folder, or - for standard input")
    for path in paths:
        if path != STANDARD_INPUT and not os.path.exists(path):
            raise InputError(name_of(path), "there is no such file or folder")
    if chosen:
        require(f"the format {chosen.name}", *chosen.needs)
    return _documents(tuple(paths), chosen, reading or Reading())


def _documents(paths: Sequence[str], chosen: Format | None, reading: Reading) -> Iterator[Located]:
    made = malformed = passed_over = 0
    last: Malformed | PassedOver | None = None
    for path in paths:
        for found in _found(path, chosen, reading):
            document = _checked(found) if isinstance(found, Record) else found
            if isinstance(document, Located):
                made += 1
                yield document
            elif isinstance(document, PassedOver):
                passed_over += 1
                last = last or document
                if reading.passed_over:
                    reading.passed_over(document)
            else:
                malformed += 1
                last = document
                if reading.set_aside is None:
                    raise InputError(document.where, _with_id(document))
                reading.set_aside(document)
    if last and not made:
        # An index of nothing must not stand in the place of one that holds something.
        raise InputError(last.where, _nothing_left(last, malformed, passed_over))


def _nothing_left(last: Malformed | PassedOver, malformed: int, passed_over: int) -> str:
    if isinstance(last, PassedOver):
        return f"this document is {last.why}, and there is no other to load"
    passed_over_too = f", and {passed_over:,} must not be loaded" if passed_over else ""
    others = f" (all {malformed:,} documents are malformed{passed_over_too}: none is left)"
    return _with_id(last) + (others if malformed + passed_over > 1 else "")


def _checked(record: Record) -> Located | Malformed:
    try:
        return Located(record.where, validate.document(record.fields))
    except validate.Invalid as error:
        id = record.fields.get("id")
        return Malformed(record.where, str(error), id if isinstance(id, str) and id else None)


def _with_id(malformed: Malformed) -> str:
    id = malformed.id
    if id is None or not id.isprintable() or id in malformed.problem:
        return malformed.problem
    return f"document {id[:60]!r}: {malformed.problem}"


_Found = Iterator[Found]


def _found(path: str, chosen: Format | None, reading: Reading) -> _Found:
    if path != STANDARD_INPUT and os.path.isdir(path):
        yield from _found_in_folder(path, chosen, reading)
    else:
        relative = "stdin" if path == STANDARD_INPUT else os.path.basename(path)
        yield from _found_in_file(path, relative, chosen, reading, in_folder=False)


def _found_in_folder(folder: str, chosen: Format | None, reading: Reading) -> _Found:
    anything = False
    for relative in _files(folder):
        path = os.path.join(folder, relative)
        for found in _found_in_file(path, PurePath(relative).as_posix(), chosen, reading, in_folder=True):
            anything = True
            yield found
    if not anything:
        raise InputError(name_of(folder), f"there is no {_kind_of_file(chosen)} in this folder")


def _kind_of_file(chosen: Format | None) -> str:
    return f"{chosen.name} file" if chosen else f"file of a known format ({', '.join(FORMATS)})"


def _found_in_file(
    path: str, relative: str, chosen: Format | None, reading: Reading, in_folder: bool
) -> _Found:
    """What is in one file; nothing if it lies in a folder and is not of the format."""
    budget = Budget(name_of(path), reading.limits)
    anything = False
    try:
        with _said(name_of(path)), opened(path, relative, budget) as file:
            for found in _found_in_opened(file, chosen, reading, budget, in_folder, 0):
                anything = True
                yield found
    except InputError as error:
        if reading.set_aside is None:
            raise
        yield _rest_left_out(error, anything)


def _rest_left_out(error: InputError, anything: bool) -> Malformed:
    return Malformed(
        error.where, f"{error.problem} (what follows in this file is left out)" if anything else error.problem
    )


def _found_in_opened(
    file: Opened, chosen: Format | None, reading: Reading, budget: Budget, in_folder: bool, depth: int
) -> _Found:
    if kind := archives.kind(file):
        yield from _found_in_archive(file, kind, chosen, reading, budget, in_folder, depth)
        return
    name = file.source.name
    format = _format_in_folder(file, chosen) if in_folder else chosen or _format(file)
    if format is None and in_folder:
        return
    if file.blank:
        raise InputError(name, "the file is empty")
    if format is None:
        raise InputError(name, f"cannot tell its format: say which with --format ({', '.join(FORMATS)})")
    require(f"{name}, of the format {format.name},", *format.needs)
    found = None
    for found in format.read(file.source):
        yield _mapped(found, format, reading) if isinstance(found, Record) else found
    # Agencies deliver pictures beside articles; what a folder must not be is without any document.
    if found is None and not (in_folder and format.holds_others):
        raise InputError(name, f"there is no document in it, read as {format.name}")


def _mapped(record: Record, format: Format, reading: Reading) -> Record | Malformed:
    try:
        return Record(record.where, renamed(record, reading.mapping, format.tabular))
    except Unmapped as error:
        if format.tabular:  # it is so in every row
            raise InputError(record.where, str(error)) from None
        return Malformed(record.where, str(error))


def _found_in_archive(
    file: Opened,
    kind: archives.Kind,
    chosen: Format | None,
    reading: Reading,
    budget: Budget,
    in_folder: bool,
    depth: int,
) -> _Found:
    name = file.source.name
    if depth == archives.MAX_DEPTH:
        raise InputError(name, f"lies in {depth} archives, one in the other: unpack them")
    anything = False
    for member in archives.members(file, kind, budget):
        in_member = False
        try:
            with _said(member.source.name):
                for found in _found_in_opened(member, chosen, reading, budget, True, depth + 1):
                    anything = in_member = True
                    yield found
        except Expanded:
            raise
        except InputError as error:
            if reading.set_aside is None:
                raise
            anything = True
            yield _rest_left_out(error, in_member)
    if not anything and not in_folder:
        raise InputError(name, f"there is no {_kind_of_file(chosen)} in this archive")


@contextmanager
def _said(name: str) -> Iterator[None]:
    """What unpacking and reading raise, as InputError."""
    try:
        yield
    except _SPOILT as error:
        raise InputError(
            name, f"cannot be unpacked, is it cut off? ({one_line(error)}) Fetch or make it again"
        ) from None
    except OSError as error:
        raise InputError(name, f"cannot be read: {error.strerror or one_line(error)}") from None
    except Exception as error:
        if type(error).__name__ != "ZstdError":  # of a library that may not be there
            raise
        raise InputError(
            name, f"cannot be unpacked, is it cut off? ({one_line(error)}) Fetch or make it again"
        ) from None


def _format(file: Opened) -> Format | None:
    """By the name's ending, by the first bytes if that does not tell."""
    known = _by_suffix(file)
    if len(known) == 1 and not _says_little(known):
        return known[0]
    candidates = FORMATS.values() if not known or _says_little(known) else known
    by_start = next((format for format in candidates if format.sniff(file.head)), None)
    return by_start or next(iter(known), None)


def _says_little(known: list[Format]) -> bool:
    """`.txt` is also what Mailman calls its archives of mails, and others their SGML."""
    return [format.name for format in known] == ["text"]


def _format_in_folder(file: Opened, chosen: Format | None) -> Format | None:
    """As for a file alone, but what is of another format than the chosen one is not meant."""
    if chosen is None:
        return _format(file)
    known = _by_suffix(file)
    if chosen in known:
        return chosen if len(known) == 1 or _format(file) is chosen else None
    return chosen if (not known or _says_little(known)) and chosen.sniff(file.head) else None


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
