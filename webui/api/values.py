"""`values`: the sources or names of an index that begin as somebody has begun to write."""

from __future__ import annotations

from typing import Any

from esr.engines.index import Index
from esr.engines.names import parse_name_filter
from esr.errors import unknown
from webui.api.operation import Call
from webui.arguments.query_string import parse_count
from webui.running.request_errors import blame_argument

LISTED_FIELDS = ("source", "entity")
DEFAULT_SIZE, MAX_SIZE = 10, 100
_OF_ALL_TYPES = 10
"""Names that are looked at, for each of one type that is asked for."""


def values(call: Call) -> dict[str, Any]:
    field, prefix = call.first("field") or "", call.first("prefix") or ""
    size = parse_count("size", call.first("size"), DEFAULT_SIZE, MAX_SIZE)
    with blame_argument("field"):
        if field not in LISTED_FIELDS:
            raise unknown("field", field, LISTED_FIELDS)
    index = call.searcher.snapshot().index
    listed = _sources(index, prefix, size) if field == "source" else _names(index, prefix, size)
    return {"values": listed}


def _sources(index: Index, prefix: str, size: int) -> list[dict[str, Any]]:
    sources = index.sources().with_prefix(prefix, size)
    return [{"value": source.form, "type": None, "count": source.documents} for source in sources]


def _names(index: Index, prefix: str, size: int) -> list[dict[str, Any]]:
    """Names as a filter has them: with their type if the prefix begins with one."""
    begun = parse_name_filter(prefix)
    keys = index.name_keys(begun.key, size if begun.type is None else size * _OF_ALL_TYPES)
    names = [name for name in index.find_names(keys).values() if begun.type in (None, name.type)]
    start = f"{begun.type}:" if begun.type else ""
    return [{"value": start + name.form, "type": name.type, "count": name.sentences} for name in names[:size]]
