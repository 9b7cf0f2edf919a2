"""JSON as programs write it: JSON Lines, arrays of documents, and concatenated objects.

The first bytes distinguish JSON Lines (`jsonl`) from all other layouts (`json`). `JsonCursor` reads the
latter as a stream in bounded memory: libraries such as ijson do not report the line of a value, which
messages need. Envelopes are the objects that programs put around documents, such as
`{"articles": [{…}, {…}]}`: APIs use `articles`, `data`, `response` and `results`, databases `_source` and
`attributes`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator, Mapping
from typing import Any, NoReturn

from esr.errors import InputError
from esr.loaders.encoding import MAX_DOCUMENT_BYTES, read_chunks, read_lines, too_long_error
from esr.loaders.fields import is_in_field
from esr.loaders.format import LONG_NUMBER, Malformed, ReadResult, Record, Remark, Source, loads

_NAMES = frozenset(
    (
        *("article", "articles", "attributes", "data", "doc", "docs", "document", "documents", "entries"),
        *("feed", "hits", "item", "items", "news", "post", "posts", "records", "response", "result"),
        *("results", "rows", "stories", "story", "value", "@graph", "_source"),
    )
)
_JSON_FEED = "https://jsonfeed.org/version/"
_OF_FEED = ("version", "title", "language")
"""The fields of a JSON Feed that say what it is, and what its items inherit."""
MAX_HELD = 2**22
"""How many characters of items are held until the fields behind them are read; a feed is shorter.

An object of so many characters is decoded whole, to know whether a text stands behind its other members.
"""
MAX_DEPTH = 4
"""The deepest nesting of envelopes."""


def is_envelope_name(name: str) -> bool:
    """Whether envelopes use this name for their documents."""
    return name.lower() in _NAMES


def has_text(fields: Mapping[str, Any]) -> bool:
    """Whether these are the fields of a document with a text, which is never an envelope.

    The description of a JSON Feed is no text: its items are the documents.
    """
    if is_json_feed(fields):
        return False
    return "sentences" in fields or any(
        (isinstance(value, str) or _is_paragraphs(value)) and is_in_field(name, "text")
        for name, value in fields.items()
    )


def is_json_feed(fields: Mapping[str, Any]) -> bool:
    """Whether these are the fields of a JSON Feed, which say its version."""
    return str(fields.get("version", "")).startswith(_JSON_FEED)


def _is_paragraphs(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(element, str) for element in value)


def is_document(value: Any) -> bool:
    """Whether this looks like a document: an object with a title, a text or an address under a known name."""
    return isinstance(value, dict) and any(is_in_field(name, "title", "text", "url") for name in value)


def open_envelopes(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The documents in a value, each with the path of names to it; the value if it is not an envelope.

    A JSON Feed without items has none.
    """
    if isinstance(value, dict) and is_json_feed(value) and not value.get("items"):
        return
    if isinstance(value, dict) and len(path) < MAX_DEPTH and not has_text(value):
        for name in filter(is_envelope_name, value):
            content = value[name]
            elements = content if isinstance(content, list) else [content]
            documents = [inner for element in elements for inner in open_envelopes(element, (*path, name))]
            if any(is_document(document) for _, document in documents):
                for inner_path, document in documents:
                    document = inherit_source(document, value)
                    yield inner_path, document if content is elements else inherit_id(document, value)
                return
    yield path, value


def inherit_id(document: Any, envelope: Mapping[str, Any]) -> Any:
    """The document, with the id of its envelope if it has none: `{"_id": "7", "_source": {…}}`."""
    if not isinstance(document, dict) or any(is_in_field(name, "id") for name in document):
        return document
    id = next((value for name, value in envelope.items() if is_in_field(name, "id")), None)
    return document if id is None else {"id": id, **document}


def inherit_source(document: Any, envelope: Mapping[str, Any]) -> Any:
    """The item of a JSON Feed with the title of the feed as its source, and the language of the feed."""
    if not isinstance(document, dict) or not is_json_feed(envelope):
        return document
    inherited = {"source": envelope.get("title"), "language": envelope.get("language")}
    missing = {
        name: value
        for name, value in inherited.items()
        if value and not any(is_in_field(field, name) for field in document)
    }
    return {**document, **missing}


_OBJECT = re.compile(rb'\{\s*["}]')
_ARRAY = re.compile(rb'\[\s*(?:\{\s*["}]|\]\s*$)')
_SHORT = rb'(?:"[^"\\]*"|[\w.+-]+|\{[^{}\[\]]*\})'
# An object in which only short values precede its possible documents.
_ENVELOPE = re.compile(rb'\{\s*(?:"\w*"\s*:\s*%b\s*,\s*)*"([\w@]+)"\s*:\s*[\[{]' % _SHORT)
# The first line of an object that is written over several lines.
_OPEN_LINE = re.compile(rb"\{(?:.*[\[{,:])?\s*$")


def is_json(head: bytes) -> bool:
    """Whether these bytes begin an object or an array of objects."""
    return bool(_OBJECT.match(head) or _ARRAY.match(head))


def is_one_per_line(head: bytes) -> bool:
    """Whether JSON that begins with these bytes has one object a line. They may be part of the first line."""
    if head.startswith(b"["):
        return False
    line, end, _ = head.partition(b"\n")
    if end and not _is_complete(line):
        return not _OPEN_LINE.match(line)
    envelope = _ENVELOPE.match(head)
    return envelope is None or not is_envelope_name(envelope[1].decode("utf-8", "replace"))


def _is_complete(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


class _InvalidConstant(ValueError):
    """NaN or an infinity."""


def _reject_constant(constant: str) -> NoReturn:
    raise _InvalidConstant(constant)


DECODER = json.JSONDecoder(parse_constant=_reject_constant)
"""Decodes JSON as its standard defines it, without NaN and infinities, which Python accepts by default."""


def describe_invalid_value(error: RecursionError | ValueError) -> str:
    """Why DECODER refuses well-formed JSON: its depth, a constant, or a long number."""
    if isinstance(error, RecursionError):
        return "the JSON is nested too deeply for a document: flatten it"
    if isinstance(error, _InvalidConstant):
        return f"broken JSON: {error} is not a JSON number, leave it out"
    return f"broken JSON: {LONG_NUMBER}"


_BLANKS = re.compile(r"[ \t\r\n]*")
# The length of the longest token, other than a string, that a chunk may cut: an escaped surrogate pair.
_LONGEST_TOKEN = len(r"\ud83d\ude00")
# Accepts constants and numbers of any length, to find the end of a value that DECODER refuses.
_SKIPPER = json.JSONDecoder(parse_int=str)


class InvalidValue(Exception):
    """A value is not usable. If it is well-formed, the cursor is after it."""


class JsonCursor:
    """A position in a stream of JSON, whose values are decoded one by one in bounded memory.

    Every method raises InputError if the JSON is broken.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._chunks = read_chunks(source)
        self._text = ""
        self._at = 0
        # Offsets in characters of the source: the start of the text, and the end of the counted lines.
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
        """The next character that is not blank, which must be one of these; `rule` is for the message."""
        character = self.peek()
        if not character:
            raise self.error(f"the JSON ends too early: {rule}; if the file is truncated, fetch it again")
        if character not in characters:
            raise self.error(f"broken JSON: {rule}")
        return character

    def take(self, characters: str, rule: str) -> str:
        """The same as `require`, but moves past the character."""
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

    def take_document(self) -> dict[str, Any] | None:
        """Move past an object with a text and return its fields. Short values beside documents are no text.

        For any other value, and for one of more than `MAX_HELD` characters, nothing is moved.
        """
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                is_long = len(self._text) - self._at > MAX_HELD
                if not is_long and self._may_be_cut(error) and self._read_more():
                    continue
                return None
            except (RecursionError, ValueError):
                return None
            if not isinstance(value, dict) or end - self._at > MAX_HELD or is_json_feed(value):
                return None
            if not has_text({name: inner for name, inner in value.items() if not is_envelope_name(name)}):
                return None
            self._at = end
            return value

    @property
    def position(self) -> int:
        """The number of characters before the cursor."""
        return self._offset + self._at

    def place(self) -> str:
        """The position of the cursor for messages: `news.json:3:5`, with line and column from 1."""
        return self._describe_place(self._at)

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
                    self._describe_place(max(self._at, min(error.pos, len(self._text.rstrip())))),
                    f"broken JSON: {error.msg}; correct it, or fetch it again if it is truncated",
                ) from None
            # A number may continue in the next chunk, as after "1.5e+".
            if type(value) in (int, float) and end + 3 > len(self._text) and self._read_more():
                continue
            self._at = end
            return value

    def _may_be_cut(self, error: json.JSONDecodeError) -> bool:
        """Whether the value may be incomplete because the rest of it has not been read."""
        is_near_end = error.pos >= len(self._text) - _LONGEST_TOKEN
        return is_near_end or error.msg.startswith("Unterminated string")

    def _read_more(self) -> bool:
        """Append as much text as is unread, for linear time on long values. Returns False at the end."""
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

    def _describe_place(self, at: int) -> str:
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


_Path = tuple[str, ...]
_Result = ReadResult | Remark


@loads(
    "json",
    "JSON: documents in an array, in another object, or one after the other over lines",
    suffixes=(".json",),
    sniff=lambda head: is_json(head) and not is_one_per_line(head),
    is_text=True,
    any_names=True,
    may_lack_documents=True,
)
def read_json_stream(source: Source) -> Iterator[_Result]:
    """A record per object, including those in arrays and envelopes. Raises InputError for broken JSON.

    Arrays and envelopes are streamed, so only one document is in memory.
    """
    cursor = JsonCursor(source)
    while first := cursor.peek():
        where = cursor.place()
        if first == "[":
            yield from _read_array(cursor, ())
        elif first == "{":
            fields = yield from _read_object(cursor, ())
            if fields is not None:
                yield from read_value(where, fields)
        else:
            raise cursor.error("not JSON: documents are objects, in an array or one after the other")


def read_value(where: str, value: Any, path: _Path = ()) -> Iterator[_Result]:
    """The documents in a decoded value. `path` has the names of the envelopes around it."""
    for inner_path, document in open_envelopes(value, path):
        if isinstance(document, dict):
            yield from _read_fields(where, document, inner_path)
        else:
            yield Malformed(where, 'not a JSON object: a document is like {"id": "…", "text": "…"}')


def _read_fields(where: str, fields: dict[str, Any], path: _Path) -> Iterator[_Result]:
    if path:
        yield Remark(where, f"are in {'.'.join(path)!r} of other JSON")
    yield Record(where, fields)


def _read_array(cursor: JsonCursor, path: _Path) -> Generator[_Result, None, list[Any] | None]:
    """Yield the documents of an array.

    In an envelope, only an array that begins with an object has documents. Returns None if it has documents,
    and otherwise its values, up to the maximum size of a document.
    """
    values: list[Any] = []
    cursor.take("[", "an array begins with [")
    if cursor.peek() == "]":
        cursor.take("]", "an array ends with ]")
        return values
    begin = cursor.position
    has_documents = not path or cursor.peek() == "{"
    while True:
        cursor.peek()
        where = cursor.place()
        try:
            value = cursor.decode()
        except InvalidValue as error:
            yield Malformed(where, str(error))
        else:
            if has_documents:
                yield from read_value(where, value, path)
            elif cursor.position - begin <= MAX_DOCUMENT_BYTES:
                values.append(value)
        if cursor.take(",]", "a comma separates the elements of an array, and a ] ends it") == "]":
            return None if has_documents else values


def _read_object(cursor: JsonCursor, path: _Path) -> Generator[_Result, None, dict[str, Any] | None]:
    """Yield the documents in an envelope. Return the fields of any other object, if they are valid."""
    where, begin = cursor.place(), cursor.position
    if (document := cursor.take_document()) is not None:
        return document
    fields: dict[str, Any] = {}
    is_envelope = False
    problem = ""
    held: list[_Result] = []
    try:
        for name in _iterate_names(cursor):
            if _may_be_envelope(cursor, name, path) and not has_text(fields):
                content = _inherit_source(_read_content(cursor, (*path, name), fields), fields)
                if name == "items" and not path and "version" not in fields:
                    content = _hold(content, cursor, held)
                is_envelope |= yield from content
                if is_envelope and isinstance(fields.get(name), list):
                    del fields[name]
            else:
                try:
                    value = cursor.decode()
                except InvalidValue as error:
                    problem = problem or str(error)
                    continue
                if not is_envelope or name in _OF_FEED or has_text({name: value}):
                    fields[name] = value
            if not is_envelope and cursor.position - begin > MAX_DOCUMENT_BYTES:
                limit = MAX_DOCUMENT_BYTES // 2**20
                raise InputError(where, f"this object is longer than {limit} MiB: split it")
    except InputError:
        yield from held
        raise
    yield from (_inherit(result, fields) for result in held)
    if is_envelope:
        if has_text(fields):
            raise InputError(where, "this object has a text and other documents in it: separate them")
        return None
    if problem:
        yield Malformed(where, problem)
        return None
    return fields


def _may_be_envelope(cursor: JsonCursor, name: str, path: _Path) -> bool:
    """Whether the value at the cursor may contain documents, by its name and first character."""
    return is_envelope_name(name) and len(path) < MAX_DEPTH and cursor.peek() in ("[", "{")


def _read_content(cursor: JsonCursor, path: _Path, fields: dict[str, Any]) -> Generator[_Result, None, bool]:
    """Yield the documents in a member of an object, or add the member to the object's fields.

    Returns whether there were documents in it.
    """
    where = cursor.place()
    if cursor.peek() == "[":
        values = yield from _read_array(cursor, path)
        if values:
            fields[path[-1]] = values
        return values is None
    inner = yield from _read_object(cursor, path)
    if inner is None:
        return True
    if not is_document(inner):
        fields[path[-1]] = inner
        return False
    yield from _read_fields(where, inherit_id(inner, fields), path)
    return True


def _inherit_source(
    content: Generator[_Result, None, bool], fields: Mapping[str, Any]
) -> Generator[_Result, None, bool]:
    """Yield the documents of a member of an object with what they inherit from the fields before it."""
    while True:
        try:
            result = next(content)
        except StopIteration as end:
            return bool(end.value)
        yield _inherit(result, fields)


def _inherit(result: _Result, fields: Mapping[str, Any]) -> _Result:
    """The result with the source that its record inherits from these fields."""
    if not isinstance(result, Record):
        return result
    return result._replace(fields=inherit_source(result.fields, fields))


def _hold(
    content: Generator[_Result, None, bool], cursor: JsonCursor, held: list[_Result]
) -> Generator[_Result, None, bool]:
    """Move results to `held` instead of yielding them, if they are at most those of `MAX_HELD` characters.

    They may be the items of a JSON Feed, whose title stands behind them.
    """
    begin = cursor.position
    while True:
        try:
            result = next(content)
        except StopIteration as end:
            return bool(end.value)
        held.append(result)
        if cursor.position - begin > MAX_HELD:
            yield from held
            held.clear()


def _iterate_names(cursor: JsonCursor) -> Iterator[str]:
    """The names of an object's members, each with the cursor at its value, which the caller must read."""
    cursor.take("{", "an object begins with {")
    if cursor.peek() == "}":
        cursor.take("}", "an object ends with }")
        return
    while True:
        cursor.require('"', "the names of an object are in double quotes, and a } ends it")
        name = cursor.decode()
        cursor.take(":", "a colon separates a name from its value")
        yield name
        if cursor.take(",}", "a comma separates the members of an object, and a } ends it") == "}":
            return


@loads(
    "jsonl",
    "JSON Lines: one document per line, with id and text or sentences",
    suffixes=(".jsonl", ".ndjson", ".json"),
    sniff=lambda head: is_json(head) and is_one_per_line(head),
    is_text=True,
    any_names=True,
)
def read(source: Source) -> Iterator[ReadResult | Remark]:
    """A record per line, or more in an envelope; blank lines are skipped.

    A line that is not a JSON object is malformed.
    """
    for number, line in read_lines(source):
        if line.strip():
            where = f"{source.name}:{number}"
            try:
                value = _parse_object(line)
            except InvalidValue as error:
                yield Malformed(where, str(error))
            else:
                yield from read_value(where, value)


def _parse_object(line: str) -> dict[str, Any]:
    try:
        value = DECODER.decode(line)
    except json.JSONDecodeError as error:
        column = min(error.pos, len(line.rstrip())) + 1
        raise InvalidValue(
            f"broken JSON at column {column}: {error.msg}; every line must be one complete JSON object",
        ) from None
    except (RecursionError, ValueError) as error:
        raise InvalidValue(describe_invalid_value(error)) from None
    if not isinstance(value, dict):
        raise InvalidValue(
            'not a JSON object: every line must be one document, like {"id": "…", "text": "…"}'
        )
    return value
