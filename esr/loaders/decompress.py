"""Opens a file or standard input, decompresses it and peeks at its first bytes, without seeking."""

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
from esr.loaders.format import Source
from esr.loaders.limits import DEFAULT_LIMITS, Budget
from esr.loaders.paths import STANDARD_INPUT, display_name

_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_SUFFIXES = (".gz", ".zst")
# What zstd needs for --long; a frame may ask for a window of terabytes.
_ZSTD_WINDOW_LOG = 27
HEAD_BYTES = 4096
_BUFFER_BYTES = 2**18


class PeekedSource(NamedTuple):
    """A source and its first bytes, which can still be read from its stream.

    `head` is in UTF-8 and without leading blanks; `raw_head` is unchanged. `is_blank`: only whitespace.
    """

    source: Source
    head: bytes
    is_blank: bool
    raw_head: bytes


@contextmanager
def open_source(path: str, id_path: str, budget: Budget | None = None) -> Iterator[PeekedSource]:
    """Open a path, or `-` for standard input. `id_path` is for the source, and loses `.gz` and `.zst`.

    Raises OSError, EOFError, zlib.error or ZstdError, as reading the source's stream does, and
    ExpansionError if it unpacks to more than the budget allows. A source counts as blank if it consists of
    whitespace only and is shorter than HEAD_BYTES.
    """
    budget = budget or Budget(display_name(path), DEFAULT_LIMITS)
    with ExitStack() as stack:
        stream = sys.stdin.buffer if path == STANDARD_INPUT else stack.enter_context(open(path, "rb"))
        file_path = path if path != STANDARD_INPUT and os.path.isfile(path) else None
        source = Source(display_name(path), id_path, budget.count_packed(stream), file_path)
        yield stack.enter_context(decompress(source, path, budget))


@contextmanager
def decompress(source: Source, file_name: str, budget: Budget) -> Iterator[PeekedSource]:
    """The source without gzip or Zstandard, if its first bytes or file name say that it is compressed."""
    with ExitStack() as stack:
        magic = source.stream.read(len(_ZSTD_MAGIC))
        stream = _prepend(magic, source.stream)
        path = source.path
        if magic.startswith(_GZIP_MAGIC) or file_name.lower().endswith(".gz"):
            stream = budget.limit_unpacked(cast(BinaryIO, stack.enter_context(gzip.GzipFile(fileobj=stream))))
            path = None
        elif magic == _ZSTD_MAGIC or file_name.lower().endswith(".zst"):
            stream = budget.limit_unpacked(_open_zstd(stream))
            path = None
        id_path = source.id_path
        if id_path.lower().endswith(_SUFFIXES):
            id_path = os.path.splitext(id_path)[0]
        raw_head = stream.read(HEAD_BYTES)
        head = _to_utf8(raw_head).removeprefix(BOM_UTF8).lstrip()
        yield PeekedSource(
            Source(source.name, id_path, _prepend(raw_head, stream), path),
            head,
            is_blank=not head and len(raw_head) < HEAD_BYTES,
            raw_head=raw_head,
        )


def _open_zstd(stream: BinaryIO) -> BinaryIO:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        require("Zstandard (.zst)", "backports.zstd")
        from backports import zstd
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG}
    return cast(BinaryIO, zstd.ZstdFile(stream, options=options))


def _to_utf8(head: bytes) -> bytes:
    """The first bytes of XML and JSON in UTF-16 as UTF-8, to recognise the format; readers read both."""
    if not head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return head
    text = head.decode("utf-16", "ignore").lstrip()
    return text.encode() if text.startswith(("<", "{", "[")) else head


def _prepend(head: bytes, stream: BinaryIO) -> BinaryIO:
    return io.BufferedReader(_PrependedStream(head, stream), _BUFFER_BYTES)


class _PrependedStream(io.RawIOBase):
    """Bytes that were read ahead, then the rest of the stream."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        self._head = head
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._head[: len(buffer)] or self._stream.read(len(buffer))
        self._head = self._head[len(data) :]
        buffer[: len(data)] = data
        return len(data)
