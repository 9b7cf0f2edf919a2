"""`search`: one query, ranked sentences, page by page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from esr.ranking import answers
from webui import arguments
from webui.api import paging
from webui.api.operation import Call
from webui.api.terms import check_terms


def search(call: Call) -> dict[str, Any]:
    asked = arguments.search(call.values, call.settings)
    page = paging.asked(call, asked.k)
    now = call.searcher.now()
    check_terms(now, asked.query, call.settings, "q")
    state = paging.state(now)
    paging.check(page, state)
    with arguments.blaming(None):
        found = now.search(asked.query, page.offset + page.k, ranking=asked.ranking, filters=asked.filters)
    end = page.offset + page.k
    more = found.total > end and end < call.settings.max_depth
    shown = replace(found, hits=found.hits[page.offset :])
    return {
        **answers.answer_dict(shown),
        "offset": page.offset,
        "next": paging.token(end, state) if more else None,
    }
