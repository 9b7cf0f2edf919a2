"""`compare`: one query under two rankings, and what moves between them."""

from __future__ import annotations

from typing import Any

from esr.ranking import answers
from webui import arguments, comparing
from webui.api.operation import Call
from webui.comparing import Side


def compare(call: Call) -> dict[str, Any]:
    asked = arguments.search(call.values, call.settings)
    versus = arguments.ranking(call.values, arguments.VERSUS)
    found = comparing.compare(call.searcher, asked, versus, call.settings)
    return {
        "left": _side(found.left),
        "right": _side(found.right),
        "shared": found.shared,
        "moved": found.moved,
    }


def _side(side: Side) -> dict[str, Any]:
    hits = [answers.hit_dict(each.hit) | {"other": each.other} for each in side.hits]
    return {"ranking": side.ranking.as_dict(), **answers.answer_dict(side.found), "hits": hits}
