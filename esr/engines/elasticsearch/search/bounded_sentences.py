"""The best k sentences, by the highest bounds.

One request lists the sentences with the highest bounds and scores these. If the bound of the last of them
reaches the k-th score, more are listed: Elasticsearch leaves out what cannot be among so many.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from esr.engines.elasticsearch.cluster.requests import NAMED_SCORES
from esr.engines.elasticsearch.search.bound_query import BoundQuery
from esr.engines.elasticsearch.search.candidate_count import count_request, read_count
from esr.engines.elasticsearch.search.filter_clauses import Query
from esr.engines.elasticsearch.search.named_scores import with_named_scores
from esr.engines.elasticsearch.search.score_query import score_query
from esr.engines.elasticsearch.search.sentence_search import PAGE, Search, decode_hit, hit_fields
from esr.engines.elasticsearch.store.source_decoder import decode_sentence
from esr.engines.index import NO_FILTERS, Hit, SearchResult

FIRST_SENTENCES, FIRST_PER_HIT, FIRST_PER_HIT_AND_TERM = 4, 1.6, 0.3
"""Sentences that are listed first: a base, and so many for each hit, and for each hit and term."""
WIDENING_GROWTH = 2.0
"""If each term adds x more to bounds, exp(2 x) times as many sentences are listed first."""
LEAST_GROWTH, GREATEST_GROWTH = 1.25, 8.0
"""How many times as many are listed next."""
_SCORE, _ORDINAL = "score", "ordinal"


def search_bounded(search: Search, k: int, bounds: BoundQuery) -> SearchResult | None:
    """The best k sentences; None if too many reach their scores."""
    query, shift = score_query(search.plan, search.collection, NO_FILTERS, is_own=True)
    request = _request(search, bounds.query, query)
    size, total = _first_size(search, k), None
    while True:
        request["size"] = size
        if total is None:
            answer, counted = search.send_together(request, count_request(search))
            total = read_count(counted)
        else:
            answer = search.send(**request)
        listed = answer["hits"]["hits"]
        hits = _read_scored(listed, shift)
        if len(listed) < size or len(hits) >= total or answer["timed_out"]:
            break
        least = bounds.least_bound(hits[k - 1].score) - bounds.shift if len(hits) >= k else -math.inf
        if listed[-1]["_score"] < least:
            break
        if size == PAGE:
            return None
        size = min(_next_size([hit["_score"] for hit in listed], least), PAGE)
    best = hits[:k]
    if search.records and best:
        best = _with_records(search, best)
    return SearchResult(best, total, search.incomplete, len(hits))


def _first_size(search: Search, k: int) -> int:
    """The more terms a query has, and the more deliveries added to bounds, the more reach the last hit."""
    terms, widening = search.plan.terms, search.widening
    per_hit = FIRST_PER_HIT + FIRST_PER_HIT_AND_TERM * len(terms)
    if widening is not None:
        per_hit *= math.exp(WIDENING_GROWTH * widening.mean(terms))
    return min(round(FIRST_SENTENCES + per_hit * k), PAGE)


def _next_size(bounds: Sequence[float], least: float) -> int:
    """How many bounds there may be down to `least`, with as many again for each further fall.

    The fall is that from the middle of the highest bounds to their end.
    """
    last = bounds[-1]
    fall = bounds[len(bounds) // 2] - last
    doublings = (last - least) / fall if fall > 0 else math.inf
    growth = math.pow(2.0, min(doublings, 10.0))
    return math.ceil(len(bounds) * min(max(growth, LEAST_GROWTH), GREATEST_GROWTH))


def _request(search: Search, bounds: Query, score: Query) -> dict[str, Any]:
    fields = hit_fields(records=False)  # only the best are shown
    # Without a sort, which takes Elasticsearch a fifth longer.
    return {
        "index": search.cluster.alias,
        "query": with_named_scores(bounds, {_SCORE: score}),
        "track_total_hits": False,
        **fields,
        "docvalue_fields": [*fields["docvalue_fields"], {"field": _ORDINAL}],
        NAMED_SCORES: True,
    }


def _read_scored(listed: list[Any], shift: float) -> list[Hit]:
    """The listed sentences that are candidates, best first."""
    hits = []
    for hit in listed:
        scores = hit.get("matched_queries")
        if scores:
            hits.append(decode_hit(hit, False, scores[_SCORE] + shift, hit["fields"][_ORDINAL][0]))
    hits.sort(key=lambda hit: (-hit.score, hit.ordinal))
    return hits


def _with_records(search: Search, hits: list[Hit]) -> list[Hit]:
    """The hits with their records, without those whose shard has failed meanwhile."""
    ids = [hit.sentence_id for hit in hits]
    answer = search.send(
        query={"ids": {"values": ids}}, size=len(ids), track_total_hits=False, **hit_fields(records=True)
    )
    records = {hit["_id"]: decode_sentence(hit["_source"]) for hit in answer["hits"]["hits"]}
    return [hit._replace(record=records[hit.sentence_id]) for hit in hits if hit.sentence_id in records]
