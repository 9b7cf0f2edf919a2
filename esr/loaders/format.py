"""Source formats: the input and output of a loader, and the registry of formats."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple, TypeVar, cast

from msgspec import Struct

from esr.registry import Registry

NO_QUOTE = "none"


class TableLayout(NamedTuple):
    """The declared layout of tables. None means that it is detected from the first row.

    `quote` is a character, or NO_QUOTE if fields are never quoted. `columns` names the columns of tables
    without a row of names.
    """

    delimiter: str | None = None
    quote: str | None = None
    columns: tuple[str, ...] | None = None

    def reader_options(self) -> dict[str, Any]:
        """The arguments for `csv.reader`. The layout must be complete."""
        if self.quote == NO_QUOTE:
            return {"delimiter": self.delimiter, "quoting": csv.QUOTE_NONE, "strict": True}
        return {"delimiter": self.delimiter, "quotechar": self.quote, "strict": True}


UNDECLARED = TableLayout()


class Source(NamedTuple):
    """One file to read, or one member of an archive.

    `name` is for messages: the path as the user wrote it. `id_path` is the path for ids,
    without `.gz` or `.zst`; "stdin" for standard input. `stream` yields the decompressed bytes; it can be
    read once, from start to end. `path` is a file on disk with exactly these bytes, for formats that must
    seek; None for compressed files and pipes. `table` is the declared layout of tables. `encoding_advice`
    tells users what to do about a byte that is not UTF-8.
    """

    name: str
    id_path: str
    stream: BinaryIO
    path: str | None = None
    table: TableLayout = UNDECLARED
    encoding_advice: str = "convert the file, for example with iconv"


class Record(NamedTuple):
    """The fields that a loader read for a document, not yet validated, and their location: `news.jsonl:12`.

    In every format, fields have the names and types of JSON Lines, which `esr.text.validate.build_document`
    validates.
    """

    where: str
    fields: Mapping[str, Any]


class Malformed(NamedTuple):
    """A document that cannot be read; later ones can. `id` is None if unknown."""

    where: str
    problem: str
    id: str | None = None


LONG_NUMBER = "a number has too many digits, shorten it"
"""The problem of a number that Python refuses to write: it has more than 4,300 digits."""


class Skipped(NamedTuple):
    """A document that must not be loaded, by its publisher. `reason` is for example "under embargo".

    If `is_lasting`, reading its file again later gives the same result.
    """

    where: str
    reason: str
    is_lasting: bool = False


class Remark(NamedTuple):
    """A remark on an automatic change, such as "have no 'author' for --mapping …".

    A report counts equal remarks; `unit` is the unit of that count, documents or files.
    """

    where: str
    text: str
    unit: str = "documents"


class UnknownFiles(NamedTuple):
    """Files of a folder or archive that are in no known format, or not in the declared one.

    `ending` is the suffix of their names in lower case, such as ".rtf"; "" for none. `where` is the location
    of the first one.
    """

    where: str
    ending: str
    number: int


ReadResult = Record | Malformed | Skipped


class Format(Struct, frozen=True):
    """A source format: its name, how it is recognised, and how it is read.

    `suffixes` are file name extensions, without `.gz`. `sniff` gets the first bytes of a file, without
    leading blanks, if the name is not conclusive. `read` yields the records of a source lazily and holds one
    at a time. It yields Malformed for a single unreadable document, Skipped for one that must not be loaded,
    and Remark for automatic changes. It raises InputError if the rest of the source cannot be read. `needs`
    are the optional modules that it imports.

    A `tabular` format has the same columns in every record. With `any_names`, the format does not define the
    names of fields. With `may_lack_documents`, a file may contain only other items, such as pictures. Files
    of an `is_text` format do not declare their encoding; `read` gets them in UTF-8. Files of an
    `often_incidental` format are read in folders only if they have one of its suffixes. A file in an
    `is_container` format is a zip archive that is read as one source. Files of an `is_confined` format are
    read by a child process with limits, and their results are held at once. Files of a format that
    `has_no_signature` look like any text, so it is recognised by the name alone.
    """

    name: str
    description: str
    suffixes: tuple[str, ...]
    sniff: Callable[[bytes], bool]
    read: Callable[[Source], Iterator[ReadResult | Remark]]
    needs: tuple[str, ...] = ()
    tabular: bool = False
    any_names: bool = False
    may_lack_documents: bool = False
    is_text: bool = False
    often_incidental: bool = False
    is_container: bool = False
    is_confined: bool = False
    has_no_signature: bool = False


WITHDRAWN = "cancelled or withheld"
"""The reason for skipping a document withdrawn by its publisher."""
WITHDRAWN_STATUSES = ("canceled", "cancelled", "withheld")
"""The statuses of such documents in the IPTC's standards, one of them in both spellings."""


BUFFER_BYTES = 2**18


class _Stream(io.RawIOBase):
    def __init__(self, take: Callable[[int], bytes]) -> None:
        self._take = take

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._take(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def open_stream(take: Callable[[int], bytes]) -> BinaryIO:
    """A stream of the bytes that `take` returns for a maximum number of bytes; b"" is the end."""
    return cast(BinaryIO, io.BufferedReader(_Stream(take), BUFFER_BYTES))


FORMATS: Registry[Format] = Registry("format", "formats", Format)
register: Callable[[Format], Format] = FORMATS.register
get: Callable[[str], Format] = FORMATS.find
Read = TypeVar("Read", bound=Callable[[Source], Iterator[ReadResult | Remark]])


def loads(
    name: str, description: str, suffixes: tuple[str, ...], sniff: Callable[[bytes], bool], **traits: Any
) -> Callable[[Read], Read]:
    """Register the format that the decorated function reads. `traits` are the other fields of `Format`."""

    def add(read: Read) -> Read:
        register(Format(name, description, suffixes, sniff, read, **traits))
        return read

    return add
