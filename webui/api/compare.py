"""`compare`: one query under two rankings, and what moves between them."""

from __future__ import annotations

from typing import Any

from webui.answers.comparison import compare_rankings
from webui.api.operation import Call
from webui.arguments.names import VERSUS
from webui.arguments.ranking_arguments import parse_ranking
from webui.arguments.search_request import parse_search


def compare(call: Call) -> dict[str, Any]:
    search = parse_search(call.arguments, call.settings)
    versus = parse_ranking(call.arguments, VERSUS)
    return compare_rankings(call.searcher, search, versus, call.settings).as_dict()
