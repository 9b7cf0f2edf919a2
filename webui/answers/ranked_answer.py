"""The best or the newest sentences for a search."""

from __future__ import annotations

from typing import NamedTuple

from esr.following.newest import find_newest
from esr.ranking.searcher import Answer, PreparedQuery, Searcher
from webui.answers.entries import Entry, arrange_hits, hits_to_fetch
from webui.arguments.query_check import check_query
from webui.arguments.search_request import SearchRequest
from webui.running.request_errors import blame_argument
from webui.running.settings import Settings


class RankedAnswer(NamedTuple):
    """An answer, and the query as it was planned for it."""

    answer: Answer
    prepared: PreparedQuery


class ArrangedAnswer(NamedTuple):
    """An answer, its query, and all entries that its hits make."""

    answer: Answer
    prepared: PreparedQuery
    entries: list[Entry]


def rank_sentences(searcher: Searcher, search: SearchRequest, k: int, settings: Settings) -> RankedAnswer:
    """The best or newest k sentences for a search. Raises RequestError, which names the argument at fault."""
    check_query(searcher, search.parsed, settings)
    with blame_argument("feature"):
        searcher.check_features(feature.feature for feature in search.ranking.features)
    with blame_argument(None):
        prepared = search.prepare(searcher)
        if search.arrangement.sort == "date":
            return RankedAnswer(find_newest(prepared, k, search.filters), prepared)
        return RankedAnswer(prepared.search(k, search.filters), prepared)


def rank_and_arrange(searcher: Searcher, search: SearchRequest, k: int, settings: Settings) -> ArrangedAnswer:
    """As many hits as k entries need, arranged as the search says."""
    count = hits_to_fetch(search.arrangement, k, settings.max_k)
    answer, prepared = rank_sentences(searcher, search, count, settings)
    entries = arrange_hits(answer.hits, search.arrangement, prepared.index.analyzer)
    return ArrangedAnswer(answer, prepared, entries)
