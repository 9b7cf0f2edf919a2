"""`query`: the same search as a request for Elasticsearch itself."""

from __future__ import annotations

from typing import Any

from esr.ranking.request import raw_request
from webui.api.operation import Call
from webui.arguments.query_check import check_query
from webui.arguments.search_request import parse_search
from webui.running.request_errors import RequestError, blame_argument


def query(call: Call) -> dict[str, Any]:
    search = parse_search(call.arguments, call.settings)
    standalone = call.first("standalone") or "false"
    if standalone not in ("true", "false"):
        raise RequestError(f"argument 'standalone' must be true or false, not {standalone!r}", "standalone")
    snapshot = call.searcher.snapshot()
    check_query(snapshot, search.parsed, call.settings)
    with blame_argument(None):
        prepared = search.prepare(snapshot)
        return raw_request(prepared, search.k, filters=search.filters, standalone=standalone == "true")
