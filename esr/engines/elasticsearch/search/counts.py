"""Counts sentences that satisfy conditions, in all or by day, all in one request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.requests import msearch
from esr.engines.elasticsearch.search.condition_query import condition_query
from esr.engines.elasticsearch.search.filter_clauses import Query, filter_clauses
from esr.engines.index import DAY, DayCounts, Filters
from esr.plans.condition import Condition

_DAYS = {"date_histogram": {"field": "date", "fixed_interval": "1d", "min_doc_count": 1}}
"""In UTC, as long as no time zone is given."""


def count_sentences(cluster: Cluster, conditions: Sequence[Condition], filters: Filters) -> list[int]:
    """How many sentences satisfy each condition and the filters."""
    answers = _search_each(cluster, conditions, filters, {"track_total_hits": True})
    return [answer["hits"]["total"]["value"] for answer in answers]


def count_days(cluster: Cluster, conditions: Sequence[Condition | None], filters: Filters) -> list[DayCounts]:
    """How many sentences of each day satisfy each condition and the filters; None is satisfied by all."""
    answers = _search_each(cluster, conditions, filters, {"track_total_hits": False, "aggs": {"days": _DAYS}})
    return [
        {bucket["key"] // DAY: bucket["doc_count"] for bucket in answer["aggregations"]["days"]["buckets"]}
        for answer in answers
    ]


def match_sentences(condition: Condition | None, filters: Filters) -> Query:
    """Matches the sentences that satisfy the condition and the filters, without scores."""
    own = [] if condition is None else [condition_query(condition)]
    return {"bool": {"filter": [*own, *filter_clauses(filters)]}}


def _search_each(
    cluster: Cluster, conditions: Sequence[Condition | None], filters: Filters, body: dict[str, Any]
) -> list[Any]:
    if not conditions:
        return []
    lines: list[dict[str, Any]] = []
    for condition in conditions:
        query = match_sentences(condition, filters)
        lines += [{"index": cluster.alias}, {"query": query, "size": 0, **body}]
    return msearch(cluster, lines)
