"""What a loader is, and the registry of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

from esr.registry import Registry


class Source(NamedTuple):
    """One file to read.

    `name` is what messages call it: its path as the user gave it. `relative` is its path below the
    folder that was given, with "/", or its own name, in both cases without `.gz`. `stream` gives its
    bytes, unpacked; it can be read once, from front to back.
    """

    name: str
    relative: str
    stream: BinaryIO


class Record(NamedTuple):
    """What a loader found of a document: its place, as in `news.jsonl:12`, and its fields, not yet checked.

    The fields have the names and shapes of JSON Lines, whatever the format: see
    `esr.documents.validate.document`, which checks them.
    """

    where: str
    fields: Mapping[str, Any]


@dataclass(frozen=True)
class Format:
    """A source format: its name, what it looks like, and how it is read.

    `suffixes` are the file name endings it is known by (without `.gz`). `sniff` looks at the first
    bytes of a file whose name does not tell, blanks before them taken off. `read` yields the records of
    a source lazily, holding one at a time; it raises InputError where the source is broken.
    """

    name: str
    description: str
    suffixes: tuple[str, ...]
    sniff: Callable[[bytes], bool]
    read: Callable[[Source], Iterator[Record]]


FORMATS: Registry[Format] = Registry("format")
register = FORMATS.register
get = FORMATS.find
