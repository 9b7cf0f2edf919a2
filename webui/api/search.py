"""`search`: one query, ranked sentences, page by page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from esr.ranking import answers
from webui.answers import entries as arranging
from webui.api import paging
from webui.api.operation import Call
from webui.arguments import search_request as arguments
from webui.pages.results import answer


def search(call: Call) -> dict[str, Any]:
    """Near-repeats are told one by one; `k` counts documents where these are put together."""
    asked = arguments.search(call.values, call.settings)
    wish = replace(asked.wish, fold=False)
    page = paging.asked(call, asked.k)
    end = page.offset + page.k
    now = call.searcher.snapshot()
    state = paging.state(now)
    paging.check(page, state)
    wanted = arranging.needed(wish, end, call.settings.max_k)
    found = answer(now, asked, wanted, call.settings)[0]
    entries = arranging.arrange(found.hits, wish, now.index.analyzer)
    units = [[each.hit for each in entry.folded] for entry in entries]
    more = len(units) > end or (wish.plain and found.total > end)
    shown = replace(found, hits=[hit for unit in units[page.offset : end] for hit in unit])
    return {
        **answers.answer_dict(shown),
        "offset": page.offset,
        "next": paging.token(end, state) if more and end < call.settings.max_depth else None,
    }
