"""`query`: the request for Elasticsearch itself."""

from __future__ import annotations

from typing import Any

from esr.ranking.request import raw_request
from webui import arguments
from webui.api.operation import Call
from webui.arguments import BadArgument
from webui.terms import check_terms


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
