"""`similar`: sentences that say the same as one, or go on from it."""

from __future__ import annotations

from typing import Any

from esr.ranking.answers import answer_dict
from webui.answers.similar_sentences import find_for_request
from webui.api.operation import Call


def similar(call: Call) -> dict[str, Any]:
    found = find_for_request(call.searcher, call.arguments, call.settings)
    return {**answer_dict(found.answer), "terms": list(found.terms)}
