"""JSON Schemas in few words: of objects, lists, data classes and named tuples."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any

from webui.api.operation import Schema

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
NUMBER: Schema = {"type": ["number", "null"], "description": "null where it is not finite"}
TEXTS: Schema = {"type": "array", "items": {"type": "string"}}
META_FIELD: Schema = {"type": "string", "pattern": "^meta[.].", "examples": ["meta.desk"]}
WHOLE: Schema = {"type": "integer", "minimum": 0}


def closed(**properties: Schema) -> Schema:
    """An object with these properties, all of them and no others."""
    return {
        "type": "object",
        "required": list(properties),
        "additionalProperties": False,
        "properties": properties,
    }


def opened(**properties: Schema) -> Schema:
    """An object with all of these properties, which `extended` may give more."""
    return {"type": "object", "required": list(properties), "properties": properties}


def extended(name: str, **properties: Schema) -> Schema:
    """An object of the named schema, which is `opened`, with these properties too and no others."""
    return {"allOf": [reference(name), opened(**properties)], "unevaluatedProperties": False}


def of_class(kind: type, *, without: Sequence[str] = ()) -> dict[str, Schema]:
    """The properties of a data class or a named tuple in JSON."""
    hints = typing.get_type_hints(kind)
    return {name: of_type(hint) for name, hint in hints.items() if name not in without}


def of_type(hint: Any) -> Schema:
    """A type as it looks in JSON."""
    if hint is Any:
        return {}
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [of_type(member) for member in inside]}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": of_type(inside[1])}
    if origin in (Sequence, list, tuple):
        return {"type": "array", "items": of_type(inside[0])}
    raise TypeError(f"{hint!r} has no shape in JSON here")


def named(*names: str) -> Schema:
    """An object that has at least these properties."""
    return {"type": "object", "required": list(names)}


def array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def reference(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}
