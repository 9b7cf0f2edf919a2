"""A file or standard input, opened and unpacked, its first bytes known: without seeking, as a pipe cannot."""

from __future__ import annotations

import gzip
import io
import sys
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, BinaryIO, NamedTuple, cast

from esr.loaders.base import Source

STANDARD_INPUT = "-"
_GZIP_MAGIC = b"\x1f\x8b"
_HEAD_BYTES = 4096
_BUFFER_BYTES = 2**18


class Opened(NamedTuple):
    """A source, its first bytes without blanks before them, and whether all of it is blank."""

    source: Source
    head: bytes
    blank: bool


@contextmanager
def opened(path: str, relative: str) -> Iterator[Opened]:
    """Open a path, or `-` for standard input. `relative` is for the source.

    Raises OSError, EOFError or zlib.error, as reading from the source's stream does. A source is blank if
    there is nothing but whitespace in it, up to some thousand characters.
    """
    with ExitStack() as stack:
        raw = sys.stdin.buffer if path == STANDARD_INPUT else stack.enter_context(open(path, "rb"))
        magic = raw.read(len(_GZIP_MAGIC))
        stream = _rejoined(magic, raw)
        if magic == _GZIP_MAGIC or path.lower().endswith(".gz"):
            stream = cast(BinaryIO, stack.enter_context(gzip.GzipFile(fileobj=stream)))
        head = stream.read(_HEAD_BYTES)
        start = head.removeprefix(BOM_UTF8).lstrip()
        yield Opened(
            Source(name_of(path), relative, _rejoined(head, stream)),
            start,
            blank=not start and len(head) < _HEAD_BYTES,
        )


def name_of(path: str) -> str:
    """What messages call a path. Bytes in it that are no UTF-8 are escaped, so that it can be printed."""
    if path == STANDARD_INPUT:
        return "standard input"
    return path.encode("utf-8", "backslashreplace").decode()


def _rejoined(head: bytes, rest: BinaryIO) -> BinaryIO:
    return io.BufferedReader(_Rejoined(head, rest), _BUFFER_BYTES)


class _Rejoined(io.RawIOBase):
    """The bytes that were read ahead, then the rest of the stream."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head = head
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._head[: len(buffer)] or self._rest.read(len(buffer))
        self._head = self._head[len(data) :]
        buffer[: len(data)] = data
        return len(data)
