"""Source formats: what a loader reads and yields, and the registry of formats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

from esr.loaders.table_layout import UNDECLARED, TableLayout
from esr.registry import Registry


class Source(NamedTuple):
    """One file to read, or one member of an archive.

    `name` is the name that messages show: the path as the user wrote it. `id_path` is the path that ids are
    made of (`esr.loaders.ids`), without `.gz` or `.zst`; "stdin" for standard input. `stream` yields the
    decompressed bytes; it can be read once, from start to end. `path` is where exactly these bytes are on
    disk, for formats that must seek; None if they come compressed or through a pipe. `table` is what the
    user has declared about tables. `encoding_advice` says what to do about a byte that is not UTF-8.
    """

    name: str
    id_path: str
    stream: BinaryIO
    path: str | None = None
    table: TableLayout = UNDECLARED
    encoding_advice: str = "convert the file, for example with iconv"


class Record(NamedTuple):
    """The fields that a loader read for a document, not yet validated, and where: `news.jsonl:12`.

    Whatever the format, fields have the names and types of JSON Lines: see
    `esr.text.validate.build_document`, which validates them.
    """

    where: str
    fields: Mapping[str, Any]


class Malformed(NamedTuple):
    """A document that cannot be read, although later ones can. `id` is None if it is unknown."""

    where: str
    problem: str
    id: str | None = None


class Skipped(NamedTuple):
    """A document that its publisher does not want loaded. `reason` is for example "under embargo".

    One that `is_lasting` stays so: reading its file again later gives no more.
    """

    where: str
    reason: str
    is_lasting: bool = False


class Remark(NamedTuple):
    """Something that a user did not ask for and should know: "have no 'author' for --mapping …".

    A report counts equal ones, so `unit` is what this one counts: documents or files.
    """

    where: str
    text: str
    unit: str = "documents"


class UnknownFiles(NamedTuple):
    """Files of a folder or archive that no loader knows, or that are not in the declared format.

    `ending` is that of their names, such as ".pdf", in lower case; "" for none. `where` is the first.
    """

    where: str
    ending: str
    number: int


ReadResult = Record | Malformed | Skipped


@dataclass(frozen=True)
class Format:
    """A source format: its name, how it is recognised, and how it is read.

    `suffixes` are its file name extensions (without `.gz`). `sniff` gets the first bytes of a file, without
    leading blanks, where the name is not conclusive. `read` yields the records of a source lazily and holds
    one at a time. It yields Malformed for a single unreadable document, Skipped for one that must not be
    loaded and Remark for what it did unasked, and raises InputError where the source is broken and the rest
    of it cannot be read. `needs` are the modules of the extra `formats` that it imports. A `tabular` format
    has the same columns in every record. With `any_names`, whoever wrote a source has named its fields. With
    `may_lack_documents`, a file may consist of other items only, such as pictures. The files of
    an `is_text` format do not say their encoding; its `read` gets them in UTF-8. An `often_incidental`
    format is not meant by a folder that has it in files with none of its suffixes.
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


WITHDRAWN = "cancelled or withheld"
"""Why a document is skipped that its publisher has withdrawn."""
WITHDRAWN_STATUSES = ("canceled", "cancelled", "withheld")
"""The statuses of such documents in the IPTC's standards, one of which agencies also spell in another way."""

FORMATS: Registry[Format] = Registry("format")
register = FORMATS.register
get = FORMATS.find
