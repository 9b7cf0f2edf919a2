"""A file or standard input, opened and unpacked, its first bytes known: without seeking, as a pipe cannot."""

from __future__ import annotations

import gzip
import io
import os
import sys
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, BinaryIO, NamedTuple, cast

from esr.extras import require
from esr.loaders.base import Source
from esr.loaders.limits import DEFAULT_LIMITS, Budget

STANDARD_INPUT = "-"
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_PACKED = (".gz", ".zst")
# What zstd needs for --long; a frame may ask for a window of terabytes.
_ZSTD_WINDOW_LOG = 27
HEAD_BYTES = 4096
_BUFFER_BYTES = 2**18


class Opened(NamedTuple):
    """A source; its first bytes without blanks before them; if all is blank; its first bytes as they are."""

    source: Source
    head: bytes
    blank: bool
    start: bytes


@contextmanager
def opened(path: str, relative: str, budget: Budget | None = None) -> Iterator[Opened]:
    """Open a path, or `-` for standard input. `relative` is for the source, and loses `.gz` and `.zst`.

    Raises OSError, EOFError, zlib.error or ZstdError, as reading from the source's stream does, and Expanded
    when more is unpacked than the budget allows. A source is blank if there is nothing but whitespace in it,
    up to some thousand characters.
    """
    budget = budget or Budget(name_of(path), DEFAULT_LIMITS)
    with ExitStack() as stack:
        raw = sys.stdin.buffer if path == STANDARD_INPUT else stack.enter_context(open(path, "rb"))
        plain = path if path != STANDARD_INPUT and os.path.isfile(path) else None
        source = Source(name_of(path), relative, budget.counted(raw), plain)
        yield stack.enter_context(unpacked(source, path, budget))


@contextmanager
def unpacked(source: Source, named: str, budget: Budget) -> Iterator[Opened]:
    """The source without gzip or Zstandard around it, if its first bytes or name say that there is one."""
    with ExitStack() as stack:
        magic = source.stream.read(len(_ZSTD_MAGIC))
        stream = _rejoined(magic, source.stream)
        path = source.path
        if magic.startswith(_GZIP_MAGIC) or named.lower().endswith(".gz"):
            stream = budget.bounded(cast(BinaryIO, stack.enter_context(gzip.GzipFile(fileobj=stream))))
            path = None
        elif magic == _ZSTD_MAGIC or named.lower().endswith(".zst"):
            stream = budget.bounded(_zstd(stream))
            path = None
        relative = source.relative
        if relative.lower().endswith(_PACKED):
            relative = os.path.splitext(relative)[0]
        head = stream.read(HEAD_BYTES)
        start = _in_utf8(head).removeprefix(BOM_UTF8).lstrip()
        yield Opened(
            Source(source.name, relative, _rejoined(head, stream), path),
            start,
            blank=not start and len(head) < HEAD_BYTES,
            start=head,
        )


def name_of(path: str) -> str:
    """What messages call a path. Bytes in it that are no UTF-8 are escaped, so that it can be printed."""
    if path == STANDARD_INPUT:
        return "standard input"
    return path.encode("utf-8", "backslashreplace").decode()


def _zstd(stream: BinaryIO) -> BinaryIO:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        require("Zstandard (.zst)", "backports.zstd")
        from backports import zstd
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG}
    return cast(BinaryIO, zstd.ZstdFile(stream, options=options))


def _in_utf8(head: bytes) -> bytes:
    """The first bytes of XML in UTF-16 as they would be in UTF-8: its parsers know both."""
    if not head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return head
    text = head.decode("utf-16", "ignore").lstrip()
    return text.encode() if text.startswith("<") else head


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
