"""`compare`: one query under two rankings, and what moves between them."""

from __future__ import annotations

from typing import Any

from webui.answers import comparison as comparing
from webui.api.operation import Call
from webui.arguments import search_request as arguments


def compare(call: Call) -> dict[str, Any]:
    asked = arguments.search(call.values, call.settings)
    versus = arguments.ranking(call.values, arguments.VERSUS)
    return comparing.compare(call.searcher, asked, versus, call.settings).as_dict()
