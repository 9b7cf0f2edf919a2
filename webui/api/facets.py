"""`facets`: the values of fields that the candidates of a query have, with their counts."""

from __future__ import annotations

from typing import Any

from esr.engines.filters import can_be_counted
from esr.engines.index import FACET_FIELDS
from esr.errors import unknown
from webui.answers.facet_counts import count_values
from webui.api.operation import Call
from webui.arguments.query_check import check_query
from webui.arguments.query_string import parse_count
from webui.arguments.search_request import parse_search
from webui.running.request_errors import blame_argument

DEFAULT_SIZE, MAX_SIZE = 10, 1_000


def facets(call: Call) -> dict[str, Any]:
    search = parse_search(call.arguments, call.settings)
    size = parse_count("size", call.first("size"), DEFAULT_SIZE, MAX_SIZE)
    fields = call.arguments.get("field", FACET_FIELDS)
    with blame_argument("field"):
        for field in fields:
            if not can_be_counted(field):
                raise unknown("field", field, FACET_FIELDS)
    snapshot = call.searcher.snapshot()
    check_query(snapshot, search.parsed, call.settings)
    with blame_argument(None):
        prepared = search.prepare(snapshot)
        counted = count_values(prepared, search.filters, size, list(dict.fromkeys(fields)))
    return {
        "facets": [
            {
                "field": of_field.field,
                "values": [{"value": value, "count": count} for value, count in of_field.values],
                "more": of_field.has_more,
            }
            for of_field in counted
        ]
    }
