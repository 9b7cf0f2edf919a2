"""`explain`: why a sentence has its score."""

from __future__ import annotations

from typing import Any

from webui.answers.explanation import explain_sentence
from webui.api.operation import Call
from webui.arguments.search_request import parse_search


def explain(call: Call) -> dict[str, Any]:
    search = parse_search(call.arguments, call.settings)
    return explain_sentence(call.searcher, search, call.first("id") or "", call.settings).as_dict()
