"""UTF-8 text out of a stream of bytes: in lines or in pieces, never much at once, errors with their line."""

from __future__ import annotations

from codecs import BOM_UTF8, getincrementaldecoder
from collections.abc import Iterator
from itertools import count

from esr.errors import InputError
from esr.loaders.base import Source

# No article is this long. What is has lost its line ends or closing tags, and would fill the memory.
MAX_DOCUMENT_BYTES = 64 * 2**20
_PIECE_BYTES = 2**16


def lines(source: Source) -> Iterator[tuple[int, str]]:
    """The lines and their numbers, from 1. A byte order mark at the front is passed over.

    Raises InputError at a line that is not UTF-8 or longer than MAX_DOCUMENT_BYTES.
    """
    for number in count(1):
        line = source.stream.readline(MAX_DOCUMENT_BYTES + 1)
        if not line:
            return
        if len(line) > MAX_DOCUMENT_BYTES:
            raise too_long(source, number)
        if number == 1:
            line = line.removeprefix(BOM_UTF8)
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise _not_utf8(source, number, error) from None
        yield number, text


def pieces(source: Source) -> Iterator[str]:
    """The text in pieces of some 64 KiB, cut anywhere. A byte order mark at the front is passed over.

    Raises InputError with the line of what is not UTF-8.
    """
    decoder = getincrementaldecoder("utf-8")()
    line = 1
    first = True
    while True:
        data = source.stream.read(_PIECE_BYTES)
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            raise _not_utf8(source, line + error.object.count(b"\n", 0, error.start), error) from None
        line += text.count("\n")
        if first and text:
            text, first = text.removeprefix("\ufeff"), False
        if text:
            yield text
        if not data:
            return


def too_long(source: Source, line: int) -> InputError:
    return InputError(
        f"{source.name}:{line}",
        f"the document that begins here is longer than {MAX_DOCUMENT_BYTES // 2**20} MiB: "
        "split it, or mend its end",
    )


def _not_utf8(source: Source, line: int, error: UnicodeDecodeError) -> InputError:
    return InputError(
        f"{source.name}:{line}",
        f"this line is not UTF-8 (byte 0x{error.object[error.start]:02x}): convert the file, say with iconv",
    )
