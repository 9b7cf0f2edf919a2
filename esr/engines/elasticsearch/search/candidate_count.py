"""Counts the candidates of a search, in a request that is sent beside another."""

from __future__ import annotations

from typing import Any

from esr.engines.elasticsearch.search.candidate_query import (
    document_rule_clause,
    has_document_level_candidates,
    scored_candidate_query,
)
from esr.engines.elasticsearch.search.filter_clauses import filter_clauses
from esr.engines.elasticsearch.search.sentence_search import Search

_TOTAL = "total"


def count_request(search: Search) -> dict[str, Any]:
    """Counts the candidates: see `read_count`."""
    plan, filters = search.plan, search.filters
    request: dict[str, Any] = {"index": search.cluster.alias, "size": 0, "track_total_hits": True}
    if has_document_level_candidates(plan, filters):
        query = {"bool": {"filter": [document_rule_clause(plan), *filter_clauses(filters, of="documents")]}}
        request |= {"index": search.cluster.documents_alias, "query": query, "track_total_hits": False}
        return request | {"aggs": {_TOTAL: {"sum": {"field": "size"}}}}
    return request | {"query": scored_candidate_query(plan, filters)}


def read_count(answer: Any) -> int:
    """How many candidates there are, by the answer to `count_request`."""
    if "aggregations" in answer:
        return int(answer["aggregations"][_TOTAL]["value"])
    return int(answer["hits"]["total"]["value"])
