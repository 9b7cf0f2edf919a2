"""Decodes a byte stream as UTF-8, by lines or chunks, in bounded memory. Errors name the line."""

from __future__ import annotations

from codecs import BOM_UTF8, getincrementaldecoder
from collections.abc import Iterator
from itertools import count

from esr.errors import InputError
from esr.loaders.format import Source

# No article is this long. A longer one lacks line ends or closing tags, and would fill the memory.
MAX_DOCUMENT_BYTES = 64 * 2**20
_CHUNK_BYTES = 2**16


def read_lines(source: Source) -> Iterator[tuple[int, str]]:
    """The lines with their numbers, from 1. A leading byte order mark is removed.

    Raises InputError at a line that is not UTF-8 or is longer than MAX_DOCUMENT_BYTES.
    """
    for number in count(1):
        line = source.stream.readline(MAX_DOCUMENT_BYTES + 1)
        if not line:
            return
        if len(line) > MAX_DOCUMENT_BYTES:
            raise too_long_error(source, number)
        if number == 1:
            line = line.removeprefix(BOM_UTF8)
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise _not_utf8_error(source, number, error) from None
        yield number, text


def read_chunks(source: Source) -> Iterator[str]:
    """The text in chunks of about 64 KiB, cut anywhere. A leading byte order mark is removed.

    Raises InputError with the line of the first byte that is not UTF-8.
    """
    decoder = getincrementaldecoder("utf-8")()
    line = 1
    is_first = True
    while True:
        data = source.stream.read(_CHUNK_BYTES)
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            raise _not_utf8_error(source, line + error.object.count(b"\n", 0, error.start), error) from None
        line += text.count("\n")
        if is_first and text:
            text, is_first = text.removeprefix("\ufeff"), False
        if text:
            yield text
        if not data:
            return


def too_long_error(source: Source, line: int) -> InputError:
    return InputError(
        f"{source.name}:{line}",
        f"the document that begins here is longer than {MAX_DOCUMENT_BYTES // 2**20} MiB: "
        "split it, or add its missing end",
    )


def _not_utf8_error(source: Source, line: int, error: UnicodeDecodeError) -> InputError:
    return InputError(
        f"{source.name}:{line}",
        f"this line is not UTF-8 (byte 0x{error.object[error.start]:02x}): {source.encoding_advice}",
    )
