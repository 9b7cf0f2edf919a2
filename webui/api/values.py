"""`values`: the sources, attributes or names of an index that begin as somebody has begun to write."""

from __future__ import annotations

from typing import Any

from esr.documents.attributes import ATTRIBUTES, META, is_attribute
from esr.engines.entities import entity_key
from esr.engines.index import Index
from esr.engines.names import parse_name_filter
from esr.errors import unknown
from webui.api.operation import Call
from webui.arguments.query_string import parse_count
from webui.running.request_errors import blame_argument

LISTED_FIELDS = ("source", *ATTRIBUTES, META, "entity")
DEFAULT_SIZE, MAX_SIZE = 10, 100
_OF_ALL_TYPES = 10
"""Names that are looked at, for each of one type that is asked for."""


def values(call: Call) -> dict[str, Any]:
    field, prefix = call.first("field") or "", call.first("prefix") or ""
    size = parse_count("size", call.first("size"), DEFAULT_SIZE, MAX_SIZE)
    with blame_argument("field"):
        if field not in LISTED_FIELDS and not is_attribute(field):
            raise unknown("field", field, LISTED_FIELDS)
    index = call.searcher.snapshot().index
    listed = _names(index, prefix, size) if field == "entity" else _values(index, field, prefix, size)
    return {"values": listed}


def _values(index: Index, field: str, prefix: str, size: int) -> list[dict[str, Any]]:
    values = index.values(field).with_prefix(prefix, size)
    return [{"value": value.form, "type": None, "count": value.documents} for value in values]


def _names(index: Index, prefix: str, size: int) -> list[dict[str, Any]]:
    """Names as a filter has them: with their type if the prefix begins with one."""
    begun = parse_name_filter(prefix)
    keys = index.name_keys(begun.key, size if begun.type is None else size * _OF_ALL_TYPES)
    names = [name for name in index.find_names(keys).values() if name.has_type(begun.type)]
    return [
        {
            "value": entity_key(begun.type, name.form) if begun.type else name.form,
            "type": name.type,
            "count": name.sentences,
        }
        for name in names[:size]
    ]
