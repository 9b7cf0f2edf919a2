"""The sentences that satisfy a condition, in the order of their dates."""

from __future__ import annotations

from typing import Any

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.requests import search
from esr.engines.elasticsearch.search.counts import match_sentences
from esr.engines.elasticsearch.search.sentence_search import PAGE, decode_hits, hit_fields
from esr.engines.index import Filters, Hit, SearchResult
from esr.plans.condition import Condition


def find_by_date(
    cluster: Cluster, condition: Condition, k: int, filters: Filters, oldest_first: bool, records: bool
) -> SearchResult:
    """The first k, without scores. Without a date they are last, and equal dates are in collection order."""
    order = "asc" if oldest_first else "desc"
    body: dict[str, Any] = {
        "query": match_sentences(condition, filters),
        "sort": [{"date": {"order": order, "missing": "_last"}}, {"ordinal": "asc"}],
        **hit_fields(records),
    }
    hits: list[Hit] = []
    total = 0
    while True:
        size = min(PAGE, k - len(hits))
        answer = search(cluster, index=cluster.alias, size=size, track_total_hits=not hits, **body)
        total = total if hits else answer["hits"]["total"]["value"]
        page = answer["hits"]["hits"]
        hits += decode_hits(page, records)
        if len(page) < PAGE or len(hits) >= k:
            return SearchResult(hits, total)
        body["search_after"] = page[-1]["sort"]
