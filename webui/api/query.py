"""`query`: the request for Elasticsearch itself."""

from __future__ import annotations

from typing import Any

from esr.ranking.request import raw_request
from webui.api.operation import Call
from webui.arguments import search_request as arguments
from webui.arguments.query_check import check_terms
from webui.arguments.search_request import BadArgument


def query(call: Call) -> dict[str, Any]:
    asked = arguments.search(call.values, call.settings)
    standalone = call.one("standalone") or "false"
    if standalone not in ("true", "false"):
        raise BadArgument(f"argument 'standalone' is true or false, not {standalone!r}", "standalone")
    now = call.searcher.snapshot()
    check_terms(now, asked.query, call.settings)
    with arguments.blaming(None):
        return raw_request(
            now,
            asked.query,
            asked.k,
            ranking=asked.ranking,
            filters=asked.filters,
            standalone=standalone == "true",
        )
