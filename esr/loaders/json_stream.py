"""JSON as programs write it: arrays of documents, objects one after the other, and envelopes around them."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

from esr.errors import InputError
from esr.loaders import envelopes, json_layout
from esr.loaders.format import Format, Malformed, ReadResult, Record, Remark, Source, register
from esr.loaders.json_cursor import InvalidValue, JsonCursor
from esr.loaders.utf8 import MAX_DOCUMENT_BYTES

_Path = tuple[str, ...]
_Result = ReadResult | Remark


def read(source: Source) -> Iterator[_Result]:
    """A record per object, in arrays and envelopes or not. Raises InputError where the JSON is broken.

    Arrays and envelopes are read as a stream, so that only one document is in memory.
    """
    cursor = JsonCursor(source)
    while first := cursor.peek():
        where = cursor.place()
        if first == "[":
            yield from _read_array(cursor, ())
        elif first == "{":
            fields = yield from _read_object(cursor, ())
            if fields is not None:
                yield Record(where, fields)
        else:
            raise cursor.error("not JSON: documents are objects, in an array or one after the other")


def read_value(where: str, value: Any, path: _Path = ()) -> Iterator[_Result]:
    """The documents in a decoded value, an object or an envelope. `path` leads to it in other envelopes."""
    for inner_path, document in envelopes.open_envelopes(value, path):
        if isinstance(document, dict):
            yield from _read_fields(where, document, inner_path)
        else:
            yield Malformed(where, 'not a JSON object: a document is like {"id": "…", "text": "…"}')


def _read_fields(where: str, fields: dict[str, Any], path: _Path) -> Iterator[_Result]:
    if path:
        yield Remark(where, f"are in {'.'.join(path)!r} of other JSON")
    yield Record(where, fields)


def _read_array(cursor: JsonCursor, path: _Path) -> Generator[_Result, None, list[Any] | None]:
    """Yields the documents of an array. In an envelope, one that begins with no object has none.

    Returns None if it has documents, and otherwise its values, as far as they are no longer than a document.
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
    """Yields the documents in an envelope. Returns the fields of any other object, if they are valid."""
    where, begin = cursor.place(), cursor.position
    fields: dict[str, Any] = {}
    is_envelope = False
    problem = ""
    for name in _iterate_names(cursor):
        if _may_be_envelope(cursor, name, path) and not envelopes.has_text(fields):
            is_envelope |= yield from _read_content(cursor, (*path, name), fields)
            if is_envelope and isinstance(fields.get(name), list):
                del fields[name]
        else:
            try:
                value = cursor.decode()
            except InvalidValue as error:
                problem = problem or str(error)
                continue
            if not is_envelope or envelopes.has_text({name: value}):
                fields[name] = value
        if not is_envelope and cursor.position - begin > MAX_DOCUMENT_BYTES:
            raise InputError(where, f"this object is longer than {MAX_DOCUMENT_BYTES // 2**20} MiB: split it")
    if is_envelope:
        if envelopes.has_text(fields):
            raise InputError(where, "this object has a text and other documents in it: separate them")
        return None
    if problem:
        yield Malformed(where, problem)
        return None
    return fields


def _may_be_envelope(cursor: JsonCursor, name: str, path: _Path) -> bool:
    """Whether the value at the cursor may contain documents, by its name and its first character."""
    return (
        envelopes.is_envelope_name(name) and len(path) < envelopes.MAX_DEPTH and cursor.peek() in ("[", "{")
    )


def _read_content(cursor: JsonCursor, path: _Path, fields: dict[str, Any]) -> Generator[_Result, None, bool]:
    """Yields the documents in a member of an object, or adds it to the object's fields.

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
    if not envelopes.is_document(inner):
        fields[path[-1]] = inner
        return False
    yield from _read_fields(where, envelopes.inherit_id(inner, fields), path)
    return True


def _iterate_names(cursor: JsonCursor) -> Iterator[str]:
    """The names of an object's members, each with the cursor before its value, which must then be read."""
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


FORMAT = register(
    Format(
        name="json",
        description="JSON: documents in an array, in another object, or one after the other over lines",
        suffixes=(".json",),
        sniff=lambda head: json_layout.is_json(head) and not json_layout.is_one_per_line(head),
        read=read,
        is_text=True,
        any_names=True,
    )
)
