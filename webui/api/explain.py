"""`explain`: why a sentence has its score."""

from __future__ import annotations

from typing import Any

from webui.answers import explanation as explaining
from webui.api.operation import Call
from webui.arguments import search_request as arguments


def explain(call: Call) -> dict[str, Any]:
    asked = arguments.search(call.values, call.settings)
    return explaining.tell(call.searcher, asked, call.one("id") or "", call.settings).as_dict()
