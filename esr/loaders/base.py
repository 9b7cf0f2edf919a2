"""What a loader is, and the registry of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, BinaryIO, NamedTuple

from esr.registry import Registry


class Source(NamedTuple):
    """One file to read, or one member of an archive.

    `name` is what messages call it: its path as the user gave it. `relative` is its path below the
    folder or archive that was given, with "/", or its own name, in both cases without `.gz` or `.zst`.
    `stream` gives its bytes, unpacked; it can be read once, from front to back. `path` is where these very
    bytes lie on the disk, for the formats that must seek; None where they come packed or through a pipe.
    """

    name: str
    relative: str
    stream: BinaryIO
    path: str | None = None


class Record(NamedTuple):
    """What a loader found of a document: its place, as in `news.jsonl:12`, and its fields, not yet checked.

    The fields have the names and shapes of JSON Lines, whatever the format: see
    `esr.documents.validate.document`, which checks them.
    """

    where: str
    fields: Mapping[str, Any]


class Malformed(NamedTuple):
    """A document that cannot be made out, while those after it can. `id` is None if that is not known."""

    where: str
    problem: str
    id: str | None = None


class PassedOver(NamedTuple):
    """A document that its publisher does not want to be found: `why`, as in "under embargo"."""

    where: str
    why: str


Found = Record | Malformed | PassedOver


@dataclass(frozen=True)
class Format:
    """A source format: its name, what it looks like, and how it is read.

    `suffixes` are the file name endings it is known by (without `.gz`). `sniff` looks at the first
    bytes of a file whose name does not tell, blanks before them taken off. `read` yields the records of
    a source lazily, holding one at a time; it yields Malformed where one document is wrong, PassedOver
    where one must not be loaded, and raises InputError where the source is broken and the rest of it
    cannot be read. `needs` are the modules that it imports of the extra `formats`. A `tabular` format has
    the same columns in every record. Where a format `holds_others`, a file may hold nothing but what is no
    document, such as pictures.
    """

    name: str
    description: str
    suffixes: tuple[str, ...]
    sniff: Callable[[bytes], bool]
    read: Callable[[Source], Iterator[Found]]
    needs: tuple[str, ...] = ()
    tabular: bool = False
    holds_others: bool = False


WITHDRAWN = "cancelled or withheld"
"""Why a document is passed over that its publisher has taken back."""

FORMATS: Registry[Format] = Registry("format")
register = FORMATS.register
get = FORMATS.find

_WHITESPACE = re.compile(r"\s+")


def id_of(text: str) -> str:
    """The text as an id: an id stands in run files as one word, so blanks in it become "_"."""
    return _WHITESPACE.sub("_", text.strip())


def path_id_of(source: Source) -> str:
    """The id of the only document of a file: its path, without its ending."""
    return id_of(str(PurePosixPath(source.relative).with_suffix("")))


def one_line(error: object) -> str:
    """What a library says of a problem, fit for one line of a message."""
    text = " ".join(str(error).split())
    return "".join(c if c.isprintable() else "?" for c in text)[:300]
