"""Reads files, folders, archives and standard input as validated documents, one at a time.

The format of a file is declared, or recognised by its name and first bytes. Files are read lazily: an error
is raised, or passed on as a malformed document, when reading reaches it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from datetime import date
from decimal import Decimal
from io import BytesIO
from itertools import chain
from math import isnan
from pathlib import PurePath
from typing import Any

import msgspec
import numpy as np

from esr.errors import InputError, UsageError, to_one_line
from esr.extras import require
from esr.loaders import ir_datasets
from esr.loaders.adapter import RecordAdapter
from esr.loaders.confined_process import read_confined
from esr.loaders.detection import (
    describe_unknown,
    detect_container,
    detect_format,
    detect_format_in_folder,
    find_suffix,
)
from esr.loaders.document_ids import IdCheck, NoIdPossible, choose_policy, make_id_path, make_requested_id
from esr.loaders.encoding import decode_cell, decode_source
from esr.loaders.fields import apply_constants, find_replaced
from esr.loaders.files import (
    ARCHIVE_SUFFIXES,
    DEFAULT_LIMITS,
    EVERYTHING,
    MAX_ARCHIVE_DEPTH,
    STANDARD_INPUT,
    ArchiveType,
    Budget,
    ExpansionError,
    FileFilter,
    FoundFile,
    Limits,
    PeekedSource,
    detect_archive_type,
    display_name,
    is_dangling,
    iterate_files,
    iterate_members,
    open_source,
    raise_input_errors,
)
from esr.loaders.format import (
    FORMATS,
    LONG_NUMBER,
    UNDECLARED,
    Format,
    Malformed,
    ReadResult,
    Record,
    Remark,
    Skipped,
    Source,
    TableLayout,
    UnknownFiles,
    get,
)
from esr.text.document import Document, Located
from esr.text.validate import InvalidDocument, build_document, to_fields

_MAX_ENDINGS = 100
"""Maximum number of distinct extensions of unknown files in one archive; others are counted with the last."""


class ReadOptions(msgspec.Struct, frozen=True):
    """How sources are read. By default, columns keep their names, and the first error ends reading.

    `mapping` names the columns of fields, `table` is the layout of tables, `limits` are those of
    decompression, and `base` is the folder that paths in ids are relative to. `day_first` is the order in
    dates such as 05/03/2024, `encoding` the encoding of text. `make_id` is one of `ids.MADE_ID_POLICIES` if
    documents get new ids. `files` selects files in folders and archives. `constants` are fields that every
    document gets.

    Without `on_malformed`, the first malformed document raises InputError. Otherwise it is called with each
    one, and reading continues, with the next file if the rest of a file cannot be read. `on_skipped` gets
    skipped documents, `on_remark` remarks, and `on_unknown_files` files in no known format, unless
    `is_strict` makes these malformed. `build` makes a document from the fields of a record.
    """

    mapping: Mapping[str, str] = msgspec.field(default_factory=dict)
    limits: Limits = DEFAULT_LIMITS
    on_malformed: Callable[[Malformed], None] | None = None
    on_skipped: Callable[[Skipped], None] | None = None
    on_remark: Callable[[Remark], None] | None = None
    on_unknown_files: Callable[[UnknownFiles], None] | None = None
    is_strict: bool = False
    build: Callable[[Mapping[str, Any]], Document] = build_document
    base: str | None = None
    table: TableLayout = UNDECLARED
    day_first: bool | None = None
    encoding: str | None = None
    make_id: str | None = None
    files: FileFilter = EVERYTHING
    constants: Mapping[str, Any] = msgspec.field(default_factory=dict)


class SourceReader:
    """Reads paths in one format, or detects the format of each file if `format` is None."""

    def __init__(self, format: Format | None, options: ReadOptions) -> None:
        self._format = format
        self._options = options
        self._held: list[Remark] | None = None
        on_remark = self._pass_remark if options.on_remark else None
        self._adapter = RecordAdapter(options.mapping, on_remark, options.day_first)

    def read(self, path: str) -> Iterator[ReadResult]:
        """The records in a file, folder, archive, data set or standard input, in order. Raises InputError."""
        if ir_datasets.is_dataset(path):
            yield from self.read_source(ir_datasets.FORMAT, ir_datasets.open_dataset(path))
        elif path != STANDARD_INPUT and os.path.isdir(path):
            yield from self._read_folder(path)
        else:
            yield from self.read_file(FoundFile(path))

    def find_files(self, path: str, on_error: Callable[[InputError], None] | None) -> Iterator[FoundFile]:
        """The files to read in a folder, or the path itself if it is a file.

        Folders that cannot be read raise InputError, or are passed to `on_error`.
        """
        if not os.path.isdir(path):
            yield FoundFile(path)
            return
        for relative in iterate_files(path, on_error=on_error):
            below = relative.replace(os.sep, "/")
            if not self._options.files.accepts(below):
                continue
            file_path = os.path.join(path, relative)
            if is_dangling(file_path) and not self._options.is_strict:
                self._remark(
                    display_name(file_path), "are links that lead nowhere, and were left out", "files"
                )
            else:
                yield FoundFile(file_path, below)

    def _read_folder(self, folder: str) -> Iterator[ReadResult]:
        is_empty = True
        unreadable: list[InputError] = []  # subfolders
        on_error = None if self._options.on_malformed is None else unreadable.append
        for file in self.find_files(folder, on_error):
            for result in self.read_file(file):
                is_empty = False
                yield result
        for error in unreadable:
            is_empty = False
            yield _to_malformed(error, is_empty=True)
        if is_empty:
            raise InputError(display_name(folder), f"there is no {self._file_type()} in this folder")

    def read_file(self, source_file: FoundFile) -> Iterator[ReadResult]:
        """The records of one file; none if it is in a folder and in another format."""
        path, below = source_file
        budget = Budget(display_name(path), self._options.limits)
        id_path = "stdin" if path == STANDARD_INPUT else make_id_path(path, self._options.base)
        is_empty = True
        unknown: list[UnknownFiles] = []
        try:
            with raise_input_errors(display_name(path)), open_source(path, id_path, budget) as file:
                for result in self._read_opened(file, budget, below, unknown, depth=0):
                    is_empty = False
                    yield result
        except InputError as error:
            if self._options.on_malformed is None:
                raise
            yield _to_malformed(error, is_empty)
        for files in unknown:
            if self._options.is_strict:
                problem = (
                    "is in no format that is read, and --strict refuses such files: --exclude leaves it out"
                )
                yield from [Malformed(files.where, problem)] * files.number
            elif self._options.on_unknown_files:
                self._options.on_unknown_files(files)

    def _read_opened(
        self,
        file: PeekedSource,
        budget: Budget,
        below: str | None,
        unknown: list[UnknownFiles],
        depth: int,
    ) -> Iterator[ReadResult]:
        """The records of a file or an archive. Files in an unknown format are added to `unknown`."""
        container = detect_container(file, self._format)
        archive_type = None if container else detect_archive_type(file)
        if archive_type:
            inside: list[UnknownFiles] = []
            is_empty = True
            for result in self._read_archive(file, archive_type, budget, below, inside, depth):
                is_empty = False
                yield result
            archive = _to_unknown(file.source)
            # Formats such as .pptx are archives whose members are not sources.
            is_file = bool(inside) and is_empty and archive.ending not in ARCHIVE_SUFFIXES
            for files in [archive] if is_file else inside:
                self._add_unknown(files, unknown)
            return
        name, in_folder = file.source.name, below is not None
        format = container
        if format is None:
            format = (
                detect_format_in_folder(file, self._format)
                if in_folder
                else self._format or detect_format(file)
            )
        if format is None and in_folder:
            self._add_unknown(_to_unknown(file.source), unknown)
            return
        if file.is_blank:
            raise InputError(name, "the file is empty")
        if format is None:
            raise InputError(name, describe_unknown(file.head))
        require(f"{name} (format {format.name})", *format.needs)
        is_empty = True
        results = self.read_source(format, file.source)
        if in_folder and format.any_names and find_suffix(file) not in format.suffixes:
            documents = self._expect_documents(results)
            if documents is None:
                self._add_unknown(_to_unknown(file.source), unknown)
                return
            results = documents
        for result in results:
            is_empty = False
            yield result
        # Agencies deliver pictures with articles, so a file in a folder may have no document.
        if is_empty and not (in_folder and format.may_lack_documents):
            raise InputError(
                name, f"contains no document in the format {format.name}: check the file or --format"
            )

    def read_source(self, format: Format, source: Source) -> Iterator[ReadResult]:
        """The records of a source, each with an id if the source or the options give it one."""
        results = self._read_format(format, source)
        check = IdCheck() if format.any_names and self._options.make_id is None else None
        for number, result in check.look_ahead(results) if check else results:
            yield self._give_id(result, source, number, check) if isinstance(result, Record) else result

    def _read_format(self, format: Format, source: Source) -> Iterator[tuple[int, ReadResult]]:
        """The records of a source with the fields of documents, numbered from 1. Remarks are passed on."""
        number = 0
        source = self._prepare(source, format)
        for result in read_confined(format, source) if format.is_confined else format.read(source):
            if isinstance(result, Remark):
                self._remark(result.where, result.text, result.unit)
                continue
            number += 1
            if isinstance(result, Record):
                result = self._set_constants(self._adapter.adapt(result, format))
            yield number, result

    def _give_id(self, record: Record, source: Source, number: int, check: IdCheck | None) -> ReadResult:
        """The record with a made id, if the options ask for one or it has none.

        `check` finds ids and addresses of the source that identify no document.
        """
        policy = self._options.make_id
        if policy is None and check:
            record = self._forget_id(record, check)
            policy = choose_policy(record.fields)
            if policy == "url" and check.is_no_address(record.fields["url"]):
                policy = "content"
            if policy:
                text = f"have no id and got one made of their {policy} (--id chooses another)"
                self._remark(record.where, text)
        if policy is None:
            return record
        try:
            id = make_requested_id(policy, record.fields, source, number)
        except NoIdPossible as error:
            return Malformed(record.where, str(error))
        return record._replace(fields={**record.fields, "id": id})

    def _forget_id(self, record: Record, check: IdCheck) -> Record:
        """The record without an id that identifies no document. Such ids and addresses get a remark."""
        id, url = record.fields.get("id"), record.fields.get("url")
        no_id = ", which identifies no document"
        if id is None and check.is_no_address(url):
            self._remark(record.where, f"have the url {to_one_line(str(url))[:60]!r}{no_id}")
        if not check.is_no_id(id):
            return record
        self._remark(record.where, f"have the id {to_one_line(str(id))[:60]!r}{no_id}")
        return record._replace(fields={name: v for name, v in record.fields.items() if name != "id"})

    def _remark(self, where: str, text: str, unit: str = "documents") -> None:
        self._pass_remark(Remark(where, text, unit))

    def _pass_remark(self, remark: Remark) -> None:
        """Pass a remark on, or hold it until it is known whether its file is a source."""
        if self._held is not None:
            self._held.append(remark)
        elif self._options.on_remark:
            self._options.on_remark(remark)

    def _expect_documents(self, results: Iterator[ReadResult]) -> Iterator[ReadResult] | None:
        """The results, or None if the file is other data: it has no document, or none for a long time.

        JSON that is not a source is common in folders: notebooks, settings, the metadata of other programs.
        Remarks on such a file are dropped.
        """
        self._held = []
        try:
            held = _hold_until_document(results, self._options.on_malformed is not None)
        finally:
            remarks, self._held = self._held, None
        if held is None:
            return None
        for remark in remarks:
            self._pass_remark(remark)
        return chain(held, results)

    def _set_constants(self, record: ReadResult) -> ReadResult:
        constants = self._options.constants
        if not constants or not isinstance(record, Record):
            return record
        if self._options.on_remark:
            for name in find_replaced(record.fields, constants):
                self._remark(record.where, f"had a {name} of their own, which --set replaced")
        return record._replace(fields=apply_constants(record.fields, constants))

    def _prepare(self, source: Source, format: Format) -> Source:
        """The source with the declared table layout, and with its text in UTF-8."""
        source = source._replace(table=self._options.table)

        def remark(encoding: str) -> None:
            self._remark(
                source.name, f"are in {encoding}, as their letters show (--encoding names another)", "files"
            )

        return decode_source(source, self._options.encoding, remark) if format.is_text else source

    def _add_unknown(self, files: UnknownFiles, unknown: list[UnknownFiles]) -> None:
        """Add files to the count of their extension, so that an archive of many files takes little memory."""
        for n, others in enumerate(unknown):
            is_same = others.ending == files.ending or n == _MAX_ENDINGS
            if is_same and not self._options.is_strict:
                unknown[n] = others._replace(number=others.number + files.number)
                return
        unknown.append(files)

    def _read_archive(
        self,
        file: PeekedSource,
        archive_type: ArchiveType,
        budget: Budget,
        below: str | None,
        unknown: list[UnknownFiles],
        depth: int,
    ) -> Iterator[ReadResult]:
        name = file.source.name
        if depth == MAX_ARCHIVE_DEPTH:
            raise InputError(name, f"is nested in {depth} archives: unpack them")
        is_empty = True
        for member in iterate_members(file, archive_type, budget):
            is_member_empty = True
            member_below = "/".join(filter(None, (below, member.source.name.removeprefix(f"{name}/"))))
            if not self._options.files.accepts(member_below):
                continue
            try:
                with raise_input_errors(member.source.name):
                    for result in self._read_opened(member, budget, member_below, unknown, depth + 1):
                        is_empty = is_member_empty = False
                        yield result
            except ExpansionError:
                raise
            except InputError as error:
                if self._options.on_malformed is None:
                    raise
                is_empty = False
                yield _to_malformed(error, is_member_empty)
        if is_empty and below is None:
            raise InputError(name, f"there is no {self._file_type()} in this archive")

    def _file_type(self) -> str:
        name = (
            f"{self._format.name} file" if self._format else f"file of a known format ({', '.join(FORMATS)})"
        )
        is_filtered = self._options.files != EVERYTHING
        return f"{name} that --include and --exclude let through" if is_filtered else name


_MAX_HELD = 100
"""Maximum number of results before the first document of a file whose format was guessed."""


def _hold_until_document(results: Iterator[ReadResult], keeps_malformed: bool) -> list[ReadResult] | None:
    """The results up to the first document; None if there is none among the first ones.

    `keeps_malformed`: malformed documents do not end the load, so that some may precede the first document.
    """
    held: list[ReadResult] = []
    try:
        for result in results:
            held.append(result)
            if _is_document(result):
                return held
            if len(held) > _MAX_HELD:
                may_be_source = keeps_malformed and any(isinstance(r, Malformed) for r in held)
                return held if may_be_source else None
    except InputError:
        pass
    return None


def _is_document(result: ReadResult) -> bool:
    """Whether a result is a document, perhaps one that must not be loaded, and no other data."""
    if isinstance(result, Record):
        return any(result.fields.get(name) for name in ("title", "text", "sentences"))
    return isinstance(result, Skipped)


def _to_unknown(source: Source) -> UnknownFiles:
    return UnknownFiles(source.name, PurePath(source.id_path).suffix.lower(), 1)


def _to_malformed(error: InputError, is_empty: bool) -> Malformed:
    problem = error.problem if is_empty else f"{error.problem} (the rest of this file is skipped)"
    return Malformed(error.where, problem)


AUTO = "auto"


def read_documents(
    paths: Sequence[str], format: str = AUTO, options: ReadOptions | None = None
) -> Iterator[Located]:
    """The documents of files, folders, archives and `-` (standard input), lazily, with their locations.

    Folders are read recursively in the order of names, archives (zip, tar) in the order of their members.
    Hidden files are skipped, and in folders and archives also files in another format, or with `auto` in no
    known format. Files may be compressed with gzip, bzip2 or Zstandard. With `auto` the format is recognised
    by the file name, or else by the first bytes.

    Unknown formats, missing paths and missing libraries of a named format raise UsageError and InputError
    immediately. Errors within a file raise InputError when reading reaches them. Duplicate ids are not
    checked here.
    """
    options = options or ReadOptions()
    if not paths:
        raise UsageError("nothing to load: name a file, a folder, or - for standard input")
    _check_paths(paths)
    reader = open_reader(format, options)
    return build_documents(chain.from_iterable(map(reader.read, tuple(paths))), options)


def find_files(paths: Sequence[str], options: ReadOptions) -> Iterator[FoundFile]:
    """The files that `read_documents` would open, in its order. Raises InputError."""
    _check_paths(paths)
    reader = open_reader(AUTO, options)
    return (file for path in paths for file in reader.find_files(path, None))


def read_file(file: FoundFile, format: str, options: ReadOptions) -> Iterator[Located]:
    """The documents of one file, as `read_documents` yields them; there may be none."""
    for result in open_reader(format, options).read_file(file):
        document = _build(result, options) if isinstance(result, Record) else result
        if isinstance(document, Located):
            yield document
        else:
            _pass_on(document, options)


def open_reader(format: str, options: ReadOptions) -> SourceReader:
    """A reader for a format, or for any with `auto`.

    Raises UsageError for an unknown format or a missing library, and InputError for a missing base folder.
    """
    required_format = None if format == AUTO else get(format)
    if options.base is not None and not os.path.isdir(options.base):
        raise InputError(display_name(options.base), "there is no such folder for --base")
    if required_format:
        require(f"the format {required_format.name}", *required_format.needs)
    return SourceReader(required_format, options)


def _check_paths(paths: Sequence[str]) -> None:
    for path in paths:
        if path != STANDARD_INPUT and not ir_datasets.is_dataset(path) and not os.path.exists(path):
            raise InputError(display_name(path), "there is no such file or folder")


class NothingLeft(InputError):
    """All documents were malformed or skipped. It repeats one of them."""


def build_documents(results: Iterable[ReadResult], options: ReadOptions) -> Iterator[Located]:
    """The documents of records. Raises InputError as `read_documents` does, also if none is left."""
    documents = malformed = skipped = 0
    cause: Malformed | Skipped | None = None  # the last malformed document, or else the first skipped one
    for result in results:
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
        # Otherwise an empty index would replace one that has documents.
        raise NothingLeft(cause.where, _nothing_left(cause, malformed, skipped))


def _pass_on(result: Malformed | Skipped, options: ReadOptions) -> None:
    """Report a malformed or skipped document. Raises InputError for a malformed one if nothing takes it."""
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


_NAME = "rows"


def read_rows(rows: Any, options: ReadOptions) -> Iterator[Located]:
    """The documents of rows, lazily, with their locations: `rows:12`, counted from 1.

    `rows` are an iterable of mappings, dataclasses, named tuples, structs of msgspec, models of pydantic or
    `Document`s; or a table of pandas, polars or pyarrow. Raises UsageError for anything else, and InputError
    as `read_documents` does.
    """
    iterate = _iterate_rows(rows)

    def read(source: Source) -> Iterator[ReadResult]:
        for number, row in enumerate(iterate, 1):
            fields = _to_mapping(row)
            where = f"{_NAME}:{number}"
            if fields is None:
                problem = f"not a row: a row is a mapping or an object with fields, not {type(row).__name__}"
                yield Malformed(where, problem)
                continue
            try:
                yield Record(where, {str(name): to_plain(value) for name, value in fields.items()})
            except _LongNumber:
                yield Malformed(where, LONG_NUMBER)

    format = Format(_NAME, "rows of a program", (), lambda head: False, read, any_names=True)
    reader = open_reader(AUTO, options)
    return build_documents(reader.read_source(format, Source(_NAME, _NAME, BytesIO())), options)


def _iterate_rows(rows: Any) -> Iterator[Any]:
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
        return {field.name: getattr(row, field.name) for field in dataclass_fields(row)}
    if hasattr(row, "model_dump"):  # pydantic
        dumped: dict[str, Any] = row.model_dump()
        return dumped
    return None


class _LongNumber(ValueError):
    """A number with more digits than Python writes."""


def to_plain(value: Any) -> Any:
    """A value as in JSON Lines. Times become ISO 8601; missing values of tables become None, and so do
    bytes that are no text, such as pictures.

    Raises _LongNumber.
    """
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        _check_digits(value)
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
        return decode_cell(value)
    if isinstance(value, Decimal):
        return str(value)
    if is_dataclass(value) or isinstance(value, msgspec.Struct):
        return to_plain(_to_mapping(value))
    # Comparisons with pandas' NA return NA.
    return None if type(value).__name__ == "NAType" else str(value)


def _check_digits(number: int) -> None:
    try:
        str(number)
    except ValueError:
        raise _LongNumber from None
