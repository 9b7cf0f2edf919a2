"""A position in a stream of JSON, which decodes one value after the other in bounded memory.

Libraries that stream JSON, such as ijson, do not say where a value begins; messages and places need its line.
"""

from __future__ import annotations

import json
import re
from typing import Any

from esr.errors import InputError
from esr.loaders.format import Source
from esr.loaders.json_decoder import DECODER, describe_invalid_value
from esr.loaders.utf8 import MAX_DOCUMENT_BYTES, read_chunks, too_long_error

_BLANKS = re.compile(r"[ \t\r\n]*")
# The longest token that is no string and may be cut in two by the end of a chunk: an escaped surrogate pair.
_LONGEST_TOKEN = len(r"\ud83d\ude00")
# Finds the end of a value that DECODER refuses: it accepts constants, and numbers of any length.
_SKIPPER = json.JSONDecoder(parse_int=str)


class InvalidValue(Exception):
    """The value at the cursor is well-formed, but cannot be used. The cursor is behind it."""


class JsonCursor:
    """Reads a source from its start. Every method raises InputError where the JSON is broken."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._chunks = read_chunks(source)
        self._text = ""
        self._at = 0
        # Where the text begins in the source, and the line up to `_counted`, in characters of the source.
        self._offset = 0
        self._counted = 0
        self._line = 1
        self._line_start = 0

    def peek(self) -> str:
        """The next character that is not blank; "" at the end of the source."""
        while True:
            match = _BLANKS.match(self._text, self._at)
            assert match is not None
            self._at = match.end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._read_more():
                return ""

    def require(self, characters: str, rule: str) -> str:
        """The next character that is not blank, which must be one of these: the rule is for the message."""
        character = self.peek()
        if not character:
            raise self.error(f"the JSON ends too early: {rule}; if the file is truncated, fetch it again")
        if character not in characters:
            raise self.error(f"broken JSON: {rule}")
        return character

    def take(self, characters: str, rule: str) -> str:
        """Like `require`, and move past the character."""
        character = self.require(characters, rule)
        self._at += 1
        return character

    def decode(self) -> Any:
        """Move past the next value and return it. Raises InvalidValue."""
        self.peek()
        try:
            return self._decode_with(DECODER)
        except RecursionError as error:
            raise self.error(describe_invalid_value(error)) from None
        except ValueError as error:
            self._decode_with(_SKIPPER)
            raise InvalidValue(describe_invalid_value(error)) from None

    @property
    def position(self) -> int:
        """How many characters of the source are before the cursor."""
        return self._offset + self._at

    def place(self) -> str:
        """Where the cursor is, for messages: `news.json:3:5`, the line and the column from 1."""
        return self._place_of(self._at)

    def error(self, problem: str) -> InputError:
        return InputError(self.place(), problem)

    def _decode_with(self, decoder: json.JSONDecoder) -> Any:
        while True:
            try:
                value, end = decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if self._may_be_cut(error) and self._read_more():
                    continue
                raise InputError(
                    self._place_of(max(self._at, min(error.pos, len(self._text.rstrip())))),
                    f"broken JSON: {error.msg}; correct it, or fetch it again if it is truncated",
                ) from None
            # A number may continue in the next chunk, from which "1.5e+" would be cut.
            if type(value) in (int, float) and end + 3 > len(self._text) and self._read_more():
                continue
            self._at = end
            return value

    def _may_be_cut(self, error: json.JSONDecodeError) -> bool:
        """Whether the error may be due to the end of the text that has been read."""
        is_near_end = error.pos >= len(self._text) - _LONGEST_TOKEN
        return is_near_end or error.msg.startswith("Unterminated string")

    def _read_more(self) -> bool:
        """Append as much text as is left, so that long values are read in linear time; False at the end."""
        rest = len(self._text) - self._at
        if rest > MAX_DOCUMENT_BYTES:
            raise too_long_error(self._source, self._count_lines(self._at))
        pieces, size = [], 0
        for chunk in self._chunks:
            pieces.append(chunk)
            size += len(chunk)
            if size >= rest:
                break
        if pieces:
            self._count_lines(self._at)
            self._offset += self._at
            self._text, self._at = "".join([self._text[self._at :], *pieces]), 0
        return bool(pieces)

    def _place_of(self, at: int) -> str:
        line = self._count_lines(at)
        return f"{self._source.name}:{line}:{self._offset + at - self._line_start + 1}"

    def _count_lines(self, at: int) -> int:
        """The line of this position in the text. Positions must not decrease."""
        start = self._counted - self._offset
        self._line += self._text.count("\n", start, at)
        last = self._text.rfind("\n", start, at)
        if last >= 0:
            self._line_start = self._offset + last + 1
        self._counted = self._offset + max(at, start)
        return self._line
