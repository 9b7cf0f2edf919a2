"""What a loader is, and the registry of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from esr.documents import Document
from esr.errors import unknown


class Located(NamedTuple):
    """A document and the place it was read from, for messages: `news.jsonl:12`."""

    where: str
    document: Document


@dataclass(frozen=True)
class Format:
    """A source format: its name, what it looks like, and how it is read.

    `read` takes an open binary stream and its name for messages, and yields documents lazily.
    `suffixes` are the file name endings it is known by (without `.gz`); `sniff` looks at the
    first bytes of a file whose name does not tell.
    """

    name: str
    description: str
    suffixes: tuple[str, ...]
    sniff: Callable[[bytes], bool]
    read: Callable[[BinaryIO, str], Iterator[Located]]


FORMATS: dict[str, Format] = {}


def register(format: Format) -> Format:
    FORMATS[format.name] = format
    return format


def get(name: str) -> Format:
    """The format of that name. Raises UsageError with the nearest name."""
    if name not in FORMATS:
        raise unknown("format", name, FORMATS)
    return FORMATS[name]
