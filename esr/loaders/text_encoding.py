"""Turns text in any encoding to UTF-8 as a stream: one that is declared, or else found in the text.

Text in UTF-8 passes unchanged, whatever is declared: folders often have files in both encodings, and text
in another one is not UTF-8 by chance. So does text in an encoding that is not certain: reading it as UTF-8
then names the line.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable
from typing import Any, BinaryIO, cast

from esr.errors import InputError, UsageError, to_one_line
from esr.loaders.encoding_detection import find_encoding, has_ascii, is_utf8, is_valid_utf8
from esr.loaders.format import Source

_ADVICE = "correct it, or name the encoding of the file with --encoding"
_SAMPLE_BYTES = 2**16
_BUFFER_BYTES = 2**18
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# ISO-2022-JP and its like have only bytes of ASCII.
_ESCAPE = b"\x1b$"


def check_encoding(name: str) -> str:
    """The name, if Python knows this encoding of text. Raises UsageError."""
    try:
        "".encode(name)
    except (LookupError, ValueError):
        raise UsageError(
            f"unknown encoding {name!r}: use a name such as windows-1252, iso-8859-2, koi8-r or utf-16"
        ) from None
    return name


def decode_source(source: Source, encoding: str | None, on_found: Callable[[str], None]) -> Source:
    """The source with its text in UTF-8. `on_found` gets the name of an encoding that was not declared.

    A byte order mark takes precedence. Reading raises InputError where the text is not in its encoding.
    """
    stream = _Utf8Stream(source, encoding, on_found)
    buffered = cast(BinaryIO, io.BufferedReader(stream, _BUFFER_BYTES))
    return source._replace(stream=buffered, path=None, encoding_advice=_ADVICE)


class _Utf8Stream(io.RawIOBase):
    """The bytes of a source in UTF-8.

    An encoding that is not declared is decided at the first bytes that are not ASCII.
    """

    def __init__(self, source: Source, encoding: str | None, on_found: Callable[[str], None]) -> None:
        self._source = source
        self._on_found = on_found
        self._encoding = encoding
        self._decoder: codecs.IncrementalDecoder | None = None
        # What a declared encoding is chosen at: the first bytes, or those that ASCII does not have.
        self._is_declared = encoding is not None and has_ascii(encoding)
        self._is_decided = False
        self._line = 1
        self._pending = b""
        self._begin()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._pending:
            data = self._source.stream.read(len(buffer))
            self._pending = self._convert(data)
            if not data:
                break
        data, self._pending = self._pending[: len(buffer)], self._pending[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)

    def _begin(self) -> None:
        """Look for a byte order mark, which decides; then a declared encoding does."""
        head = self._source.stream.read(4)
        encoding = next((name for mark, name in _BYTE_ORDER_MARKS.items() if head.startswith(mark)), None)
        self._choose(encoding or (None if self._is_declared else self._encoding))
        self._pending = self._convert(head)

    def _choose(self, encoding: str | None) -> None:
        if encoding is None:
            return
        self._is_decided = True
        self._encoding = encoding
        if codecs.lookup(encoding).name not in ("utf-8", "utf-8-sig"):
            self._decoder = codecs.getincrementaldecoder(encoding)()

    def _convert(self, data: bytes) -> bytes:
        if self._decoder:
            return self._recode(data)
        return data if self._is_decided else self._decide(data)

    def _decide(self, data: bytes) -> bytes:
        """The data in UTF-8. Nothing is decided while there is nothing but ASCII."""
        if data.isascii() and (self._is_declared or _ESCAPE not in data):
            self._line += data.count(b"\n")
            return data
        sample = data + self._source.stream.read(_SAMPLE_BYTES)
        self._is_decided = True
        if self._is_declared:
            self._choose(None if is_valid_utf8(sample) else self._encoding)
        elif (_ESCAPE in sample or not is_utf8(sample)) and (encoding := find_encoding(sample)):
            self._choose(encoding)
            self._on_found(encoding)
        return self._recode(sample) if self._decoder else sample

    def _recode(self, data: bytes) -> bytes:
        assert self._decoder is not None
        try:
            text = self._decoder.decode(data, final=not data)
        except ValueError as error:
            line = self._line + data.count(b"\n", 0, getattr(error, "start", 0))
            raise InputError(
                f"{self._source.name}:{line}",
                f"this line is not in {self._encoding} ({to_one_line(error)}): {_ADVICE}",
            ) from None
        self._line += text.count("\n")
        return text.encode("utf-8", "surrogatepass")
