"""`complete`: what may be meant by the last word of a query that is being typed."""

from __future__ import annotations

from typing import Any

from esr.ranking.completion import complete as complete_query
from webui.api.operation import Call
from webui.arguments.query_string import parse_count

DEFAULT_LIMIT, MAX_LIMIT = 8, 20


def complete(call: Call) -> dict[str, Any]:
    text = call.first("q")
    limit = parse_count("limit", call.first("limit"), DEFAULT_LIMIT, MAX_LIMIT)
    completions = complete_query(call.searcher.snapshot(), text, limit) if text else ()
    return {"completions": [completion._asdict() for completion in completions]}
