"""Converts text in any encoding to UTF-8 as a stream, and reads it by lines or chunks in bounded memory.

Valid UTF-8 is not converted, even if another encoding is declared: folders often mix encodings, and text in
another encoding is practically never valid UTF-8. Text whose encoding is uncertain is not converted either:
reading it as UTF-8 then fails with the number of the line.
"""

from __future__ import annotations

import codecs
import re
from codecs import BOM_UTF8, getincrementaldecoder
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

from esr.errors import InputError, UsageError, to_one_line
from esr.loaders.format import Source, open_stream
from esr.stdlib import import_lazily

if TYPE_CHECKING:
    import chardet
else:
    chardet = import_lazily("chardet")

_MIN_BYTES = 8
# One in five of the few guesses with less confidence was wrong.
_MIN_CONFIDENCE = 0.06
# The encodings of Western Europe differ in few characters only, and this one has most of them.
_USUAL = "windows-1252"
# In windows-1250, Czech and Polish letters are among these bytes; ISO 8859-2 has no letters there.
_WINDOWS_1250 = re.compile(rb"[\x80-\x9f]")
_ASCII = bytes(range(32, 127))
# These encode other letters as ASCII bytes between escapes.
_SHIFTED = ("iso-2022", "iso2022", "hz", "utf-7", "utf_7", "utf7")
# Signs with the same byte in all Windows encodings, and currency signs before a number. English texts often
# have no other non-ASCII characters. In other encodings, these bytes are letters or control characters.
_SIGNS = re.compile(
    rb"""
      (?<![\x80-\xff])[\x82\x84\x91\x93\xab](?=\w)          # opening quotes
    | (?<=[\w.,;:!?%)\]])[\x85\x94\x99\xbb](?![\w\x80-\xff])    # closing ones, dots, trade marks
    | (?<=[\w.,;:!?%)\]])\x92(?![\x80-\xff])                   # apostrophes and closing quotes
    | (?<=\s)[\x95-\x97](?=\s)                              # bullets and dashes
    | (?<![A-Za-z\x80-\xff])[\x80\xa3](?=\ ?[0-9])          # euro and pound
    """,
    re.VERBOSE,
)
# Decoding with the wrong encoding gives control characters, and signs within words: "caf\u00bbs".
_IMPLAUSIBLE = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd]|[^\W\d_][\xa1-\xa9\xab\xac\xae-\xb4\xb6-\xb9\xbb-\xbf\xd7\xf7]+[^\W\d_]"
)
# UTF-16 has a zero byte in each character of ASCII, at least in blanks: these numbers and shares of bytes.
_MIN_ZEROS, _MIN_SHARE_OF_ZEROS = 4, 0.05
_NO_TEXT = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd-\uffff]")


def has_ascii(encoding: str) -> bool:
    """Whether an encoding extends ASCII: ASCII bytes stand only for ASCII characters."""
    return _decode(_ASCII, encoding) == _ASCII.decode() and not encoding.lower().startswith(_SHIFTED)


def is_valid_utf8(sample: bytes) -> bool:
    """Whether the sample is UTF-8, except for a character cut off at its end."""
    return _decode(sample, "utf-8") is not None


def is_utf8(sample: bytes) -> bool:
    """Whether at least half of the non-ASCII characters are UTF-8; the others are then damaged."""
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(sample)
    others = sum(not character.isascii() for character in text)
    return others >= 2 * text.count("\ufffd")


def find_wide_encoding(sample: bytes) -> str | None:
    """UTF-16 of either byte order if a sample without a byte order mark is in it, or else None.

    Such a sample may be valid UTF-8: in UTF-16, the letters of many scripts consist of bytes of ASCII.
    """
    halves = sample[::2].count(0), sample[1::2].count(0)
    if all(halves) or sum(halves) < max(_MIN_ZEROS, _MIN_SHARE_OF_ZEROS * len(sample)):
        return None
    encoding = "utf-16-le" if halves[1] else "utf-16-be"
    text = _decode(sample, encoding)
    if text is None or _NO_TEXT.search(text):
        return None
    # In a text of 8 bits with some lines in UTF-16, most line ends have no zero byte.
    return encoding if 2 * text.count("\n") >= sample.count(b"\n") else None


def find_encoding(sample: bytes) -> str | None:
    """The encoding of a sample of text that is not UTF-8; None if it is uncertain.

    The encoding extends ASCII, because the text before the sample has been read as ASCII. chardet guesses it
    by letter frequencies. For a thousand texts of 6 to 60 words in 15 languages, 1 % of its guesses were
    wrong, while charset-normalizer takes Spanish for Korean. Wrong guesses silently corrupt letters, so a few
    letters are not enough, and the result has to look like text.
    """
    if _SIGNS.sub(b"", sample).isascii() and b"\x1b$" not in sample:
        return _USUAL
    if sum(byte > 127 for byte in sample) < _MIN_BYTES and b"\x1b$" not in sample:
        return None
    guess = chardet.detect(sample)
    encoding = guess["encoding"]
    if not encoding or guess["confidence"] < _MIN_CONFIDENCE or _decode(_ASCII, encoding) != _ASCII.decode():
        return None
    if encoding == "Windows-1250" and not _WINDOWS_1250.search(sample):
        encoding = "ISO-8859-2"
    text = _decode(sample, encoding)
    if text is None or _IMPLAUSIBLE.search(text):
        return None
    return _USUAL if text == _decode(sample, _USUAL) else encoding


def _decode(sample: bytes, encoding: str) -> str | None:
    try:
        return codecs.getincrementaldecoder(encoding)().decode(sample)
    except (LookupError, ValueError):
        return None


_SUPERSETS = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "iso2022_jp": "iso2022_jp_ext",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
}
"""Encodings, by Python's names, each with the superset that programs use when they declare it."""
# Windows-1252 has its quotation marks and dashes where ISO 8859-1 has these, which no text has.
_CONTROLS = re.compile(r"[\x80-\x9f]")


def find_superset(encoding: str) -> str | None:
    """The superset that programs use when they declare an encoding, such as Windows-1252 for ISO 8859-1."""
    try:
        return _SUPERSETS.get(codecs.lookup(encoding).name)
    except (LookupError, ValueError):
        return None


def decode_declared(data: bytes, encoding: str) -> str:
    """The text of bytes in a declared encoding, or else in its superset.

    Raises LookupError for an unknown encoding, and UnicodeDecodeError if neither fits.
    """
    superset = find_superset(encoding)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        if superset is None:
            raise
        return data.decode(superset)
    if superset and _CONTROLS.search(text):
        with suppress(UnicodeDecodeError):
            return data.decode(superset)
    return text


_ADVICE = "correct it, or name the encoding of the file with --encoding"
SAMPLE_BYTES = 2**16
"""Number of bytes from which the encoding of a file is guessed."""
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
ESCAPE = b"\x1b$"
"""The beginning of other letters in ISO-2022-JP and similar encodings, which use only ASCII bytes."""


def decode_cell(data: bytes) -> str | None:
    """The text in a cell of a table that holds bytes; None if they are no UTF-8, such as a picture."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def check_encoding(name: str) -> str:
    """The name, if Python has this text encoding. Raises UsageError."""
    try:
        "".encode(name)
    except (LookupError, ValueError):
        raise UsageError(
            f"unknown encoding {name!r}: use a name such as windows-1252, iso-8859-2, koi8-r or utf-16"
        ) from None
    return name


def decode_source(source: Source, encoding: str | None, on_found: Callable[[str], None]) -> Source:
    """The source with its text in UTF-8. `on_found` is called with the name of a detected encoding.

    A byte order mark takes precedence. Reading raises InputError where the text is not in its encoding.
    """
    stream = open_stream(_Utf8(source, encoding, on_found).take)
    return source._replace(stream=stream, path=None, encoding_advice=_ADVICE)


class _Utf8:
    """The bytes of a source in UTF-8.

    An undeclared encoding is detected at the first non-ASCII bytes. Line ends of CR alone, as in files of old
    Macs and Excel's "CSV (Macintosh)", become LF.
    """

    def __init__(self, source: Source, encoding: str | None, on_found: Callable[[str], None]) -> None:
        self._source = source
        self._on_found = on_found
        self._encoding = encoding
        self._decoder: codecs.IncrementalDecoder | None = None
        # Whether a declared encoding applies from the first non-ASCII bytes on; others apply from the start.
        self._is_declared = encoding is not None and has_ascii(encoding)
        self._is_decided = False
        self._has_returns: bool | None = None
        self._line = 1
        self._pending = self._ahead = b""
        self._head = self._begin()

    def take(self, size: int) -> bytes:
        while not self._pending:
            data = self._read(size)
            self._pending = self._end_lines(self._head + self._convert(data))
            self._head = b""
            if not data:
                break
        data, self._pending = self._pending[:size], self._pending[size:]
        return data

    def _begin(self) -> bytes:
        """The first bytes in UTF-8.

        Sets the encoding by a byte order mark, or else to a declared one that does not extend ASCII. If none
        is declared, it may be UTF-16 without a mark.
        """
        head = self._read(4)
        encoding = next((name for mark, name in _BYTE_ORDER_MARKS.items() if head.startswith(mark)), None)
        if encoding is None and self._encoding is None:
            self._ahead = self._source.stream.read(SAMPLE_BYTES)
            if encoding := find_wide_encoding(head + self._ahead):
                self._on_found(encoding)
        self._choose(encoding or (None if self._is_declared else self._encoding))
        return self._convert(head)

    def _read(self, size: int) -> bytes:
        """The next bytes of the source, first those that were read ahead."""
        data, self._ahead = self._ahead[:size], self._ahead[size:]
        return data + self._source.stream.read(size - len(data))

    def _end_lines(self, data: bytes) -> bytes:
        if self._has_returns is None and data:
            self._has_returns = b"\n" not in data and b"\r" in data[:-1]
        return data.replace(b"\r", b"\n") if self._has_returns else data

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
        """The data in UTF-8. The encoding is chosen at the first non-ASCII bytes or escape sequence."""
        if data.isascii() and (self._is_declared or ESCAPE not in data):
            self._line += data.count(b"\n")
            return data
        sample = data + self._read(SAMPLE_BYTES)
        self._is_decided = True
        if self._is_declared:
            self._choose(None if is_valid_utf8(sample) else self._encoding)
        elif (ESCAPE in sample or not is_utf8(sample)) and (encoding := find_encoding(sample)):
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


# No article is this long. A longer one lacks line ends or closing tags, and would fill the memory.
MAX_DOCUMENT_BYTES = 64 * 2**20
CHUNK_BYTES = 2**16
"""Number of bytes read at once."""


def read_lines(source: Source) -> Iterator[tuple[int, str]]:
    """The lines with their numbers, from 1, without a leading byte order mark.

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
    """The text in chunks of about 64 KiB, cut anywhere, without a leading byte order mark.

    Raises InputError with the line of the first byte that is not UTF-8.
    """
    decoder = getincrementaldecoder("utf-8")()
    line = 1
    is_first = True
    while True:
        data = source.stream.read(CHUNK_BYTES)
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
    """The error for a document that begins in this line, from 1, and is longer than MAX_DOCUMENT_BYTES."""
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
