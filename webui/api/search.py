"""`search`: one query, ranked sentences, page by page."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from esr.ranking.answers import answer_dict
from esr.ranking.query_report import report_query
from webui.answers.ranked_answer import rank_and_arrange
from webui.api.operation import Call
from webui.api.paging import check_state, index_state, page_token, read_page
from webui.arguments.search_request import parse_search


def search(call: Call) -> dict[str, Any]:
    """Repeats are folded as on the page. Where sentences are grouped, `k` and `offset` count documents."""
    search = parse_search(call.arguments, call.settings)
    page = read_page(call, search.k)
    end = page.offset + page.k
    snapshot = call.searcher.snapshot()
    state = index_state(snapshot)
    check_state(page, state)
    answer, prepared, entries, has_more = rank_and_arrange(snapshot, search, end, call.settings)
    # Where hardly anything is new, a page may be short: the next one begins after what it has.
    end = min(end, len(entries))
    listed = [folded for entry in entries[page.offset : end] for folded in entry.folded]
    page_answer = replace(answer, hits=[folded.hit for folded in listed])
    repeats = {folded.hit.sentence_id: folded.similar for folded in listed}
    return {
        **answer_dict(page_answer, report_query(prepared, search.filters), repeats),
        "documents": len(entries) if search.arrangement.group else None,
        "offset": page.offset,
        "next": page_token(end, state) if has_more and page.offset < end < call.settings.max_depth else None,
    }
