"""JSON Schemas in short: objects, arrays, references, and the schemas of Python types."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any

from esr.arguments.types import Schema

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def having(**properties: Schema) -> Schema:
    """An object with all of these properties. Later versions may add others."""
    return {"type": "object", "required": list(properties), "properties": properties}


def extended(name: str, **properties: Schema) -> Schema:
    """The named schema with these additional properties."""
    return {"allOf": [reference(name), having(**properties)]}


def describe_fields(kind: type, *, without: Sequence[str] = ()) -> dict[str, Schema]:
    """The schemas of the fields of a data class, a struct or a named tuple."""
    hints = typing.get_type_hints(kind)
    return {name: describe_type(hint) for name, hint in hints.items() if name not in without}


def describe_type(hint: Any) -> Schema:
    """The schema of a Python type. Raises TypeError for an unsupported type."""
    if hint is Any:
        return {}
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [describe_type(member) for member in inside]}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": describe_type(inside[1])}
    if origin in (Sequence, list, tuple):
        return {"type": "array", "items": describe_type(inside[0])}
    raise TypeError(f"{hint!r} has no shape in JSON here")


def named(*names: str) -> Schema:
    """An object with at least these properties, of any type."""
    return {"type": "object", "required": list(names)}


def array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def described(schema: Schema, text: str) -> Schema:
    """The schema with a description."""
    return {**schema, "description": text}


def reference(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}
